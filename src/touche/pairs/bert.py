"""BERT (Devlin et al. 2019) without torch: Hugging Face's weights, run by onnxruntime.

The ONNX graph below is the network. Weights are added to it when a model is loaded.
"""

import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
import numpy.typing as npt

from touche.errors import InputError, NotInstalledError, ParameterError, ToucheError
from touche.io.optional import installing
from touche.io.progress import bar, processors

_log = logging.getLogger(__name__)

Texts = Sequence[str] | Sequence[tuple[str, str]]
"""Texts, or pairs of texts."""
Array = npt.NDArray[np.float32]
_Input = npt.NDArray[np.int32]  # a text's token ids, attention mask and types: 3 x tokens

FILES = ("config.json", "model.safetensors", "tokenizer.json")
_BATCH_INPUTS = 8  # inputs of similar length; fixed, because it affects the last bits of results
_CHUNK_TEXTS = 256  # texts tokenized at a time
_MISSING_LIBRARIES = "the libraries of the language models are missing"

# BERT in ONNX's text format: the function Embeddings, followed by one Layer per layer. A layer's
# weights (w) and biases (b) are for query, key and value, for the attention's output (o), and for its
# last two parts (i, f).
_GRAPH = """
<ir_version: 10, opset_import: ["" : 20, "touche" : 1]>
bert (int64[batch, length] ids, int64[batch, length] mask, int64[batch, length] types)
    => (float[batch, length, {hidden}] x{depth})
{{
    axes = Constant <value_ints = [1, 2]> ()
    one = Constant <value_float = 1.0> ()
    large = Constant <value_float = {large}> ()
    real = Cast <to = 1> (mask)
    seen = Unsqueeze (real, axes)
    absent = Sub (seen, one)
    bias = Mul (absent, large)
    x0 = touche.Embeddings (ids, types, {embeddings})
    {layers}
}}

<domain: "touche", opset_import: ["" : 20]>
Embeddings (ids, types, words, kinds, places, scale, shift) => (y)
{{
    zero = Constant <value_ints = [0]> ()
    length = Shape <start = 1> (ids)
    word = Gather (words, ids)
    kind = Gather (kinds, types)
    place = Slice (places, zero, length)
    word_and_kind = Add (word, kind)
    sum = Add (word_and_kind, place)
    y = LayerNormalization <axis = -1, epsilon = {epsilon}> (sum, scale, shift)
}}

<domain: "touche", opset_import: ["" : 20]>
Layer (x, bias, wq, bq, wk, bk, wv, bv, wo, bo, scale1, shift1, wi, bi, wf, bf, scale2, shift2) => (y)
{{
    by_head = Constant <value_ints = [0, 0, {heads}, {size}]> ()
    whole = Constant <value_ints = [0, 0, {hidden}]> ()
    root = Constant <value_float = {root}> ()
    xq = MatMul (x, wq)
    xqb = Add (xq, bq)
    q_heads = Reshape (xqb, by_head)
    q = Transpose <perm = [0, 2, 1, 3]> (q_heads)
    xk = MatMul (x, wk)
    xkb = Add (xk, bk)
    k_heads = Reshape (xkb, by_head)
    k = Transpose <perm = [0, 2, 3, 1]> (k_heads)
    xv = MatMul (x, wv)
    xvb = Add (xv, bv)
    v_heads = Reshape (xvb, by_head)
    v = Transpose <perm = [0, 2, 1, 3]> (v_heads)
    qk = MatMul (q, k)
    scaled = Div (qk, root)
    masked = Add (scaled, bias)
    attention = Softmax <axis = -1> (masked)
    heard = MatMul (attention, v)
    heard_heads = Transpose <perm = [0, 2, 1, 3]> (heard)
    joined = Reshape (heard_heads, whole)
    o = MatMul (joined, wo)
    ob = Add (o, bo)
    xo = Add (ob, x)
    attended = LayerNormalization <axis = -1, epsilon = {epsilon}> (xo, scale1, shift1)
    i = MatMul (attended, wi)
    ib = Add (i, bi)
    active = Gelu (ib)
    f = MatMul (active, wf)
    fb = Add (f, bf)
    xf = Add (fb, attended)
    y = LayerNormalization <axis = -1, epsilon = {epsilon}> (xf, scale2, shift2)
}}
"""
_PADDING_PENALTY = 10_000.0  # as in the original: subtracted from padding, so that it gets no attention
# Weight names, in the order of the parameters of Embeddings and Layer.
_EMBEDDING_WEIGHTS = (
    "embeddings.word_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
    "embeddings.position_embeddings.weight",
    "embeddings.LayerNorm.weight",
    "embeddings.LayerNorm.bias",
)
_LAYER_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)


