"""How to get missing data, file by file."""

import tomllib
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from touche import tasks
from touche.errors import ToucheError
from touche.tasks import Corpus, Task
from touche.tasks.task_records import SPOT_CHECK

ELSEWHERE = "set TOUCHE_DATA to a folder that has it"


@cache
def records() -> list[dict[str, Any]]:
    """Returns publishers.toml's records, one per publication.

    Each has a title, its page's url and a licence. The rest is optional: ``files`` has a table per path with
    ``ir_datasets``, or with url, md5 and size, and ``dataset`` for a corpus of some topics; ``by_hand`` has
    an address per path; ``agreement`` is a list of paths. Paths are below the data folder, such as
    ``corpora/clueweb12``.
    """
    text = files(__package__).joinpath("publishers.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["record"]  # type: ignore[no-any-return]  # TOML has values of any type


def official_md5(path: str) -> str:
    """Returns the publisher's md5 of a file, such as ``qrels/touche-task2-2022-quality.qrels``; empty if
    unknown.

    It's unknown for files in an archive or without a checksum, and when ir_datasets isn't installed, which
    has most checksums.
    """
    file = _files().get(path, {})
    if "member" in file:
        return ""
    if "ir_datasets" in file and downloads():
        file = download(file)
    return str(file.get("md5", ""))


@cache
def downloads() -> dict[str, Any]:
    """Returns ir_datasets' downloads by collection and key; empty if it isn't installed.

    We read its list ourselves, because importing ir_datasets takes 158 ms.
    """
    package = find_spec("ir_datasets")
    if package is None or package.origin is None:
        return {}
    content = Path(package.origin).with_name("etc").joinpath("downloads.json").read_bytes()
    return orjson.loads(content)  # type: ignore[no-any-return]  # JSON has values of any type


def download(file: dict[str, Any]) -> dict[str, Any]:
    """Returns address, md5 and size of a published file that refers to ir_datasets as ``COLLECTION/KEY``."""
    collection, _, key = file["ir_datasets"].partition("/")
    entry = downloads()[collection][key]
    return {"url": entry["url"], "md5": entry["expected_md5"], "size": entry["size_hint"]}


def dataset_has_file(task: Task, corpus: Corpus, path: str) -> bool:
    """Returns whether a file, such as ``qrels/touche-task2-2022-quality.qrels``, belongs to a dataset."""
    qrels = [f"qrels/{judgments.file}" for judgments in task.qrels.values()]
    return path in (f"topics/{task.topics}", *qrels) or _is_within(path, f"corpora/{corpus.directory}")


def _is_within(path: str, folder: str) -> bool:
    """Returns whether a path is a folder or below it."""
    return f"{path}/".startswith(f"{folder}/")


def remedy(path: str) -> str:
    """Returns how to get a missing file or folder, such as ``corpora/clueweb12``."""
    _, _, name = path.partition("/")  # without the kind, e.g. qrels
    if name.startswith(SPOT_CHECK):
        return "images do not contain the toy collection; a clone of touche-baselines and the package do"
    for record in records():
        if path in record.get("agreement", ()):
            return f"its publisher requires an agreement; apply at {record['url']}, and {ELSEWHERE}"
        for file, address in record.get("by_hand", {}).items():
            if _is_within(file, path):  # the missing path is the file, or a folder that contains it
                if address:
                    return f"{how_to_download(address, file)}, and {ELSEWHERE}"
                source = f"its address is unknown; download it from {record['url']}"
                return f"{source}, save it as {file}, and {ELSEWHERE}"
    task_id = _task_with(path)
    if _is_published(path):
        # The dataset of some topics with this corpus folder, or the task. Everything if no task has
        # the file.
        argument = _files().get(path, {}).get("dataset") or task_id or "--all"
        option = "" if path.startswith("corpora/") else " --no-corpora"
        return f"get it with: touche data fetch {argument}{option}, or {ELSEWHERE}"
    folder = tasks.data_folder(task_id)  # None unless a user added the task
    return f"save it as {folder / path}" if folder else f"it is not published; {ELSEWHERE}"


def reason_without(folder: str) -> str:
    """Returns why a corpus, such as ``corpora/clueweb12``, may be missing."""
    for record in records():
        if folder in record.get("agreement", ()):
            return "the corpus requires an agreement with its publisher"
        if any(_is_within(file, folder) for file in record.get("by_hand", {})):
            return "the corpus has to be downloaded by hand"
    return "touche data fetch gets the corpus" if _is_published(folder) else "the corpus is not published"


def full_file_remedy(name: str) -> str:
    """Returns how to replace an incomplete qrels file with the publisher's."""
    return f"remove it, and {remedy(f'qrels/{name}')}"


def remedy_for(datasets: Iterable[str]) -> str:
    """Returns how to get the missing datasets with a published corpus, or else the first dataset."""
    folders = {dataset: f"corpora/{tasks.dataset(dataset)[1].directory}" for dataset in datasets}
    published = [dataset for dataset, folder in folders.items() if _is_published(folder)]
    if published:
        return f"get it with: touche data fetch {' '.join(published)}, or {ELSEWHERE}"
    return remedy(next(iter(folders.values())))


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


def _is_published(path: str) -> bool:
    """Returns whether a path is a published file, or a folder that contains one."""
    return any(_is_within(file, path) for file in _files())


def _files() -> dict[str, dict[str, Any]]:
    """Returns all published files' tables by path (see ``records``)."""
    return {path: file for record in records() for path, file in record.get("files", {}).items()}


def _task_with(path: str) -> str:
    """Returns the id of the first task with a file among its topics, qrels or whole corpus; empty if none
    has it.

    Tasks with broken cards are skipped.
    """
    for task_id in tasks.ids():
        with suppress(ToucheError):
            if dataset_has_file(*tasks.dataset(task_id), path):
                return task_id
    return ""
