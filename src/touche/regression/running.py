"""Baselines rerun on every dataset at hand, and what became of everything that is expected of them."""

import logging
import shutil
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from touche import baselines, tasks
from touche.baselines.loader import folder_of, is_shipped
from touche.data.places import locate
from touche.errors import InputError, NotInstalledError, ToucheError
from touche.evaluation.agreement import Overlap
from touche.evaluation.scores import Evaluated
from touche.io.temporary import temporary_folder
from touche.io.writing import write_whole
from touche.origin import clone
from touche.progress import bar
from touche.regression.expected import EXPECTED_FILE, PINNED, REPORTED, Expected, Rerun, read_expected
from touche.sandbox.limits import Limits
from touche.sandbox.programs import Log
from touche.sandbox.runs import Job, Runner, Usage
from touche.tira.outputs import RUN_FILE

PASSED, TOO_LOW, TOO_HIGH, CHANGED = "passed", "too low", "too high", "changed"
NOT_AT_HAND, FAILED, NOT_THE_SAME = "not at hand", "failed", "not the same twice"
NOT_INSTALLED, NOTHING_EXPECTED = "not installed", "nothing expected"
UNCHECKED = (NOT_AT_HAND, NOT_INSTALLED, NOTHING_EXPECTED)
NOT_AS_REPORTED = "not as reported"  # of another implementation, which binds nobody
BROKEN = (TOO_LOW, TOO_HIGH, CHANGED, FAILED, NOT_THE_SAME)  # verdicts that make the regression fail

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What was expected and what became of it.

    Attributes:
        expected: what was expected.
        verdict: ``passed``, ``too low``, ``too high``, ``changed`` (a ranking), ``not as reported``,
            ``not at hand``, ``not installed``, ``nothing expected``, ``failed``, ``not the same twice``.
        got: what was measured, or None.
        judged: Judged@k, likewise.
        remark: why it failed, or what else was found.
        usage: what the run took, or None where there was none.
        evaluated: the run in all dimensions that have judgments, where runs are kept.
        agreements: how far the rerun agrees with the official runs that entries of its group name; of one of
            the group alone.
    """

    expected: Expected
    verdict: str
    got: float | str | None = None
    judged: float | None = None
    remark: str = ""
    usage: Usage | None = None
    evaluated: Sequence[Evaluated] = ()
    agreements: Sequence[Overlap] = ()

    @property
    def difference(self) -> float | None:
        """``got`` minus what was expected, where these are numbers."""
        return None if self.got is None else self.expected.difference(self.got)

    @property
    def broken(self) -> bool:
        """Whether it makes the regression fail."""
        return self.verdict in BROKEN

    @property
    def record(self) -> dict[str, Any]:
        """A flat record for JSON."""
        measured = {"got": self.got, "difference": self.difference, "judged": self.judged}
        used = asdict(self.usage) if self.usage else dict.fromkeys(Usage.__annotations__)
        verdict = {"verdict": self.verdict, "remark": self.remark}
        agreements = {"agreements": [asdict(each) for each in self.agreements]}
        return self.expected.record | measured | used | verdict | agreements


def expected_of(names: Sequence[str], datasets: Sequence[str]) -> tuple[list[Expected], list[Outcome]]:
    """Reads what is expected of baselines on datasets, and the outcomes of baselines that have no entry.

    Args:
        names: names or paths of baselines; none for all that ship.
        datasets: ids of datasets; none for all.

    Raises:
        ToucheError: if there is no such baseline or dataset, or nothing is expected.
    """
    for dataset_id in datasets:
        tasks.dataset(dataset_id)  # or an error that names it
    expected, outcomes = list[Expected](), list[Outcome]()
    for name in [name for name in names or baselines.names() if folder_of(name)]:  # or an error
        about = Expected(baseline=name)
        try:
            entries = [entry for entry in read_expected(name) if not datasets or entry.dataset in datasets]
        except Exception as error:
            outcomes += _failed([about], error)
        else:
            expected += entries
            if names and not entries:
                remark = f"no entry in {EXPECTED_FILE} for {', '.join(datasets)}"
                outcomes.append(Outcome(about, NOTHING_EXPECTED, remark=remark))
    if not expected and all(outcome.verdict == NOTHING_EXPECTED for outcome in outcomes):
        raise ToucheError("nothing is expected of these baselines on these datasets; name others")
    return expected, outcomes


def regress(
    expected: Sequence[Expected],
    runner: Runner,
    limits: Limits,
    say: Log,
    *,
    twice: bool = False,
    keep: Path | None = None,
) -> Iterator[Outcome]:
    """Runs each baseline on each dataset at hand, once, and checks what it has in both directions.

    A score that is higher than expected is a failure, too: the baseline is no longer the same. One that is
    reported of another implementation of the model is held beside, and fails nothing. Whatever goes
    wrong with one baseline on one dataset is the outcome there, and the others go on.

    Args:
        expected: what is to be checked.
        runner: how a baseline is run, and within which limits.
        say: is told what is run, and given the log of each run.
        twice: run each once more, and compare run.txt byte by byte.
        keep: a folder for the runs, or None if they are not needed afterwards.
    """
    groups: dict[tuple[str, str], list[Expected]] = {}
    for each in expected:
        groups.setdefault((each.command, each.dataset), []).append(each)
    measure = partial(_measured, runner=runner, limits=limits, say=say, twice=twice, keep=keep)
    for group in bar("running", "runs", len(groups), over=groups.values()):
        yield from _outcomes(group, measure)


def update(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Writes what was measured over the pinned values that it differs from; published ones are left alone.

    Returns:
        All outcomes; those whose value was rewritten have passed now, or failed if they cannot be written.
    """
    updated = list(outcomes)
    for baseline in dict.fromkeys(each.expected.baseline for each in updated):
        moved = [n for n, each in enumerate(updated) if each.expected.baseline == baseline and _moved(each)]
        try:
            rewritten = _rewritten(baseline, [updated[number] for number in moved]) if moved else []
        except Exception as error:
            rewritten = [replace(updated[number], verdict=FAILED, remark=_told(error)) for number in moved]
        for number, outcome in zip(moved, rewritten, strict=True):
            updated[number] = outcome
    return updated


