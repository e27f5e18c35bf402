"""A BERT with random weights, small enough to compute by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WORDS = "[PAD] [UNK] [CLS] [SEP] cats sleep all day dogs bark".split()
CONFIG = {
    "model_type": "bert", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 16, "layer_norm_eps": 1e-12, "vocab_size": len(WORDS), "max_position_embeddings": 12,
    "type_vocab_size": 2, "hidden_act": "gelu",
}  # fmt: skip


def weights() -> dict[str, Any]:
    """Random ones, large enough that every part of the network matters."""
    rng = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings": (len(WORDS), 8),
        "embeddings.token_type_embeddings": (2, 8),
        "embeddings.position_embeddings": (12, 8),
        "pooler.dense": (8, 8),
        "cls.seq_relationship": (2, 8),
    }
    for layer in (f"encoder.layer.{number}" for number in range(2)):
        shapes |= {f"{layer}.attention.self.{part}": (8, 8) for part in ("query", "key", "value")}
        shapes |= {f"{layer}.attention.output.dense": (8, 8), f"{layer}.intermediate.dense": (16, 8)}
        shapes |= {f"{layer}.output.dense": (8, 16)}
        shapes |= {f"{layer}.attention.output.LayerNorm": (8,), f"{layer}.output.LayerNorm": (8,)}
    shapes["embeddings.LayerNorm"] = (8,)
    tensors = {}
    for name, shape in shapes.items():
        tensors[f"{name}.weight"] = rng.normal(size=shape).astype(np.float32)
        if not name.endswith("embeddings"):
            tensors[f"{name}.bias"] = rng.normal(size=shape[0]).astype(np.float32)
    return tensors


def make_tiny(folder: Path) -> Path:
    """Makes the folder of a BERT as Hugging Face lays it out, with the head for next sentences.

    Skips the test if the extra ``models`` is not installed.
    """
    reason = "needs the extra models: pip install 'touche-baselines[models]'"
    tokenizers = pytest.importorskip("tokenizers", reason=reason)
    safetensors = pytest.importorskip("safetensors.numpy", reason=reason)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    prefixed = {
        name if name.startswith("cls.") else f"bert.{name}": value for name, value in weights().items()
    }
    safetensors.save_file(prefixed, folder / "model.safetensors")
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