class Bert:
    """A BERT model that encodes texts.

    Args:
        folder: contains config.json, model.safetensors and tokenizer.json, as on Hugging Face.
        length: the maximum number of tokens in an input, unless the model allows fewer.

    Attributes:
        weights: the weights by their names within BERT.
        width: the number of hidden units.
        session: the onnxruntime session that runs the network.

    Raises:
        ToucheError: if libraries are missing.
        ParameterError: if a file is missing.
        InputError: if a file is broken.
    """

    def __init__(self, folder: Path, length: int) -> None:
        for name in FILES:
            if not (folder / name).is_file():
                raise ParameterError(f"{folder / name}: no such file; choose a folder with a BERT model")
        try:
            from tokenizers import Tokenizer  # optional

            config, self.weights = read_model(folder)
            self.width = int(config["hidden_size"])
            self.session = inference_session(onnx_model(config, self.weights))
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(min(length, config["max_position_embeddings"]))
            self._run(self._tokenize(["a", "b c"]))  # raises an error if the files don't fit together
            if self._tokenizer.get_vocab_size() > len(self.weights["embeddings.word_embeddings.weight"]):
                raise ValueError("the tokenizer has more words than the network")
        except ToucheError:
            raise
        except ImportError as error:
            raise NotInstalledError(
                f"{_MISSING_LIBRARIES}; install them with: {installing('models')}"
            ) from error
        except Exception as error:  # onnxruntime, tokenizers and safetensors raise errors as general as this
            reason = f"{type(error).__name__}: {shorten(str(error), 100)}"
            problem = f"the model is broken, or not a BERT model ({reason})"
            raise InputError(folder, problem, "fetch it again, or choose another one") from error

    def states(self, texts: Texts) -> Iterator[tuple[int, Array]]:
        """Yields the last hidden states of texts or pairs of texts, in any order.

        A batch contains texts of similar length and runs on one processor, so the number of processors
        doesn't change results.

        Args:
            texts: the texts or pairs.

        Yields:
            A text's index, and its states: tokens x hidden size.
        """
        began = time.monotonic()
        encoded = self._tokenize(texts)
        # Sorted by length, then by text, so that the order of texts doesn't change batches.
        order = sorted(range(len(encoded)), key=lambda index: (encoded[index].shape[1], texts[index]))
        # A batch is a list of text indexes.
        batches = [order[start : start + _BATCH_INPUTS] for start in range(0, len(order), _BATCH_INPUTS)]
        with ThreadPoolExecutor(processors()) as pool:
            states_of_batches = pool.map(
                lambda batch: self._run([encoded[index] for index in batch]), batches
            )
            for batch, states in zip(batches, states_of_batches, strict=True):
                for index, state in zip(batch, states, strict=True):
                    token_count = encoded[index].shape[1]
                    yield index, state[:token_count]  # drop the padding
        _log.debug("%d texts in %.1f s", len(encoded), time.monotonic() - began)

    def _tokenize(self, texts: Texts) -> list[_Input]:
        """Returns each text's or pair's input without padding: (ids, attention mask, types) x tokens."""
        encoded: list[_Input] = []
        with bar("tokenizing", "texts", len(texts)) as progress:
            for start in range(0, len(texts), _CHUNK_TEXTS):
                # As arrays: the tokenizer's objects are larger, because they keep truncated tokens.
                for tokens in self._tokenizer.encode_batch(list(texts[start : start + _CHUNK_TEXTS])):
                    encoded.append(np.array((tokens.ids, tokens.attention_mask, tokens.type_ids), np.int32))
                progress.update(_CHUNK_TEXTS)
        return encoded

    def _run(self, batch: Sequence[_Input]) -> Array:
        """Returns a batch's last hidden states: inputs x longest input's tokens x hidden size."""
        longest = max(tokens.shape[1] for tokens in batch)
        inputs = np.zeros((3, len(batch), longest), np.int64)  # zeros are padding
        for row, tokens in enumerate(batch):
            inputs[:, row, : tokens.shape[1]] = tokens
        ids, mask, types = inputs
        (states,) = self.session.run(None, {"ids": ids, "mask": mask, "types": types})
        return np.asarray(states, np.float32)


