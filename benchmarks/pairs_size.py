"""Measures time and peak memory of the baselines for sentence pairs on input of the real size.

    TOUCHE_DATA=... python benchmarks/pairs_size.py

The input consists of 365,408 arguments, as many as in args_processed.csv, and the topics of 2022. The
arguments are recombined from the corpus sample's sentences. The benchmark prints a line per baseline, on two
cores and then on one. It takes about an hour.
"""

import csv
import os
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from touche.data.places import locate
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.pieces import parse_pieces
from touche.runners.container_runs import Job, run_locally
from touche.runners.limits import Limits

ARGUMENTS = 365_408
BASELINES = ("dirichletlm-pairs", "sentence-coherence", "argsrank")


def main() -> None:
    """Prints a line per baseline and number of processors."""
    with TemporaryDirectory(prefix="touche-benchmark-") as folder:
        collection = Path(folder) / "input"
        collection.mkdir()
        (collection / "topics.xml").write_bytes(locate("topics", "touche-2022-task-1.xml").read_bytes())
        path = collection / "args_processed.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("id", "conclusion", "premises", "context", "sentences"))
            rows.writerows(recombined(ARGUMENTS))
        print(f"{ARGUMENTS} arguments, {path.stat().st_size / 1e9:.1f} GB", flush=True)
        available = sorted(os.sched_getaffinity(0))
        for processors in (available[:2], available[:1]):
            os.sched_setaffinity(0, processors)  # the runs are child processes and inherit this
            for name in BASELINES:
                output = Path(folder) / f"{name}-{len(processors)}"
                measure(name, collection, output, len(processors))


def measure(name: str, collection: Path, output: Path, processors: int) -> None:
    """Runs a baseline, and prints its time and peak memory."""
    job = Job(baseline=name, arguments=(), input=str(collection), output=output)
    usage = run_locally(job, Limits(), lambda line: None)
    cores = f"{processors} core{'s' if processors > 1 else ''}"
    print(f"{name}, {cores}: {usage.wall:.0f} s, {(usage.memory or 0) / 1e6:.0f} MB", flush=True)


def recombined(count: int) -> Iterator[tuple[str, str, str, str, str]]:
    """Yields rows of args_processed.csv: id, conclusion, premises, context and sentences.

    Each row gets a real argument's conclusion, stance and number of sentences.
    """
    corpus = locate("corpora", "argsme-2020-04-01-processed-sample") / "args_processed.csv.gz"
    arguments = list(parse_pieces(pieces_of_args_processed(corpus), set()))
    pool = [sentence.text for argument in arguments for sentence in argument.sentences or ()]
    rng = random.Random(2022)
    for number in range(count):
        model = rng.choice(arguments)
        id = f"S{number:08x}-A{number:08x}"
        texts = rng.choices(pool, k=max(1, len(model.sentences or ()) - 1))
        sentences = [{"sent_id": f"{id}__CONC__1", "sent_text": model.conclusion}]
        sentences += [
            {"sent_id": f"{id}__PREMISE__{index}", "sent_text": text} for index, text in enumerate(texts, 1)
        ]
        premises = [{"text": " ".join(texts), "stance": model.stance, "annotations": []}]
        yield id, model.conclusion, repr(premises), "{}", repr(sentences)


if __name__ == "__main__":
    main()
