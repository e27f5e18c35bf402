"""Any text and any bytes, for the tests of all readers of documents."""

import gzip
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from random_examples import st
from touche.errors import InputError

# Any text that has bytes in UTF-8; ids are such texts, printable and without white space.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
IDS = TEXTS.filter(lambda text: text.isprintable() and len(text.split(" ")) == 1 and text)
BYTES = st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
# What is a number here or there, besides numbers of all lengths and short texts.
NUMBERS = st.one_of(
    st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5),
    st.from_regex(r"\A[+-]?[0-9]{1,25}(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?\Z"),
    st.integers(4000, 6000).map(lambda length: "1" * length),
    st.sampled_from(
        "4.0 -2.0 1e3 1_0 nan inf ınf -Infinity 1e39 １２ ٣ ٤.0 0x10 1e 1. .5 + 1e-999 1e999 0 00 ²".split()
    ),
    st.just(f"0.{'0' * 5000}"),
)
# What readers have stumbled over: bytes that are no UTF-8, half a pair of surrogates, very long numbers.
ODD = st.sampled_from(
    [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\\ud800", b"\0", b"\r", b'"', b"'", b"[", b"{"]
) | (st.sampled_from([b"NaN", b"1e999", b"9" * 5000, b"-" + b"9" * 5000, b"0x" + b"f" * 5000, b"[" * 900]))

ENTITIES = "".join(f'<!ENTITY a{level} "{f"&a{level - 1};" * 10}">' for level in range(1, 12))
# Few bytes that cost much: expanding entities, deep nesting, huge fields, and very many fields.
LARGE = st.sampled_from(
    [
        f'<!DOCTYPE a [<!ENTITY a0 "aaaaaaaaaa">{ENTITIES}]><topics>&a11;</topics>'.encode(),
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><topics>&x;</topics>',
        b'<!DOCTYPE a SYSTEM "file:///dev/zero"><topics/>',
        *(bracket * 100_000 for bracket in (b"[", b'{"a":', b"(", b"<a>", b"<div>", b"-")),
        *(field * 1_000_000 for field in (b"a", b"1", b"a ", "é".encode(), b"'", b"\\", b"\0")),
        *(part * 200_000 for part in (b",a", b'"b":1,', b"<b/>", b"\n")),
    ]
)

Read = Callable[[Path], Iterator[Any]]


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A file with something odd in it, between its bytes or in place of some."""
    start = draw(st.integers(0, len(whole)))
    end = draw(st.integers(start, min(start + 9, len(whole))))
    return whole[:start] + draw(ODD | BYTES) + whole[end:]


@st.composite
def inflated(draw: st.DrawFn, whole: bytes) -> bytes:
    """A file with something large in it, possibly gzipped, cut off, or followed by a gzip bomb."""
    at = draw(st.integers(0, len(whole)))
    content = whole[:at] + draw(LARGE) + whole[at:]
    packed = gzip.compress(content, mtime=0)
    bomb = packed + gzip.compress(bytes(10**6), mtime=0) * 100
    return draw(st.sampled_from([content, packed, packed[: len(packed) // 2], bomb]))


def is_read_or_refused(read: Read, path: Path, raw: bytes) -> bool:
    """Whether a reader takes these bytes, and yields what can be written, or says why not in one line."""
    path.write_bytes(raw)
    try:
        return all(orjson.dumps(record, default=str) for record in read(path))
    except InputError as error:
        return len(str(error).splitlines()) == 1


def peak_memory(read: Read, path: Path, count: int) -> int:
    """The most bytes that are in use while a file of so many documents is read."""
    tracemalloc.start()
    assert sum(1 for _ in read(path)) == count
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak
