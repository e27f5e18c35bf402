"""Advice about missing data works."""

import re
import shlex
from pathlib import Path

import pytest

from conftest import Touche, Write
from touche import tasks
from touche.cli.data import fetch_
from touche.data import datasets, places, remedies
from touche.data.sources import official
from touche.errors import MissingDataError

FILES = sorted(
    {
        path
        for task, corpus in map(tasks.dataset, tasks.datasets())
        for path in [
            f"topics/{task.topics}",
            *(f"qrels/{judgments.file}" for judgments in task.qrels.values()),
            f"corpora/{corpus.directory}",
        ]
        if "/spot-check" not in path
    }
)
ADVISED = re.compile(r"touche data fetch( [\w/-]+)+(?=, or )")


def fetched_by(text: str) -> list[str]:
    """Returns the files that the command in an advice fetches; none without a command."""
    if not (advice := ADVISED.search(text)):
        assert "data fetch" not in text
        return []
    parsed = fetch_.make_context("fetch", shlex.split(advice[0])[3:])
    return [path.path for path in official(parsed.params["datasets"]) if path.url]


def test_a_file_is_fetched_as_advised_or_nothing_is_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "clone", lambda: None)
    published = [path.path for path in official() if path.url]
    for path in FILES:
        with pytest.raises(MissingDataError) as caught:
            places.locate(*path.split("/"))
        fetched = fetched_by(str(caught.value))
        assert {address for address in published if f"{address}/".startswith(f"{path}/")} <= {*fetched}


def test_a_dataset_needs_no_corpus_whose_name_only_begins_like_that_of_its_own() -> None:
    corpora = [path.name for path in official(["touche-2021-task-1"]) if path.kind == "corpora"]
    assert {name.partition("/")[0] for name in corpora} == {"argsme-2020-04-01"}


def test_files_of_a_card_of_ones_own_go_next_to_it(monkeypatch: pytest.MonkeyPatch, write: Write) -> None:
    card = Path(tasks.__file__).parent / "spot-check" / "passages.toml"
    own = card.read_text().replace("spot-check/passages", "own").replace("spot-check", "own")
    folder = write("data/tasks/own.toml", own).parents[1]
    monkeypatch.setenv("TOUCHE_DATA", f"{folder.parent}:{folder}")
    path = "qrels/own-passages-relevance.qrels"
    assert remedies.remedy(path) == f"save it as {folder}/{path}"


@pytest.mark.parametrize("dataset", ["touche-2022-task-2", "touche-2021-task-2", "touche-2020-task-1/sample"])
def test_the_rest_of_a_corpus_is_fetched_as_advised_or_nothing_is_advised(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dataset: str
) -> None:
    _, corpus = tasks.dataset(dataset)
    monkeypatch.setattr(places, "clone", lambda: None)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    published = {
        path.path for path in official() if path.url and path.name.startswith(f"{corpus.directory}/")
    }
    folders = [root / "corpora" / corpus.directory for root in (tmp_path, places.data_home())]
    for folder in folders:
        folder.mkdir(parents=True)
        with pytest.raises(MissingDataError) as caught:
            places.locate_corpus(corpus)
        text = str(caught.value)
        assert text.startswith(f"{folder} is empty; ") and published <= {*fetched_by(text)}
        # Fetched files go to the user's folder, which a folder in TOUCHE_DATA would hide.
        assert text.endswith("; remove that folder first") == (folder == folders[0])
        folder.rmdir()


def test_what_cannot_be_verified_is_fetched_first(touche: Touche, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "clone", lambda: None)
    code, out, err = touche("data", "verify", "touche-2022-task-2", "touche-2022-task-2/sample")
    assert code == 1 and err.endswith("get them with: touche data fetch touche-2022-task-2\n")
    assert "qrels/touche-task2-2022-stance.qrels: missing" in out
    problem = "spot-check/pages: nothing was verified, because no file is published"
    message = f"touche: {problem}; choose other data\n"
    assert touche("data", "verify", "spot-check/pages") == (2, "", message)


def test_of_several_datasets_those_are_advised_that_can_be_fetched() -> None:
    requested = ["touche-2020-task-1/sample", "touche-2020-task-2", "touche-2022-task-1"]
    advice = places.remedy_for(requested)
    assert "corpora/argsme-2020-04-01-processed/args_processed.csv" in fetched_by(advice)
    assert "not published" in places.remedy_for(requested[:1])
    assert "requires an agreement" in places.remedy_for(requested[1:2])


def test_qrels_can_be_fetched_for_a_sample_whose_corpus_is_here(
    monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    monkeypatch.setattr(places, "clone", lambda: None)
    sample = write("data/corpora/argsme-2020-04-01-sample/args-me.json", "[]")
    monkeypatch.setenv("TOUCHE_DATA", str(sample.parents[2]))
    assert "qrels/touche-task1-51-100-quality.qrels" in fetched_by(
        places.remedy_for(["touche-2021-task-1/sample"])
    )


def test_an_image_without_ir_datasets_names_the_missing_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "clone", lambda: None)
    monkeypatch.setattr("touche.data.sources.downloads", dict)
    with pytest.raises(MissingDataError, match="is missing"):
        datasets.opened("touche-2022-task-2")
