"""From text to terms."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import jpype

from touche.errors import ParameterError
from touche.lucene.java import java, string

_ANALYZERS = {
    "standard": "org.apache.lucene.analysis.standard.StandardAnalyzer",
    "english": "io.anserini.analysis.DefaultEnglishAnalyzer",
}
_MARK = "\x01"  # begins no token, as it separates them


def analyzer_named(name: str) -> Any:
    """A Lucene analyzer: ``standard`` or ``english``.

    Raises:
        ParameterError: if there is none of that name.
    """
    if name not in _ANALYZERS:
        raise ParameterError(f"there is no analyzer {name!r}; choose among {', '.join(_ANALYZERS)}")
    java_class = java(_ANALYZERS[name])
    return java_class.newDefaultInstance() if name == "english" else java_class()


def terms(analyzer: Any, text: str) -> Counter[str]:
    """The terms that an analyzer makes of a text, with how often each occurs."""
    tokens = java("io.anserini.analysis.AnalyzerUtils").analyze(analyzer, string(text))
    joined = str(
        java("java.lang.String").join(" ", tokens)
    )  # one crossing from Java for all; no token has a blank
    return Counter(joined.split(" ") if joined else ())


def only_telling_apart(vocabulary: Iterable[str], tokens: Any) -> Any:
    """Wraps a token stream so that the tokens outside of a vocabulary count only as some 30 marked initials.

    As many tokens come out as go in, so that lengths and totals stay; but there are hardly any terms to sort.
    """
    miscellaneous = "org.apache.lucene.analysis.miscellaneous"
    truncate = java(f"{miscellaneous}.TruncateTokenFilter")
    mark = java("org.apache.lucene.analysis.reverse.ReverseStringFilter")
    known = java("org.apache.lucene.analysis.CharArraySet")(len(list(vocabulary)), False)
    for term in vocabulary:
        known.add(string(term))

    def reduced(unknown: Any) -> Any:
        return mark(
            truncate(unknown, 1), jpype.JChar(_MARK)
        )  # the mark goes before the one letter that is left

    return java(f"{miscellaneous}.ProtectedTermFilter")(known, tokens, reduced)
