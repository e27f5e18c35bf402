"""Ranks with intervals, and groups: by hand, and by a plain bootstrap and plain tests on published values."""

import json
import random
import re
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from pathlib import Path
from statistics import fmean, quantiles

import pytest
from scipy.stats import ttest_rel

import touche as library
from conftest import Touche
from printed import rows_below
from touche import tasks
from touche.cli.compare import _closest
from touche.evaluation.leaderboard import comparable, own_rank
from touche.evaluation.ranks import groups, rank_intervals
from touche.io.grouping import group_by
from touche.reports.published_results import PublishedResult
from touche.tasks import Published
from touche.tasks.per_topic import topic_values

TASK = tasks.task("touche-2022-task-2")
RUN = {topic: {"d": 1.0} for topic in "12"}
QRELS = {topic: {"d": 1, "e": 0} for topic in "12"}


def rows_of(task: str, dimension: str = "relevance") -> list[PublishedResult]:
    return [result for result in library.published(task) if result.row.dimension == dimension]


def values_of(row: Published) -> list[float]:
    values = topic_values(row)
    assert not isinstance(values, str)
    return [*values.values()]


def test_ranks_are_those_of_a_plain_bootstrap() -> None:
    """With other resamples and 4,000 of them, each end may differ by one rank."""
    rows = rows_of(TASK.id)
    values = [values_of(result.row) for result in rows]
    generator = random.Random(7)
    samples = list[list[int]]()
    for _ in range(4000):
        drawn = generator.choices(range(50), k=50)
        sums = [round(1000 * sum(of_run[topic] for topic in drawn)) for of_run in values]
        ordered = sorted(sums, reverse=True)
        samples.append([1 + ordered.index(own) for own in sums])
    for row, ranks in zip(rows, zip(*samples, strict=True), strict=True):
        cuts = quantiles(ranks, n=40)
        assert (row.level.low, row.level.high) == (
            pytest.approx(cuts[0], abs=1),
            pytest.approx(cuts[-1], abs=1),
        )
    (boots,) = (result for result in rows if result.row.team == "Puss in Boots")
    assert (boots.rank, boots.level.low, boots.level.high) == (20, 18, 21)


def test_ranks_and_groups_by_hand() -> None:
    """The first run is above the others on each topic; the others are equal, so that they share a rank."""
    values = [[0.9, 0.8, 0.9, 0.7], [0.2, 0.1, 0.2, 0.1], [0.1, 0.2, 0.1, 0.2], [0.2, 0.1, 0.2, 0.1]]
    assert rank_intervals([values[0], values[1], values[3]]) == [(1, 1), (2, 2), (2, 2)]
    assert rank_intervals(values)[2] == (2, 4)  # it wins where topics 2 and 4 are drawn most often
    assert groups(values) == [1, 2, 2, 2]
    assert groups(values[:1]) == [1]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0.5, 0.5, 0.5], "rank 7 of 13 (95%: 7 to 7 among fixed values)"),
        ([1.0, 0.0], "rank 7 of 13 (95%: 1 to 13 among fixed values)"),  # the means 0, 0.5 and 1
        ([0.5], "rank 7 of 13"),
    ],
)
def test_where_only_means_are_published_they_are_fixed(values: list[float], text: str) -> None:
    """Of the twelve runs of 2020 task 2, six have more than 0.5."""
    task = tasks.task("touche-2020-task-2")
    rows = comparable(task, "relevance", "trec_eval")
    assert sum(row.value > 0.5 for row in rows) == 6
    assert str(own_rank(task, rows, fmean(values), dict(zip("abc", values, strict=False)))) == text


