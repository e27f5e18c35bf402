"""Fused runs, in memory and in files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from touche.api.task_data import task_of_run
from touche.errors import ToucheError, check_choice, check_whole, warn
from touche.evaluation import fusion
from touche.io.identifiers import check_tag, expanded, optional_path
from touche.io.opening import STANDARD_INPUT, FileInMemory
from touche.tira.outputs import METADATA_FILE, remove_earlier_run, write_run
from touche.tira.provenance import Software, data_of_runs, metadata
from touche.trec.by_stance import in_rankings
from touche.trec.columns import Run
from touche.trec.forms import AnyRun, file_in_memory, list_of_runs, read_runs, run_of
from touche.trec.runs import MAX_DEPTH, RUN_FILE

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class FusedRun(Run):
    """A run that was fused from others.

    Attributes:
        warnings: sentences on runs that may be of different tasks.
        task: the task that ir-metadata.yml next to the runs names; empty if there is none, or several.
    """

    warnings: tuple[str, ...] = ()
    task: str = ""


def fuse(
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    method: str = "rrf",
    *,
    weights: "Sequence[float] | NDArray[Any] | None" = None,
    depth: int = MAX_DEPTH,
    tag: str = "",
    team: str = "",
    output: str | PathLike[str] | None = None,
    command: str = "touche.fuse",
) -> FusedRun:
    """Fuses runs into one; documents that several runs rank high come first.

    Runs with rankings for both stances of a topic are fused ranking by ranking.

    Args:
        runs: at least two runs, as for ``evaluate``.
        method: ``rrf``, ``combsum``, ``combmnz``, ``z-score`` or ``rbc``.
        weights: factors of the runs' scores, one per run, also as an array; None for equal weights.
        depth: maximum number of documents per topic.
        tag: the name of the fused run; by default ``touche-`` and the method.
        team: your team, for ``ir-metadata.yml``.
        output: the folder for ``run.txt`` and ``ir-metadata.yml``; None writes no files.
        command: the command that ``ir-metadata.yml`` names.

    Returns:
        The fused run. The unit of its scores depends on the method. Runs that may be of different tasks cause
        Python warnings.

    Raises:
        ToucheError: if a run is unusable or passed twice, there are fewer than two runs, or there is no such
            method. Also if the weights are unusable, or the folder cannot be written.

    Examples:
        >>> import touche
        >>> runs = [{"1": {"a": 2.0, "b": 1.0}}, {"1": {"b": 9.0}}]
        >>> fused = touche.fuse(runs, "combsum", weights=[0.7, 0.3])
        >>> fused.as_dict()
        {'1': {'a': 0.7, 'b': 0.3}}
    """
    check_choice("method", method, fusion.METHODS)
    check_whole("depth", depth, 1, MAX_DEPTH)
    tag = tag or f"touche-{method}"
    check_tag(tag)
    weights = weights.tolist() if isinstance(weights, np.ndarray) else weights
    folder = optional_path("output", output)
    started = datetime.now(UTC)
    passed = list_of_runs(runs)
    # A dictionary has the names of its runs. In other forms, ``runs`` may be an iterator, now used up.
    sources = read_runs(runs if isinstance(runs, Mapping) else passed)
    if len(sources) < 2:
        raise ToucheError("fusion needs at least two runs; pass more")
    by_ranking = in_rankings([run_of(source) for source in sources])
    files = [_file(run, source) for run, source in zip(passed, sources, strict=True)]
    named = dict.fromkeys(filter(None, map(task_of_run, files)))
    warnings = tuple(fusion.task_warnings(by_ranking))
    if len(named) > 1:
        warnings += (f"the runs are of {' and '.join(named)}; check that all runs are of one task",)
    for warning in warnings:
        warn(warning)
    options: dict[str, Any] = {"method": method, "depth": depth, "tag": tag}
    if weights is not None:
        options["weights"] = [*weights]
    fused = fusion.fused_run(by_ranking, fusion.METHODS[method], depth, weights, tag).by_topic_number()
    task = next(iter(named)) if len(named) == 1 else ""
    if folder is not None:
        _write_fused(folder, files, task, fused, options, team, command, started)
    fields_of_run = {field.name: getattr(fused, field.name) for field in fields(fused)}
    return FusedRun(**fields_of_run, warnings=warnings, task=task)


def _file(passed: AnyRun, source: Path | Run) -> Path:
    """Returns the file of a run, also if ``read_runs`` read and renamed it.

    A run in memory becomes a file in memory with its lines.

    Args:
        passed: the run as it was passed.
        source: the same run after ``read_runs``.
    """
    if not isinstance(source, Run):
        return source
    is_named_file = isinstance(passed, str | PathLike) and str(passed) != STANDARD_INPUT
    return Path(expanded(passed)) if is_named_file else file_in_memory(source)


def _write_fused(
    folder: Path,
    files: Sequence[Path],
    task: str,
    fused: Run,
    options: Mapping[str, Any],
    team: str,
    command: str,
    started: datetime,
) -> None:
    """Writes a fused run with its metadata."""
    software = Software(
        name=f"touche fuse --method {options['method']}",
        team=team,
        command=command,
        # The first line of ``touche fuse --help``.
        description="Fuse two or more RUNs into one; documents that several RUNs rank high come first.",
    )
    text = metadata(software, options["tag"], options, data_of_runs(files, task), started, datetime.now(UTC))
    # The output must overwrite neither the runs nor their metadata.
    inputs = [file for file in files if not isinstance(file, FileInMemory)]
    inputs += [file.with_name(METADATA_FILE) for file in inputs if file.name == RUN_FILE]
    remove_earlier_run(folder, inputs)
    write_run(folder, fused, text)
