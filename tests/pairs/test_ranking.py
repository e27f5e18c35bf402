from collections import Counter
from itertools import combinations

import pytest

import touche as package
from oracles.formulas import lm_dirichlet
from random_examples import given, st
from touche import baselines, pairs
from touche.data import datasets
from touche.documents.document_records import Argument, Sentence
from touche.pairs.pair_ranking import ScoredSentence, best_pairs, ordered_pair
from touche.trec.topics import Topic


def sentence(argument: str, number: int, score: float, text: str = "", stance: str = "PRO") -> ScoredSentence:
    part = "CONC__1" if number == 0 else f"PREMISE__{number}"
    id = f"{argument}__{part}"
    return ScoredSentence(id=id, text=text or id, argument=argument, stance=stance, index=number, score=score)


def test_within_an_argument_the_text_orders_a_pair_and_otherwise_the_score() -> None:
    conclusion = sentence("a", 0, 1.0)
    second = sentence("a", 2, 9.0)
    assert ordered_pair(second, conclusion, 0).id == "a__CONC__1,a__PREMISE__2"
    assert ordered_pair(sentence("a", 1, 1.0), sentence("b", 3, 2.0), 0).id == "b__PREMISE__3,a__PREMISE__1"
    assert ordered_pair(sentence("b", 1, 2.0), sentence("a", 1, 2.0), 0).id == "a__PREMISE__1,b__PREMISE__1"


def test_a_stance_is_that_of_both_arguments_or_none() -> None:
    pro, con, none = (
        sentence(id, 1, 1, stance=stance) for id, stance in zip("abc", ("PRO", "CON", "none"), strict=True)
    )
    both = ((pro, pro), (con, con), (pro, con), (none, none), (pro, none))
    assert [ordered_pair(*both_sentences, 0).stance for both_sentences in both] == [
        "PRO",
        "CON",
        "Q0",
        "Q0",
        "Q0",
    ]


def test_opposite_stances_contradict_and_so_does_a_conclusion_its_counter_premise() -> None:
    conclusion = sentence("a", 0, 1, stance="CON")
    against = sentence("a", 1, 1, stance="CON")
    assert ordered_pair(conclusion, against, 0).contradicts_itself
    assert not ordered_pair(against, sentence("b", 1, 1, stance="CON"), 0).contradicts_itself
    assert not ordered_pair(sentence("b", 0, 1), sentence("c", 1, 1), 0).contradicts_itself
    assert ordered_pair(conclusion, sentence("b", 1, 1), 0).contradicts_itself
    assert not ordered_pair(against, sentence("b", 1, 1, stance=""), 0).contradicts_itself


