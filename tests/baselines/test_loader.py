import re
from collections import Counter
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any, Literal

import pytest

from conftest import ROOT, Write
from formulas import Collection
from touche import Documents, Rankings, Topics, baseline, baselines, lucene
from touche.errors import ParameterError, ToucheError
from touche.formats.argsme import read_argsme_json
from touche.formats.documents import Document
from touche.formats.topics import Topic, read_topics_xml
from touche.tira import inputs

TOPICS = read_topics_xml(ROOT / "topics" / "spot-check-arguments.xml")
ARGUMENTS = list(read_argsme_json(ROOT / "corpora" / "spot-check-arguments" / "args-me.json"))

EXPECTED: dict[str, tuple[str, dict[str, Any], Any]] = {
    "dirichletlm": ("standard", {}, lambda c, q, d: c.dirichlet(q, d, 2000)),
    "bm25": ("english", {}, lambda c, q, d: c.bm25(q, d, 0.9, 0.4)),
    "tfidf": ("english", {}, lambda c, q, d: c.terrier_tfidf(q, d, 1.2, 0.75)),
    "tfidf classic": ("english", {"variant": "classic"}, lambda c, q, d: c.classic_tfidf(q, d)),
    "tfidf k1 b": ("english", {"k1": 0.5, "b": 0.1}, lambda c, q, d: c.terrier_tfidf(q, d, 0.5, 0.1)),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_every_baseline_scores_by_its_formula(case: str) -> None:
    analyzer, options, formula = EXPECTED[case]
    index = lucene.index(ARGUMENTS, analyzer=analyzer, similarity=lucene.classic())
    collection = Collection({each.id: index.terms(each.text) for each in ARGUMENTS})
    for topic, hits in baselines.load(case.split()[0])(TOPICS, ARGUMENTS, **options):
        query = list(index.terms(topic.title).elements())
        found = dict(hits)
        assert len(found) > 20
        for document, score in found.items():
            assert score == pytest.approx(formula(collection, query, document), abs=1e-4)


def test_rank_bm25_scores_by_its_formula() -> None:
    """With a floor below idf, at a quarter of its mean over all words, and with whole lengths."""
    words = {each.id: Counter(re.findall(r"\w+", each.text.lower())) for each in ARGUMENTS}
    containing = Counter(word for each in words.values() for word in each)
    idf = {word: log((len(words) - df + 0.5) / (df + 0.5)) for word, df in containing.items()}
    floor = 0.25 * sum(idf.values()) / len(idf)
    average = sum(each.total() for each in words.values()) / len(words)
    for topic, hits in baselines.load("rank-bm25")(TOPICS, ARGUMENTS, k1=1.2, b=0.6):
        query = re.findall(r"\w+", topic.title.lower())
        found = dict(hits)
        assert found.keys() == {each for each, of_it in words.items() if of_it.keys() & {*query}}
        for document, score in found.items():
            length = 1.2 * (1 - 0.6 + 0.6 * words[document].total() / average)
            weights = [floor if idf.get(word, 0) < 0 else idf.get(word, 0) for word in query]
            tfs = [words[document][word] for word in query]
            expected = sum(weight * tf * 2.2 / (tf + length) for weight, tf in zip(weights, tfs, strict=True))
            assert score == pytest.approx(expected, abs=1e-9)


def test_rank_bm25_ranks_candidates_by_the_statistics_of_all_documents() -> None:
    rank_bm25 = baselines.load("rank-bm25")
    among = frozenset(each.id for each in ARGUMENTS[::3])
    everything = dict(rank_bm25(TOPICS, ARGUMENTS))
    chosen = dict(rank_bm25([replace(each, candidates=among) for each in TOPICS], ARGUMENTS))
    for topic, hits in everything.items():
        assert chosen[replace(topic, candidates=among)] == [hit for hit in hits if hit[0] in among]


def test_rank_bm25_needs_a_shared_word_not_a_positive_score() -> None:
    cats = [Document(each, "cats") for each in "abc"]
    ((_, hits),) = baselines.load("rank-bm25")([Topic("1", "Cats")], [*cats, Document("d", "")], depth=2)
    assert [document for document, _ in hits] == ["c", "b"] and hits[0][1] < 0
    assert list(baselines.load("rank-bm25")([Topic("1", "Cats")], [Document("d", "…")])) == []


@baseline
def longest_first(
    topics: Topics, documents: Documents, *, depth: int = 2, unit: Literal["letters", "words"] = "letters"
) -> Rankings:
    """Ranks by length.

    depth, other: no line on options, as there is no other.
    unit: what is counted.
    """
    lengths = [
        (each.id, float(len(each.text if unit == "letters" else each.text.split()))) for each in documents
    ]
    for topic in topics:
        yield topic, sorted(lengths, key=lambda hit: -hit[1])[:depth]


def test_a_baseline_knows_its_name_options_and_tag() -> None:
    assert longest_first.name == "longest-first"
    assert longest_first.description.startswith("Ranks by length.\n\ndepth, other: no line on options")
    assert longest_first.option_help == {"unit": "what is counted."}
    assert {name: each.default for name, each in longest_first.options.items()} == {
        "depth": 2,
        "unit": "letters",
    }
    assert longest_first.tag({"depth": 2, "unit": "letters"}) == "touche-longest-first"
    assert (
        longest_first.tag({"depth": 3, "unit": "all words"}) == "touche-longest-first-depth=3-unit=all_words"
    )


def test_a_baseline_can_be_called_and_run(tmp_path: Path) -> None:
    documents = [Document("a", "one two three"), Document("b", "abcdefghijklmnopqrst")]
    (topic, hits), *_ = longest_first(TOPICS[:1], documents, unit="words")
    assert (topic, list(hits)) == (TOPICS[0], [("a", 3.0), ("b", 1.0)])
    given = inputs.Input(tuple(TOPICS[:2]), documents, "")
    assert baselines.run(longest_first, given, tmp_path, {"depth": 1, "unit": "letters"}) == []
    assert (tmp_path / "run.txt").read_text() == (
        "1 Q0 b 1 20.0 touche-longest-first-depth=1\n2 Q0 b 1 20.0 touche-longest-first-depth=1\n"
    )


@pytest.mark.parametrize("depth", [0, -1, 1001])
def test_a_depth_that_no_run_can_have_is_refused(tmp_path: Path, depth: int) -> None:
    with pytest.raises(ParameterError, match="1 to 1000"):
        baselines.run(longest_first, inputs.Input((), [], ""), tmp_path, {"depth": depth})


SOURCE = "from touche import baseline\n@baseline\ndef mine(topics, documents):\n    yield from ()\n"


def test_a_baseline_is_loaded_by_the_path_of_its_folder(write: Write, tmp_path: Path) -> None:
    write("my-team/baseline.py", SOURCE)
    assert baselines.load(str(tmp_path / "my-team")).name == "my-team"


def test_every_option_needs_a_default_value(write: Write, tmp_path: Path) -> None:
    write("my-team/baseline.py", SOURCE.replace("documents", "documents, *, k"))
    with pytest.raises(ToucheError, match="default of option 'k' is no int, float, str, bool or tuple"):
        baselines.load(str(tmp_path / "my-team"))


def test_a_folder_must_hold_one_baseline(write: Write, tmp_path: Path) -> None:
    write("none/baseline.py", "")
    write("two/baseline.py", SOURCE + "@baseline\ndef other(topics, documents):\n    yield from ()\n")
    for folder, count in (("none", 0), ("two", 2)):
        with pytest.raises(ToucheError, match=f"{count} baselines in it; decorate one function"):
            baselines.load(str(tmp_path / folder))


def test_a_folder_that_cannot_be_loaded_is_named(write: Write, tmp_path: Path) -> None:
    write("my-team/baseline.py", "1 / 0")
    with pytest.raises(ToucheError, match=r"my-team/baseline\.py:1: cannot be loaded \(ZeroDivisionError: "):
        baselines.load(str(tmp_path / "my-team"))


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ToucheError, match=r"no baseline 'bm52'; did you mean bm25\? Or give the path"):
        baselines.load("bm52")


def test_outside_of_a_clone_there_are_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("touche.baselines.loader.clone", lambda: None)
    monkeypatch.chdir(tmp_path)
    assert baselines.names() == []
    with pytest.raises(
        ToucheError, match=r"no baseline 'bm25'; work in a clone of touche-baselines\. Or give the path"
    ):
        baselines.load("bm25")
