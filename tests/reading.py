"""Readers of whole files, which collections read in pieces."""

from collections.abc import Iterator
from pathlib import Path

from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.argsme import pieces_of_argsme
from touche.documents.document_records import AnyDocument, Argument
from touche.documents.jsonl import pieces_of_jsonl
from touche.documents.pages import RawPage
from touche.documents.pieces import parse_pieces


def read_args_processed_csv(path: Path) -> Iterator[Argument]:
    return parse_pieces(pieces_of_args_processed(path), set())


def read_argsme_json(path: Path) -> Iterator[Argument]:
    return parse_pieces(pieces_of_argsme(path), set())


def read_documents_jsonl(path: Path) -> Iterator[AnyDocument | RawPage]:
    return parse_pieces(pieces_of_jsonl(path), set())
