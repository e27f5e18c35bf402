"""A collection's embeddings in blocks. A block stored in a file is only computed once."""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from touche import (
    AnyDocument,
    Documents,
    InputError,
    bar,
    check_writable,
    conclusion_of,
    pairs,
    premises_of,
    whole,
)

Vectors = npt.NDArray[np.floating]

_BLOCK_DOCUMENTS = 1024  # a killed run loses at most one block
_CHECKSUM_BYTES = hashlib.sha256().digest_size
_log = logging.getLogger("touche.dense")


@dataclass(frozen=True)
class Embeddings:
    """Documents' embeddings.

    A block is a fixed number of successive documents. Its file's name is the SHA-256 of model, precision and
    texts. The file contains the vectors in text order, little-endian, then the SHA-256 of name and vectors,
    so damaged or renamed blocks aren't used.

    Attributes:
        encoder: the model.
        precision: the type of the embeddings' numbers.
        folder: the folder with stored blocks; None stores none.
    """

    encoder: pairs.Encoder
    precision: Literal["float32", "float16"]
    folder: Path | None

    def of_documents(self, documents: Documents) -> Iterator[tuple[list[str], Vectors]]:
        """Yields documents' ids and vectors block by block, and stores the blocks.

        Raises:
            ToucheError: if a document or a stored block can't be read, or a block can't be written.
        """
        remaining = iter(documents)
        done = 0  # documents in earlier blocks
        progress = None
        with ExitStack() as stack:
            while block := list(islice(remaining, _BLOCK_DOCUMENTS)):
                texts = [embedded_text(document) for document in block]
                path = self.folder / self._name(texts) if self.folder else None
                vectors = self._read_stored(path, len(texts)) if path else None
                if vectors is None:
                    if progress is None:  # this is the first block that isn't stored
                        if self.folder:
                            check_writable(self.folder)  # a complete folder can be read-only
                        # Not earlier, because counting all documents for the bar takes as long as
                        # reading stored blocks.
                        progress = stack.enter_context(
                            bar("embedding", "documents", lambda: sum(1 for _ in documents), done=done)
                        )
                    vectors = self.encoder.embed(texts, progress).astype(self._dtype)
                    if path:
                        _store(path, vectors)
                elif progress is not None:
                    progress.update(len(block))
                done += len(block)
                yield [document.id for document in block], vectors

    @property
    def _dtype(self) -> "np.dtype[Any]":
        """The vectors' little-endian type in a file."""
        return np.dtype(self.precision).newbyteorder("<")

    def _name(self, texts: Sequence[str]) -> str:
        """Returns a block's file name."""
        # The checksums of the model's files, and how many of a text's tokens are embedded.
        settings = {"files": pairs.CHECKSUMS, "length": pairs.LENGTH, "precision": self.precision}
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        for text in texts:
            encoded = text.encode(errors="surrogatepass")  # JSON can contain lone surrogates
            digest.update(b"%d:" % len(encoded))  # text boundaries count
            digest.update(encoded)
        return f"{digest.hexdigest()}.{self.precision}"

    def _read_stored(self, path: Path, count: int) -> Vectors | None:
        """Returns a block's vectors for ``count`` texts; None if its file is missing or damaged."""
        try:
            is_empty = path.stat().st_size == 0
            # An empty file can't be mapped into memory. Without content it's damaged, see below.
            content = np.zeros(0, np.uint8) if is_empty else np.memmap(path, np.uint8, "r")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError(
                path, f"cannot be read ({error})", "remove it, or choose another folder"
            ) from error
        vectors = content[:-_CHECKSUM_BYTES]
        if _checksum(path.name, vectors) != content[-_CHECKSUM_BYTES:].tobytes():
            _log.warning("%s: the stored embeddings are damaged; they are computed again", path)
            return None
        return vectors.view(self._dtype).reshape(count, pairs.DIMENSIONS)


def embedded_text(document: AnyDocument) -> str:
    """Returns the text of a document that is embedded: title and text, or conclusion and premises."""
    return f"{conclusion_of(document)} {premises_of(document)}".strip()


def _store(path: Path, vectors: Vectors) -> None:
    """Writes a block's file."""
    path.unlink(missing_ok=True)  # otherwise, whole would follow a link that someone put into a shared folder
    with whole(path) as file:
        file.write(vectors.tobytes())
        file.write(_checksum(path.name, vectors))


def _checksum(name: str, vectors: npt.NDArray[Any]) -> bytes:
    """Returns the SHA-256 of a block's file name and vectors."""
    digest = hashlib.sha256(name.encode())
    digest.update(vectors.data)
    return digest.digest()
