"""Measures in ir_measures' notation, such as ``nDCG@5``, ``AP`` and ``P(rel=2)@10``, and macro F1.

``measure_of`` knows every ir_measures measure that trec_eval computes, even by its trec_eval name such as
``ndcg_cut_5``, and the measures in ``own_measures.py``.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from touche.errors import ToucheError
from touche.tasks.own_measures import OWN_MEASURES

_MAX_NAME_LENGTH = 100  # characters
# Smallest and largest values of the measures' parameters.
_PARAMETER_RANGES = {
    "cutoff": (1, 1000),
    "rel": (1, 1000),
    "recall": (0, 1),
    "beta": (0, 100),
    "p": (0, 0.99),
}
_LARGEST_GAIN = 1000  # a limit, because trec_eval's memory and time grow with the largest gain
# trec_eval's names of measures, each with ir_measures' name. If the latter ends with @, a number after
# trec_eval's name, such as _5 or .5, is the cutoff.
_NAMES_OF_TREC_EVAL = {
    "map": "AP",
    "map_cut": "AP@",
    "ndcg": "nDCG",
    "ndcg_cut": "nDCG@",
    "P": "P@",
    "recall": "R@",
    "success": "Success@",
    "recip_rank": "RR",
    "bpref": "Bpref",
    "iprec_at_recall": "IPrec@",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "set_map": "SetAP",
}
_OF_SUBTOPICS = "it needs judgments of subtopics, which touche merges; choose a measure without subtopics"
_NOT_COMPUTED = {  # measures that touche rejects, each with the reason
    "DCG": "ir_measures does not have it; choose nDCG, which is DCG divided by that of the ideal ranking",
    **dict.fromkeys(("alpha_nDCG", "alpha_DCG", "α_nDCG", "α_DCG", "ERR_IA", "nERR_IA"), _OF_SUBTOPICS),
    **dict.fromkeys(("NRBP", "nNRBP", "AP_IA", "MAP_IA", "P_IA", "StRecall"), _OF_SUBTOPICS),
}
_REMEDY = "write it as in ir_measures, such as nDCG@10, AP, P(rel=2)@10 or RR"


class MeasureError(ToucheError, ValueError):
    """An unknown measure, or one that can't be computed."""


@dataclass(frozen=True)
class Measure:
    """A measure. Higher is better. Values are between 0 and 1, except for some ``OWN_MEASURES``.

    Attributes:
        name: ir_measures' name, such as ``nDCG@5``.
        cutoff: how many results per topic are scored; None if all are.
        condenses: whether unjudged documents are removed from the ranking. Otherwise they count as not
            relevant.
    """

    name: str
    cutoff: int | None = None
    condenses: bool = False

    @property
    def of_script(self) -> bool:
        """Whether the organizers' script computes this measure. It only computes nDCG@k with grades
        as gains.
        """
        return self.name == f"nDCG@{self.cutoff}"

    @property
    def of_trec_eval(self) -> bool:
        """Whether trec_eval computes this measure. Only call it for measures that ir_measures has."""
        return _name_in(self.name) not in OWN_MEASURES

    @property
    def evaluators(self) -> list[str]:
        """The evaluators that know this measure: both for nDCG@k, only touche for stances and images, and
        only trec_eval for all other measures.
        """
        if self in (MACRO_F1, *MEASURE_OF_QUESTION.values()):
            return ["touche"]
        return ["trec_eval", "touche"] if self.of_script else ["trec_eval"]

    @property
    def depth(self) -> int | None:
        """How many of a topic's first results can affect the value. None if all can: if there is no cutoff,
        or if unjudged results are skipped before cutting.
        """
        return None if self.condenses else self.cutoff

    @property
    def judged(self) -> str:
        """The name of the measure for the share of scored results that is judged, such as ``Judged@5``."""
        return f"Judged@{self.cutoff}" if self.cutoff else "Judged"

    @property
    def is_judged_share(self) -> bool:
        """Whether this measure itself is the share of results that is judged."""
        return self.name == self.judged

    @property
    def in_library(self) -> Any:
        """This measure as an ir_measures object. Not available for macro F1 and for the measures for
        images.
        """
        return parsed(self.name)

    def __str__(self) -> str:
        return self.name


MACRO_F1 = Measure("macro F1")  # the measure for detected stances
# The assessors' questions about an image, under their official names.
QUESTIONS = ("topicRelevance", "argumentativeness", "stanceRelevance")
IMAGES = 10  # how many images of each ranking are scored
MEASURE_OF_QUESTION = {question: Measure(f"{question}P@{IMAGES}", IMAGES) for question in QUESTIONS}
"""The organizers' measures of images that are ranked for each topic and stance."""


