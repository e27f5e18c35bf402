"""Times dense next to sentence-transformers, which runs the same model by torch, on the same processors.

    pip install sentence-transformers
    TOUCHE_DATA=... taskset -c 0 python benchmarks/dense_speed.py [DOCUMENTS]

On one core, torch's threads do not wait for one another, which would count as processor time. First both
embed real documents, in turn, and so does the network with 8-bit weights, made by onnxruntime's dynamic
quantization. Without sentence-transformers it is left out. Then dense ranks a made-up collection of
DOCUMENTS (20,000 by default), and again from its stored embeddings. In the end it ranks 382,545 documents, as
many as BEIR's Touché has, from stored embeddings; these are random, because only time and memory count here.
Takes an hour.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from touche import baselines, pairs
from touche.containers.limits import Limits
from touche.containers.runs import Job, run_locally
from touche.data.datasets import open_dataset
from touche.documents.beir import corpus_line, query_line
from touche.documents.discovery import find
from touche.documents.records import AnyDocument, Argument, conclusion_of, premises_of
from touche.io.progress import processors
from touche.pairs.bert import inference_session, onnx_model, read_model
from touche.pairs.embeddings import DIMENSIONS, model_folder

ROUNDS, DOCUMENTS, WHOLE = 3, 20_000, 382_545
SAMPLES = {"beir-webis-touche2020-v2/sample": 229, "touche-2020-task-1/sample": 300}

Embed = Callable[[Sequence[str]], Any]  # texts x 384


def main() -> None:
    """Prints a line for each system and quantity."""
    baselines.load("dense")
    embedded_text = import_module("embeddings").embedded_text
    systems: dict[str, Embed] = {"dense": pairs.Encoder().embed, "8 bit": by_8_bit()}
    if find_spec("sentence_transformers"):
        systems["sentence-transformers"] = by_peer()
    for name, count in SAMPLES.items():
        documents = random.Random(1).sample(list(open_dataset(name).documents), count)
        compare(name, [embedded_text(document) for document in documents], systems)
    with TemporaryDirectory(prefix="touche-benchmark-") as folder:
        count = int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS
        for name, size in (("first", count), ("again", count), ("whole", WHOLE)):
            given, stored = Path(folder) / f"input-{size}", Path(folder) / f"embeddings-{size}"
            if not given.exists():
                write_collection(given, size)
            if name == "whole":
                store_random(given, stored)
            measure(name, given, stored, Path(folder) / name)


def compare(name: str, texts: Sequence[str], systems: dict[str, Embed]) -> None:
    """Embeds texts by all systems in turn, and prints documents a second and their ratios."""
    seconds: dict[str, list[tuple[float, float]]] = {system: [] for system in systems}
    reference = systems["dense"](texts)
    for _ in range(ROUNDS):
        for system, embed in systems.items():
            began = time.perf_counter(), time.process_time()
            vectors = embed(texts)
            took = time.perf_counter() - began[0], time.process_time() - began[1]
            seconds[system].append(took)
            least = (vectors * reference).sum(axis=1).min()
            print(f"{name}, {system}: {took[0]:.1f} s, least cosine with dense {least:.6f}", flush=True)
    for clock, what in enumerate(("second", "second of a processor")):
        for system, rounds in seconds.items():
            speeds = [len(texts) / took[clock] for took in rounds]
            ratios = [
                took[clock] / dense[clock] for took, dense in zip(rounds, seconds["dense"], strict=True)
            ]
            spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            hours = WHOLE / median(speeds) / 3600
            print(f"{name}, {system}: {median(speeds):.1f} documents a {what}, {spread} of dense's time,")
            print(f"    {hours:.1f} hours for {WHOLE:,} documents", flush=True)


def by_peer() -> Embed:
    """The model by sentence-transformers and torch, with as many threads as dense and batches of 32."""
    from sentence_transformers import SentenceTransformer

    import_module("torch").set_num_threads(processors())
    model = SentenceTransformer(str(model_folder()), device="cpu")
    return lambda texts: model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)


def by_8_bit() -> Embed:
    """The model with 8-bit weights in its matrix products, one scale for each column."""
    import onnx
    import onnx.inliner
    from onnxruntime.quantization import QuantType, quantize_dynamic

    encoder = pairs.Encoder()
    with TemporaryDirectory(prefix="touche-benchmark-") as folder:
        exact, small = Path(folder) / "exact.onnx", Path(folder) / "small.onnx"
        onnx.save(onnx.inliner.inline_local_functions(onnx_model(*read_model(model_folder()))), str(exact))
        quantize_dynamic(
            exact, small, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"]
        )
        encoder.bert.session = inference_session(onnx.load(str(small)))
    return encoder.embed


def measure(name: str, given: Path, stored: Path, output: Path) -> None:
    """Runs dense and prints what it took."""
    job = Job("dense", ("--keep-embeddings", str(stored)), str(given), output)
    usage = run_locally(job, Limits(), lambda line: None)
    print(f"{name}, {given.name}: {usage}", flush=True)


def write_collection(given: Path, count: int) -> None:
    """Writes a BEIR data set, whose arguments have the sentences of real ones in another order."""
    given.mkdir()
    topics = open_dataset("touche-2020-task-1/sample").topics
    (given / "queries.jsonl").write_text("".join(map(query_line, topics)), encoding="utf-8")
    with (given / "corpus.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(map(corpus_line, recombined(count)))


def recombined(count: int) -> Iterator[AnyDocument]:
    """Arguments, each as long as a real one."""
    documents = list(open_dataset("touche-2020-task-1/sample").documents)
    sentences = [part for each in documents for part in premises_of(each).split(". ")]
    rng = random.Random(2020)
    for number in range(count):
        like = rng.choice(documents)
        parts = rng.choices(sentences, k=premises_of(like).count(". ") + 1)
        yield Argument(f"d{number}", conclusion_of(like), (". ".join(parts),))


class RandomEncoder:
    """Gives each text a random vector of length 1."""

    def embed(self, texts: Sequence[str], shown: Any = None) -> Any:
        """Returns the vectors of texts."""
        vectors = np.random.default_rng(1).normal(size=(len(texts), DIMENSIONS)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def store_random(given: Path, stored: Path) -> None:
    """Stores random embeddings of a collection as dense stores its own."""
    stored.mkdir()
    module = import_module("embeddings")
    for _ in module.Embeddings(RandomEncoder(), "float32", stored).of_documents(find(given).documents):
        pass


if __name__ == "__main__":
    main()
