"""elrond, polnareff and dirichletlm-variants, which use Lucene, compared with sums by hand."""

import pytest

from oracles.formulas import lm_dirichlet as gain
from touche import baselines
from touche.documents.document_records import Argument
from touche.trec.topics import Topic


def ranked(name: str, title: str, documents: list[Argument], **options: object) -> dict[str, float]:
    return dict(next(iter(baselines.load(name)([Topic("1", title)], documents, **options)))[1])


def test_elrond_asks_for_a_word_in_the_premises_and_adds_the_title_of_the_debate() -> None:
    """Without stop words, premises have 3, 2, 4 and 20 stems, and debates 2, 2, 1 and 10."""
    documents = [
        Argument("a", "-", ("the cats purr loudly",), discussion="Should cats be leashed?"),
        Argument("b", "cats", ("dogs bark",), discussion="cats rule"),  # only its debate matches
        Argument("c", "-", ("cat, cat hunts mice",), discussion="Birds"),
        Argument("d", "-", ("birds sing " * 10,), discussion="birds " * 10),
    ]
    expected = {
        "a": gain(1, 3, 3, 29, 2) + gain(1, 3, 1, 29, 2) + gain(1, 2, 2, 15, 2),
        "c": gain(2, 4, 3, 29, 2),
    }
    assert min(expected.values()) > 0
    assert ranked("elrond", "Should the cat purr?", documents, mu=2.0) == pytest.approx(expected, rel=1e-5)


def test_polnareff_adds_a_quarter_of_everything_and_ignores_stop_words_in_titles_only() -> None:
    """Everything has eight more tokens; three or more equal letters become two; tokens have three letters."""
    documents = [
        Argument("p", "yes cats", ("the cats sooo",), discussion="pets"),
        Argument("q", "no", ("dogs bark",), discussion="cats"),
        Argument("r", "-", ("birds " * 200,)),  # without it, words would be so frequent that all scores are 0
    ]
    expected = {
        "p": gain(1, 3, 1, 205, 1800)
        + gain(1, 3, 1, 205, 1800)
        + 0.25 * (gain(2, 14, 3, 233, 1800) + gain(1, 14, 1, 233, 1800)),
        "q": 0.25 * gain(1, 11, 3, 233, 1800),
    }
    assert min(expected.values()) > 0
    assert ranked("polnareff", "The soo cats", documents) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("stemmer", "premises"), [("krovetz", {"a", "b"}), ("none", {"b"})])
def test_a_variant_ranks_premises_with_or_without_stems(stemmer: str, premises: set[str]) -> None:
    documents = [
        Argument("a", "the cats", ("a cat",)),
        Argument("b", "-", ("cats",)),
        Argument("c", "cats", ("the dogs bark",)),
    ]
    scores = ranked("dirichletlm-variants", "the cats", documents, stemmer=stemmer, mu=2.0)
    ttf = len(premises)
    assert min(scores.values()) > 0
    assert scores == pytest.approx(dict.fromkeys(premises, gain(1, 1, ttf, 4, 2)), rel=1e-5)
