"""Sweeps have the runs of single runs, from few passes, and repeat nothing that is complete."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot

import touche
from conftest import ROOT, Write, write_files
from touche import baselines, tasks
from touche.baselines.method import Baseline
from touche.data.datasets import opened
from touche.documents.collection import Documents
from touche.documents.discovery import Input
from touche.documents.records import AnyDocument
from touche.errors import ToucheError
from touche.tuning.grid import grid_settings
from touche.tuning.results import Sweep
from touche.tuning.sweeps import run_settings

DATASET = "spot-check/arguments"
TASK = tasks.task(DATASET)


@dataclass(frozen=True)
class Watched(Documents):
    """A collection that counts how often it is read.

    Attributes:
        documents: what it has.
        readings_begun: an element for each reading.
    """

    documents: Documents
    readings_begun: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[AnyDocument]:
        self.readings_begun.append(1)
        return iter(self.documents)


def watched() -> tuple[Input, list[int]]:
    source = opened(DATASET)
    documents = Watched(documents=source.documents)
    return replace(source, documents=documents), documents.readings_begun


def swept(
    ranker: Baseline, grid: dict[str, Sequence[Any]], folder: Path, source: Input | None = None, **more: Any
) -> Sweep:
    source = source or opened(DATASET)
    return run_settings(
        ranker, source, folder, grid_settings(ranker.options, grid), [TASK], "trec_eval", **more
    )


def check_same_as_single_runs(sweep: Sweep, ranker: Baseline, folder: Path) -> None:
    for setting in sweep.settings:
        baselines.Runs(ranker, opened(DATASET)).write(folder, dict(setting.options))
        assert (setting.folder / "run.txt").read_bytes() == (folder / "run.txt").read_bytes()


GRIDS: dict[str, tuple[dict[str, Sequence[Any]], int]] = {
    "bm25": ({"k1": [0.4, 0.9, 2.0], "multifield": [False, True], "depth": [3, 1000]}, 2),
    "dirichletlm": ({"mu": [10.0, 2000.0]}, 1),
    "dph": ({"model": ["DPH", "DLH", "PL2"], "c": [1.0, 5.0]}, 1),
    "tfidf": ({"variant": ["terrier", "classic"], "k1": [0.5, 1.2]}, 1),
    "prince-of-persia": ({"run": ["1", "2", "5"]}, 1),
    # A single run reads the titles' terms, the best documents and the expanded queries' terms: 24 readings.
    "rm3": ({"model": ["dirichletlm", "bm25"], "words": [5, 10], "title": [0.2, 0.5]}, 23),
}


@pytest.mark.parametrize("name", GRIDS)
def test_one_pass_serves_all_settings_that_share_an_analysis(name: str, tmp_path: Path) -> None:
    grid, passes = GRIDS[name]
    ranker = baselines.load(name)
    (source, begun) = watched()
    sweep = swept(ranker, grid, tmp_path / "sweep", source)
    assert len(begun) <= passes and sweep.new_runs == len(sweep.settings)
    check_same_as_single_runs(sweep, ranker, tmp_path / "single")


FIELDS_WITHOUT_NAMES = '''
from touche import Documents, Rankings, Topics, baseline, scan


@baseline
def mine(topics: Topics, documents: Documents, *, words: int = 3, k1: float = 0.9) -> Rankings:
    """Ranks by the first words."""
    first = {"first": lambda document: " ".join(document.text.split()[:words])}
    yield from scan.rank(topics, documents, scan.bm25(k1, 0.4), analysis="english", fields=first)
'''


def test_fields_that_have_no_names_are_never_confused(write: Write, tmp_path: Path) -> None:
    folder = write("mine/baseline.py", FIELDS_WITHOUT_NAMES).parent
    ranker = baselines.load(str(folder))
    (source, begun) = watched()
    sweep = swept(ranker, {"words": [3, 30], "k1": [0.5, 0.9]}, tmp_path / "sweep", source)
    assert len(begun) == len(sweep.settings) == 4
    check_same_as_single_runs(sweep, ranker, tmp_path / "single")


FAILING = '''
from pathlib import Path

from touche import Documents, Rankings, ToucheError, Topics, baseline


@baseline
def mine(topics: Topics, documents: Documents, *, least: int = 1, words: str = "none") -> Rankings:
    """Fails while a file is there."""
    for number, topic in enumerate(topics):
        if number == 5 and least == 3 and (Path(__file__).parent / "broken.flag").exists():
            raise ToucheError("no luck; try again")
        yield topic, [(document.id, 1.0) for document in documents if len(document.text) > least]
'''


def test_a_sweep_goes_on_where_it_was_broken_off(write: Write, tmp_path: Path) -> None:
    folder = write("mine/baseline.py", FAILING).parent
    flag = write("mine/broken.flag", "")
    ranker = baselines.load(str(folder))
    grid = {"least": [1, 2, 3, 4]}
    output = tmp_path / "sweep"
    with pytest.raises(ToucheError, match="no luck"):
        swept(ranker, grid, output)
    assert sorted(path.parent.name for path in output.glob("*/run.txt")) == [
        "touche-mine",
        "touche-mine-least=2",
    ]
    before = {path: path.stat().st_mtime_ns for path in output.glob("*/run.txt")}
    # The flag is beside the code, and is not part of the method: but nobody can know that.
    flag.write_text("")
    with pytest.raises(ToucheError, match="no luck"):
        swept(ranker, grid, output)
    assert before == {path: path.stat().st_mtime_ns for path in output.glob("*/run.txt")}
    flag.unlink()
    assert swept(ranker, grid, output).new_runs == 4
    # The baseline may have read the flag when it was loaded, so that these runs do not count.
    assert swept(baselines.load(str(folder)), grid, output).new_runs == 4
    assert swept(baselines.load(str(folder)), grid, output).new_runs == 0


@pytest.fixture
def complete(write: Write, tmp_path: Path) -> tuple[Path, Path]:
    """A baseline's folder, and that of a sweep over two settings of it."""
    folder = write("mine/baseline.py", FAILING).parent
    output = tmp_path / "sweep"
    assert swept(baselines.load(str(folder)), {"least": [1, 2]}, output).new_runs == 2
    return folder, output


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((name, Path.unlink) for name in ("run.txt", "complete.json", "ir-metadata.yml")),
        ("run.txt", lambda path: path.write_bytes(path.read_bytes()[:-1])),
        ("complete.json", lambda path: path.write_bytes(path.read_bytes()[:10])),
        ("complete.json", lambda path: path.write_bytes(b"")),
        ("complete.json", lambda path: path.write_text('{"modules": [1]}')),
    ],
)
def test_a_run_without_one_of_its_files_or_with_a_broken_one_is_repeated(
    complete: tuple[Path, Path], name: str, damage: Callable[[Path], object]
) -> None:
    folder, output = complete
    run = output / "touche-mine" / "run.txt"
    whole = run.read_bytes()
    damage(output / "touche-mine" / name)
    assert swept(baselines.load(str(folder)), {"least": [1, 2, 5]}, output).new_runs == 2
    assert swept(baselines.load(str(folder)), {"least": [1, 2, 5]}, output).new_runs == 0
    assert run.read_bytes() == whole