def _name_in(text: str) -> str:
    """Returns a measure's name without parameters and cutoff: ``P`` for ``P(rel=2)@10``."""
    # Never None, because the pattern matches any text.
    return re.match(r"\w*", text)[0]  # type: ignore[index]


def measures_in(text: str) -> list[str]:
    """Splits a list of measures, such as ``nDCG@5,P(rel=2)@10``, at the commas outside brackets."""
    open_brackets = 0
    parts = [""]
    for character in text:
        if character in "({[":
            open_brackets += 1
        elif character in ")}]":
            open_brackets -= 1
        # Can be negative if a bracket is closed that was never opened.
        if character == "," and open_brackets <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def parse_measures(measure: Any) -> list[str | None]:
    """Returns the names of measures without duplicates. In the result, None stands for the task's measure. An
    empty list is treated like None.

    Args:
        measure: an ir_measures measure, its name, several names separated by commas such as ``nDCG@5,AP``,
            None, or a list of these.
    """
    passed = measure if isinstance(measure, list | tuple) else [measure]
    names = list[str | None]()
    for item in passed:
        if item is None:
            names.append(None)
        else:
            names += measures_in(str(item))
    return list(dict.fromkeys(names)) or [None]


@cache
def measure_of(text: str) -> Measure:
    """Returns the measure with a name. ``NDCG(cutoff=5)`` and trec_eval's ``ndcg_cut_5`` become ``nDCG@5``.

    Raises:
        MeasureError: if the measure is unknown or can't be computed.
    """
    text = _of_trec_eval(text)
    # The most frequent measure gets a shortcut, because importing ir_measures is slow.
    ndcg = re.fullmatch(r"nDCG@([1-9][0-9]{0,2})", text)
    if ndcg:
        return Measure(text, int(ndcg[1]))
    for measure in (MACRO_F1, *MEASURE_OF_QUESTION.values()):
        if text == measure.name:
            return measure
    reason = _NOT_COMPUTED.get(_name_in(text))
    if reason:
        raise MeasureError(f"measure {text[:_MAX_NAME_LENGTH]!r}: {reason}")
    measure_of_library = parsed(text)
    problem = next(_problems(measure_of_library), "")
    if problem:
        raise MeasureError(f"measure {str(measure_of_library)!r}: {problem}")
    parameters = measure_of_library.params
    return Measure(
        name=str(measure_of_library),
        cutoff=parameters.get("cutoff"),
        condenses=measure_of_library.NAME == "Bpref" or parameters.get("judged_only", False),
    )


def _of_trec_eval(text: str) -> str:
    """Translates trec_eval's name for a measure into ir_measures' name. Other names are returned
    unchanged.
    """
    name, number = re.fullmatch(r"(.*?)(?:[._]([0-9]+(?:\.[0-9]+)?))?", text, re.DOTALL).groups()  # type: ignore[union-attr]
    other_name = _NAMES_OF_TREC_EVAL.get(name, "")
    is_complete = other_name.endswith("@") == bool(number)
    return f"{other_name}{number or ''}" if other_name and is_complete else text


@cache
def parsed(text: str) -> Any:
    """Returns the ir_measures measure with a name.

    We parse the name ourselves, because ir_measures 0.4.3's parser fails on Python 3.14.

    Raises:
        MeasureError: if the measure is unknown.
    """
    unknown = MeasureError(f"measure {text[:_MAX_NAME_LENGTH]!r} is not known; {_REMEDY}")
    if len(text) > _MAX_NAME_LENGTH:
        raise unknown
    try:
        # Python's parser can warn about likely mistakes in code, but this text isn't code.
        with warnings.catch_warnings(action="ignore"):
            measure = _measure_in(ast.parse(text, mode="eval").body)
        measure.validate_params()
    except ModuleNotFoundError as error:
        problem = f"measure {text!r} needs ir_measures, which container images lack"
        raise MeasureError(f"{problem}; evaluate outside of the container") from error
    except (AssertionError, LookupError, SyntaxError, TypeError, ValueError) as error:
        similar = _similar_name(text)
        if similar:
            raise MeasureError(f"measure {text!r} is not known; did you mean {similar}?") from error
        raise unknown from error
    return measure


