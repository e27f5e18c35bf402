"""Runs on complete datasets are identified by formulas with the dataset's own statistics."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from identifying import by_baseline, line, search_named_analyses
from touche.data.datasets import open_dataset
from touche.documents.collection import Documents
from touche.documents.discovery import Input
from touche.documents.document_records import AnyDocument, Argument, Document
from touche.lab.identification import search
from touche.lab.identification.answer import Answer, answer
from touche.lab.identification.closed import fit_closed
from touche.lab.identification.counts import NAMED, count_terms
from touche.lab.identification.differentiable_models import BM25, LM_DIRICHLET
from touche.lab.identification.fitting import Problem
from touche.lab.identification.hypotheses import MAXIMUM, Hypothesis
from touche.lab.identification.samples import ONE_FIELD, Sample, sample_of
from touche.trec.runs import RunLine
from touche.trec.topics import Topic

TOY = "spot-check/arguments"
PARTS = "premises and conclusion"
STANDARD = "standard analysis (no stop words, no stemming), lengths in one byte"
ENGLISH = "english analysis (Lucene's 33 English stop words, Porter's stemmer, possessives cut off), lengths"


def answer_to(run: list[RunLine], source: Input) -> Answer:
    return answer(sample_of(run, source.topics, source.documents, TOY), source.documents)


@cache
def one_field() -> Input:
    """The arguments of the toy collection with only one field, so that there are fewer hypotheses."""
    arguments = open_dataset(TOY)
    documents = [Document(argument.id, argument.text) for argument in arguments.documents]
    return replace(arguments, documents=Documents.of(documents))


@pytest.mark.parametrize(
    ("name", "options", "first_line"),
    [
        ("dirichletlm", {"mu": 717.0}, f"LMDirichlet of text, {STANDARD}; mu = 717"),
        ("bm25", {"k1": 1.6, "b": 0.3}, f"BM25 of text, {ENGLISH} in one byte; k1 = 1.6, b = 0.3"),
        ("dph", {}, f"DPH of text, {ENGLISH} exact"),
        ("dph", {"model": "DLH"}, f"DLH of text, {ENGLISH} exact"),
        ("dph", {"model": "PL2", "c": 2.5}, f"PL2 of text, {ENGLISH} exact; c = 2.5"),
        ("tfidf", {}, f"Terrier's TF_IDF of text, {ENGLISH} exact; k1 = 1.2, b = 0.75"),
        ("tfidf", {"variant": "classic"}, f"Lucene's classic of text, {ENGLISH} in one byte"),
        (
            "rank-bm25",
            {},
            r"BM25Okapi of rank_bm25 of text, no stop words, no stemming, words by \w+, "
            "lengths exact; k1 = 1.5, b = 0.75 (rank_bm25's defaults)",
        ),
    ],
)
def test_runs_of_the_shipped_formulas_are_identified(
    name: str, options: Mapping[str, object], first_line: str
) -> None:
    answered = answer_to(by_baseline(name, one_field(), **options), one_field())
    assert answered.first_line.startswith(first_line)
    assert answered.candidates[0].shares[0] == 1 and not answered.worst


@pytest.mark.parametrize(
    ("name", "options", "first_line"),
    [
        ("dirichletlm", {}, f"LMDirichlet of maximum of {PARTS}, {STANDARD}; mu = 2000"),
        ("bm25", {}, f"BM25 of {PARTS} in one field, {ENGLISH} in one byte; k1 = 0.9, b = 0.4"),
        ("bm25", {"multifield": True}, f"BM25 of sum of {PARTS}, {ENGLISH} in one byte; k1 = 0.9, b = 0.4"),
    ],
)
def test_the_fields_of_runs_are_identified(
    monkeypatch: pytest.MonkeyPatch, name: str, options: Mapping[str, object], first_line: str
) -> None:
    search_named_analyses(monkeypatch)
    source = open_dataset(TOY)
    source = replace(source, topics=source.topics[:3])
    answered = answer_to(by_baseline(name, source, **options), source)
    assert answered.first_line.startswith(first_line)
    assert answered.candidates[0].shares[0] == 1 and not answered.worst


def test_arguments_without_conclusions_are_identified(monkeypatch: pytest.MonkeyPatch) -> None:
    search_named_analyses(monkeypatch)
    texts = ["cats sleep " * (number % 5) + "dogs bark " * (number % 7) for number in range(40)]
    documents = [Argument(f"a{number}", "", (text,)) for number, text in enumerate(texts)]
    source = replace(
        open_dataset(TOY), topics=(Topic("1", "Do cats sleep?"),), documents=Documents.of(documents)
    )
    sample = sample_of(by_baseline("dirichletlm", source), source.topics, documents, TOY)
    best, *_ = answer(sample, documents).candidates
    assert best.hypothesis.startswith(f"LMDirichlet of maximum of {PARTS}") and best.shares[0] == 1


def test_formulas_are_tried_only_if_the_dataset_has_most_of_the_run_s_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search_named_analyses(monkeypatch)
    monkeypatch.setattr(search, "_pool", nullcontext)
    monkeypatch.setattr(search, "_search_free", lambda sample, counts, pool: ([], 0))
    source = one_field()
    run = [hit for hit in by_baseline("dirichletlm", source) if hit.topic == "1"]
    for elsewhere, is_tried in ((0.05, True), (0.2, False)):
        missing = [line("1", f"elsewhere {number}") for number in range(int(elsewhere * len(run)))]
        sample = sample_of([*run, *missing], source.topics, source.documents, TOY)
        fits, _, _ = search.search(sample, source.documents)
        assert bool(fits) == is_tried


def test_with_fewer_scores_than_parameters_the_likeliest_parameters_remain() -> None:
    source = open_dataset(TOY)
    sample = sample_of(by_baseline("bm25", source)[:1], source.topics, source.documents, TOY)
    hypothesis = Hypothesis(BM25, NAMED["english"], (ONE_FIELD,), formula=BM25)
    counts = count_terms(sample, [hypothesis.analysis], source.documents)[hypothesis.analysis]
    fit = fit_closed(Problem(hypothesis, (counts[ONE_FIELD],), sample.scores, sample.slack))
    assert fit.share() == 1 and fit.parameters == pytest.approx({"k1": 0.9, "b": 0.4})


def test_a_wrong_score_among_many_makes_the_answer_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    search_named_analyses(monkeypatch)
    run = [line for line in by_baseline("dirichletlm", open_dataset(TOY)) if line.topic in ("1", "2")]
    run[0] = replace(run[0], score=run[0].score + 0.1)
    answered = answer_to(run, open_dataset(TOY))
    assert not answered.stands_out
    assert answered.candidates[0].hypothesis.startswith(f"LMDirichlet of maximum of {PARTS}, {STANDARD}")


def test_only_the_statistics_of_all_documents_reproduce_the_scores() -> None:
    source = open_dataset(TOY)
    run = by_baseline("dirichletlm", open_dataset(TOY))
    documents = list(source.documents)
    sample = sample_of(run, source.topics, documents, TOY)
    assert share(sample, documents) == 1
    # mu makes up for some of the missing tokens, so that the scores of one field are nearly right.
    assert share(sample, documents[1:]) < search.CLOSED, "one document is missing"
    assert share(sample, None) < 0.1, "statistics of the run's documents"


def share(sample: Sample, documents: list[AnyDocument] | None) -> float:
    fields = ("premises", "conclusion")
    hypothesis = Hypothesis(LM_DIRICHLET, NAMED["standard"], fields, MAXIMUM, formula=LM_DIRICHLET)
    counts = count_terms(sample, [hypothesis.analysis], documents)[hypothesis.analysis]
    rows = np.flatnonzero(np.array(sample.topics) == "1")
    some = tuple(counts[name].select(rows) for name in fields)
    return fit_closed(Problem(hypothesis, some, sample.scores[rows], sample.slack[rows])).share()
