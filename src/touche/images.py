"""Images of baselines: their names, how they are built, and how large they are."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from touche.baselines import folder_of
from touche.data import clone
from touche.engines import Log, answer, check_engine, check_exit, follow, process, succeeds
from touche.errors import InputError, ToucheError

BASE = "touche/base"


def image_of(name: str) -> str:
    """The image of a baseline, such as ``touche/bm25``."""
    return f"touche/{name}"


def build(engine: str, names: Sequence[str], log: Log) -> None:
    """Builds the base image and those of baselines.

    Args:
        engine: ``docker`` or ``podman``.
        names: names of baselines, or paths of their folders.
        log: is told which image is being built, and the lines of a build that fails.

    Raises:
        ToucheError: if the engine is not at hand, a baseline has no Dockerfile, or a build fails.
    """
    check_engine(engine)
    folders = [_with_dockerfile(name) for name in names]
    root = clone()
    if root is None or not (root / "docker").is_dir():
        raise ToucheError("there is no docker/base.Dockerfile; work in a clone of touche-baselines")
    about = {"VERSION": version("touche-baselines"), "REVISION": _revision(root), "SOURCE": _source(root)}
    arguments = [word for name, value in about.items() for word in ("--build-arg", f"{name}={value}")]
    _build(engine, BASE, root, ["--file", str(root / "docker" / "base.Dockerfile"), *arguments], log)
    for folder in folders:
        _build(engine, image_of(folder.name), folder, [], log)


def size(engine: str, name: str) -> str:
    """The unpacked size of a baseline's image, such as ``504 MB``; empty where it is not built.

    Raises:
        ToucheError: if the engine is not at hand.
    """
    check_engine(engine)
    told = answer(engine, "image", "inspect", "--format", "{{.Size}}", image_of(name))
    return f"{int(told) / 1e6:.0f} MB" if told else ""


def check_image(engine: str, name: str) -> None:
    """Makes sure that the image of a baseline is there.

    Raises:
        ToucheError: if it is not.
    """
    if not succeeds(engine, "image", "inspect", image_of(name)):
        option = "" if engine == "docker" else f" --engine {engine}"
        problem = f"{engine} has no image {image_of(name)}"
        raise ToucheError(f"{problem}; build it with: touche images build {name}{option}")


def _with_dockerfile(name: str) -> Path:
    folder = folder_of(name).resolve()
    if not (folder / "Dockerfile").is_file():
        raise InputError(folder, "no Dockerfile in it", "copy the one of bm25")
    return folder


def _build(engine: str, image: str, context: Path, arguments: Sequence[str], log: Log) -> None:
    log(f"building {image}")
    lines: list[str] = []
    command = [engine, "build", "--network", "host", "--tag", image, *arguments, str(context)]
    with process(command) as building:
        last = follow(building, lines.append)
        code = building.wait()
    for line in lines if code else ():
        log(line)
    check_exit(f"building {image}", code, last)


def _revision(root: Path) -> str:
    return answer("git", "-C", str(root), "rev-parse", "HEAD") or "unknown"


def _source(root: Path) -> str:
    url = answer("git", "-C", str(root), "remote", "get-url", "origin")
    return url if url.startswith("https://") else "unknown"  # not a path of somebody's machine
