"""Cards of strangers: the fault of each is a sentence that names file and key."""

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import tomlkit
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conftest import ROOT, Touche, Write
from touche.errors import ToucheError
from touche.evaluation.evaluators import EVALUATORS
from touche.tasks.cards import read_card
from touche.tasks.records import Evaluator

FOLDER = ROOT / "src" / "touche" / "tasks"
NAMES = [str(card.relative_to(FOLDER)) for card in sorted(FOLDER.rglob("*.toml"))]
CARDS = {name: tomllib.loads((FOLDER / name).read_text(encoding="utf-8")) for name in NAMES}
CARD, STANCES = "touche-2022-task-1.toml", "touche-2022-task-2.toml"
TEXT = (FOLDER / CARD).read_text(encoding="utf-8")

# What a card must say, but for its tables of results, whose keys are below; there qrels may be left out.
REQUIRED = set("id title url topics qrels corpora rules file directory unit full".split())
REQUIRED_OF = {
    "published": {"dimension", "sources", "runs", "team", "value"},
    "stance": {"sources", "runs", "team", "tag", "value", "results", "team_value", "team_results"},
}

Key = tuple[str | int, ...]

anything = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def keys(value: Any, key: Key = ()) -> Iterator[Key]:
    """Where something stands in a card."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in items:
        yield (*key, name)
        yield from keys(each, (*key, name))


def named(key: Key) -> str:
    """As messages have it."""
    return "".join(f"[{name + 1}]" if isinstance(name, int) else f".{name}" for name in key)[1:]


KEYS = [(name, key) for name, card in CARDS.items() for key in keys(card)]
TABLE_KEYS = [(name, key) for name, key in KEYS if isinstance(key[-1], str)]


def altered(folder: Path, name: str, key: Key, change: str, value: Any = None) -> Path:
    card: Any = copy.deepcopy(CARDS[name])
    table = card
    for part in key[:-1]:
        table = table[part]
    if change == "retyped":
        table[key[-1]] = value
    else:
        gone = table.pop(key[-1])
        if change == "renamed":
            table[f"{key[-1]}_"] = gone
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(tomlkit.dumps(card), encoding="utf-8")
    return path


def value_of(name: str, key: Key) -> Any:
    value: Any = CARDS[name]
    for part in key:
        value = value[part]
    return value


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
@given(st.sampled_from(TABLE_KEYS))
@pytest.mark.slow
def test_a_key_left_out_is_missed_where_it_must_be_there(tmp_path: Path, chosen: tuple[str, Key]) -> None:
    name, key = chosen
    found = fault(altered(tmp_path, name, key, "deleted"))
    required = REQUIRED_OF.get(str(key[0]), REQUIRED)
    free = key[0] in ("qrels", "corpora") and len(key) == 2 and key[1] != "full"
    if not free:
        assert bool(found) == (key[-1] in required) and (not found or str(key[-1]) in found)


@anything
@given(st.sampled_from(KEYS), st.sampled_from("\x1b\x07\x7f\x9b\u202e"))
@example((CARD, ("rules", "unit")), "\x1b")
def test_a_character_that_a_terminal_would_obey_is_refused(
    tmp_path: Path, chosen: tuple[str, Key], odd: str
) -> None:
    name, key = chosen
    if isinstance(old := value_of(name, key), str):
        found = fault(altered(tmp_path, name, key, "retyped", f"{old}{odd}"))
        assert found.startswith(f"{named(key)}: a character that cannot be shown") and odd not in found


@anything
@given(st.sampled_from(TABLE_KEYS))
@pytest.mark.slow
def test_a_misspelt_key_is_answered_with_the_nearest(tmp_path: Path, chosen: tuple[str, Key]) -> None:
    name, key = chosen
    found = fault(altered(tmp_path, name, key, "renamed"))
    if key[0] not in ("qrels", "corpora") or len(key) != 2:
        # msgspec names a key that is missing before one that is unknown, and not the names within a table.
        assert f"`{key[-1]}" in found and ("missing" in found or f"did you mean {key[-1]}?" in found)


@anything
@given(st.sampled_from(KEYS), st.data())
def test_a_value_of_another_type_is_refused_by_its_key(
    tmp_path: Path, chosen: tuple[str, Key], data: st.DataObject
) -> None:
    name, key = chosen
    old = value_of(name, key)
    others = [each for each in (900 * "text", 7, 0.5, True, [["x"]], {"x": 1}) if not alike(each, old)]
    found = fault(altered(tmp_path, name, key, "retyped", data.draw(st.sampled_from(others))))
    assert found.startswith(str(key[0]))


def alike(one: Any, other: Any) -> bool:
    numbers = type(one) in (int, float) and type(other) is float
    return (type(one) is type(other) and not isinstance(one, list | dict)) or numbers


@anything
@given(st.data())
def test_no_bytes_end_in_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    content = (FOLDER / data.draw(st.sampled_from(NAMES))).read_bytes()
    begin, end = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(content))])))
    (card := tmp_path / "card.toml").write_bytes(content[:begin] + data.draw(st.binary()) + content[end:])
    fault(card)


UNIT = 'unit = "sentence pair"'
INTERVAL, DIMENSION = "value = 0.742, interval = [0.670, 0.807]", 'dimension = "relevance"'


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        (
            CARD,
            "max_runs",
            "maxruns",
            "rules: Object contains unknown field `maxruns`; did you mean max_runs",
        ),
        (CARD, "max_runs", '"\\n"', "rules: Object contains unknown field `\\n`; choose among "),
        (CARD, UNIT, 'unit = "pasage"', "rules.unit: Invalid enum value 'pasage'; did you mean passage?"),
        (CARD, UNIT, f"unit = 0x{5000 * 'f'}", "rules.unit: a number that is not finite, or too large"),
        (CARD, "labels = [-2,", "labels = [-2.0,", "qrels.relevance.labels[1]: Expected `int`, got `float`"),
        (CARD, "labels = [-2,", "labels = [true,", "qrels.relevance.labels[1]: Expected `int`, got `bool`"),
        (CARD, "min_results = 100", "min_results = 1001", "rules: max_results is less than min_results"),
        (CARD, "max_runs = 5", "max_runs = 0", "rules.max_runs: Expected `int` >= 1"),
        (CARD, "value = 0.742", "value = 7.42", "published[1].runs[1].value: Expected `float` <= 1.0"),
        (CARD, "value = 0.742", "value = nan", "published[1].runs[1].value: a number that is not finite"),
        (
            CARD,
            INTERVAL,
            "value = 0.7, interval = [0.67]",
            "published[1].runs[1].interval: Expected `array`",
        ),
        (
            CARD,
            INTERVAL,
            "value = 0.7, interval = [0.8, 0.6]",
            "published[1].runs[1]: interval is not [low",
        ),
        (
            CARD,
            DIMENSION,
            'dimension = "relevanz"',
            "published[1].dimension 'relevanz' is not in qrels",
        ),
        (
            CARD,
            DIMENSION,
            f'{DIMENSION}\nqrels = "x"',
            "published[1].qrels is not the file of qrels",
        ),
        (
            CARD,
            DIMENSION,
            f'{DIMENSION}\nevaluator = "treceval"',
            "published[1].evaluator: Invalid enum",
        ),
        (CARD, "task-1", "task-2", "id: 'touche-2022-task-2' is not the name of the file"),
        (CARD, "url =", 'measure = "ndcg_cut_5"\nurl =', "measure 'ndcg_cut_5' is not known"),
        (CARD, "corpora.full", "corpora.all", "corpora.full is missing"),
        (
            CARD,
            TEXT.partition("title = ")[2].partition("\n")[0],
            '""',
            "title: Expected `str` of length",
        ),
        (STANCES, "results = 1208", "results = 0", "stance[1].runs[1].results: Expected `int` >= 1"),
        (STANCES, "results = 1208", "results = 1387", "stance[1].runs[1]: results is more than team_results"),
        (
            STANCES,
            "team_value = 0.235",
            "team_value = 2.0",
            "stance[1].runs[1].team_value: Expected `float`",
        ),
    ],
)
def test_the_fault_of_a_card(
    touche: Touche, write: Write, name: str, old: str, new: str, problem: str
) -> None:
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
        (b"a" + 49_000 * b".a" + b" = 1", ": larger than 100000 bytes, or more than 500 dots in a line"),
    ],
)
def test_a_file_that_is_no_card(touche: Touche, write: Write, content: bytes, problem: str) -> None:
    code, out, err = touche("tasks", "check", path := write("card.toml", content))
    assert (code, err) == (2, "")
    assert out.startswith(f"{path}{problem}")


def test_all_files_are_checked_and_those_that_are_fine_are_told(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    fine, odd = write(CARD, f"\ufeff{TEXT}"), write("a\nb.toml", "x = 1")
    code, out, err = touche("tasks", "check", tmp_path / "none.toml", fine, odd, tmp_path)
    assert (code, err) == (2, "")
    missing, good, strange, folder = out.splitlines()
    assert missing.startswith(f"{tmp_path}/none.toml: cannot be read (No such file or directory)")
    assert good == f"{fine}: fine" and strange.startswith(f"{tmp_path}/a")
    assert folder.startswith(f"{tmp_path}: cannot be read (Is a directory)")


@pytest.mark.parametrize("name", NAMES)
def test_the_cards_of_the_project_are_fine(touche: Touche, name: str) -> None:
    assert touche("tasks", "check", FOLDER / name) == (0, f"{FOLDER / name}: fine\n", "")


def test_evaluators_are_those_that_there_are() -> None:
    assert set(get_args(Evaluator)) == {*EVALUATORS}


def test_a_score_can_be_a_whole_number(write: Write) -> None:
    rows = read_card(write(CARD, TEXT.replace(INTERVAL, "value = 1"))).published
    assert repr(rows[0].value) == "1.0" and rows[0].low is None
