"""Shows errors in a baseline's code with the traceback lines from its own folder."""

import errno
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten

from touche.baselines.loader import baseline_folder, frames_in
from touche.baselines.method import Baseline
from touche.cli.output import BROKEN
from touche.errors import ToucheError
from touche.io.packages import without_packages
from touche.io.progress import say

_MAX_MESSAGE = 200  # characters
_NOT_OF_BASELINE = (errno.EPIPE, errno.ENOSPC)  # closed standard output or a full disk

_log = logging.getLogger("touche")


@contextmanager
def own_frames(baseline: Baseline) -> Iterator[None]:
    """Reports an error in a baseline's code with its folder's traceback lines; --verbose shows all lines."""
    try:
        yield
    except ToucheError:  # the message says enough
        raise
    except Exception as error:
        folder = baseline.folder
        frames = frames_in(folder, error) if folder else []
        if not folder or not frames or getattr(error, "errno", None) in _NOT_OF_BASELINE:
            raise
        is_verbose = _log.isEnabledFor(logging.DEBUG)
        trace = traceback.TracebackException.from_exception(error)
        if not is_verbose:
            trace.stack = traceback.StackSummary.from_list(frames)
        for line in without_packages("".join(trace.format())).splitlines():
            say(line)
        # Show the folder as the user typed it.
        path = baseline_folder(baseline.name_or_path) / Path(frames[-1].filename).relative_to(folder)
        message = shorten(f"{type(error).__name__}: {error}", _MAX_MESSAGE)
        hint = "" if is_verbose else ", or see all frames with --verbose"
        say(f"touche: {path}:{frames[-1].lineno}: {message}; repair it{hint}")
        sys.exit(BROKEN)
