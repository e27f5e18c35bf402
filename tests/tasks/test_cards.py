"""Cards of strangers: every fault is a sentence that names file and key."""

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
from touche.evaluation.ndcg import EVALUATORS
from touche.tasks.cards import faults_of, read_card
from touche.tasks.records import Evaluator

FOLDER = ROOT / "src" / "touche" / "tasks"
NAMES = [str(card.relative_to(FOLDER)) for card in sorted(FOLDER.rglob("*.toml"))]
CARDS = {name: tomllib.loads((FOLDER / name).read_text(encoding="utf-8")) for name in NAMES}
CARD = "touche-2022-task-1.toml"
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


def refused(path: Path) -> list[str]:
    """The faults of a card, of which the first is that of the error."""
    faults = faults_of(path)
    if faults:
        with pytest.raises(ToucheError) as caught:
            read_card(path)
        assert str(caught.value) == f"{path}: {faults[0]}"
    else:
        read_card(path)
    assert all(len(fault.splitlines()) == 1 and "; " in fault and len(fault) < 400 for fault in faults)
    return faults


@anything
@given(st.sampled_from(TABLE_KEYS))
@pytest.mark.slow
def test_a_key_left_out_is_missed_where_it_must_be_there(tmp_path: Path, chosen: tuple[str, Key]) -> None:
    name, key = chosen
    faults = refused(altered(tmp_path, name, key, "deleted"))
    required = REQUIRED_OF.get(str(key[0]), REQUIRED)
    free = key[0] in ("qrels", "corpora") and len(key) == 2 and key[1] != "full"
    if key[-1] in required and not free:
        empty = key == ("corpora", "full") and faults[0].startswith("corpora: empty")
        assert empty or f"{named(key)}: missing" in "\n".join(faults)
    elif not free:
        assert faults == []


@anything
@given(st.sampled_from(KEYS), st.sampled_from("\x1b\x07\x7f\x9b\u202e"))
@example((CARD, ("rules", "unit")), "\x1b")  # refused as an unknown value, before its characters are checked
def test_a_character_that_a_terminal_would_obey_is_refused(
    tmp_path: Path, chosen: tuple[str, Key], odd: str
) -> None:
    name, key = chosen
    old: Any = CARDS[name]
    for part in key:
        old = old[part]
    if isinstance(old, str):
        faults = refused(altered(tmp_path, name, key, "retyped", f"{old}{odd}"))
        assert any(fault.startswith(f"{named(key)}: ") and repr(odd)[1:-1] in fault for fault in faults)
        assert odd not in "".join(faults)


@anything
@given(st.sampled_from(TABLE_KEYS))
@pytest.mark.slow
def test_a_misspelt_key_is_answered_with_the_nearest(tmp_path: Path, chosen: tuple[str, Key]) -> None:
    name, key = chosen
    faults = refused(altered(tmp_path, name, key, "renamed"))
    if key[0] not in ("qrels", "corpora") or len(key) != 2:
        assert faults[0] == f"{named(key)}_: no such key; did you mean {key[-1]}?"


@anything
@given(st.sampled_from(KEYS), st.data())
def test_a_value_of_another_type_is_refused_by_its_key(
    tmp_path: Path, chosen: tuple[str, Key], data: st.DataObject
) -> None:
    name, key = chosen
    old: Any = CARDS[name]
    for part in key:
        old = old[part]
    others = [each for each in (900 * "text", 7, 0.5, True, [["x"]], {"x": 1}) if not alike(each, old)]
    value = data.draw(st.sampled_from(others))
    faults = refused(altered(tmp_path, name, key, "retyped", value))
    assert any(fault.startswith(named(key)) for fault in faults)


def alike(one: Any, other: Any) -> bool:
    numbers = type(one) in (int, float) and type(other) is float
    return (type(one) is type(other) and not isinstance(one, list | dict)) or numbers


