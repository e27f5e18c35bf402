import json
import re
import shutil
import subprocess
from math import log2
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

from conftest import Touche, Write
from small_clone import expect
from touche.baselines.expected import OPTIONS_OF_RUN, read_expected
from touche.cli.commands import Command
from touche.cli.run import _COMMON_OPTIONS
from touche.errors import InputError
from touche.regression.comparing import ranking_digest
from touche.regression.log import read_log
from touche.regression.outcomes import Outcome
from touche.regression.pinning import update
from touche.regression.running import rerun
from touche.runners.container_runs import RUNNERS, Job, Runner, Usage, run_locally
from touche.runners.limits import Limits
from touche.runners.programs import Log
from touche.trec.runs import read_run

ENTRY = """
[[score]]
dataset = "small-passages"
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "spot-check-passages-relevance.qrels"
pinned = {value}
tolerance = 0.00005
"""
RUN = """
[[run]]
dataset = "small-passages"
digest = "7ecb7394a4c72f75"
"""
ELSEWHERE = """
[[score]]
dataset = "touche-2020-task-2"
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "touche2020-task2-relevance-withbaseline.qrels"
published = 0.568
tolerance = 0.01
source = "table 6"
"""
OFFICIAL = """
[[official]]
dataset = "small-arguments"
run = "a.run"
"""
SCORE = 0.50894


pytest_plugins = ["small_clone"]


@pytest.fixture(autouse=True)
def expected(clone: Path) -> None:
    """Expects the current score of the clone's baseline."""
    expect(clone, ENTRY.format(value=SCORE) + ELSEWHERE)


BEGIN = 'check_range("mu"'  # the score of dirichletlm


def writing(text: str) -> Runner:
    """Returns a runner that writes this run."""

    def run(job: Job, limits: Limits, log: Log) -> Usage:
        job.output.mkdir()
        (job.output / "run.txt").write_text(text)
        return Usage(1.0)

    return run


def outcomes(runner: Runner = run_locally) -> list[Outcome]:
    """Returns the outcomes of the entries of the clone's baseline."""
    return list(rerun(read_expected("dirichletlm"), runner, Limits(), print))


def another(clone: Path, name: str, expected: str) -> Path:
    """Adds a baseline, a copy of the first one."""
    folder = clone / "baselines" / name
    shutil.copytree(clone / "baselines" / "dirichletlm", folder)
    (folder / "expected.toml").write_text(expected)
    return folder


def change(clone: Path, old: str, new: str) -> None:
    path = clone / "baselines" / "dirichletlm" / "baseline.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_a_baseline_that_is_as_it_was_passes(touche: Touche, clone: Path) -> None:
    code, out, err = touche("regress")
    lines = out.splitlines()
    assert (code, err.splitlines()[0]) == (0, "dirichletlm on small-passages")
    assert err.splitlines()[1].startswith("  dirichletlm: 4 topics from ")
    assert lines[0].split()[:5] == ["baseline", "dataset", "dimension", "evaluator", "kind"]
    assert lines[1].split()[5:8] == ["0.50894", "0.50894", "+0.00000"] and lines[1].endswith(" passed")
    missing = "missing: touche-2020-task-2; its publisher requires an agreement"
    assert lines[3].startswith(missing)
    assert [lines[2], *lines[4:]] == ["", "expected results: 1 passed, 1 missing"]


