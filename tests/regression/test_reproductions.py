"""Published values with their reruns: which rows of the log count."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

import touche as package
from conftest import ROOT, Touche
from small_clone import row as logged
from touche.regression.log import LOG_FILE, LoggedScore, append_to_log, read_log
from touche.regression.reproductions import Reproduction
from touche.tasks import is_dataset

pytest_plugins = ["small_clone"]
TASK = "touche-2021-task-1"


def rerun(dataset: str, got: float, **changes: object) -> LoggedScore:
    """Returns a row about dirichletlm's relevance in 2021, published as 0.626, and 0.46637 on the sample."""
    published: dict[str, object] = {"baseline": "dirichletlm", "evaluator": "touche", "kind": "published"}
    published |= {"expected": 0.626, "difference": round(got - 0.626, 5)}
    return logged(dataset=dataset, got=got, **published | changes)


@pytest.fixture
def log(clone: Path) -> Path:
    return clone / "baselines" / LOG_FILE


def relevance() -> Reproduction:
    return next(row for row in package.reproductions(TASK) if row.expected.dimension == "relevance")


def test_a_value_without_a_rerun_says_why(log: Path) -> None:
    row = relevance()
    assert row.sample is not None
    assert (row.expected.published, row.tolerance, row.sample.pinned) == (0.626, 0.01, 0.46637)
    assert (row.last, row.missing) == (None, "not rerun yet; touche data fetch gets the corpus")
    assert row.rerun == f"touche run dirichletlm -i {TASK} -o out"
    assert row.evaluate == f"touche evaluate out/run.txt --task {TASK}"
    unpublished = package.reproductions("touche-2022-task-2")[0]
    assert (unpublished.expected.published, unpublished.missing) == (None, "no value is published")
    assert unpublished.tolerance is None


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ("beir-webis-touche2020-v3", "the corpus has to be downloaded by hand"),
        ("touche-2021-task-2", "the corpus requires an agreement with its publisher"),
    ],
)
def test_the_reason_is_that_of_the_corpus(task: str, reason: str) -> None:
    assert package.reproductions(task)[0].missing == f"not rerun yet; {reason}"


def test_the_last_green_rerun_counts_and_red_ones_say_so(log: Path) -> None:
    append_to_log(log, [rerun(TASK, 0.6, verdict="too low")])
    assert (relevance().on_corpus, relevance().missing) == (None, "the rerun of 2026-01-02 scored 0.600")
    append_to_log(log, [rerun(TASK, 0.624, by="first"), rerun(TASK, 0.625, by="last")])
    append_to_log(log, [rerun(TASK, 0.7, by="red", verdict="too high")])
    last = relevance().on_corpus
    assert last is not None and (last.by, relevance().missing, relevance().last) == ("last", "", last)


@pytest.mark.parametrize(
    "row",
    [
        rerun(TASK, 0.7),  # says that it passed
        rerun(TASK, 0.626, expected=0.627),  # another published value
        rerun(TASK, 0.626, evaluator="trec_eval"),
        rerun(TASK, 0.626, baseline="dirichletlm --mu 1000"),
        rerun(f"{TASK}/sample", 0.626),
        rerun(f"{TASK}/ten-topics", 0.5, expected=0.5, topics=10, reproduced=9),
        rerun(f"{TASK}/ten-topics; rm", 0.5, expected=0.5, topics=10, reproduced=10),
        rerun(f"{TASK}/ten-topics", 0.5, expected=0.5, topics=1, reproduced=1),
        rerun("touche-2020-task-1", 0.626),
    ],
)
def test_a_rerun_of_something_else_does_not_count(log: Path, row: LoggedScore) -> None:
    append_to_log(log, [row])
    assert relevance().last is None and relevance().missing


def test_a_later_rerun_that_lacks_a_published_topic_value_is_shown_and_not_green(log: Path) -> None:
    ten = f"{TASK}/ten-topics"
    rows = [rerun(ten, 0.5, expected=0.5, topics=10, reproduced=number) for number in (10, 9)]
    append_to_log(log, rows)
    assert relevance().on_topics == rows[1] and not relevance().reproduces_topics
    assert relevance().last is None
    assert package.reproductions(TASK).notes == (f"dirichletlm on {ten}: 9 of 10 topic values are equal.",)


