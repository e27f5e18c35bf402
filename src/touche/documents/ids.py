"""Ids of documents, or of their sentences, that a run may contain."""

from pathlib import Path

from touche.documents.discovery import find_documents
from touche.documents.document_records import AnyDocument, Argument
from touche.documents.files import Files


def ids_in(document: AnyDocument, *, of_sentences: bool) -> list[str]:
    """Returns the ids that a run may contain for a document: its own, or those of its sentences.

    Every conclusion has an id, also one that the corpus does not list among the sentences.

    Args:
        document: the document.
        of_sentences: whether the run ranks pairs of sentences.
    """
    if not of_sentences or not isinstance(document, Argument):  # other documents have no sentences
        return [document.id]
    sentence_ids = [sentence.id for sentence in document.sentences or ()]
    conclusion_id = f"{document.id}__CONC__1"  # its id in the corpus of 2022
    return sentence_ids if conclusion_id in sentence_ids else [*sentence_ids, conclusion_id]


def read_ids(folder: Path, *, of_sentences: bool) -> frozenset[str] | None:
    """Returns all ids in the documents of a folder; None for web pages, whose parsing takes too long.

    Raises:
        InputError: if the folder has no documents, or a file is broken.
    """
    documents = find_documents(folder)
    if isinstance(documents, Files) and documents.format.noun == "web pages":
        return None
    return frozenset(id for document in documents for id in ids_in(document, of_sentences=of_sentences))
