"""A runner for ``touche.regression`` that starts no process for a run."""

from warnings import catch_warnings

from touche import ToucheWarning, cli
from touche.runners.container_runs import Job, Usage
from touche.runners.limits import Limits
from touche.runners.programs import Log


def run_in_this_process(job: Job, limits: Limits, log: Log) -> Usage:
    """Runs a baseline by its command. Imports, Java and language models are loaded once for all runs."""
    words = ["run", job.baseline, *job.arguments, "-i", job.input, "-o", str(job.output)]
    with catch_warnings(action="ignore", category=ToucheWarning):  # the command prints them itself
        assert not cli.cli.main(words, standalone_mode=False)
    return Usage(wall=1.0)
