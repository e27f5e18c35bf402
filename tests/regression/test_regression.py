import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from math import log2
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from xml.etree import ElementTree

import pytest

from conftest import ROOT, Touche, Write, use_clone
from touche import baselines, tasks
from touche.cli.run import command_of as click_command_of
from touche.errors import InputError
from touche.formats.runs import RunLine, read_run
from touche.regression.expected import ExpectedRun, ExpectedScore, digest_of, read_expected
from touche.regression.reruns import command_of, is_of, published_scores, rerun_of
from touche.regression.running import Outcome, regress, update
from touche.sandbox.limits import Limits
from touche.sandbox.programs import Log
from touche.sandbox.runs import RUNNERS, Job, Runner, Usage, run_locally

ENTRY = """
[[score]]
dataset = "spot-check/passages"
dimension = "relevance"
evaluator = "trec_eval"
qrels = "spot-check-passages-relevance.qrels"
pinned = {value}
tolerance = 0.00005
"""
FIGURE = """
[[figure]]
dataset = "spot-check/pairs"
name = "pairs per topic"
pinned = 1000
tolerance = 0.1
"""
RUN = """
[[run]]
dataset = "spot-check/passages"
digest = "7ecb7394a4c72f75"
"""
OFFICIAL = """
[[official]]
dataset = "spot-check/passages"
run = "a.tsv"
model = "LMDirichlet"
analysis = "standard"
fields = ["text"]
parameters = { mu = 2000 }
median = 0.00001
pinned = 1.0
tolerance = 0.001
"""
ELSEWHERE = """
[[score]]
dataset = "touche-2020-task-2"
dimension = "relevance"
evaluator = "trec_eval"
qrels = "touche2020-task2-relevance-withbaseline.qrels"
published = 0.568
tolerance = 0.01
source = "table 6"
"""
SCORE = 0.50894


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one baseline, dirichletlm, that is expected to score what it does."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "baselines" / "dirichletlm", folder / "baselines" / "dirichletlm")
    for kind in ("topics", "qrels", "corpora"):
        (folder / kind).symlink_to(ROOT / kind)
    (folder / "baselines" / "dirichletlm" / "expected.toml").write_text(ENTRY.format(value=SCORE) + ELSEWHERE)
    use_clone(folder, monkeypatch)
    return folder


BEGIN = 'check_range("mu"'  # of what dirichletlm does


def writing(text: str) -> Runner:
    """A runner that writes this run."""

    def run(job: Job, limits: Limits, log: Log) -> Usage:
        job.output.mkdir()
        (job.output / "run.txt").write_text(text)
        return Usage(1.0)

    return run


def outcomes(runner: Runner = run_locally) -> list[Outcome]:
    """What becomes of the entries of the clone's baseline."""
    return list(regress(read_expected("dirichletlm"), runner, Limits(), print))


def change(clone: Path, old: str, new: str) -> None:
    path = clone / "baselines" / "dirichletlm" / "baseline.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def expect(clone: Path, text: str) -> Path:
    path = clone / "baselines" / "dirichletlm" / "expected.toml"
    path.write_text(text)
    return path


def test_a_baseline_that_is_as_it_was_passes(touche: Touche, clone: Path) -> None:
    code, out, err = touche("regress")
    lines = out.splitlines()
    assert (code, err.splitlines()[0]) == (0, "dirichletlm on spot-check/passages")
    assert err.splitlines()[1].startswith("  dirichletlm: 4 topics from ")
    assert (
        lines[0].split()
        == "baseline dataset dimension evaluator kind expected got difference wall CPU memory verdict".split()
    )
    assert lines[1].split()[5:8] == ["0.50894", "0.50894", "+0.00000"] and lines[1].endswith(" passed")
    missing = "not at hand: touche-2020-task-2"
    assert lines[2:] == ["", missing, "1 passed, 1 not at hand; memory: largest process"]


def test_a_score_that_changes_fails_in_both_directions(touche: Touche, clone: Path) -> None:
    expect(clone, ENTRY.format(value=SCORE - 0.001) + ENTRY.format(value=SCORE + 0.001))
    code, out, _ = touche("regress", "dirichletlm")
    high, low = out.splitlines()[1:3]
    assert code == 1 and "+0.00100" in high and high.endswith("too high")
    assert "-0.00100" in low and low.endswith("too low")


