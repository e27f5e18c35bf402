"""Pairs of sentences, the results of Touché 2022 task 1: candidates, their ids, order and stance."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import log

import numpy as np

from touche import scan
from touche.errors import check_range
from touche.formats.documents import AnyDocument, Argument, conclusion_of, premises_of
from touche.formats.topics import Topic
from touche.pairs.sentences import arguments_in_sentences, distinct_sentences, normalised

FEWEST = 100  # pairs per topic, by the rules of the task
ARGUMENTS = 100  # per topic, whose sentences are candidates
_OPPOSITE = {"PRO", "CON"}
_FIELDS = {"premises": premises_of, "conclusion": conclusion_of}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of an argument, scored for a topic.

    Attributes:
        id: the id, such as ``S1-A1__PREMISE__2``.
        text: the sentence.
        argument: the id of the argument.
        stance: the stance of the argument.
        place: its place in the argument, from 0.
        score: how well it answers the topic.
    """

    id: str
    text: str
    argument: str
    stance: str
    place: int
    score: float

    @property
    def is_conclusion(self) -> bool:
        """Whether it is the conclusion of its argument, and not from a premise."""
        return "__CONC__" in self.id

    @property
    def side(self) -> str:
        """``PRO`` or ``CON``: a conclusion is for itself, whatever its premises are."""
        return "PRO" if self.is_conclusion else self.stance


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences in their canonical order, and a score.

    Attributes:
        first: the sentence whose id comes first in that of the pair.
        second: the other one.
        score: how well they answer the topic.
    """

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
        agreed = self.first.stance == self.second.stance and self.first.stance in _OPPOSITE
        return self.first.stance if agreed else "Q0"

    @property
    def contradicts_itself(self) -> bool:
        """Whether the stances are opposite: of the two arguments, or of a conclusion and a premise."""
        first, second = self.first, self.second
        return {first.stance, second.stance} == _OPPOSITE or {first.side, second.side} == _OPPOSITE

    def scored(self, score: float) -> "Pair":
        """The same pair with another score.

        Args:
            score: the score.
        """
        return replace(self, score=score)

    @property
    def hit(self) -> tuple[str, float, str]:
        """What a baseline yields for it."""
        return self.id, self.score, self.stance


Ranked = Iterable[tuple[Topic, Sequence[Pair]]]
"""Topics with their pairs, best first."""


def hits(ranked: Ranked, depth: int) -> Iterator[tuple[Topic, list[tuple[str, float, str]]]]:
    """What a baseline yields for pairs; warns of topics that have fewer than the task asks for.

    Args:
        ranked: each topic with its pairs, all of which are handed on.
        depth: how many pairs a topic could have had.
    """
    wanted, few = min(FEWEST, depth), []
    for topic, pairs in ranked:
        if 0 < len(pairs) < wanted:
            few.append(f"{topic.number} ({len(pairs)})")
        yield topic, [pair.hit for pair in pairs]
    if few:
        _log.warning("fewer than %d pairs can be made for topics %s", wanted, ", ".join(few))


def by_dirichletlm(
    topics: Sequence[Topic], documents: Iterable[AnyDocument], mu: float, depth: int
) -> Iterator[tuple[Topic, list[Pair]]]:
    """Pairs by query likelihood: arguments first, then their sentences, then pairs of these.

    Args:
        topics: all topics.
        documents: the arguments; read twice.
        mu: the smoothing of both rankings.
        depth: how many pairs per topic at the most.

    Yields:
        Each topic with its best pairs, best first.
    """
    read = Arguments.of(topics, documents, mu)
    for topic, best in read.best(ARGUMENTS, sentences=1):
        yield topic, best_pairs(read.scored_sentences(topic, best), depth)


@dataclass(frozen=True)
class Arguments:
    """The arguments of a collection, counted for all that DirichletLM asks of them.

    Attributes:
        topics: all topics.
        documents: the arguments.
        mu: the weight of the collection's language model, in tokens.
        collection: what was counted in premises and in conclusions.
    """

    topics: Sequence[Topic]
    documents: Iterable[AnyDocument]
    mu: float
    collection: scan.Collection

    @classmethod
    def of(cls, topics: Sequence[Topic], documents: Iterable[AnyDocument], mu: float) -> "Arguments":
        """Reads the arguments, once.

        Args:
            topics: all topics.
            documents: the arguments.
            mu: the smoothing, in tokens.

        Raises:
            ParameterError: unless mu is above 0, and at most 1e9.
        """
        check_range("mu", mu, 1e-9, 1e9)
        mu = float(np.float32(mu))  # which is as much of it as Lucene keeps
        return cls(topics, documents, mu, scan.Collection.of(topics, documents, "standard", _FIELDS))

    def best(self, depth: int, sentences: int) -> list[tuple[Topic, list[tuple[Argument, float]]]]:
        """The best arguments of each topic, split into sentences, with their scores, best first.

        The score is that of premises or conclusion, whichever is higher. Of arguments that say the same the
        best stands for all. The documents are read once more, or again where many say the same.

        Args:
            depth: how many arguments per topic at the most.
            sentences: how many different sentences an argument has to have at the least.
        """
        arguments: dict[str, Argument] = {}
        scoring = scan.Scoring(scan.dirichletlm(self.mu), [1.0 for _ in _FIELDS], best_field=True)
        deep, enough = depth, False
        while not enough:
            deep *= 2
            rankings = [hits for _, hits in self.collection.rank(self.topics, scoring, deep)]
            missing = {id for hits in rankings for id, _ in hits} - arguments.keys()
            picked = scan.picked(self.documents, missing) if missing else []
            arguments |= {one.id: one for one in arguments_in_sentences(picked)}
            scored = ([(arguments[id], score) for id, score in hits] for hits in rankings)
            best = [_different(ranked, sentences) for ranked in scored]
            enough = all(len(b) >= depth or len(r) < deep for b, r in zip(best, rankings, strict=True))
        return [(topic, ranked[:depth]) for topic, ranked in zip(self.topics, best, strict=True)]

    def scored_sentences(
        self, topic: Topic, arguments: Iterable[tuple[Argument, float]]
    ) -> Iterator[ScoredSentence]:
        """The sentences of a topic's arguments, each scored by its own DirichletLM score plus its argument's.

        Both are logarithms of likelihoods, smoothed by the language model of the collection.

        Args:
            topic: the topic.
            arguments: those of the topic with their scores, as ``best`` gives them.
        """
        mu, query = self.mu, Counter(self.collection.terms(topic.title))
        both, places = reduce(scan.Statistics.__add__, self.collection.statistics), self.collection.vocabulary
        smoothing = {term: mu * both.term(places.places[term]).probability for term in query}
        for argument, score in arguments:
            for each in unscored(argument):
                terms = Counter(self.collection.terms(each.text))
                shorter = log(mu / (terms.total() + mu))
                likelihood = sum(
                    count * max(0.0, log(1 + terms[term] / smoothing[term]) + shorter)
                    for term, count in query.items()
                    if term in terms
                )
                yield replace(each, score=score + likelihood)


def unscored(argument: Argument) -> list[ScoredSentence]:
    """The sentences of an argument, still without scores."""
    return [
        ScoredSentence(each.id, each.text, argument.id, argument.stance, place, 0.0)
        for place, each in enumerate(argument.sentences or ())
    ]


def best_pairs(sentences: Iterable[ScoredSentence], depth: int) -> list[Pair]:
    """The pairs of different texts with the highest mean scores, best first.

    Of sentences with the same text the best stands for all; but where both texts of a pair occur in one
    argument, the pair is taken from there.

    Args:
        sentences: of one topic, with their scores.
        depth: how many pairs at the most.
    """
    same_text: dict[str, list[ScoredSentence]] = {}
    for each in sorted(sentences, key=lambda each: (-each.score, each.id)):
        if text := normalised(each.text):
            same_text.setdefault(text, []).append(each)
    ranked = list(same_text.values())
    found = [
        pair_of(*_from_one_argument(ranked[i], ranked[j]), (ranked[i][0].score + ranked[j][0].score) / 2)
        for i, j in _places_of_the_best(len(ranked), depth)
    ]
    return sorted(found, key=lambda pair: (-pair.score, pair.id))[:depth]


def of_argument(argument: Argument, one: int, other: int, score: float) -> Pair:
    """The pair of the sentences at two places of an argument.

    Args:
        argument: one that is split into sentences.
        one: the place of a sentence, from 0.
        other: the place of the other sentence.
        score: that of the pair.
    """
    sentences = unscored(argument)
    return pair_of(sentences[one], sentences[other], score)


def pair_of(one: ScoredSentence, other: ScoredSentence, score: float) -> Pair:
    """Two sentences in canonical order.

    Of one argument the conclusion comes first, and premises follow as in the text; of two arguments the
    sentence with the higher score comes first, or of equal ones the one with the smaller id.

    Args:
        one: a sentence.
        other: the other sentence; the order of both does not matter.
        score: that of the pair.
    """
    if one.argument == other.argument:
        first, second = sorted((one, other), key=lambda each: (not each.is_conclusion, each.place))
    else:
        first, second = sorted((one, other), key=lambda each: (-each.score, each.id))
    return Pair(first, second, score)


def _different(arguments: Iterable[tuple[Argument, float]], sentences: int) -> list[tuple[Argument, float]]:
    """Those with enough different sentences that do not have the same ones as an argument before."""
    seen: dict[frozenset[str], tuple[Argument, float]] = {}
    for one, score in arguments:
        texts = frozenset(distinct_sentences(one))
        if len(texts) >= sentences:
            seen.setdefault(texts, (one, score))
    return list(seen.values())


def _places_of_the_best(size: int, depth: int) -> Iterator[tuple[int, int]]:
    """Places i < j in a ranking whose pair can be among the best ``depth``.

    With itself, (i + 1) j - i (i + 1) / 2 pairs are no worse: those of a place up to i and one up to j.
    """
    for i in range(size):
        last = (depth + i * (i + 1) // 2) // (i + 1)
        yield from ((i, j) for j in range(i + 1, min(size, last + 1)))


def _from_one_argument(
    ones: Sequence[ScoredSentence], others: Sequence[ScoredSentence]
) -> tuple[ScoredSentence, ScoredSentence]:
    """One of each, best first: from the same argument where there is such, else the best of both."""
    best_of = {each.argument: each for each in reversed(others)}
    for one in ones:
        if one.argument in best_of:
            return one, best_of[one.argument]
    return ones[0], others[0]
