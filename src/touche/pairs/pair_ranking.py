"""Sentence pairs for Touché 2022 task 1: candidates, their ids, order and stance."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import log

import numpy as np

from touche import scan
from touche.documents.document_records import AnyDocument, Argument, conclusion_of, premises_of
from touche.errors import check_range
from touche.pairs.sentences import arguments_in_sentences, distinct_sentences, normalised
from touche.trec.topics import Topic

MIN_PAIRS = 100  # per topic, by the task's rules
MAX_ARGUMENTS = 100  # per topic; their sentences are candidates
_PRO_AND_CON = {"PRO", "CON"}
_FIELDS = {"premises": premises_of, "conclusion": conclusion_of}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """An argument's sentence, scored for a topic.

    Attributes:
        id: the sentence's id, such as ``S1-A1__PREMISE__2``.
        text: its text.
        argument: the argument's id.
        stance: the argument's stance, ``PRO`` or ``CON``; empty if unknown.
        index: the sentence's index in the argument, from 0.
        score: its relevance to the topic.
    """

    id: str
    text: str
    argument: str
    stance: str
    index: int
    score: float

    @property
    def is_conclusion(self) -> bool:
        """Whether it's its argument's conclusion, not part of a premise."""
        return "__CONC__" in self.id

    @property
    def side(self) -> str:
        """``PRO`` for a conclusion, because it supports itself; for a premise the argument's stance."""
        return "PRO" if self.is_conclusion else self.stance


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences in their canonical order, and a score.

    Attributes:
        first: the sentence whose id comes first in the pair's id.
        second: the other sentence.
        score: the relevance to the topic.
    """

    first: ScoredSentence
    second: ScoredSentence
    score: float

    @property
    def id(self) -> str:
        """The id as in the judgments, where the order counts."""
        return f"{self.first.id},{self.second.id}"

    @property
    def stance(self) -> str:
        """``PRO`` or ``CON`` if both arguments have this stance; otherwise ``Q0``, as in runs without
        stances.
        """
        has_one_stance = self.first.stance == self.second.stance and self.first.stance in _PRO_AND_CON
        return self.first.stance if has_one_stance else "Q0"

    @property
    def contradicts_itself(self) -> bool:
        """Whether the stances are opposite: the arguments', or a conclusion's and a premise's."""
        stances = {self.first.stance, self.second.stance}
        sides = {self.first.side, self.second.side}
        return stances == _PRO_AND_CON or sides == _PRO_AND_CON

    def scored(self, score: float) -> "Pair":
        """Returns the pair with another score.

        Args:
            score: the score.
        """
        return replace(self, score=score)

    @property
    def hit(self) -> tuple[str, float, str]:
        """The pair as baselines yield it."""
        return self.id, self.score, self.stance


Ranked = Iterable[tuple[Topic, Sequence[Pair]]]
"""Topics with their pairs, best first."""
_ScoredArguments = list[tuple[Argument, float]]
"""Arguments with their scores, best first."""


def hits(ranked: Ranked, depth: int) -> Iterator[tuple[Topic, list[tuple[str, float, str]]]]:
    """Yields pairs like baselines do. Warns about topics with fewer pairs than the task requires.

    Args:
        ranked: each topic with its pairs; all are yielded.
        depth: the requested number of pairs per topic.
    """
    required = min(MIN_PAIRS, depth)
    short_topics = []
    for topic, pairs in ranked:
        if 0 < len(pairs) < required:  # a topic without any pairs causes its own warning, as in all runs
            short_topics.append(f"{topic.number} ({len(pairs)})")
        yield topic, [pair.hit for pair in pairs]
    if short_topics:
        _log.warning("topics with fewer than %d possible pairs: %s", required, ", ".join(short_topics))


def by_dirichletlm(
    topics: Sequence[Topic], documents: Iterable[AnyDocument], mu: float, depth: int
) -> Iterator[tuple[Topic, list[Pair]]]:
    """Ranks pairs by query likelihood: first arguments, then their sentences, then pairs of sentences.

    Args:
        topics: all topics.
        documents: the arguments, which are read at least twice.
        mu: the weight of the collection's language model, in tokens, for arguments and sentences.
        depth: the maximum number of pairs per topic.

    Yields:
        Each topic with its best pairs, best first.
    """
    arguments = Arguments.read(topics, documents, mu)
    for topic, best in arguments.best(MAX_ARGUMENTS, min_sentences=1):
        yield topic, best_pairs(arguments.scored_sentences(topic, best), depth)


