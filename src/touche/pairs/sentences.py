"""Sentences of arguments, numbered as in the processed corpus of 2022."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from touche.errors import ToucheError
from touche.formats.documents import AnyDocument, Argument, Sentence
from touche.pairs.breaks import pieces

_SHORTEST_CONCLUSION = 2  # words; shorter ones often take no stance, so that the corpus leaves them out


def arguments_in_sentences(documents: Iterable[AnyDocument]) -> Iterator[Argument]:
    """The arguments of a collection, split into sentences where they are not yet.

    Raises:
        ToucheError: if a document is no argument.
    """
    for document in documents:
        if not isinstance(document, Argument):
            problem = f"document {document.id!r} is no argument, and has no sentences to pair"
            raise ToucheError(f"{problem}; give args_processed.csv, or the JSON files of args.me")
        yield document if document.sentences is not None else split_argument(document)


def split_argument(argument: Argument) -> Argument:
    """An argument with its sentences: the conclusion if it has two words, and those of all premises."""
    conclusion = argument.conclusion.strip()
    said = [conclusion] if len(conclusion.split()) >= _SHORTEST_CONCLUSION else []
    reasons = [each for premise in argument.premises for each in split_text(premise)]
    numbered = [
        Sentence(f"{argument.id}__{part}__{number}", text)
        for part, texts in (("CONC", said), ("PREMISE", reasons))
        for number, text in enumerate(texts, 1)
    ]
    return replace(argument, sentences=tuple(numbered))


def distinct_sentences(argument: Argument) -> dict[str, int]:
    """The place of each different sentence of an argument, by its text without case; empty ones are left out.

    Of sentences with the same text the first stands for all.
    """
    places: dict[str, int] = {}
    for place, each in enumerate(argument.sentences or ()):
        if text := normalised(each.text):
            places.setdefault(text, place)
    return places


def normalised(text: str) -> str:
    """What sentences with the same text have in common: neither case nor blanks tell them apart."""
    return " ".join(text.casefold().split())


def split_text(text: str) -> list[str]:
    """The sentences of an English text, as Java's BreakIterator splits it, without the blanks around them."""
    return [sentence for piece in pieces(text) if (sentence := piece.strip())]
