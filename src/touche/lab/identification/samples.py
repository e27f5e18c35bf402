"""Samples a run's scores for the documents that are available here."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from touche.documents.document_records import AnyDocument, Argument
from touche.errors import ToucheError, choice
from touche.io.grouping import group_by
from touche.trec.runs import RunLine
from touche.trec.topics import Topic

PER_TOPIC = 150  # documents; more would make fits slower, not more certain
_SEED = "touche identify"  # for the hashes that select lines
# A generous relative error for a float32 score: twice the distance between neighbours.
_FLOAT32_ERROR = 2 * float(np.finfo(np.float32).eps)
_MOST_DECIMALS = 7  # for a float32
ONE_FIELD = "premises and conclusion in one field"
PARTS = ("premises", "conclusion")
DISCUSSION = "discussion"  # the debate's title, which many corpora lack
_OF_BEIR = {"text": "premises", "title": "conclusion"}  # BEIR's field names for parts of an argument
_LEAST_AVAILABLE = 0.9  # share of a run's documents that a dataset contains if it's the whole collection
_LEAST_ROUNDED = 0.9  # share of scores that need this number of decimals; a few may differ

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """A run's available documents. Arrays and tuples contain an element per document.

    Attributes:
        topics: the topics' numbers.
        documents: the documents' ids.
        scores: their scores in the run.
        slack: each score's largest possible rounding error, in the file and as float32.
        decimals: the scores' decimals in the file.
        texts: each field's texts, by its name.
        titles: the topics' titles, by number.
        in_run: how many of the run's lines are for the task's topics, before sampling.
        in_dataset: how many of these lines' documents are in the dataset.
        mean_lengths: known mean lengths in the whole collection, by field name.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    scores: Array
    slack: Array
    decimals: int
    texts: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, str]
    in_run: int
    in_dataset: int
    mean_lengths: Mapping[str, float] = field(default_factory=dict)

    @property
    def can_be_complete(self) -> bool:
        """Whether the dataset can be the run's whole collection: it contains most of the run's documents."""
        return self.in_dataset >= _LEAST_AVAILABLE * self.in_run


def sample_of(
    run: Iterable[RunLine],
    topics: Iterable[Topic],
    documents: Iterable[AnyDocument],
    source: str,
    mean_lengths: Mapping[str, float] = MappingProxyType({}),
) -> Sample:
    """Samples up to ``PER_TOPIC`` documents per topic that the run and the dataset share, always the same
    ones.

    Args:
        run: the run's lines.
        topics: the dataset's topics; other topics' lines are left out.
        documents: the dataset's documents.
        source: the dataset's name, for messages.
        mean_lengths: known mean lengths, as in ``identify``.

    Raises:
        ToucheError: if none of the run's documents are in the dataset, documents lack a field whose mean
            length is given, or only one part of the arguments has a mean length.
    """
    titles = {topic.number: topic.title for topic in topics}
    lines = [line for line in run if line.topic in titles]
    ids_in_run = {line.document for line in lines}
    texts = {document.id: searched_fields(document) for document in documents if document.id in ids_in_run}
    available = [line for line in lines if line.document in texts]
    chosen = _drawn(available)
    if not chosen:
        raise ToucheError(
            f"{source} has none of the run's documents for its topics; pass the dataset of the run"
        )
    names = [*texts[chosen[0].document]]  # all documents of a dataset share their fields
    # Most collections contain no discussions, so hypotheses about this field would be a waste of time.
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
        in_dataset=len(available),
        mean_lengths=_checked_lengths(mean_lengths, names),
    )


def searched_fields(document: AnyDocument) -> dict[str, str]:
    """Returns searchable texts. For an argument: its parts, both together, and its discussion."""
    if isinstance(document, Argument):
        return {
            "premises": " ".join(document.premises),
            "conclusion": document.conclusion,
            DISCUSSION: document.discussion,
            ONE_FIELD: document.text,
        }
    return {"text": document.text}


def _checked_lengths(lengths: Mapping[str, float], fields: Collection[str]) -> Mapping[str, float]:
    """Returns mean lengths by field. Arguments need the lengths of both parts, or of neither."""
    by_field: dict[str, float] = {}
    for name, length in lengths.items():
        # In BEIR's format, "text" means an argument's premises. Other documents do have a field
        # "text".
        field = name if name in fields else _OF_BEIR.get(name, name)
        if field not in fields:
            raise ToucheError(f"the documents have no field {name!r}; {choice(name, fields)}")
        if field in by_field:
            raise ToucheError(f"the mean lengths have {field!r} twice; omit one of them")
        by_field[field] = length
    # documents that aren't arguments lack both
    missing = [part for part in PARTS if part not in by_field]
    if len(missing) == 1:
        raise ToucheError(
            f"the mean length of {missing[0]!r} is missing; pass those of premises and conclusions, or none"
        )
    return by_field


def count_decimals(scores: Array) -> int:
    """Returns how many decimals the scores are rounded to, within float32; 7 if they aren't rounded."""
    for decimals in range(_MOST_DECIMALS):
        is_rounded = np.abs(scores - np.round(scores, decimals)) <= _FLOAT32_ERROR * np.abs(scores)
        if np.mean(is_rounded) >= _LEAST_ROUNDED:
            return decimals
    return _MOST_DECIMALS


def _drawn(lines: Iterable[RunLine]) -> list[RunLine]:
    """Selects up to ``PER_TOPIC`` lines per topic, always the same, ordered by topic and score."""
    by_hash = sorted(
        lines, key=lambda line: sha256(f"{_SEED} {line.topic} {line.document}".encode()).digest()
    )
    topics = group_by(by_hash, lambda line: line.topic)
    drawn = [line for shuffled in topics.values() for line in shuffled[:PER_TOPIC]]
    return sorted(drawn, key=lambda line: (line.topic, -line.score, line.document))
