import csv
import io
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Touche, Write
from formulas import Collection
from touche import baselines, data, pairs
from touche.documents import Argument, Sentence
from touche.pairs import ScoredSentence, best_pairs, pair_of
from touche.topics import Topic


def sentence(argument: str, place: int, score: float, text: str = "", stance: str = "PRO") -> ScoredSentence:
    part = "CONC__1" if place == 0 else f"PREMISE__{place}"
    id = f"{argument}__{part}"
    return ScoredSentence(id, text or id, argument, stance, place, score)


def test_within_an_argument_the_text_orders_a_pair_and_otherwise_the_score() -> None:
    conclusion, second = sentence("a", 0, 1.0), sentence("a", 2, 9.0)
    assert pair_of(second, conclusion, 0).id == "a__CONC__1,a__PREMISE__2"
    assert pair_of(sentence("a", 1, 1.0), sentence("b", 3, 2.0), 0).id == "b__PREMISE__3,a__PREMISE__1"
    assert pair_of(sentence("b", 1, 2.0), sentence("a", 1, 2.0), 0).id == "a__PREMISE__1,b__PREMISE__1"


def test_a_stance_is_that_of_both_arguments_or_none() -> None:
    pro, con = sentence("a", 1, 2), sentence("b", 1, 1, stance="CON")
    assert [pair_of(*each, 0).stance for each in ((pro, pro), (con, con), (pro, con))] == ["PRO", "CON", "Q0"]


def test_a_conclusion_is_for_itself_even_if_its_premises_are_against_it() -> None:
    conclusion, against = sentence("a", 0, 1, stance="CON"), sentence("a", 1, 1, stance="CON")
    assert pair_of(conclusion, against, 0).contradicts_itself
    assert not pair_of(against, sentence("b", 1, 1, stance="CON"), 0).contradicts_itself
    assert not pair_of(sentence("b", 0, 1), sentence("c", 1, 1), 0).contradicts_itself


def test_a_text_counts_once_and_a_pair_comes_from_one_argument_where_it_can() -> None:
    found = best_pairs(
        [
            sentence("a", 0, 5.0, "Ban  cars"),
            sentence("b", 0, 4.0, "ban cars"),
            sentence("b", 1, 3.0, "They stink."),
            sentence("c", 1, 1.0, "They kill."),
            sentence("c", 2, 9.0, " "),
        ],
        10,
    )
    assert [(pair.id, pair.score) for pair in found] == [
        ("b__CONC__1,b__PREMISE__1", 4.0),
        ("a__CONC__1,c__PREMISE__1", 3.0),
        ("b__PREMISE__1,c__PREMISE__1", 2.0),
    ]


@given(st.lists(st.integers(0, 30), min_size=2, max_size=40), st.integers(1, 60))
def test_the_best_pairs_are_those_of_all_pairs(scores: list[int], depth: int) -> None:
    sentences = [sentence(f"a{number:02}", 1, float(score)) for number, score in enumerate(scores)]
    everything = sorted(
        ((one.score + other.score) / 2 for one, other in combinations(sentences, 2)), reverse=True
    )
    assert [pair.score for pair in best_pairs(sentences, depth)] == everything[:depth]


TOPICS = [Topic("1", "cats")]


def argument(id: str, *texts: str, stance: str = "PRO") -> Argument:
    sentences = tuple(Sentence(f"{id}__PREMISE__{number}", text) for number, text in enumerate(texts, 1))
    return Argument(id, "", (" ".join(texts),), stance, sentences)


def test_the_score_of_a_pair_is_the_mean_of_its_sentences_each_with_its_argument() -> None:
    """By the formula, with the statistics of all arguments and of all sentences; c does not match."""
    documents = [
        argument("a", "cats cats cats", "dogs"),
        argument("b", "cats", "the cats"),
        argument("c", "x", "y z"),
    ]
    mu = 3.0
    arguments = Collection({each.id: Counter(each.text.split()) for each in documents})
    matching = {one.id: one.text for each in documents[:2] for one in each.sentences or ()}
    sentences = Collection({id: Counter(text.split()) for id, text in matching.items()})
    expected = {
        id: sentences.dirichlet(["cats"], id, mu) + arguments.dirichlet(["cats"], id[0], mu)
        for id in matching
    }
    ((topic, ranked),) = pairs.by_dirichletlm(TOPICS, documents, mu, 100)
    assert topic == TOPICS[0] and len(ranked) == 6
    for pair in ranked:
        both = [expected[each] for each in pair.id.split(",")]
        assert pair.score == pytest.approx(sum(both) / 2, abs=1e-5)
    assert [pair.score for pair in ranked] == sorted((pair.score for pair in ranked), reverse=True)


