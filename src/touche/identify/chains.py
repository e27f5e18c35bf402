"""Many analyses of the same texts at the price of one: split once, each distinct word mapped by each.

Lucene's filters look at one token at a time, so that what an analyzer makes of a text follows from what it
makes of each word.
"""

from collections.abc import Sequence
from typing import Any

from touche.lucene.analysis import tokens
from touche.lucene.java import java

STOP_LISTS = {
    "none": "",
    "Lucene's 33 English": "org.apache.lucene.analysis.en.EnglishAnalyzer",
    "Snowball's 174 English": "org/apache/lucene/analysis/snowball/english_stop.txt",
}


def split(texts: Sequence[str]) -> list[list[str]]:
    """The words of texts as Lucene's StandardTokenizer splits them, in their case."""
    tokenizer = _chain("standard", ())
    return [tokens(tokenizer, text) for text in texts]


def mapped(words: Sequence[str], filters: Sequence[str]) -> list[str]:
    """What each word becomes by Lucene's token filters of these names; empty if they drop it."""
    chain = _chain("whitespace", filters)
    found = tokens(chain, " ".join(words))  # one crossing to Java for all of them
    if len(found) == len(words):
        return found
    return ["".join(tokens(chain, word)) for word in words]


def stop_words(name: str) -> frozenset[str]:
    """One of ``STOP_LISTS``, as the jar has it."""
    place = STOP_LISTS[name]
    if not place:
        return frozenset()
    found = _snowball(place) if place.endswith(".txt") else java(place).ENGLISH_STOP_WORDS_SET
    return frozenset(str(java("java.lang.String")(each)) for each in found)


def _snowball(place: str) -> Any:
    stream = java("java.lang.ClassLoader").getSystemResourceAsStream(place)
    reader = java("java.io.InputStreamReader")(stream, java("java.nio.charset.StandardCharsets").UTF_8)
    return java("org.apache.lucene.analysis.WordlistLoader").getSnowballWordSet(reader)


def _chain(tokenizer: str, filters: Sequence[str]) -> Any:
    builder = java("org.apache.lucene.analysis.custom.CustomAnalyzer").builder().withTokenizer(tokenizer)
    for each in filters:
        builder = builder.addTokenFilter(each)
    return builder.build()
