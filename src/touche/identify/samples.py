"""The scores of a run, and those of its documents that are at hand."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from touche.errors import InputError, ToucheError
from touche.formats.columns import split_columns
from touche.formats.documents import AnyDocument, Argument
from touche.formats.runs import read_run
from touche.formats.topics import Topic
from touche.io.opening import read_lines

PER_TOPIC = 150  # documents; more make a fit slower, not surer
_SEED = "touche identify"
_ULP = float(np.finfo(np.float32).eps)
_MOST_DECIMALS = 7
_ROUNDED = 0.9  # the share of the scores that has to agree with a number of decimals

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Score(NamedTuple):
    """What a run says of a document."""

    topic: str
    document: str
    value: float


@dataclass(frozen=True)
class Sample:
    """The documents of a run that are at hand; arrays and tuples have an element for each.

    Attributes:
        topics: their topics.
        documents: their ids.
        scores: their scores in the run.
        slack: how far rounding in the file, and float32, may have moved each score.
        decimals: of the scores in the file.
        texts: the texts of their fields, by the name of the field.
        titles: of the topics, by number.
        in_run: how many documents the run has.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    scores: Array
    slack: Array
    decimals: int
    texts: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, str]
    in_run: int


def read_scores(path: Path) -> list[Score]:
    """Reads a run, or a file ``*.tsv`` with topic, document and score on each line.

    Raises:
        InputError: if the file is no such file.
    """
    if path.suffix != ".tsv":
        return [Score(line.topic, line.document, line.score) for line in read_run(path)]
    found: dict[tuple[str, str], Score] = {}
    for number, text in read_lines(path):
        score = _line(path, number, text)
        if (score.topic, score.document) in found:
            problem = f"document {score.document!r} occurs a second time for topic {score.topic}"
            raise InputError(path, problem, "remove one of the two", number)
        found[score.topic, score.document] = score
    if not found:
        raise InputError(path, "the file is empty", "give topic, document and score on each line")
    return list(found.values())


def sample_of(
    scores: Iterable[Score], topics: Iterable[Topic], documents: Iterable[AnyDocument], source: str
) -> Sample:
    """The documents of a run that a dataset has, at most ``PER_TOPIC`` of a topic, the same ones every time.

    Raises:
        ToucheError: if there is none.
    """
    titles = {topic.number: topic.title for topic in topics}
    scores = [each for each in scores if each.topic in titles]
    wanted = {each.document for each in scores}
    texts = {each.id: fields_of(each) for each in documents if each.id in wanted}
    kept = _at_most(PER_TOPIC, [each for each in scores if each.document in texts])
    if not kept:
        problem = f"{source} has none of the documents that the run names for its topics"
        raise ToucheError(f"{problem}; name the dataset that the run was made on")
    values = np.array([each.value for each in kept])
    decimals = decimals_of(values)
    names = texts[kept[0].document]
    return Sample(
        tuple(each.topic for each in kept),
        tuple(each.document for each in kept),
        values,
        0.5 * 10.0**-decimals + 2 * _ULP * np.abs(values),
        decimals,
        {name: tuple(texts[each.document][name] for each in kept) for name in names},
        titles,
        len(scores),
    )


def fields_of(document: AnyDocument) -> dict[str, str]:
    """The texts that may have been searched: the parts of an argument and both, else the only text."""
    if isinstance(document, Argument):
        return {
            "premises": " ".join(document.premises),
            "conclusion": document.conclusion,
            "premises and conclusion in one field": document.text,
        }
    return {"text": document.text}


def decimals_of(scores: Array) -> int:
    """To how many decimals scores were rounded, as far as float32 can tell; 7 where they were not."""
    for decimals in range(_MOST_DECIMALS):
        whole = np.abs(scores - np.round(scores, decimals)) <= 2 * _ULP * np.abs(scores)
        if whole.mean() >= _ROUNDED:
            return decimals
    return _MOST_DECIMALS


def _at_most(count: int, scores: Iterable[Score]) -> list[Score]:
    """So many of each topic, drawn by a hash, in the order of their topics and scores."""
    by_topic: dict[str, list[Score]] = {}
    for each in sorted(scores, key=_drawn):
        by_topic.setdefault(each.topic, []).append(each)
    kept = [each for of_topic in by_topic.values() for each in of_topic[:count]]
    return sorted(kept, key=lambda each: (each.topic, -each.value, each.document))


def _drawn(score: Score) -> bytes:
    return hashlib.sha256(f"{_SEED} {score.topic} {score.document}".encode()).digest()


def _line(path: Path, number: int, text: str) -> Score:
    columns, remedy = split_columns(text), "write: topic document score"
    if len(columns) != 3:
        raise InputError(path, f"{len(columns)} columns instead of 3", remedy, number)
    topic, document, score = columns
    try:
        value = float(score)
    except ValueError as error:
        raise InputError(path, f"score {score!r} is not a number", remedy, number) from error
    if not isfinite(value):
        raise InputError(path, f"the score is {score}", "write scores that are finite", number)
    return Score(topic, document, value)