def test_own_runs_are_resampled_with_the_published_ones() -> None:
    """A run with the values of the baseline is that run; a better one is above all."""
    rows = comparable(TASK, "relevance", "touche")
    (boots,) = (row for row in rows if row.baseline)
    values = topic_values(boots)
    assert not isinstance(values, str)
    assert str(own_rank(TASK, rows, boots.value, values)) == "rank 20 of 26 (95%: 18 to 21)"
    assert str(own_rank(TASK, rows, 1.0, dict.fromkeys(values, 1.0))) == "rank 1 of 27 (95%: 1 to 1)"
    assert str(own_rank(TASK, [boots], boots.value, values)) == "rank 1 of 1"
    none_relevant = dict.fromkeys(values, 0.0)  # which identifies no run
    assert str(own_rank(TASK, rows, 0.0, none_relevant)).startswith("rank 27 of 27")
    fewer = {topic: value for topic, value in values.items() if topic != "2"}
    assert str(own_rank(TASK, rows, boots.value, fewer)).endswith(" among fixed values)")
    jack = tasks.task("touche-2021-task-2")
    ranked = own_rank(
        jack, comparable(jack, "relevance", "touche"), 1.0, dict.fromkeys(map(str, range(51, 101)), 1.0)
    )
    assert str(ranked) == ("rank 1 of 21 (95%: 1 to 1 among 19 with a value for each topic)")


def test_a_published_run_has_its_published_rank_interval_and_group() -> None:
    rows = comparable(TASK, "relevance", "touche")
    for result in rows_of(TASK.id):
        values = topic_values(result.row)
        assert not isinstance(values, str)
        ranked = own_rank(TASK, rows, result.row.value, values)
        found = ranked.rank, ranked.low, ranked.high, ranked.group
        level = result.level
        assert found == (result.rank, level.low, level.high, level.group)


def test_columns_are_those_of_the_row_and_of_its_rank() -> None:
    table = library.published(TASK.id)
    boots = next(result for result in table if result.row.tag == "BM25-Baseline")
    assert boots.expected is not None and boots.level.group is not None
    columns = table.rows[table.index(boots)]
    assert list(columns.items())[: len(fields(Published))] == list(asdict(boots.row).items())
    assert list(columns.items())[len(fields(Published)) :] == [
        ("rank", 20),
        ("is_shortlisted", True),
        ("rerun", "touche run bm25 -i touche-2022-task-2 -o out"),
        ("tolerance", boots.expected.tolerance),
        ("rank_low", 18),
        ("rank_high", 21),
        ("group", boots.level.group),
        ("rank_note", ""),
    ]
    assert table[:0].names == [*columns], "without rows, the header is the same"


def test_a_run_is_compared_with_each_published_run(touche: Touche, official: Path) -> None:
    run = official / "runs" / TASK.id / "puss-in-boots-1.run"
    table = library.compare(run, TASK.id, published=True)
    assert len(table) == 50 and {row.evaluator for row in table} == {"touche"}
    assert not any("Puss" in row.run_b for row in table)  # the run itself
    assert "is not compared with Puss in Boots (BM25-Baseline), because both" in table.warnings[0]
    (best,) = (row for row in table if "dense" in row.run_b and row.dimension == "relevance")
    rows = {result.row.tag: values_of(result.row) for result in rows_of(TASK.id)}
    values = rows["BM25-Baseline"], rows["levirank_dense_initial_retrieval"]
    assert best.p_t_test == pytest.approx(ttest_rel(*values).pvalue)
    assert best.p_t_test_holm is not None and best.p_t_test is not None and best.p_t_test_holm > best.p_t_test


COUNT = r"nDCG@5, (\w+): (\S+) is significantly above (\d+) and below (\d+) of (\d+) published runs"


