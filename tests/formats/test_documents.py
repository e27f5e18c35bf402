import ast
import contextlib
import csv
import io
import json
import re
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT, Write
from touche.errors import InputError
from touche.formats import args_processed
from touche.formats.args_processed import read_args_processed_csv
from touche.formats.argsme import read_argsme_json
from touche.formats.documents import Argument, Document, Sentence
from touche.formats.jsonl import read_documents_jsonl, read_passages_jsonl, read_rerank_jsonl

# Any text that has bytes in UTF-8; ids are such texts, printable and without white space.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
IDS = TEXTS.filter(lambda text: text.isprintable() and len(text.split(" ")) == 1 and text)


def argument(id: str, conclusion: str = "c", premise: str = "p", stance: str = "PRO") -> dict[str, Any]:
    return {"id": id, "conclusion": conclusion, "premises": [{"text": premise, "stance": stance}]}


def processed(rows: list[tuple[str, str, str, str, str]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerows([("id", "conclusion", "premises", "context", "sentences"), *rows])
    return file.getvalue()


def test_documents_of_tira(write: Write) -> None:
    path = write(
        "documents.jsonl.gz",
        '{"docno": "d1", "text": "one", "original_document": {}}\n{"docno": 2, "text": ""}\n',
    )
    assert list(read_documents_jsonl(path)) == [Document("d1", "one"), Document("2", "")]


def test_passages_of_2022(write: Write) -> None:
    path = write("passages.jsonl", '{"id": "clueweb12-x___1", "contents": "text", "chatNoirUrl": ""}')
    assert list(read_passages_jsonl(path)) == [Document("clueweb12-x___1", "text")]


def test_the_text_of_an_argument_is_premises_then_conclusion(write: Write) -> None:
    record = argument("S1-A1", "The claim") | {
        "premises": [{"text": "Because."}, {"text": "Also.", "stance": "CON"}]
    }
    (read,) = read_argsme_json(write("args-me.json", json.dumps({"arguments": [record]})))
    assert read == Argument("S1-A1", "The claim", ("Because.", "Also."), stance="")
    assert read.text == "Because. Also. The claim"


def test_arguments_are_found_among_other_keys(write: Write) -> None:
    text = json.dumps({"version": [{"arguments": [1]}], "arguments": [argument("S1-A1")], "more": {}})
    assert [read.id for read in read_argsme_json(write("args-me.json.gz", text))] == ["S1-A1"]


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


def test_candidates_keep_their_topic(write: Write) -> None:
    line = {"qid": 1, "query": "q?", "docno": "d", "text": "t", "rank": 1, "score": 3.2}
    (read,) = read_rerank_jsonl(write("rerank.jsonl.gz", json.dumps(line)))
    assert (read.topic.number, read.topic.title, read.document) == ("1", "q?", Document("d", "t"))


@given(st.dictionaries(IDS, st.tuples(TEXTS, TEXTS), min_size=1))
def test_whatever_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    records = [argument(id, conclusion, premise) for id, (conclusion, premise) in texts.items()]
    (folder / "args-me.json").write_text(json.dumps({"arguments": records}), encoding="utf-8")
    rows = [(each["id"], each["conclusion"], repr(each["premises"]), "{}", "[]") for each in records]
    (folder / "args_processed.csv").write_text(processed(rows), encoding="utf-8", newline="")
    expected = [Argument(id, conclusion, (premise,), "PRO") for id, (conclusion, premise) in texts.items()]
    assert list(read_argsme_json(folder / "args-me.json")) == expected
    # A carriage return within a CSV field is a line break to every CSV reader.
    if not any("\r" in text for id, both in texts.items() for text in (id, both[0])):
        split = [replace(each, sentences=()) for each in expected]
        assert list(read_args_processed_csv(folder / "args_processed.csv")) == split


READERS = [
    read_documents_jsonl,
    read_passages_jsonl,
    read_argsme_json,
    read_args_processed_csv,
    read_rerank_jsonl,
]


@pytest.mark.parametrize("read", READERS)
@given(
    raw=st.one_of(
        st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
    )
)
def test_any_bytes_are_read_or_refused_with_one_line(
    tmp_path_factory: pytest.TempPathFactory, read: Callable[[Path], Iterator[Any]], raw: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(raw)
    try:
        list(read(path))
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"id": "S1-A1", "conclusion": "c"}, "an argument without premises"),
        ({"id": "S1-A1", "conclusion": "c", "premises": "p"}, "an argument without premises"),
        ({"id": "S1-A1", "conclusion": "c", "premises": [{"stance": "PRO"}]}, "an argument without premises"),
        ({"id": "S1-A1", "premises": []}, 'no "conclusion"'),
        ({"conclusion": "c", "premises": []}, 'no "id"'),
        (argument("S1 A1"), "argument 'S1 A1' is empty, too long, or has white space"),
        (argument("S0-A0"), "argument 'S0-A0' occurs a second time; remove one of the two"),
    ],
)
def test_unusable_arguments_are_named_with_their_line(
    write: Write, record: dict[str, Any], message: str
) -> None:
    text = '{"arguments": [\n' + json.dumps(argument("S0-A0")) + ",\n" + json.dumps(record) + "\n]}"
    with pytest.raises(InputError, match=rf"args-me\.json:3: {message}"):
        list(read_argsme_json(write("args-me.json", text)))


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_broken_json_is_named_with_its_line(write: Write, cut: int) -> None:
    text = '{"arguments": [\n' + json.dumps(argument("S0-A0")) + ",\n" + json.dumps(argument("S1-A1"))
    with pytest.raises(InputError, match=r"args-me\.json:3: broken JSON"):
        list(read_argsme_json(write("args-me.json", text[:-cut])))


