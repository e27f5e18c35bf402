"""Sweeps have the runs of single runs, from few passes, in folders of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot

import touche
from conftest import ROOT, Write, write_files
from spotcheck import table_of
from touche import baselines, tasks
from touche.baselines.method import Baseline
from touche.data.datasets import opened
from touche.documents.collection import Documents
from touche.documents.discovery import Input
from touche.documents.document_records import AnyDocument
from touche.errors import ToucheError
from touche.evaluation.judged import judged
from touche.lab.sweeps.grid import grid_settings
from touche.lab.sweeps.results import Sweep
from touche.lab.sweeps.running import run_settings

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
    settings = grid_settings(ranker.options, grid)
    return run_settings(ranker, source, folder, settings, TASK, judged(TASK), "trec_eval", **more)


def check_same_as_single_runs(sweep: Sweep, ranker: Baseline, folder: Path) -> None:
    for setting in sweep.settings:
        baselines.Runs(ranker, opened(DATASET)).run(dict(setting.options), output=folder)
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
    assert len(begun) <= passes
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


PLAIN = """
from touche import Documents, Rankings, ToucheError, Topics, baseline, check_range


@baseline
def mine(topics: Topics, documents: Documents, *, least: int = 1, words: str = "none") -> Rankings:
    check_range("least", least, 0, 5)
    if words == "broken":
        raise ToucheError("no luck; try again")
    for topic in topics:
        yield topic, [(document.id, 1.0) for document in documents if len(document.text) > least]
"""


@pytest.fixture
def mine(write: Write) -> str:
    """The folder of a baseline."""
    return str(write("mine/baseline.py", PLAIN).parent)


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_existing_folder_is_an_error_before_the_work(
    mine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.setattr("touche.lab.sweeps.running.opened", None)  # no input is opened
    with pytest.raises(ToucheError, match=r"out: already exists; choose .*, or pass --overwrite"):
        touche.sweep(mine, DATASET, {"least": [1, 2]}, output=tmp_path / "out")
    assert files_in(tmp_path / "out") == {}


@pytest.mark.filterwarnings("ignore:.* is judged")
def test_overwriting_replaces_only_files_of_the_sweep_and_runs_changed_code(
    mine: str, write: Write, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    touche.sweep(mine, DATASET, {"least": [1, 2, 3]}, output=out, cross_validation="two-fold")
    kept = [write(f"out/{name}", "mine") for name in ("parts/notes.txt", "touche-mine/notes.txt", "x.csv")]
    before = files_in(out)
    write("mine/baseline.py", PLAIN.replace("1.0)", "2.0)"))
    touche.sweep(mine, DATASET, {"least": [1, 2]}, output=out, overwrite=True)
    after = files_in(out)
    replaced = {name for name, content in after.items() if before[name] != content}
    runs = {f"touche-mine{tag}/{file}" for tag in ("", "-least=2") for file in ("run.txt", "ir-metadata.yml")}
    assert replaced - {"heat-map-relevance.png", "heat-map-relevance.svg"} == {*runs, "settings.csv"}
    assert {path.read_text() for path in kept} == {"mine"}


@pytest.mark.parametrize(
    "values", [{"least": [1, 9]}, {"least": ["x"]}, {"least": [1], "wrods": ["a"]}, {"words": ["broken"]}]
)
def test_a_sweep_with_wrong_values_or_without_any_run_leaves_no_folder(
    mine: str, tmp_path: Path, values: dict[str, list[Any]]
) -> None:
    with pytest.raises(ToucheError, match=r"least = |wrods|no luck"):
        touche.sweep(mine, DATASET, values, output=tmp_path / "new" / "out")
    assert not (tmp_path / "new").exists()


def test_wrong_values_remove_only_runs_and_empty_folders(mine: str, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"

    def note(line: str) -> None:  # another program writes meanwhile
        write_files(tmp_path / "new", {"notes.txt": "mine", "out/touche-mine/answers.json": "mine"})

    with pytest.raises(ToucheError, match="least = 9"):
        touche.sweep(mine, DATASET, {"least": [1, 9]}, output=out, log=note)
    assert {*files_in(tmp_path / "new")} == {"notes.txt", "out/touche-mine/answers.json"}


def test_wrong_values_remove_nothing_from_an_existing_folder(mine: str, write: Write, tmp_path: Path) -> None:
    write("out/notes.txt", "mine")
    with pytest.raises(ToucheError, match="least = 9"):
        touche.sweep(mine, DATASET, {"least": [9]}, output=tmp_path / "out", overwrite=True)
    assert files_in(tmp_path / "out") == {"notes.txt": b"mine"}


def test_runs_before_a_failure_remain(mine: str, tmp_path: Path) -> None:
    with pytest.raises(ToucheError, match="no luck"):
        touche.sweep(mine, DATASET, {"words": ["none", "broken"]}, output=tmp_path / "out")
    assert {*files_in(tmp_path / "out")} == {"touche-mine/run.txt", "touche-mine/ir-metadata.yml"}


def test_an_empty_run_is_named_after_all_settings_ran(mine: str, write: Write, tmp_path: Path) -> None:
    write("mine/baseline.py", PLAIN.replace("if len(document.text) > least", "if least > 1"))
    out = tmp_path / "out"
    with pytest.raises(ToucheError, match=r"/touche-mine/run\.txt: the run is empty"):
        touche.sweep(mine, DATASET, {"least": [1, 2]}, output=out)
    assert {*files_in(out)} >= {"touche-mine/run.txt", "touche-mine-least=2/run.txt"}


def test_two_settings_that_would_share_a_folder_are_refused(mine: str, write: Write, tmp_path: Path) -> None:
    same = [str(write(f"{name}/words.txt", name)) for name in "ab"]
    with pytest.raises(ToucheError, match=r"words=words\.txt; rename"):
        swept(baselines.load(mine), {"words": same}, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_value_with_a_slash_stays_in_the_folder_of_the_sweep(mine: str, tmp_path: Path) -> None:
    output = tmp_path / "other"
    sweep = swept(baselines.load(mine), {"words": ["../../x", "%2e/y"]}, output)
    assert {setting.folder.parent for setting in sweep.settings} == {output}
    assert len(list(output.glob("*/run.txt"))) == 2


def test_scores_are_those_of_evaluate_and_the_best_is_best(tmp_path: Path) -> None:
    sweep = swept(baselines.load("bm25"), {"k1": [0.1, 5.0], "b": [0.0, 1.0]}, tmp_path)
    for row in sweep.scores:
        scores = table_of([row.setting.folder / "run.txt"], TASK, ["trec_eval"])
        (score,), (each,) = scores, scores.scored
        assert (row.mean, row.low, row.high, row.judged) == (score.mean, score.low, score.high, score.judged)
        assert row.values == each.evaluation.per_topic and row.record["topics"] == score.topics
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
    with pytest.raises(ToucheError, match=r"no topic of the run.*passages"):
        touche.sweep("bm25", DATASET, {}, task="spot-check/passages")


def test_scores_that_are_all_0_are_a_warning_and_choose_nothing() -> None:
    unknown = {topic: {"x": 1} for topic in touche.qrels_of(ROOT / "qrels" / QRELS)}
    with pytest.warns(UserWarning, match="are 0"):
        sweep = touche.sweep("bm25", DATASET, {"k1": [0.5]}, qrels=unknown, cross_validation="two-fold")
    assert not sweep.cross_validations and {score.mean for score in sweep.scores} == {0}
