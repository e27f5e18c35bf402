import shutil
from dataclasses import replace
from hashlib import md5
from html import unescape
from pathlib import Path

import pytest
import yaml

import touche as library
from conftest import ROOT, Touche, Write
from touche.data import datasets
from touche.errors import ToucheWarning
from touche.trec.runs import read_run


@pytest.mark.parametrize("baseline", ["bm25", "dirichletlm"])  # by df, and by ttf
def test_documents_of_a_sample_get_the_scores_of_the_whole_collection(
    touche: Touche, write: Write, tmp_path: Path, baseline: str
) -> None:
    statistics = tmp_path / "s.json"
    whole = ("-i", "spot-check/passages", "-o", tmp_path / "whole", "--keep-statistics", statistics)
    assert touche("run", baseline, *whole)[0] == 0
    passages = (ROOT / "corpora" / "spot-check-passages" / "passages.jsonl").read_text()
    write("in/passages.jsonl", "".join(passages.splitlines(keepends=True)[::2]))
    write("in/topics.xml", (ROOT / "topics" / "spot-check-passages.xml").read_text())
    sample = ("-i", tmp_path / "in", "-o", tmp_path / "sample", "--statistics", statistics)
    assert touche("run", baseline, *sample)[0] == 0
    scores, all_scores = (
        {(line.topic, line.document): line.score for line in read_run(tmp_path / name / "run.txt")}
        for name in ("sample", "whole")
    )
    assert scores.items() < all_scores.items()


@pytest.fixture(scope="module")
def altered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the statistics of a collection, and with altered copies."""
    folder = tmp_path_factory.mktemp("altered")
    library.write_run("bm25", "spot-check/arguments", folder / "kept", keep_statistics=folder / "bm25.json")
    text = (folder / "bm25.json").read_text()
    changes = {
        "documents": ('"documents":270', '"documents":260'),
        "counts": ('"ban":[28,43]', '"ban":[28,42]'),
    }
    for name, (old, new) in changes.items():
        assert old in text
        (folder / f"{name}.json").write_text(text.replace(old, new))
    return folder


ARGUMENTS = "-i spot-check/arguments"
REFUSED = {
    f"run bm25 {ARGUMENTS} --statistics documents.json": "statistics of another collection",
    f"run bm25 {ARGUMENTS} --statistics counts.json": "statistics of another collection",
    f"run rank-bm25 {ARGUMENTS} --statistics bm25.json": "rank with touche.scan use statistics",
}


@pytest.mark.parametrize("command", REFUSED, ids=lambda command: command[:90])
def test_statistics_that_do_not_fit_the_documents_or_the_baseline_are_refused(
    touche: Touche, altered: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(altered)
    code, _, said = touche(*command.split(), "-o", "out")
    assert code == 2
    assert REFUSED[command] in said.splitlines()[-1]
    assert not Path("out/run.txt").exists()


@pytest.mark.parametrize("runner", ["own", "named"])
def test_statistics_of_a_baseline_are_named(touche: Touche, tmp_path: Path, runner: str) -> None:
    """A name is that of a file in the baseline's folder; a path begins with ./ or has a suffix."""
    folder = tmp_path / "mine"
    shutil.copytree(ROOT / "baselines" / "bm25", folder)
    dataset = "spot-check/passages"
    out = tmp_path / "out"
    assert touche("run", folder, "-i", dataset, "-o", out, "--keep-statistics", tmp_path / "s.json")[0] == 0
    (folder / "statistics").mkdir(exist_ok=True)
    shutil.copyfile(tmp_path / "s.json", folder / "statistics" / "toy.json")
    name = "toy" if runner == "named" else str(tmp_path / "s.json")
    code, _, err = touche("run", folder, "-i", dataset, "-o", out, "--statistics", name)
    assert code == 0 and "ranks by the statistics in " in err
    code, _, err = touche("run", folder, "-i", dataset, "-o", out, "--statistics", "toi")
    assert code == 2
    remedy = "pass a file written by --keep-statistics, none for the documents' own, or one of: "
    assert f"no such file; {remedy}" in err


def test_statistics_are_refused_by_a_baseline_that_ranks_nothing(touche: Touche, write: Write) -> None:
    code = "@touche.baseline\ndef nothing(topics, documents):\n    yield from ()\n"
    folder = write("nothing/baseline.py", f'"""None."""\nimport touche\n\n\n{code}').parent
    out = folder.parent / "out"
    status, _, said = touche(
        "run", folder, *ARGUMENTS.split(), "-o", out, "--keep-statistics", folder.parent / "s.json"
    )
    assert status == 2 and "only baselines that rank with touche.scan use statistics" in said
    assert not (out / "run.txt").exists()


def scores_of(folder: Path) -> dict[tuple[str, str], float]:
    return {(line.topic, line.document): line.score for line in read_run(folder / "run.txt")}


