"""A baseline run in this process: run.txt, and beside it where it comes from."""

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from touche.baselines.method import Baseline
from touche.baselines.options import arguments_of
from touche.errors import ParameterError
from touche.files import write_whole
from touche.formats.runs import MAX_DEPTH
from touche.formats.topics import Topic
from touche.progress import watched
from touche.tira.inputs import Input
from touche.tira.outputs import METADATA_FILE, prepare_output, write_run
from touche.tira.provenance import PROJECT, Software, metadata


def run(ranker: Baseline, given: Input, output: Path, options: dict[str, Any]) -> list[Topic]:
    """Runs a baseline and writes run.txt, and beside it ir-metadata.yml.

    Returns:
        The topics for which nothing was found.

    Raises:
        ToucheError: if the input is unusable, an option has no meaning, or the output cannot be written.
    """
    depth = options.get("depth", MAX_DEPTH)
    if not 1 <= depth <= MAX_DEPTH:
        raise ParameterError(f"depth = {depth}: a run holds 1 to {MAX_DEPTH} documents per topic")
    prepare_output(output)  # an earlier run must not outlive this one, however soon it is interrupted
    started, tag = datetime.now(UTC), ranker.tag(options)
    rankings = ranker(given.topics, given.documents, **options)
    shown = watched(rankings, "searching", "topics", len(given.topics))
    without_hits = write_run(output, given.topics, shown, tag)
    software = Software(ranker.name, _team(ranker), _command(ranker, options), ranker.description)
    about = (software, tag, options, given.files)
    write_whole(output / METADATA_FILE, metadata(*about, started, datetime.now(UTC)))
    return without_hits


def _team(ranker: Baseline) -> str:
    """The team whose baseline it is: this project, or that which the folder is named after."""
    return PROJECT if ranker.is_shipped else ranker.name


def _command(ranker: Baseline, options: dict[str, Any]) -> str:
    """The baseline as it was asked for, with the options that are not at their defaults."""
    return shlex.join(["touche", "run", ranker.typed or ranker.name, *arguments_of(ranker.changed(options))])
