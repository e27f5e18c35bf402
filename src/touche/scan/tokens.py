"""Turns texts into terms, exactly like Lucene's analyses.

words.c does the same as Lucene's StandardTokenizer. Lucene's token filters change each token on its own, so
it's enough to apply them once to each distinct word.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase, ascii_uppercase

from touche.errors import ParameterError
from touche.scan.kernel import split, table
from touche.scan.porter import stem

# The stop words in Lucene's EnglishAnalyzer.
_STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these "
    "they this to was will with".split()
)
_WORD_END = "\0"  # marks the end of a word in a beginning, which then stands for the whole word


@dataclass(frozen=True)
class Analysis:
    """Turns words into terms.

    To be fast, the scan only analyzes words with certain beginnings. All ASCII words that become one of the
    topics' terms, and all that are removed, have such a beginning. All other ASCII words only count for
    lengths.

    Attributes:
        term: a function that returns the term that a word becomes; empty if the word is removed.
        beginning: a function that returns, for a term, the beginning that all ASCII words that become this
            term have, in lower case. If it ends with NUL, the whole word is meant.
        dropped: the beginnings of ASCII words that are removed.
        closes_gaps: whether the positions of the words after a removed word move up, so that its neighbours
            become adjacent.
    """

    term: Callable[[str], str]
    beginning: Callable[[str], str]
    dropped: tuple[str, ...] = ()
    closes_gaps: bool = False

    def terms(self, text: str) -> list[str]:
        """Returns a text's terms in order."""
        return [term for term in map(self.term, words(text)) if term]


def terms(text: str, analysis: str) -> list[str]:
    """Returns a text's terms in order.

    Args:
        text: the text.
        analysis: the name of an analysis, see ``analysis_named``.

    Raises:
        ParameterError: if there is no such analysis.
    """
    return analysis_named(analysis).terms(text)


def words(text: str) -> list[str]:
    """Splits a text into words like Lucene's StandardTokenizer, keeping their case."""
    return [word.decode() for word in split(encoded(text))]


def encoded(text: str) -> bytes:
    """Encodes a text as UTF-8. Lone surrogates, which come from broken escapes in JSON, become question
    marks.
    """
    return text.encode("utf-8", "replace")


def analysis_named(name: str) -> Analysis:
    """Returns an analysis.

    Args:
        name: the name. All of them lower-case. ``standard`` keeps all words. ``stopped`` removes Lucene's
            English stop words. ``english`` also removes possessives and applies Porter's stemmer. ``plural``
            is ChatNoir's chain without ICU: singulars replace plurals, and accents are removed.
            ``unstemmed`` only removes accents. ``plural-alnum`` and ``unstemmed-alnum`` also drop words
            without a letter or digit, such as ®, like the ICU tokenizer.

    Raises:
        ParameterError: if there is no such analysis.
    """
    if name not in _ANALYSES:
        raise ParameterError(f"there is no analysis {name!r}; choose among {', '.join(_ANALYSES)}")
    return _ANALYSES[name]


def _lower(word: str) -> str:
    """LowerCaseFilter: lower case by code points, like Java."""
    return word.lower() if word.isascii() else word.translate(_lower_case_table())


@cache
def _lower_case_table() -> Mapping[int, int]:
    """Returns a ``str.translate`` table from capital to small letters."""
    # Pairs of letters outside of ASCII.
    others = dict(zip(table()["upper"].tolist(), table()["lower"].tolist(), strict=True))
    return str.maketrans(ascii_uppercase, ascii_lowercase) | others


def _english(word: str) -> str:
    """EnglishAnalyzer: removes possessives and stop words, and applies Porter's stemmer."""
    # As in Lucene, EnglishPossessiveFilter comes before lower-casing, so check for S, too. It knows three
    # apostrophes, two of which aren't ASCII.
    if len(word) > 1 and word[-1] in "sS" and word[-2] in "'\u2019\uff07":
        word = word[:-2]
    word = _lower(word)
    return "" if word in _STOP_WORDS else _in_java_units(stem, word)


