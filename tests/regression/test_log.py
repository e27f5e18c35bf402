"""The log of reruns: what is appended, by whom, and when nothing is."""

from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import pytest

import touche as package
from conftest import Touche
from small_clone import expect, row
from touche.baselines.expected import read_expected
from touche.errors import ToucheError
from touche.regression.log import append_to_log, logged_scores, read_log
from touche.regression.outcomes import Outcome
from touche.runners.container_runs import Usage

RECORD = ["--record", "log.csv", "--by", "Ada"]
pytest_plugins = ["small_clone"]
ENTRIES = """
[[score]]
dataset = "small-passages"
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "spot-check-passages-relevance.qrels"
pinned = 0.50894
tolerance = 0.00005

[[score]]
dataset = "small-passages"
dimension = "relevance"
evaluator = "trec_eval"
qrels = "spot-check-passages-relevance.qrels"
measure = "nDCG@10"
published = 0.6
tolerance = 0.001
source = "t"

[[score]]
dataset = "touche-2020-task-2"
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "touche2020-task2-relevance-withbaseline.qrels"
published = 0.568
tolerance = 0.01
source = "table 6"

[[run]]
dataset = "small-passages"
digest = "0000000000000000"
"""


def test_each_measured_score_becomes_a_row_green_or_not(touche: Touche, clone: Path) -> None:
    """Neither missing data nor a ranking is a score."""
    expect(clone, ENTRIES)
    log = clone / "log.csv"
    command = ["regress", "--record", log, "--by", "Ada, of Turin", "--update"]
    before = datetime.now(UTC).date()
    code, _, err = touche(*command)
    after = datetime.now(UTC).date()  # a test can run at midnight
    assert code == 1 and f"{log}: 2 rows appended\n" in err
    green, red = read_log(log)
    assert (green.baseline, green.dataset, green.dimension) == (
        "dirichletlm",
        "small-passages",
        "relevance",
    )
    assert (green.kind, green.expected, green.got, green.difference) == ("pinned", 0.50894, 0.50894, 0.0)
    assert (green.verdict, green.judged, green.image, green.by) == ("passed", 1.0, "", "Ada, of Turin")
    assert green.date in (before.isoformat(), after.isoformat())
    assert (red.dimension, red.kind, red.verdict) == ("relevance, nDCG@10", "published", "too low")
    assert (red.expected, red.got, red.difference) == (0.6, 0.50454, -0.09546)
    first = log.read_bytes()
    touche("regress", "--record", log, "--by", "Bob")
    assert log.read_bytes().startswith(first) and [row.by for row in read_log(log)][2:] == ["Bob", "Bob"]
    assert len(log.read_text().splitlines()) == 5


def test_published_topic_values_are_counted_in_each_dimension(clone: Path) -> None:
    expect(
        clone,
        '[[topics]]\ndataset = "touche-2021-task-1/ten-topics"\ndimensions = ["relevance", "quality"]\n'
        'measure = "nDCG@5"\ntag = "dirichlet_multi_field"\n',
    )
    (entry,) = read_expected("dirichletlm")
    published = entry.topic_values
    assert published["relevance"]["51"] == 0.277 and len(published["relevance"]) == 10
    mean = round(fmean(published["relevance"].values()), 5)
    others = {topic: value for topic, value in published["relevance"].items() if topic != "51"}
    usage = Usage(wall=1.0, image="sha256:0f")
    for rerun, difference in ((others | {"51": 0.177}, -0.01), (others, -0.0277)):  # a missing topic counts 0
        topics = {"relevance": rerun, "quality": published["quality"]}
        outcome = Outcome(entry, "changed", got="19 of 20", topics=topics, usage=usage)
        relevance, quality = logged_scores(outcome, "Ada")
        assert (relevance.topics, relevance.reproduced, relevance.expected) == (10, 9, mean)
        assert (relevance.got, relevance.difference) == (round(mean + difference, 5), difference)
        assert (quality.topics, quality.reproduced, quality.difference) == (10, 10, 0.0)
    assert {row.image for row in (relevance, quality)} == {"sha256:0f"}


def test_a_log_without_a_last_line_end_and_with_quoted_commas_is_continued(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    append_to_log(log, [row(by='a, "b"')])
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))
    append_to_log(log, [row(), row()])
    assert [one.by for one in read_log(log)] == ['a, "b"', "", ""]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("expected,", "value,", 1),
        (",0.5,0.5,", ",half,0.5,", 2),
        (",0.5,0.5,", ",1.5,0.5,", 2),
        (",0.5,0.5,", ",nan,0.5,", 2),
        (",0.0,passed", ",passed", 2),
        ("passed", "passed,passed", 2),
        ("2026-01-02", "2 January", 2),
        ("bm25", "", 2),
        ("bm25", '"bm25', 2),
    ],
)
def test_a_damaged_log_is_refused_with_its_line_before_any_run(
    touche: Touche, clone: Path, old: str, new: str, line: int
) -> None:
    expect(clone, ENTRIES)
    log = clone / "log.csv"
    append_to_log(log, [row()])
    log.write_text(damaged := log.read_text().replace(old, new, 1))
    code, _, err = touche("regress", "--record", log, "--by", "Ada")
    assert (code, len(err.splitlines())) == (2, 1) and f"log.csv:{line}: " in err
    assert log.read_text() == damaged


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--by", "Ada"], "--by names who made the rows that --record appends; add --record FILE"),
        (["--record", "log.csv"], "--record needs a name for its rows; add --by"),
        (["--run-url", "https://a.org/run"], "--run-url is for the rows that --record appends; add --record"),
        ([*RECORD, "--run-url", "http://a.org/run"], "'http://a.org/run' is not an address with https://"),
        ([*RECORD, "--run-url", "https://a.org/a b"], "'https://a.org/a b' is not an address with https://"),
        ([*RECORD, "--run-url", "https://a.org/run"], "is the address of one run, but there are 2; write"),
        (["--check-log", "a.csv", "--by", "Ada"], "--check-log chooses what to rerun; use it only with"),
        (["--record", "log.csv", "--by", " "], "not a line of text"),
        (["--record", "log.csv", "--by", "A\nda"], "not a line of text"),
        (["--record", "baselines", "--by", "Ada"], "cannot be read (Is a directory)"),
        (["--record", "nowhere/log.csv", "--by", "Ada"], "nowhere is not a directory"),
        (["--record", "log.csv", "--by", "Ada", "--junit", "log.csv"], "two outputs have this name"),
    ],
)
def test_names_and_places_that_cannot_be_are_refused(
    touche: Touche, clone: Path, options: list[str], problem: str
) -> None:
    expect(clone, ENTRIES)
    append_to_log(clone / "a.csv", [row()])
    code, out, err = touche("regress", *options)
    assert (code, out, len(err.splitlines())) == (2, "", 1) and problem in err
    assert not (clone / "log.csv").exists()


def test_python_names_its_own_parameter_if_there_is_no_log_to_append_to() -> None:
    with pytest.raises(ToucheError, match="by = 'Ada' has no effect without record"):
        package.regress("bm25", "spot-check/passages", by="Ada")