@anything
@given(st.data())
def test_no_bytes_end_in_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    content = (FOLDER / data.draw(st.sampled_from(NAMES))).read_bytes()
    begin, end = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(content))])))
    (card := tmp_path / "card.toml").write_bytes(content[:begin] + data.draw(st.binary()) + content[end:])
    try:
        read_card(card)
    except ToucheError as error:
        assert str(error).startswith(f"{card}:") and len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "faults"),
    [
        ("max_runs", "maxruns", ["rules.maxruns: no such key; did you mean max_runs?"]),
        (
            'unit = "sentence pair"',
            'unit = "pasage"',
            ["rules.unit: 'pasage' is not known; did you mean passage?"],
        ),
        (
            'unit = "sentence pair"\nstances =',
            "unti = 3\nstance =",
            [
                "rules.unti: no such key; did you mean unit?",
                "rules.stance: no such key; did you mean stances?",
                "rules.unit: missing",
            ],
        ),
        (
            "labels = [-2,",
            "labels = [-2.0,",
            ["qrels.relevance.labels[1]: -2.0 is not a whole number"],
        ),
        (
            "labels = [-2,",
            "labels = [true,",
            ["qrels.relevance.labels[1]: true is not a whole number"],
        ),
        (
            "min_results = 100",
            "min_results = 1001",
            ["rules.max_results: less than min_results, or than 1; "],
        ),
        (
            "max_runs = 5",
            "max_runs = 0",
            ["rules.max_runs: less than 1"],
        ),
        (
            "max_runs = 5",
            f"max_runs = 0x{5000 * 'f'}",
            ["rules.max_runs: a huge number is not a whole number; "],
        ),
        (
            "value = 0.742, interval = [0.670, 0.807]",
            "value = 7.42, interval = [0.807, 0.670]",
            [
                "published[1].runs[1].value: 7.42 is not from 0 to 1",
                "published[1].runs[1].interval: not [low, high]",
            ],
        ),
        (
            "interval = [0.670, 0.807]",
            "interval = [0.670]",
            ["published[1].runs[1].interval: not [low, high]"],
        ),
        (
            "value = 0.742",
            "value = nan",
            ["published[1].runs[1].value: nan is not", "published[1].runs[1].interval"],
        ),
        (
            'dimension = "relevance"',
            'dimension = "relevanz"',
            ["published[1].dimension: 'relevanz' is not in qrels; did you mean relevance?"],
        ),
        (
            'dimension = "relevance"',
            'dimension = "relevance"\nqrels = "touche-task1-2022-quality-dedup.qrels"',
            ["published[1].qrels: not the file of qrels.relevance"],
        ),
        (
            'dimension = "relevance"',
            'dimension = "relevance"\nevaluator = "treceval"',
            ["published[1].evaluator: 'treceval' is not known; did you mean trec_eval?"],
        ),
        (
            "task-1",
            "task-2",
            ["id: 'touche-2022-task-2' is not the name of the file"],
        ),
        (
            'unit = "sentence pair"',
            f"unit = 0x{5000 * 'f'}",
            ["rules.unit: a huge number is not known"],
        ),
        (
            "url =",
            'measure = "ndcg_cut_5"\nurl =',
            ["measure 'ndcg_cut_5' is not known"],
        ),
        ("corpora.full", "corpora.all", ["corpora.full: missing"]),
        (TEXT.partition("title = ")[2].partition("\n")[0], '""', ["title: empty; fill it"]),
        ("max_runs", '"\\n"', ["rules.'\\n': no such key; choose among "]),
    ],
)
def test_the_faults_of_a_card(touche: Touche, write: Write, old: str, new: str, faults: list[str]) -> None:
    path = write(CARD, TEXT.replace(old, new, 1))
    code, out, err = touche("tasks", "check", path)
    assert (code, err, len(out.splitlines())) == (2, "", len(faults))
    for line, fault in zip(out.splitlines(), faults, strict=True):
        assert line.startswith(f"{path}: {fault}")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", ": id: missing"),
        (b"id = 'a'\ntitle = 'T\xfcr'", ":2: not UTF-8 (byte 0xfc)"),
        (b"id = ", ": broken TOML (Invalid value (at "),
        (b"x = " + 90_000 * b"[", ": broken TOML ("),
        (f"x = {5000 * '9'}".encode(), ": broken TOML ("),
        (90_000 * b"a" + b" = 1", f": {60 * 'a'}...: no such key"),
        (b"\x1f\x8b", ": the gzip stream is broken ("),
        (100_000_000 * b"#", ": larger than 100000 bytes, as no card is"),
        (b"a" + 49_000 * b".a" + b" = 1", ": more than 500 dots in a line, as no card has"),
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
    lines = out.splitlines()
    assert lines[0].startswith(f"{tmp_path}/none.toml: cannot be read (No such file or directory)")
    assert lines[1] == f"{fine}: fine"
    assert lines[2].startswith(f"{tmp_path}/a b.toml: x: no such key")
    assert lines[-1].startswith(f"{tmp_path}: cannot be read (Is a directory)")
    assert touche("tasks", "check", fine) == (0, f"{fine}: fine\n", "")
    assert touche("tasks", "check", "--help")[1].startswith("Usage: touche tasks check [OPTIONS] FILE...")


@pytest.mark.parametrize("name", NAMES)
def test_the_cards_of_the_project_are_fine(touche: Touche, name: str) -> None:
    assert touche("tasks", "check", FOLDER / name) == (0, f"{FOLDER / name}: fine\n", "")


def test_evaluators_are_those_that_there_are() -> None:
    assert set(get_args(Evaluator)) == {*EVALUATORS}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "results = 1208",
            "results = 0",
            "stance[1].runs[1].results: not from 1 to team_results; correct it",
        ),
        (
            "results = 1208",
            "results = 1387",
            "stance[1].runs[1].results: not from 1 to team_results; correct it",
        ),
        ("value = 0.313", "value = 31.3", "stance[1].runs[1].value: 31.3 is not from 0 to 1; correct it"),
        ("team_value = 0.235", "team_value = 2.0", "stance[1].runs[1].team_value: 2.0 is not from 0 to 1; "),
        (
            "team_results = 1386",
            "team_results = 1386, low = 0",
            "stance[1].runs[1].low: no such key",
        ),
    ],
)
def test_the_faults_of_a_table_of_stances(write: Write, old: str, new: str, fault: str) -> None:
    text = (FOLDER / "touche-2022-task-2.toml").read_text(encoding="utf-8")
    (found,) = refused(write("touche-2022-task-2.toml", text.replace(old, new, 1)))
    assert found.startswith(fault)


def test_a_score_can_be_a_whole_number(write: Write) -> None:
    rows = read_card(
        write(CARD, TEXT.replace("value = 0.742, interval = [0.670, 0.807]", "value = 1"))
    ).published
    assert repr(rows[0].value) == "1.0" and rows[0].low is None