def _stopped(word: str) -> str:
    """Lower-cases a word, and removes stop words. There is no stemming."""
    word = _lower(word)
    return "" if word in _STOP_WORDS else word


def _plural(word: str) -> str:
    """ChatNoir's chain: singulars replace plurals, and accents are removed."""
    return _in_java_units(_singular, _lower(word)).translate(_accents_table())


def _unstemmed(word: str) -> str:
    """Lower-cases a word and removes accents. Stop words are kept."""
    return _lower(word).translate(_accents_table())


def _only_if_alnum(term: str) -> str:
    """Returns a term that contains a letter or digit; otherwise an empty string."""
    return term if any(letter.isalnum() for letter in term) else ""


def _singular(word: str) -> str:
    """EnglishMinimalStemFilter: Harman's stemmer S (Harman 1991)."""
    is_plural = len(word) > 2 and word.endswith("s") and not word.endswith(("us", "ss"))
    if not is_plural:
        return word
    if word.endswith("ies") and len(word) > 3 and word[-4] not in "ae":
        return word[:-3] + "y"
    # These words aren't changed, such as trees and shoes; words in ies that become y were handled above.
    if word.endswith(("ies", "aes", "oes", "ees")):
        return word
    return word[:-1]


@cache
def _accents_table() -> Mapping[int, str]:
    """Returns a ``str.translate`` table that removes accents."""
    return dict(zip(table()["accented"].tolist(), table()["folded"].tolist(), strict=True))


def _in_java_units(stemmer: Callable[[str], str], word: str) -> str:
    """Applies a stemmer to a word in UTF-16 units. In Java, a character beyond U+FFFF counts as two, which
    matters for a stemmer that looks at lengths.
    """
    if word.isascii() or max(word) <= "\uffff":
        return stemmer(word)
    encoded_word = word.encode("utf-16-le")
    units = (int.from_bytes(encoded_word[at : at + 2], "little") for at in range(0, len(encoded_word), 2))
    stemmed = stemmer("".join(map(chr, units)))  # each UTF-16 unit becomes a character of its own
    # Join pairs of surrogates again: encode them, which Python only does with "surrogatepass", and decode
    # each pair as one character.
    return stemmed.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _stem_prefix(*endings: str) -> Callable[[str], str]:
    """Returns a function that returns, for a stem, the beginning that all words with this stem have in
    common.

    Args:
        endings: if a stem has one of these endings, its last letter can differ from the letter in the word,
            as in sky, whose stem is ski. The beginning then excludes this letter.
    """
    # If the stem has one letter, it's the same as the word, so keep the letter.
    return lambda term: term[:-1] if len(term) > 1 and term.endswith(endings) else term


def _whole_word(term: str) -> str:
    """Adds the mark for the end of the word. Used if there is no stemming, because only the word itself
    becomes the term.
    """
    return term + _WORD_END


_ANALYSES: Mapping[str, Analysis] = {
    "standard": Analysis(_lower, _whole_word),
    "stopped": Analysis(_stopped, _whole_word, dropped=tuple(word + _WORD_END for word in _STOP_WORDS)),
    # Porter's stemmer removes endings or changes their last letter: skies and sky become ski, hoping becomes
    # hope, stabilities becomes stabl.
    "english": Analysis(
        _english,
        _stem_prefix("i", "e", "bl"),
        dropped=tuple(word + end for word in _STOP_WORDS for end in (_WORD_END, "'")),
    ),
    "plural": Analysis(_plural, _stem_prefix("y")),
    "unstemmed": Analysis(_unstemmed, _whole_word),
    "plural-alnum": Analysis(lambda word: _only_if_alnum(_plural(word)), _stem_prefix("y"), closes_gaps=True),
    "unstemmed-alnum": Analysis(lambda word: _only_if_alnum(_unstemmed(word)), _whole_word, closes_gaps=True),
}