def test_what_a_mean_shows_is_printed_once_if_a_rerun_reaches_one(
    touche: Touche, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pinned means, and published ones that aren't reached, show nothing else than the table."""
    note = "a mean that a rerun reaches shows at most that the two runs are similar: "
    published = ENTRY.replace("pinned = {value}", 'published = {value}\nsource = "t"')
    summary = clone / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for values, times in (([], 0), ([0.4], 0), ([0.4, SCORE], 1), ([SCORE, SCORE], 1)):
        entries = [published.format(value=value) for value in values]
        expect(clone, "".join([ENTRY.format(value=SCORE), *entries]))
        summary.unlink(missing_ok=True)
        _, out, _ = touche("regress", "--report", clone / "page")
        page = Path(out.splitlines()[-1]).read_text(encoding="utf-8")
        assert [text.count(note) for text in (out, summary.read_text(encoding="utf-8"), page)] == 3 * [times]


def test_what_another_implementation_scores_fails_nothing(touche: Touche, clone: Path) -> None:
    """With the entry's own measure: the baseline's nDCG@10 is 0.50454, and its nDCG@5 is 0.50894."""
    reported = ENTRY.replace("pinned", 'source = "t"\nreported').replace("nDCG@5", "nDCG@10")
    path = expect(clone, reported.format(value=0.505) + reported.format(value=0.4))
    path.write_text(path.read_text().replace("0.00005", "0.001"))
    code, out, _ = touche("regress", "--update", "--junit", clone / "junit.xml")
    near, far = (line.split() for line in out.splitlines()[1:3])
    assert (code, near[2:4], near[5], near[-1]) == (0, ["relevance,", "nDCG@10"], "reported", "passed")
    assert far[5:9] == ["reported", "0.4", "0.50454", "+0.10454"] and far[-3:] == ["not", "as", "reported"]
    assert "reported = 0.4\n" in path.read_text()
    assert 'failures="0"' in (clone / "junit.xml").read_text()


def test_a_score_keeps_its_measure_if_the_card_gets_another_one(
    clone: Path,
) -> None:
    card = clone / "own" / "tasks" / "small-passages.toml"
    card.write_text(card.read_text().replace("nDCG@5", "nDCG@10"))
    expect(clone, ENTRY.format(value=SCORE))
    [outcome] = outcomes()
    assert outcome.verdict == "passed" and round(outcome.got, 5) == SCORE  # type: ignore[arg-type]
    assert outcome.expected.value_name_and_evaluator == ("relevance, nDCG@5", "trec_eval")


def test_a_baseline_that_breaks_down_fails_with_its_last_words(touche: Touche, clone: Path) -> None:
    change(clone, BEGIN, f"raise ValueError('out of luck')\n    {BEGIN}")
    code, out, err = touche("regress")
    assert code == 1
    assert re.search(
        "failed: dirichletlm: exit code 1: .*ValueError: out of luck; .*see its output above", out
    )
    assert "\n      raise ValueError" in err  # and keep their indentation


@pytest.mark.slow
def test_a_baseline_that_is_not_the_same_twice_fails(touche: Touche, clone: Path) -> None:
    assert "both runs of each baseline wrote the same run.txt" in touche("regress", "--twice")[1]
    change(clone, "mu: float = 2000.0", "mu: float = __import__('time').time() % 1000 + 1")
    code, out, _ = touche("regress", "--twice")
    assert code == 1
    assert out.splitlines()[1].endswith("not the same twice")


def test_update_rewrites_pinned_values_only_and_says_what_moved(touche: Touche, clone: Path) -> None:
    published = ENTRY.format(value=0.4).replace("pinned = 0.4", 'published = 0.4\nsource = "t"')
    ranking = RUN.replace("7ecb7394a4c72f75", "")
    path = expect(clone, "# the spot check\n" + ENTRY.format(value=0.4) + published + ranking)
    code, out, err = touche("regress", "--update")
    assert code == 1  # for the published one
    assert [line.split()[-1] for line in out.splitlines()[1:4]] == ["passed", "high", "passed"]
    assert "moved: dirichletlm on small-passages, relevance, trec_eval: 0.4 -> 0.50894 (+0.10894)" in err
    assert path.read_text() == "# the spot check\n" + ENTRY.format(value=SCORE) + published + RUN


def test_update_fails_for_a_pin_that_it_cannot_renew_if_another_one_moved(
    touche: Touche, clone: Path
) -> None:
    missing = ELSEWHERE.replace('source = "table 6"', "").replace("published", "pinned")
    path = expect(clone, ENTRY.format(value=SCORE) + missing)
    code, _, err = touche("regress", "--update")
    line = "not renewed: dirichletlm on touche-2020-task-2, relevance, trec_eval: 0.568 (missing)"
    assert code == 0 and line in err  # nothing moved
    path.write_text(ENTRY.format(value=0.4) + missing)
    code, out, err = touche("regress", "--update")
    assert code == 1 and line in err and "moved: dirichletlm on small-passages" in err
    assert "expected results: 1 passed, 1 not renewed" in out
    assert "not renewed: another pinned value of this baseline moved; " in out
    assert path.read_text() == ENTRY.format(value=SCORE) + missing
    assert touche("regress", "--update")[0] == 0


def test_a_score_without_judged_results_is_not_pinned(clone: Path) -> None:
    path = expect(clone, ENTRY.format(value=SCORE))
    [outcome] = update(outcomes(writing("11 Q0 an-id-of-another-corpus 1 2.5 mine\n")), print)
    assert (outcome.verdict, outcome.got) == ("too low", 0)
    assert outcome.remark.startswith("none of the results is judged")
    assert path.read_text() == ENTRY.format(value=SCORE)


def test_results_for_machines(
    touche: Touche, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    expect(clone, "".join(ENTRY.format(value=value) for value in (0.4, SCORE, SCORE + 0.001)) + ELSEWHERE)
    assert (
        touche("regress", "--format", "json", "-o", tmp_path / "r.json", "--junit", tmp_path / "r.xml")[0]
        == 1
    )
    records = json.loads((tmp_path / "r.json").read_text())
    assert [record["verdict"] for record in records] == ["too high", "passed", "too low", "missing"]
    assert list(records[0])[:6] == ["table", "baseline", "entry", "dataset", "options", "run"]
    assert 0 < records[0]["wall"] < 60 and 30e6 < records[0]["memory"] < 2e9
    assert records[0]["difference"] == pytest.approx(records[0]["got"] - 0.4) and records[3]["got"] is None
    suite = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "2", "1")
    assert [[child.tag for child in case] for case in suite] == [["failure"], [], ["failure"], ["skipped"]]
    assert suite[0][0].get("message") == "too high (expected 0.4, got 0.50894, difference +0.10894)"
    summary = (tmp_path / "summary.md").read_text().splitlines()
    assert summary[2].startswith("| baseline | dataset |")
    assert "| 0.4 | 0.50894 | +0.10894 |" in summary[4] and summary[4].endswith("| too high |")


GOOD = ENTRY.format(value=1)
OF_STANCES = GOOD.replace("small-passages", "spot-check/passages").replace("relevance", "stance")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[score", "broken TOML"),
        ("", "no entries"),
        (GOOD + "[[scores]]", "unknown field `scores`; did you mean score?"),
        (GOOD.replace("pinned", "pined"), "score[1]: Object contains unknown field `pined`; "),
        (ENTRY.format(value="nan"), "score[1].pinned: a number that is not finite"),
        (GOOD + "options = { variant = 2020-01-01 }", "score[1].options.variant: Expected"),
        (GOOD + 'baseline = "bm25"', "score[1].baseline: Expected"),
        (GOOD + "entry = 1", "score[1].entry: Expected"),
        (RUN + 'run = "a.run"', "run[1].run: Expected"),
        (GOOD + "published = 1", "exactly one value: published, reported or pinned"),
        (GOOD.replace("small-p", "smal-p"), "dataset 'smal-passages' is not known"),
        (GOOD.replace("-passages-", "-arguments-"), "dimension and qrels do not belong to"),
        (GOOD.replace("nDCG@5", "mean"), "measure 'mean' is not known; "),
        (GOOD.replace("trec_eval", "touche").replace("nDCG@5", "AP"), "touche does not have AP"),
        (OF_STANCES.replace("nDCG", "P"), "P@5 does not score stance"),
        (GOOD.replace("measure", "# "), 'score[1]: measure is missing; add the line: measure = "nDCG@5"'),
        (ELSEWHERE.replace("source", "# source"), "a published value has no source"),
        (ELSEWHERE + 'run = "../a.run"', "score[1].run: this name leads out"),
        (OFFICIAL.replace("a.run", "b/../../a"), "official[1].run: this name leads out"),
        (OFFICIAL + "pinned = 1.0", "official[1]: Object contains unknown field `pinned`"),
    ],
)
def test_an_unusable_entry_is_named(write: Write, text: str, message: str) -> None:
    path = write("mine/expected.toml", text)
    write("mine/baseline.py", "")
    with pytest.raises(InputError) as caught:
        read_expected(str(path.parent))
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)
    assert "; " in str(caught.value)


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        *(
            (f'{name} = "x"', f"score[2]: '{name}' is not an option of the baseline, but of touche run")
            for name in (*OPTIONS_OF_RUN, "keep_statistics", "no-quiet", "time_limit")
        ),
        ('"stop_words=x" = "x"', "score[2]: 'stop_words=x' is not an option of the baseline, but of touche"),
        ('loud = "--keep-statistics=x"', "score[2]: loud = '--keep-statistics=x' looks like another option"),
        ('pair = ["a", "b", "-ox"]', "score[2]: pair = '-ox' looks like another option; write no -"),
    ],
)
def test_an_entry_sets_no_option_of_the_command_and_no_code_runs_to_know_this(
    write: Write, option: str, problem: str
) -> None:
    own = 'options = { depth = 5, pair = ["-", "b"], loud = true, stop-words = "a" }\n'
    file = write("mine/expected.toml", GOOD + own)
    write("mine/baseline.py", 'raise SystemExit("was run")')
    read_expected(str(file.parent))
    write("mine/expected.toml", GOOD + own + GOOD + f"options = {{ {option} }}\n")
    with pytest.raises(InputError) as caught:
        read_expected(str(file.parent))
    assert str(caught.value).startswith(f"{file}: {problem}")


