"""Images of baselines: names, builds and sizes."""

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import metadata, version
from pathlib import Path
from shlex import quote

from touche.baselines.declaration import extra_of
from touche.baselines.loader import folder_of, is_shipped, names
from touche.containers.programs import Log, answer, check_exit, check_program, execute
from touche.errors import InputError, ToucheError
from touche.io.origin import clone, origin
from touche.tira.provenance import PROJECT

_BASES = ("base", "lucene", "models")  # each has a Dockerfile in docker/
_IMAGE_NAME = re.compile("[a-z0-9]+(?:(?:[._]|-+)[a-z0-9]+)*")  # the names that Docker and Podman allow
_CONTENT = "touche.content"
_GITHUB = "https://github.com/"
_log = logging.getLogger(__name__)


def image_of(name: str) -> str:
    """Returns the image of a baseline, such as ``touche/bm25``."""
    return f"touche/{name}"


def published(name: str) -> str:
    """Returns the address of a published image, such as ``ghcr.io/owner/repository/bm25:0.1.0``.

    A release publishes the package and its images together. hatch_build.py writes the repository's address
    into the package's metadata. The result is empty for a package that was not released, such as a clone's.
    """
    labelled = (entry.partition(", ") for entry in metadata(PROJECT).get_all("Project-URL") or ())
    source = next((url for label, _, url in labelled if label == "Source"), "")
    if not source.startswith(_GITHUB):
        return ""
    return f"ghcr.io/{source.removeprefix(_GITHUB).lower()}/{name}:{version(PROJECT)}"


def base() -> str:
    """Returns the base image of new baselines: in a clone its own, else the published one."""
    return image_of("base") if _workshop() else published("base") or image_of("base")


def check_name(folder: Path) -> None:
    """Checks that the name of a baseline's folder can be the name of its image.

    Raises:
        InputError: if it cannot.
    """
    if folder.name in _BASES or (folder.name in names() and not is_shipped(folder)):
        problem = f"its image would replace {image_of(folder.name)}"
        raise InputError(folder, problem, "choose another name")
    if not _IMAGE_NAME.fullmatch(folder.name):
        remedy = "use a-z, 0-9, and single . _ - between them"
        raise InputError(folder, "its name is not valid for an image", remedy)


def instead(baseline: str) -> str:
    """Returns the advice to run the image of a baseline that needs an extra; empty if there is no image.

    Args:
        baseline: the name of the baseline, or the path of its folder.
    """
    folder, root = folder_of(baseline).resolve(), _workshop()
    if not extra_of(baseline) or not (root or published(folder.name)):
        return ""
    build = "" if is_shipped(folder) and not root else f"touche images build {quote(baseline)}, then "
    return f"; or run its image: {build}add --runner docker"


def build(program: str, names: Sequence[str], log: Log) -> None:
    """Builds the images of baselines, and the base images that they need.

    Args:
        program: ``docker`` or ``podman``.
        names: names of baselines, or paths of their folders.
        log: receives a line for each image, and the output of a failed build.

    Raises:
        ToucheError: if the program is missing, a baseline has no Dockerfile, a base is missing and cannot be
            built, or a build fails.
    """
    check_program(program)
    folders = [_with_dockerfile(name) for name in names]
    root = _workshop()
    _provide_bases(program, folders, root, log)
    for folder in folders:
        team = PROJECT if is_shipped(folder) else ""
        about = {"version": version(PROJECT), **origin(folder), "vendor": team}
        labels = [f"--label=org.opencontainers.image.{name}={value}" for name, value in about.items()]
        labels.append(f"--label={_CONTENT}={_content(root, folder) if root else ''}")
        # Metadata of runs contains these values.
        values = {"REVISION": about["revision"], "SOURCE": about["source"], "TEAM": team}
        values_of = [f"--build-arg={name}={value}" for name, value in values.items()]
        _build(program, image_of(folder.name), folder, [*labels, *values_of], log)


def size(program: str, name: str) -> str:
    """Returns the unpacked size of a baseline's image, such as ``504 MB``; empty if it is not built.

    Raises:
        ToucheError: if the program is missing.
    """
    check_program(program)
    size = _inspected(program, name, ".Size")
    return f"{int(size) / 1e6:.0f} MB" if size else ""


def _inspected(program: str, name: str, field: str) -> str:
    """Returns a field of an image's description; empty if the image is not built."""
    return answer(program, "image", "inspect", "--format", f"{{{{{field}}}}}", image_of(name))


