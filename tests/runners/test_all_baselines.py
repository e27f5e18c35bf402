"""touche run all: which baselines fit an input, and what becomes of the others."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Touche, Write
from touche.baselines import extras
from touche.errors import ToucheError
from touche.runners import all_baselines

TOPICS = "<topics><topic><number>1</number><title>Cats or dogs?</title></topic></topics>"

CARD = """
id = "cats"
title = "Cats"
url = "https://example.org"
topics = "cats.xml"
qrels.relevance.file = "cats.qrels"
corpora.full.directory = "cats"
rules.unit = "document"
rules.max_results = 10
"""


@pytest.fixture
def collection(write: Write, tmp_path: Path) -> Path:
    write("in/topics.xml", TOPICS)
    write("in/documents.jsonl", '{"docno": "a", "text": "cats"}\n')
    return tmp_path / "in"


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Ships only some baselines. Loading one of ``errors`` raises its error."""

    def ship(*names: str, **errors: Exception) -> None:
        load = all_baselines.load

        def load_or_fail(name: str) -> Any:
            if name in errors:
                raise errors[name]
            return load(name)

        monkeypatch.setattr(all_baselines, "shipped_baselines", lambda: [*names, *errors])
        monkeypatch.setattr(all_baselines, "load", load_or_fail)

    return ship


def files(folder: Path) -> Sequence[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_each_fitting_baseline_gets_a_folder_and_the_others_a_line(
    touche: Touche, collection: Path, tmp_path: Path, shipped: Callable[..., None]
) -> None:
    shipped("bm25", "minsc", "bm25-images", "argsme", "argsrank", "chatnoir-bm25f")
    code, out, err = touche("run", "all", "-i", collection, "-o", tmp_path / "out", "--team", "Cats")
    assert code == 0
    *lines, last = out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "minsc does not fit",
        "bm25-images does not fit",
        "argsme does not fit",
        "argsrank does not fit",
        "chatnoir-bm25f does not fit",  # it filters the only document, and an empty run can't be scored
    ]
    assert "a is not an image; pass a folder with images/" in lines[0]
    assert last == f"1 run of 6 baselines in {tmp_path}/out; 5 do not fit, 0 failed"
    assert files(tmp_path / "out") == ["bm25", "bm25/ir-metadata.yml", "bm25/run.txt"]
    assert "  team: Cats\n" in (tmp_path / "out/bm25/ir-metadata.yml").read_text()
    assert f"bm25: wrote {tmp_path}/out/bm25/run.txt in " in err


def test_a_failure_does_not_stop_the_others_and_sets_the_exit_code(
    touche: Touche, collection: Path, tmp_path: Path, shipped: Callable[..., None]
) -> None:
    shipped("minsc", "bm25", dph=ToucheError("the disk is full; free some space"))
    code, out, _ = touche("run", "all", "-i", collection, "-o", tmp_path / "out")
    assert code == 2 and (tmp_path / "out/bm25/run.txt").is_file()
    assert out.startswith("minsc does not fit: ")
    assert out.splitlines()[1:] == [  # failures come last, where they are seen
        "dph failed: the disk is full; free some space",
        f"1 run of 3 baselines in {tmp_path}/out; 1 do not fit, 1 failed",
    ]


def test_a_bug_is_named_with_its_type_in_one_line(
    touche: Touche, collection: Path, tmp_path: Path, shipped: Callable[..., None]
) -> None:
    shipped("bm25", tfidf=ValueError("a\nbug"))
    code, out, err = touche("run", "all", "-i", collection, "-o", tmp_path / "out")
    assert code == 2 and "tfidf failed: ValueError: a bug\n" in out and "Traceback" not in err
    _, _, err = touche("run", "all", "-i", collection, "-o", tmp_path / "out", "--verbose")
    assert "Traceback" in err