def test_the_options_that_an_entry_cannot_set_are_all_those_of_the_command() -> None:
    """Of the options with several names, entries are words of the command, so each name counts."""
    group = Command("run", params=[*_COMMON_OPTIONS])
    params = group.get_params(click.Context(group))
    names = {name.lstrip("-") for param in params for name in (*param.opts, *param.secondary_opts)}
    assert names <= {*OPTIONS_OF_RUN}


def test_an_unknown_dataset_is_an_error_whatever_datasets_are_chosen(write: Write) -> None:
    path = write("mine/expected.toml", GOOD + GOOD.replace("small-p", "smal-p"))
    write("mine/baseline.py", "")
    with pytest.raises(InputError, match="dataset 'smal-passages' is not known"):
        read_expected(str(path.parent), ["small-passages"])


def test_unusable_arguments_are_named_and_nothing_checked_is_no_success(touche: Touche, clone: Path) -> None:
    other = another(clone, "../other", ELSEWHERE)
    code, out, _ = touche("regress", other, "dirichletlm", "--dataset", "small-passages")
    assert code == 0 and out.endswith("expected results: 1 nothing expected, 1 passed\n")
    for arguments, message in (
        (["--dataset", "touche"], "there is no dataset 'touche'"),
        (["bm52"], "there is no baseline 'bm52'"),
        ([other, "--dataset", "small-passages"], "expected.toml has no entry for these"),
        (
            ["--dataset", "touche-2020-task-2"],
            "all datasets are missing; its publisher requires an agreement",
        ),
        (
            ["--format", "json", "-o", clone / "nowhere" / "r.json"],
            f"{clone}/nowhere is not a directory; create it",
        ),
    ):
        code, _, err = touche("regress", *arguments)
        assert code == 2 and message in err
    (clone / "baselines" / "dirichletlm" / "expected.toml").unlink()
    assert "expected.toml: no such file; write entries as in docs/reference/files.md" in touche("regress")[1]


