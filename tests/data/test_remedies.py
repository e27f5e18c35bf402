"""Advice about missing data works."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Write
from touche import tasks
from touche.cli.data import fetch_
from touche.containers import runs
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
    folders = [root / "corpora" / corpus.directory for root in (tmp_path, places.home())]
    for folder in folders:
        folder.mkdir(parents=True)
        with pytest.raises(MissingDataError) as caught:
            places.locate_corpus(corpus)
        text = str(caught.value)
        assert text.startswith(f"{folder} is empty; ") and published <= {*fetched_by(text)}
        # Fetched files go to the user's folder, which a folder in TOUCHE_DATA would hide.
        assert text.endswith("; remove that folder first") == (folder == folders[0])
        folder.rmdir()


@pytest.mark.parametrize("runner", ["Python", "container"])
def test_a_missing_dataset_has_a_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runner: str) -> None:
    monkeypatch.setattr(places, "clone", lambda: None)
    job = runs.Job(baseline="bm25", arguments=(), given="touche-2022-task-2", output=tmp_path)
    ask = {"Python": lambda: datasets.opened(job.given), "container": lambda: runs._mounts(job, tmp_path)}
    with pytest.raises(MissingDataError, match=r"touche data fetch touche-2022-task-2 \(286 MB\), or set"):
        ask[runner]()
    with monkeypatch.context() as image:  # an image has no ir_datasets, and fetches nothing
        image.setitem(sys.modules, "ir_datasets.util", None)
        with pytest.raises(MissingDataError, match="is missing"):
            ask[runner]()
    (places.home() / "corpora" / tasks.dataset(job.given)[1].directory).mkdir(parents=True)
    topics = places.home() / "topics"
    topics.mkdir()
    shutil.copy(ROOT / "topics" / "spot-check-passages.xml", topics / "touche-2022-task-2.xml")
    with pytest.raises(MissingDataError, match="is empty; get it with"):
        ask[runner]()
