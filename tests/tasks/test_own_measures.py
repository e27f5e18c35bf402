"""Measures that trec_eval lacks, by hand."""

import pytest

from touche.errors import ToucheError
from touche.evaluation.evaluators import by_trec_eval
from touche.tasks import measure_of
from touche.tasks.measures import OWN_MEASURES
from touche.tasks.own_measures import OwnMeasure
from touche.trec.qrels import Qrels

# Relevant are a (2), b and e (1); e is not ranked, and x is not judged.
QRELS = Qrels({"1": {"a": 2, "b": 1, "c": 0, "e": 1}, "2": {"f": 3}})
RANKED = {"1": ["x", "b", "c", "a"]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RBP(p=0.5)", 1 / 4 * 1 + 1 / 16 * 2),
        ("RBP(p=0.5,rel=2)", 1 / 16),
        ("ERR", (1 / 16) / 2 + (15 / 16) * (3 / 16) / 4),
        ("Judged", 3 / 4),
    ],
)
def test_by_hand(name: str, value: float) -> None:
    assert by_trec_eval(RANKED, QRELS, measure_of(name)) == {"1": pytest.approx(value), "2": 0}


def test_each_has_a_case_by_hand() -> None:
    cases = {mark.args[1][index][0] for mark in test_by_hand.pytestmark for index in range(len(mark.args[1]))}
    assert {name.partition("(")[0].partition("@")[0] for name in cases} == {*OWN_MEASURES}


def test_one_that_ir_measures_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its formula sees all grades of the topic, and its name may begin with that of another measure."""
    found = OwnMeasure(
        lambda ranking, measure: (
            sum(ranking.grades) / sum(sorted(ranking.judged_grades)[-measure["cutoff"] :])
        ),
        prose="the share of the gain",
        parameters={"cutoff": int},
    )
    monkeypatch.setitem(OWN_MEASURES, "PGain", found)
    measure = measure_of("PGain@2")
    assert (measure.name, measure.cutoff, measure.of_trec_eval) == ("PGain@2", 2, False)
    with pytest.raises(ToucheError, match="'PGain' is not known"):
        measure_of("PGain")
    ranked = {topic: documents[:2] for topic, documents in RANKED.items()}
    assert by_trec_eval(ranked, QRELS, measure) == {"1": 1 / 3, "2": 0}
