"""Rankings share what was read, and nothing else changes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from touche.data.datasets import opened
from touche.documents.collection import Documents
from touche.documents.document_records import AnyDocument, Document
from touche.lab.sweeps import shared_documents
from touche.lab.sweeps.shared_documents import SharedDocuments
from touche.scan.reading import Reading, read_parts


@dataclass(frozen=True)
class Counted(Documents):
    """A document, and how often it was read."""

    begun: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[AnyDocument]:
        self.begun.append("")
        yield Document("d1", "cats")


@dataclass(frozen=True)
class Lengths:
    """Begins a reading, one for each unit."""

    unit: int

    def __call__(self) -> Any:
        return self.lengths

    def lengths(self, documents: Any) -> list[int]:
        return [len(document.text) * self.unit for document in documents]


def reading(unit: int) -> Reading[Any]:
    return Reading(begin=Lengths(unit), merge=list, summary=str)


def test_the_latest_readings_are_kept_and_no_more() -> None:
    documents = Counted()
    shared = SharedDocuments.sharing(documents)
    most = shared_documents._MOST_READINGS
    for unit in [*range(most), *range(most)]:
        assert read_parts(shared, reading(unit)).parts == [[[4 * unit]]]
    assert len(documents.begun) == most
    read_parts(shared, reading(most))  # drops unit 0, which was used longest ago
    read_parts(shared, reading(1))
    assert len(documents.begun) == most + 1
    read_parts(shared, reading(0))
    assert len(documents.begun) == most + 2


def test_readings_that_cannot_be_told_apart_are_not_shared() -> None:
    documents = Counted()
    shared = SharedDocuments.sharing(documents)
    for unit in (1, 2):
        parts = read_parts(
            shared, Reading[Any](begin=lambda unit=unit: lambda _: unit, merge=sum, summary=str)
        )
        assert parts.parts == [unit]
    assert len(documents.begun) == 2


def test_another_parser_is_another_reading(monkeypatch: Any) -> None:
    documents = Counted()
    shared = SharedDocuments.sharing(documents)
    read_parts(shared, reading(1))
    other = shared.parsed_by(parse_nothing)
    assert other.parser is other.documents.parser is parse_nothing
    read_parts(other, reading(1))
    assert len(documents.begun) == 2


def parse_nothing(page: Any) -> Any:
    return page


def test_a_collection_keeps_its_own_attributes() -> None:
    images = opened("spot-check/images").documents
    shared = SharedDocuments.sharing(images)
    assert len(shared) == len(images) > 0 and str(shared) == str(images)
    names = [name for name in dir(images) if not name.startswith("_")]
    assert all(hasattr(shared, name) for name in names)
    assert [document.id for document in shared] == [document.id for document in images]