def test_what_another_implementation_scores_is_held_beside_and_fails_nothing(
    touche: Touche, clone: Path
) -> None:
    """By its own measure: by nDCG@10 the baseline scores 0.50454 there, and by nDCG@5 0.50894."""
    reported = ENTRY.replace("pinned", 'source = "t"\nmeasure = "nDCG@10"\nreported')
    path = expect(clone, reported.format(value=0.505) + reported.format(value=0.4))
    path.write_text(path.read_text().replace("0.00005", "0.001"))
    code, out, _ = touche("regress", "--update", "--junit", clone / "junit.xml")
    near, far = (line.split() for line in out.splitlines()[1:3])
    assert (code, near[2:4], near[5], near[-1]) == (0, ["relevance,", "nDCG@10"], "reported", "passed")
    assert far[5:9] == ["reported", "0.4", "0.50454", "+0.10454"] and far[-3:] == ["not", "as", "reported"]
    assert "reported = 0.4\n" in path.read_text()
    assert 'failures="0"' in (clone / "junit.xml").read_text()


def test_a_baseline_that_breaks_down_fails_with_its_last_words(touche: Touche, clone: Path) -> None:
    change(clone, BEGIN, f"raise ValueError('out of luck')\n    {BEGIN}")
    code, out, err = touche("regress")
    assert code == 1
    assert re.search(
        "failed: dirichletlm: exit code 1: .*ValueError: out of luck; .*see the lines above", out
    )
    assert "  raise ValueError" in err


@pytest.mark.slow
def test_a_baseline_that_is_not_the_same_twice_fails(touche: Touche, clone: Path) -> None:
    assert touche("regress", "--twice")[1].endswith("\nevery run.txt was the same twice, byte by byte\n")
    change(clone, "mu: float = 2000.0", "mu: float = __import__('time').time() % 1000 + 1")
    code, out, _ = touche("regress", "--twice")
    assert code == 1
    assert out.splitlines()[1].endswith("not the same twice")


def test_update_rewrites_pinned_values_only_and_says_what_moved(touche: Touche, clone: Path) -> None:
    published = ENTRY.format(value=0.4).replace("pinned = 0.4", 'published = 0.4\nsource = "t"')
    path = expect(clone, "# the spot check\n" + ENTRY.format(value=0.4) + published)
    code, out, err = touche("regress", "--update")
    assert code == 1  # for the published one
    assert [line.split()[-1] for line in out.splitlines()[1:3]] == ["passed", "high"]
    assert "moved: dirichletlm on spot-check/passages, relevance, trec_eval: 0.4 -> 0.50894 (+0.10894)" in err
    assert path.read_text() == "# the spot check\n" + ENTRY.format(value=SCORE) + published


