"""Runs every baseline on the parts of the spot check that it is made for, and prints a line for each run.

python docs/demo.py    # what make demo does once all is installed; the runs go to build/demo
"""

import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from touche import baselines, tasks
from touche.data import places
from touche.errors import ToucheError
from touche.evaluation import scores
from touche.evaluation.scores import Evaluated
from touche.regression.expected import read_expected
from touche.regression.kinds import ExpectedScore
from touche.tira.outputs import RUN_FILE

FOLDER = Path("build/demo")
PARTS = ("arguments", "passages", "pairs", "pages")
NEXT = """
All runs are in build/demo. What next? With the environment of the demo (source .venv/bin/activate):

    touche report build/demo/arguments/*/run.txt --task spot-check/arguments -o build/report
    touche compare build/demo/pairs/*/run.txt --task spot-check/pairs
    touche new my-team    # a baseline of your own, which runs at once: docs/participant.md
    touche tasks          # the tasks, with their published results"""


def main() -> None:
    """Prints the scores, each as soon as it is known."""
    # What it would warn of is in the spot check on purpose, such as pages that cannot be read.
    logging.getLogger("touche").setLevel(logging.ERROR)
    print("nDCG@5 and its 95% interval by both evaluators, trec_eval and touche; two lines where they differ")
    for part in PARTS:
        task = tasks.task(f"spot-check/{part}")
        print(f"\n{task.id}: {', '.join(task.qrels)}")
        for entry in _expected_on(task.id):
            for line in _scores(part, entry):
                print(line, flush=True)
    print(NEXT)


def _expected_on(dataset: str) -> Iterator[ExpectedScore]:
    """Of each baseline the first score that is expected there, which has the options that it needs."""
    for name in baselines.names():
        asked = (each for each in read_expected(name) if isinstance(each, ExpectedScore) and each.reruns)
        yield from [each for each in asked if each.dataset == dataset][:1]


def _scores(part: str, entry: ExpectedScore) -> Iterator[str]:
    """A line with the scores of all dimensions, or one for each evaluator."""
    ranker, folder = baselines.load(entry.baseline), FOLDER / part / entry.baseline
    options = {name: each.default for name, each in ranker.options.items()} | dict(entry.options)
    baselines.run(ranker, places.open_dataset(entry.dataset), folder, options)
    found = scores.evaluate([folder / RUN_FILE], tasks.task(entry.dataset))
    shown = {evaluator: "  ".join(_cells(found, evaluator)) for evaluator in found[0].scores}
    agree = len({*shown.values()}) == 1
    for evaluator, cells in [*shown.items()][: 1 if agree else None]:
        yield f"  {entry.command if agree else f'{entry.command}, {evaluator}':<26}  {cells}"


def _cells(found: Sequence[Evaluated], evaluator: str) -> Iterator[str]:
    for each in (run.scores[evaluator] for run in found):
        yield "–" if each.mean is None else f"{each.mean:.3f} ({each.low:.3f} to {each.high:.3f})"


if __name__ == "__main__":
    try:
        main()
    except ToucheError as error:
        sys.exit(f"error: {error}")
