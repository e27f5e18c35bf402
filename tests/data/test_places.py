import os
import shutil
from pathlib import Path

import pytest

import touche as package
from conftest import ROOT, Touche, Write, write_files
from touche import tasks
from touche.baselines.expected import read_expected
from touche.data import datasets, places
from touche.documents.ir_datasets import IrDataset
from touche.errors import InputError, MissingDataError
from touche.io import origin
from touche.runners import container_runs
from touche.runners.container_runs import input_directory


def test_without_a_clone_what_ships_is_in_the_package_and_fetched_data_in_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT / "tests")  # from any current folder
    assert places.clone() == places.shipped() == places.data_home() == ROOT
    library = tmp_path / "lib" / "touche"
    for name in ("baselines", "topics"):
        (tmp_path / name).mkdir()  # next to the folder of pip install --target lib
    monkeypatch.setattr(places, "__file__", str(library / "data" / "places.py"))
    monkeypatch.setattr(origin, "__file__", str(library / "io" / "origin.py"))
    places.shipped.cache_clear()
    assert places.clone() is None and places.shipped() is None  # as in an image
    (library / "shipped" / "topics").mkdir(parents=True)  # as in a wheel
    places.shipped.cache_clear()
    assert places.shipped() == library / "shipped"
    assert places.data_home() == tmp_path / "cache" / "touche"


def test_data_is_looked_up_in_touche_data_then_the_clone_then_the_cache(
    monkeypatch: pytest.MonkeyPatch, write: Write, tmp_path: Path
) -> None:
    name = "spot-check-arguments.xml"
    assert places.locate("topics", name) == ROOT / "topics" / name
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "mirror"))
    assert places.locate("topics", name) == ROOT / "topics" / name
    mirrored = write(f"mirror/topics/{name}", "")
    assert places.locate("topics", name) == mirrored
    cached = write("cache/touche/qrels/a.qrels", "")
    assert places.locate("qrels", "a.qrels") == cached
    second = write("second/qrels/a.qrels", "")
    write(f"second/topics/{name}", "")
    monkeypatch.setenv("TOUCHE_DATA", f"{tmp_path}/mirror:{tmp_path}/second")
    assert (places.locate("topics", name), places.locate("qrels", "a.qrels")) == (mirrored, second)


def test_a_corpus_is_available_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, write: Write, tmp_path: Path
) -> None:
    """An interrupted fetch must not pass for the whole corpus."""
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    corpus = tasks.Corpus("three", files=("a.json", "b.json", "c.json"))
    assert not places.find_corpus(corpus)
    (tmp_path / "corpora" / "three").mkdir(parents=True)
    with pytest.raises(MissingDataError, match="corpora/three is empty; it is not published; set"):
        places.locate_corpus(corpus)
    for name in ("a.json", "c.json"):
        write(f"corpora/three/{name}", "[]")
    with pytest.raises(MissingDataError, match=r"corpora/three is incomplete, without b\.json"):
        places.locate_corpus(corpus)
    write("corpora/three/b.json", "[]")
    assert places.find_corpus(corpus)
    write("corpora/packed/all.json.gz", "[]")  # with other names of files
    assert places.find_corpus(tasks.Corpus("packed", files=("a.json", "b.json")))


def test_a_corpus_of_ir_datasets_is_read(
    monkeypatch: pytest.MonkeyPatch, write: Write, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    write("topics/touche-2021-task-2.xml", "<topic><number>1</number><title>t</title></topic>")
    assert datasets.open_dataset("touche-2021-task-2").documents == IrDataset("clueweb12")
    ranks = write("topics/spam-ranks.txt.gz", "73 a\n")
    documents = datasets.open_dataset("touche-2021-task-2").documents
    assert documents == IrDataset(id="clueweb12", side_files=(ranks,))


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ("touche-2022-task-2", "get it with: touche data fetch touche-2022-task-2"),
        ("beir-webis-touche2020-v2", r"fetch beir-webis-touche2020-v2 \(227 MB\)"),  # one archive
        ("touche-2022-task-2/sample", "corpora/touche-2022-task-2-sample is missing"),
    ],
)
def test_a_missing_corpus_is_an_error_and_not_downloaded(
    monkeypatch: pytest.MonkeyPatch, write: Write, tmp_path: Path, dataset: str, message: str
) -> None:
    write("topics/touche-2022-task-2.xml", "<topic><number>1</number><title>t</title></topic>")
    write(f"topics/{tasks.task('beir-webis-touche2020-v2').topics}", '{"_id": "1", "text": "t"}\n')
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=message):
        datasets.open_dataset(dataset)


