"""How often would a rule take two different systems for the same one? Counted on published topic values."""

from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean

import tables
from touche.evaluation.agreement import rmse
from touche.evaluation.same_system import closeness
from touche.evaluation.significance import SIGNIFICANT, differences_of, t_test
from touche.tasks import task
from touche.tasks.per_topic import RunWithTopics, runs_with_topics, tasks_with_topics
from touche.tasks.task_records import MEASURE

FEWEST = 47  # topics with a value; some published runs lack a few
Pair = tuple[RunWithTopics, RunWithTopics]
Rule = Callable[[Sequence[float], Sequence[float]], bool]


def is_not_significant(a: Sequence[float], b: Sequence[float]) -> bool:
    """Returns whether a paired t-test finds no difference between two runs' topic values."""
    p = t_test(differences_of(a, b))
    return p is None or p > SIGNIFICANT  # None if all topics differ by the same amount, here by 0


def equal_share(a: Sequence[float], b: Sequence[float]) -> float:
    """Returns the share of topics with equal values."""
    return fmean(value_a == value_b for value_a, value_b in zip(a, b, strict=True))


RULES: dict[str, Rule] = {
    f"paired t-test, p > {SIGNIFICANT}": is_not_significant,
    "means within 0.02": lambda a, b: abs(fmean(a) - fmean(b)) <= 0.02 + 1e-9,
    "means within 0.01": lambda a, b: abs(fmean(a) - fmean(b)) <= 0.01 + 1e-9,
    "means within 0.005": lambda a, b: abs(fmean(a) - fmean(b)) <= 0.005 + 1e-9,
    "RMSE at most 0.05": lambda a, b: rmse(a, b) <= 0.05,
    "at least 90% of the topics' values equal": lambda a, b: equal_share(a, b) >= 0.9,
}


def pairs_of(task_id: str, dimension: str) -> tuple[list[Pair], list[Pair]]:
    """Returns all pairs of a task's published runs, of different teams and of one team.

    Runs with values for fewer than 47 topics are left out.
    """
    runs = [
        run
        for run in runs_with_topics(task(task_id), MEASURE.name)
        if len(run.values.get(dimension, ())) >= FEWEST
    ]
    pairs = [*combinations(runs, 2)]
    return [pair for pair in pairs if pair[0].team != pair[1].team], [
        pair for pair in pairs if pair[0].team == pair[1].team
    ]


def accepted(rule: Rule, pairs: Sequence[Pair], dimension: str) -> float:
    """Returns the share of pairs that a rule takes for the same system, on the topics that both runs have."""
    shares = []
    for a, b in pairs:
        values_a = a.values[dimension]
        values_b = b.values[dimension]
        topics = sorted(values_a.keys() & values_b.keys())
        shares.append(rule([values_a[topic] for topic in topics], [values_b[topic] for topic in topics]))
    return fmean(shares)


def rules_table(dimension: str = "relevance") -> str:
    """Returns a Markdown table: the share of pairs of published runs that each rule takes for one system."""
    columns = ["rule"]
    cells = [[name] for name in RULES]
    for task_id in tasks_with_topics():
        for kind, pairs in zip(("different teams", "one team"), pairs_of(task_id, dimension), strict=True):
            columns.append(f"{task_id}: {len(pairs):,} pairs of {kind}")
            for row, rule in zip(cells, RULES.values(), strict=True):
                row.append(percent(accepted(rule, pairs, dimension)))
    return tables.table(columns, cells)


def topics_table() -> str:
    """Returns a Markdown table: how many pairs of runs have equal values on all of so many topics."""
    columns = ["topics"]
    cells = [[str(number)] for number in (1, 2, 5, 10, 20, 50)]
    for task_id in tasks_with_topics():
        columns += [f"{task_id}: different teams", "one team"]
        run = runs_with_topics(task(task_id), MEASURE.name)[0]
        for row in cells:
            values = {
                dimension: dict(list(run.values[dimension].items())[: int(row[0])])
                for dimension in ("relevance", "quality")
            }
            close = closeness(task(task_id), MEASURE.name, values, values)
            assert close is not None
            row += [percent(close.share_of_pairs), percent(close.share_of_team_pairs)]
    return tables.table(columns, cells)


def percent(share: float) -> str:
    """Returns a share with two digits; shares below a hundred-thousandth of a percent are 0."""
    return f"{100 * share:.2g}%" if share >= 1e-7 else "0"


if __name__ == "__main__":
    print(rules_table(), topics_table(), sep="\n\n")
