import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, Touche, Write

Refused = Callable[..., bool]


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
    options = ("-i", parts[0], "-o", tmp_path / "joined", "--depth", depth, "--statistics", sums)
    (joined,) = json.loads(touche("join", "runs", *runs, *options, "--format", "json")[1])
    assert (joined["path"], joined["parts"]) == (str(tmp_path / "joined" / "run.txt"), 3)
    assert "the sum of 3 parts, but 2 runs are passed" in touche("join", "runs", *runs[1:], *options)[2]
    runs[1].unlink()
    assert "run.txt: no such file" in touche("join", "runs", *runs, *options)[2]
    assert touche(*run, "-i", whole, "-o", whole)[0] == 0
    assert (tmp_path / "joined" / "run.txt").read_bytes() == (whole / "run.txt").read_bytes()
    assert (parts[0] / "first" / "run.txt").read_bytes() != runs[0].read_bytes()


@pytest.fixture
def ranked(touche: Touche, tmp_path: Path) -> list[Path]:
    """Runs of two baselines, each by the statistics of its own collection."""
    shutil.copy(ROOT / "topics" / "spot-check-arguments.xml", tmp_path / "topics.xml")
    ways = (("bm25", "keep-statistics"), ("bm25", "statistics"), ("dirichletlm", "keep-statistics"))
    for name, how in ways:
        out = (tmp_path / how / name, f"--{how}", tmp_path / f"{name}.json")
        assert touche("run", name, "-i", "spot-check/arguments", "-o", *out)[0] == 0
    return [tmp_path / how / "bm25" / "run.txt" for how in ("statistics", "keep-statistics")]


@pytest.fixture
def refused(touche: Touche, tmp_path: Path) -> Refused:
    """Whether a command is refused with an error, and nothing is written."""

    def call(error: str, *command: str | Path) -> bool:
        code, _, said = touche(*command, "-o", tmp_path / "out")
        return code == 2 and error in said.splitlines()[-1] and not [*tmp_path.glob("out/*")]

    return call


@pytest.mark.parametrize(
    ("runs", "by", "topics", "error"),
    [
        ([0], "bm25", "corpora", "corpora: no topics in this"),
        ([0, 0], "bm25", "", "passed twice"),
        ([1], "bm25", "", "keep-statistics/bm25/run.txt: its ir-metadata.yml"),
        ([0], "dirichletlm", "", "statistics/bm25/run.txt: its ir-metadata.yml"),
        ([0], "nothing", "", "nothing.json: cannot be read"),
    ],
)
def test_runs_that_do_not_belong_together_are_not_joined(
    refused: Refused, tmp_path: Path, ranked: list[Path], runs: list[int], by: str, topics: str, error: str
) -> None:
    options = ("-i", topics or tmp_path, "--statistics", tmp_path / f"{by}.json")
    assert refused(error, "join", "runs", *(ranked[run] for run in runs), *options)


def test_runs_of_two_baselines_or_on_other_topics_are_not_joined(
    refused: Refused, tmp_path: Path, ranked: list[Path]
) -> None:
    other = tmp_path / "other" / "run.txt"
    shutil.copytree(ranked[0].parent, other.parent)
    options = ("-i", tmp_path, "--statistics", tmp_path / "bm25.json")
    assert refused("is ranked twice for one topic", "join", "runs", ranked[0], other, *options)
    other.write_text(other.read_text().replace("touche-bm25", "touche-bm26"))
    assert refused("the tag is touche-bm26", "join", "runs", ranked[0], other, *options)
    shutil.copy(ROOT / "topics" / "spot-check-pages.xml", tmp_path / "topics.xml")
    assert refused("is not in the input", "join", "runs", ranked[0], *options)


def test_statistics_that_do_not_belong_together_are_refused_and_those_that_have_no_use(
    refused: Refused, tmp_path: Path, ranked: list[Path]
) -> None:
    one = tmp_path / "bm25.json"
    other = tmp_path / "other.json"
    text = (tmp_path / "bm25.json").read_text()
    for analysis in ('"plural"', '"english"'):
        other.write_text(text.replace('"english"', analysis).replace('"ban"', '"ben"'))
        assert refused("fields, analyses or terms differ", "join", "statistics", one, other)
    assert refused("passed twice", "join", "statistics", one, one)
    options = ("-i", "spot-check/arguments", "--statistics", other)
    for some, fewer in (('"documents":270', '"documents":260'), ('"ban":[28,43]', '"ban":[28,42]')):
        assert some in text
        other.write_text(text.replace(some, fewer))
        assert refused("statistics of another collection", "run", "bm25", *options)
    assert refused("rank with touche.scan use statistics", "run", "rank-bm25", *options)


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


def test_the_topics_of_a_joined_run_may_be_those_of_a_dataset(touche: Touche, tmp_path: Path) -> None:
    dataset = "spot-check/passages"
    part = tmp_path / "part"
    statistics = tmp_path / "s.json"
    for option in ("--keep-statistics", "--statistics"):
        assert touche("run", "bm25", "-i", dataset, "-o", part, option, statistics)[0] == 0
    options = ("-i", dataset, "--statistics", statistics, "-o", tmp_path / "all")
    assert touche("join", "runs", part / "run.txt", *options)[0] == 0