def test_arguments_that_are_not_utf8_are_named_with_their_line(write: Write) -> None:
    raw = b'{"arguments": [\n{"id": "S1-A1", "conclusion": "caf\xe9", "premises": []}]}'
    with pytest.raises(
        InputError, match=r"args-me\.json:2: broken JSON \(lexical error: invalid bytes in UTF8 string\);"
    ):
        list(read_argsme_json(write("args-me.json", raw)))


GOOD = ("S1-A1", "c", "[{'text': 'p', 'stance': 'PRO'}]", "{}", "[]")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (2, "[{'text': 'p'", '"premises" is no Python literal'),
        (2, "__import__('os').system('true')", '"premises" is no Python literal'),
        (4, "[" * 100_000, '"sentences" is no Python literal'),
        (4, "[{'sent_id': 'x'}]", "sentences that are no list of sent_id and sent_text"),
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


AWKWARD = TEXTS | st.text(alphabet="'\"\\\n{}[], d", max_size=8)


@given(st.lists(st.tuples(AWKWARD, AWKWARD), max_size=4))
def test_the_fast_way_to_read_sentences_reads_what_python_reads(pairs: list[tuple[str, str]]) -> None:
    records = [{"sent_id": id, "sent_text": text} for id, text in pairs]
    fast = args_processed._usual_records(repr(records), *args_processed._RECORDS["sentences"])
    assert fast == (records or None)


SENTENCES = "[{'sent_id': 'a', 'sent_text': 'b\\n'}, {'sent_id': 'a', 'sent_text': \"it's\"}]"


@given(st.integers(0, len(SENTENCES) - 1), st.sampled_from("'\"\\[]{}, a\n") | st.just(""))
def test_the_fast_way_never_reads_what_python_would_not(place: int, character: str) -> None:
    text = SENTENCES[:place] + character + SENTENCES[place + 1 :]
    with contextlib.suppress(ValueError, SyntaxError), warnings.catch_warnings(action="ignore"):
        fast = args_processed._usual_records(text, *args_processed._RECORDS["sentences"])
        assert fast is None or fast == ast.literal_eval(text)


@pytest.mark.filterwarnings("error")
def test_odd_escapes_in_literals_are_no_reason_for_warnings(write: Write) -> None:
    for rest, stance in (("'stance': None", ""), ("'stance': 'PRO', 'annotations': []", "PRO")):
        row = ("S1-A1", "c", f"[{{'text': '\\d', {rest}}}]", "{}", "[]")
        (read,) = read_args_processed_csv(write("a.csv", processed([row])))
        assert (read.premises, read.stance) == (("\\d",), stance)


@pytest.mark.parametrize("opening", ["[", '{"a": '])
def test_json_nested_absurdly_deep_is_refused_before_it_costs_memory(write: Write, opening: str) -> None:
    text = '{"arguments": [\n' + json.dumps(argument("S1-A1")) + ",\n" + opening * 300_000
    with pytest.raises(InputError, match=r"a\.json:3: broken JSON \(nested deeper than 100 levels\)"):
        list(read_argsme_json(write("a.json", text)))


def test_an_empty_file_of_arguments_is_an_error_of_its_first_line(write: Write) -> None:
    with pytest.raises(InputError, match=r"a\.json:1: broken JSON"):
        list(read_argsme_json(write("a.json", "")))


