"""Lucene's and Anserini's analyzers, chains of Lucene's tokenizers and filters, and stop word lists."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jpype

from touche.errors import InputError, ParameterError
from touche.io.opening import is_file, read_lines
from touche.lucene.java import java, string

STOP = "stop"  # the filter that removes stop words, and the name of its file in memory
STOP_LISTS: Mapping[str, str] = {  # by name: a class or a file in Lucene's jar; empty for no stop words
    "none": "",
    "lucene": "org.apache.lucene.analysis.en.EnglishAnalyzer",
    "snowball": "org/apache/lucene/analysis/snowball/english_stop.txt",
}


@dataclass(frozen=True)
class Chain:
    """A tokenizer and filters, named as in Lucene's CustomAnalyzer.

    Attributes:
        filters: the filters in order. A filter with parameters is a tuple of its name, then names and values,
            such as ``("length", "min", "3", "max", "20")``.
        stop_words: words for the filter ``stop``; None for Lucene's 33 English ones.
        tokenizer: ``standard``, ``classic``, ``whitespace`` or another tokenizer.
    """

    filters: tuple[str | tuple[str, ...], ...] = ()
    stop_words: frozenset[str] | None = None
    tokenizer: str = "standard"

    def build(self) -> Any:
        """Returns the analyzer."""
        analyzer_class = java("org.apache.lucene.analysis.custom.CustomAnalyzer")
        if self.stop_words is None:
            builder = analyzer_class.builder()
        else:
            builder = analyzer_class.builder(_resource_loader(self.stop_words))
        builder = builder.withTokenizer(self.tokenizer)
        for token_filter in self.filters:
            # Filters without parameters are just a name.
            name, *parameters = (token_filter,) if isinstance(token_filter, str) else token_filter
            if name == STOP and self.stop_words is not None:
                parameters = ["words", STOP]  # the file in memory that ``_resource_loader`` opens
            builder = builder.addTokenFilter(name, *parameters)
        return builder.build()


def _resource_loader(stop_words: Iterable[str]) -> Any:
    """Returns a loader for filters' files: the stop words in memory, or any other file.

    Other files are in Lucene's jar or have an absolute path.
    """
    stop_file_content = "\n".join(stop_words).encode()
    jar_loader = java("java.lang.ClassLoader").getSystemClassLoader()
    root = java("java.nio.file.Paths").get("/")
    other_files = java("org.apache.lucene.analysis.util.FilesystemResourceLoader")(root, jar_loader)

    def open_resource(name: Any) -> Any:
        if name == STOP:
            return java("java.io.ByteArrayInputStream")(stop_file_content)
        return other_files.openResource(name)

    methods = {
        "openResource": open_resource,
        "findClass": other_files.findClass,
        "newInstance": other_files.newInstance,
    }
    return jpype.JProxy(java("org.apache.lucene.util.ResourceLoader"), dict=methods)


def stop_words(name: str) -> frozenset[str]:
    """Returns a stop word list.

    Args:
        name: ``none``, ``lucene`` (the 33 words of EnglishAnalyzer), ``snowball`` (174 words), or a file's
            path. A file
            has one word per line, in any case; ``#`` starts a comment.

    Returns:
        The words in lower case, like the tokens they are compared with.

    Raises:
        ParameterError: if there is no such list or file.
        InputError: if the file is empty, or a line contains several words.
    """
    if name not in STOP_LISTS:
        return frozenset(_read_words(Path(name)))
    source = STOP_LISTS[name]
    if not source:
        return frozenset()
    words = _snowball_words(source) if source.endswith(".txt") else java(source).ENGLISH_STOP_WORDS_SET
    # In Java, each word is an array of characters.
    return frozenset(str(java("java.lang.String")(word)) for word in words)


def _read_words(path: Path) -> list[str]:
    """Reads a user's stop words, in lower case."""
    if not is_file(path):
        raise ParameterError(f"{path}: no such file; pass a file, or {', '.join(STOP_LISTS)}")
    words = []
    for number, line in read_lines(path):
        words_in_line = line.partition("#")[0].lower().split()
        if len(words_in_line) > 1:
            problem = f"{len(words_in_line)} words on one line"
            raise InputError(path, problem, "write one word on each line", line=number)
        words += words_in_line
    if not words:
        raise InputError(path, "no words", f"write one on each line, or pass {', '.join(STOP_LISTS)}")
    return words


def _snowball_words(file: str) -> Any:
    """Returns Java's set of the words in one of the jar's files, where | starts a comment."""
    stream = java("java.lang.ClassLoader").getSystemResourceAsStream(file)
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
_MARK = "\x01"  # a control character; tokenizers split there, so no token contains it


def analyzer_named(analyzer: str | Chain) -> Any:
    """Returns a Lucene analyzer.

    Args:
        analyzer: a ``Chain``, or an analyzer's name. ``standard`` keeps all words. ``stopped`` removes
            Lucene's English stop words. ``english`` also removes possessives and applies Porter's stemmer.
            ``plural`` is ChatNoir's
            chain without ICU: plurals become singulars, and accents are removed. ``unstemmed`` only removes
                accents.

    Raises:
        ParameterError: if there is no such analyzer.
    """
    if isinstance(analyzer, Chain):
        return analyzer.build()
    if analyzer in _CHAINS:
        return _CHAINS[analyzer].build()
    if analyzer not in _ANALYZERS:
        known = ", ".join((*_ANALYZERS, *_CHAINS))
        raise ParameterError(f"there is no analyzer {analyzer!r}; choose among {known}")
    java_class = java(_ANALYZERS[analyzer])
    # Anserini's class has no public constructor.
    return java_class.newDefaultInstance() if analyzer == "english" else java_class()


def tokens(analyzer: Any, text: str) -> list[str]:
    """Returns a text's terms in order."""
    java_list = java("io.anserini.analysis.AnalyzerUtils").analyze(analyzer, string(text))
    # Joined in Java, because a call per token would be slow. Tokens contain no blanks.
    joined = str(java("java.lang.String").join(" ", java_list))
    return joined.split(" ") if joined else []


def stored_form(term: str) -> str:
    """Returns a term as ``only_these_terms`` stores it: reversed, after a mark."""
    return _MARK + term[::-1]


def only_these_terms(vocabulary: Iterable[str], stream: Any) -> Any:
    """Wraps a Lucene token stream so that all tokens outside a vocabulary become one and the same token.

    The number of tokens stays the same, and so do lengths and totals, but there are few terms to sort. Lucene
    can't replace tokens directly. So each token gets its stored form, which starts with a mark, and tokens
    outside the vocabulary are cut down to the mark. The filter that adds the mark also reverses tokens.
    """
    known = java("org.apache.lucene.analysis.CharArraySet")(0, False)  # empty; False: case counts
    for term in vocabulary:
        known.add(string(stored_form(term)))
    in_stored_form = java("org.apache.lucene.analysis.reverse.ReverseStringFilter")(
        stream, jpype.JChar(_MARK)
    )
    # Known tokens are marked as keywords, which truncation to one character (the mark) leaves alone.
    keywords_marked = java("org.apache.lucene.analysis.miscellaneous.SetKeywordMarkerFilter")(
        in_stored_form, known
    )
    return java("org.apache.lucene.analysis.miscellaneous.TruncateTokenFilter")(keywords_marked, 1)
