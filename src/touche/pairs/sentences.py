"""Arguments' sentences, numbered as in the processed corpus of 2022."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from touche.documents.document_records import AnyDocument, Argument, Sentence
from touche.errors import UnsuitableInputError
from touche.pairs.breaks import split_with_blanks

_MIN_CONCLUSION_WORDS = 2  # the corpus leaves out shorter conclusions, which often take no stance


def arguments_in_sentences(documents: Iterable[AnyDocument]) -> Iterator[Argument]:
    """Yields a collection's arguments, split into sentences unless they already are.

    Raises:
        UnsuitableInputError: if a document isn't an argument.
    """
    for document in documents:
        if not isinstance(document, Argument):
            problem = f"document {document.id!r} is not an argument, so it has no sentences to pair"
            raise UnsuitableInputError(f"{problem}; pass args_processed.csv, or the JSON files of args.me")
        yield document if document.sentences is not None else split_argument(document)


def split_argument(argument: Argument) -> Argument:
    """Returns an argument with its sentences: the conclusion, then the premises' sentences.

    The conclusion is one sentence, left out if it has fewer than two words. Sentence ids look like those in
    args_processed.csv.
    """
    conclusion = argument.conclusion.strip()
    sentences = []
    if len(conclusion.split()) >= _MIN_CONCLUSION_WORDS:
        sentences.append(Sentence(f"{argument.id}__CONC__1", conclusion))
    texts = [text.strip() for premise in argument.premises for text in split_with_blanks(premise)]
    for number, text in enumerate(filter(None, texts), 1):
        sentences.append(Sentence(f"{argument.id}__PREMISE__{number}", text))
    return replace(argument, sentences=tuple(sentences))


def distinct_sentences(argument: Argument) -> dict[str, int]:
    """Returns the index of each of an argument's distinct sentences, ignoring case; skips empty ones.

    When several sentences have the same text, the index is the first one's.

    Args:
        argument: the argument.
    """
    indexes: dict[str, int] = {}
    for index, sentence in enumerate(argument.sentences or ()):
        indexes.setdefault(normalised(sentence.text), index)
    indexes.pop("", None)
    return indexes


def normalised(text: str) -> str:
    """Returns a text without case and with single blanks, to find equal sentences."""
    return " ".join(text.casefold().split())
