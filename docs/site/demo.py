"""Runs every baseline on the parts of the spot check that it is made for, and prints a line for each.

python docs/site/demo.py    # what make demo does once all is installed; the runs go to build/demo
"""

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from touche import baselines, tasks
from touche.data import datasets
from touche.errors import ToucheError
from touche.evaluation import scores
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.scores import Evaluated
from touche.regression.expected import ExpectedScore, read_expected
from touche.trec.runs import RUN_FILE

FOLDER = Path("build/demo")
TABLES = (("arguments", "passages", "pages"), ("pairs",), ("images",))  # parts that stand beside one another
NAME, CELL = 26, 22  # characters
NEXT = """
All runs are in build/demo. What next? With the environment of the demo (source .venv/bin/activate):

    touche report build/demo/arguments/*/run.txt --task spot-check/arguments -o build/report
    touche compare build/demo/pairs/*/run.txt --task spot-check/pairs
    touche new my-team    # your own baseline: docs/tutorial/write-a-baseline.md
    touche tasks          # the tasks, with their published results"""


def main() -> None:
    """Prints the scores, each as soon as it is known."""
    # What it would warn of is in the spot check on purpose, such as pages that cannot be read.
    logging.getLogger("touche").setLevel(logging.ERROR)
    print("nDCG@5 and its 95% interval by both evaluators, trec_eval and touche; two lines where they differ")
    print("Images: precision at 10 per stance, by touche")
    for parts in TABLES:
        dimensions = list(tasks.task(f"spot-check/{parts[0]}").qrels)
        about = f"{', '.join(dimensions)}:" if len(parts) > 1 else f"{parts[0]}:"
        print(f"\n  {_line(about, parts if len(parts) > 1 else dimensions)}")
        for command, entries in _expected_on(parts).items():
            for line in _scores(command, parts, entries):
                print(f"  {line}", flush=True)
    print(NEXT)
    if left := [name for name in baselines.names() if baselines.missing_extra(name)]:
        print(f"    make lucene           # installs what these need: {', '.join(left)}")


def _expected_on(parts: Sequence[str]) -> Mapping[str, Mapping[str, ExpectedScore]]:
    """By command and part the first score that is expected of a baseline there."""
    found: dict[str, dict[str, ExpectedScore]] = {}
    for name in [each for each in baselines.names() if not baselines.missing_extra(each)]:
        asked = [each for each in read_expected(name) if isinstance(each, ExpectedScore) and each.needs_rerun]
        for part in parts:
            for entry in [each for each in asked if each.dataset == f"spot-check/{part}"][:1]:
                found.setdefault(entry.command, {})[part] = entry
    return found


def _scores(command: str, parts: Sequence[str], entries: Mapping[str, ExpectedScore]) -> Iterator[str]:
    """A line with the scores on all parts and in all dimensions, or one for each evaluator."""
    found = [_evaluated(part, entries[part]) if part in entries else [] for part in parts]
    known = [name for name in EVALUATORS if all(name in run.evaluations for runs in found for run in runs)]
    shown = {evaluator: [cell for each in found for cell in _cells(each, evaluator)] for evaluator in known}
    agree = len(set(map(tuple, shown.values()))) == 1
    for evaluator, cells in [*shown.items()][: 1 if agree else None]:
        name = command if len(command) < NAME else command.split()[0]
        yield _line(name if agree else f"{name}, {evaluator}", cells)


def _evaluated(part: str, entry: ExpectedScore) -> Sequence[Evaluated]:
    ranker, folder = baselines.load(entry.baseline), FOLDER / part / entry.baseline
    options = {name: each.default for name, each in ranker.options.items()} | dict(entry.options)
    baselines.Runs(ranker, datasets.open_dataset(entry.dataset)).write(folder, options)
    evaluated = scores.evaluate([folder / RUN_FILE], tasks.task(entry.dataset))
    return [run for run in evaluated if run.is_ranking]


def _cells(found: Sequence[Evaluated], evaluator: str) -> Iterator[str]:
    """A cell for each dimension, or one that says that there is no score."""
    for each in (run.scores[evaluator] for run in found):
        yield "–" if each.mean is None else f"{each.mean:.3f} ({each.low:.3f} to {each.high:.3f})"
    if not found:
        yield "–"


def _line(name: str, cells: Sequence[str]) -> str:
    return "  ".join([f"{name:<{NAME}}", *(f"{cell:<{CELL}}" for cell in cells)]).rstrip()


if __name__ == "__main__":
    try:
        main()
    except ToucheError as error:
        sys.exit(f"error: {error}")
