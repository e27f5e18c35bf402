import csv
import io
import time

import pytest

from conftest import Write
from touche.errors import InputError
from touche.formats import pieces
from touche.formats.args_processed import read_args_processed_csv
from touche.formats.documents import Argument, Sentence


def processed(rows: list[tuple[str, str, str, str, str]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerows([("id", "conclusion", "premises", "context", "sentences"), *rows])
    return file.getvalue()


def test_processed_arguments_have_sentences(write: Write) -> None:
    premises = "[{'text': 'It\\'s so. \"Yes\"', 'stance': 'CON', 'annotations': []}]"
    first = "{'sent_id': 'S1-A1__CONC__1', 'sent_text': \"It's\"}"
    sentences = f"[{first}, {{'sent_id': 'S1-A1__PREMISE__1', 'sent_text': ''}}]"
    path = write("args_processed.csv", processed([("S1-A1", "It's", premises, "{}", sentences)]))
    assert list(read_args_processed_csv(path)) == [
        Argument(
            "S1-A1",
            "It's",
            ('It\'s so. "Yes"',),
            "CON",
            (Sentence("S1-A1__CONC__1", "It's"), Sentence("S1-A1__PREMISE__1", "")),
        )
    ]


GOOD = ("S1-A1", "c", "[{'text': 'p', 'stance': 'PRO'}]", "{}", "[]")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (2, "[{'text': 'p'", '"premises" is no Python literal'),
        (2, "__import__('os').system('true')", '"premises" is no Python literal'),
        (4, "[" * 100_000, '"sentences" is no Python literal'),
        (4, "[{'sent_id': 'x'}]", "sentences that are no list of sent_id and sent_text"),
        (4, f"[{{'sent_id': '{'x' * 5000}', 'sent_text': 't'}}]", "sentence id 'x{59} ... does not belong"),
        (4, "{}", "sentences that are no list"),
        (
            4,
            "[{'sent_id': 'S1-A1__CONC__1', 'sent_text': 't'}]",
            "sentence id 'S1-A1__CONC__1' does not belong",
        ),
        (4, "[{'sent_id': '__CONC__1', 'sent_text': 't'}]", "sentence id '__CONC__1' does not belong"),
        (
            4,
            f"[{', '.join(2 * [str({'sent_id': 'S2-A2__CONC__1', 'sent_text': 't'})])}]",
            "sentence id 'S2-A2__CONC__1' occurs a second time",
        ),
        (
            4,
            "[{'sent_id': 'S2-A2__CONC__0', 'sent_text': 't'}]",
            "sentence id 'S2-A2__CONC__0' does not belong",
        ),
        (4, "[{'sent_id': 'S2-A2', 'sent_text': '\\x'}]", '"sentences" is no Python literal'),
        (2, "'p'", "an argument without premises"),
        (2, "[{'text': '\\ud800', 'stance': 'PRO', 'annotations': []}]", '"premises" is no Python literal'),
        (2, "[{'text': '\\ud800', 'stance': None}]", '"premises" is no Python literal'),
        (2, f"[{{'text': {'9' * 5000}}}]", '"premises" is no Python literal'),
        (0, "", "argument '' is empty"),
    ],
)
def test_unusable_rows_are_named_with_their_line(write: Write, column: int, value: str, message: str) -> None:
    bad = [value if place == column else cell for place, cell in enumerate(("S2-A2", *GOOD[1:]))]
    with pytest.raises(InputError, match=rf"args_processed\.csv:3: {message}"):
        list(read_args_processed_csv(write("args_processed.csv", processed([GOOD, tuple(bad)]))))  # type: ignore[arg-type]


def test_a_byte_that_is_not_utf8_is_named_with_its_line_in_csv_too(write: Write) -> None:
    raw = processed([GOOD, *[(f"S{n}-A1", *GOOD[1:]) for n in range(2, 200)]]).encode()
    path = write("a.csv", raw.replace(b"S150-A1,c", b"S150-A1,\xe9"))
    with pytest.raises(InputError, match=r"a\.csv:151: not UTF-8 \(byte 0xe9\)"):
        list(read_args_processed_csv(path))


@pytest.mark.filterwarnings("error")
def test_odd_escapes_in_literals_are_no_reason_for_warnings(write: Write) -> None:
    for rest, stance in (("'stance': None", ""), ("'stance': 'PRO', 'annotations': []", "PRO")):
        row = ("S1-A1", "c", f"[{{'text': '\\d', {rest}}}]", "{}", "[]")
        (read,) = read_args_processed_csv(write("a.csv", processed([row])))
        assert (read.premises, read.stance) == (("\\d",), stance)


@pytest.mark.parametrize("size", [1, 1 << 22])
def test_a_header_may_have_a_byte_order_mark_marks_and_a_line_break_and_be_all(
    write: Write, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", size)
    header = '\ufeff"id",conclusion,premises,sentences,"and\nmore, too"\n'
    (read,) = read_args_processed_csv(write("a.csv", f'{header}\n"S1-A1",c,[],[],\r\n'))
    assert read == Argument("S1-A1", "c", (), "", ())
    assert not list(read_args_processed_csv(write("b.csv", header[:-1])))
    with pytest.raises(InputError, match=r'c\.csv:4: no column "premises"'):
        list(read_args_processed_csv(write("c.csv", f"{header}\nS1-A1,c\n")))
    with pytest.raises(InputError, match=r"e\.csv:4: broken CSV"):
        list(read_args_processed_csv(write("e.csv", f'{header}\n"S1-A1,c\n')))
    with pytest.raises(InputError, match=r"d\.csv:1: broken CSV"):
        list(read_args_processed_csv(write("d.csv", '"id"x\n')))


def test_blank_lines_are_no_rows_and_cost_no_time(write: Write) -> None:
    """Gzipped, a million of them is 1 kB."""
    header = "id,conclusion,premises,sentences\n"
    path = write("a.csv", header + "\n" * 5_000_000 + "S1-A1,c,[],[]\n\n\nS2-A2\n")
    read, started = read_args_processed_csv(path), time.process_time()
    assert next(read).id == "S1-A1"
    assert time.process_time() - started < 1  # of 0.1 s; as rows they would be 3 s
    with pytest.raises(InputError, match=r'a\.csv:5000005: no column "premises"'):
        next(read)


def test_a_header_that_is_blank_names_no_column(write: Write) -> None:
    with pytest.raises(InputError, match=r'a\.csv:2: no column "premises"'):
        list(read_args_processed_csv(write("a.csv", "\nid\n")))
