"""Every published baseline of the Touché shared tasks, ready to rerun, and what is needed to check them."""

from touche.baselines.method import Documents, Rankings, Topics, baseline
from touche.evaluation.frames import compare, evaluate, published

__all__ = ["Documents", "Rankings", "Topics", "baseline", "compare", "evaluate", "published"]
