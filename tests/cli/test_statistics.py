import shutil
from pathlib import Path

import pytest

import touche as library
from conftest import ROOT, Touche, Write
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
    assert code == 2 and "no such file; pass a file written by --keep-statistics, or one of: " in err


def test_statistics_are_refused_by_a_baseline_that_ranks_nothing(touche: Touche, write: Write) -> None:
    code = "@touche.baseline\ndef nothing(topics, documents):\n    yield from ()\n"
    folder = write("nothing/baseline.py", f'"""None."""\nimport touche\n\n\n{code}').parent
    out = folder.parent / "out"
    status, _, said = touche(
        "run", folder, *ARGUMENTS.split(), "-o", out, "--keep-statistics", folder.parent / "s.json"
    )
    assert status == 2 and "only baselines that rank with touche.scan use statistics" in said
    assert not (out / "run.txt").exists()
