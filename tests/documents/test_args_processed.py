import ast
import contextlib
import csv
import io
import time
import warnings
from typing import Any

import orjson
import pytest

from conftest import Write
from random_examples import given, st
from reading import read_args_processed_csv
from texts import TEXTS
from touche.documents import pieces
from touche.documents.args_processed import as_json, parse_literal
from touche.documents.document_records import Argument, Sentence
from touche.errors import InputError


def processed(*rows: tuple[str, ...]) -> str:
    file = io.StringIO()
    csv.writer(file).writerows([("id", "conclusion", "premises", "context", "sentences"), *rows])
    return file.getvalue()


def test_processed_arguments_have_sentences(write: Write) -> None:
    premises = "[{'text': 'It\\'s so. \"Yes\"', 'stance': 'CON', 'annotations': []}]"
    first = "{'sent_id': 'S1-A1__CONC__1', 'sent_text': \"It's\"}"
    sentences = f"[{first}, {{'sent_id': 'S1-A1__PREMISE__1', 'sent_text': ''}}]"
    path = write("args_processed.csv", processed(("S1-A1", "It's", premises, "{}", sentences)))
    expected = (Sentence("S1-A1__CONC__1", "It's"), Sentence("S1-A1__PREMISE__1", ""))
    assert list(read_args_processed_csv(path)) == [
        Argument(
            id="S1-A1", conclusion="It's", premises=('It\'s so. "Yes"',), stance="CON", sentences=expected
        )
    ]


def test_the_limit_of_fields_in_other_csv_files_stays(write: Write) -> None:
    premises = "[{'text': '" + 200_000 * "x" + "', 'stance': 'PRO'}]"
    before = csv.field_size_limit()
    path = write(
        "args_processed.csv", processed(*((f"S1-A{n}", "c", premises, "{}", "[]") for n in range(3)))
    )
    for argument in read_args_processed_csv(path):
        assert len(argument.premises[0]) > before == csv.field_size_limit()


GOOD = ("S1-A1", "c", "[{'text': 'p', 'stance': 'PRO'}]", "{}", "[]")
NO_LIST = "premises or sentences are not a list of records"
NO_ID = "sentence id .* occurs twice, or does not belong"


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (2, "[{'text': 'p'", NO_LIST + r" \(not a literal of strings"),
        (2, "[{'text': b'p'}]", NO_LIST),
        (2, f"[{{'text': 'p', '\\d': {10**30}}}]", NO_LIST),
        (2, "__import__('os').system('true')", NO_LIST),
        (2, "'p'", NO_LIST + r" \(Expected `array`, got `str`\)"),
        (2, "[{'text': '\\ud800', 'stance': None}]", NO_LIST),
        (2, f"[{{'text': {'9' * 5000}}}]", NO_LIST),
        (4, "[" * 100_000, NO_LIST),
        (4, "[{'sent_id': 'x'}]", NO_LIST),
        (4, "[{'sent_id': 'S2-A2', 'sent_text': '\\x'}]", NO_LIST),
        (4, str([{"sent_id": "x" * 5000, "sent_text": "t"}]), "sentence id 'x{59} ... occurs"),
        (4, str([{"sent_id": "S1-A1__CONC__1", "sent_text": "t"}]), NO_ID),
        (4, str([{"sent_id": "S2-A2__CONC__0", "sent_text": "t"}]), NO_ID),
        (4, str(2 * [{"sent_id": "S2-A2__CONC__1", "sent_text": "t"}]), NO_ID),
        (0, "", "argument '' is empty"),
        (0, "S1-A1", "argument 'S1-A1' occurs a second time"),
    ],
)
def test_unusable_rows_are_named_with_their_line(write: Write, column: int, value: str, message: str) -> None:
    bad = [value if position == column else cell for position, cell in enumerate(("S2-A2", *GOOD[1:]))]
    with pytest.raises(InputError, match=rf"args_processed\.csv:3: {message}"):
        list(read_args_processed_csv(write("args_processed.csv", processed(GOOD, tuple(bad)))))