def test_results_are_written_for_machines(
    touche: Touche, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    expect(clone, ENTRY.format(value=0.4) + ENTRY.format(value=SCORE) + ELSEWHERE)
    assert touche("regress", "--json", tmp_path / "r.json", "--junit", tmp_path / "r.xml")[0] == 1
    records = json.loads((tmp_path / "r.json").read_text())
    assert [record["verdict"] for record in records] == ["too high", "passed", "not at hand"]
    assert 0 < records[0]["wall"] < 60 and 0 < records[0]["cpu"] < 60
    assert 30e6 < records[0]["memory"] < 2e9
    assert records[0]["difference"] == pytest.approx(records[0]["got"] - 0.4)
    assert records[2]["got"] is None
    suite = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert [[child.tag for child in case] for case in suite] == [["failure"], [], ["skipped"]]
    assert suite[0][0].get("message") == "too high (expected 0.4, got 0.50894, difference +0.10894)"
    summary = (tmp_path / "summary.md").read_text().splitlines()
    assert summary[2].startswith("| baseline | dataset |")
    assert "| 0.4 | 0.50894 | +0.10894 |" in summary[4] and summary[4].endswith("| too high |")


def test_a_baseline_of_which_nothing_is_expected_has_a_row(touche: Touche, clone: Path) -> None:
    shutil.copytree(clone / "baselines" / "dirichletlm", clone / "other")
    (clone / "other" / "expected.toml").write_text(ELSEWHERE)
    code, out, _ = touche("regress", "./other", "dirichletlm", "--dataset", "spot-check/passages")
    assert code == 0 and out.endswith("1 nothing expected, 1 passed; memory: largest process\n")
    assert re.search(r"^\./other .*nothing expected: .* for spot-check/passages$", out, re.MULTILINE)
    code, _, err = touche("regress", "./other", "--dataset", "spot-check/passages")
    assert code == 2 and "nothing is expected" in err


def test_nothing_at_hand_is_not_a_success(touche: Touche, clone: Path) -> None:
    code, out, err = touche("regress", "--dataset", "touche-2020-task-2")
    assert code == 2
    assert "1 not at hand" in out
    assert "no dataset is at hand; it is handed out by agreement only; apply at https://" in err


GOOD = ENTRY.format(value=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[score", "broken TOML"),
        ("", "no entry"),
        ('score = ["a"]', "score[1]: Expected `object`, got `str`"),
        (GOOD + "[[scores]]", "unknown field `scores`; did you mean score?"),
        (
            GOOD.replace("pinned", "pined"),
            "score[1]: Object contains unknown field `pined`; ",
        ),
        (ENTRY.format(value="nan"), "score[1].pinned: a number that is not finite"),
        (ENTRY.format(value=1.5), "score[1].pinned: Expected"),
        (GOOD + "options = { k1 = [] }", "score[1].options[...]: Expected"),
        (GOOD + "options = { k1 = [1, nan] }", "options.k1[2]: a number that is not finite"),
        (GOOD + "options = { variant = 2020-01-01 }", "score[1].options[...]: Expected"),
        (GOOD + f"options = {{ depth = 0x{'f' * 4000} }}", "options.depth: a number that is not finite"),
        (GOOD + "published = 1", "neither a published, a reported nor a pinned value alone"),
        (
            GOOD.replace("spot-check/p", "spotcheck/p"),
            "dataset 'spotcheck/passages' is not known",
        ),
        (
            GOOD.replace("-passages-", "-arguments-"),
            "dimension and qrels are not those of",
        ),
        (GOOD + 'measure = "map"', "measure 'map' is not known; "),
        (GOOD.replace("trec_eval", "touche") + 'measure = "AP"', "touche does not have AP"),
        (ELSEWHERE.replace("source", "# source"), "a published value without a source"),
        (ELSEWHERE + 'run = "../a.run"', "score[1].run: this name leads elsewhere"),
        (FIGURE.replace("/pairs", "/passages"), "figure[1]: dataset 'spot-check/passages' has no pairs"),
        (FIGURE.replace("1000", "1001"), "figure[1].pinned: Expected `float` <= 1000.0"),
        (OFFICIAL.replace("a.tsv", "b/../../a"), "official[1].run: this name leads elsewhere"),
        (OFFICIAL.replace('["text"]', '["a", "b"]'), "official[1]: fields and combination do not fit"),
        (OFFICIAL + 'combination = "sum"', "official[1]: fields and combination do not fit"),
        (OFFICIAL.replace("mu = 2000", ""), "official[1].parameters: Expected `object` of length >= 1"),
    ],
)
def test_an_unusable_entry_is_named(write: Write, text: str, message: str) -> None:
    path = write("mine/expected.toml", text)
    write("mine/baseline.py", "")
    with pytest.raises(InputError) as caught:
        read_expected(str(path.parent))
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)
    assert "; " in str(caught.value)


def test_unusable_arguments_are_named(touche: Touche, clone: Path) -> None:
    assert "there is no dataset 'touche'" in touche("regress", "--dataset", "touche")[2]
    assert "there is no baseline 'bm52'" in touche("regress", "bm52")[2]
    assert "nothing is expected of these" in touche("regress", "--dataset", "touche-2021-task-2")[2]
    (clone / "baselines" / "dirichletlm" / "expected.toml").unlink()
    message = "failed: {}: cannot be read (No such file or directory)"
    assert message.format(clone / "baselines" / "dirichletlm" / "expected.toml") in touche("regress")[1]


