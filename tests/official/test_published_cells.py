"""Published cells, re-evaluated from public runs; every mutation of an input must turn cells red."""

import gzip
import hashlib
import json
import re
import shutil
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import OFFICIAL, ROOT, Touche, use_clone
from touche import tasks
from touche.io.opening import open_binary
from touche.regression import published_cells
from touche.regression.published_cells import (
    DIFFERENT,
    EQUAL,
    NOT_HERE,
    NOT_PUBLIC,
    OTHER_FILE,
    Cell,
    check_published,
)
from touche.reports.report_content import published_parts
from touche.reports.report_records import TaskReport
from touche.tasks import Published, Task, public_runs
from touche.tasks.public_runs import NOT_LISTED

TWENTY = "touche-2020-task-2"
IMAGES = "touche-2022-task-3"
PASSAGES = "touche-2022-task-2"


@pytest.fixture
def folder(official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder to change, with the qrels and runs of three tasks."""
    shutil.copytree(official / "qrels", tmp_path / "qrels")
    for task in (TWENTY, IMAGES, PASSAGES):
        shutil.copytree(official / "runs" / task, tmp_path / "runs" / task)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], None]:
    """Returns a function that replaces text in a task's index of public runs."""
    copy = tmp_path / "public-runs"
    shutil.copytree(public_runs._FOLDER, copy)
    monkeypatch.setattr(public_runs, "_FOLDER", copy)

    def edit(task: str, old: str, new: str) -> None:
        path = copy / f"{task}.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return edit


def verdicts(task: str | list[str]) -> Counter[str]:
    return Counter(cell.verdict for cell in check_published(task))


def published_part(task: str) -> TaskReport:
    return next(part for part in published_parts() if part.task.id == task)


@pytest.fixture(scope="module")
def cells() -> tuple[Cell, ...]:
    """All published values; computed once, because that takes seconds."""
    if OFFICIAL is None:
        pytest.skip("needs official data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHE_DATA", str(ROOT / OFFICIAL))
        return tuple(check_published())


@pytest.mark.xdist_group("cells")
def test_all_cells_of_the_runs_that_are_here_are_as_listed(cells: tuple[Cell, ...]) -> None:
    counts = Counter(cell.verdict for cell in cells)
    assert counts.total() == 622 and counts.keys() <= {EQUAL, DIFFERENT, NOT_HERE, NOT_LISTED, NOT_PUBLIC}
    assert counts[EQUAL] >= 79 and counts[EQUAL] + counts[DIFFERENT] + counts[NOT_HERE] == 221
    assert (counts[NOT_LISTED], counts[NOT_PUBLIC]) == (33, 368)
    assert not any(cell.is_broken for cell in cells)
    assert [(cell.row.tag, cell.remark) for cell in cells if cell.verdict == DIFFERENT] == [
        ("ElrondOpenNlpRun", "0.815 instead, because topic 68 differs, as listed")
    ]


@pytest.mark.xdist_group("cells")
def test_what_is_marked_as_checked_was_checked(cells: tuple[Cell, ...]) -> None:
    """What the gallery shows as re-evaluated is re-evaluated here, where the run is available."""
    checked = {
        (task.id, row.dimension, row.measure, row.team, row.tag)
        for task in tasks.all_tasks().values()
        for _, run in public_runs.public_runs(task).runs
        if run.checked
        for row in public_runs.results_of(task, run)
    }
    assert len(checked) == 151
    rows = [cell.row for cell in cells if cell.verdict in (EQUAL, DIFFERENT)]
    assert {(row.task, row.dimension, row.measure, row.team, row.tag) for row in rows} <= checked


def test_a_changed_grade_turns_cells_red(folder: Path) -> None:
    path = folder / "qrels" / "touche-task2-2022-relevance.qrels"
    lines = path.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.endswith(" 2"))
    lines[first] = lines[first][:-1] + "0"
    path.write_text("\n".join(lines) + "\n")
    assert verdicts(PASSAGES)[DIFFERENT] > 0