def read_model(folder: Path) -> tuple[Mapping[str, Any], dict[str, Array]]:
    """Returns a model's configuration, and its weights by their names within BERT."""
    from safetensors.numpy import load_file  # optional

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "bert" or config.get("hidden_act", "gelu") != "gelu":
        raise InputError(folder / "config.json", "not a BERT model", "choose a folder with a BERT model")
    weights = load_file(folder / "model.safetensors")
    return config, {_name_in_bert(name): value.astype(np.float32) for name, value in weights.items()}


def _name_in_bert(name: str) -> str:
    """Removes ``bert.`` from a weight's name, and replaces beta and gamma by today's words.

    Early models such as bert-base-uncased call a normalisation's bias and weight beta and gamma.
    """
    name = re.sub(r"\.beta$", ".bias", name.removeprefix("bert."))
    return re.sub(r"\.gamma$", ".weight", name)


def onnx_model(config: Mapping[str, Any], weights: Mapping[str, Array]) -> Any:
    """Turns a BERT into an ONNX model.

    Args:
        config: the content of config.json.
        weights: the weights by their names within BERT.

    Returns:
        An ``onnx.ModelProto`` that maps tokens' ids, mask and types to their last hidden states.
    """
    import onnx  # optional

    names = list(_EMBEDDING_WEIGHTS)
    calls = []
    for layer in range(config["num_hidden_layers"]):
        layer_names = [
            f"encoder.layer.{layer}.{part}.{kind}" for part in _LAYER_PARTS for kind in ("weight", "bias")
        ]
        calls.append(f"x{layer + 1} = touche.Layer (x{layer}, bias, {_quoted(layer_names)})")
        names += layer_names
    head_size = config["hidden_size"] // config["num_attention_heads"]
    graph = _GRAPH.format(
        hidden=config["hidden_size"],
        depth=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        size=head_size,
        root=head_size**0.5,
        large=_PADDING_PENALTY,
        epsilon=config["layer_norm_eps"],
        embeddings=_quoted(_EMBEDDING_WEIGHTS),
        layers="\n    ".join(calls),
    )
    model = onnx.parser.parse_model(graph)
    for name in names:
        weight = weights[name]
        # Layers' matrices are published as outputs x inputs. Embeddings are tables with a row per
        # token.
        if weight.ndim == 2 and "embeddings" not in name:
            weight = np.ascontiguousarray(weight.T)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight, name))
    return model


def inference_session(model: Any) -> Any:
    """Creates an onnxruntime session that runs a model on one processor."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # without this, the import starts Microsoft's telemetry
    import onnxruntime  # optional

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _quoted(names: Sequence[str]) -> str:
    """Returns weight names as arguments in the graph."""
    return ", ".join(f'"{name}"' for name in names)