def counting(word: str) -> Baseline:
    @touche.baseline
    def mine(topics: touche.Topics, documents: touche.Documents, *, least: int = 1) -> touche.Rankings:
        yield topics[0], [(document.id, 1.0) for document in documents if document.text.count(word) >= least]

    return mine


@pytest.mark.filterwarnings("ignore:mine. nothing found")
def test_runs_of_a_function_are_always_repeated_because_its_code_is_not_known(tmp_path: Path) -> None:
    for word in ("car", "city"):  # two functions of one name, as in a notebook whose cell is run again
        mine = counting(word)
        with pytest.warns(UserWarning, match="mine: nothing found for topic 2"):
            sweep = touche.sweep(mine, DATASET, {"least": [1, 2]}, output=tmp_path)
        assert sweep.new_runs == 2
        for setting in sweep.settings:
            run = touche.run(mine, DATASET, **setting.options)
            assert len((setting.folder / "run.txt").read_text().splitlines()) == len(run)


def test_two_settings_that_would_share_a_folder_are_refused(
    complete: tuple[Path, Path], write: Write, tmp_path: Path
) -> None:
    folder, _ = complete
    same = [str(write(f"{name}/words.txt", name)) for name in "ab"]
    with pytest.raises(ToucheError, match=r"words=words\.txt; rename"):
        swept(baselines.load(str(folder)), {"words": same}, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_value_with_a_slash_stays_in_the_folder_of_the_sweep(
    complete: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, _ = complete
    output = tmp_path / "other"
    sweep = swept(baselines.load(str(folder)), {"words": ["../../x", "%2e/y"]}, output)
    assert {setting.folder.parent for setting in sweep.settings} == {output}
    assert len(list(output.glob("*/run.txt"))) == 2


def test_scores_are_those_of_evaluate_and_the_best_is_best(tmp_path: Path) -> None:
    from touche.evaluation import scores

    sweep = swept(baselines.load("bm25"), {"k1": [0.1, 5.0], "b": [0.0, 1.0]}, tmp_path)
    for row in sweep.scores:
        (run,) = scores.evaluate([row.setting.folder / "run.txt"], TASK, ["trec_eval"])
        score = run.scores["trec_eval"]
        assert (row.mean, row.low, row.high, row.judged) == (score.mean, score.low, score.high, score.judged)
        assert row.values == run.evaluations["trec_eval"].per_topic and row.record["topics"] == score.topics
    assert sweep.best("relevance").mean == max(row.mean or 0 for row in sweep.scores)
    assert [dict(setting.swept) for setting in sweep.settings] == [
        {"k1": k1, "b": b} for k1 in (0.1, 5.0) for b in (0.0, 1.0)
    ]


@pytest.mark.parametrize("method", ["two-fold", "leave-one-topic-out"])
def test_a_cross_validated_score_is_never_of_topics_that_tuned(tmp_path: Path, method: str) -> None:
    grid: dict[str, Sequence[Any]] = {"k1": [0.1, 0.9, 5.0], "b": [0.0, 0.5, 1.0]}
    sweep = swept(baselines.load("bm25"), grid, tmp_path, cross_validation=method)
    validation = sweep.cross_validations["relevance"]
    by_setting = {str(row.setting): row for row in sweep.scores}
    topics = set(validation.values)
    assert len(topics) == 10
    for fold in validation.folds:
        others = topics - set(fold.values)
        means = {name: sum(row.values[topic] for topic in others) for name, row in by_setting.items()}
        assert means[str(fold.choice)] == pytest.approx(max(means.values()))
        assert {t: by_setting[str(fold.choice)].values[t] for t in fold.values} == fold.values
    assert validation.mean <= (sweep.best("relevance").mean or 0)


def test_a_heat_map_shows_the_best_over_other_options(tmp_path: Path) -> None:
    grid: dict[str, Sequence[Any]] = {
        "multifield": [False, True],
        "k1": [0.1, 0.9, 5.0],
        "b": [0.0, 0.5, 1.0],
    }
    sweep = swept(baselines.load("bm25"), grid, tmp_path)
    axes = sweep.heat_map("relevance").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("k1", "b")
    texts = {(round(t.get_position()[0]), round(t.get_position()[1])): t for t in axes.texts}
    assert len(texts) == 9
    for (column, row), text in texts.items():
        cell = {"k1": grid["k1"][column], "b": grid["b"][row]}
        means = [s.mean or 0 for s in sweep.scores if cell.items() <= s.setting.swept.items()]
        assert len(means) == 2 and text.get_text() == f"{max(means):.3f}"
    picture = sweep.heat_map("relevance")._repr_png_()  # type: ignore[attr-defined]
    assert picture.startswith(b"\x89PNG") and not pyplot.get_fignums()  # so that notebooks show one picture
    bold = {text.get_text() for text in axes.texts if text.get_fontweight() == "bold"}
    assert bold == {f"{sweep.best('relevance').mean:.3f}"}


def test_one_setting_has_a_score_and_no_heat_map(tmp_path: Path) -> None:
    sweep = swept(baselines.load("bm25"), {"k1": [0.5]}, tmp_path)
    assert len(sweep.scores) == 1 and str(sweep.settings[0]) == "touche-bm25-k1=0.5"
    with pytest.raises(ToucheError, match="several values"):
        sweep.heat_map("relevance")
    for function in (sweep.heat_map, sweep.best):
        with pytest.raises(ToucheError, match=r"dimension 'quality'.*relevance"):
            function("quality")


QRELS = tasks.task("spot-check/arguments").qrels["relevance"].file


def test_a_task_that_is_passed_replaces_that_of_the_dataset() -> None:
    with pytest.raises(ToucheError, match=r"no topic in common.*passages"):
        touche.sweep("bm25", DATASET, {}, task="spot-check/passages")


READING = """
from pathlib import Path

import touche
from shared.words import LEAST

WORDS = (Path(__file__).parent / "data" / "words.txt").read_text().split()


@touche.baseline
def mine(topics, documents, *, folder: str = "", listed: tuple[str, ...] = ("",), keep_words: str = ""):
    for path in Path(keep_words).glob("*") if keep_words else ():
        path.write_text(path.read_text() + "x")
    for topic in topics:
        yield topic, [(document.id, float(len(WORDS) + LEAST)) for document in documents]
"""


@pytest.fixture
def reading(tmp_path: Path) -> Path:
    """A baseline's folder with data, a linked folder with code, and folders for options."""
    files = {"mine/baseline.py": READING, "mine/data/words.txt": "a b", "elsewhere/words.py": "LEAST = 1"}
    files |= {f"{name}/file.txt": "a" for name in ("lexicon/deep", "cache", "listed", "mine/.hidden")}
    write_files(tmp_path, files)
    (tmp_path / "mine" / "shared").symlink_to(tmp_path / "elsewhere")
    return tmp_path / "mine"


@pytest.mark.parametrize(
    "file",
    [
        "mine/baseline.py",
        "mine/new/words.py",
        "mine/data/words.txt",
        "mine/.hidden/file.txt",
        "elsewhere/words.py",
        "lexicon/deep/file.txt",
        "listed/file.txt",
        "cache/file.txt",
    ],
)
def test_a_change_of_any_file_that_a_run_reads_repeats_it(reading: Path, tmp_path: Path, file: str) -> None:
    """Except in a folder where the run itself stores values."""
    grid: dict[str, Any] = {"folder": [str(tmp_path / "lexicon")], "keep_words": [str(tmp_path / "cache")]}
    grid["listed"] = [("none", str(tmp_path / "listed" / "file.txt"))]

    def new_runs() -> int:
        return swept(baselines.load(str(reading)), grid, tmp_path / "sweep").new_runs

    assert (new_runs(), new_runs()) == (1, 0)
    (tmp_path / "mine" / "new").mkdir()
    with (tmp_path / file).open("a") as changed:
        changed.write("\n")
    assert (new_runs(), new_runs()) == (int(not file.startswith("cache")), 0)


def test_a_change_after_loading_is_not_recorded_as_the_result_of_the_new_code(
    reading: Path, tmp_path: Path
) -> None:
    loaded = baselines.load(str(reading))
    (tmp_path / "elsewhere" / "words.py").write_text("LEAST = 5")
    before = swept(loaded, {}, tmp_path / "sweep").settings[0].folder / "run.txt"
    old = before.read_text()
    assert swept(baselines.load(str(reading)), {}, tmp_path / "sweep").new_runs == 1
    assert before.read_text() != old


OUTSIDE = """
import touche


@touche.baseline
def mine(topics, documents, *, least: int = 1):
    import outside_helper

    for topic in topics:
        yield topic, [(document.id, float(outside_helper.VALUE)) for document in documents]
"""


OUTSIDE_FILES = {
    "outside_package/__init__.py": "from .values import *",
    "outside_package/values.py": "FIRST, SECOND = 1, 2",
    "outside_helper-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: outside-helper\nVersion: 1\n",
    "outside_helper-1.dist-info/top_level.txt": "outside_helper\n",
    "other-2.dist-info/METADATA": "Metadata-Version: 2.1\nName: other\nVersion: 2\n",
    "other-2.dist-info/top_level.txt": "other\n",
}


def test_a_change_of_a_module_outside_or_of_a_library_repeats_a_run(write: Write, tmp_path: Path) -> None:
    """Also if the baseline imports it only while it ranks, and if only another version is found first."""
    folder = write("mine/baseline.py", OUTSIDE).parent
    for name in ("first", "second"):
        helper = {"outside_helper.py": f"from outside_package import {name.upper()} as VALUE"}
        write_files(tmp_path / name, OUTSIDE_FILES | helper)
    code = (
        "import sys, touche; print(touche.sweep(sys.argv[1], sys.argv[2], {}, output=sys.argv[3]).new_runs)"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(folder), DATASET, str(tmp_path / "sweep")]

    def new_runs(path: str = "first") -> int:
        environment = os.environ | {"PYTHONPATH": str(tmp_path / path)}
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=True)
        return int(done.stdout)

    assert (new_runs(), new_runs()) == (1, 0)
    write("first/outside_package/values.py", "FIRST, SECOND = 3, 2")
    assert (new_runs(), new_runs()) == (1, 0)
    assert (new_runs("second"), new_runs("second")) == (1, 0)
    write("second/other-2.dist-info/METADATA", "Metadata-Version: 2.1\nName: other\nVersion: 3\n")
    assert new_runs("second") == 0  # the baseline does not use it
    write("second/outside_helper-1.dist-info/METADATA", "Name: outside-helper\nVersion: 4\n")
    assert (new_runs("second"), new_runs("second")) == (1, 0)


def test_a_sweep_into_the_folder_of_its_baseline_is_resumed_and_can_be_repeated(
    reading: Path, write: Write
) -> None:
    for number, new_runs in enumerate((2, 0, 0, 2, 0)):
        if number == 3:
            write("mine/data/words.txt", "a b c")
        sweep = swept(baselines.load(str(reading)), {"folder": ["", "x"]}, reading / "out")
        assert sweep.new_runs == new_runs


def test_an_empty_option_is_not_the_working_directory(
    reading: Path, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for content in ("one", "two"):
        monkeypatch.chdir(write("work/notes.txt", content).parent)
        sweep = swept(baselines.load(str(reading)), {"folder": [""]}, tmp_path / "out")
        assert sweep.new_runs == (1 if content == "one" else 0)


def test_a_changed_document_in_one_file_in_a_table_or_in_one_of_many_is_noticed(
    reading: Path, tmp_path: Path
) -> None:
    """A change that keeps the size, the time and the list of files."""
    topics = (ROOT / "topics" / "spot-check-arguments.xml").read_text()
    one = {"documents.jsonl": '{"docno": "a", "text": "one"}\n'}
    table = {"pages.csv": "id,file,url\na,html/a.html,\n", "html/a.html": "<p>one"}
    many = {f"passages-{n}.jsonl": f'{{"id": "{n}", "contents": "one"}}\n' for n in range(101)}
    for name, files in (("one", one), ("table", table), ("many", many)):
        write_files(tmp_path / name, files | {"topics.xml": topics})
    ranker = baselines.load(str(reading))
    for folder, file in (("one", "documents.jsonl"), ("table", "html/a.html"), ("many", "passages-7.jsonl")):
        path = tmp_path / folder / file
        time = path.stat().st_mtime_ns
        counts = [
            swept(ranker, {}, tmp_path / "out", opened(str(tmp_path / folder))).new_runs for _ in range(2)
        ]
        path.write_text(path.read_text().replace("one", "two"))
        os.utime(path, ns=(time, time))
        counts.append(swept(ranker, {}, tmp_path / "out", opened(str(tmp_path / folder))).new_runs)
        assert counts == [1, 0, 1]


def test_sweeps_into_one_folder_wait_for_each_other(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "touche",
        "sweep",
        "bm25",
        "--k1",
        "0.4:1:0.2",
        "--task",
        DATASET,
        "-o",
        "out",
    ]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    sweeps = [subprocess.Popen(command, cwd=tmp_path, **pipes) for _ in range(4)]
    outputs = [(sweep.communicate(), sweep.returncode) for sweep in sweeps]
    assert [code for _, code in outputs] == [0] * 4
    assert len({out for (out, _), _ in outputs}) == 1
    new_runs = [re.findall(r"(\d+) of them new", err)[0] for (_, err), _ in outputs]
    assert sorted(new_runs) == ["0", "0", "0", "4"]
    assert any("out: another sweep is running; waiting for it" in err for (_, err), _ in outputs)


def test_scores_that_are_all_0_are_a_warning_and_choose_nothing() -> None:
    unknown = {topic: {"x": 1} for topic in touche.qrels_of(ROOT / "qrels" / QRELS)}
    with pytest.warns(UserWarning, match="are 0"):
        sweep = touche.sweep("bm25", DATASET, {"k1": [0.5]}, qrels=unknown, cross_validation="two-fold")
    assert not sweep.cross_validations and {score.mean for score in sweep.scores} == {0}
