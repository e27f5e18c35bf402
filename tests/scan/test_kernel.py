import os
import signal
import threading

import numpy as np
import pytest

from random_examples import given, st
from texts import BYTES
from touche.scan.kernel import COUNTED, DROPPED, IGNORED, Counter, Counts, prefix_table, split

EVERY = np.ones((32, 32, 32), dtype=np.uint8)


def read(texts: list[bytes], terms: dict[bytes, int], beginnings: np.ndarray = EVERY) -> Counts:
    return Counter(len(terms), beginnings, lambda word: terms.get(word, COUNTED)).read(texts)


PLACED = {"a": 0, "bb": 1, "é": 2, "the": DROPPED, "®": IGNORED}
TEXTS = st.lists(st.lists(st.sampled_from([*PLACED, "x"])), max_size=5)


def placed(texts: list[list[str]]) -> Counts:
    counter = Counter(3, EVERY, lambda word: PLACED.get(word.decode(), COUNTED), with_positions=True)
    counter.read(["a bb a the ®".encode()])  # of which nothing is left
    return counter.read([" ".join(words).encode() for words in texts])


@given(TEXTS)
def test_places_count_words_that_are_dropped_but_not_those_that_are_ignored(texts: list[list[str]]) -> None:
    counts = placed(texts)
    assert counts.positions is not None
    occurrences = zip(
        np.repeat(counts.terms, counts.tf).tolist(),
        np.repeat(counts.texts, counts.tf).tolist(),
        counts.positions.tolist(),
        strict=True,
    )
    assert list(occurrences) == sorted(
        (PLACED[word], number, position)
        for number, words in enumerate(texts)
        for position, word in enumerate(word for word in words if word != "®")
        if PLACED.get(word, COUNTED) >= 0
    )
    counted = [sum(word not in ("the", "®") for word in words) for words in texts]
    assert counts.lengths.tolist() == counted


@given(TEXTS, st.data())
def test_what_was_read_of_some_texts_is_what_is_read_of_them_alone(
    texts: list[list[str]], data: st.DataObject
) -> None:
    is_kept = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    some = placed(texts).only(np.array(is_kept, dtype=bool))
    alone = placed([words for words, keep in zip(texts, is_kept, strict=True) if keep])
    for name in ("lengths", "offsets", "texts", "tf", "positions"):
        assert getattr(some, name).tolist() == getattr(alone, name).tolist()


def test_each_distinct_word_is_asked_for_once_and_only_if_it_may_matter() -> None:
    calls = []

    def meaning(word: bytes) -> int:
        calls.append(word.decode())
        return DROPPED if word == b"the" else COUNTED

    counter = Counter(1, prefix_table(["cat", "the\0"]), meaning)
    first = counter.read(["the cat Cat category dog café theme".encode()] * 2)
    again = counter.read([b"the cats"])
    assert calls == ["the", "cat", "Cat", "category", "café", "theme", "cats"]
    assert [*first.lengths, *again.lengths] == [6, 6, 1]


ENDS = ["", "x", "xyz", "'s", "9"]


@pytest.mark.parametrize(
    ("beginning", "word"),
    [
        *((word, word + end) for word in ("a", "ab", "abc", "abcd") for end in ENDS),
        *((word, word.upper()) for word in ("a", "ab", "abc", "abcd")),
        *((f"{word}\0", same) for word in ("a", "ab") for same in (word, word.upper())),
    ],
)
def test_no_word_that_begins_so_is_passed_over(beginning: str, word: str) -> None:
    counts = read([word.encode()], {word.encode(): 0}, prefix_table([beginning]))
    assert counts.tf.tolist() == [1]


def test_very_many_words_are_told_apart() -> None:
    words = [b"w%d" % number for number in range(50_000)]
    counts = read([b" ".join(words), b" ".join(reversed(words))], {word: n for n, word in enumerate(words)})
    assert counts.lengths.tolist() == [50_000] * 2
    assert counts.tf.tolist() == [1] * 100_000
    assert counts.offsets.tolist() == list(range(0, 100_001, 2))
    assert counts.texts.tolist() == [0, 1] * 50_000


@given(BYTES)
def test_bytes_that_are_no_text_are_split_somehow(raw: bytes) -> None:
    words = split(raw)
    assert all(words) and sum(map(len, words)) <= len(raw)
    assert read([raw, raw], {}).lengths.tolist() == [len(words)] * 2


@pytest.mark.parametrize(
    "raw", [b"\xf0\x90\x90", b"a\xe2\x80", b"\xc3", b"\xf4\x90\x80\x80", b"\xed\xa0\x80b"]
)
def test_half_a_character_at_the_end_takes_nothing_of_the_next_text(raw: bytes) -> None:
    assert read([raw, b"\x80x"], {}).lengths.tolist()[1] == 1
    assert b"".join(split(raw)) in (b"", b"a", b"b")


def test_a_fault_in_the_analysis_comes_out_and_leaves_nothing_behind() -> None:
    def meaning(word: bytes) -> int:
        if word == b"bad":
            raise KeyboardInterrupt
        return 0 if word == b"cat" else COUNTED

    counter = Counter(1, EVERY, meaning)
    with pytest.raises(KeyboardInterrupt):
        counter.read([b"cat dog", b"cat cat bad cat"])
    counts = counter.read([b"cat", b"dog cat"])
    assert (counts.lengths.tolist(), counts.texts.tolist(), counts.tf.tolist()) == ([1, 2], [0, 1], [1, 1])


def test_a_signal_stops_the_reading_of_new_words_wherever_it_comes() -> None:
    texts = numbered_words(4_000_000, 1000)
    for delay in (0.05, 0.1, 0.2):
        counter = Counter(1, EVERY, lambda word: COUNTED)
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()  # here, because the signal may come at once
            counter.read(texts)
        timer.join()


def numbered_words(count: int, size: int) -> list[bytes]:
    return [b" ".join(b"w%d" % n for n in range(first, first + size)) for first in range(0, count, size)]


@pytest.mark.nightly
def test_however_many_words_there_are_few_are_remembered() -> None:
    calls = []

    def meaning(word: bytes) -> int:
        calls.append(word)
        return 0 if word == b"w7" else COUNTED

    counter = Counter(1, EVERY, meaning)
    first = counter.read(numbered_words(1_200_000, 10_000))
    again = counter.read([b"w7 w1199999"])
    assert first.tf.sum() == again.tf.sum() == 1
    assert len(calls) == 1_200_001 and calls[-1] == b"w7"  # what was forgotten is asked for again
