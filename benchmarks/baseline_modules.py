"""Imports shipped baselines' modules for other benchmarks. Not a script."""

from importlib import import_module
from typing import Any

from touche import baselines


def import_from(baseline: str, module: str) -> Any:
    """Returns a module from a baseline's folder, such as its baseline.py.

    The folder is not on ``sys.path``: ``touche`` imports its modules into a package.
    """
    package, _, _ = baselines.load(baseline).method.__module__.rpartition(".")
    return import_module(f"{package}.{module}")
