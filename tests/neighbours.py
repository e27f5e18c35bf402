"""Modules next to a baseline.py, for tests."""

from importlib import import_module
from types import ModuleType

from touche.baselines import load


def neighbour(baseline: str, module: str) -> ModuleType:
    """A module in the folder of a baseline."""
    package, _, _ = load(baseline).method.__module__.rpartition(".")
    return import_module(f"{package}.{module}")
