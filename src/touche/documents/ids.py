"""The ids that a run may contain: documents or their sentences."""

from pathlib import Path

from touche.documents.discovery import find_documents
from touche.documents.document_records import AnyDocument, Argument
from touche.documents.files import Files


def ids_in(document: AnyDocument, *, of_sentences: bool) -> list[str]:
    """Returns the ids that a run may contain for a document: its own, or its sentences'.

    A conclusion always counts, even when the corpus doesn't list it among the sentences.
    """
    if not of_sentences or not isinstance(document, Argument):  # only arguments consist of sentences
        return [document.id]
    sentence_ids = [sentence.id for sentence in document.sentences or ()]
    conclusion_id = f"{document.id}__CONC__1"  # as in the 2022 corpus
    return sentence_ids if conclusion_id in sentence_ids else [*sentence_ids, conclusion_id]


def read_ids(folder: Path, *, of_sentences: bool) -> frozenset[str] | None:
    """Returns all ids in a folder's documents; None for web pages, which take too long to parse."""
    documents = find_documents(folder)
    if isinstance(documents, Files) and documents.format.noun == "web pages":
        return None
    return frozenset(id for document in documents for id in ids_in(document, of_sentences=of_sentences))
