"""Terrier's terms: Porter stems of English tokens without its stop words."""

import re
from functools import cache, lru_cache
from pathlib import Path

from touche import AnyDocument, Image, UnsuitableInputError, scan

# EnglishTokeniser skips words with more than 20 characters, 4 digits, or 3 equal characters in a row.
_OMITTED = re.compile(r".{21}|(?:[a-z]*[0-9]){5}|.*(.)\1{3}")


def terms(text: str) -> list[str]:
    """Returns a text's terms in order. A word consists of ASCII letters and digits."""
    # Encoding replaces other characters with ?, which becomes a blank.
    words = text.encode("ascii", "replace").translate(_lower_or_blank()).decode("ascii").split()
    return [term for term in map(_term, words) if term]


def joined_terms(document: AnyDocument) -> str:
    """Returns the terms in the text of an image's pages, separated by blanks.

    Raises:
        UnsuitableInputError: if the document isn't an image.
    """
    if not isinstance(document, Image):  # its stance would break the rules of other tasks
        raise UnsuitableInputError(f"{document.id} is not an image; pass a folder with images/")
    return " ".join(terms(document.text))


@lru_cache(1 << 16)
def _term(word: str) -> str:
    """Returns a lower-case word's term; empty if Terrier skips the word."""
    return "" if word in _stop_words() or _OMITTED.match(word) else scan.stem(word)


@cache
def _stop_words() -> frozenset[str]:
    """Reads a file with several words per line; lines starting with # are comments."""
    lines = Path(__file__).with_name("terrier-stop-words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def _lower_or_blank() -> bytes:
    """Returns a ``bytes.translate`` table: letters become lower case, everything but digits becomes blank."""
    ascii_characters = map(chr, range(128))
    table = "".join(char.lower() if char.isalnum() else " " for char in ascii_characters)
    return table.encode("ascii").ljust(256)  # ``translate`` needs 256 bytes