def test_the_statistics_of_sentences_are_those_of_the_arguments_that_were_found() -> None:
    documents = [argument("a", "cats", "cats x"), *(argument(f"z{n}", "x x x") for n in range(9))]
    ((_, with_others),) = pairs.by_dirichletlm(TOPICS, documents, 10.0, 100)
    ((_, alone),) = pairs.by_dirichletlm(TOPICS, documents[:1], 10.0, 100)
    difference = [one.score - other.score for one, other in zip(with_others, alone, strict=True)]
    argument_scores = [
        pairs.search_arguments(TOPICS, each, 10.0, 9)["1"]["a"] for each in (documents, documents[:1])
    ]
    assert difference == pytest.approx([argument_scores[0] - argument_scores[1]])


def test_one_pair_of_each_argument_that_says_something_new() -> None:
    """a says what b says, which as the greater id comes first; c says only one thing."""
    documents = [
        argument("a", "cats cats", "b", stance="CON"),
        argument("b", "CATS  cats", "b"),
        argument("c", "cats", "cats"),
        argument("d", "cats", "x", "y"),
    ]
    ((_, ranked),) = pairs.by_argument(TOPICS, documents, 10.0, 2, lambda chosen: [(1, 0) for _ in chosen])
    assert [(pair.id, pair.stance) for pair in ranked] == [
        ("b__PREMISE__1,b__PREMISE__2", "PRO"),
        ("d__PREMISE__1,d__PREMISE__2", "PRO"),
    ]


def processed(*arguments: Argument) -> str:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(("id", "conclusion", "premises", "context", "sentences"))
    for each in arguments:
        premises = [{"text": each.premises[0], "stance": each.stance, "annotations": []}]
        sentences = [{"sent_id": one.id, "sent_text": one.text} for one in each.sentences or ()]
        rows.writerow((each.id, each.conclusion, premises, {}, sentences))
    return text.getvalue()


XML = "<topics><topic><number>1</number><title>cats</title></topic></topics>"


def test_a_topic_with_few_pairs_has_all_of_them_and_a_warning(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    write("in/topics.xml", XML)
    write("in/args_processed.csv", processed(argument("S1-A1", "cats", "dogs", "mice", stance="CON")))
    code, _, err = touche("run", "dirichletlm", "-i", tmp_path / "in", "-o", tmp_path / "out")
    assert code == 0
    assert "touche: warning: all possible pairs are fewer than 100 for topics 1 (3)\n" in err
    lines = (tmp_path / "out" / "run.txt").read_text().splitlines()
    assert lines[0].startswith("1 CON S1-A1__PREMISE__1,S1-A1__PREMISE__3 1 ") and len(lines) == 3


@pytest.mark.parametrize("baseline", ["argsrank", "sentence-coherence"])
def test_what_has_no_sentences_is_refused(touche: Touche, tmp_path: Path, baseline: str) -> None:
    code, _, err = touche("run", baseline, "-i", "spot-check/passages", "-o", tmp_path)
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert "is no argument, and has no sentences to pair; give args_processed.csv" in err


def test_raw_arguments_are_split_for_those_who_need_sentences() -> None:
    given = data.open_dataset("spot-check/arguments")
    lexical = baselines.load("sentence-coherence")(given.topics[:1], given.documents, coherence="lexical")
    ((_, hits),) = lexical
    assert all("__" in id and stance in ("PRO", "CON", "Q0") for id, _, stance in hits)
    assert not pairs.are_asked_for(given.documents)
    assert pairs.are_asked_for(data.open_dataset("spot-check/pairs").documents)


@pytest.mark.parametrize("stance", ["", "for it", 1])
def test_a_stance_is_one_word(write: Write, touche: Touche, tmp_path: Path, stance: object) -> None:
    head = "from touche import baseline\n\n\n@baseline\ndef b(topics, documents):\n"
    source = f"{head}    yield topics[0], [('a', 1.0, {stance!r})]\n"
    folder = write("b/baseline.py", source).parent
    code, _, err = touche("run", folder, "-i", "spot-check/passages", "-o", tmp_path / "out")
    assert (
        code == 2 and f"the baseline yielded the stance {stance!r}; it must be one word, such as PRO" in err
    )
