"""Many analyses of the same texts at the price of one: split once, each distinct word mapped by each.

Lucene's filters look at one token at a time, so that what an analyzer makes of a text follows from what it
makes of each word.
"""

from collections.abc import Sequence
from typing import Any

STOP_LISTS = {
    "none": "",
    "Lucene's 33 English": "org.apache.lucene.analysis.en.EnglishAnalyzer",
    "Snowball's 174 English": "org/apache/lucene/analysis/snowball/english_stop.txt",
}


def split(texts: Sequence[str]) -> list[list[str]]:
    """The words of texts as Lucene's StandardTokenizer splits them, in their case."""
    tokenizer = _chain("standard", ())
    return [_tokens(tokenizer, text) for text in texts]


def mapped(words: Sequence[str], filters: Sequence[str]) -> list[str]:
    """What each word becomes by Lucene's token filters of these names; empty if they drop it."""
    chain = _chain("whitespace", filters)
    found = _tokens(chain, " ".join(words))  # one crossing to Java for all of them
    if len(found) == len(words):
        return found
    return ["".join(_tokens(chain, word)) for word in words]


def stop_words(name: str) -> frozenset[str]:
    """One of ``STOP_LISTS``, as the jar has it."""
    place = STOP_LISTS[name]
    if not place:
        return frozenset()
    found = _snowball(place) if place.endswith(".txt") else _java(place).ENGLISH_STOP_WORDS_SET
    return frozenset(str(_java("java.lang.String")(each)) for each in found)


def _snowball(place: str) -> Any:
    stream = _java("java.lang.ClassLoader").getSystemResourceAsStream(place)
    reader = _java("java.io.InputStreamReader")(stream, _java("java.nio.charset.StandardCharsets").UTF_8)
    return _java("org.apache.lucene.analysis.WordlistLoader").getSnowballWordSet(reader)


def _chain(tokenizer: str, filters: Sequence[str]) -> Any:
    builder = _java("org.apache.lucene.analysis.custom.CustomAnalyzer").builder().withTokenizer(tokenizer)
    for each in filters:
        builder = builder.addTokenFilter(each)
    return builder.build()


def _tokens(analyzer: Any, text: str) -> list[str]:
    from touche.lucene.analysis import tokens  # here, for it needs Java, and touche regress seldom does

    return tokens(analyzer, text)


def _java(name: str) -> Any:
    from touche.lucene.java import java

    return java(name)