def test_a_missing_column_and_an_open_quote_are_errors(write: Write) -> None:
    with pytest.raises(InputError, match=r'a\.csv:2: no column "premises"'):
        list(read_args_processed_csv(write("a.csv", "id,conclusion\nS1-A1,c\n")))
    with pytest.raises(InputError, match=r"b\.csv:2: broken CSV"):
        list(read_args_processed_csv(write("b.csv", 'id,conclusion,premises,context,sentences\n"S1-A1,c\n')))


def test_ids_are_checked_across_the_files_of_a_collection(write: Write) -> None:
    seen: set[str] = set()
    first = write("a.jsonl", '{"docno": "d", "text": ""}')
    assert len(list(read_documents_jsonl(first, seen))) == 1
    with pytest.raises(InputError, match=r"b\.jsonl:1: document 'd' occurs a second time"):
        list(read_documents_jsonl(write("b.jsonl", '{"docno": "d", "text": ""}'), seen))


def test_a_document_may_be_a_candidate_of_two_topics_but_of_one_only_once(write: Write) -> None:
    line = '{{"qid": "{}", "query": "q", "docno": "d", "text": "t"}}\n'
    assert len(list(read_rerank_jsonl(write("a.jsonl", line.format(1) + line.format(2))))) == 2
    with pytest.raises(InputError, match=r"b\.jsonl:2: document 'd' occurs a second time"):
        list(read_rerank_jsonl(write("b.jsonl", line.format(1) * 2)))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            '{"qid": "1", "query": "other", "docno": "e", "text": "t"}',
            "topic '1' has another text than before",
        ),
        (
            '{"qid": "2", "query": "q", "docno": "d", "text": "u"}',
            "document 'd' has another text than before",
        ),
    ],
)
def test_a_topic_and_a_document_have_one_text_throughout(write: Write, second: str, message: str) -> None:
    first = '{"qid": "1", "query": "q", "docno": "d", "text": "t"}\n'
    with pytest.raises(InputError, match=rf"r\.jsonl:2: {message}"):
        list(read_rerank_jsonl(write("r.jsonl", first + second)))


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("format", ["documents", "passages", "argsme", "processed"])
def test_memory_does_not_grow_with_the_corpus(write: Write, format: str, suffix: str) -> None:
    """40 MB are read in less than 4 MB; the ids, which are kept to find repeated ones, are part of these."""
    text, count = "word " * 2000, 4000
    if format == "documents":
        read: Callable[[Path], Iterator[Any]] = read_documents_jsonl
        content = "".join(json.dumps({"docno": f"d{n}", "text": text}) + "\n" for n in range(count))
    elif format == "passages":
        read = read_passages_jsonl
        content = "".join(json.dumps({"id": f"d{n}", "contents": text}) + "\n" for n in range(count))
    elif format == "argsme":  # on a single line, as published
        read = read_argsme_json
        content = json.dumps({"arguments": [argument(f"S{n}", premise=text) for n in range(count)]})
    else:
        read = read_args_processed_csv
        premises = repr([{"text": text, "stance": "PRO"}])
        content = processed([(f"S{n}", "c", premises, "{}", "[]") for n in range(count)])
    path = write(f"file{suffix}", content)
    del content
    tracemalloc.start()
    assert sum(1 for _ in read(path)) == count
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4e6


def test_the_texts_of_the_spot_check_are_short_enough_to_be_read() -> None:
    """One to twelve sentences; mashed keys and two-word premises count as one."""
    arguments = read_argsme_json(ROOT / "corpora" / "spot-check-arguments" / "args-me.json")
    passages = read_passages_jsonl(ROOT / "corpora" / "spot-check-passages" / "passages.jsonl")
    texts = [each.premises[0] for each in arguments] + [each.text for each in passages]
    lengths = [
        len([part for part in re.split(r"[.!?][\"')]*\s+|\n+", text) if part.strip()]) for text in texts
    ]
    assert (min(lengths), max(lengths)) == (1, 12)
    assert len(set(texts)) == len(texts)


def test_the_spot_check_keeps_its_promises() -> None:
    arguments = list(read_argsme_json(ROOT / "corpora" / "spot-check-arguments" / "args-me.json"))
    passages = list(read_passages_jsonl(ROOT / "corpora" / "spot-check-passages" / "passages.jsonl"))
    assert (len(arguments), arguments[0].id, arguments[-1].id) == (
        270,
        "S00756750-A4aa2697f",
        "Sffa5aa28-A3e7ab3d2",
    )
    assert (len(passages), passages[0].id, passages[-1].id) == (
        100,
        "spotcheck-001c9609___5",
        "spotcheck-fbd1bc58___8",
    )
