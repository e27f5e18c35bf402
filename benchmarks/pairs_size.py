"""Time and peak memory of the baselines for sentence pairs on an input of the real size.

365,408 arguments, as many as args_processed.csv has, are recombined from the real sample's sentences; the
topics are those of 2022. Needs TOUCHE_DATA; takes about an hour. From the root of the repository:

    python benchmarks/pairs_size.py
"""

import csv
import os
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from touche.containers.limits import Limits
from touche.containers.runs import Job, run_locally
from touche.data.places import locate
from touche.documents.args_processed import pieces_of_args_processed
from touche.documents.pieces import parse_pieces

ARGUMENTS = 365_408
BASELINES = ("dirichletlm-pairs", "sentence-coherence", "argsrank")


def main() -> None:
    """Prints a line for each baseline and number of processors."""
    with TemporaryDirectory(prefix="touche-benchmark-") as folder:
        given = Path(folder) / "input"
        given.mkdir()
        (given / "topics.xml").write_bytes(locate("topics", "touche-2022-task-1.xml").read_bytes())
        with (given / "args_processed.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("id", "conclusion", "premises", "context", "sentences"))
            rows.writerows(recombined(ARGUMENTS))
        print(
            f"{ARGUMENTS} arguments, {(given / 'args_processed.csv').stat().st_size / 1e9:.1f} GB", flush=True
        )
        everything = sorted(os.sched_getaffinity(0))
        for processors in (everything[:2], everything[:1]):
            os.sched_setaffinity(0, processors)
            for name in BASELINES:
                measure(name, given, Path(folder) / f"{name}-{len(processors)}", len(processors))


def measure(name: str, given: Path, output: Path, processors: int) -> None:
    """Runs a baseline and prints what it took."""
    usage = run_locally(Job(name, (), str(given), output), Limits(), lambda line: None)
    cores = f"{processors} core{'s' if processors > 1 else ''}"
    print(f"{name}, {cores}: {usage.wall:.0f} s, {(usage.memory or 0) / 1e6:.0f} MB", flush=True)


def recombined(count: int) -> Iterator[tuple[str, str, str, str, str]]:
    """Rows of arguments: a real conclusion and stance, and as many sentences as a real argument has."""
    corpus = locate("corpora", "argsme-2020-04-01-processed-sample") / "args_processed.csv.gz"
    arguments = list(parse_pieces(pieces_of_args_processed(corpus), set()))
    pool = [each.text for argument in arguments for each in argument.sentences or ()]
    rng = random.Random(2022)
    for number in range(count):
        like, id = rng.choice(arguments), f"S{number:08x}-A{number:08x}"
        texts = rng.choices(pool, k=max(1, len(like.sentences or ()) - 1))
        sentences = [{"sent_id": f"{id}__CONC__1", "sent_text": like.conclusion}]
        sentences += [
            {"sent_id": f"{id}__PREMISE__{place}", "sent_text": text} for place, text in enumerate(texts, 1)
        ]
        premises = [{"text": " ".join(texts), "stance": like.stance, "annotations": []}]
        yield id, like.conclusion, repr(premises), "{}", repr(sentences)


if __name__ == "__main__":
    main()
