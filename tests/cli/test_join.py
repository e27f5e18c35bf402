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


@pytest.mark.parametrize("depth", [3, 1000])
def test_two_passes_over_parts_come_to_the_run_on_the_whole(
    touche: Touche, tmp_path: Path, parts: list[Path], depth: int
) -> None:
    bm25 = ("run", "bm25", "--depth", depth)
    for part in parts:
        out = (part / "first", "--keep-statistics", part / "s.json")
        assert touche(*bm25, "-i", part, "-o", *out)[0] == 0
    assert touche("join", "statistics", *(each / "s.json" for each in parts), "-o", tmp_path / "all")[0] == 0
    for part in parts:
        out = (part / "second", "--statistics", tmp_path / "all")
        assert touche(*bm25, "-i", part, "-o", *out)[0] == 0
    runs = [each / "second" / "run.txt" for each in parts]
    joined = ("join", "runs", *runs, "-i", parts[0], "-o", tmp_path / "joined", "--depth", depth)
    assert touche(*joined)[0] == 0
    assert touche(*bm25, "-i", tmp_path / "whole", "-o", tmp_path / "expected")[0] == 0
    expected = (tmp_path / "expected" / "run.txt").read_bytes()
    assert (tmp_path / "joined" / "run.txt").read_bytes() == expected
    assert (parts[0] / "first" / "run.txt").read_bytes() != (runs[0]).read_bytes()


def test_what_does_not_belong_together_is_not_joined(touche: Touche, tmp_path: Path) -> None:
    for name in ("bm25", "tfidf"):
        kept = ("--keep-statistics", tmp_path / f"{name}.json")
        assert touche("run", name, "-i", "spot-check/arguments", "-o", tmp_path / name, *kept)[0] == 0
    runs = [tmp_path / name / "run.txt" for name in ("bm25", "tfidf")]
    given = ("-i", "corpora", "-o", tmp_path / "out")
    assert "no topics in it" in touche("join", "runs", *runs, *given)[2]
    (tmp_path / "topics.xml").write_text((ROOT / "topics" / "spot-check-arguments.xml").read_text())
    given = ("-i", tmp_path, "-o", tmp_path / "out")
    code, _, error = touche("join", "runs", *runs, *given)
    assert (code, "a run of touche-tfidf, not of touche-bm25; join runs of one baseline" in error) == (
        2,
        True,
    )
    code, _, error = touche("join", "runs", runs[0], runs[0], *given)
    assert (code, "is ranked twice for one topic" in error) == (2, True)
    (tmp_path / "topics.xml").write_text((ROOT / "topics" / "spot-check-pages.xml").read_text())
    code, _, error = touche("join", "runs", runs[0], *given)
    assert (code, "is none of" in error) == (2, True)
    statistics = [tmp_path / f"{name}.json" for name in ("bm25", "tfidf")]
    statistics[1].write_text(statistics[0].read_text().replace('"english"', '"plural"'))
    code, _, error = touche("join", "statistics", *statistics, "-o", tmp_path / "all.json")
    assert (code, "statistics of other fields, analyses or terms" in error) == (2, True)
    assert not (tmp_path / "all.json").exists()
