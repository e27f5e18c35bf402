"""A collection's embeddings in blocks. A block that is stored as a file is only computed once."""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Literal

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
_log = logging.getLogger("touche.dense")


@dataclass(frozen=True)
class Embeddings:
    """Documents' embeddings.

    A block is a fixed number of successive documents. Its file is a NumPy array of their vectors, and the
    file's name is the SHA-256 of model, precision and texts.

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
                    vectors = self.encoder.embed(texts, progress).astype(self.precision)
                    if path:
                        _store(path, vectors)
                elif progress is not None:
                    progress.update(len(block))
                done += len(block)
                yield [document.id for document in block], vectors

    def _name(self, texts: Sequence[str]) -> str:
        """Returns a block's file name."""
        # The checksums of the model's files, and how many of a text's tokens are embedded.
        content = json.dumps([pairs.CHECKSUMS, pairs.LENGTH, self.precision, texts], sort_keys=True)
        return f"{sha256(content.encode()).hexdigest()}.npy"

    def _read_stored(self, path: Path, count: int) -> Vectors | None:
        """Returns a block's vectors for ``count`` texts; None if its file is missing or damaged."""
        try:
            vectors = np.load(path, mmap_mode="r")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(
                path, f"cannot be read ({error})", "remove it, or choose another folder"
            ) from error
        except (EOFError, ValueError):  # it is empty, truncated or no array
            vectors = np.zeros(0)
        if vectors.shape != (count, pairs.DIMENSIONS) or vectors.dtype != self.precision:
            _log.warning("%s: the stored embeddings are damaged; they are computed again", path)
            return None
        return vectors


def embedded_text(document: AnyDocument) -> str:
    """Returns the text of a document that is embedded: title and text, or conclusion and premises."""
    return f"{conclusion_of(document)} {premises_of(document)}".strip()


def _store(path: Path, vectors: Vectors) -> None:
    """Writes a block's file."""
    path.unlink(missing_ok=True)  # otherwise, whole would follow a link that someone put into a shared folder
    with whole(path) as file:
        np.save(file, vectors)
