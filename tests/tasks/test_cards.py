"""Cards of strangers: the fault of each is a sentence that names file and key."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import ROOT, Touche, Write
from touche.errors import ToucheError
from touche.tasks.cards import read_card

FOLDER = ROOT / "src" / "touche" / "tasks"
NAMES = [str(card.relative_to(FOLDER)) for card in sorted(FOLDER.rglob("*.toml"))]
UNIT = 'unit = "sentence pair"'
DIMENSION = 'dimension = "relevance"'
INTERVAL = "value = 0.742, interval = [0.670, 0.807]"
CARD = "touche-2022-task-1.toml"
STANCES = "touche-2022-task-2.toml"
TEXT = (FOLDER / CARD).read_text(encoding="utf-8")

anything = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def fault(path: Path) -> str:
    """What is wrong with a card, in one line with a remedy; empty where nothing is."""
    try:
        read_card(path)
    except ToucheError as error:
        text = str(error)
        assert text.startswith(f"{path}:") and len(text.splitlines()) == 1 and "; " in text
        assert len(text) < 800
        return text.removeprefix(f"{path}: ")
    return ""


@anything
@given(st.data())
def test_no_bytes_end_in_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    content = (FOLDER / data.draw(st.sampled_from(NAMES))).read_bytes()
    begin, end = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(content))])))
    card = tmp_path / "card.toml"
    card.write_bytes(content[:begin] + data.draw(st.binary()) + content[end:])
    fault(card)


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        (CARD, "title = ", "# ", "Object missing required field `title`"),
        (CARD, "title = ", 'title = "\\u001b"\n# ', "title: a character that cannot be shown"),
        (CARD, "title = ", 'title = ""\n# ', "title: Expected `str` of length >= 1"),
        (CARD, "max_runs", "maxruns", "rules: Object contains unknown field `maxruns`; did you mean max_"),
        (CARD, "max_runs", '"\\n"', "rules: Object contains unknown field `\\n`; choose among "),
        (CARD, UNIT, 'unit = "pasage"', "rules.unit: Invalid enum value 'pasage'; did you mean passage?"),
        (CARD, UNIT, f"unit = 0x{5000 * 'f'}", "rules.unit: a number that is not finite, or too large"),
        (CARD, "labels = [-2,", "labels = [-2.0,", "qrels.relevance.labels[1]: Expected `int`, got `float`"),
        (CARD, "min_results = 100", "min_results = 1001", "rules: max_results is less than min_results"),
        (CARD, "max_runs = 5", "max_runs = 0", "rules.max_runs: Expected `int` >= 1"),
        (CARD, "value = 0.742", "value = 7.42", "published[1].runs[1].value: Expected `float` <= 1.0"),
        (CARD, "value = 0.742", "value = nan", "published[1].runs[1].value: a number that is not finite"),
        (CARD, INTERVAL, "value = 0.7, interval = [0.8, 0.6]", "published[1].runs[1]: interval is not [low"),
        (CARD, DIMENSION, 'dimension = "relevanz"', "published[1].dimension 'relevanz' is not in qrels"),
        (CARD, DIMENSION, f'{DIMENSION}\nqrels = "x"', "published[1].qrels is not the file of qrels"),
        (CARD, DIMENSION, f'{DIMENSION}\nevaluator = "x"', "published[1].evaluator: Invalid enum"),
        (CARD, "task-1", "task-2", "id: 'touche-2022-task-2' differs from the name of the file"),
        (CARD, "url =", 'measure = "ndcg_cut_5"\nurl =', "measure 'ndcg_cut_5' is not known"),
        (CARD, "corpora.full", "corpora.all", "corpora.full is missing"),
        (
            STANCES,
            "results = 1208",
            "results = 1387",
            "stance[1].runs[1]: results is larger than team_results",
        ),
    ],
)
def test_a_faulty_card(touche: Touche, write: Write, name: str, old: str, new: str, problem: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert old in text
    path = write(name, text.replace(old, new, 1))
    assert fault(path).startswith(problem)
    assert touche("tasks", "check", path)[:2] == (2, f"{path}: {fault(path)}\n")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", ": Object missing required field `id`"),
        (b"id = 'a'\ntitle = 'T\xfcr'", ":2: not UTF-8 (byte 0xfc)"),
        (b"id = ", ": broken TOML (Invalid value (at "),
        (b"x = " + 90_000 * b"[", ": broken TOML ("),
        (f"x = {5000 * '9'}".encode(), ": broken TOML ("),
        (b"\x1f\x8b", ": the gzip stream is broken ("),
        (100_000_000 * b"#", ": larger than 100000 bytes"),
        (b"a" + 49_000 * b".a" + b" = 1", ": larger than 100000 bytes, or more than 500 dots"),
    ],
)
def test_a_file_that_is_no_card(touche: Touche, write: Write, content: bytes, problem: str) -> None:
    fine = write(CARD, f"\ufeff{TEXT}")
    path = write("card.toml", content)
    code, out, err = touche("tasks", "check", fine, path, path.parent)
    assert (code, err) == (2, "")
    assert out.startswith(f"{fine}: fine; missing and not checked: ") and f"\n{path}{problem}" in out
    assert f"\n{path.parent}: cannot be read (Is a directory)" in out


@pytest.mark.parametrize("name", NAMES)
def test_the_cards_of_the_project_are_fine(touche: Touche, name: str) -> None:
    code, out, err = touche("tasks", "check", FOLDER / name)
    assert (code, err) == (0, "") and out.startswith(f"{FOLDER / name}: fine")


def test_a_score_can_be_a_whole_number(write: Write) -> None:
    rows = read_card(write(CARD, TEXT.replace(INTERVAL, "value = 1"))).published
    assert repr(rows[0].value) == "1.0" and rows[0].low is None


TOPICS = "<topics><topic><number>1</number><title>Cats?</title></topic></topics>"
QRELS = "1 0 d1 1\n1 0 d2 0\n"
MINIMAL = """
id = "cats"
title = "Cats"
url = "https://example.org"
topics = "cats.xml"
qrels.relevance.file = "cats.qrels"
corpora.full.directory = "cats"
rules.unit = "document"
"""
DOCUMENTS = '{"docno": "d1", "text": ""}\n{"docno": "d2", "text": ""}\n'


@pytest.mark.parametrize(
    ("topics", "qrels", "documents", "problem"),
    [
        (TOPICS, QRELS, DOCUMENTS, ""),
        (TOPICS.replace(">1<", ">2<"), QRELS, DOCUMENTS, "qrels: topic '1' is not in topics/"),
        (
            TOPICS,
            QRELS + "1 0 d4 0\n1 0 d3 0",
            DOCUMENTS,
            "qrels: document 'd4' and 1 more are not in corpora/",
        ),
        (TOPICS, QRELS.replace("d1 1", "d1 x"), DOCUMENTS, "qrels:1: "),
        (TOPICS[:-5], QRELS, DOCUMENTS, ".xml"),
        (TOPICS, QRELS, DOCUMENTS + "{", "documents.jsonl:3: broken JSON"),
    ],
)
def test_files_of_a_card_belong_together(
    touche: Touche,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    topics: str,
    qrels: str,
    documents: str,
    problem: str,
) -> None:
    card = write("tasks/cats.toml", MINIMAL)
    write("topics/cats.xml", topics)
    write("qrels/cats.qrels", qrels)
    write("corpora/cats/documents.jsonl", documents)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    code, out, _ = touche("tasks", "check", card)
    if problem:
        assert code == 2 and problem in out
    else:
        assert (code, out) == (0, f"{card}: fine, with 1 topic, 2 judgments, 2 documents\n")


PART = """
corpora.part.directory = "part"
corpora.part.topics = ["1"]
"""


@pytest.mark.parametrize(
    ("topics", "documents", "problem"),
    [
        (TOPICS, DOCUMENTS.splitlines()[0], ""),
        (TOPICS.replace(">1<", ">2<"), DOCUMENTS, "cats.toml: topic '1' is not in corpora/part"),
        (
            TOPICS.replace("</topics>", TOPICS[8:].replace(">1<", ">3<")),
            DOCUMENTS,
            "part: topic '3' is not in topics/",
        ),
        (TOPICS, DOCUMENTS.replace("d2", "d3"), "part: document 'd3' is not in corpora/cats"),
        (TOPICS, '{"docno": "zzz", "text":', "documents.jsonl:1: broken JSON"),
        (TOPICS, None, "; missing and not checked: corpora/part"),
    ],
)
def test_a_smaller_corpus_is_part_of_the_whole(
    touche: Touche,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    topics: str,
    documents: str | None,
    problem: str,
) -> None:
    card = write("tasks/cats.toml", MINIMAL + PART)
    write("topics/cats.xml", TOPICS.replace("</topics>", f"{TOPICS[8:].replace('>1<', '>2<')}"))
    write("qrels/cats.qrels", QRELS)
    write("corpora/cats/documents.jsonl", DOCUMENTS)
    if documents is not None:
        write("corpora/part/topics.xml", topics)
        write("corpora/part/documents.jsonl", documents)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    code, out, _ = touche("tasks", "check", card)
    fine = f"{card}: fine, with 2 topics (1 without judgments), 2 judgments, 2 documents"
    if documents is None:
        assert (code, out) == (0, f"{fine}{problem}\n")
    elif problem:
        assert code == 2 and problem in out
    else:
        assert (code, out) == (0, f"{fine}, 1 document in part\n")