QUALITY = """
[[score]]
dataset = "touche-2022-task-2/sample"
dimension = "quality"
evaluator = "trec_eval"
qrels = "touche-task2-2022-quality.qrels"
pinned = 0.5
tolerance = 0.01
options = {{ mu = {mu} }}
"""


@pytest.fixture
def sample(write: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for TOUCHE_DATA, with topics and corpus of a sample."""
    write("data/corpora/touche-2022-task-2-sample/passages.jsonl", "{}")
    topic = "<topic><number>2</number><title>cats</title></topic>"
    topics = write("data/topics/touche-2022-task-2.xml", f"<topics>{topic}</topics>")
    monkeypatch.setenv("TOUCHE_DATA", str(topics.parents[1]))
    return topics.parents[1]


def test_each_option_has_a_run_and_each_dimension_its_judgments(
    clone: Path, write: Write, sample: Path
) -> None:
    """In relevance nothing is relevant; with mu = 1 the document that is relevant in quality comes first."""
    for dimension, label in (("relevance", 0), ("quality", 2)):
        write(f"data/qrels/touche-task2-2022-{dimension}.qrels", f"2 0 a 0\n2 0 b {label}\n")
    expect(clone, QUALITY.format(mu=1) + QUALITY.format(mu=2))
    started: list[str] = []

    def rank(job: Job, limits: Limits, log: Log) -> Usage:
        started.append(" ".join([job.baseline, *job.arguments]))
        first, second = "ba" if job.arguments[1] == "1" else "ab"
        return writing(f"2 Q0 {first} 1 2 t\n2 Q0 {second} 2 1 t\n")(job, limits, log)

    assert [each.got for each in outcomes(rank)] == pytest.approx([1, 1 / log2(3)])
    assert started == ["dirichletlm --mu 1", "dirichletlm --mu 2"]
    (sample / "topics" / "touche-2022-task-2.xml").unlink()
    assert [each.verdict for each in outcomes(rank)] == 2 * ["not at hand"] and len(started) == 2


def test_unusable_judgments_fail_the_scores_of_their_own_dimension_only(
    clone: Path, write: Write, sample: Path
) -> None:
    broken = write("data/qrels/touche-task2-2022-relevance.qrels", "2 0 a\n")
    write("data/qrels/touche-task2-2022-quality.qrels", "2 0 a 1\n")
    quality = QUALITY.format(mu=1)
    expect(clone, quality + quality.replace("quality", "relevance"))
    of_quality, of_relevance = outcomes(writing("2 Q0 a 1 1 t\n"))
    assert (of_quality.verdict, of_quality.got) == ("too high", 1.0)
    assert (of_relevance.verdict, of_relevance.got) == ("failed", None)
    assert str(broken) in of_relevance.remark


def test_a_message_with_control_characters_is_valid_junit(
    touche: Touche, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(job: Job, limits: Limits, log: Log) -> Usage:
        raise ValueError("a\x1b[31m\0b\ufffe\udcff")

    monkeypatch.setitem(RUNNERS, "local", fail)  # type: ignore[index]
    assert touche("regress", "dirichletlm", "--junit", tmp_path / "r.xml")[0] == 1
    message = ElementTree.parse(tmp_path / "r.xml").findall(".//failure")[0].get("message") or ""
    assert r"ValueError: a\x1b[31m\x00b\ufffe\udcff" in message


def test_what_a_baseline_writes_on_its_way_is_gone_when_it_is_done(clone: Path) -> None:
    change(clone, BEGIN, f"import tempfile\n    tempfile.mkdtemp(prefix='left-behind-')\n    {BEGIN}")
    assert outcomes()[0].verdict == "passed"
    assert not list(Path(gettempdir()).glob("left-behind-*"))


def test_results_that_cannot_be_written_are_known_before_anything_runs(touche: Touche, clone: Path) -> None:
    code, out, err = touche("regress", "--json", clone / "nowhere" / "r.json")
    assert (code, out) == (2, "")
    assert err == f"touche: {clone}/nowhere is no directory; make it, or write to another place\n"


def test_an_option_of_several_values_can_be_pinned(touche: Touche, clone: Path) -> None:
    change(clone, "mu: float = 2000.0", "mus: tuple[float, float] = (1.0, 2.0)")
    change(clone, BEGIN, f"mu = sum(mus)\n    {BEGIN}")
    expect(clone, ENTRY.format(value=SCORE) + "options = { mus = [500, 1500.0] }")
    code, out, _ = touche("regress", "--json", clone / "r.json")
    assert code == 0 and out.splitlines()[1].startswith("dirichletlm --mus 500 1500.0 ")
    assert json.loads((clone / "r.json").read_text())[0]["options"] == {"mus": [500, 1500.0]}


def test_a_ranking_that_changes_is_seen_where_the_score_is_not(touche: Touche, clone: Path) -> None:
    """BM25 with another k1 has the same mean on the spot check."""
    bm25 = clone / "baselines" / "bm25"
    shutil.copytree(ROOT / "baselines" / "bm25", bm25)
    path = bm25 / "baseline.py"
    path.write_text(path.read_text().replace("k1: float = 0.9", "k1: float = 0.95"))
    code, out, _ = touche("regress", "bm25", "--dataset", "spot-check/passages")
    assert code == 1
    score, ranking = out.splitlines()[1:3]
    assert score.endswith(" passed") and ranking.endswith(" changed")
    assert touche("regress", "bm25", "--dataset", "spot-check/passages", "--update")[0] == 0
    assert touche("regress", "bm25", "--dataset", "spot-check/passages")[1].endswith(
        "2 passed; memory: largest process\n"
    )


LINES = "1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n2 Q0 a 1 1.0 t\n"


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [(" t\n", " u\n", True), ("2.0", "3.0", True), ("Q0 b", "Q0 c", False), ("2 Q0", "3 Q0", False)],
)
def test_a_digest_is_of_topics_ranks_and_documents(write: Write, old: str, new: str, same: bool) -> None:
    first, second = write("a.txt", LINES), write("b.txt", LINES.replace(old, new))
    assert (digest_of(read_run(first)) == digest_of(read_run(second))) == same


def test_a_digest_can_be_made_in_the_shell(write: Write) -> None:
    (script,) = re.findall("``(awk .*)``", digest_of.__doc__ or "")
    path = write("run.txt", LINES)
    told = subprocess.run(script, shell=True, cwd=path.parent, capture_output=True, text=True, check=True)
    assert told.stdout == digest_of(read_run(path))


def another(clone: Path, name: str, expected: str) -> Path:
    """One more baseline, a copy of the first one."""
    folder = clone / "baselines" / name
    shutil.copytree(clone / "baselines" / "dirichletlm", folder)
    (folder / "expected.toml").write_text(expected)
    return folder


def test_a_baseline_with_a_broken_file_is_a_row_and_the_others_go_on(touche: Touche, clone: Path) -> None:
    path = another(clone, "afar", "[[score") / "expected.toml"
    code, out, _ = touche("regress", "--dataset", "spot-check/passages")
    assert code == 1
    first, second = out.splitlines()[1:3]
    assert first.startswith("afar ") and f"failed: {path}: broken TOML" in first
    assert second.startswith("dirichletlm ") and second.endswith(" passed")


ranks = writing("11 Q0 spotcheck-001c9609___5 1 1 t\n")


def test_whatever_a_run_breaks_with_is_its_outcome_and_the_others_go_on(clone: Path) -> None:
    def runner(job: Job, limits: Limits, log: Log) -> Usage:
        if job.arguments:
            raise ZeroDivisionError("division\nby zero")
        return ranks(job, limits, log)

    expect(clone, ENTRY.format(value=0) + "options = { mu = 1 }\n" + ENTRY.format(value=0) + ELSEWHERE)
    found = outcomes(runner)
    assert [each.verdict for each in found] == ["failed", "too high", "not at hand"]
    assert found[0].remark == "ZeroDivisionError: division by zero"


def test_a_ranking_is_checked_where_a_score_cannot_be(clone: Path) -> None:
    expect(clone, ENTRY.format(value=0) + RUN)
    score, ranking = outcomes(writing("77 Q0 a 1 1 t\n"))
    assert (score.verdict, score.got, ranking.verdict) == ("failed", None, "changed")
    assert "no topic in common" in score.remark


def test_results_are_written_as_they_are_known(
    touche: Touche, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run that never ends has not cost what is known of the first."""
    another(clone, "later", ENTRY.format(value=0))

    def runner(job: Job, limits: Limits, log: Log) -> Usage:
        if job.baseline == "later":
            raise KeyboardInterrupt
        return ranks(job, limits, log)

    monkeypatch.setitem(RUNNERS, "local", runner)
    assert touche("regress", "--json", tmp_path / "r.json")[0] == 130
    records = json.loads((tmp_path / "r.json").read_text())
    assert [record["verdict"] for record in records] == ["too low", "not at hand"]


def test_a_child_of_a_baseline_that_holds_its_output_prolongs_nothing(clone: Path) -> None:
    fork = "import os, time\n    if not os.fork():\n        time.sleep(600)\n"
    change(clone, BEGIN, f"{fork}    {BEGIN}")
    outcome = outcomes()[0]
    assert outcome.verdict == "passed" and outcome.usage and outcome.usage.wall < 300


@pytest.mark.slow
def test_a_regression_that_is_killed_takes_its_run_along_and_the_next_one_tidies_up(
    clone: Path, tmp_path: Path
) -> None:
    waits = "import time\n    print('begun', flush=True)\n    time.sleep(600)\n"
    change(clone, BEGIN, f"{waits}    {BEGIN}")
    temporary = tmp_path / "cache" / "touche" / "temporary"
    command = [sys.executable, "-m", "touche", "regress", "dirichletlm", "--dataset", "spot-check/passages"]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": ""}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as killed:
        assert killed.stderr and "  begun\n" in iter(killed.stderr.readline, "")
        started = [pid for pid in processes_in(temporary) if pid != killed.pid]
        killed.kill()
    assert started and list(temporary.glob("touche-*"))
    try:
        assert ended(temporary)
    finally:
        for pid in processes_in(temporary):
            os.kill(pid, 9)
    change(clone, "time.sleep(600)", "pass")
    assert subprocess.run(command, capture_output=True, env=environment).returncode == 0
    assert list(temporary.iterdir()) == []


@pytest.mark.nightly
def test_runs_and_regressions_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    """In one folder, with one cache."""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": ""}
    dataset, command = "spot-check/passages", [sys.executable, "-m", "touche"]
    outputs = [tmp_path / f"out{number}" for number in range(8)]
    runs = [[*command, "run", "bm25", "-i", dataset, "-o", str(output)] for output in outputs]
    regressions = [[*command, "regress", "bm25", "--dataset", dataset]] * 8
    started = [
        subprocess.Popen(each, stdout=subprocess.DEVNULL, env=environment) for each in (*runs, *regressions)
    ]
    assert [each.wait() for each in started] == [0] * 16
    assert len({(output / "run.txt").read_bytes() for output in outputs}) == 1
    assert not [*(tmp_path / "cache" / "touche" / "temporary").iterdir()]


def processes_in(temporary: Path) -> list[int]:
    """The processes, whosever children they are, whose private folder this is."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            zombie = (each / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            if (
                not zombie
                and f"XDG_CACHE_HOME={temporary.parents[1]}".encode() in (each / "environ").read_bytes()
            ):
                found.append(int(each.name))
    return found


def ended(temporary: Path) -> bool:
    """Whether they are gone in a while, as a signal takes one to arrive."""
    deadline = time.monotonic() + 30
    while processes_in(temporary) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes_in(temporary)


def test_what_cannot_be_rewritten_is_the_outcome_and_what_is_unsure_is_never_pinned(
    clone: Path,
) -> None:
    expected = read_expected("dirichletlm")[0]
    unsure = Outcome(expected, "not the same twice", 0.5, 1.0)
    assert update([unsure]) == [unsure] and read_expected("dirichletlm")[0] == expected
    (clone / "baselines" / "dirichletlm" / "expected.toml").unlink()
    (outcome,) = update([Outcome(expected, "too low", 0.5, 1.0)])
    assert outcome.verdict == "failed" and "No such file" in outcome.remark


def test_a_report_shows_what_was_evaluated_and_reads_no_run_again(
    touche: Touche, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def counting(path: Path) -> list[RunLine]:
        read.append(path)
        return read_run(path)

    for module in [each for name, each in sys.modules.items() if name.startswith("touche.")]:
        if getattr(module, "read_run", None) is read_run and module.__name__ != "touche.formats.runs":
            monkeypatch.setattr(module, "read_run", counting)
    expect(clone, ENTRY.format(value=0) + "options = { mu = 1 }\n" + ENTRY.format(value=0) + RUN)
    touche("regress", "--report", tmp_path / "out")
    assert [path.name for path in read] == ["dirichletlm-mu-1.txt", "dirichletlm.txt"]
    pages = "".join(path.read_text() for path in (tmp_path / "out").glob("*.html"))
    assert all(f"{path.parent.name}/{path.name}" in pages for path in read) and "7ecb7394a4c72f75" in pages


def test_every_baseline_is_pinned_on_all_samples() -> None:
    everything = [each for name in baselines.names() for each in read_expected(name)]
    samples = [name for name in tasks.datasets() if name.startswith("spot-check") or name.endswith("/sample")]
    with_pairs = [name for name in samples if tasks.task(name).rules.unit == tasks.PAIR]
    for name in baselines.names():
        pinned = {each.dataset for each in everything if each.baseline == name and each.kind == "pinned"}
        ranks_pairs = {"spot-check/pairs", "touche-2022-task-1/sample"} <= pinned
        assert ranks_pairs == (name in ("argsrank", "dirichletlm-pairs", "sentence-coherence"))
        if name == "chatnoir-bm25f":
            assert pinned >= {"spot-check/pages", "spot-check/passages", "touche-2022-task-2/sample"}
        elif name in ("argsme", "prince-of-persia"):
            assert pinned >= {each for each in samples if tasks.task(each).rules.unit == "argument"}
        elif not ranks_pairs:
            assert pinned >= {*samples} - {*with_pairs}
        scored = {(each.dataset, each.command) for each in everything if each.baseline == name}
        digests = [each for each in everything if isinstance(each, ExpectedRun) and each.baseline == name]
        ranked = sorted((each.dataset, each.command) for each in digests)
        assert ranked == sorted(each for each in scored if each[0].startswith("spot-check"))


def test_every_published_score_is_of_one_row_of_its_task() -> None:
    """And every row of a baseline of the organizers until 2022 can be rerun; of 2023 there is no corpus."""
    scores, rows = published_scores(), [row for each in tasks.all_tasks().values() for row in each.published]
    for each in scores:
        (row,) = (row for row in rows if is_of(each, row))
        # Where the source does not tell the evaluator and the qrels, they are our choice.
        assert row.evaluator in (each.evaluator, None) and row.qrels in (each.qrels, None)
    asked = [row for row in rows if row.baseline and "2023" not in row.task]
    assert len(asked) == 14 and all(rerun_of(row, scores) for row in asked)
    (best,) = (row for row in rows if row.tag == "ElrondKRun" and row.dimension == "relevance")
    score = rerun_of(best, scores)
    assert score and command_of(score) == "touche run elrond -i touche-2021-task-1 -o out"
    assert rerun_of(replace(best, value=0.719), scores) is rerun_of(replace(best, tag=""), scores) is None


def parsed(score: ExpectedScore) -> Mapping[str, Any]:
    """What ``touche run`` makes of the command that reruns it."""
    _, _, name, *arguments = shlex.split(command_of(score))
    return click_command_of(baselines.load(name), name).make_context("run", arguments).params


def test_every_command_that_is_told_is_one_of_touche_run() -> None:
    scores, rows = published_scores(), [row for each in tasks.all_tasks().values() for row in each.published]
    for score in scores:
        assert score.options.items() <= parsed(score).items()
    told = [(row.tag, score) for row in rows if (score := rerun_of(row, scores))]
    of_mu = {tag: parsed(score)["mu"] for tag, score in told if "mu-" in tag}
    assert {f"mu-{mu}-" for mu in of_mu.values()} == {"mu-1500.0-", "mu-1800.0-", "mu-2000.0-"}
    assert all(f"mu-{mu}-" in tag for tag, mu in of_mu.items())
