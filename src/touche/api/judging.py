"""What to judge next, as records and as a file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from touche.api.scoring import score
from touche.errors import InputError, ToucheError, check_choice
from touche.evaluation import judging
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.judging import ToJudge
from touche.evaluation.scores import Evaluated
from touche.io.grouping import group_by
from touche.io.identifiers import optional_path
from touche.io.opening import STANDARD_INPUT
from touche.io.writing import check_outputs, write_whole
from touche.trec.forms import AnyQrels, AnyRun, read_runs
from touche.trec.framed import Table

if TYPE_CHECKING:
    from ir_measures.measures import Measure

_LINE = re.compile(rb"\S+ \S+ [0-9]+ [0-9]+\.[0-9]{6}\n")  # as ``to_judge`` writes it
_MAX_LINE_BYTES = 1 << 14  # a line has two ids


def to_judge(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "trec_eval",
    *,
    measure: "str | Measure | None" = None,
    qrels: AnyQrels = None,
    output: str | PathLike[str] | None = None,
) -> Table[ToJudge]:
    """Returns the unjudged documents among the first k of runs, first those that can change differences most.

    Judge the first documents, add their grades to the qrels, and call this function again.

    Args:
        runs, task, qrels: as for ``evaluate``.
        evaluator: the evaluator whose order of a run's documents counts, ``trec_eval`` or ``touche``.
        measure: a measure with bounds instead of the task's: nDCG@k, P@k or RR; for one run also AP@k.
        output: a file for lines ``topic document runs gain``; None for no file. Only an earlier list of this
            form is overwritten.

    Returns:
        Records of ``touche.evaluation.judging.ToJudge``; gains are summed over the dimensions. The notes say
        how many of the documents decide whether the better of the best two runs stays better.

    Raises:
        ToucheError: if a run is unusable, qrels are missing, the measure has no bounds, or the file
            has other content.

    Examples:
        >>> import touche
        >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "z": 1.0}}}
        >>> rows = touche.to_judge(runs, qrels={"1": {"z": 1}}, measure="P@2")
        >>> [(row.document, row.runs, row.gain) for row in rows]
        [('x', 1, 0.5), ('y', 2, 0.0)]
    """
    check_choice("evaluator", evaluator, EVALUATORS)
    path = optional_path("output", output)
    if path is not None:
        check_outputs([path])
        _check_overwriting(path)
    by_measure = score(read_runs(runs), task, measure, qrels, evaluator)
    if len(by_measure) > 1:
        raise ToucheError("documents to judge are chosen by one measure; pass only one measure")
    rankings = [run for run in by_measure[0] if run.is_ranking]
    merged = dict[tuple[str, str], ToJudge]()  # by topic and document
    notes = list[str]()
    for dimension, ranked in group_by(rankings, lambda run: run.dimension).items():
        rows = judging.to_judge(ranked, evaluator)
        notes.append(_note(ranked, dimension, evaluator, rows))
        for row in rows:
            earlier = merged.get((row.topic, row.document))
            gain = row.gain + (earlier.gain if earlier else 0.0)
            # The number of runs that return a document is the same in each dimension.
            merged[row.topic, row.document] = replace(row, gain=gain)
    records = tuple(sorted(merged.values(), key=lambda row: -row.gain))
    if path is not None:
        lines = (f"{row.topic} {row.document} {row.runs} {row.gain:.6f}\n" for row in records)
        write_whole(path, "".join(lines))
    return Table(ToJudge, records, notes=tuple(notes))


def _check_overwriting(path: Path) -> None:
    """Checks that a file is new, or has only lines that ``to_judge`` writes.

    Raises:
        InputError: if it has other content, such as grades that someone has added.
    """
    if str(path) == STANDARD_INPUT:
        raise InputError(path, "not the name of a file", "pass the name of a new file")
    if path.is_file():
        with path.open("rb") as file:  # not by open_binary, whose files are never overwritten
            while line := file.readline(_MAX_LINE_BYTES):
                if not _LINE.fullmatch(line):
                    raise InputError(
                        path, "the file exists and has no list of documents to judge", "choose a new name"
                    )


def _note(runs: Sequence[Evaluated], dimension: str, evaluator: str, rows: Sequence[ToJudge]) -> str:
    """Returns a sentence on the unjudged documents, and how many decide between the best two runs."""
    depth = f"the first {runs[0].measure.cutoff}" if runs[0].measure.cutoff else "the results"
    if not rows:
        return f"{dimension}: no document among {depth} is unjudged"
    subject = f"{dimension}: {len(rows):,} documents among {depth} are unjudged"
    if len(runs) < 2:
        return subject
    best, second = sorted(runs, key=lambda run: -(run.scores[evaluator].mean or 0.0))[:2]
    count = judging.decisive(best, second, evaluator, rows)
    if count is None:  # ``best`` is better only because touche removes unjudged documents
        return subject
    if count == 0:
        return f"{subject}; {best.name} stays better than {second.name} whatever their grades"
    return (
        f"{subject}; the first {count:,} decide: if they are not relevant, {best.name} stays better than "
        f"{second.name} whatever the grades of the others"
    )