def test_results_of_another_kind_than_the_task_ranks_do_not_fit(
    touche: Touche,
    write: Write,
    tmp_path: Path,
    shipped: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise, a board would have baselines whose scores are 0 because nobody could judge their results."""
    shipped("bm25", "dirichletlm-pairs")
    write("out/dirichletlm-pairs/run.txt", "1 Q0 a 1 1 t\n")  # an earlier run
    code, out, _ = touche("run", "all", "-i", "spot-check/arguments", "-o", tmp_path / "out")
    assert code == 0 and out.startswith(
        "dirichletlm-pairs does not fit: the task can't judge its results: 'S"
    )
    assert files(tmp_path / "out") == ["bm25", "bm25/ir-metadata.yml", "bm25/run.txt"]
    _, out, _ = touche("run", "all", "-i", "spot-check/pairs", "-o", tmp_path / "pairs")
    assert out.splitlines()[0].startswith("bm25 does not fit: the task can't judge its results: ")
    assert files(tmp_path / "pairs") == [
        "dirichletlm-pairs", "dirichletlm-pairs/ir-metadata.yml", "dirichletlm-pairs/run.txt"
    ]  # fmt: skip


def test_a_warning_that_several_baselines_cause_is_printed_once(
    touche: Touche, tmp_path: Path, shipped: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped("argsme", "bm25")
    load = all_baselines.load
    monkeypatch.setattr(all_baselines, "load", lambda name: load("argsme"))
    _, _, err = touche("run", "all", "-i", "spot-check/arguments", "-o", tmp_path / "out")
    assert err.count("wrote ") == 2
    assert err.count("warning: no argument has the text of its web page") == 1


def test_an_earlier_run_is_removed_if_there_is_none_now(
    touche: Touche, write: Write, collection: Path, tmp_path: Path, shipped: Callable[..., None]
) -> None:
    for name in ("minsc", "tfidf", "elsewhere"):
        write(f"out/{name}/run.txt", "1 Q0 a 1 1 t\n")
        write(f"out/{name}/ir-metadata.yml", "")
    write("out/tfidf/notes.txt", "mine")
    shipped("bm25", "minsc", tfidf=ValueError("a bug"))
    touche("run", "all", "-i", collection, "-o", tmp_path / "out")
    runs = [name for name in files(tmp_path / "out") if name.endswith(".txt")]
    assert runs == ["bm25/run.txt", "elsewhere/run.txt", "tfidf/notes.txt"]
    assert not (tmp_path / "out/minsc").exists()


def test_a_missing_extra_is_a_reason_and_no_failure(
    touche: Touche,
    collection: Path,
    tmp_path: Path,
    shipped: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    shipped("bm25", "polnareff")
    of_image = tmp_path / "out" / "polnareff" / "run.txt"
    of_image.parent.mkdir(parents=True)
    of_image.write_text("1 Q0 d 1 1 polnareff\n")
    code, out, _ = touche("run", "all", "-i", collection, "-o", tmp_path / "out")
    assert code == 0 and out.startswith("polnareff does not fit: the extra lucene is missing; install it ")
    assert of_image.exists(), "an earlier run of its image stays"


def test_no_fitting_baseline_and_an_unusable_input_are_errors(
    touche: Touche, write: Write, collection: Path, tmp_path: Path, shipped: Callable[..., None]
) -> None:
    shipped("minsc", "random-images")
    assert touche("run", "all", "-i", collection, "-o", tmp_path / "out")[0] == 2
    shipped("bm25", "minsc")
    (tmp_path / "empty").mkdir()
    write("only-topics/topics.xml", TOPICS)
    write("file", "")
    for name, message in (
        ("empty", f"touche: {tmp_path}/empty: no topics in this folder"),
        ("only-topics", f"touche: {tmp_path}/only-topics: no documents in this folder"),
        ("file", "touche: "),
        ("nowhere", "touche: "),
    ):
        code, out, err = touche("run", "all", "-i", tmp_path / name, "-o", tmp_path / "none")
        assert (code, out) == (2, "") and err.startswith(message) and err.count("\n") == 1
    assert not (tmp_path / "none").exists()
    code, _, err = touche("run", "all", "-i", collection, "-o", tmp_path / "file")
    assert code == 2 and "is a file" in err


def test_all_is_a_word_like_a_baseline_and_a_folder_of_this_name_is_a_path(
    touche: Touche, write: Write, collection: Path, tmp_path: Path, shipped: Callable[..., None]
) -> None:
    shipped("bm25")
    assert touche("run", "-i", collection, "all", "-o", tmp_path / "out")[0] == 0
    code, _, err = touche("run", "all", "-i", collection, "-o", tmp_path / "out", "--runner", "docker")
    assert code == 2 and "all runs the baselines on this machine; omit --runner" in err
    assert "All baselines above that fit the input" in " ".join(touche("run", "--help")[1].split())
    head = "from touche import baseline\n@baseline\ndef all(topics, documents):\n"
    folder = write("all/baseline.py", f"{head}    yield topics[0], [('z', 1.0)]\n").parent
    assert touche("run", f"{folder}", "-i", collection, "-o", tmp_path / "mine")[0] == 0
    assert (tmp_path / "mine/run.txt").read_text().startswith("1 Q0 z 1 1")


def test_regress_on_a_new_task_names_the_command(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("data/tasks/cats.toml", CARD)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "data"))
    for names in ([], ["bm25", "dph"]):
        code, _, err = touche("regress", *names, "--dataset", "cats")
        problem = "no shipped baseline has an expected score on cats"
        assert code == 2 and f"{problem}; to run those that fit, use: touche run all -i cats -o out" in err
    code, _, err = touche("regress", "bm25-images", "--dataset", "spot-check/pairs")
    assert code == 2 and "expected.toml has no entry for these baselines and datasets; choose others" in err


@pytest.mark.slow
@pytest.mark.parametrize("part", ["arguments", "passages", "pages", "pairs", "images"])
def test_no_shipped_baseline_fails_on_a_kind_of_input_that_it_can_not_rank(part: str, tmp_path: Path) -> None:
    attempts = [*all_baselines.run_all(f"spot-check/{part}", tmp_path)]
    assert [attempt for attempt in attempts if attempt.is_failure] == []
    written = {attempt.baseline for attempt in attempts if attempt.written}
    of_part = {"pairs": {"dirichletlm-pairs"}, "images": {"bm25-images", "minsc"}}
    assert written >= of_part.get(part, {"bm25", "dirichletlm"})
    assert ("bm25" in written) == (part not in of_part), "it ranks no pairs, and gives images no stance"
