"""What all readers of documents have in common: any bytes are read or refused, and memory does not grow."""

import csv
import io
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Write
from texts import BYTES, IDS, TEXTS, Read, damaged, is_read_or_refused, peak_memory
from touche.formats import pieces
from touche.formats.args_processed import read_args_processed_csv
from touche.formats.argsme import read_argsme_json
from touche.formats.documents import Argument, Document
from touche.formats.jsonl import read_documents_jsonl, read_passages_jsonl, read_rerank_jsonl
from touche.formats.statistics import read_statistics
from touche.formats.topics import read_queries_jsonl, read_topics_xml

Texts = dict[str, tuple[str, str]]  # of an id: conclusion and premise


def argsme(texts: Texts) -> str:
    arguments = [
        {"id": id, "conclusion": conclusion, "premises": [{"text": premise, "stance": "PRO"}]}
        for id, (conclusion, premise) in texts.items()
    ]
    return json.dumps({"arguments": arguments})


def processed(texts: Texts) -> str:
    file = io.StringIO()
    rows = [
        (id, conclusion, repr([{"text": premise, "stance": "PRO"}]), "{}", "[]")
        for id, (conclusion, premise) in texts.items()
    ]
    csv.writer(file).writerows([("id", "conclusion", "premises", "context", "sentences"), *rows])
    return file.getvalue()


def lines(id: str, text: str) -> Callable[[Texts], str]:
    return lambda texts: "".join(f"{json.dumps({id: key, text: each[1]})}\n" for key, each in texts.items())


FORMATS = {
    read_argsme_json: argsme,
    read_args_processed_csv: processed,
    read_documents_jsonl: lines("docno", "text"),
    read_passages_jsonl: lines("id", "contents"),
}
SENTENCE = "\"[{'sent_id': 'a__CONC__1', 'sent_text': 't'}]\""
FIELD = {"analysis": "english", "documents": 3, "tokens": 9, "terms": {"a": [2, 5]}}
WHOLE = {
    read_argsme_json: argsme({"a": ("café", "p"), "b": ("c", "p")}).encode(),
    read_args_processed_csv: processed({"a": ("c", "p"), "b": ("c", "p")})
    .replace("[]", SENTENCE, 1)
    .encode(),
    read_documents_jsonl: b'{"docno": "a", "text": "one"}\n{"docno": 2, "title": "t"}\n',
    read_rerank_jsonl: b'{"qid": 1, "query": "q", "docno": "d", "text": "t"}\n',
    read_queries_jsonl: b'{"qid": 1, "query": "q", "original_query": {"objects": ["a"]}}\n',
    read_topics_xml: b"<topics><topic><number>1</number><title>t</title></topic></topics>",
    read_statistics: json.dumps({"parts": 1, "fields": {"t": FIELD}}).encode(),
}


@pytest.mark.parametrize("read", WHOLE)
@given(data=st.data())
def test_any_bytes_are_read_or_refused_with_one_line(
    tmp_path_factory: pytest.TempPathFactory, read: Read, data: st.DataObject
) -> None:
    raw = data.draw(BYTES | damaged(WHOLE[read]))
    assert is_read_or_refused(read, tmp_path_factory.mktemp("fuzz") / "file", raw)


@pytest.mark.parametrize("read", FORMATS)
@given(texts=st.dictionaries(IDS, st.tuples(TEXTS.filter(lambda text: "\r" not in text), TEXTS), min_size=1))
def test_whatever_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, read: Read, texts: Texts
) -> None:
    """Except carriage returns within a field, which are line breaks to every CSV reader."""
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_text(FORMATS[read](texts), encoding="utf-8", newline="")
    sentences = () if read is read_args_processed_csv else None
    assert list(read(path)) == [
        Argument(id, conclusion, (premise,), "PRO", sentences)
        if "arg" in read.__name__
        else Document(id, premise)
        for id, (conclusion, premise) in texts.items()
    ]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("read", FORMATS)
def test_memory_does_not_grow_with_the_corpus(
    write: Write, monkeypatch: pytest.MonkeyPatch, read: Read, suffix: str
) -> None:
    """40 MB in pieces of 64 KiB are read in less than 4 MB, of which the ids are a part."""
    monkeypatch.setattr(pieces, "SIZE", 1 << 16)
    texts = {f"S{number}": ("c", "word " * 2000) for number in range(4000)}
    assert peak_memory(read, write(f"file{suffix}", FORMATS[read](texts)), 4000) < 4e6
