"""Terms and lengths by every analysis are those of Lucene's own analyzers."""

from collections import Counter

import numpy as np
import pytest

from identifying import sample
from touche.data import places
from touche.identify.counts import ANALYSES, Analysis, Counts, counts_of
from touche.identify.samples import Score
from touche.lucene.analysis import analyzer_named, terms

TEXTS = {
    "a": "The cats' tails, and the cat's tail: running cats run. Is it the dog’s?",
    "b": "",
    "c": "Dogs DOGS dog's U.S.A. <b>9,5</b> \u4e2d\u6587 e-mail don't",
}
TITLES = {"1": "Are the cats' tails longer than a dog's tail?", "2": "Dogs, dogs or cats?"}
SCORES = [Score(topic, id, 1.0) for topic in TITLES for id in TEXTS]


def table(counts: Counts) -> dict[tuple[int, str], tuple[float, float]]:
    """tf and qtf by row and term."""
    keys = zip(counts.rows, (counts.vocabulary[term] for term in counts.terms), strict=True)
    return {
        (int(row), term): (float(tf), float(qtf))
        for (row, term), tf, qtf in zip(keys, counts.tf, counts.qtf, strict=True)
    }


@pytest.mark.parametrize(
    ("name", "analysis"),
    [
        ("standard", Analysis(False, "none", "no stemming")),
        ("english", Analysis(True, "Lucene's 33 English", "Porter's stemmer")),
    ],
)
def test_counts_are_those_of_the_analyzers(name: str, analysis: Analysis) -> None:
    """On made-up texts and on the spot check, whose documents are longer."""
    given = places.open_dataset("spot-check/passages")
    texts = TEXTS | {each.id: each.text for each in given.documents}
    titles = TITLES | {topic.number: topic.title for topic in given.topics}
    made = sample(texts, titles, [Score(topic, id, 1.0) for topic in titles for id in texts])
    counts = dict(counts_of(made))[analysis]["text"]
    analyzer = analyzer_named(name)
    of_texts = {id: terms(analyzer, text) for id, text in texts.items()}
    of_titles = {topic: terms(analyzer, title) for topic, title in titles.items()}
    expected = {
        (row, term): (float(of_texts[id][term]), float(qtf))
        for row, (topic, id) in enumerate(zip(made.topics, made.documents, strict=True))
        for term, qtf in of_titles[topic].items()
        if term in of_texts[id]
    }
    assert table(counts) == expected
    assert list(counts.lengths) == [of_texts[id].total() for id in made.documents]


def test_stop_words_go_before_stems_and_possessives_before_both() -> None:
    found = dict(
        counts_of(sample(TEXTS | {"d": "it's being"}, {"1": "It being cats"}, [Score("1", "d", 1.0)]))
    )
    for possessives, lengths in ((False, 2), (True, 1)):
        counts = found[Analysis(possessives, "Lucene's 33 English", "Porter's stemmer")]["text"]
        assert counts.lengths == [lengths] and counts.vocabulary == ("be",)
    (snowball,) = found[Analysis(True, "Snowball's 174 English", "no stemming")]["text"].lengths
    assert snowball == 0


def test_every_analysis_is_there_once_and_some_of_the_documents_have_the_same_counts() -> None:
    found = list(counts_of(sample(TEXTS, TITLES, SCORES)))
    assert [analysis for analysis, _ in found] == ANALYSES and len({*ANALYSES}) == 24
    for _, fields in found:
        counts, chosen = fields["text"], np.array([0, 3, 4])
        rows = {new: int(old) for new, old in enumerate(chosen)}
        some = {(rows[row], term): values for (row, term), values in table(counts.of(chosen)).items()}
        assert some == {key: values for key, values in table(counts).items() if key[0] in rows.values()}
        assert Counter(counts.of(chosen).terms).keys() == set(range(len(counts.of(chosen).vocabulary)))


def test_stems_of_another_name_are_the_same_and_other_lengths_are_not() -> None:
    found = dict(counts_of(sample({"a": "cities cities dogs"}, {"1": "Cities?"}, [Score("1", "a", 1.0)])))
    porter, plural = (
        found[Analysis(False, "none", stemmer)]["text"]
        for stemmer in ("Porter's stemmer", "plurals to singulars")
    )
    assert (porter.vocabulary, plural.vocabulary) == (("citi",), ("city",))
    assert porter.same_as(plural)
    shorter = dict(counts_of(sample({"a": "cities cities"}, {"1": "Cities?"}, [Score("1", "a", 1.0)])))
    assert not porter.same_as(shorter[Analysis(False, "none", "Porter's stemmer")]["text"])
