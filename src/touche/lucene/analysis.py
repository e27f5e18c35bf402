"""Analyzers: of Lucene, of Anserini, or made of Lucene's tokenizers and filters; and lists of stop words."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jpype

from touche.errors import InputError, ParameterError
from touche.io.opening import is_file, read_lines
from touche.lucene.java import java, string

STOP = "stop"  # the filter that drops a chain's stop words
STOP_LISTS: Mapping[str, str] = {  # a class of the jar, or a file in it
    "none": "",
    "lucene": "org.apache.lucene.analysis.en.EnglishAnalyzer",
    "snowball": "org/apache/lucene/analysis/snowball/english_stop.txt",
}


@dataclass(frozen=True)
class Chain:
    """A tokenizer and filters, by the names that Lucene's CustomAnalyzer knows.

    Attributes:
        filters: in their order; one with parameters is a tuple of its name and, in turn, names and values,
            such as ``("length", "min", "3", "max", "20")``.
        stop_words: what the filter ``stop`` drops; None for Lucene's 33 English ones.
        tokenizer: ``standard``, ``classic``, ``whitespace`` or another one.
    """

    filters: tuple[str | tuple[str, ...], ...] = ()
    stop_words: frozenset[str] | None = None
    tokenizer: str = "standard"

    def built(self) -> Any:
        """The analyzer."""
        custom = java("org.apache.lucene.analysis.custom.CustomAnalyzer")
        builder = custom.builder() if self.stop_words is None else custom.builder(self._files())
        builder = builder.withTokenizer(self.tokenizer)
        for token_filter in self.filters:
            name, *parameters = (token_filter,) if isinstance(token_filter, str) else token_filter
            if name == STOP and self.stop_words is not None:
                parameters = ["words", STOP]
            builder = builder.addTokenFilter(name, *parameters)
        return builder.build()

    def _files(self) -> Any:
        """The files of Lucene and of the machine, and in memory one of the stop words."""
        words = "\n".join(self.stop_words or ()).encode()
        loader = java("java.lang.ClassLoader").getSystemClassLoader()
        root = java("java.nio.file.Paths").get("/")
        files = java("org.apache.lucene.analysis.util.FilesystemResourceLoader")(root, loader)

        def opened(name: Any) -> Any:
            return java("java.io.ByteArrayInputStream")(words) if name == STOP else files.openResource(name)

        methods = {"openResource": opened, "findClass": files.findClass, "newInstance": files.newInstance}
        return jpype.JProxy(java("org.apache.lucene.util.ResourceLoader"), dict=methods)


def stop_words(name: str) -> frozenset[str]:
    """A list of stop words.

    Args:
        name: ``none``, ``lucene`` (the 33 of its EnglishAnalyzer), ``snowball`` (the 174 of Snowball), or the
            path of a file with a word on each line, in any case; what follows a ``#`` is a remark.

    Returns:
        The words in lower case, as they are compared to lower-cased tokens.

    Raises:
        ParameterError: if there is no such list or file.
        InputError: if the file has no word, or a line holds several.
    """
    if name not in STOP_LISTS:
        return frozenset(_words_of(Path(name)))
    place = STOP_LISTS[name]
    if not place:
        return frozenset()
    found = _snowball(place) if place.endswith(".txt") else java(place).ENGLISH_STOP_WORDS_SET
    return frozenset(str(java("java.lang.String")(each)) for each in found)


def _words_of(path: Path) -> list[str]:
    if not is_file(path):
        raise ParameterError(f"{path}: no such file; give one, or {', '.join(STOP_LISTS)}")
    words = []
    for number, line in read_lines(path):
        found = line.partition("#")[0].split()
        if len(found) > 1:
            raise InputError(path, f"{len(found)} words in a line", "write each on a line of its own", number)
        words += [word.lower() for word in found]
    if not words:
        raise InputError(path, "no word", f"write one on each line, or give {', '.join(STOP_LISTS)}")
    return words


def _snowball(place: str) -> Any:
    stream = java("java.lang.ClassLoader").getSystemResourceAsStream(place)
    reader = java("java.io.InputStreamReader")(stream, java("java.nio.charset.StandardCharsets").UTF_8)
    return java("org.apache.lucene.analysis.WordlistLoader").getSnowballWordSet(reader)


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
