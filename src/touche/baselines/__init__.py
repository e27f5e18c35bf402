"""Baselines: what an author writes, and how it is found, loaded and run."""

from touche.baselines.declaration import declared, missing_extra
from touche.baselines.loader import folder_of, load, names
from touche.baselines.method import Baseline, Rankings, Topics, baseline
from touche.baselines.options import arguments_of
from touche.baselines.running import run

__all__ = [
    "Baseline",
    "Rankings",
    "Topics",
    "arguments_of",
    "baseline",
    "declared",
    "folder_of",
    "load",
    "missing_extra",
    "names",
    "run",
]