def test_a_changed_rank_turns_cells_red(folder: Path, index: Callable[[str, str, str], None]) -> None:
    path = folder / "runs" / TWENTY / "bilbo-baggins.run"
    old = path.read_bytes()
    lines = [line.split() for line in old.decode().splitlines()]
    lines[0][2], lines[9][2] = lines[9][2], lines[0][2]
    path.write_text("".join(f"{' '.join(line)}\n" for line in lines))
    [cell] = [cell for cell in check_published(TWENTY) if cell.remark]
    assert (cell.row.team, cell.verdict, cell.value) == ("Bilbo Baggins", OTHER_FILE, None)
    remark = rf"its md5 is \w+ instead of \w+; delete .*baggins.run, and get it .* {TWENTY} --runs$"
    assert re.search(remark, cell.remark)
    index(TWENTY, hashlib.md5(old).hexdigest(), hashlib.md5(path.read_bytes()).hexdigest())
    assert verdicts(TWENTY) == {EQUAL: 4, DIFFERENT: 1, NOT_HERE: 6, NOT_PUBLIC: 1}


def test_exchanged_runs_are_refused_and_turn_cells_red(
    folder: Path, index: Callable[[str, str, str], None]
) -> None:
    one, other = (folder / "runs" / TWENTY / f"{name}.run" for name in ("bilbo-baggins", "inigo-montoya"))
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])
    assert [cell.value for cell in check_published(TWENTY) if "its md5 is" in cell.remark] == [None, None]
    digests = [hashlib.md5(content).hexdigest() for content in contents]
    index(TWENTY, digests[0], "first")
    index(TWENTY, digests[1], digests[0])
    index(TWENTY, "first", digests[1])
    assert verdicts(TWENTY)[DIFFERENT] == 2


def with_rows(task: Task, change: Callable[[Published], Published]) -> Task:
    return replace(task, published=tuple(map(change, task.published)))


@pytest.mark.parametrize(
    ("task_id", "change", "different"),
    [
        (IMAGES, lambda task: with_rows(task, lambda row: replace(row, value=row.value + 0.001)), 21),
        (PASSAGES, lambda task: with_rows(task, lambda row: replace(row, evaluator="trec_eval")), 11),
        (TWENTY, lambda task: with_rows(task, lambda row: replace(row, evaluator="touche")), 2),
        (PASSAGES, lambda task: replace(task, decimals=(4, 3)), 3),
        (TWENTY, lambda task: replace(task, decimals=(3,)), 1),
    ],
    ids=["a decimal of rows", "another evaluator", "touche in 2020", "rounding of 2020", "rounding of 2022"],
)
def test_another_published_value_evaluator_or_rounding_turns_cells_red(
    official: Path, task_id: str, change: Callable[[Task], Task], different: int
) -> None:
    cells = published_cells._cells(change(tasks.task(task_id)), is_named=True)
    assert sum(cell.verdict == DIFFERENT for cell in cells) == different


def test_differences_are_shown_and_exit_with_1(
    folder: Path, touche: Touche, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    qrels = folder / "qrels" / "touche2020-task2-relevance-withbaseline.qrels"
    qrels.write_text(qrels.read_text().replace(" 2\n", " 0\n"))
    junit = tmp_path / "junit.xml"
    code, out, _ = touche("regress", "--official", "--dataset", TWENTY, "--junit", junit)
    assert code == 1
    shown = out.partition(f"\n{TWENTY}\n")[2].splitlines()
    assert [line.split()[-1] for line in shown] == ["verdict", *["different"] * 5]
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("12", "5", "7")
    code, out, _ = touche("regress", "--official", "--dataset", TWENTY, "--format", "json")
    assert Counter(cell["verdict"] for cell in json.loads(out))["different"] == 5


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            'team = "Zorro"',
            'team = "Katana"',
            "zorro has no published result, or two of a kind, of Katana",
        ),
        ('"UvATask2SVM"', '"www.ChatNoir.eu"', "zorro has no published result"),
        ('"myBertSimilarity"', '"ULMFIT_LSTM"', "two entries for Katana, ULMFIT_LSTM; keep the one of"),
        ("t2_bach_default_old", "bach", "no published result of Frodo Baggins, bach; remove it"),
        ('"Frodo Baggins" =', "Katana =", "no published result of Katana, t2_bach_default_old"),
    ],
)
def test_an_index_without_the_row_or_with_two_runs_for_it_is_refused(
    folder: Path,
    touche: Touche,
    index: Callable[[str, str, str], None],
    old: str,
    new: str,
    problem: str,
) -> None:
    index(TWENTY, old, new)
    for command in (["regress", "--official"], ["tasks", "check"], ["data", "fetch", TWENTY, "--runs"]):
        card = [str(Path(tasks.__file__).parent / f"{TWENTY}.toml")] if "check" in command else []
        code, out, err = touche(*command, *card)
        assert problem in out + err and code == 2


