import json
import time
from typing import Any

import pytest

from conftest import Write
from reading import read_argsme_json
from touche.documents import pieces
from touche.documents.document_records import Argument
from touche.errors import InputError

SIZES = pytest.mark.parametrize("size", [1, 1 << 22])


def argument(id: str, **changes: Any) -> dict[str, Any]:
    return {"id": id, "conclusion": "c", "premises": [{"text": "p", "stance": "PRO"}]} | changes


A, B = (json.dumps(argument(id)) for id in "AB")


def test_the_text_of_an_argument_is_premises_then_conclusion(write: Write) -> None:
    premises = [{"text": "Because."}, {"text": "Also.", "stance": "CON"}]
    context = {"discussionTitle": "Zoos", "sourceText": "page", "aspects": []}
    records = [
        argument("a", conclusion="The claim", premises=premises, context=context),
        argument("b", premises=[], context={"discussionTitle": None}),
        argument("c", context=None) | {"id": 12},
    ]
    first, *others = read_argsme_json(write("args-me.json", json.dumps({"arguments": records})))
    assert first == Argument(
        "a", "The claim", ("Because.", "Also."), stance="", discussion="Zoos", page="page"
    )
    assert first.text == "Because. Also. The claim"
    assert [(other.id, other.stance) for other in others] == [("b", ""), ("12", "PRO")]
    assert {other.discussion for other in others} == {""}


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
    record = A.replace('"c"', f'"{escaped}"')
    read, other = read_argsme_json(write("args-me.json", f'{{"arguments": [{record}, {B}]}}'))
    assert (read.conclusion, other.conclusion) == (text, "c")


def second(**changes: object) -> str:
    """Returns a file whose second line is an argument with some parts replaced."""
    record = {name: value for name, value in (argument("S1-A1") | changes).items() if value is not None}
    return f'{{"arguments": [A,\n{json.dumps(record)}\n]}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (second(premises=None), r"2: not an argument \(.*required field `premises`"),
        (second(premises="p"), r"2: not an argument \(Expected `array`"),
        (second(premises=[{"stance": "PRO"}]), "2: not an argument"),
        (second(conclusion=None), "2: not an argument"),
        (second(id=10**20), "2: not an argument"),
        (second(id=True), "2: not an argument"),
        (second(id="S1 A1"), "2: argument 'S1 A1' is empty, too long, or has white space"),
        (second(id="A"), "2: argument 'A' occurs a second time; remove one of the two"),
        ('{"arguments": [A,\n{"id": "\udced\udca0\udc80"}]}', "2: not UTF-8"),
        ('{"arguments": [A,\n{"x":\n"caf\udce9"}]}', r"3: not UTF-8 \(byte 0xe9\); save the file in UTF-8"),
        (second(x="caf\udce9").replace("\\udce9", "\udce9"), r"2: not UTF-8 \(byte 0xe9\)"),
        ('{"arguments": [A,\n{"id": NaN}]}', "2: broken JSON"),
        ('{"arguments": [A,\n{"id": "B', "2: broken JSON .*; fetch the file again"),
        ('{"arguments": [A,\n,\nB]}', r"2: broken JSON"),
        ('{"arguments": [A,\nB\n,]}', "3: broken JSON"),
        ('{"arguments": [\n,A]}', "2: broken JSON"),
        ('{"arguments": [A}, "x": [\nB]}', r"1: broken JSON \("),
        ('{"arguments": [A]\n, "x": tru}', r"2: broken JSON \("),
        ('{"arguments": [A],\n"x": "\udce9"}', "2: not UTF-8"),
        ('{"x": tru,\n "arguments": [A]}', r"1: broken JSON \("),
        ('{"arguments": [A\n]}\n{}', r"3: broken JSON \("),
        ('{"arguments": [A],\n"more" 1, "arguments": [B]}', r"2: broken JSON \("),
        ('{"arguments": [\n', r"2: broken JSON \("),
        ('{"arguments": [A', r"1: broken JSON \("),
    ],
)
@SIZES
def test_what_is_broken_is_named_with_its_line(
    write: Write, monkeypatch: pytest.MonkeyPatch, text: str, message: str, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", size)
    for id, record in (("A", A), ("B", B)):
        text = text.replace(f"[{id}", f"[{record}").replace(f"\n{id}", f"\n{record}")
    with pytest.raises(InputError, match=rf"a\.json:{message}"):
        list(read_argsme_json(write("a.json", text.encode(errors="surrogateescape"))))


def test_the_first_fault_is_reported_and_what_precedes_it_is_read(write: Write) -> None:
    text = json.dumps({"arguments": [argument("a"), argument("b"), {}, argument("c")]}, indent=1) + "x"
    read = read_argsme_json(write("a.json", text))
    assert [next(read).id, next(read).id] == ["a", "b"]
    with pytest.raises(InputError, match=r"a\.json:23: not an argument"):
        next(read)


def test_several_lists_of_arguments_cost_no_time(write: Write) -> None:
    raw = (
        f'{{"arguments": [{A}],'.encode() + b'\n"arguments": [],' * 200_000 + f'"arguments": [{B}]}}'.encode()
    )
    started = time.process_time()
    assert [argument.id for argument in read_argsme_json(write("a.json", raw))] == ["A", "B"]
    assert time.process_time() - started < 20  # quadratic time would be minutes


@pytest.mark.parametrize("form", ["\\u%04x", "\\u%04X"])
@pytest.mark.parametrize("escaped", [0, 1, 9])
@SIZES
def test_the_key_may_be_written_with_escapes(
    write: Write, monkeypatch: pytest.MonkeyPatch, form: str, escaped: int, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", size)
    key = "".join(form % ord(letter) for letter in "arguments"[:escaped]) + "arguments"[escaped:]
    text = f'{{"other": 1, "{key}": [{A}], "\\u0061": [1], "arguments": {{"arguments": [1]}}}}'
    assert [read.id for read in read_argsme_json(write("a.json", text))] == ["A"]


@pytest.mark.parametrize(
    "key",
    [*r"argument\u0074 arguments\u0073 argument\\u0073 \u0161rguments argument".split(), "", "arguments" * 9],
)
def test_keys_that_are_like_it_are_others(write: Write, key: str) -> None:
    assert not list(read_argsme_json(write("a.json", f'{{"{key}": [1]}}')))


@pytest.mark.parametrize("opening", ["[", '{"a": '])
def test_json_nested_absurdly_deep_is_refused_before_it_costs_memory(write: Write, opening: str) -> None:
    text = f'{{"arguments": [\n{A},\n{opening * 300_000}'
    with pytest.raises(InputError, match=r"a\.json:3: broken JSON \(nested deeper than 100 levels\)"):
        list(read_argsme_json(write("a.json", text)))
