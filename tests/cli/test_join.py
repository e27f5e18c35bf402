import shutil
from pathlib import Path

import pytest

from conftest import ROOT, Touche

ARGUMENTS = ROOT / "corpora" / "spot-check-arguments"


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """The passages of the spot check in three input directories, one without any term of the topics."""
    topics = (ROOT / "topics" / "spot-check-passages.xml").read_text()
    (passages,) = (ROOT / "corpora" / "spot-check-passages").glob("passages*.jsonl")
    lines = passages.read_text().splitlines(keepends=True)
    found = []
    for number, part in enumerate((lines[::2], lines[1::2], ['{"id": "x", "contents": "qqq"}\n'])):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "topics.xml").write_text(topics)
        (folder / "passages.jsonl").write_text("".join(part))
        found.append(folder)
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "topics.xml").write_text(topics)
    texts = [(each / "passages.jsonl").read_text() for each in found]
    (tmp_path / "whole" / "passages.jsonl").write_text("".join(texts))
    return found


@pytest.mark.parametrize(("baseline", "depth"), [("bm25", 3), ("dirichletlm", 1000)])  # by df, and by ttf
def test_two_passes_over_parts_come_to_the_run_on_the_whole(
    touche: Touche, tmp_path: Path, parts: list[Path], baseline: str, depth: int
) -> None:
    run = ("run", baseline, "--depth", depth)
    for part in parts:
        out = (part / "first", "--keep-statistics", part / "s.json")
        assert touche(*run, "-i", part, "-o", *out)[0] == 0
    assert touche("join", "statistics", *(each / "s.json" for each in parts), "-o", tmp_path / "all")[0] == 0
    for part in parts:
        out = (part / "second", "--statistics", tmp_path / "all")
        assert touche(*run, "-i", part, "-o", *out)[0] == 0
    runs = [each / "second" / "run.txt" for each in parts]
    joined = ("join", "runs", *runs, "-i", parts[0], "-o", tmp_path / "joined", "--depth", depth)
    joined += ("--statistics", tmp_path / "all")
    assert touche(*joined)[0] == 0
    assert "the sum of 3 parts, and 2 of their runs are given" in touche(*joined[:2], *joined[3:])[2]
    runs[1].unlink()
    assert "run.txt: no such file" in touche(*joined)[2]
    assert touche(*run, "-i", tmp_path / "whole", "-o", tmp_path / "expected")[0] == 0
    expected = (tmp_path / "expected" / "run.txt").read_bytes()
    assert (tmp_path / "joined" / "run.txt").read_bytes() == expected
    assert (parts[0] / "first" / "run.txt").read_bytes() != (runs[0]).read_bytes()


@pytest.fixture
def ranked(touche: Touche, tmp_path: Path) -> list[Path]:
    """Runs of two baselines, each by the statistics of its own collection."""
    (tmp_path / "topics.xml").write_text((ROOT / "topics" / "spot-check-arguments.xml").read_text())
    for name, how in (
        ("bm25", "keep-statistics"),
        ("bm25", "statistics"),
        ("dirichletlm", "keep-statistics"),
    ):
        out = (tmp_path / how / name, f"--{how}", tmp_path / f"{name}.json")
        assert touche("run", name, "-i", "spot-check/arguments", "-o", *out)[0] == 0
    return [tmp_path / how / "bm25" / "run.txt" for how in ("statistics", "keep-statistics")]


@pytest.mark.parametrize(
    ("runs", "by", "topics", "error"),
    [
        ([0], "bm25", "corpora", "corpora: no topics in it"),
        ([0, 0], "bm25", "", "given twice"),
        ([1], "bm25", "", "keep-statistics/bm25/run.txt: not ranked by"),
        ([0], "dirichletlm", "", "statistics/bm25/run.txt: not ranked by"),
        ([0], "nothing", "", "nothing.json: cannot be read"),
    ],
)
def test_runs_that_do_not_belong_together_are_not_joined(
    touche: Touche, tmp_path: Path, ranked: list[Path], runs: list[int], by: str, topics: str, error: str
) -> None:
    given = ("-i", topics or tmp_path, "--statistics", tmp_path / f"{by}.json", "-o", tmp_path / "out")
    code, _, said = touche("join", "runs", *(ranked[each] for each in runs), *given)
    assert (code, error in said.splitlines()[-1]) == (2, True), said
    assert not (tmp_path / "out").exists()


def test_runs_of_two_baselines_or_on_other_topics_are_not_joined(
    touche: Touche, tmp_path: Path, ranked: list[Path]
) -> None:
    other = tmp_path / "other" / "run.txt"
    shutil.copytree(ranked[0].parent, other.parent)
    other.write_text(other.read_text().replace("touche-bm25", "touche-bm26"))
    given = ("--statistics", tmp_path / "bm25.json", "-o", tmp_path / "out")
    code, _, error = touche("join", "runs", ranked[0], other, "-i", tmp_path, *given)
    assert (code, "a run of touche-bm26, not of touche-bm25" in error) == (2, True), error
    other.write_text(ranked[0].read_text())
    code, _, error = touche("join", "runs", ranked[0], other, "-i", tmp_path, *given)
    assert (code, "is ranked twice for one topic" in error) == (2, True)
    (tmp_path / "topics.xml").write_text((ROOT / "topics" / "spot-check-pages.xml").read_text())
    code, _, error = touche("join", "runs", ranked[0], "-i", tmp_path, *given)
    assert (code, "is not in the input" in error) == (2, True)


def test_statistics_that_do_not_belong_together_are_not_joined(
    touche: Touche, tmp_path: Path, ranked: list[Path]
) -> None:
    one, other = tmp_path / "bm25.json", tmp_path / "other.json"
    for found in ('"plural"', '"english"'):
        other.write_text(one.read_text().replace('"english"', found).replace('"ban"', '"ben"'))
        code, _, error = touche("join", "statistics", one, other, "-o", tmp_path / "all.json")
        assert (code, "statistics of other fields, analyses or terms" in error) == (2, True)
    code, _, error = touche("join", "statistics", one, one, "-o", tmp_path / "all.json")
    assert (code, "given twice" in error) == (2, True)
    assert not (tmp_path / "all.json").exists()


def test_statistics_of_another_collection_are_refused_and_those_that_have_no_use(
    touche: Touche, tmp_path: Path, ranked: list[Path]
) -> None:
    known = tmp_path / "bm25.json"
    less = tmp_path / "less.json"
    for some, fewer in (('"documents": 270', '"documents": 260'), ('"ban": [28, 43]', '"ban": [28, 42]')):
        assert some in known.read_text()
        less.write_text(known.read_text().replace(some, fewer))
        given = ("run", "bm25", "-i", "spot-check/arguments", "-o", tmp_path / "out", "--statistics", less)
        code, _, error = touche(*given)
        assert (code, "statistics of another collection" in error) == (2, True)
    code, _, error = touche("run", "rank-bm25", *given[2:])
    assert (code, "ranks without touche.scan" in error) == (2, True)
    assert not list((tmp_path / "out").iterdir())
