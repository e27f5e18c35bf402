"""Measures by their names, as ir_measures writes them: ``nDCG@5``, ``AP``, ``P(rel=2)@10``; and macro F1.

``touche.evaluation.evaluators`` and ``stances`` compute them.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from touche.errors import ToucheError

_LONGEST = 100  # characters
_RANGES = {"cutoff": (1, 1000), "rel": (1, 1000), "recall": (0, 1), "beta": (0, 100)}  # of their parameters
_LARGEST_GAIN = 1000  # trec_eval's memory and time grow with it
_REMEDY = "write it as ir_measures has it, such as nDCG@10, AP, P(rel=2)@10 or RR"


class MeasureError(ToucheError, ValueError):
    """A measure that there is not, or that cannot be computed; in a table of TOML a wrong value."""


@dataclass(frozen=True)
class Measure:
    """What runs are scored by, from 0 to 1, the higher the better.

    Attributes:
        name: in the notation of ir_measures, such as ``nDCG@5``.
        cutoff: how many of the first results it looks at; None where it looks at all.
    """

    name: str
    cutoff: int | None = None

    @property
    def of_script(self) -> bool:
        """Whether the organizers' script has it: that is nDCG@k alone, with the labels as gains."""
        return self.name == f"nDCG@{self.cutoff}"

    @property
    def judged(self) -> str:
        """What the share of judged documents is called among the results that it looks at: ``Judged@5``."""
        return f"Judged@{self.cutoff}" if self.cutoff else "Judged"

    @property
    def condenses(self) -> bool:
        """Whether it leaves unjudged documents out, and does not count them as not relevant."""
        return self.name.startswith("Bpref") or "judged_only=True" in self.name

    def __str__(self) -> str:
        return self.name


MACRO_F1 = Measure("macro F1")  # of detected stances, which are not ranked


@cache
def measure_of(text: str) -> Measure:
    """The measure that a text names; its name is as ir_measures writes it, ``nDCG@5`` for ``NDCG(cutoff=5)``.

    Raises:
        MeasureError: if it is none of ir_measures, or none that trec_eval computes.
    """
    if plain := re.fullmatch(r"nDCG@([1-9][0-9]{0,2})", text):  # at once: to load ir_measures takes a while
        return Measure(text, int(plain[1]))
    if text == MACRO_F1.name:
        return MACRO_F1
    measure = parsed(text)
    for problem in _problems(measure):
        raise MeasureError(f"measure {str(measure)!r}: {problem}")
    return Measure(str(measure), measure.params.get("cutoff"))


def parsed(text: str) -> Any:
    """The measure of ir_measures that a text names.

    Its own parser does not work with Python 3.14 (ir_measures 0.4.3).

    Raises:
        MeasureError: if there is no such measure.
    """
    unreadable = MeasureError(f"measure {text[:_LONGEST]!r} is not known; {_REMEDY}")
    if len(text) > _LONGEST:
        raise unreadable
    try:
        with warnings.catch_warnings(action="ignore"):  # of the parser, on what looks like a slip
            measure = _of_expression(ast.parse(text, mode="eval").body)
        measure.validate_params()
    except (AssertionError, LookupError, SyntaxError, TypeError, ValueError) as error:
        raise unreadable from error
    return measure


def _of_expression(node: Any) -> Any:
    """The measure of ``Name``, ``Name(parameter=literal, ...)``, or either with ``@literal``."""
    import ir_measures

    is_cut = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    node, cutoff = (node.left, [node.right]) if is_cut else (node, [])
    is_call = isinstance(node, ast.Call) and not node.args
    node, keywords = (node.func, node.keywords) if is_call else (node, [])
    if not isinstance(node, ast.Name):
        raise ValueError("not the name of a measure")
    kind = ir_measures.measures.registry[node.id]
    parameters = [(keyword.arg or "", keyword.value) for keyword in keywords]
    parameters += [(kind.AT_PARAM, value) for value in cutoff]
    return kind(**{name: ast.literal_eval(value) for name, value in parameters})


def _problems(measure: Any) -> Iterator[str]:
    """Why it cannot be computed by trec_eval; what is out of range can bring its code down."""
    import ir_measures

    for name, (least, most) in _RANGES.items():
        value = measure.params.get(name, least)
        if isinstance(value, bool) or not least <= value <= most or value != round(value, 2):
            digits = " with two digits at most" if isinstance(value, float) else ""
            yield f"{name} is not from {least} to {most}{digits}; correct it"
    for label, gain in measure.params.get("gains", {}).items():
        if not (type(label) is type(gain) is int and gain <= _LARGEST_GAIN):
            yield f"gains are not whole numbers up to {_LARGEST_GAIN}; write them as in gains={{1:1,2:3}}"
    if not isinstance(measure.aggregator(), ir_measures.MeanAgg):
        yield "it counts, and has no mean over topics; take one that has"
    if not ir_measures.pytrec_eval.supports(uncut(measure)):
        yield "trec_eval, which scores here, does not have it; take one that it has, such as nDCG@10 or AP"


def uncut(measure: Any) -> Any:
    """RR@k as RR, to be computed from the first k alone, as by ``trec_eval -M k``; any other as it is."""
    cut = measure.NAME == "RR" and not measure.params.get("judged_only")
    others = {name: value for name, value in measure.params.items() if name != "cutoff"}
    return type(measure)(**others) if cut else measure
