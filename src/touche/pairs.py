"""Pairs of sentences, the results of Touché 2022 task 1: candidates, their ids, order and stance."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from touche import lucene
from touche.documents import AnyDocument, Argument, Document
from touche.sentences import arguments_in_sentences
from touche.topics import Topic

FEWEST = 100  # pairs per topic, by the rules of the task
ARGUMENTS = 100  # per topic, whose sentences are candidates

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of an argument, scored for a topic.

    Attributes:
        id: the id, such as ``S1-A1__PREMISE__2``.
        text: the sentence.
        argument: the id of the argument.
        stance: the stance of the argument.
        place: its number in the argument, from 0; the conclusion comes before the premises.
        score: how well it answers the topic.
    """

    id: str
    text: str
    argument: str
    stance: str
    place: int
    score: float

    @property
    def side(self) -> str:
        """``PRO`` or ``CON``: a conclusion is for itself, whatever its premises are."""
        return "PRO" if "__CONC__" in self.id else self.stance


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences in their canonical order, and a score."""

    first: ScoredSentence
    second: ScoredSentence
    score: float

    @property
    def id(self) -> str:
        """The id that the judgments know: the order counts."""
        return f"{self.first.id},{self.second.id}"

    @property
    def stance(self) -> str:
        """``PRO`` or ``CON`` if both arguments agree on it, else ``Q0``."""
        return self.first.stance if self.first.stance == self.second.stance else "Q0"

    @property
    def contradicts_itself(self) -> bool:
        """Whether one sentence is for its argument's conclusion and the other against it."""
        return {self.first.side, self.second.side} == {"PRO", "CON"}

    @property
    def hit(self) -> tuple[str, float, str]:
        """What a baseline yields for it."""
        return self.id, self.score, self.stance


def are_asked_for(documents: Iterable[AnyDocument]) -> bool:
    """Whether a collection comes split into sentences, as args_processed.csv does."""
    first = next(iter(documents), None)
    return isinstance(first, Argument) and first.sentences is not None


def by_dirichletlm(
    topics: Sequence[Topic], documents: Iterable[AnyDocument], mu: float, depth: int
) -> Iterator[tuple[Topic, list[Pair]]]:
    """Pairs by query likelihood: arguments first, then their sentences, then pairs of these.

    The score of a sentence is its own DirichletLM score plus that of its argument, both logarithms of
    likelihoods; the score of a pair is the mean of both. The statistics of the sentences are those of all
    sentences of all arguments that were found.

    Args:
        topics: all topics.
        documents: the arguments; read twice.
        mu: the smoothing of both.
        depth: how many pairs per topic at the most.

    Yields:
        Each topic with its best pairs, best first.
    """
    found = search_arguments(topics, documents, mu, ARGUMENTS)
    arguments = read_arguments(documents, chain.from_iterable(found.values()))
    sentences = (Document(each.id, each.text) for one in arguments.values() for each in one.sentences or ())
    queries = [topic.title for topic in topics]
    index = lucene.index(sentences, queries=queries, analyzer="standard", similarity=lucene.dirichlet(mu))
    counts = {}
    for topic in topics:
        candidates = [arguments[each] for each in found[topic.number]]
        ids = [each.id for one in candidates for each in one.sentences or ()]
        likelihoods = dict(index.search(topic.title, max(1, len(ids)), among=ids))
        scored = [
            replace(each, score=likelihoods.get(each.id, 0.0) + found[topic.number][one.id])
            for one in candidates
            for each in sentences_of(one)
        ]
        pairs = best_pairs(scored, depth)
        counts[topic.number] = len(pairs)
        yield topic, pairs
    _warn_of_few(counts, depth)


def by_argument(
    topics: Sequence[Topic],
    documents: Iterable[AnyDocument],
    mu: float,
    depth: int,
    choose: Callable[[Sequence[Argument]], Iterable[tuple[int, int]]],
) -> Iterator[tuple[Topic, list[Pair]]]:
    """One pair of each of the best arguments by DirichletLM; its score is that of the argument.

    Arguments that say the same as a better one, or have no two different sentences, are left out.

    Args:
        topics: all topics.
        documents: the arguments; read twice.
        mu: the smoothing of DirichletLM.
        depth: how many pairs per topic at the most.
        choose: for arguments, the places of two sentences of each.

    Yields:
        Each topic with its pairs, best first.
    """
    found = search_arguments(topics, documents, mu, 2 * depth)  # some say the same
    arguments = read_arguments(documents, chain.from_iterable(found.values()))
    kept = {number: _different(arguments[each] for each in ids)[:depth] for number, ids in found.items()}
    needed = list({one.id: one for ranked in kept.values() for one in ranked}.values())
    places = dict(zip((one.id for one in needed), choose(needed), strict=True))
    _warn_of_few({number: len(ranked) for number, ranked in kept.items()}, depth)
    for topic in topics:
        pairs = []
        for one in kept[topic.number]:
            sentences, (first, second) = sentences_of(one), places[one.id]
            pairs.append(pair_of(sentences[first], sentences[second], found[topic.number][one.id]))
        yield topic, pairs