def test_a_dimension_that_was_not_rerun_is_not_equal(log: Path) -> None:
    ten = f"{TASK}/ten-topics"
    append_to_log(log, [rerun(ten, 0.5, expected=0.5, topics=10, reproduced=10)])
    [note] = package.reproductions(TASK).notes
    assert (
        note.startswith(f"dirichletlm on {ten}: 10 of 20 topic values are equal.") and "identical" not in note
    )


@pytest.mark.parametrize("changes", [{"date": "2026-01-03"}, {"md5": "1" * 32}])
def test_dimensions_of_different_reruns_are_not_combined(log: Path, changes: dict[str, str]) -> None:
    ten = f"{TASK}/ten-topics"
    both = [
        rerun(ten, 0.5, expected=0.5, topics=10, reproduced=10, dimension=name, md5="0" * 32)
        for name in ("quality", "relevance")
    ]
    append_to_log(log, both)
    assert "20 of 20 topic values are equal: identical." in package.reproductions(TASK).notes[0]
    append_to_log(log, [replace(both[1], **changes)])  # type: ignore[arg-type]
    [note] = package.reproductions(TASK).notes
    assert note.startswith(f"dirichletlm on {ten}: 10 of 20 topic values are equal.")
    assert [row.on_topics is None for row in package.reproductions(TASK)[:2]] == [False, True]


def test_a_rerun_that_reaches_a_published_mean_comes_with_what_that_shows(log: Path) -> None:
    append_to_log(log, [rerun(TASK, 0.7)])
    assert package.reproductions(TASK).notes == ()
    append_to_log(log, [rerun(TASK, 0.626)])
    [note] = package.reproductions(TASK).notes
    assert note.startswith("a mean that a rerun reaches shows at most that the two runs are similar: ")


def test_the_page_links_a_public_run_and_says_the_verdict(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    page = runpy.run_path(str(ROOT / "docs" / "site" / "reproductions_page.py"))["page"]
    assert '">the run</a>' not in page() and "topic values are equal" not in page()
    ten = f"{TASK}/ten-topics"
    append_to_log(log, [rerun(ten, 0.5, expected=0.5, topics=10, reproduced=9)])
    assert "gave the published values: 0 of 3 rows" in page() and "in some topics: 1 of 3 rows" in page()
    assert "✗ 9 of 10 values in 10 topics" in page() and "✓ rerun" not in page()
    append_to_log(log, [rerun(TASK, 0.626, run="https://example.org/run.txt", md5="0" * 32)])
    assert "gave the published values: 1 of 3 rows" in page() and "✓ rerun on the whole corpus" in page()
    assert '<a href="https://example.org/run.txt">the run</a>' in page()
    assert "ranking part of the corpus.</b>\n9 of 10 topic values are equal." in page()


def test_reproduced_topics_and_samples_are_shown_by_the_command(touche: Touche, log: Path) -> None:
    ten = f"{TASK}/ten-topics"
    topics = [
        rerun(ten, 0.5, expected=0.5, topics=10, reproduced=10, dimension=name)
        for name in ("relevance", "quality")
    ]
    sample = rerun(f"{TASK}/sample", 0.46637, kind="pinned", expected=0.46637, judged=0.36)
    append_to_log(log, [*topics, sample])
    code, out, _ = touche("tasks", TASK, "--reproductions")
    line = next(line for line in out.splitlines() if " relevance " in line)
    assert code == 0
    assert line.split()[5:11] == ["0.626", "0.466", "0.36", "10", "of", "10"]
    assert line.endswith("2026-01-02, ten-topics  not rerun yet; touche data fetch gets the corpus")
    assert f"dirichletlm on {ten}: 20 of 20 topic values are equal: identical. On 10 topics, 0.009% of" in out
    assert "its formula and analysis, not its frequencies." in out
    assert "– in on a sample: no sample pins this value" in touche("tasks", "--reproductions")[1]
    (first, *_) = json.loads(touche("tasks", TASK, "--reproductions", "--format", "json")[1])
    assert first["on_topics"]["topics"] == 10 and first["on_sample"]["date"] == "2026-01-02"


def test_the_shipped_log_is_about_shipped_baselines_and_known_datasets() -> None:
    rows = read_log(ROOT / "baselines" / LOG_FILE)
    assert {row.baseline.partition(" ")[0] for row in rows} <= {
        path.name for path in (ROOT / "baselines").iterdir()
    }
    assert rows and all(is_dataset(row.dataset) for row in rows)
