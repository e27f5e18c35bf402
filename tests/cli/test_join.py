import json
import shutil
from pathlib import Path

import pytest

import touche as library
from conftest import ROOT, Touche, Write


@pytest.fixture
def parts(write: Write) -> list[Path]:
    """Input directories: three parts of the toy passages (one without a topic's term), and all of them."""
    topics = (ROOT / "topics" / "spot-check-passages.xml").read_text()
    (passages,) = (ROOT / "corpora" / "spot-check-passages").glob("passages*.jsonl")
    lines = passages.read_text().splitlines(keepends=True)
    texts = ["".join(lines[::2]), "".join(lines[1::2]), '{"id": "x", "contents": "qqq"}\n']
    for name, text in enumerate([*texts, "".join(texts)]):
        write(f"{name}/topics.xml", topics)
        folder = write(f"{name}/passages.jsonl", text).parent
    return [folder.with_name(str(name)) for name in range(4)]


@pytest.mark.parametrize(("baseline", "depth"), [("bm25", 3), ("dirichletlm", 1000)])  # by df, and by ttf
def test_two_passes_over_parts_come_to_the_run_on_the_whole(
    touche: Touche, tmp_path: Path, parts: list[Path], baseline: str, depth: int
) -> None:
    *parts, whole = parts
    run = ("run", baseline, "--depth", depth)
    sums = tmp_path / "all"
    for part in parts:
        assert touche(*run, "-i", part, "-o", part / "first", "--keep-statistics", part / "s.json")[0] == 0
    command = "join", "statistics", *(part / "s.json" for part in parts), "-o", sums, "--format", "json"
    documents = sum(len((part / "passages.jsonl").read_text().splitlines()) for part in parts)
    assert json.loads(touche(*command)[1]) == [{"path": str(sums), "parts": 3, "documents": documents}]
    for part in parts:
        assert touche(*run, "-i", part, "-o", part / "second", "--statistics", sums)[0] == 0
    runs = [part / "second" / "run.txt" for part in parts]
    options = ("-i", "spot-check/passages", "-o", tmp_path / "joined", "--depth", depth, "--statistics", sums)
    (joined,) = json.loads(touche("join", "runs", *runs, *options, "--format", "json")[1])
    assert (joined["path"], joined["parts"]) == (str(tmp_path / "joined" / "run.txt"), 3)
    assert "the sum of 3 parts, but 2 runs are passed" in touche("join", "runs", *runs[1:], *options)[2]
    runs[1].unlink()
    assert "run.txt: no such file" in touche("join", "runs", *runs, *options)[2]
    assert touche(*run, "-i", whole, "-o", whole)[0] == 0
    assert (tmp_path / "joined" / "run.txt").read_bytes() == (whole / "run.txt").read_bytes()
    assert (parts[0] / "first" / "run.txt").read_bytes() != runs[0].read_bytes()


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of two baselines, by statistics of their collection, and with altered copies."""
    folder = tmp_path_factory.mktemp("ranked")
    (folder / "in").mkdir()
    dataset = "spot-check/arguments"
    for name in ("bm25", "dirichletlm"):
        library.write_run(name, dataset, folder / "kept" / name, keep_statistics=folder / f"{name}.json")
    library.write_run("bm25", dataset, folder / "by" / "bm25", statistics=folder / "bm25.json")
    for name in ("copied", "tagged"):
        shutil.copytree(folder / "by" / "bm25", folder / name)
    run = (folder / "tagged" / "run.txt").read_text()
    (folder / "tagged" / "run.txt").write_text(run.replace("touche-bm25", "touche-bm26"))
    text = (folder / "bm25.json").read_text()
    changes = {
        "terms": ('"ban"', '"ben"'),
        "analysis": ('"english"', '"plural"'),
        "documents": ('"documents":270', '"documents":260'),
        "counts": ('"ban":[28,43]', '"ban":[28,42]'),
    }
    for name, (old, new) in changes.items():
        assert old in text
        (folder / f"{name}.json").write_text(text.replace(old, new))
    return folder


ARGUMENTS = "-i spot-check/arguments"
REFUSED = {
    "join runs by/bm25/run.txt -i in --statistics bm25.json": "in: no topics in this",
    f"join runs by/bm25/run.txt by/bm25/run.txt {ARGUMENTS} --statistics bm25.json": "twice",
    f"join runs kept/bm25/run.txt {ARGUMENTS} --statistics bm25.json": "its ir-metadata.yml",
    f"join runs by/bm25/run.txt {ARGUMENTS} --statistics dirichletlm.json": "its ir-metadata.yml",
    f"join runs by/bm25/run.txt {ARGUMENTS} --statistics no.json": "no.json: cannot be read",
    f"join runs by/bm25/run.txt copied/run.txt {ARGUMENTS} --statistics bm25.json": "ranked twice for",
    f"join runs by/bm25/run.txt tagged/run.txt {ARGUMENTS} --statistics bm25.json": "is touche-bm26",
    "join runs by/bm25/run.txt -i spot-check/pages --statistics bm25.json": "is not in the input",
    "join statistics bm25.json terms.json": "fields, analyses or terms differ",
    "join statistics bm25.json analysis.json": "fields, analyses or terms differ",
    "join statistics bm25.json bm25.json": "passed twice",
    f"run bm25 {ARGUMENTS} --statistics documents.json": "statistics of another collection",
    f"run bm25 {ARGUMENTS} --statistics counts.json": "statistics of another collection",
    f"run rank-bm25 {ARGUMENTS} --statistics bm25.json": "rank with touche.scan use statistics",
}


@pytest.mark.parametrize("command", REFUSED, ids=lambda command: command[:90])
def test_what_does_not_belong_together_is_refused(
    touche: Touche, ranked: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(ranked)
    code, _, said = touche(*command.split(), "-o", "out")
    assert code == 2
    assert REFUSED[command] in said.splitlines()[-1]
    assert not Path("out").exists()


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