@dataclass(frozen=True)
class Arguments:
    """A collection's arguments, with the counts that DirichletLM needs.

    Attributes:
        topics: all topics.
        documents: the arguments.
        mu: the weight of the collection's language model, in tokens.
        collection: counts in premises and conclusions.
    """

    topics: Sequence[Topic]
    documents: Iterable[AnyDocument]
    mu: float
    collection: scan.Collection

    @classmethod
    def read(cls, topics: Sequence[Topic], documents: Iterable[AnyDocument], mu: float) -> "Arguments":
        """Reads the arguments once.

        Args:
            topics: all topics.
            documents: the arguments.
            mu: the weight of the collection's language model, in tokens.

        Raises:
            ParameterError: if mu is below 1e-9 or above 1e9.
        """
        check_range("mu", mu, 1e-9, 1e9)
        mu = float(np.float32(mu))  # Lucene's precision
        collection = scan.Collection.of(topics, documents, analysis="standard", fields=_FIELDS)
        return cls(topics=topics, documents=documents, mu=mu, collection=collection)

    def best(self, depth: int, min_sentences: int) -> list[tuple[Topic, list[tuple[Argument, float]]]]:
        """Returns each topic's best arguments, split into sentences, with their scores, best first.

        The higher score counts, premises' or conclusion's. Arguments that repeat a better one's sentences are
        left out. Documents are read once more, or several times if many are left out.

        Args:
            depth: the maximum number of arguments per topic.
            min_sentences: the minimum number of an argument's distinct sentences.
        """
        arguments: dict[str, Argument] = {}  # by id
        scoring = scan.Scoring(scan.dirichletlm(self.mu), boosts=[1.0] * len(_FIELDS), best_field=True)
        search_depth = depth
        while True:
            search_depth *= 2  # search deeper, because some arguments are left out
            rankings = [ranking for _, ranking in self.collection.rank(self.topics, scoring, search_depth)]
            missing = {id for ranking in rankings for id, _ in ranking} - arguments.keys()
            documents = scan.picked(self.documents, missing) if missing else []
            arguments |= {argument.id: argument for argument in arguments_in_sentences(documents)}
            distinct_arguments = [
                _distinct_arguments([(arguments[id], score) for id, score in ranking], min_sentences)
                for ranking in rankings
            ]
            is_complete = all(
                len(distinct) >= depth or len(ranking) < search_depth  # fewer: the collection has no more
                for distinct, ranking in zip(distinct_arguments, rankings, strict=True)
            )
            if is_complete:
                best = [distinct[:depth] for distinct in distinct_arguments]
                return list(zip(self.topics, best, strict=True))

    def scored_sentences(
        self, topic: Topic, arguments: Iterable[tuple[Argument, float]]
    ) -> Iterator[ScoredSentence]:
        """Yields the sentences in a topic's arguments, each with its DirichletLM score plus its argument's.

        Both scores are log-likelihoods, smoothed with the collection's language model.

        Args:
            topic: the topic.
            arguments: the topic's arguments with their scores, from ``best``.
        """
        query = Counter(self.collection.terms(topic.title))
        # As if premises and conclusions were one field, because a sentence can come from either.
        statistics = reduce(scan.Statistics.__add__, self.collection.statistics)
        vocabulary = self.collection.vocabulary
        # mu P(t) by term t, as in ``touche.lucene.dirichlet``.
        smoothing = {term: self.mu * statistics.term(vocabulary.indexes[term]).probability for term in query}
        for argument, score in arguments:
            for sentence in unscored_sentences(argument):
                tf = Counter(self.collection.terms(sentence.text))
                length_norm = log(self.mu / (tf.total() + self.mu))
                # The maximum, like in Lucene: a term never lowers the score, and a missing term adds
                # 0.
                log_likelihood = sum(
                    query_tf * max(0.0, log(1 + tf[term] / smoothing[term]) + length_norm)
                    for term, query_tf in query.items()
                )
                yield replace(sentence, score=score + log_likelihood)


def unscored_sentences(argument: Argument) -> list[ScoredSentence]:
    """Returns an argument's sentences with the score 0."""
    return [
        ScoredSentence(
            id=sentence.id,
            text=sentence.text,
            argument=argument.id,
            stance=argument.stance,
            index=index,
            score=0.0,
        )
        for index, sentence in enumerate(argument.sentences or ())
    ]


