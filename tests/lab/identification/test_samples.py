"""The scores of a run for its available documents."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import Write
from identifying import STANDARD, line, sample
from random_examples import given, st
from touche.documents.document_records import Argument, Document
from touche.errors import ToucheError
from touche.lab.identification.differentiable_models import BM25
from touche.lab.identification.hypotheses import Hypothesis
from touche.lab.identification.samples import (
    ONE_FIELD,
    PER_TOPIC,
    Sample,
    count_decimals,
    sample_of,
    searched_fields,
)
from touche.lab.identification.search import fits_of
from touche.trec.scores_files import read_scores
from touche.trec.topics import Topic


def test_runs_and_tables_of_three_columns_are_read(write: Write) -> None:
    run = write("a.run", "1 Q0 a 1 0.5 tag of mine\n2 Q0 b 1 0.25 t\n")
    table = write("a.tsv", "1\ta\t0.5\n\n2\tb\t0.25\n")
    for lines in map(read_scores, (run, table)):
        scores = [(line.topic, line.document, line.score) for line in lines]
        assert scores == [("1", "a", 0.5), ("2", "b", 0.25)]


@given(st.lists(st.floats(1, 30), min_size=20, max_size=50), st.integers(0, 4))
def test_rounding_is_found_even_behind_float32(values: list[float], decimals: int) -> None:
    assert count_decimals(np.round(values, decimals).astype(np.float32).astype(float)) <= decimals


def test_scores_that_were_not_rounded_have_all_decimals() -> None:
    values = np.random.default_rng(1).random(500)
    assert count_decimals(values) == 7
    assert count_decimals(np.append(np.round(values[25:], 3), values[:25])) == 3, "a few may be otherwise"
    assert count_decimals(np.append(np.round(values[75:], 3), values[:75])) == 7


def test_at_most_so_many_of_a_topic_are_taken_and_always_the_same() -> None:
    texts = {f"d{number}": "cats" for number in range(PER_TOPIC + 50)}
    scores = [line("1", id, 1 / (position + 1)) for position, id in enumerate(texts)]
    taken = sample(texts, {"1": "Cats?"}, [*scores, line("1", "elsewhere"), line("9", "d1")])
    again = sample(texts, {"1": "Cats?"}, scores[::-1])
    assert len(taken.documents) == PER_TOPIC and taken.documents == again.documents
    assert list(taken.scores) == sorted(taken.scores, reverse=True)
    assert taken.in_run == PER_TOPIC + 51 and len({*taken.documents} - {*list(texts)[:PER_TOPIC]}) > 10


def test_documents_of_another_dataset_are_an_error() -> None:
    with pytest.raises(ToucheError, match=r"has none of the run.s documents"):
        sample({"a": "cats"}, {"1": "Cats?"}, [line("1", "b")])


def test_a_known_mean_length_is_that_of_a_field() -> None:
    texts = {f"d{number}": "cats " * number for number in (1, 2)}
    run = [line("1", "d1", 2.0), line("1", "d2")]
    topics = [Topic("1", "Cats?")]
    documents = [Document(id, text) for id, text in texts.items()]
    with pytest.raises(ToucheError, match=r"no field 'texts'; did you mean text\?"):
        sample_of(run, topics, documents, "made up", {"texts": 2.0})
    taken = sample_of(run, topics, documents, "made up", {"text": 2.0})
    (known,) = fits_of(Hypothesis(BM25, STANDARD, ("text",)), [taken])
    (free,) = fits_of(Hypothesis(BM25, STANDARD, ("text",)), [replace(taken, mean_lengths={})])
    assert (known.problem.mean_lengths, free.problem.mean_lengths) == ((2.0,), ())


BOTH = {"premises": 3.0, "conclusion": 2.0}


@pytest.mark.parametrize(
    "lengths", [BOTH, {"text": 3.0, "title": 2.0}, {"premises": 3.0, "title": 2.0}, {**BOTH, ONE_FIELD: 5.0}]
)
def test_mean_lengths_of_arguments_have_the_names_of_their_parts_or_those_of_beir(
    lengths: dict[str, float],
) -> None:
    known = arguments(lengths).mean_lengths
    assert {name: known[name] for name in BOTH} == BOTH and len(known) == len(lengths)


@pytest.mark.parametrize(
    ("lengths", "problem"),
    [
        ({"premises": 3.0}, "length of 'conclusion' is missing"),
        ({"title": 2.0}, "length of 'premises' is missing"),
        ({ONE_FIELD: 5.0, "text": 3.0}, "length of 'conclusion' is missing"),
        ({**BOTH, "title": 2.0}, "'conclusion' twice"),
        ({**BOTH, "titles": 2.0}, "no field 'titles'"),
    ],
)
def test_a_part_of_the_mean_lengths_is_an_error_because_it_would_have_no_effect(
    lengths: dict[str, float], problem: str
) -> None:
    with pytest.raises(ToucheError, match=problem):
        arguments(lengths)


def test_the_mean_length_of_both_parts_as_one_field_is_enough_for_it() -> None:
    assert arguments({ONE_FIELD: 5.0}).mean_lengths == {ONE_FIELD: 5.0}


def arguments(mean_lengths: dict[str, float]) -> Sample:
    documents = [Argument("a", "Cats win.", ("They do.",))]
    topics = [Topic("1", "Cats?")]
    return sample_of([line("1", "a")], topics, documents, "made up", mean_lengths)


def test_arguments_have_their_parts_as_fields_and_both_as_one() -> None:
    fields = searched_fields(Argument("a", "It is so.", ("Because.", "Therefore."), discussion="Is it?"))
    assert list(fields.values()) == [
        "Because. Therefore.",
        "It is so.",
        "Is it?",
        "Because. Therefore. It is so.",
    ]
