"""Tells users how they can get missing files."""

from contextlib import suppress
from pathlib import Path

from touche import tasks
from touche.data.publishers import all_sources
from touche.errors import ToucheError
from touche.tasks import Corpus, Task
from touche.tasks.task_records import SPOT_CHECK

ELSEWHERE = "set TOUCHE_DATA to a folder that has it"


def dataset_has_file(task: Task, corpus: Corpus, path: str) -> bool:
    """Returns whether a file, such as ``qrels/touche-task2-2022-quality.qrels``, belongs to a dataset."""
    qrels = [f"qrels/{judgments.file}" for judgments in task.qrels.values()]
    return path in (f"topics/{task.topics}", *qrels) or _is_within(path, f"corpora/{corpus.directory}")


def _is_within(path: str, folder: str) -> bool:
    """Returns whether a path is a folder or below it."""
    return f"{path}/".startswith(f"{folder}/")


def remedy(path: str) -> str:
    """Returns how to get a missing file or folder, such as ``corpora/clueweb12``."""
    _, _, name = path.partition("/")  # the path without its first part, such as qrels
    if name.startswith(SPOT_CHECK):
        return "images do not contain the toy collection; a clone of touche-baselines and the package do"
    for source in all_sources():
        if source.agreement and source.path == path:
            return f"its publisher requires an agreement; apply at {source.page}, and {ELSEWHERE}"
        # The path is this file, or a folder that contains it.
        if source.by_hand is not None and _is_within(source.path, path):
            if source.by_hand:
                return f"{how_to_download(source.by_hand, source.path)}, and {ELSEWHERE}"
            download = f"download it from {source.page}, save it as {source.path}"
            return f"its address is unknown; {download}, and {ELSEWHERE}"
    task_id = _task_with(path)
    if is_published(path):
        # Which dataset to fetch: the dataset with some of the topics that this folder belongs to, or else the
        # task. If no task has the file, all data.
        datasets = [source.dataset for source in all_sources() if source.path == path and source.dataset]
        argument = datasets[0] if datasets else task_id or "--all"
        option = "" if path.startswith("corpora/") else " --no-corpora"
        return f"get it with: touche data fetch {argument}{option}, or {ELSEWHERE}"
    folder = tasks.data_folder(task_id)  # only set for tasks that a user added
    return f"save it as {folder / path}" if folder else f"it is not published; {ELSEWHERE}"


def reason_without(folder: str) -> str:
    """Returns a sentence that says why a corpus, such as ``corpora/clueweb12``, may be missing."""
    sources = [source for source in all_sources() if _is_within(source.path, folder)]
    if any(source.agreement for source in sources):
        return "the corpus requires an agreement with its publisher"
    if any(source.by_hand is not None for source in sources):
        return "the corpus has to be downloaded by hand"
    return "touche data fetch gets the corpus" if sources else "the corpus is not published"


def full_file_remedy(name: str) -> str:
    """Returns how to replace an incomplete qrels file with the publisher's."""
    return f"remove it, and {remedy(f'qrels/{name}')}"


def format_bytes(size: float) -> str:
    """Formats a number of bytes, such as ``286 MB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size = size / 1000
    return f"{size:.1f} GB"


def how_to_download(address: str, path: Path | str) -> str:
    """Returns how to get a file that users must download themselves and save as ``path``."""
    return f"touche cannot check or unpack it, so fetch it yourself: download {address}, save it as {path}"


def is_published(path: str) -> bool:
    """Returns whether touche can fetch the file, or a file in the folder, with this path."""
    files = (source for source in all_sources() if not source.agreement and source.by_hand is None)
    return any(_is_within(file.path, path) for file in files)


def _task_with(path: str) -> str:
    """Returns the id of the first task to which a file belongs: as its topics, its qrels, or a part of its
    whole corpus. Empty if there is none. Tasks with broken cards are skipped.
    """
    for task_id in tasks.ids():
        with suppress(ToucheError):
            if dataset_has_file(*tasks.dataset(task_id), path):
                return task_id
    return ""
