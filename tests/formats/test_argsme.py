import json
from typing import Any

import pytest

from conftest import Write
from touche.errors import InputError
from touche.formats import pieces
from touche.formats.argsme import read_argsme_json
from touche.formats.documents import Argument


def argument(id: str, conclusion: str = "c", premise: str = "p", stance: str = "PRO") -> dict[str, Any]:
    return {"id": id, "conclusion": conclusion, "premises": [{"text": premise, "stance": stance}]}


def test_the_text_of_an_argument_is_premises_then_conclusion(write: Write) -> None:
    premises = [{"text": "Because."}, {"text": "Also.", "stance": "CON"}]
    records = [
        argument("a", "The claim") | {"premises": premises, "context": {"discussionTitle": "Zoos"}},
        argument("b") | {"context": {"discussionTitle": 1}, "premises": [{"text": "p", "stance": ["PRO"]}]},
        argument("c") | {"context": "x"},
    ]
    first, *others = read_argsme_json(write("args-me.json", json.dumps({"arguments": records})))
    assert first == Argument("a", "The claim", ("Because.", "Also."), stance="", discussion="Zoos")
    assert first.text == "Because. Also. The claim"
    assert [(other.stance, other.discussion) for other in others] == [("", ""), ("PRO", "")]


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"\ud800x\udc00", "?x?"),
        (r"\ud800\ud83d\ude00", "?😀"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800\n", "\\?\n"),
    ],
)
def test_half_a_pair_of_surrogates_is_a_question_mark(write: Write, escaped: str, text: str) -> None:
    record = json.dumps(argument("a")).replace('"c"', f'"{escaped}"')
    read, other = read_argsme_json(
        write("args-me.json", f'{{"arguments": [{record}, {json.dumps(argument("b"))}]}}')
    )
    assert (read.conclusion, other.conclusion) == (text, "c")


def only(**changes: object) -> str:
    """A file whose second line is an argument with these parts in place of its own."""
    record = {name: value for name, value in (argument("S1-A1") | changes).items() if value is not None}
    return f'{{"arguments": [A,\n{json.dumps(record)}\n]}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (only(premises=None), "2: an argument without premises"),
        (only(premises="p"), "2: an argument without premises"),
        (only(premises=[{"stance": "PRO"}]), "2: an argument without premises"),
        (only(conclusion=None), '2: no "conclusion"'),
        (only(id=None), '2: no "id"'),
        (only(id=10**20), '2: "id" is not a text'),
        (only(id="S1 A1"), "2: argument 'S1 A1' is empty, too long, or has white space"),
        (only(id="A"), "2: argument 'A' occurs a second time; remove one of the two"),
        ('{"arguments": [A,\n{"id": "\udced\udca0\udc80"}]}', r"2: not UTF-8 \(byte 0xed\)"),
        ('{"arguments": [A,\n{"id": "caf\udce9"}]}', r"2: not UTF-8 \(byte 0xe9\)"),
        *(
            (
                f'{{"arguments": [A,\n{{"id": {number}}}]}}',
                r"2: broken JSON \((number is inf|unexpected char)",
            )
            for number in ("9" * 5000, "-" + "9" * 5000, "1e999", "NaN")
        ),
        ('{"arguments": [A,\n,\nB]}', r"2: broken JSON \("),
        ('{"arguments": [A,\nB\n,]}', r"3: broken JSON \("),
        ('{"arguments": [\n,A]}', r"2: broken JSON \("),
        ('{"arguments": [A}, "x": [\nB]}', r"1: broken JSON \("),
        ('{"arguments": [A]\n, "x": tru}', r"2: broken JSON \("),
        ('{"x": tru,\n "arguments": [A]}', r"1: broken JSON \("),
        ('{"arguments": [A,\nB],\n"x": "\udcff"}', r"3: not UTF-8 \(byte 0xff\)"),
        ('{"arguments": [A\n]}\n{}', r"3: broken JSON \("),
        ('{"arguments": [A],\n"more" 1, "arguments": [B]}', r"2: broken JSON \("),
        ('{"arguments": [\n', r"2: broken JSON \(it is cut off\)"),
        ('{"arguments": [A', r"1: broken JSON \(it is cut off\)"),
        ('\ufeff{"arguments": [A]}', r"1: broken JSON \("),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 22])
def test_what_is_broken_is_named_with_its_line(
    write: Write, monkeypatch: pytest.MonkeyPatch, text: str, message: str, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", size)
    for id in "AB":
        text = text.replace(f"[{id}", f"[{json.dumps(argument(id))}").replace(
            f"\n{id}", f"\n{json.dumps(argument(id))}"
        )
    with pytest.raises(InputError, match=rf"a\.json:{message}"):
        list(read_argsme_json(write("a.json", text.encode(errors="surrogateescape"))))


def test_the_first_fault_of_a_file_is_told_and_what_precedes_it_is_read(write: Write) -> None:
    text = json.dumps({"arguments": [argument("a"), argument("b"), {}, argument("c")]}, indent=1) + "x"
    read = read_argsme_json(write("a.json", text))
    assert [next(read).id, next(read).id] == ["a", "b"]
    line = text[: text.index("{}")].count("\n") + 1
    with pytest.raises(InputError, match=rf"a\.json:{line}: an argument without premises"):
        next(read)


def test_other_values_of_the_key_are_no_list(write: Write) -> None:
    text = '{"arguments": {"a": [1]}, "arguments": "arguments", "arguments" :\n[%s], "argument": [1]}'
    assert [read.id for read in read_argsme_json(write("a.json", text % json.dumps(argument("a"))))] == ["a"]


def test_a_second_list_of_arguments_is_refused_and_so_costs_no_time(write: Write) -> None:
    raw = b'{"arguments": [],\n' + b'"arguments": [],' * 20_000 + b'"x": 1}'
    message = r'a\.json:2: "arguments" occurs a second time; put all arguments into one list$'
    with pytest.raises(InputError, match=message):
        list(read_argsme_json(write("a.json", raw)))


@pytest.mark.parametrize("escaped", range(10))
@pytest.mark.parametrize("size", [1, 1 << 22])
def test_the_key_may_be_written_with_escapes(
    write: Write, monkeypatch: pytest.MonkeyPatch, escaped: int, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", size)
    for form in ("\\u%04x", "\\u%04X"):
        key = "".join(form % ord(each) for each in "arguments"[:escaped]) + "arguments"[escaped:]
        text = f'{{"other": 1, "{key}": [{json.dumps(argument("a"))}], "\\u0061": [1]}}'
        assert [read.id for read in read_argsme_json(write("a.json", text))] == ["a"]


@pytest.mark.parametrize(
    "key",
    [
        r"argument\u0074",
        r"arguments\u0073",
        r"argument\\u0073",
        r"\u0161rguments",
        "argument",
        "",
        "arguments" * 9,
    ],
)
def test_keys_that_are_like_it_are_others(write: Write, key: str) -> None:
    assert not list(read_argsme_json(write("a.json", f'{{"{key}": [1]}}')))


@pytest.mark.parametrize("opening", ["[", '{"a": '])
def test_json_nested_absurdly_deep_is_refused_before_it_costs_memory(write: Write, opening: str) -> None:
    text = '{"arguments": [\n' + json.dumps(argument("S1-A1")) + ",\n" + opening * 300_000
    with pytest.raises(InputError, match=r"a\.json:3: broken JSON \(nested deeper than 100 levels\)"):
        list(read_argsme_json(write("a.json", text)))
