"""Times dense against sentence-transformers, which runs the same model in torch, on the same processors.

    pip install sentence-transformers
    TOUCHE_DATA=... taskset -c 0 python benchmarks/dense_speed.py [DOCUMENTS]

Use one core: then torch's threads don't wait for one another, which would count as processor time. The
benchmark takes an hour and consists of two parts:

1. dense, sentence-transformers and the network with 8-bit weights embed real documents, in turn. The 8-bit
   weights come from onnxruntime's dynamic quantization. sentence-transformers is left out if it is not
   installed. The benchmark prints each round's seconds, then documents a second and ratios to dense's time.
2. dense ranks a made-up collection of DOCUMENTS (20,000 by default), first without and then with stored
   embeddings. Then it ranks 382,545 documents, as many as BEIR's Touché contains, from stored embeddings,
   which are random, because only time and memory count here. The benchmark prints each run's time and memory.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from baseline_modules import import_from

from touche import pairs
from touche.data.datasets import open_dataset
from touche.documents.beir import corpus_line, query_line
from touche.documents.discovery import find
from touche.documents.document_records import AnyDocument, Argument, conclusion_of, premises_of
from touche.io.progress import processors
from touche.pairs.bert import inference_session, onnx_model, read_model
from touche.pairs.embeddings import DIMENSIONS, model_folder
from touche.runners.container_runs import Job, run_locally
from touche.runners.limits import Limits

ROUNDS = 3
DOCUMENTS = 20_000  # by default
WHOLE = 382_545  # documents in BEIR's Touché
SAMPLES = {  # how many of a dataset's documents to embed
    "beir-webis-touche2020-v2/sample": 229,
    "touche-2020-task-1/sample": 300,
}

Embed = Callable[[Sequence[str]], Any]  # returns texts x 384, rows of norm 1


@dataclass(frozen=True)
class Timing:
    """One system's seconds in one round: wall-clock time, and processor time."""

    wall: float
    cpu: float


def main() -> None:
    """Prints a line per system and quantity."""
    embedded_text = import_from("dense", "embeddings").embedded_text
    systems: dict[str, Embed] = {"dense": pairs.Encoder().embed, "8 bit": load_8_bit_model()}
    if find_spec("sentence_transformers"):
        systems["sentence-transformers"] = load_peer()
    for name, count in SAMPLES.items():
        documents = random.Random(1).sample(list(open_dataset(name).documents), count)
        compare(name, [embedded_text(document) for document in documents], systems)
    with TemporaryDirectory(prefix="touche-benchmark-") as folder:
        count = int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS
        for name, size in (("first", count), ("again", count), ("whole", WHOLE)):
            collection = Path(folder) / f"input-{size}"
            stored = Path(folder) / f"embeddings-{size}"  # "again" reads what "first" stored
            if not collection.exists():
                write_collection(collection, size)
            if name == "whole":
                store_random(collection, stored)
            measure(name, collection, stored, output=Path(folder) / name)


def compare(name: str, texts: Sequence[str], systems: dict[str, Embed]) -> None:
    """Embeds texts using all systems in turn, and prints documents a second and their ratios."""
    timings: dict[str, list[Timing]] = {system: [] for system in systems}
    reference = systems["dense"](texts)
    for _ in range(ROUNDS):
        for system, embed in systems.items():
            wall_start = time.perf_counter()
            cpu_start = time.process_time()
            vectors = embed(texts)
            timing = Timing(wall=time.perf_counter() - wall_start, cpu=time.process_time() - cpu_start)
            timings[system].append(timing)
            least = (vectors * reference).sum(axis=1).min()
            print(f"{name}, {system}: {timing.wall:.1f} s, least cosine with dense {least:.6f}", flush=True)
    for unit, clock in (("second", "wall"), ("second of a processor", "cpu")):
        seconds = {system: [getattr(timing, clock) for timing in timings[system]] for system in systems}
        for system in systems:
            speed = len(texts) / median(seconds[system])
            ratios = [peer / dense for peer, dense in zip(seconds[system], seconds["dense"], strict=True)]
            spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            print(f"{name}, {system}: {speed:.1f} documents a {unit}, {spread} of dense's time,")
            print(f"    {WHOLE / speed / 3600:.1f} hours for {WHOLE:,} documents", flush=True)


def load_peer() -> Embed:
    """Loads the model with sentence-transformers, with as many threads as dense and batches of 32."""
    from sentence_transformers import SentenceTransformer

    import_module("torch").set_num_threads(processors())
    model = SentenceTransformer(str(model_folder()), device="cpu")
    return lambda texts: model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)


def load_8_bit_model() -> Embed:
    """Loads the model with 8-bit weights in its matrix products, with one scale per column."""
    import onnx
    import onnx.inliner
    from onnxruntime.quantization import QuantType, quantize_dynamic

    encoder = pairs.Encoder()
    with TemporaryDirectory(prefix="touche-benchmark-") as folder:
        exact = Path(folder) / "exact.onnx"
        small = Path(folder) / "small.onnx"
        onnx.save(onnx.inliner.inline_local_functions(onnx_model(*read_model(model_folder()))), str(exact))
        quantize_dynamic(
            exact, small, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"]
        )
        encoder.bert.session = inference_session(onnx.load(str(small)))
    return encoder.embed


def measure(name: str, collection: Path, stored: Path, output: Path) -> None:
    """Runs dense with a folder of stored embeddings, and prints time and memory."""
    options = ["--keep-embeddings", str(stored)]
    job = Job(baseline="dense", arguments=options, input=str(collection), output=output)
    usage = run_locally(job, Limits(), lambda line: None)
    print(f"{name}, {collection.name}: {usage}", flush=True)


def write_collection(folder: Path, count: int) -> None:
    """Writes a BEIR data set whose arguments consist of real sentences in another order."""
    folder.mkdir()
    topics = open_dataset("touche-2020-task-1/sample").topics
    (folder / "queries.jsonl").write_text("".join(map(query_line, topics)), encoding="utf-8")
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(map(corpus_line, recombined(count)))


def recombined(count: int) -> Iterator[AnyDocument]:
    """Yields arguments, each with a real argument's conclusion and number of sentences."""
    documents = list(open_dataset("touche-2020-task-1/sample").documents)
    sentences = [sentence for document in documents for sentence in premises_of(document).split(". ")]
    rng = random.Random(2020)
    for number in range(count):
        model = rng.choice(documents)
        drawn = rng.choices(sentences, k=premises_of(model).count(". ") + 1)
        yield Argument(id=f"d{number}", conclusion=conclusion_of(model), premises=(". ".join(drawn),))


class RandomEncoder:
    """Gives each text a random vector of norm 1."""

    def embed(self, texts: Sequence[str], progress: Any = None) -> Any:
        """Returns the vectors, texts x 384; ``progress`` is ignored."""
        vectors = np.random.default_rng(1).normal(size=(len(texts), DIMENSIONS)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def store_random(collection: Path, stored: Path) -> None:
    """Stores random embeddings for a collection the way dense stores its own."""
    stored.mkdir()
    module = import_from("dense", "embeddings")
    embeddings = module.Embeddings(encoder=RandomEncoder(), precision="float32", folder=stored)
    for _ in embeddings.of_documents(find(collection).documents):
        pass  # each block is stored before it is yielded


if __name__ == "__main__":
    main()