def test_each_published_result_is_listed_once(index: Callable[[str, str, str], None], touche: Touche) -> None:
    """Removing the line of a run, or of a result without one, is noticed."""
    card = str(Path(tasks.__file__).parent / f"{TWENTY}.toml")
    index(TWENTY, ', tags = ["UvATask2SVM"]', "")  # then only the file could tell the result
    assert touche("tasks", "check", card)[0] == 0
    index(TWENTY, '"Frodo Baggins" = ["t2_bach_default_old"]', "")
    assert "no entry for Frodo Baggins, t2_bach_default_old; add its run" in touche("tasks", "check", card)[1]


def test_update_marks_checked_runs_and_different_values(
    official: Path, folder: Path, index: Callable[[str, str, str], None], touche: Touche
) -> None:
    index(TWENTY, ", checked = true", "")
    before = public_runs.index_path(tasks.task(TWENTY)).read_text()
    assert touche("regress", "--official", "--dataset", TWENTY, "--update")[0] == 0
    after = public_runs.index_path(tasks.task(TWENTY)).read_text()
    assert before != after and after.count("checked = true") == before.count("checked = true") + 1
    qrels = folder / "qrels" / "touche2020-task2-relevance-withbaseline.qrels"
    qrels.write_text(qrels.read_text().replace(" 2\n", " 0\n"))
    assert touche("regress", "--official", "--dataset", TWENTY, "--update")[0] == 1
    runs = [run for _, run in public_runs.public_runs(tasks.task(TWENTY)).runs]
    names = [difference.name for run in runs for difference in run.different]
    assert names == ["relevance nDCG@5"] * 5
    marks = Counter(check.verdict for check in public_runs.checks(tasks.task(TWENTY)).values())
    assert marks == {"different": 5, "re-evaluated": 6, "run not public": 1}
    page = published_part(TWENTY)
    text = "11 published values re-evaluated from the teams' runs, 5 of them different"
    assert page.checked == f"{text}; 1 value without a public run"
    assert touche("regress", "--official", "--dataset", TWENTY)[0] == 0, "what is listed is no news"
    path = public_runs.index_path(tasks.task(TWENTY))
    path.write_text(re.sub(r"got = 0\.\d+", "got = 0.999", path.read_text(), count=1))
    code, out, _ = touche("regress", "--official", "--dataset", TWENTY)
    assert code == 1 and len(re.findall(r": 0\.\d+ instead, but listed: 0\.999 instead\n", out)) == 1
    shutil.copy(official / "qrels" / qrels.name, qrels)
    code, out, _ = touche("regress", "--official", "--dataset", TWENTY)
    assert code == 1 and len(re.findall(r"equal now, but listed as different: 0\.\d+ instead\n", out)) == 5


def test_an_index_that_can_not_be_updated_or_whose_runs_can_not_be_checked_is_named(
    official: Path, index: Callable[[str, str, str], None], touche: Touche
) -> None:
    index(TWENTY, '{ file = "zorro",', '{  file = "zorro",')
    code, _, err = touche("regress", "--official", "--dataset", TWENTY, "--update")
    problem = "zorro can't be marked as checked, because it isn't on a line of its own; write it in one line"
    assert code == 2 and problem in err
    path = public_runs.index_path(tasks.task(TWENTY))
    text = re.sub(r'(  file = "zorro",.*?), md5 = "\w+"', r"\1", path.read_text())
    path.write_text(re.sub(r'(  file = "zorro",.*?), git_blob = "\w+"', r"\1", text))
    code, _, err = touche("regress", "--official", "--dataset", TWENTY)
    assert code == 2 and "zorro has neither md5 nor git_blob; add one of them" in err


def test_a_task_counts_once_and_a_part_of_it_is_refused(folder: Path, touche: Touche) -> None:
    assert verdicts([TWENTY, TWENTY]) == verdicts(TWENTY)
    code, _, err = touche("regress", "--official", "--dataset", f"{PASSAGES}/twenty-topics")
    assert code == 2 and f"{PASSAGES}/twenty-topics is a part of a task" in err
    code, _, err = touche("regress", "--official", "--dataset", TWENTY, "--dataset", "touche-2022-task-1")
    assert (code, err) == (2, "touche: touche-2022-task-1 has no listed public run; choose another task\n")
    code, _, err = touche("regress", "--official", "--by", "me")
    assert code == 2 and "--official reruns nothing" in err


