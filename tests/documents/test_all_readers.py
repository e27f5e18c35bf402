"""All readers of documents: any bytes are read or refused, and memory does not grow."""

import json
from collections.abc import Callable

import pytest
from test_args_processed import processed as rows_of_csv

from conftest import Write
from random_examples import given, st
from reading import read_args_processed_csv, read_argsme_json, read_documents_jsonl
from texts import IDS, TEXTS, Read, peak_memory
from touche.documents import pieces
from touche.documents.document_records import Argument, Document

Texts = dict[str, tuple[str, str]]  # of an id: conclusion and premise


def argsme(texts: Texts) -> str:
    arguments = [
        {"id": id, "conclusion": conclusion, "premises": [{"text": premise, "stance": "PRO"}]}
        for id, (conclusion, premise) in texts.items()
    ]
    return json.dumps({"arguments": arguments})


def processed(texts: Texts) -> str:
    return rows_of_csv(
        *(
            (id, conclusion, repr([{"text": premise, "stance": "PRO"}]), "{}", "[]")
            for id, (conclusion, premise) in texts.items()
        )
    )


def lines(id: str, text: str) -> Callable[[Texts], str]:
    return lambda texts: "".join(
        f"{json.dumps({id: key, text: texts_of_document[1]})}\n" for key, texts_of_document in texts.items()
    )


FORMATS = {
    read_argsme_json: argsme,
    read_args_processed_csv: processed,
    read_documents_jsonl: lines("docno", "text"),
}


@pytest.mark.parametrize("read", FORMATS)
@given(texts=st.dictionaries(IDS, st.tuples(TEXTS.filter(lambda text: "\r" not in text), TEXTS), min_size=1))
def test_whatever_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, read: Read, texts: Texts
) -> None:
    """Carriage returns within a field are excepted: every CSV reader treats them as line breaks."""
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_text(FORMATS[read](texts), encoding="utf-8", newline="")
    sentences = () if read is read_args_processed_csv else None
    assert list(read(path)) == [
        Argument(id=id, conclusion=conclusion, premises=(premise,), stance="PRO", sentences=sentences)
        if "arg" in read.__name__
        else Document(id, premise)
        for id, (conclusion, premise) in texts.items()
    ]


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("read", FORMATS)
def test_memory_does_not_grow_with_the_corpus(
    write: Write, monkeypatch: pytest.MonkeyPatch, read: Read, suffix: str
) -> None:
    """Reading 40 MB in pieces of 64 KiB needs less than 4 MB, including the ids."""
    monkeypatch.setattr(pieces, "SIZE", 1 << 16)
    texts = {f"S{number}": ("c", "word " * 2000) for number in range(4000)}
    assert peak_memory(read, write(f"file{suffix}", FORMATS[read](texts)), 4000) < 4e6
