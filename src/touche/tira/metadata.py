"""Reads what describes a run, in ir-metadata.yml next to it, and what describes its input."""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from touche import tasks
from touche.errors import InputError
from touche.io.identifiers import is_word
from touche.io.opening import open_binary

if TYPE_CHECKING:
    from touche.trec.run_forms import RunSource

METADATA_FILE = "ir-metadata.yml"
NO_STATISTICS = "none"
"""The value of --statistics, and the name in the metadata, for the documents' own statistics."""
MAX_METADATA_BYTES = 1 << 16  # of which the names and MD5s of 100 files take 10,000
DATASET_VARIABLE = "TOUCHE_DATASET"  # set in the sandbox, whose input folder's name means nothing
IMAGE_VARIABLE = "TOUCHE_IMAGE_DIGEST"  # set by the sandbox: digest of the image's content
TIRA_DATASET_VARIABLE = "TIRA_DATASET_ID"  # set by TIRA, but TIRA's client sets the literal "id"
_TIREX_TRACKER = re.compile(rb"^ir_metadata\.(?:start|end)\s*$", re.MULTILINE)  # lines around its YAML

_T = TypeVar("_T")


def name_of_input(folder: Path) -> str:
    """Returns what ``data_of_files`` calls the collection in an input directory."""
    return dataset_id(folder) or folder.resolve().name


def dataset_id(folder: Path | None = None) -> str:
    """Returns the dataset's id from the sandbox, TIRA or metadata.json next to the topics; else empty."""
    for variable in (DATASET_VARIABLE, TIRA_DATASET_VARIABLE):
        id = os.environ.get(variable, "")
        if id not in ("", "id"):  # TIRA's client sets the literal "id"
            return id
    if folder is None or not (folder / "metadata.json").is_file():
        return ""
    try:
        with (folder / "metadata.json").open("rb") as file:
            # Not json: after Java has started, deeply nested content can overflow the stack.
            id = orjson.loads(file.read(MAX_METADATA_BYTES))["ir_datasets_id"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return id if is_word(id) else ""


def origin_of_run(metadata: Path) -> tuple[str, str, str]:
    """Returns a run's baseline, its commit (or ``unknown``) and its image's digest (or empty)."""
    record = read_metadata(metadata)
    # Only strings are safe to print: a list with aliases may expand to gigabytes.
    name = _value_in(record, str, "method", "name")
    commit = _value_in(record, str, "implementation", "source", "commit")
    digest = _value_in(record, str, "implementation", "image", "content digest")
    return name or "", commit or "unknown", digest or ""


def team_of_run(metadata: Path) -> str:
    """Returns the team; empty if unknown.

    Raises:
        InputError: if the metadata can't be read.
    """
    return _value_in(read_metadata(metadata), str, "actor", "team") or ""


def peak_memory_of_run(metadata: Path) -> int | None:
    """Returns the peak memory in bytes that a run's process wrote; None if it is unknown, or if the metadata
    can't be read.
    """
    try:
        record = read_metadata(metadata)
    except InputError:  # the run's scores count anyway
        return None
    memory = _value_in(record, str, "resources", "ram", "used process") or ""
    number, _, unit = memory.partition(" ")
    return int(number) if number.isdecimal() and unit == "B" else None


def task_of_run(run: Path) -> str:
    """Returns the dataset or task in ir-metadata.yml next to a run; empty if unknown.

    If a run used a folder, its metadata names only files. Then it is the only task whose card lists one of
    them as its topics.
    """
    record = read_metadata(run.parent / METADATA_FILE)
    name = _value_in(record, str, "data", "test collection", "name") or ""
    if tasks.is_dataset(name):
        return name
    files = _value_in(record, dict, "data", "test collection", "files") or {}
    candidates = [id for id, card in tasks.all_tasks().items() if card.topics in files]
    return candidates[0] if len(candidates) == 1 else ""


def has_other_statistics(run: Path) -> bool:
    """Returns whether a run was ranked with other statistics than its documents' own, by the metadata next to
    it; False without readable metadata.
    """
    with suppress(InputError):
        record = read_metadata(run.parent / METADATA_FILE)
        return bool(_value_in(record, str, "data", "statistics", "md5"))
    return False


def different_statistics(runs: "Iterable[RunSource]") -> list[str]:
    """Returns a warning if runs were ranked with different statistics, by the metadata next to them.

    Runs without readable metadata are left out, because this is the only use of the metadata here.
    """
    run_by_statistics: dict[tuple[str, str], str] = {}  # by the statistics' name and MD5
    for run in runs:
        if run.content is not None:
            continue
        with suppress(InputError):
            record = read_metadata(run.path.parent / METADATA_FILE)
            name = _value_in(record, str, "data", "statistics", "name")
            digest = _value_in(record, str, "data", "statistics", "md5") or ""
            if name is not None:
                run_by_statistics.setdefault((name, digest), str(run.name))
    if len(run_by_statistics) < 2:
        return []
    is_clear = len({name for name, _ in run_by_statistics}) == len(run_by_statistics)
    parts = list[str]()
    for (name, digest), path in run_by_statistics.items():
        named = name if is_clear else f"{name} (MD5 {digest})"
        parts.append(f"{path} with {named if digest else 'those of the documents'}")
    problem = f"the runs were ranked with different statistics: {', '.join(parts)}"
    return [f"{problem}; to compare methods, run all of them with --statistics {NO_STATISTICS}"]


def read_metadata(metadata: Path) -> Any:
    """Reads untrusted metadata, keeping all values as strings; None if there is no file.

    Limiting its size bounds time and memory.
    """
    import yaml  # imported late: takes 10 ms

    if not metadata.is_file():
        return None
    with open_binary(metadata) as file:
        content = file.read(MAX_METADATA_BYTES + 1)
    if len(content) > MAX_METADATA_BYTES:
        problem = f"larger than {MAX_METADATA_BYTES:,} bytes"
        raise InputError(metadata, problem, "check that this is the metadata of the run")
    content = _TIREX_TRACKER.sub(b"", content)
    try:
        # Not CBaseLoader, which crashes on deeply nested content.
        return yaml.load(content, Loader=yaml.BaseLoader)
    # ValueError and OverflowError come from impossible characters.
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(metadata, "not YAML", "run the baseline again") from error


def _value_in(record: Any, kind: type[_T], *keys: str) -> _T | None:
    """Returns the value under nested keys, or None if there is no value of this kind."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record if isinstance(record, kind) else None