def test_without_runs_nothing_is_checked_unless_a_task_is_named(
    official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, touche: Touche
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "empty"))
    (tmp_path / "clone").mkdir()
    use_clone(tmp_path / "clone", monkeypatch)
    code, out, _ = touche("regress", "--official")
    row = next(line.split() for line in out.splitlines() if line.startswith("all "))
    assert (code, row) == (0, ["all", "622", "0", "0", "0", "221", "33", "368"])
    assert touche("regress", "--official", "--dataset", TWENTY)[0] == 2


def test_decimals_are_those_of_all_values_of_a_run(official: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BEIR's tables drop trailing zeros, so a value with four decimals can have been printed with five."""
    task = tasks.task("beir-webis-touche2020-v2")
    cells = [cell for cell in published_cells._cells(task, is_named=True) if cell.verdict == EQUAL]
    long = next(cell.row for cell in cells if len(str(cell.row.value)) == len("0.12345"))
    cut = round(long.value, 4)
    assert cut != long.value

    def with_cut(row: Published) -> Published:
        is_row = (row.team, row.tag, row.measure) == (long.team, long.tag, long.measure)
        return replace(row, value=cut) if is_row else row

    changed = published_cells._cells(with_rows(task, with_cut), is_named=True)
    assert [cell.row.measure for cell in changed if cell.verdict == DIFFERENT] == [long.measure]


def test_named_tasks_without_qrels_or_runs_are_errors(folder: Path, touche: Touche) -> None:
    (folder / "qrels" / "touche2020-task2-relevance-withbaseline.qrels").unlink()
    code, _, err = touche("regress", "--official", "--dataset", TWENTY)
    assert code == 2 and "qrels/touche2020-task2-relevance-withbaseline.qrels is missing" in err
    code, _, err = touche("regress", "--official", "--dataset", "touche-2022-task-1")
    assert (code, err) == (2, "touche: touche-2022-task-1 has no listed public run; choose another task\n")
    code, _, err = touche("regress", "--official", "--dataset", "touche-2023-task-3")
    assert code == 2 and "get them with: touche data fetch touche-2023-task-3 --runs" in err
    code, _, err = touche("regress", "bm25", "--official")
    assert code == 2 and "--official reruns nothing" in err


@pytest.fixture
def publisher(official: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a server on loopback that publishes the runs of images, unpacked."""
    (tmp_path / "published").mkdir()
    for path in (official / "runs" / IMAGES).iterdir():
        with open_binary(path) as run:
            name = path.name.removesuffix(".gz").removesuffix(".run")
            (tmp_path / "published" / f"run-{name}.txt").write_bytes(run.read())

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(tmp_path / "published"))  # type: ignore[arg-type]

        def log_message(self, format: str, *arguments: object) -> None:
            with (tmp_path / "requests").open("a") as file:
                file.write(f"{self.path}\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_runs_are_fetched_and_checked_from_an_empty_folder(
    official: Path,
    publisher: str,
    index: Callable[[str, str, str], None],
    touche: Touche,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index(IMAGES, public_runs.public_runs(tasks.task(IMAGES)).repositories[0].url, f"{publisher}/")
    home = tmp_path / "clone"
    for name in ("baselines", "topics", "qrels"):
        (home / name).mkdir(parents=True)
    shutil.copy(official / "topics" / f"{IMAGES}.xml", home / "topics")
    shutil.copy(official / "qrels" / "touche-task3-001-050-relevance.qrels", home / "qrels")
    monkeypatch.delenv("TOUCHE_DATA")
    use_clone(home, monkeypatch)
    # Seven of thirteen runs are on this server.
    code, out, err = touche("data", "fetch", IMAGES, "--runs")
    assert (code, out.count(": fetched"), err.count("404 Client Error")) == (2, 7, 6)
    assert "15 files, 13 of them to fetch (927 kB)" in err and "licence: none stated" in err
    assert verdicts(IMAGES) == {EQUAL: 21, NOT_HERE: 18}
    # Called again, it fetches only what is missing; a wrong file is refused, and nothing of it stays.
    wrong = tmp_path / "published" / "run-jester-without-emotion-detection.txt"
    wrong.write_bytes((tmp_path / "published" / "run-minsc-baseline.txt").read_bytes())
    code, out, err = touche("data", "fetch", IMAGES, "--runs")
    assert (code, out.count("available"), err.count("404 Client Error")) == (2, 9, 5)
    assert "its md5 is" in err and "jester-without-emotion-detection.run was not accepted" in err
    assert len([*(home / "runs" / IMAGES).iterdir()]) == 7 and not [*(home / "downloads").iterdir()]


def test_a_run_without_an_md5_is_checked_by_its_git_blob_id(
    official: Path, index: Callable[[str, str, str], None], tmp_path: Path, touche: Touche
) -> None:
    run = gzip.compress((official / "runs" / IMAGES / "minsc-baseline.run").read_bytes())
    (tmp_path / "mirror" / "runs" / IMAGES).mkdir(parents=True)
    (tmp_path / "mirror" / "runs" / IMAGES / "minsc-baseline.run.gz").write_bytes(run)
    index(IMAGES, "1e831a4a8b495a5baf2c31ab0aca89b6", "")
    arguments = ("data", "fetch", IMAGES, "--runs", "--from", tmp_path / "mirror", "--to", tmp_path / "to")
    assert "minsc-baseline.run: fetched" in touche(*arguments)[1]
    shutil.rmtree(tmp_path / "to")
    index(IMAGES, 'git_blob = "091b10', 'git_blob = "191b10')
    assert "its git blob id is 091b10" in touche(*arguments)[2]


def test_an_archive_is_downloaded_once_for_all_its_runs(
    official: Path,
    publisher: str,
    index: Callable[[str, str, str], None],
    tmp_path: Path,
    touche: Touche,
) -> None:
    names = ["minsc-baseline", "jester-with-emotion-detection"]
    with zipfile.ZipFile(tmp_path / "published" / "all.zip", "w") as archive:
        archive.writestr("run-minsc-baseline.txt", "another run")
        archive.write(tmp_path / "published" / f"run-{names[1]}.txt", f"run-{names[1]}.txt")
    index(IMAGES, public_runs.public_runs(tasks.task(IMAGES)).repositories[0].url, f"{publisher}/")
    for name in names:
        index(IMAGES, f'path = "run-{name}.txt"', f'path = "all.zip!run-{name}.txt"')
    _, out, err = touche("data", "fetch", IMAGES, "--runs", "--to", tmp_path / "to")
    assert f"{names[1]}.run: fetched" in out and "minsc-baseline.run was not accepted" in err
    assert "and 1 file of unknown size" in err, "the size of an archive is unknown"
    assert (tmp_path / "requests").read_text().splitlines().count("/all.zip") == 1
    assert not [*(tmp_path / "to" / "downloads").iterdir()]


def test_runs_are_kept_with_their_task_and_found_packed(
    official: Path, tmp_path: Path, touche: Touche
) -> None:
    arguments = ("data", "fetch", "--runs", "--from", official, "--to", tmp_path)
    _, out, _ = touche(*arguments, f"{PASSAGES}/twenty-topics")
    assert f"runs/{PASSAGES}/katana-3.run: fetched" in out
    run = tmp_path / "runs" / PASSAGES / "katana-3.run"
    (run.parent / "katana-3.run.gz").write_bytes(gzip.compress(run.read_bytes()))
    run.unlink()
    assert f"runs/{PASSAGES}/katana-3.run: available" in touche(*arguments, PASSAGES)[1]
    code, _, err = touche(*arguments, "spot-check/arguments")
    assert (code, err) == (2, "touche: spot-check/arguments has no listed public run; omit --runs\n")
    code, _, err = touche(*arguments, "--all")
    assert code == 2 and "runs are fetched without corpora; omit --all" in err


def test_data_lists_and_verifies_runs(folder: Path, touche: Touche) -> None:
    run = folder / "runs" / TWENTY / "bilbo-baggins.run"
    assert f"runs/{TWENTY}/bilbo-baggins.run" in touche("data", "list", TWENTY)[1]
    assert f"runs/{TWENTY}/bilbo-baggins.run: verified" in touche("data", "verify", TWENTY)[1]
    run.write_bytes(run.read_bytes()[:-100])
    code, out, _ = touche("data", "verify")
    assert code == 1 and f"runs/{TWENTY}/bilbo-baggins.run: differs" in out
