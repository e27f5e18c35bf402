"""The scores of a run, sampled from the documents that are available locally."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from touche.documents.document_records import AnyDocument, Argument
from touche.errors import InputError, ToucheError, choice, counted
from touche.io.opening import OF_TABLES, read_lines
from touche.trec.columns import Columns, Run
from touche.trec.run_forms import run_of
from touche.trec.runs import RunLine, by_topic, checked, parse_line, split_columns
from touche.trec.topics import Topic

_REMEDY = "write: topic document score"
PER_TOPIC = 150  # documents; more make a fit slower, but not more certain
_SEED = "touche identify"  # of the hashes that select lines
# A generous limit of the relative error of a score that was float32: twice the distance of neighbours.
_FLOAT32_ERROR = 2 * float(np.finfo(np.float32).eps)
_MOST_DECIMALS = 7  # of a float32
ONE_FIELD = "premises and conclusion in one field"
PARTS = ("premises", "conclusion")
DISCUSSION = "discussion"  # the title of the debate, which many corpora lack
_OF_BEIR = {"text": "premises", "title": "conclusion"}  # parts by the names of fields in BEIR's format
_LEAST_ROUNDED = 0.9  # the least share of scores with this number of decimals; a few may differ

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """The available documents of a run; arrays and tuples have an element for each document.

    Attributes:
        topics: the numbers of the topics.
        documents: the ids of the documents.
        scores: the scores in the run.
        slack: the largest rounding error of each score, in the file and as float32.
        decimals: the decimals of the scores in the file.
        texts: the texts of each field, by its name.
        titles: the titles of the topics, by number.
        in_run: the number of the run's lines for topics of the task, before sampling.
        mean_lengths: known mean lengths of fields in the whole collection, by the field's name.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    scores: Array
    slack: Array
    decimals: int
    texts: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, str]
    in_run: int
    mean_lengths: Mapping[str, float] = field(default_factory=dict)


def read_scores(path: Path) -> Run:
    """Reads a run, or a file ``*.tsv`` with topic, document and score on each line.

    Raises:
        InputError: if the file has no lines, or a line is broken or repeats a document of its topic.
    """
    if path.suffix != ".tsv":
        return run_of(path)
    columns = Columns()
    columns.add_lines([(number, _line(path, number, text)) for number, text in read_lines(path, OF_TABLES)])
    return checked(columns.run(path), _REMEDY)


def sample_of(
    run: Iterable[RunLine],
    topics: Iterable[Topic],
    documents: Iterable[AnyDocument],
    source: str,
    mean_lengths: Mapping[str, float] = MappingProxyType({}),
) -> Sample:
    """Samples up to ``PER_TOPIC`` documents of each topic that run and dataset share; always the same ones.

    Args:
        run: the lines of the run.
        topics: the topics of the dataset; lines of other topics are left out.
        documents: the documents of the dataset.
        source: the name of the dataset, for messages.
        mean_lengths: known mean lengths, as in ``identify``.

    Raises:
        ToucheError: if the dataset has none of the run's documents, the documents lack a field with a mean
            length, or only one part of arguments has a mean length.
    """
    titles = {topic.number: topic.title for topic in topics}
    lines = [line for line in run if line.topic in titles]
    ids_in_run = {line.document for line in lines}
    texts = {document.id: searched_fields(document) for document in documents if document.id in ids_in_run}
    chosen = _drawn(line for line in lines if line.document in texts)
    if not chosen:
        raise ToucheError(
            f"{source} has none of the run's documents for its topics; pass the dataset of the run"
        )
    names = [*texts[chosen[0].document]]  # all documents of a dataset have the same fields
    # Most collections have no discussions; hypotheses on this field would be tried in vain.
    if DISCUSSION in names and not any(fields[DISCUSSION] for fields in texts.values()):
        names.remove(DISCUSSION)
    scores = np.array([line.score for line in chosen])
    decimals = count_decimals(scores)
    return Sample(
        topics=tuple(line.topic for line in chosen),
        documents=tuple(line.document for line in chosen),
        scores=scores,
        slack=0.5 * 10.0**-decimals + _FLOAT32_ERROR * np.abs(scores),
        decimals=decimals,
        texts={name: tuple(texts[line.document][name] for line in chosen) for name in names},
        titles=titles,
        in_run=len(lines),
        mean_lengths=_checked_lengths(mean_lengths, names),
    )


def searched_fields(document: AnyDocument) -> dict[str, str]:
    """Returns the texts that may be searched: of an argument its parts, both together, and its discussion."""
    if isinstance(document, Argument):
        return {
            "premises": " ".join(document.premises),
            "conclusion": document.conclusion,
            DISCUSSION: document.discussion,
            ONE_FIELD: document.text,
        }
    return {"text": document.text}


def _checked_lengths(lengths: Mapping[str, float], fields: Collection[str]) -> Mapping[str, float]:
    """Returns mean lengths by field; arguments have the lengths of both parts or of none."""
    by_field: dict[str, float] = {}
    for name, length in lengths.items():
        # In BEIR's format, "text" means the premises of an argument. Other documents have a field "text".
        field = name if name in fields else _OF_BEIR.get(name, name)
        if field not in fields:
            raise ToucheError(f"the documents have no field {name!r}; {choice(name, fields)}")
        if field in by_field:
            raise ToucheError(f"the mean lengths have {field!r} twice; omit one of them")
        by_field[field] = length
    # For documents that are not arguments, both are missing.
    missing = [part for part in PARTS if part not in by_field]
    if len(missing) == 1:
        raise ToucheError(
            f"the mean length of {missing[0]!r} is missing; pass those of premises and conclusions, or none"
        )
    return by_field


def count_decimals(scores: Array) -> int:
    """Returns the number of decimals to which scores were rounded, within float32; 7 if they were not."""
    for decimals in range(_MOST_DECIMALS):
        is_rounded = np.abs(scores - np.round(scores, decimals)) <= _FLOAT32_ERROR * np.abs(scores)
        if np.mean(is_rounded) >= _LEAST_ROUNDED:
            return decimals
    return _MOST_DECIMALS


def _drawn(lines: Iterable[RunLine]) -> list[RunLine]:
    """Selects up to ``PER_TOPIC`` lines of each topic, the same every time, ordered by topic and score."""
    by_hash = sorted(
        lines, key=lambda line: sha256(f"{_SEED} {line.topic} {line.document}".encode()).digest()
    )
    topics = by_topic(by_hash)
    drawn = [line for shuffled in topics.values() for line in shuffled[:PER_TOPIC]]
    return sorted(drawn, key=lambda line: (line.topic, -line.score, line.document))


def _line(path: Path, number: int, text: str) -> RunLine:
    """Returns a line of topic, document and score as a line of a run, with the rank 0 and the tag tsv."""
    columns = split_columns(text)
    if len(columns) != 3:
        raise InputError(path, f"{counted(len(columns), 'column')} instead of 3", _REMEDY, line=number)
    topic, document, score = columns
    return parse_line(f"{topic} Q0 {document} 0 {score} tsv", path, number)
