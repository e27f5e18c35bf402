"""What to do about data that is not at hand: advice that works for the very file."""

import tomllib
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

from touche import tasks
from touche.errors import ToucheError
from touche.tasks import Corpus, Task
from touche.tasks.records import SPOT_CHECK

_SHIPPED = "no image holds the spot checks; a clone of touche-baselines does, and the installed package"
ELSEWHERE = "set TOUCHE_DATA to a folder that has it"


@cache
def records() -> list[dict[str, Any]]:
    """The records of publishers.toml."""
    return tomllib.loads(files(__package__).joinpath("publishers.toml").read_text(encoding="utf-8"))["record"]  # type: ignore[no-any-return]


def needs(task: Task, corpus: Corpus, path: str) -> bool:
    """Whether a file such as ``qrels/touche-task2-2022-quality.qrels`` belongs to a dataset."""
    return (
        path == f"topics/{task.topics}"
        or path in (f"qrels/{judgments.file}" for judgments in task.qrels.values())
        or f"{path}/".startswith(f"corpora/{corpus.directory}/")
    )


def remedy(path: str) -> str:
    """Where a file or folder such as ``corpora/clueweb12`` comes from."""
    if path.partition("/")[2].startswith(SPOT_CHECK):
        return _SHIPPED
    for record in records():
        if record.get("corpus") == path:
            return f"it is handed out by agreement only; apply at {record['url']}, and {ELSEWHERE}"
        if path in record.get("by_hand", ()):
            by_hand = f"get it by hand from {record['url']}, save it under this name"
            return f"its address is not known here; {by_hand}, and {ELSEWHERE}"
    if _is_published(path):
        light = "" if path.startswith("corpora/") else " --no-corpora"
        command = f"touche data fetch {_task_with(path) or '--all'}" + light
        return f"get it with: {command}, or {ELSEWHERE}"
    if folder := tasks.folder_of(_task_with(path)):
        return f"save it as {folder / path}"
    return f"it is not published; {ELSEWHERE}"


def remedy_for(datasets: Iterable[str]) -> str:
    """Where datasets come from, of which none is at hand: those that are published as a whole, if any is."""
    folders = {each: f"corpora/{tasks.dataset(each)[1].directory}" for each in datasets}
    published = [each for each, folder in folders.items() if _is_published(folder)]
    if published:
        return f"get it with: touche data fetch {' '.join(published)}, or {ELSEWHERE}"
    return remedy(next(iter(folders.values())))


def in_bytes(size: float) -> str:
    """Such as ``286 MB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size = size / 1000
    return f"{size:.1f} GB"


def _is_published(path: str) -> bool:
    """Whether it is a file that is published, or a folder of such files."""
    return any(f"{file}/".startswith(f"{path}/") for record in records() for file in record.get("files", ()))


def _task_with(path: str) -> str:
    """The first task that a file belongs to; cards that cannot be read are none's concern here."""
    for task_id in tasks.ids():
        with suppress(ToucheError):
            if needs(*tasks.dataset(task_id), path):
                return task_id
    return ""  # of no task: what is fetched without a name is all there is
