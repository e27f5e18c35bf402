"""Checks the rankings that a baseline yields, and sorts them into a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from touche.errors import ToucheError
from touche.io.identifiers import is_word, quoted
from touche.trec.columns import NO_STANCE, Run, Words
from touche.trec.runs import digits, ranking
from touche.trec.topics import Topic

Hit = tuple[str, float] | tuple[str, float, str]
Ranking = tuple[Topic, Iterable[Hit]]
"""A topic and its hits."""
Rankings = Iterable[Ranking]
"""For each topic, the topic and its hits; topics and hits may have any order.

A hit is ``(document id, score)``, or ``(pair id, score, stance)``. Ids are words, scores are finite numbers,
and higher scores are better. Equal scores are ordered by descending id, as in trec_eval. A topic without hits
may be omitted. A topic of image retrieval comes once for each stance; all hits then have this stance.
"""

_Lines = list[tuple[str, str, np.float32]]  # stance (or empty), document and score, best first


def run_of_rankings(topics: Sequence[Topic], rankings: Rankings, tag: str) -> Run:
    """Turns rankings into a run, in the topics' order. A topic may get several, each with its own stance.

    Raises:
        ToucheError: if a topic is unknown or repeated, a document is not a candidate, a score is not a finite
            number, or another value is not a word.
    """
    numbers: list[str] = []
    stances: list[str] = []
    documents: list[str] = []
    ranks: list[int] = []
    scores: list[np.float32] = []
    for number, by_stance in _lines_by_stance(topics, rankings).items():
        for lines in by_stance.values():
            numbers += [number] * len(lines)
            stances += [stance or NO_STANCE for stance, _, _ in lines]
            documents += [document for _, document, _ in lines]
            ranks += range(1, len(lines) + 1)
            scores += [score for _, _, score in lines]
    # What a reader of run.txt gets, which writes fewer digits than a float32 has.
    written_scores = [*map(float, digits(np.array(scores, np.float32)))]
    return Run(
        path=Path(tag),
        topics=Words.encode(numbers),
        stances=Words.encode(stances),
        documents=np.array(documents, np.object_),
        ranks=np.array(ranks, np.int64),
        scores=np.array(written_scores, np.float64),
        tags=Words.encode([tag] * len(numbers)),
        line_numbers=np.arange(1, len(documents) + 1),
    )


def _lines_by_stance(topics: Sequence[Topic], rankings: Rankings) -> dict[str, dict[str, _Lines]]:
    """Returns each topic's rankings by the stance of their hits; the stance is empty if the hits have no
    stance, or several.
    """
    by_topic: dict[str, dict[str, _Lines]] = {topic.number: {} for topic in topics}
    candidates = {topic.number: topic.candidates for topic in topics}
    for pair in rankings:
        topic, hits = _checked_tuple(pair, "(topic, ranking)", lengths=(2,))
        if not isinstance(topic, Topic):
            raise ToucheError(f"the baseline yielded {quoted(topic)}; yield the Topic, not its number")
        lines = _sorted_lines(topic, hits)
        stances = {stance for stance, _, _ in lines}
        stance = stances.pop() if len(stances) == 1 else ""
        earlier = by_topic.get(topic.number, {})
        # Several rankings for a topic need different stances. One without a stance must be alone.
        is_repeated = stance in earlier or (earlier and "" in [*earlier, stance])
        if topic.number not in by_topic or (lines and is_repeated):
            problem = f"topic {topic.number} is not in the input, or is ranked twice"
            raise ToucheError(f"{problem}; rank each topic of the input once, or once for each stance")
        allowed = candidates[topic.number]  # None if every document may be ranked
        for _, document, _ in lines:
            if allowed is not None and document not in allowed:
                problem = f"document {document!r} is not a candidate of topic {topic.number}"
                raise ToucheError(f"{problem}; rank only documents in topic.candidates")
        if lines:
            earlier[stance] = lines
    return by_topic


def _sorted_lines(topic: Topic, hits: Any) -> _Lines:
    if not isinstance(hits, Iterable):
        raise ToucheError(f"the baseline yielded the ranking {quoted(hits)}; yield a list of pairs")
    stances: dict[str, str] = {}  # by document
    scored: list[tuple[str, Any]] = []
    for hit in hits:
        _checked_tuple(hit, "(document id, score), or triples with a stance", lengths=(2, 3))
        document = _checked_word(
            hit[0], "document id", remedy="equal to the document's id; the score follows"
        )
        if len(hit) == 3:
            stances[document] = _checked_word(hit[2], "stance", remedy="such as PRO or FIRST")
        scored.append((document, hit[1]))
    try:
        lines = ranking(scored)
    except ToucheError as error:
        raise ToucheError(f"topic {topic.number}: {error}") from error
    return [(stances.get(document, ""), document, score) for document, score in lines]


def _checked_word(value: Any, what: str, remedy: str) -> str:
    """Returns a value that becomes a column of the run.

    Args:
        value: the value, which must be one word: programs split a run's lines at whitespace, and some at
            control characters.
        what: what the value is, for the error.
        remedy: which word to write instead, for the error.
    """
    if not is_word(value):
        raise ToucheError(f"the baseline yielded the {what} {quoted(value)}; write one word, {remedy}")
    return str(value)  # already a str, but mypy doesn't know


def _checked_tuple(value: Any, form: str, lengths: tuple[int, ...]) -> Any:
    if not isinstance(value, tuple | list) or len(value) not in lengths:
        raise ToucheError(f"the baseline yielded {quoted(value)}; yield pairs {form}")
    return value