def best_pairs(sentences: Iterable[ScoredSentence], depth: int) -> list[Pair]:
    """Returns the pairs of different texts with the highest mean scores, best first.

    The best sentence with a text gives the text its score and represents it in pairs. But when both texts of
    a pair occur in one argument, the pair consists of that argument's sentences.

    Args:
        sentences: one topic's sentences, with their scores.
        depth: the maximum number of pairs.
    """
    by_text: dict[str, list[ScoredSentence]] = {}
    for sentence in sorted(sentences, key=lambda sentence: (-sentence.score, sentence.id)):
        by_text.setdefault(normalised(sentence.text), []).append(sentence)
    by_text.pop("", None)  # blank sentences
    texts = list(by_text.values())  # each text's sentences, its best one first
    pairs = []
    for i, j in _candidate_pairs(len(texts), depth):
        first, second = _from_one_argument(texts[i], texts[j])
        mean_score = (texts[i][0].score + texts[j][0].score) / 2
        pairs.append(ordered_pair(first, second, mean_score))
    return sorted(pairs, key=lambda pair: (-pair.score, pair.id))[:depth]


def pair_in_argument(argument: Argument, one: int, other: int, score: float) -> Pair:
    """Returns a pair of two sentences in an argument.

    Args:
        argument: the argument, split into sentences.
        one: a sentence's index, from 0.
        other: the other sentence's index.
        score: the pair's score.
    """
    sentences = unscored_sentences(argument)
    return ordered_pair(sentences[one], sentences[other], score)


def ordered_pair(one: ScoredSentence, other: ScoredSentence, score: float) -> Pair:
    """Returns two sentences in canonical order.

    Sentences in one argument keep the text's order, the conclusion first. Sentences from two arguments are
    ordered by descending score, ties by ascending id.

    Args:
        one: a sentence.
        other: the other sentence; the order doesn't matter.
        score: the pair's score.
    """
    if one.argument == other.argument:
        # The conclusion comes first, because False precedes True.
        first, second = sorted(
            (one, other), key=lambda sentence: (not sentence.is_conclusion, sentence.index)
        )
    else:
        first, second = sorted((one, other), key=lambda sentence: (-sentence.score, sentence.id))
    return Pair(first, second, score)


def _distinct_arguments(arguments: _ScoredArguments, min_sentences: int) -> _ScoredArguments:
    """Returns arguments with enough distinct sentences, without those that repeat an earlier one's."""
    by_texts: dict[frozenset[str], tuple[Argument, float]] = {}
    for argument, score in arguments:
        texts = frozenset(distinct_sentences(argument))
        if len(texts) >= min_sentences:
            by_texts.setdefault(texts, (argument, score))
    return list(by_texts.values())


def _candidate_pairs(size: int, depth: int) -> Iterator[tuple[int, int]]:
    """Yields the indexes i < j of pairs in a ranking of ``size`` texts, among them the best ``depth`` pairs.

    A pair is at least as good as (i, j) if its smaller index is at most i and its larger index is at most j.
    There are (i + 1) j - i (i + 1) / 2 such pairs, including (i, j). We can leave out (i, j) if there are
    more than ``depth``. So for each i, j goes up to (depth + i (i + 1) / 2) / (i + 1).
    """
    for i in range(size):
        largest_j = (depth + i * (i + 1) // 2) // (i + 1)
        for j in range(i + 1, min(size, largest_j + 1)):
            yield i, j


def _from_one_argument(
    with_first_text: Sequence[ScoredSentence], with_second_text: Sequence[ScoredSentence]
) -> tuple[ScoredSentence, ScoredSentence]:
    """For each of two texts, returns the best sentence with this text; both from one argument if possible.

    Several arguments can contain sentences with the same text.

    Args:
        with_first_text: all sentences with one text, best first.
        with_second_text: all sentences with the other text, best first.
    """
    # Reversed, so that each argument's best sentence replaces the others.
    second_by_argument = {sentence.argument: sentence for sentence in reversed(with_second_text)}
    for first in with_first_text:
        if first.argument in second_by_argument:
            return first, second_by_argument[first.argument]
    return with_first_text[0], with_second_text[0]
