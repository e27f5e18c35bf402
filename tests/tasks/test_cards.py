"""Cards of strangers: the fault of each is a sentence that names file and key."""

from pathlib import Path

import pytest

from conftest import ROOT, Touche, Write
from random_examples import HealthCheck, given, settings, st
from touche.errors import ToucheError
from touche.tasks.cards import read_card

FOLDER = ROOT / "src" / "touche" / "tasks"
NAMES = [
    str(card.relative_to(FOLDER))
    for card in sorted([*FOLDER.glob("*.toml"), *FOLDER.glob("spot-check/*.toml")])
]
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
        (CARD, "url = ", "decimals = [4]\nurl = ", "decimals ends with 4, but all tables print 3 decimals"),
        (CARD, "url = ", "decimals = [3, 5]\nurl = ", "decimals ends with 5, but all tables print 3"),
        (CARD, "url = ", 'results_note = "later"\nurl = ', "results_note says why there are no results"),
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
        (CARD, "url =", 'measure = "ndcg_at_5"\nurl =', "measure 'ndcg_at_5' is not known"),
        (
            CARD,
            'measure = "nDCG@5"\n',
            "",
            "published[1]: measure is missing; add the measure of these values: m",
        ),
        (STANCES, "macro F1", "AP", "stance[1].measure: stances are scored by macro F1; correct it"),
        (CARD, "corpora.full", "corpora.all", "corpora.full is missing"),
        (CARD, 'topics = "', 'topics = "../../', "topics: this name leads out"),
        (CARD, 'topics = "', 'topics = "/etc/', "topics: this name leads out"),
        (CARD, 'directory = "', 'directory = "../../', "corpora.full.directory: this name leads out"),
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


def test_no_card_has_the_name_of_the_front_page_of_the_gallery(write: Write) -> None:
    path = write("Index.toml", MINIMAL.replace("cats", "Index"))
    assert fault(path).startswith("id: 'Index' is the name of the gallery's front page")


CARD_FILES = {
    "tasks/cats.toml": MINIMAL,
    "topics/cats.xml": TOPICS,
    "qrels/cats.qrels": QRELS,
    "corpora/cats/documents.jsonl": DOCUMENTS,
}
PART = """
corpora.part.directory = "part"
corpora.part.topics = ["1"]
"""
SECOND, THIRD = (TOPICS.replace(">1<", f">{number}<") for number in (2, 3))
WITHOUT_PART = CARD_FILES | {
    "tasks/cats.toml": MINIMAL + PART,
    "topics/cats.xml": TOPICS.replace("</topics>", SECOND.removeprefix("<topics>")),
}
WITH_PART = WITHOUT_PART | {
    "corpora/part/topics.xml": TOPICS,
    "corpora/part/documents.jsonl": DOCUMENTS.splitlines()[0],
}
FINE = "cats.toml: fine, with 1 topic, 2 judgments, 2 documents\n"
FINE_PART = "cats.toml: fine, with 2 topics (1 without judgments), 2 judgments, 2 documents"
CHECKED: dict[str, tuple[dict[str, str], str]] = {  # the files of a card, and a part of the output
    "fine": (CARD_FILES, FINE),
    "another topic": (CARD_FILES | {"topics/cats.xml": SECOND}, "qrels: topic '1' is not in topics/"),
    "other documents": (
        CARD_FILES | {"qrels/cats.qrels": QRELS + "1 0 d4 0\n1 0 d3 0"},
        "qrels: document 'd4' and 1 more are not in corpora/",
    ),
    "a broken grade": (CARD_FILES | {"qrels/cats.qrels": QRELS.replace("d1 1", "d1 x")}, "qrels:1: "),
    "broken topics": (CARD_FILES | {"topics/cats.xml": TOPICS[:-5]}, ".xml"),
    "a broken document": (
        CARD_FILES | {"corpora/cats/documents.jsonl": DOCUMENTS + "{"},
        "documents.jsonl:3: broken JSON",
    ),
    "a fine part": (WITH_PART, f"{FINE_PART}, 1 document in part\n"),
    "no part": (WITHOUT_PART, f"{FINE_PART}; missing and not checked: corpora/part\n"),
    "a topic that the part lacks": (
        WITH_PART | {"corpora/part/topics.xml": SECOND},
        "cats.toml: topic '1' is not in corpora/part",
    ),
    "another topic in the part": (
        WITH_PART | {"corpora/part/topics.xml": TOPICS.replace("</topics>", THIRD.removeprefix("<topics>"))},
        "part: topic '3' is not in topics/",
    ),
    "another document in the part": (
        WITH_PART | {"corpora/part/documents.jsonl": DOCUMENTS.replace("d2", "d3")},
        "part: document 'd3' is not in corpora/cats",
    ),
    "a broken document in the part": (
        WITH_PART | {"corpora/part/documents.jsonl": '{"docno": "zzz", "text":'},
        "documents.jsonl:1: broken JSON",
    ),
}


@pytest.mark.parametrize("case", CHECKED)
def test_files_of_a_card_belong_together(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    files, expected = CHECKED[case]
    for name, content in files.items():
        write(name, content)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    code, out, _ = touche("tasks", "check", tmp_path / "tasks" / "cats.toml")
    assert expected in out
    assert code == (0 if "fine" in expected else 2)
