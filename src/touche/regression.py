"""Baselines rerun, and their scores held against what is expected in each one's expected.toml."""

import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from touche.baselines.loader import folder_of
from touche.baselines.options import arguments_of
from touche.data.places import at_hand, corpus_at_hand, open_dataset, qrels_of
from touche.errors import InputError, ToucheError
from touche.evaluation.ndcg import EVALUATORS
from touche.files import decoded_lines, write_whole
from touche.formats.runs import MAX_DEPTH, RunLine, read_run
from touche.pairs.figures import MEASURES
from touche.progress import bar
from touche.sandbox.programs import Log
from touche.sandbox.runs import Job, Limits, Runner, Usage
from touche.tasks import PAIR, dataset, datasets
from touche.tira.outputs import RUN_FILE

EXPECTED_FILE = "expected.toml"
PUBLISHED, PINNED = "published", "pinned"
STRUCTURE = "structure"  # in place of an evaluator
PASSED, TOO_LOW, TOO_HIGH = "passed", "too low", "too high"
NOT_AT_HAND, FAILED, NOT_THE_SAME = "not at hand", "failed", "not the same twice"
DIGITS = 5  # of pinned values
_NAMES = ("dataset", "dimension", "evaluator", "qrels")
_REMEDY = "write entries like those in docs/organizer.md, section Expected scores"


@dataclass(frozen=True)
class Expected:
    """A score that a baseline must reach, an entry of its expected.toml.

    Attributes:
        baseline: the name or path of its folder, as it was asked for.
        entry: the number of the entry in the file, from 0.
        dataset: the id of the dataset.
        dimension, evaluator, qrels: what is measured, as in ``touche.evaluation.scores.Score``; or for
            figures that need no judgments a key of ``touche.pairs.figures.MEASURES``, ``structure``,
            and nothing.
        options: options of the baseline, by the names of its parameters.
        kind: ``published`` or ``pinned``.
        value: mean nDCG@5, or the figure.
        tolerance: by how much the score may differ.
        source: where a published value is printed.
    """

    baseline: str
    entry: int
    dataset: str
    dimension: str
    evaluator: str
    qrels: str
    options: Mapping[str, Any]
    kind: str
    value: float
    tolerance: float
    source: str = ""

    @property
    def command(self) -> str:
        """The baseline with its options, as one would type it."""
        return " ".join([self.baseline, *self.arguments])

    @property
    def arguments(self) -> list[str]:
        """The options as words of the command line."""
        return arguments_of(self.options)

    @property
    def at_hand(self) -> bool:
        """Whether topics, judgments and corpus are there."""
        task, corpus = dataset(self.dataset)
        judged = self.evaluator == STRUCTURE or at_hand("qrels", self.qrels)
        return judged and at_hand("topics", task.topics) and corpus_at_hand(corpus)


@dataclass(frozen=True)
class Outcome:
    """An expected score and what became of it.

    Attributes:
        expected: what was expected.
        verdict: ``passed``, ``too low``, ``too high``, ``not at hand``, ``failed``, ``not the same twice``.
        got: what was measured, or None.
        judged: Judged@5, likewise.
        remark: why it failed.
        usage: what the run took, or None where there was none.
        run: where the run was kept, or None.
    """

    expected: Expected
    verdict: str
    got: float | None = None
    judged: float | None = None
    remark: str = ""
    usage: Usage | None = None
    run: Path | None = None

    @property
    def difference(self) -> float | None:
        """``got`` minus what was expected."""
        return None if self.got is None else self.got - self.expected.value

    @property
    def broken(self) -> bool:
        """Whether it makes the regression fail."""
        return self.verdict not in (PASSED, NOT_AT_HAND)

    @property
    def record(self) -> dict[str, Any]:
        """A flat record for JSON."""
        measured = {"got": self.got, "difference": self.difference, "judged": self.judged}
        used = asdict(self.usage) if self.usage else dict.fromkeys(("wall", "cpu", "memory"))
        return asdict(self.expected) | measured | used | {"verdict": self.verdict, "remark": self.remark}


