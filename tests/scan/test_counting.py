from collections import Counter

import pytest

from random_examples import given, st
from touche.documents.document_records import Document
from touche.scan import reading
from touche.scan.counting import ONE_FIELD, Counting, Vocabulary, join_parts
from touche.scan.reading import Reading, parts_in_process
from touche.scan.tokens import analysis_named

LONG = ["internationals", "internationally", "a_b_c_d_e_f"]  # whose first eight letters are the same
WORDS = [
    "Cats",
    "cat's",
    "the",
    "THE",
    "running",
    "Runs",
    "ran",
    "naïve",
    "日本",
    "skies",
    "3.5",
    "Lego®",
    "it's",
    *LONG,
]
DOCUMENTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=8)


@pytest.mark.parametrize("name", ["standard", "english", "plural", "unstemmed", "plural-alnum"])
@given(DOCUMENTS, DOCUMENTS)
def test_lengths_and_frequencies_are_those_of_the_terms(
    name: str, queries: list[str], texts: list[str]
) -> None:
    analysis = analysis_named(name)
    vocabulary = Vocabulary.from_terms((term for query in queries for term in analysis.terms(query)), name)
    terms = list(vocabulary.indexes)
    assert set(terms) == {term for query in queries for term in analysis.terms(query)}
    part = Counting(vocabulary, ONE_FIELD)([Document(f"d{n}", text) for n, text in enumerate(texts)])
    (field,) = part.fields
    numbers = [n for n, text in enumerate(texts) if {*terms} & {*analysis.terms(text)}]
    assert part.documents == len(texts) and part.ids == [f"d{n}" for n in numbers]
    lengths = [len(analysis.terms(text)) for text in texts]
    assert field.lengths.tolist() == [lengths[n] for n in numbers]
    assert part.statistics[0].tokens == sum(lengths)
    postings = {
        (numbers[text], term): count
        for position, term in enumerate(terms)
        for text, count in zip(*map(list, field.postings(position)), strict=True)
    }
    frequencies = {n: Counter(analysis.terms(text)) for n, text in enumerate(texts)}
    assert postings == {
        (n, term): tf
        for n, frequencies_of_text in frequencies.items()
        for term, tf in frequencies_of_text.items()
        if term in terms
    }


def test_documents_are_read_once_and_only_as_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MERGED_DOCUMENTS", 1000)
    documents = (Document(str(n), "a") for n in range(5000))
    counting = Counting(Vocabulary.from_terms(["a"], "standard"), ONE_FIELD)
    next(parts_in_process(Reading(lambda: counting, join_parts, str), documents))
    assert next(documents).id == "1000"