def test_each_option_has_a_run_and_each_dimension_its_judgments(
    clone: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With mu = 1 the relevant document is first; broken qrels only affect scores of their dimension."""
    write("data/corpora/touche-2022-task-2-sample/passages.jsonl", "{}")
    topic = "<topic><number>2</number><title>cats</title></topic>"
    topics = write("data/topics/touche-2022-task-2.xml", f"<topics>{topic}</topics>")
    write("data/qrels/touche-task2-2022-quality.qrels", "2 0 a 0\n2 0 b 2\n")
    broken = write("data/qrels/touche-task2-2022-relevance.qrels", "2 0 a\n")
    monkeypatch.setenv("TOUCHE_DATA", str(topics.parents[1]))
    relevance = ENTRY.format(value=0.5).replace("small-passages", "touche-2022-task-2/sample")
    relevance = relevance.replace("spot-check-passages", "touche-task2-2022")
    entries = [f"{relevance.replace('relevance', 'quality')}options = {{ mu = {mu} }}\n" for mu in (1, 2)]
    expect(clone, "".join([*entries, relevance]))
    started: list[str] = []

    def rank(job: Job, limits: Limits, log: Log) -> Usage:
        started.append(" ".join([job.baseline, *job.arguments]))
        first, second = "ba" if job.arguments == ["--mu", "1"] else "ab"
        return writing(f"2 Q0 {first} 1 2 t\n2 Q0 {second} 2 1 t\n")(job, limits, log)

    one, two, three = outcomes(rank)
    assert [one.got, two.got] == pytest.approx([1, 1 / log2(3)])
    assert (three.verdict, three.got) == ("failed", None) and str(broken) in three.remark
    assert started == ["dirichletlm --mu 1", "dirichletlm --mu 2", "dirichletlm"]
    topics.unlink()
    assert [outcome.verdict for outcome in outcomes(rank)] == 3 * ["missing"] and len(started) == 3


LINES = "1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n2 Q0 a 1 1.0 t\n"


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [(" t\n", " u\n", True), ("2.0", "3.0", True), ("Q0 b", "Q0 c", False), ("2 Q0", "3 Q0", False)],
)
def test_a_digest_is_of_topics_ranks_and_documents(write: Write, old: str, new: str, same: bool) -> None:
    first = write("a.txt", LINES)
    second = write("run.txt", LINES.replace(old, new))
    (script,) = re.findall("``(awk .*)``", ranking_digest.__doc__ or "")
    printed = subprocess.run(script, shell=True, cwd=second.parent, capture_output=True, text=True).stdout
    assert (ranking_digest(read_run(first)) == printed) == same and printed == ranking_digest(
        read_run(second)
    )


def test_a_baseline_with_a_broken_file_is_a_row_and_the_others_go_on(touche: Touche, clone: Path) -> None:
    path = another(clone, "afar", "[[score") / "expected.toml"
    code, out, _ = touche("regress", "--dataset", "small-passages")
    assert code == 1
    first, second = out.splitlines()[1:3]
    assert first.startswith("afar ") and f"failed: {path}: broken TOML" in first
    assert second.startswith("dirichletlm ") and second.endswith(" passed")


ranks = writing("11 Q0 spotcheck-001c9609___5 1 1 t\n")


def test_whatever_a_run_breaks_with_is_its_outcome_in_valid_junit_and_the_others_go_on(
    touche: Touche, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def runner(job: Job, limits: Limits, log: Log) -> Usage:
        if job.arguments:
            raise ZeroDivisionError("a\x1b[31m\0b\ufffe\udcff\nc")
        return ranks(job, limits, log)

    monkeypatch.setitem(RUNNERS, "local", runner)  # type: ignore[index]
    expect(clone, ENTRY.format(value=0) + "options = { mu = 1 }\n" + ENTRY.format(value=0) + ELSEWHERE)
    assert touche("regress", "dirichletlm", "--junit", tmp_path / "r.xml")[0] == 1
    broken, high, missing = ElementTree.parse(tmp_path / "r.xml").iterfind(".//testcase/*")
    assert r"ZeroDivisionError: a\x1b[31m\x00b\ufffe\udcff c" in broken.get("message", "")
    assert high.get("message", "").startswith("too high") and missing.tag == "skipped"


def test_a_ranking_is_checked_where_a_score_cannot_be(clone: Path) -> None:
    expect(clone, ENTRY.format(value=0) + RUN)
    score, ranking = outcomes(writing("77 Q0 a 1 1 t\n"))
    assert (score.verdict, score.got, ranking.verdict) == ("failed", None, "changed")
    assert "no topic of the run" in score.remark


def test_results_and_rows_of_the_log_outlive_a_break(
    touche: Touche, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the second run never ends, results of the first remain."""
    another(clone, "later", ENTRY.format(value=0))

    def runner(job: Job, limits: Limits, log: Log) -> Usage:
        if job.baseline == "later":
            raise KeyboardInterrupt
        return ranks(job, limits, log)

    monkeypatch.setitem(RUNNERS, "local", runner)
    files = ("-o", tmp_path / "r.json", "--record", tmp_path / "log.csv")
    assert touche("regress", "--format", "json", *files, "--by", "Ada")[0] == 130
    records = json.loads((tmp_path / "r.json").read_text())
    assert [record["verdict"] for record in records] == ["too low", "missing"]
    assert [row.verdict for row in read_log(tmp_path / "log.csv")] == ["too low"]


def test_what_cannot_be_rewritten_fails_and_what_is_unsure_is_never_pinned(clone: Path) -> None:
    expected = read_expected("dirichletlm")[0]
    unsure = Outcome(expected, "not the same twice", 0.5, 1.0)
    assert update([unsure], print) == [unsure] and read_expected("dirichletlm")[0] == expected
    (clone / "baselines" / "dirichletlm" / "expected.toml").unlink()
    (outcome,) = update([Outcome(expected, "too low", 0.5, 1.0)], print)
    assert outcome.verdict == "failed" and "No such file" in outcome.remark


TOPICS = """
# Every topic of 2021.
[[topics]]
dataset = "touche-2021-task-1"
dimensions = ["relevance"]
measure = "nDCG@5"
tag = "dirichlet_multi_field"
"""
COMMENTED = ENTRY.format(value="0.1#pinned = 0.1").replace("[[score]]", "[[ 'score' ]]  # [[score]]")


def test_update_changes_one_line_and_no_other_byte(clone: Path) -> None:
    before = f"\ufeff# pinned = 0.1\n{ELSEWHERE}{TOPICS}{COMMENTED}\t# last".replace("\n", "\r\n").encode()
    path = clone / "baselines" / "dirichletlm" / "expected.toml"
    path.write_bytes(before)
    entry = read_expected("dirichletlm")[1]
    (after,) = update([Outcome(entry, "too high", 0.5, 1.0)], print)
    assert after.verdict == "passed"
    assert path.read_bytes() == before.replace(b"\npinned = 0.1", b"\npinned = 0.5")


def test_update_finds_the_entry_in_a_file_that_has_changed_since(clone: Path) -> None:
    path = expect(clone, ENTRY.format(value=0.1) + RUN)
    outcomes = [
        Outcome(entry, "changed", got, 1.0)
        for entry, got in zip(read_expected("dirichletlm"), (0.5, "0f"), strict=True)
    ]
    digest = RUN.replace("7ecb7394a4c72f75", "0f")
    added = TOPICS + ELSEWHERE.replace("measure", "# measure") + ENTRY.format(value=0.2)
    expect(clone, added + RUN + ENTRY.format(value=0.1))
    assert [after.verdict for after in update(outcomes, print)] == ["passed", "passed"]
    assert path.read_text() == added + digest + ENTRY.format(value=0.5)
    expect(clone, TOPICS)
    (gone, _) = update(outcomes, print)
    assert gone.verdict == "failed" and "the entry for small-passages has changed since" in gone.remark
    assert path.read_text() == TOPICS