def search_arguments(
    topics: Sequence[Topic], documents: Iterable[AnyDocument], mu: float, depth: int
) -> dict[str, dict[str, float]]:
    """By the number of each topic: the ids of the best arguments and their DirichletLM scores, best first."""
    queries = [topic.title for topic in topics]
    index = lucene.index(documents, queries=queries, analyzer="standard", similarity=lucene.dirichlet(mu))
    return {topic.number: dict(index.search(topic.title, depth, among=topic.candidates)) for topic in topics}


def read_arguments(documents: Iterable[AnyDocument], ids: Iterable[str]) -> dict[str, Argument]:
    """The arguments of these ids in sentences, from another reading of the collection."""
    wanted = frozenset(ids)
    return {one.id: one for one in arguments_in_sentences(each for each in documents if each.id in wanted)}


def sentences_of(argument: Argument) -> list[ScoredSentence]:
    """The sentences of an argument, still without scores."""
    return [
        ScoredSentence(each.id, each.text, argument.id, argument.stance, place, 0.0)
        for place, each in enumerate(argument.sentences or ())
    ]


def best_pairs(sentences: Iterable[ScoredSentence], depth: int) -> list[Pair]:
    """The pairs of different texts with the highest mean scores, best first.

    Of sentences with the same text the best stands for all; but where both texts of a pair occur in one
    argument, the pair is taken from there.
    """
    groups: dict[str, list[ScoredSentence]] = {}
    for each in sorted(sentences, key=lambda each: (-each.score, each.id)):
        if text := _normalised(each.text):
            groups.setdefault(text, []).append(each)
    ranked = list(groups.values())
    found = [
        pair_of(*_together(ranked[i], ranked[j]), _mean(ranked[i], ranked[j]))
        for i, j in _grid(len(ranked), depth)
    ]
    return sorted(found, key=lambda pair: (-pair.score, pair.id))[:depth]


def pair_of(one: ScoredSentence, other: ScoredSentence, score: float) -> Pair:
    """Two sentences in canonical order.

    Of one argument the conclusion comes first, and premises follow as in the text; of two arguments the
    sentence with the higher score comes first, or of equal ones the one with the smaller id.
    """
    if one.argument == other.argument:
        first, second = sorted((one, other), key=lambda each: each.place)
    else:
        first, second = sorted((one, other), key=lambda each: (-each.score, each.id))
    return Pair(first, second, score)


def _warn_of_few(counts: Mapping[str, int], depth: int) -> None:
    """Says so where topics have fewer pairs than the task asks for, though more were wanted."""
    if few := [f"{topic} ({count})" for topic, count in counts.items() if count < min(FEWEST, depth)]:
        _log.warning("all possible pairs are fewer than %d for topics %s", FEWEST, ", ".join(few))


def _normalised(text: str) -> str:
    return " ".join(text.casefold().split())


def _different(arguments: Iterable[Argument]) -> list[Argument]:
    """Those with two different sentences that do not have the same sentences as one before."""
    seen: dict[frozenset[str], Argument] = {}
    for one in arguments:
        texts = frozenset(_normalised(each.text) for each in one.sentences or ()) - {""}
        if len(texts) > 1:
            seen.setdefault(texts, one)
    return list(seen.values())


def _grid(size: int, depth: int) -> Iterator[tuple[int, int]]:
    """Places i < j in a ranking whose pair can be among the best ``depth``.

    With itself, (i + 1) j - i (i + 1) / 2 pairs are no worse: those of a place up to i and one up to j.
    """
    for i in range(size):
        last = (depth + i * (i + 1) // 2) // (i + 1)
        yield from ((i, j) for j in range(i + 1, min(size, last + 1)))


def _together(
    ones: Sequence[ScoredSentence], others: Sequence[ScoredSentence]
) -> tuple[ScoredSentence, ScoredSentence]:
    """One of each, from one argument where there is such."""
    by_argument = {each.argument: each for each in reversed(others)}
    for one in ones:
        if one.argument in by_argument:
            return one, by_argument[one.argument]
    return ones[0], others[0]


def _mean(ones: Sequence[ScoredSentence], others: Sequence[ScoredSentence]) -> float:
    return (ones[0].score + others[0].score) / 2