def statistics_in_metadata(folder: Path) -> object:
    return yaml.safe_load((folder / "ir-metadata.yml").read_text())["data"]["statistics"]


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of bm25 that ships larger numbers for a dataset than its documents have."""
    folder = tmp_path / "mine"
    shutil.copytree(ROOT / "baselines" / "bm25", folder)
    (folder / "statistics").mkdir(exist_ok=True)
    file = folder / "statistics" / "toy.json"
    library.write_run("bm25", "spot-check/arguments", tmp_path / "kept", keep_statistics=file)
    file.write_text(file.read_text().replace('"documents":270', '"documents":4270'))
    opened = datasets.opened
    monkeypatch.setattr(
        datasets, "opened", lambda *args, **kwargs: replace(opened(*args, **kwargs), **OF_A_PART)
    )
    return folder


OF_A_PART = {"statistics": "toy", "is_whole": False}


def test_the_documents_own_statistics_replace_those_that_a_baseline_ships(
    touche: Touche, shipped: Path, tmp_path: Path
) -> None:
    by_name = {}
    for name, baseline, options in (
        ("shipped", shipped, ()),
        ("own", shipped, ("--statistics", "none")),
        ("other", "tfidf", ()),
        ("without scan", "rank-bm25", ("--statistics", "none")),
    ):
        command = ("run", baseline, *ARGUMENTS.split(), "-o", tmp_path / name, *options)
        code, _, by_name[name] = touche(*command)
        assert code == 0, by_name[name]
    remedy = "--statistics none ranks by the documents' own"
    assert (
        f"ranks by the statistics in toy.json, not by those of the documents; {remedy}" in by_name["shipped"]
    )
    remedy = "only compare it with runs by --statistics none"
    problem = "has no statistics named toy, so it ranks by those of the documents"
    assert f"tfidf: {problem}; {remedy}" in by_name["other"]
    assert "statistics" not in by_name["own"] + by_name["without scan"]
    library.write_run("bm25", "spot-check/arguments", tmp_path / "plain", statistics="none")
    assert scores_of(tmp_path / "own") == scores_of(tmp_path / "plain") != scores_of(tmp_path / "shipped")
    assert statistics_in_metadata(tmp_path / "own") == {"name": "none"}
    digest = md5((shipped / "statistics" / "toy.json").read_bytes()).hexdigest()
    assert statistics_in_metadata(tmp_path / "shipped") == {"name": "toy", "md5": digest}


def test_runs_by_different_statistics_are_compared_with_a_warning(
    touche: Touche, shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, options in (("a", ()), ("b", ("--statistics", "none"))):
        assert touche("run", shipped, *ARGUMENTS.split(), "-o", name, "--tag", name, *options)[0] == 0
    text = (
        "warning: the runs were ranked with different statistics: a/run.txt with toy, b/run.txt with those "
        "of the documents; to compare methods, run all of them with --statistics none"
    )
    for command in (("compare",), ("compare", "--format", "latex"), ("report", "-o", "page")):
        code, _, err = touche(*command, "a/run.txt", "b/run.txt", "--task", "spot-check/arguments")
        assert code == 0 and err.count(text) == 1
    assert text.removeprefix("warning: ") in unescape(Path("page/index.html").read_text())
    shutil.copytree("b", "c")
    for other in ("b", "c"):
        (Path(other) / "run.txt").write_text(
            (Path("b") / "run.txt").read_text().replace(" b\n", f" {other}\n")
        )
    err = touche("compare", "b/run.txt", "c/run.txt", "--task", "spot-check/arguments")[2]
    assert "different statistics" not in err
    with pytest.warns(ToucheWarning, match="different statistics: a/run.txt with toy, b/run.txt"):
        library.compare(["a/run.txt", "b/run.txt"], "spot-check/arguments")


EXPANDED = """\"""Adds a term."\""
import touche
from touche import scan


@touche.baseline
def expanded(topics, documents, *, weight=1.0):
    queries = {}
    for topic in topics:
        terms = scan.terms(topic.title, "english")
        queries[topic.number] = dict.fromkeys(terms, 1.0) | {"peopl": weight}
    for topic, hits in scan.rank(
        topics, documents, scan.bm25(0.9, 0.4), analysis="english", queries=queries
    ):
        yield topic, hits
"""


def test_a_term_that_the_statistics_lack_is_refused_unless_its_weight_is_0(
    touche: Touche, shipped: Path, write: Write, tmp_path: Path
) -> None:
    folder = write("expanded/baseline.py", EXPANDED).parent
    statistics = shipped / "statistics" / "toy.json"
    assert '"peopl":' not in statistics.read_text()
    command = ("run", folder, *ARGUMENTS.split(), "-o", tmp_path / "out", "--statistics", statistics)
    code, _, err = touche(*command)
    assert code == 2 and "no statistics of the term 'peopl'" in err
    assert err.endswith("or --statistics none for the documents' own\n")
    code, _, err = touche(*command, "--weight", "0")
    assert code == 0, err
    assert touche(*command[:-1], "none")[0] == 0