def test_published_runs_are_counted_and_only_the_closest_significant_ones_are_printed(
    touche: Touche, official: Path
) -> None:
    folder = official / "runs" / TASK.id
    runs = [folder / "grimjack-1.run", folder / "puss-in-boots-1.run"]
    table = library.compare(runs, TASK.id, published=True)
    command = ["compare", *runs, "--task", TASK.id, "--published"]
    _, out, _ = touche(*command)
    rows = rows_below(out, "table", ["A", "B", "dimension", "Holm t"])
    assert all("*" in row["Holm t"] for row in rows)
    assert f"{len(rows)} of {len(table)} rows, at most 10 per run and dimension" in out
    of_run = group_by(table, lambda row: (row.dimension, row.run_a))
    printed = group_by(rows, lambda row: (row["dimension"], row["A"]))
    counts = {(dimension, run): numbers for dimension, run, *numbers in re.findall(COUNT, out)}
    assert of_run.keys() == printed.keys() == counts.keys() and len(of_run) == 4
    for run, compared in of_run.items():
        above = [row for row in compared if row.significant and row.mean_a > row.mean_b]
        below = [row for row in compared if row.significant and row.mean_a < row.mean_b]
        assert counts[run] == [str(len(some)) for some in (above, below, compared)]
        assert len(printed[run]) == min(10, len(above) + len(below))
        for side in filter(None, (above, below)):
            names = [row.run_b for row in sorted(side, key=lambda row: abs(row.difference))]
            shown = [row["B"] for row in printed[run] if row["B"] in names]
            assert shown and set(shown) == set(names[: len(shown)])
    _, out, _ = touche(*command, "--all")
    assert len(rows_below(out, "table", ["A", "B", "dimension", "Holm t"])) == len(table)
    _, out, _ = touche(*command, "--format", "json")
    assert len(json.loads(out)) == len(table)


@pytest.mark.parametrize(("significant", "shown"), [([], range(10)), ([7, 12, 24], [7, 12, 24])])
def test_few_significant_rows_are_all_printed_and_without_any_the_smallest_differences(
    significant: list[int], shown: Iterable[int]
) -> None:
    (row,) = library.compare({"a": RUN, "b": dict(RUN)}, qrels=QRELS, measure="RR")
    rows = [
        replace(row, run_b=f"b{size}", difference=-size / 100, significant=size in significant)
        for size in range(25)
    ]
    assert [*_closest(rows[::-1])] == [rows[size] for size in shown][::-1]


def test_each_run_gets_ten_rows_in_each_dimension_even_if_rows_are_equal() -> None:
    (row,) = library.compare({"a": RUN, "b": dict(RUN)}, qrels=QRELS, measure="RR")
    rows = [
        replace(row, path_a=path, dimension=dimension, significant=path == "a", difference=0.1)
        for path in "ab"
        for dimension in ("relevance", "quality")
        for _ in range(12)
    ]
    rows.append(replace(row, path_a="c", significant=False))
    shown = group_by(_closest(rows), lambda row: (row.path_a, row.dimension))
    assert [len(group) for group in shown.values()] == [10, 10, 10, 10, 1]


def test_runs_with_one_tag_are_told_apart_by_their_teams(touche: Touche, tmp_path: Path) -> None:
    qrels = tmp_path / "relevance.qrels"
    qrels.write_text("".join(f"{topic} 0 good 1\n{topic} 0 bad 0\n" for topic in "1234"))
    for team, documents in {"Katana": ["good", "bad"], "Asuna": ["bad", "good"]}.items():
        (tmp_path / team).mkdir()
        lines = [
            f"{topic} Q0 {document} {rank} {10 - rank} bm25\n"
            for topic in "1234"
            for rank, document in enumerate(documents if topic > "1" else documents[::-1], 1)
        ]
        (tmp_path / team / "run.txt").write_text("".join(lines))
    runs = [tmp_path / team / "run.txt" for team in ("Katana", "Asuna")]
    command = ["compare", *runs, "--qrels", qrels, "--measure", "RR", "--team-per-folder"]
    for options, names in {
        (): ["Katana (bm25)", "Asuna (bm25)"],
        ("--reference", "Katana (bm25)"): ["Asuna (bm25)", "Katana (bm25)"],
    }.items():
        code, out, err = touche(*command, *options)
        assert code == 0, err
        [row] = rows_below(out, "table", ["A", "B", "dimension", "Holm t"])
        assert [row["A"], row["B"]] == names
    code, _, err = touche(*command, "--team", "Katana=*")
    assert code == 2 and "--team and --team-per-folder exclude each other" in err
