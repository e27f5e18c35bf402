"""Every published baseline of the Touché shared tasks, ready to rerun, and what is needed to check them."""

from touche.analysis import compare, evaluate, published
from touche.baselines import Documents, Rankings, Topics, baseline

__all__ = ["Documents", "Rankings", "Topics", "baseline", "compare", "evaluate", "published"]