def check_image(program: str, baseline: str) -> None:
    """Checks that the image of a baseline exists; warns if files have changed since it was built.

    Args:
        program: ``docker`` or ``podman``.
        baseline: the name of the baseline, or the path of its folder.

    Raises:
        ToucheError: if the image does not exist.
    """
    folder, root = folder_of(baseline).resolve(), _workshop()
    image = image_of(folder.name)
    remedy = f"touche images build {baseline}{'' if program == 'docker' else f' --runner {program}'}"
    if not _inspected(program, folder.name, ".Id"):
        fetched = is_shipped(folder) and not root
        get = _remedy(program, folder.name) if fetched else f"build it with: {remedy}"
        raise ToucheError(f"{program} has no image {image}; {get}")
    built_from = _inspected(program, folder.name, f'index .Config.Labels "{_CONTENT}"')
    if root and built_from != _content(root, folder):
        warning = "%s was not built from the current files; build it again: %s"
        _log.warning(warning, image, remedy)


def _workshop() -> Path | None:
    """Returns the clone if images can be built from it, else None."""
    root = clone()
    return root if root and (root / "docker").is_dir() else None


def _remedy(program: str, name: str) -> str:
    """Returns how to get an image of this project without a clone."""
    address = published(name)
    if not address:
        return "build it in a clone of touche-baselines"
    return f"get it with: {program} pull {address} && {program} tag {address} {image_of(name)}"


def _with_dockerfile(name: str) -> Path:
    folder = folder_of(name).resolve()
    check_name(folder)
    if not (folder / "Dockerfile").is_file():
        raise InputError(folder, "no Dockerfile in this folder", "copy bm25's, and change its name there")
    place = f"/opt/baselines/{folder.name}/"
    if place not in (folder / "Dockerfile").read_text(encoding="utf-8"):
        raise InputError(folder / "Dockerfile", f"no COPY into {place}", "add one")
    return folder


def _provide_bases(program: str, folders: Iterable[Path], root: Path | None, log: Log) -> None:
    """Builds the base images in a clone; elsewhere checks that they exist."""
    for below in dict.fromkeys(below for folder in folders for below in _bases_of(folder, root)):
        if root:
            dockerfile = root / "docker" / f"{below}.Dockerfile"
            _build(program, image_of(below), root, ["--file", str(dockerfile)], log)
        elif not _inspected(program, below, ".Id"):
            raise ToucheError(f"{program} has no image {image_of(below)}; {_remedy(program, below)}")


def _bases_of(folder: Path, root: Path | None) -> list[str]:
    """Returns the base images of a Dockerfile; in a clone also the first base, which all others need."""
    text = (folder / "Dockerfile").read_text(encoding="utf-8")
    named = re.findall(rf"^FROM {image_of('')}({'|'.join(_BASES)})\b", text, flags=re.MULTILINE)
    return [*dict.fromkeys((*_BASES[:1], *named))] if named and root else named


def _build(program: str, image: str, context: Path, arguments: Sequence[str], log: Log) -> None:
    log(f"building {image}")
    lines: list[str] = []
    command = [program, "build", "--force-rm", "--network=host", "--tag", image, *arguments, str(context)]
    ended = execute(command, lines.append)
    for line in lines if ended.code else ():
        log(line)
    check_exit(f"building {image}", ended)


def made_of(root: Path, folder: Path) -> Iterator[Path]:
    """Yields the files of a baseline's image: Dockerfiles of the baseline and its bases, and copied files.

    Args:
        root: the clone.
        folder: the folder of the baseline.
    """
    if (folder / "Dockerfile").is_file():
        yield from _files_of(folder / "Dockerfile", folder)
        for below in _bases_of(folder, root):
            yield from _files_of(root / "docker" / f"{below}.Dockerfile", root)


def _content(root: Path, folder: Path) -> str:
    """Returns 16 hexadecimal digits that change with the content or path of any file of an image."""
    files = made_of(root, folder)
    named = {str(file.relative_to(folder if file.is_relative_to(folder) else root)): file for file in files}
    digest = hashlib.sha256()
    for name in sorted(named):
        digest.update(f"{name}\n".encode() + named[name].read_bytes())
    return digest.hexdigest()[:16]


def _files_of(dockerfile: Path, context: Path) -> Iterator[Path]:
    """Yields a Dockerfile, and the files that it copies."""
    yield dockerfile
    text = dockerfile.read_text(encoding="utf-8").replace("\\\n", " ")
    for words in re.findall(r"^COPY (?!.*--from=)(.*)$", text, flags=re.MULTILINE):
        *patterns, _ = (word for word in words.split() if not word.startswith("--"))
        for pattern in patterns:
            yield from _copied(pattern.strip("/"), context)


def _copied(pattern: str, context: Path) -> Iterator[Path]:
    """Yields the files of an argument of COPY, without generated ones (of Python, git or a compiler)."""
    for path in [context] if pattern == "." else context.glob(pattern):
        for file in [path] if path.is_file() else path.rglob("*"):
            inner = file.relative_to(context).parts
            aside = any(part == "__pycache__" or part.startswith(".") for part in inner)
            if file.is_file() and not aside and file.suffix != ".so":
                yield file
