from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touche.collection.parts import LocalParts
from touche.formats.documents import Document
from touche.scan.counting import ONE_FIELD, Counting, Part, Vocabulary
from touche.scan.reading import in_batches
from touche.scan.statistics import added
from touche.scan.tokens import analysis_named

WORDS = "Cats cat's the THE running Runs ran naïve 日本 skies 3.5 it's x".split()
DOCUMENTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=8)


def counted(texts: list[str], vocabulary: Vocabulary) -> list[Part]:
    documents = (Document(f"d{n}", text) for n, text in enumerate(texts))
    return [part for _, part in in_batches(documents, partial(Counting, vocabulary, ONE_FIELD))]


@pytest.mark.parametrize("name", ["standard", "english", "plural", "unstemmed"])
@given(DOCUMENTS, DOCUMENTS)
def test_lengths_and_frequencies_are_those_of_the_terms(
    name: str, queries: list[str], texts: list[str]
) -> None:
    analysis = analysis_named(name)
    vocabulary = Vocabulary.of(queries, name)
    terms = list(vocabulary.places)
    assert set(terms) == {term for query in queries for term in analysis.terms(query)}
    for part in counted(texts, vocabulary):
        (field,) = part.fields
        kept = [n for n, text in enumerate(texts) if {*terms} & {*analysis.terms(text)}]
        assert part.documents == len(texts) and part.ids == [f"d{n}" for n in kept]
        lengths = [len(analysis.terms(text)) for text in texts]
        assert field.lengths.tolist() == [lengths[n] for n in kept]
        assert part.statistics[0].tokens == sum(lengths)
        found = {
            (kept[text], term): count
            for place, term in enumerate(terms)
            for text, count in zip(*map(list, field.of(place)), strict=True)
        }
        assert found == {
            (n, term): tf
            for n, text in enumerate(texts)
            for term, tf in Counter(analysis.terms(text)).items()
            if term in terms
        }


def test_documents_are_read_some_at_a_time_and_statistics_add_up() -> None:
    vocabulary = Vocabulary.of(["a b"], "standard")
    texts = ["a b a", "", "c"] * 700
    parts = counted(texts, vocabulary)
    assert len(parts) > 2 and sum(part.documents for part in parts) == 2100
    (found,) = added(LocalParts(parts), 1, 2)
    assert (found.documents, found.tokens) == (1400, 2800)
    assert (found.df.tolist(), found.ttf.tolist()) == ([700, 700], [1400, 700])
    term = found.term(0)
    assert (term.df, term.ttf, term.mean_length, term.probability) == (700, 1400, 2.0, 1401 / 2801)


def test_documents_are_read_once_and_only_as_they_are_needed() -> None:
    taken = []

    def documents() -> object:
        for n in range(5000):
            taken.append(n)
            yield Document(str(n), "a")

    begin = partial(Counting, Vocabulary.of(["a"], "standard"), ONE_FIELD)
    parts = in_batches(documents(), begin)  # type: ignore[arg-type]
    next(parts)
    assert 0 < len(taken) < 5000
