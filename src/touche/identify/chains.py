"""Many analyses of the same texts at the price of one: split once, each distinct word mapped by each.

Lucene's filters look at one token at a time, so that what an analyzer makes of a text follows from what it
makes of each word. Lucene is imported where it is used, for it needs Java, and touche regress seldom does.
"""

from collections.abc import Mapping, Sequence

STOP_LISTS: Mapping[str, str] = {  # as they are called here, and by touche.lucene
    "none": "none",
    "Lucene's 33 English": "lucene",
    "Snowball's 174 English": "snowball",
}


def split(texts: Sequence[str]) -> list[list[str]]:
    """The words of texts as Lucene's StandardTokenizer splits them, in their case."""
    return terms_of(texts, ())


def terms_of(
    texts: Sequence[str], filters: Sequence[str | tuple[str, ...]], tokenizer: str = "standard"
) -> list[list[str]]:
    """What texts become by a tokenizer and token filters of Lucene, as ``touche.lucene.Chain`` names them."""
    from touche.lucene.analysis import tokens
    from touche.lucene.chains import Chain

    chain = Chain(tuple(filters), tokenizer=tokenizer).built()
    return [tokens(chain, text) for text in texts]


def mapped(words: Sequence[str], filters: Sequence[str]) -> list[str]:
    """What each word becomes by Lucene's token filters of these names; empty if they drop it."""
    (found,) = terms_of([" ".join(words)], filters, "whitespace")  # one crossing to Java for all of them
    if len(found) == len(words):
        return found
    return ["".join(each) for each in terms_of(words, filters, "whitespace")]


def stop_words(name: str) -> frozenset[str]:
    """One of ``STOP_LISTS``."""
    from touche.lucene.chains import stop_words

    return stop_words(STOP_LISTS[name])