HEADER = '\ufeff"id",conclusion,premises,sentences,"and\nmore, too"\n'


@pytest.mark.parametrize("size", [1, 1 << 22])
def test_a_header_may_have_a_byte_order_mark_marks_and_a_line_break_and_be_all(
    write: Write, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", size)
    (read,) = read_args_processed_csv(write("a.csv", f'{HEADER}\n"S1-A1",c,[],[],\r\n'))
    assert read == Argument(id="S1-A1", conclusion="c", premises=(), stance="", sentences=())
    assert not list(read_args_processed_csv(write("b.csv", HEADER[:-1])))


@pytest.mark.parametrize("size", [1, 1 << 22])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{HEADER}\nS1-A1,c\n", "4: no column 'premises'"),
        (f'{HEADER}\n"S1-A1,c\n', "4: broken CSV"),
        ('"id"x\n', "1: broken CSV"),
        ("\nid\n", "2: no column 'premises'"),
        pytest.param(
            f"{processed(GOOD)}S150-A1,\udce9\n", r"3: not UTF-8 \(byte 0xe9\)", id="a byte that is not UTF-8"
        ),
    ],
)
def test_a_broken_file_is_named_with_its_line(
    write: Write, monkeypatch: pytest.MonkeyPatch, content: str, message: str, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", size)
    with pytest.raises(InputError, match=rf"c\.csv:{message}"):
        list(read_args_processed_csv(write("c.csv", content.encode(errors="surrogateescape"))))


def test_blank_lines_are_no_rows_and_cost_no_time(write: Write) -> None:
    """Gzipped, a million of them is 1 kB."""
    header = "id,conclusion,premises,sentences\n"
    path = write("a.csv", header + "\n" * 5_000_000 + "S1-A1,c,[],[]\n\n\nS2-A2\n")
    read = read_args_processed_csv(path)
    started = time.process_time()
    assert next(read).id == "S1-A1"
    assert time.process_time() - started < 1  # of 0.1 s; parsed as rows they would take 3 s
    with pytest.raises(InputError, match=r"a\.csv:5000005: no column 'premises'"):
        next(read)


AWKWARD = TEXTS | st.text(alphabet="'\"\\\n{}[], d\x7f\xa0\u2028", max_size=8)
VALUES = st.recursive(
    AWKWARD | st.none() | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(AWKWARD, inner, max_size=3),
    max_leaves=6,
)
PARTS = st.sampled_from(
    [
        *r"""'a' "b'" '' [ ] { } None null 1 \d \' \ud83d \ude00 '\x4e' '\xg0' '\x4' '\u00e9'""".split(),
        *("'\\u12'", r"'\ud83d\ude00'", "'\t'", "b''", "#", "\\", "\n", "'", ", ", ": "),
    ]
)


@given(VALUES)
def test_every_literal_is_read_back(value: Any) -> None:
    with contextlib.suppress(TypeError):  # numbers of more than 64 bits
        assert parse_literal(repr(value), Any) == value


@pytest.mark.filterwarnings("error")
@given(st.lists(PARTS, max_size=8).map("".join) | st.text("'\"\\[]{}, aNonexu0\n", max_size=12))
def test_what_is_read_fast_is_what_python_reads(literal: str) -> None:
    with contextlib.suppress(orjson.JSONDecodeError):
        value = orjson.loads(as_json(literal.encode()))
        with warnings.catch_warnings(action="ignore"):
            assert value == ast.literal_eval(literal)


@pytest.mark.parametrize("text", ["it's", 'it\'s "so"', "\\n\n\t\r", "caf\u00e9\x85\u200b", ""])
def test_usual_texts_are_read_fast(text: str) -> None:
    value = [{"sent_id": "a", "sent_text": text, "annotations": [], "stance": None}]
    assert orjson.loads(as_json(repr(value).encode())) == value


@pytest.mark.filterwarnings("error")
def test_odd_escapes_in_literals_are_no_reason_for_warnings() -> None:
    assert parse_literal(r"['\d']", list[str]) == [r"\d"]
