"""From text to terms."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import jpype

from touche.errors import ParameterError
from touche.lucene.chains import Chain
from touche.lucene.java import java, string

_ANALYZERS = {
    "standard": "org.apache.lucene.analysis.standard.StandardAnalyzer",
    "english": "io.anserini.analysis.DefaultEnglishAnalyzer",
}
_CHAINS = {
    "stopped": Chain(("lowercase", "stop")),
    "plural": Chain(("lowercase", "englishMinimalStem", "asciiFolding")),
    "unstemmed": Chain(("lowercase", "asciiFolding")),
}
_MARK = "\x01"  # in no token, as it separates them


def analyzer_named(name: str | Chain) -> Any:
    """A Lucene analyzer.

    Args:
        name: what it is made of, or ``standard`` (no stop words, no stemming), ``stopped`` (without Lucene's
            English stop words), ``english`` (possessives, these stop words, Porter's stemmer), ``plural``
            (ChatNoir's chain but for ICU: no stop words, plurals become singulars, accents are folded), or
            ``unstemmed`` (the same but for the plurals).

    Raises:
        ParameterError: if there is none of that name.
    """
    if isinstance(name, Chain):
        return name.built()
    if name in _CHAINS:
        return _CHAINS[name].built()
    if name not in _ANALYZERS:
        known = ", ".join((*_ANALYZERS, *_CHAINS))
        raise ParameterError(f"there is no analyzer {name!r}; choose among {known}")
    java_class = java(_ANALYZERS[name])
    return java_class.newDefaultInstance() if name == "english" else java_class()


def terms(analyzer: Any, text: str) -> Counter[str]:
    """The terms that an analyzer makes of a text, with how often each occurs."""
    return Counter(tokens(analyzer, text))


def tokens(analyzer: Any, text: str) -> list[str]:
    """The terms that an analyzer makes of a text, in their order."""
    found = java("io.anserini.analysis.AnalyzerUtils").analyze(analyzer, string(text))
    # One crossing from Java for all of them; no token has a blank.
    joined = str(java("java.lang.String").join(" ", found))
    return joined.split(" ") if joined else []


def stored_form(term: str) -> str:
    """A term as ``only_telling_apart`` writes it: back to front, behind a mark."""
    return _MARK + term[::-1]


def only_telling_apart(vocabulary: Iterable[str], stream: Any) -> Any:
    """Wraps a token stream so that all tokens outside of a vocabulary become one and the same.

    As many tokens come out as go in, so that lengths and totals stay, but there are hardly any terms to sort.
    Tokens are turned into their stored form; those not in the vocabulary are cut to the first character, the
    mark. Lucene has filters for each of these steps, and none that replaces a token by another.
    """
    known = java("org.apache.lucene.analysis.CharArraySet")(0, False)
    for term in vocabulary:
        known.add(string(stored_form(term)))
    marked = java("org.apache.lucene.analysis.reverse.ReverseStringFilter")(stream, jpype.JChar(_MARK))
    kept = java("org.apache.lucene.analysis.miscellaneous.SetKeywordMarkerFilter")(marked, known)
    return java("org.apache.lucene.analysis.miscellaneous.TruncateTokenFilter")(kept, 1)