def _similar_name(text: str) -> str:
    """Returns the name of the measure that a misspelt name probably stands for; empty if no name is similar.
    For example, returns nDCG@5 for ndcg@5 and for nDGC@5, and P@10 for P, which needs a cutoff.
    """
    import ir_measures  # not installed in images

    name = _name_in(text)
    registry = ir_measures.measures.registry  # measures by name and by alias
    proper_names = {any_name.lower(): measure.NAME for any_name, measure in registry.items()}
    proper_names |= {own_name.lower(): own_name for own_name in OWN_MEASURES}
    # If the name is known, contains the name itself.
    similar_names = get_close_matches(name.lower(), proper_names, n=1)
    if not similar_names:
        return ""
    spelled_properly = proper_names[similar_names[0]] + text.removeprefix(name)
    with_cutoff = [] if "@" in text else [f"{spelled_properly}@10"]
    for candidate in (spelled_properly, *with_cutoff):
        if candidate != text:
            with suppress(MeasureError):
                return measure_of(candidate).name
    return ""


def _measure_in(node: Any) -> Any:
    """Returns the measure that a syntax tree stands for. The text must have been ``Name`` or
    ``Name(parameter=literal, ...)``, optionally followed by ``@literal``, as in ``P(rel=2)@10``.
    """
    import ir_measures  # not installed in images

    cutoff = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cutoff = node.right
        node = node.left
    keywords = []
    if isinstance(node, ast.Call) and not node.args:  # calls with positional arguments are rejected below
        keywords = node.keywords
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError("not a name of a measure")
    kind = ir_measures.measures.registry.get(node.id) or _own_kind(node.id)
    # ``arg`` is None for ``**literal``. It becomes the empty name, which ir_measures rejects.
    parameters = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in keywords}
    if cutoff is not None:  # the value after ``@`` is for the parameter whose name is in AT_PARAM
        parameters[kind.AT_PARAM] = ast.literal_eval(cutoff)
    return kind(**parameters)


@cache
def _own_kind(name: str) -> Any:
    """Creates a class for one of ``OWN_MEASURES`` that can be used like ir_measures' own classes.

    Raises:
        KeyError: if ``OWN_MEASURES`` contains no measure with this name.
    """
    import ir_measures  # not installed in images

    parameters = {
        parameter: ir_measures.measures.ParamInfo(dtype=kind, required=True)  # type: ignore[no-untyped-call]
        for parameter, kind in OWN_MEASURES[name].parameters.items()
    }
    members = {"__name__": name, "NAME": name, "SUPPORTED_PARAMS": parameters}
    return type(name, (ir_measures.measures.Measure,), members)


def _problems(measure: Any) -> Iterator[str]:
    """Yields the reasons why a measure can't be computed. Parameters are checked because trec_eval can crash
    if one is out of range.
    """
    import ir_measures  # not installed in images

    for name, (least, most) in _PARAMETER_RANGES.items():
        # If the measure doesn't have this parameter, use a value that is in the range.
        value = measure.params.get(name, least)
        is_in_range = not isinstance(value, bool) and least <= value <= most
        # More decimals can't be passed to trec_eval, because its names contain two, e.g.
        # iprec_at_recall_0.10.
        has_two_decimals = value == round(value, 2)
        if not (is_in_range and has_two_decimals):
            decimals = " with at most two decimals" if isinstance(value, float) else ""
            yield f"{name} is not from {least} to {most}{decimals}; correct it"
    for grade, gain in measure.params.get("gains", {}).items():
        are_whole = type(grade) is type(gain) is int
        if not are_whole or not 0 <= gain <= _LARGEST_GAIN:
            wanted = f"whole numbers from 0 to {_LARGEST_GAIN}"
            yield f"gains are not {wanted}; write them as in gains={{1:1,2:3}}"
    if not isinstance(measure.aggregator(), ir_measures.MeanAgg):
        yield "it is a count without a mean over topics; choose a measure with a mean"
    if measure.params.get("dcg") == "exp-log2":
        yield "trec_eval does not compute it; write the gains of your grades: nDCG(gains={1:1,2:3,3:7})@5"
    if measure.NAME not in OWN_MEASURES and not ir_measures.pytrec_eval.supports(uncut(measure)):
        yield "trec_eval does not compute it; choose a measure that trec_eval has, such as nDCG@10 or AP"


def uncut(measure: Any) -> Any:
    """Returns RR for RR@k, because trec_eval has no RR@k. Other measures are returned unchanged.

    The caller then computes RR on the first k results, like ``trec_eval -M k``. RR@k with ``judged_only`` is
    returned unchanged, too: it skips unjudged results, so it may need more than the first k.
    """
    if measure.NAME != "RR" or measure.params.get("judged_only"):
        return measure
    other_parameters = {name: value for name, value in measure.params.items() if name != "cutoff"}
    return type(measure)(**other_parameters)