def read_expected(baseline: str) -> list[Expected]:
    """The entries of a baseline's expected.toml.

    Args:
        baseline: its name, or the path of its folder.

    Raises:
        InputError: if the file is missing or broken, or an entry is incomplete or names what there is not.
    """
    path = folder_of(baseline) / EXPECTED_FILE
    if not path.is_file():
        raise InputError(path, "no such file", _REMEDY)
    try:
        content = tomllib.loads("".join(decoded_lines(path)))
    except ValueError as error:
        raise InputError(path, f"broken TOML ({error})", "repair the file") from error
    entries = content.get("score")
    if content.keys() != {"score"} or not isinstance(entries, list) or not entries:
        raise InputError(path, "it does not hold [[score]] entries and nothing else", _REMEDY)
    return [_expected_of(baseline, number, entry, path) for number, entry in enumerate(entries)]


def regress(
    expected: Sequence[Expected],
    runner: Runner,
    limits: Limits,
    say: Log,
    *,
    twice: bool = False,
    keep: Path | None = None,
) -> Iterator[Outcome]:
    """Runs each baseline on each dataset at hand, once, and checks its scores in both directions.

    A score that is higher than expected is a failure, too: the baseline is no longer the same.

    Args:
        expected: the scores to reach.
        runner: how a baseline is run, and within which limits.
        say: is told what is run, and given the log of each run.
        twice: run each once more, and compare run.txt byte by byte.
        keep: a folder for the runs, or None if they are not needed afterwards.
    """
    groups: dict[tuple[str, str], list[Expected]] = {}
    for each in expected:
        groups.setdefault((each.command, each.dataset), []).append(each)
    shown = bar("running", "runs", len(groups), over=groups.items())
    for (command, dataset_id), group in shown:
        checked = [each for each in group if each.at_hand]
        yield from (Outcome(each, NOT_AT_HAND) for each in group if each not in checked)
        if checked:
            say(f"{command} on {dataset_id}")
            with TemporaryDirectory(prefix="touche-") as folder:
                jobs = [_job(checked[0], Path(folder) / name) for name in ("first", "second")]
                outcomes = list(_outcomes(checked, jobs[: 1 + twice], runner, limits, say))
                run = _kept(jobs[0], keep) if keep else None
                yield from (replace(outcome, run=run) for outcome in outcomes)


