"""Where topics, qrels and corpora are: in $TOUCHE_DATA, in the clone, or in the user's cache folder."""

import os
from collections.abc import Iterator
from pathlib import Path

from touche.errors import NotAtHandError, ToucheError
from touche.tasks import Corpus, datasets
from touche.tira import Files, Input, IrDataset, find_documents
from touche.topics import read_topics_xml


def clone() -> Path | None:
    """The clone of the repository in use.

    That is the nearest folder upwards that holds baselines/, else the one that the package was installed
    from with ``pip install --editable``, else None.
    """
    here = Path.cwd()
    candidates = (here, *here.parents, Path(__file__).parents[2])
    return next((folder for folder in candidates if (folder / "baselines").is_dir()), None)


def locate(kind: str, name: str) -> Path:
    """The path of a data file or folder.

    Args:
        kind: ``topics``, ``qrels`` or ``corpora``.
        name: the name of the file or folder in there.

    Raises:
        NotAtHandError: if it is not at hand; the message names the places that were looked at.
    """
    places = list(_places())
    for place in places:
        if os.path.exists(path := place / kind / name):  # noqa: PTH110 (that of Path raises where access is denied)
            return path
    looked = ", ".join(str(place / kind) for place in places)
    raise NotAtHandError(
        f"{kind}/{name} is not at hand (looked in {looked}); put it there or set TOUCHE_DATA"
    )


def at_hand(kind: str, name: str) -> bool:
    """Whether ``locate`` finds it."""
    try:
        return bool(locate(kind, name))
    except NotAtHandError:
        return False


def open_dataset(dataset: str) -> Input:
    """Topics and corpus of a dataset, such as ``touche-2020-task-1/sample``.

    A corpus without a folder in corpora/ is read through ir_datasets, if that has it.

    Raises:
        ToucheError: if there is no such dataset, or it is not at hand.
    """
    if dataset not in datasets():
        raise ToucheError(f"there is no dataset {dataset!r}; choose among {', '.join(datasets())}")
    task, corpus = datasets()[dataset]
    topics = read_topics_xml(locate("topics", task.topics))
    return Input.of(topics, task.topics, _documents(corpus))


def _documents(corpus: Corpus) -> Files | IrDataset:
    try:
        return find_documents(locate("corpora", corpus.directory))
    except NotAtHandError:
        if corpus.ir_datasets is None:
            raise
        return IrDataset(corpus.ir_datasets)


def home() -> Path:
    """Where fetched data goes: the clone, else the user's cache folder."""
    return clone() or _cache()


def _places() -> Iterator[Path]:
    if folder := os.environ.get("TOUCHE_DATA"):
        yield Path(folder)
    if root := clone():
        yield root
    yield _cache()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "touche"  # noqa: PTH111
