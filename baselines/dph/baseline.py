"""DPH (Amati et al. 2007), without parameters, the best of Potthast et al. 2019; DLH and PL2 as variants."""

from typing import Literal

from touche import Documents, Rankings, Topics, baseline, scan
from touche.errors import check_range


@baseline
def dph(
    topics: Topics,
    documents: Documents,
    *,
    model: Literal["DPH", "DLH", "PL2"] = "DPH",
    c: float = 1.0,
    depth: int = 1000,
) -> Rankings:
    """Ranks documents by how far the topic's terms diverge from being spread at random.

    Lengths are exact, as Terrier keeps them.

    model: Terrier's DPH, DLH, or PL2, the one with a parameter.
    c: how much the length of a document counts in PL2, less the larger it is; without effect on the others.
    depth: how many documents are returned per topic.
    """
    check_range("c", c, 1e-9, 1e9)
    formulas = {"DPH": scan.dph, "DLH": scan.dlh, "PL2": scan.pl2(c)}
    yield from scan.rank(
        topics, documents, formulas[model], analysis="english", kept_of_lengths=scan.exact, depth=depth
    )