def test_a_text_counts_once_and_a_pair_comes_from_one_argument_where_it_can() -> None:
    pairs_found = best_pairs(
        [
            sentence("a", 0, 5.0, "Ban  cars"),
            sentence("b", 0, 4.0, "ban cars"),
            sentence("b", 1, 3.0, "They stink."),
            sentence("b", 5, 2.5, "ban cars"),
            sentence("b", 6, 2.0, "they stink."),
            sentence("c", 1, 1.0, "They kill."),
            sentence("c", 2, 9.0, " "),
        ],
        10,
    )
    assert [(pair.id, pair.score) for pair in pairs_found] == [
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
    return Argument(id=id, conclusion="", premises=(" ".join(texts),), stance=stance, sentences=sentences)


def test_the_score_of_a_pair_is_the_mean_of_its_sentences_each_with_its_argument() -> None:
    """By the formula, with the statistics of the whole collection; c does not match."""
    documents = [
        argument("a", "cats cats cats", "dogs"),
        argument("b", "cats", "the cats"),
        argument("c", "x", "y z"),
    ]
    topics = [Topic("1", "cats, cats and the mice")]
    mu = 3.0
    query = ["cats", "cats", "the"]
    sentences = [one for document in documents[:2] for one in document.sentences or ()]
    words = {one.id: Counter(one.text.split()) for one in (*documents, *sentences)}
    ttf = sum((words[document.id] for document in documents), Counter[str]())

    def score(id: str) -> float:
        tf = words[id]
        return sum(
            lm_dirichlet(tf[term], tf.total(), ttf[term], ttf.total(), mu) for term in query if tf[term]
        )

    expected = {one.id: score(one.id) + score(one.id[0]) for one in sentences}
    ((topic, ranked),) = pairs.by_dirichletlm(topics, documents, mu, 100)
    assert topic == topics[0] and len(ranked) == 6
    for pair in ranked:
        both = [expected[sentence_id] for sentence_id in pair.id.split(",")]
        assert pair.score == pytest.approx(sum(both) / 2, abs=1e-5)
    assert [pair.score for pair in ranked] == sorted((pair.score for pair in ranked), reverse=True)


def test_arguments_are_ranked_with_the_scores_of_dirichletlm_for_a_mu_that_no_float32_holds() -> None:
    source = datasets.open_dataset("spot-check/arguments")
    mu = 1999.9
    expected = [
        dict(hits) for _, hits in baselines.load("dirichletlm")(source.topics, source.documents, mu=mu)
    ]
    rankings = pairs.Arguments.read(source.topics, source.documents, mu).best(100, min_sentences=1)
    for (_, ranked), scores in zip(rankings, expected, strict=True):
        assert ranked
        assert {one.id: score for one, score in ranked} == {one.id: scores[one.id] for one, _ in ranked}


def test_of_arguments_that_say_the_same_the_best_stands_for_all() -> None:
    """a and b have the same text, and b with the greater id is first; c has one text several times.

    Repeated texts do not hide others.
    """
    documents = [
        argument("a", "cats cats", "b", stance="CON"),
        argument("b", "CATS  cats", "b", ""),
        argument("c", "cats", "Cats", " "),
        argument("d", "cats", "x", "y"),
        *(argument(f"s{n:02}", "cats cats cats", "x") for n in range(50)),
    ]
    read = pairs.Arguments.read(TOPICS, documents, 10.0)
    for least, expected in ((2, ["s49", "d", "b"]), (1, ["c", "s49", "d"])):
        ((_, ranked),) = read.best(3, min_sentences=least)
        assert [one.id for one, _ in ranked] == expected
        assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)


def test_a_pair_of_an_argument_is_in_its_order_even_if_its_sentences_are_not() -> None:
    sentences = (Sentence("a__PREMISE__1", "x"), Sentence("a__CONC__1", "y"))
    one = Argument(id="a", conclusion="y", premises=("x",), stance="PRO", sentences=sentences)
    assert pairs.pair_in_argument(one, 0, 1, 2.0).id == "a__CONC__1,a__PREMISE__1"


@pytest.mark.filterwarnings("ignore:topics with fewer")
@pytest.mark.parametrize(
    ("name", "depth", "count", "messages"),
    [
        ("dirichletlm-pairs", 100, 3, ["topics with fewer than 100 possible pairs: 1 (3)"]),
        ("dirichletlm-pairs", 3, 3, []),
        ("argsrank", 40, 1, ["topics with fewer than 40 possible pairs: 1 (1)"]),
    ],
)
def test_a_topic_with_few_pairs_has_all_of_them_and_a_warning(
    caplog: pytest.LogCaptureFixture, name: str, depth: int, count: int, messages: list[str]
) -> None:
    one = argument("S1-A1", "cats", "dogs", "mice", stance="CON")
    run = package.run(name, topics=TOPICS, documents=[one], depth=depth)
    assert len(run) == count and {line.stance for line in run} == {"CON"}
    assert name == "argsrank" or run[0].document == "S1-A1__PREMISE__1,S1-A1__PREMISE__3"
    assert [text for text in caplog.messages if "possible pairs" in text] == messages


@pytest.mark.parametrize("baseline", ["dirichletlm-pairs", "argsrank", "sentence-coherence"])
def test_a_stance_that_is_unknown_is_none(baseline: str) -> None:
    one = argument("S1-A1", "cats sleep", "dogs bark", stance="neither nor")
    ((_, ((id, _, stance),)),) = baselines.load(baseline)(TOPICS, [one])
    assert (id.partition(",")[0], stance) == ("S1-A1__PREMISE__1", "Q0")
