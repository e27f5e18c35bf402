"""Modules next to a baseline.py, for tests."""

from importlib import import_module
from types import ModuleType

from touche.baselines import load


def neighbour(baseline: str, module: str) -> ModuleType:
    """A module in the folder of a baseline."""
    return import_module(f".{module}", load(baseline).package)
