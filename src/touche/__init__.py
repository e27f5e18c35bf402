"""Every published baseline of the Touché shared tasks, ready to rerun, and what is needed to check them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touche.baselines.method import Documents, Rankings, Topics, baseline
    from touche.evaluation.frames import compare, evaluate, published

__all__ = ["Documents", "Rankings", "Topics", "baseline", "compare", "evaluate", "published"]


def __getattr__(name: str) -> Any:
    # Once they are asked for: the command minds signals before it imports what takes time.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    frames = name in ("compare", "evaluate", "published")
    return getattr(import_module("touche.evaluation.frames" if frames else "touche.baselines.method"), name)
