"""Baselines' container images."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from touche.baselines.loader import baseline_folder, is_shipped
from touche.data.places import shipped_baselines
from touche.errors import check_choice
from touche.io.identifiers import names_or_paths
from touche.runners import container_runs, image_builds, image_content
from touche.runners.image_content import ImageDigest
from touche.runners.limits import CONTAINER_PROGRAMS, ContainerProgram
from touche.trec.framed import Table

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ListedImage:
    """A baseline's image.

    Attributes:
        baseline: the baseline's name.
        image: the image's name, such as ``touche/bm25``.
        size: its unpacked size, such as ``504 MB``; empty if it is not built.
        published: the published image's address; empty if there is none.
    """

    baseline: str
    image: str
    size: str
    published: str


def list_images(
    baselines: str | Sequence[str] = (), *, runner: ContainerProgram = "docker"
) -> Table[ListedImage]:
    """Returns each baseline's container image, whether it is built, and where it is published.

    Args:
        baselines: names or paths of baselines; by default, all that ship.
        runner: the program to ask for local images.

    Returns:
        A ``ListedImage`` per baseline; use ``frame()`` for a DataFrame.

    Raises:
        ToucheError: if there is no such baseline, or the program is not installed.

    Examples:
        >>> import touche
        >>> touche.list_images("bm25", runner="buildah")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ParameterError: there is no runner 'buildah'; choose among docker, ...
    """
    check_choice("runner", runner, CONTAINER_PROGRAMS)
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
    runner: ContainerProgram = "docker",
    log: Callable[[str], None] = _log.info,
) -> list[str]:
    """Builds baselines' images and their bases, and tries each image on a part of the toy collection.

    That is the smallest part that the baseline's expected.toml names, or else the first part that the image
    can rank. An image that fails is removed.

    Args:
        baselines: names or paths of baselines; by default, all that ship.
        runner: the program that builds them.
        log: receives a line per image, and the output of a failed build.

    Returns:
        The baselines' images, such as ``touche/bm25``.

    Raises:
        ToucheError: if there is no such baseline, the program is not installed, a build fails, or an image
            can't rank.

    Examples:
        >>> import touche
        >>> touche.build_images("bm26")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ToucheError: there is no baseline 'bm26'; did you mean bm25? ...
    """
    check_choice("runner", runner, CONTAINER_PROGRAMS)
    chosen = [*dict.fromkeys(names_or_paths("baseline", baselines) or shipped_baselines())]
    image_names = [image_builds.image_name(folder.name) for folder in _folders(chosen)]
    image_builds.build(runner, chosen, log)
    image_content.digests(runner, image_names)  # together, because each trial needs its own
    for name in chosen:
        container_runs.try_image(runner, name, log)
    return image_names


def digest_images(
    baselines: str | Sequence[str] = (), *, runner: ContainerProgram = "docker"
) -> Table[ImageDigest]:
    """Returns a digest of each baseline's image: files and settings, no timestamps.

    Docker, BuildKit and Podman give images from the same source the same digest.

    Args:
        baselines: names or paths of baselines; by default, all that ship.
        runner: the program to ask for local images.

    Returns:
        An ``ImageDigest`` per baseline; use ``frame()`` for a DataFrame.

    Raises:
        ToucheError: if there is no such baseline or image, or the program is not installed.

    Examples:
        >>> import touche
        >>> touche.digest_images("bm26")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        touche.errors.ToucheError: there is no baseline 'bm26'; did you mean bm25? ...
    """
    check_choice("runner", runner, CONTAINER_PROGRAMS)
    images = [image_builds.image_name(folder.name) for folder in _folders(baselines)]
    return Table(ImageDigest, tuple(image_content.digests(runner, images)))


def _folders(baselines: str | Sequence[str]) -> list[Path]:
    return [
        baseline_folder(name).resolve()
        for name in names_or_paths("baseline", baselines) or shipped_baselines()
    ]
