"""What this process may use of the machine."""

import os


def processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