def update(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Writes what was measured over the pinned values that it differs from; published ones are left alone.

    Returns:
        All outcomes; those whose value was rewritten have passed now.

    Raises:
        InputError: if an expected.toml cannot be written.
    """
    import tomlkit  # keeps comments and order

    updated = []
    for outcome in outcomes:
        each = outcome.expected
        if each.kind == PINNED and outcome.got is not None and outcome.verdict != NOT_THE_SAME:
            path = folder_of(each.baseline) / EXPECTED_FILE
            document: Any = tomlkit.parse(path.read_text(encoding="utf-8"))
            document["score"][each.entry][PINNED] = value = round(outcome.got, DIGITS)
            if value != each.value:
                write_whole(path, tomlkit.dumps(document))
                outcome = replace(outcome, expected=replace(each, value=value), verdict=PASSED)
        updated.append(outcome)
    return updated


def _expected_of(baseline: str, number: int, entry: Any, path: Path) -> Expected:
    if problem := _problem(entry):
        raise InputError(path, f"[[score]] number {number + 1} {problem}", _REMEDY)
    kind = PUBLISHED if PUBLISHED in entry else PINNED
    return Expected(
        baseline=baseline,
        entry=number,
        kind=kind,
        value=float(entry[kind]),
        tolerance=float(entry["tolerance"]),
        options=entry.get("options", {}),
        source=entry.get("source", ""),
        **{name: entry.get(name, "") for name in _NAMES},
    )


def _problem(entry: Any) -> str:
    """What is wrong with an entry, or nothing; a check that can never fail, or never pass, is no check."""
    if not isinstance(entry, dict) or (PUBLISHED in entry) == (PINNED in entry):
        return "needs either a published or a pinned value"
    if unknown := entry.keys() - {*_NAMES, PUBLISHED, PINNED, "tolerance", "options", "source"}:
        return f"has an unknown key, {min(unknown)!r}"
    if wrong := [name for name in _NAMES if not isinstance(entry.get(name), str) and name != "qrels"]:
        return f"needs a text as its {wrong[0]}"
    most = MAX_DEPTH if entry["evaluator"] == STRUCTURE else 1
    for name in (PUBLISHED, PINNED):
        if name in entry and not _is_number(entry[name], 0, most):
            return f"needs a number from 0 to {most} as its {name} value"
    if not _is_number(entry.get("tolerance"), 1e-9, 1):
        return "needs a number above 0, and at most 1, as its tolerance"
    if not isinstance(options := entry.get("options", {}), dict) or any(map(_is_nested, options.values())):
        return "needs options such as { k1 = 1.2 }"
    return _mismatch(entry)


def _mismatch(entry: Mapping[str, Any]) -> str:
    """What an entry names that there is not."""
    if entry["dataset"] not in datasets():
        return f"names an unknown dataset, {entry['dataset']!r}"
    if entry["evaluator"] == STRUCTURE:
        if dataset(entry["dataset"])[0].rules.unit != PAIR:
            return "asks for the structure of what are no pairs"
        known = entry["dimension"] in MEASURES and "qrels" not in entry
        return "" if known else f"needs one of {', '.join(MEASURES)} as its dimension, and no qrels"
    judgments = dataset(entry["dataset"])[0].qrels.get(entry["dimension"])
    if judgments is None or judgments.file != entry.get("qrels") or entry["evaluator"] not in EVALUATORS:
        return "names a dimension, qrels or evaluator that its task does not have"
    if PUBLISHED in entry and not entry.get("source"):
        return "has a published value without a source"
    return ""


def _is_number(value: Any, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list)


def _job(expected: Expected, output: Path) -> Job:
    return Job(expected.baseline, expected.arguments, expected.dataset, output)


def _kept(job: Job, folder: Path) -> Path | None:
    """A copy of the run of a job, if there is one, under the names of dataset, baseline and options."""
    run = job.output / RUN_FILE
    if not run.exists():
        return None
    words = [Path(job.name).name, *(word.lstrip("-").replace("/", "-") for word in job.arguments)]
    kept = folder / job.given.replace("/", "-") / f"{'-'.join(words)}.txt"
    kept.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(run, kept))


def _outcomes(
    group: Sequence[Expected], jobs: Sequence[Job], runner: Runner, limits: Limits, say: Log
) -> Iterator[Outcome]:
    try:
        usages = [runner(job, limits, lambda line: say(f"  {line}")) for job in jobs]
        run = read_run(jobs[0].output / RUN_FILE)
    except ToucheError as error:
        yield from (Outcome(each, FAILED, remark=str(error)) for each in group)
        return
    same = len({(job.output / RUN_FILE).read_bytes() for job in jobs}) == 1
    for each in group:
        outcome = replace(_outcome(each, run), usage=usages[0])
        yield outcome if same else replace(outcome, verdict=NOT_THE_SAME)


def _outcome(expected: Expected, run: Sequence[RunLine]) -> Outcome:
    task, _ = dataset(expected.dataset)
    try:
        if expected.evaluator == STRUCTURE:
            got, judged = MEASURES[expected.dimension](run, open_dataset(expected.dataset).documents), None
        else:
            result = EVALUATORS[expected.evaluator](run, qrels_of(task, expected.dimension))
            got, judged = result.mean or 0.0, result.judged
    except ToucheError as error:
        return Outcome(expected, FAILED, remark=str(error))
    difference = got - expected.value
    verdict = PASSED if abs(difference) <= expected.tolerance else TOO_HIGH if difference > 0 else TOO_LOW
    return Outcome(expected, verdict, got, judged)
