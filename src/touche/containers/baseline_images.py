"""The container images of baselines."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal

from touche.baselines.loader import baseline_folder, is_shipped, names
from touche.containers import container_runs, image_builds, image_content, verification
from touche.containers.image_content import ImageDigest
from touche.containers.limits import PROGRAMS
from touche.containers.verification import VerifiedImage
from touche.errors import ToucheError, check_choice
from touche.io.identifiers import baseline_names, expanded, name_or_path
from touche.trec.framed import Table

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ListedImage:
    """The image of a baseline.

    Attributes:
        baseline: the name of the baseline.
        image: the name of the image, such as ``touche/bm25``.
        size: its unpacked size, such as ``504 MB``; empty if it is not built.
        published: the address of the published image; empty if there is none.
    """

    baseline: str
    image: str
    size: str
    published: str


def list_images(
    baselines: str | Sequence[str] = (), *, runner: Literal["docker", "podman"] = "docker"
) -> Table[ListedImage]:
    """Returns the container image of each baseline, whether it is built, and where it is published.

    Args:
        baselines: names or paths of baselines; if empty, all that ship.
        runner: the program that has the images.

    Returns:
        A ``ListedImage`` for each baseline; ``frame()`` returns them as a DataFrame.

    Raises:
        ToucheError: if there is no such baseline, or the program is not installed.

    Examples:
        >>> import touche
        >>> touche.list_images("bm25", runner="buildah")
        Traceback (most recent call last):
        touche.errors.ParameterError: there is no runner 'buildah'; choose among docker, podman.
    """
    check_choice("runner", runner, PROGRAMS)
    listed = [
        ListedImage(
            baseline=folder.name,
            image=image_builds.image_name(folder.name),
            size=image_builds.size(runner, folder.name),
            published=image_builds.published_image(folder.name) if is_shipped(folder) else "",
        )
        for folder in _folders(baselines)
    ]
    return Table(ListedImage, tuple(listed))


def build_images(
    baselines: str | Sequence[str] = (),
    *,
    runner: Literal["docker", "podman"] = "docker",
    log: Callable[[str], None] = _log.info,
) -> list[str]:
    """Builds the base image and the images of baselines, and tries each on a part of the toy collection.

    An image that fails there is removed. The part is the smallest that the baseline's expected.toml names. If
    it names none, it is the first part that the image can rank.

    Args:
        baselines: names or paths of baselines; if empty, all that ship.
        runner: the program that builds them.
        log: receives a line for each image, and the output of a failed build.

    Returns:
        The names of the images of the baselines, such as ``touche/bm25``.

    Raises:
        ToucheError: if there is no such baseline, the program is not installed, a build fails, or an image
            cannot rank.

    Examples:
        >>> import touche
        >>> touche.build_images("bm26")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ToucheError: there is no baseline 'bm26'; did you mean bm25? ...
    """
    check_choice("runner", runner, PROGRAMS)
    chosen = baseline_names(baselines) or names()
    image_names = [image_builds.image_name(folder.name) for folder in _folders(chosen)]
    image_builds.build(runner, chosen, log)
    for name in chosen:
        container_runs.try_image(runner, name, log)
    return image_names


def digest_images(
    baselines: str | Sequence[str] = (), *, runner: Literal["docker", "podman"] = "docker"
) -> Table[ImageDigest]:
    """Returns the digest of the content of each baseline's image: files and settings, no timestamps.

    Docker, BuildKit and Podman make images with the same digest from the same source.

    Args:
        baselines: names or paths of baselines; if empty, all that ship.
        runner: the program that has the images.

    Returns:
        An ``ImageDigest`` for each baseline; ``frame()`` returns them as a DataFrame.

    Raises:
        ToucheError: if there is no such baseline or image, or the program is not installed.

    Examples:
        >>> import touche
        >>> touche.digest_images("bm26")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ToucheError: there is no baseline 'bm26'; did you mean bm25? ...
    """
    check_choice("runner", runner, PROGRAMS)
    digests = [
        image_content.digest(runner, image_builds.image_name(folder.name)) for folder in _folders(baselines)
    ]
    return Table(ImageDigest, tuple(digests))


def verify_image(
    baseline: str = "",
    *,
    against: str = "",
    run: str | PathLike[str] | None = None,
    runner: Literal["docker", "podman"] = "docker",
    log: Callable[[str], None] = _log.info,
) -> VerifiedImage:
    """Rebuilds the image of a baseline from the current source, and compares the rebuild with the image.

    Args:
        baseline: the name or path of the baseline; with a run it may be left out.
        against: another image to compare with; empty for the local or published image.
        run: a run; then the image that made this run is compared.
        runner: the program that has and builds the images.
        log: receives a line for each step.

    Returns:
        A ``VerifiedImage``, whose ``answer`` says whether the image and its rebuild are the same.

    Raises:
        ToucheError: if neither a baseline nor a run is passed, or both a run and ``against``. Also if there
            is no such baseline, image or run, or a build fails.

    Examples:
        >>> import touche
        >>> touche.verify_image()
        Traceback (most recent call last):
        touche.errors.ToucheError: neither a baseline nor a run is named; pass one of them
    """
    check_choice("runner", runner, PROGRAMS)
    if run is not None and against:
        raise ToucheError("an image and a run to compare with exclude each other; omit one of them")
    name = name_or_path("baseline", baseline or "")  # None is also accepted
    if run is not None:
        return verification.verify_run(runner, Path(expanded(run)), log, baseline=name)
    if not name:
        raise ToucheError("neither a baseline nor a run is named; pass one of them")
    return verification.verify(runner, name, log, against=against)


def _folders(baselines: str | Sequence[str]) -> list[Path]:
    """Returns the folders of baselines; no baseline means all that ship."""
    return [baseline_folder(name).resolve() for name in baseline_names(baselines) or names()]