def test_the_error_about_a_missing_dataset_names_the_tasks_others_that_are_here(
    monkeypatch: pytest.MonkeyPatch, write: Write, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    task = "touche-2022-task-2"
    for folder in (f"topics/{task}", f"corpora/{task}-sample/topics", f"corpora/{task}-twenty-topics/topics"):
        write(f"{folder}.xml", "<topic><number>2</number><title>t</title></topic>")
    for part in ("sample", "twenty-topics"):
        write(f"corpora/{task}-{part}/documents.jsonl", '{"id": "a", "contents": "t"}\n')
    for look_up in (datasets.open_dataset, container_runs._files_of_dataset):
        with pytest.raises(
            MissingDataError, match=f"or use what is here: {task}/sample, {task}/twenty-topics$"
        ):
            look_up(task)
    shutil.rmtree(tmp_path / f"corpora/{task}-sample")
    with pytest.raises(MissingDataError, match=rf"; .*, or use what is here: {task}/twenty-topics$"):
        datasets.open_dataset(f"{task}/sample")
    shutil.rmtree(tmp_path / f"corpora/{task}-twenty-topics")
    with pytest.raises(MissingDataError, match=r"set TOUCHE_DATA to a folder that has it$"):
        datasets.open_dataset(task)


def test_a_folder_never_replaces_the_dataset_of_its_name(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "spot-check/arguments"
    write(f"{name}/topics.xml", "<topic><number>1</number><title>Mine</title></topic>")
    write(f"{name}/documents.jsonl", '{"docno": "a", "text": "mine"}\n')
    monkeypatch.chdir(tmp_path)
    for path in (f"./{name}", f"../{tmp_path.name}/{name}", str(tmp_path / name)):
        assert datasets.opened(path).topics[0].title == "Mine" and not places.is_dataset(path)
        with input_directory(path) as folder:
            assert folder == Path(path)
    assert len(datasets.opened(name, corpus="").topics) > 1  # an empty option of a script
    with input_directory(name) as folder:
        assert folder != Path(name) and (folder / "args-me.json").is_file()
    assert len(package.run("bm25", name).by_topic) > 1
    assert package.run("bm25", Path(name)).documents.tolist() == ["a"]
    sweep = package.sweep("bm25", Path(name), {"k1": [0.5]}, qrels={"1": {"a": 1}}, measure="P@1")
    assert [score.mean for score in sweep.scores] == [1.0]


@pytest.mark.parametrize("as_folder", [False, True], ids=["broken link", "folder"])
def test_only_a_file_is_the_topics_of_a_collection_of_beir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_folder: bool
) -> None:
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    folder = tmp_path / "corpora" / "beir-webis-touche2020-v2"
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").touch()
    queries = folder / "queries.jsonl"
    if as_folder:
        queries.mkdir()
    else:
        queries.symlink_to("nowhere")
    with pytest.raises(MissingDataError, match="touche data fetch"):
        places.locate_topics(*tasks.dataset("beir-webis-touche2020-v2"))


def test_a_pipe_in_a_data_folder_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, touche: Touche
) -> None:
    """It counts as missing."""
    for name in ("tasks/mine.toml", "topics/touche-2020-task-1.xml", "qrels/x.qrels"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(tmp_path / name)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    assert places.find("topics", "touche-2020-task-1.xml") is None and places.find("qrels", "x.qrels") is None
    assert "mine" not in tasks.ids()
    assert not tasks.is_dataset("mine")
    code, *said = touche("tasks", "check", tmp_path / "tasks" / "mine.toml")
    assert code == 2 and "mine.toml: not a regular file; replace it with a file, or remove it" in "".join(
        said
    )


def test_a_pipe_named_expected_toml_is_not_waited_for(tmp_path: Path) -> None:
    baseline = write_files(tmp_path / "mine", {"baseline.py": ""})
    os.mkfifo(baseline / "expected.toml")
    with pytest.raises(InputError, match=r"mine/expected\.toml: not a regular file; replace it"):
        read_expected(str(baseline))


def test_a_task_lists_its_datasets_and_how_to_get_those_that_are_missing(
    monkeypatch: pytest.MonkeyPatch, write: Write, tmp_path: Path, touche: Touche
) -> None:
    task = "touche-2021-task-1"
    (tmp_path / "topics").mkdir()
    for folder in ("topics", "corpora/argsme-2020-04-01-sample"):
        write(f"{folder}/{task}.xml", "<topics/>")
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    listed = touche("tasks", task)[1].partition("\nDatasets\n")[2].partition("\n\n")[0]
    whole, sample, ten = listed.splitlines()
    assert sample == f"  {task}/sample: corpora/argsme-2020-04-01-sample; here"
    assert whole.startswith(
        f"  {task}: corpora/argsme-2020-04-01; missing: get it with: touche data fetch {task}, or"
    )
    assert ten.startswith(f"  {task}/ten-topics: corpora/argsme-2020-04-01-ten-topics; missing: get it with:")


def test_a_packed_run_is_found_and_listed_by_the_name_that_is_here(
    monkeypatch: pytest.MonkeyPatch, write: Write, tmp_path: Path, touche: Touche
) -> None:
    path = "runs/touche-2020-task-2/zorro.run"
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    assert f"  {path}\n" in touche("data", "list", "touche-2020-task-2")[1]
    packed = write(f"{path}.gz", "")
    assert places.find(*path.split("/", 1)) == packed
    assert places.find("qrels", "zorro.run") is None
    assert f"  {path}.gz\n" in touche("data", "list", "touche-2020-task-2")[1]
    unpacked = write(path, "")
    assert places.find(*path.split("/", 1)) == unpacked
