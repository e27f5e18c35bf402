"""Runs the baselines on the parts of the toy collection that they can rank, and prints their scores.

python docs/site/demo.py    # make demo calls it after the installation; the runs go to build/demo
"""

import logging
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

import touche
from touche import baselines, tasks
from touche.baselines.expected import ExpectedScore, read_expected
from touche.data.places import shipped_baselines
from touche.errors import ToucheError
from touche.evaluation.scores import Score

FOLDER = Path("build/demo")
TABLES = (["arguments", "passages", "pages"], ["pairs"], ["images"])  # parts with the same measure
DELAY = 2  # seconds before a bar appears
NAME_WIDTH = 26  # characters
SCORE_WIDTH = 22
HEAD = """\
Mean nDCG@5 and its 95% interval, by trec_eval and touche (each has a line if they differ).
Images: precision at 10 per stance, by touche."""
NEXT = """
All runs are in build/demo. What next? With the environment of the demo (source .venv/bin/activate):

    touche report build/demo/arguments/*/run.txt --task spot-check/arguments -o build/report
    touche compare build/demo/pairs/*/run.txt --task spot-check/pairs
    touche new my-team    # your own baseline: docs/tutorial/write-a-baseline.md
    touche tasks          # the tasks, with their published results"""


def main() -> None:
    """Prints a table for each group of parts, each line as soon as its scores are known."""
    # The toy collection causes warnings on purpose, for example by pages that cannot be read.
    logging.getLogger("touche").setLevel(logging.ERROR)
    warnings.simplefilter("ignore", touche.ToucheWarning)
    print(HEAD)
    tables = {tuple(parts): entries_by_command(parts) for parts in TABLES}
    count = sum(map(len, tables.values()))
    # None: only on a terminal. In a pipe, the lines of the tables show the progress.
    with tqdm(
        desc="running", total=count, unit=" baselines", delay=DELAY, leave=False, disable=None
    ) as progress:
        for parts, commands in tables.items():
            print_table(parts, commands, progress)
    print(NEXT)
    not_installed = [name for name in shipped_baselines() if baselines.missing_extra(name)]
    if not_installed:
        print(f"    make lucene           # installs what these need: {', '.join(not_installed)}")


def print_table(
    parts: Sequence[str], commands: Mapping[str, Mapping[str, ExpectedScore]], progress: Any
) -> None:
    """Prints the scores of all baselines: a column for each part, or for each dimension of a single part."""
    is_single = len(parts) == 1
    dimensions = list(tasks.task(f"spot-check/{parts[0]}").qrels)
    columns = dimensions if is_single else parts
    title = parts[0] if is_single else dimensions[0]
    tqdm.write(f"\n{line(f'{title}:', columns)}")  # as print, but not into the bar
    for command, entries in commands.items():
        scores = {column: list[Score]() for column in columns}
        for part, entry in entries.items():
            for score in ranking_scores(part, entry):
                scores[score.dimension if is_single else part].append(score)
        for name, cells in rows(command, list(scores.values())):
            tqdm.write(line(name, cells))
            sys.stdout.flush()
        progress.update(1)


def entries_by_command(parts: Sequence[str]) -> Mapping[str, Mapping[str, ExpectedScore]]:
    """Returns what to run: for each command and part, the first expected score of a baseline on that part."""
    commands: dict[str, dict[str, ExpectedScore]] = {}
    for name in shipped_baselines():
        if baselines.missing_extra(name):
            continue
        for part in parts:
            dataset = f"spot-check/{part}"
            for entry in read_expected(name):
                if isinstance(entry, ExpectedScore) and entry.needs_rerun and entry.dataset == dataset:
                    commands.setdefault(entry.command, {})[part] = entry
                    break
    return commands


def ranking_scores(part: str, entry: ExpectedScore) -> Sequence[Score]:
    """Runs a baseline on a part, and returns its scores by each evaluator, without those of stances."""
    output = FOLDER / part / entry.baseline
    written = touche.write_run(entry.baseline, entry.dataset, output, options=entry.options)
    return [score for score in touche.evaluate(written.path, entry.dataset) if score.is_ranking]


def rows(command: str, columns: Sequence[Sequence[Score]]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields the name and the cells of one line, or of a line for each evaluator where these differ."""
    name = command if len(command) <= NAME_WIDTH else command.split()[0]
    evaluators = dict.fromkeys(score.evaluator for scores in columns for score in scores)
    cells = {evaluator: [cell(scores, evaluator) for scores in columns] for evaluator in evaluators}
    if len(set(map(tuple, cells.values()))) == 1:
        yield name, next(iter(cells.values()))
    else:
        for evaluator in evaluators:
            yield f"{name}, {evaluator}", cells[evaluator]


def cell(scores: Sequence[Score], evaluator: str) -> str:
    """Returns the mean by an evaluator and its interval; a dash if there is none."""
    for score in scores:
        if score.evaluator == evaluator and score.mean is not None:
            return f"{score.mean:.3f} ({score.low:.3f} to {score.high:.3f})"
    return "–"


def line(name: str, cells: Sequence[str]) -> str:
    """Returns a line of a table, indented."""
    padded = [f"{name:<{NAME_WIDTH}}", *(f"{text:<{SCORE_WIDTH}}" for text in cells)]
    return f"  {'  '.join(padded)}".rstrip()


if __name__ == "__main__":
    try:
        main()
    except ToucheError as error:
        sys.exit(f"error: {error}")
