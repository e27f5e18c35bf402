"""Values that TIREx reports: a table of their own, and the source of reported values in expected.toml."""

from pathlib import Path

import pytest

import touche as library
from conftest import ROOT, Touche, Write
from touche.baselines.expected import read_expected
from touche.errors import InputError

REPORTED = ["touche-2020-task-1", "touche-2020-task-2", "touche-2021-task-1", "touche-2021-task-2"]


def test_the_files_are_those_of_tirex(official: Path) -> None:
    for task in REPORTED:
        ours = (ROOT / "src" / "touche" / "tasks" / "reported" / f"{task}.tsv").read_text().splitlines()
        theirs = (official / "published" / f"tirex-{task}.tsv").read_text().splitlines()
        assert ours[1:] == theirs[1:] and theirs[0] in ours[0]
        assert {row.source for row in library.reported(task)} == {theirs[0]}


def test_the_command_shows_them_apart(touche: Touche) -> None:
    code, out, _ = touche("tasks", "touche-2021-task-2", "--reported")
    assert code == 0 and out.splitlines()[1].split() == ["ChatNoir", "0.3812", "0.3380", "0.12"]
    assert len(out.splitlines()) == 52 and "TIREx" not in touche("tasks", "touche-2021-task-2")[1]
    assert len(touche("tasks", "touche-2021-task-2", "--reported", "--format", "csv")[1].splitlines()) == 52


def test_a_score_of_ndcg_10_is_compared_with_them(official: Path) -> None:
    run = official / "runs" / "touche-2020-task-2" / "puss-in-boots.run"
    deep = library.evaluate(run, "touche-2020-task-2", measure="nDCG@10")
    (note,) = (note for note in deep.notes if "TIREx" in note)
    above = sum(deep[0].mean > row.ndcg_10 for row in library.reported("touche-2020-task-2"))
    assert f"is above {above} of 51 systems" in note and note.endswith("ChatNoir 0.528, with 21% unjudged")
    assert not any("TIREx" in note for note in library.evaluate(run, "touche-2020-task-2").notes)
    other = official / "qrels" / "touche2020-task2-relevance-withbaseline.qrels"
    assert not any("TIREx" in note for note in library.evaluate(run, measure="nDCG@10", qrels=other).notes)


def test_a_system_that_is_not_in_the_table_is_an_error(write: Write) -> None:
    text = (ROOT / "baselines" / "tfidf" / "expected.toml").read_text(encoding="utf-8")
    for old, new in (("TF_IDF Re-Rank", "TF-IDF"), ('measure = "nDCG@10"', 'measure = "nDCG@20"')):
        path = write("baseline/expected.toml", text.replace(old, new, 1))
        write("baseline/baseline.py", "")
        with pytest.raises(InputError, match="is reported for touche-2020-task-1; see: touche tasks"):
            read_expected(str(path.parent))