def _moved(outcome: Outcome) -> bool:
    expected, got = outcome.expected, outcome.got
    sure = expected.kind == PINNED and got is not None and outcome.verdict != NOT_THE_SAME
    return sure and expected.pinned_to(got or 0.0) != expected


def _rewritten(baseline: str, outcomes: Sequence[Outcome]) -> list[Outcome]:
    import tomlkit  # keeps comments and order

    path = folder_of(baseline) / EXPECTED_FILE
    if is_shipped(path.parent) and clone() is None:
        raise InputError(path, "a file of the installed package", "change it in a clone of touche-baselines")
    document: Any = tomlkit.parse(path.read_text(encoding="utf-8"))
    rewritten = []
    for outcome in outcomes:
        pinned = outcome.expected.pinned_to(outcome.got or 0.0)
        document[pinned.TABLE][pinned.entry][pinned.PINNED_AS] = pinned.value
        rewritten.append(replace(outcome, expected=pinned, verdict=PASSED))
    write_whole(path, tomlkit.dumps(document))
    return rewritten


def _outcomes(group: Sequence[Expected], measure: Callable[..., list[Outcome]]) -> list[Outcome]:
    """Those of a baseline with its options on a dataset."""
    try:
        available = [each for each in group if each.at_hand]
    except Exception as error:
        return _failed(group, error)
    outcomes = [Outcome(each, NOT_AT_HAND) for each in group if each not in available]
    rerun = [each for each in available if each.reruns]
    try:
        outcomes += measure(rerun, [each.run for each in available if each.run]) if rerun else []
    except Exception as error:
        outcomes += _failed(rerun, error)
    return outcomes + [_of_official_run(each) for each in available if not each.reruns]


def _measured(
    group: Sequence[Expected],
    official: Iterable[str],
    *,
    runner: Runner,
    limits: Limits,
    say: Log,
    twice: bool,
    keep: Path | None,
) -> list[Outcome]:
    first = group[0]
    say(f"{first.command} on {first.dataset}")
    with temporary_folder("touche-regress-", mounted=True) as folder:
        names = ("first", "second")[: 1 + twice]
        jobs = [Job(first.baseline, first.arguments, first.dataset, folder / each) for each in names]
        usages = [runner(job, limits, lambda line: say(f"  {line}")) for job in jobs]
        same = len({(job.output / RUN_FILE).read_bytes() for job in jobs}) == 1
        rerun = Rerun.of(_kept(jobs[0], keep) if keep else jobs[0].output / RUN_FILE, first.dataset)
    common: dict[str, Any] = {"usage": usages[0], "evaluated": rerun.evaluated if keep else ()}
    common |= {} if same else {"verdict": NOT_THE_SAME}
    outcomes = [replace(_outcome(each, rerun), **common) for each in group]
    failed = {each.expected.run for each in outcomes if each.verdict == FAILED}
    compared = [run for run in dict.fromkeys(official) if run not in failed]
    outcomes[0] = replace(outcomes[0], agreements=tuple(_agreements(compared, rerun, first)))
    return outcomes


def _agreements(official: Iterable[str], rerun: Rerun, expected: Expected) -> Iterator[Overlap]:
    """With each official run; a warning where they cannot be compared."""
    for run in official:
        from touche.regression.official import agreements  # here, because it imports identify

        names = f"runs/{run}", f"{expected.command} on {expected.dataset}"
        try:
            yield from agreements(locate("runs", run), rerun.lines, rerun.dataset, names)
        except ToucheError as error:
            _log.warning("%s", error)


def _kept(job: Job, folder: Path) -> Path:
    """A copy of the run of a job under the names of dataset, baseline and options."""
    words = [Path(job.name).name, *(word.lstrip("-").replace("/", "-") for word in job.arguments)]
    kept = folder / job.given.replace("/", "-") / f"{'-'.join(words)}.txt"
    kept.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(job.output / RUN_FILE, kept))


def _of_official_run(expected: Expected) -> Outcome:
    try:
        return _outcome(expected, Rerun.of(locate("runs", expected.run), expected.dataset))
    except Exception as error:
        return _failed([expected], error)[0]


def _outcome(expected: Expected, rerun: Rerun) -> Outcome:
    try:
        got, judged, remark = expected.measured(rerun)
    except Exception as error:
        return _failed([expected], error)[0]
    difference = expected.difference(got)
    drift = CHANGED if difference is None else TOO_HIGH if difference > 0 else TOO_LOW
    drift = NOT_AS_REPORTED if expected.kind == REPORTED else drift
    return Outcome(expected, PASSED if expected.accepts(got) else drift, got, judged, remark)


def _failed(group: Iterable[Expected], error: Exception) -> list[Outcome]:
    verdict = NOT_INSTALLED if isinstance(error, NotInstalledError) else FAILED
    return [Outcome(each, verdict, remark=_told(error)) for each in group]


def _told(error: Exception) -> str:
    """An error in one line; of one that is a bug its kind, too, and with --verbose where it was."""
    if isinstance(error, ToucheError):
        return str(error)
    _log.debug("%s", "".join(traceback.format_exception(error)))
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
