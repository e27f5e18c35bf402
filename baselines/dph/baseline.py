"""DPH (Amati et al. 2007), parameter-free and the best model in Potthast et al. 2019; also DLH and PL2."""

from typing import Literal

from touche import Documents, Rankings, Topics, baseline, check_range, scan


@baseline
def dph(
    topics: Topics,
    documents: Documents,
    *,
    model: Literal["DPH", "DLH", "PL2"] = "DPH",
    c: float = 1.0,
    depth: int = 1000,
) -> Rankings:
    """Ranks documents by how far the frequencies of the title's terms diverge from randomness.

    Lengths are exact, like Terrier's.

    model: Terrier's DPH, DLH or PL2.
    c: PL2's parameter, a number above 0; with a larger c, longer documents score higher. No effect on DPH and
        DLH.
    depth: number of documents per topic.
    """
    check_range("c", c, 1e-9, 1e9)
    formulas = {"DPH": scan.dph, "DLH": scan.dlh, "PL2": scan.pl2(c)}
    yield from scan.rank(
        topics, documents, formulas[model], analysis="english", length_rounding=scan.exact, depth=depth
    )
