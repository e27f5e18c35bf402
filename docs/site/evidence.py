"""Writes build/evidence.tar.gz: the runs of all baselines on the toy collection, with checksums.

make evidence    # reruns the baselines, and stops if one doesn't have its expected scores
"""

import gzip
import hashlib
import io
import sys
import tarfile
from collections.abc import Mapping
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from touche.errors import ToucheError
from touche.io.origin import PROJECT, origin
from touche.io.progress import say
from touche.io.temporary import temporary_folder
from touche.regression.outcomes import PASSED
from touche.regression.running import read_expectations, rerun
from touche.runners.container_runs import RUNNERS, TOY_PARTS
from touche.runners.limits import HERE, Limits

ARCHIVE = Path("build/evidence.tar.gz")
ROOT = Path(__file__).parents[2]
README = """\
Runs of all baselines of {project} {version} on its toy collection, spot-check.
Commit: {commit}

Each folder is a dataset, and each file a baseline with its options. When the
runs were made, they had the scores that the baselines' expected.toml pins.
To check the files, evaluate a run, and make it again yourself:

    sha256sum --check SHA256SUMS
    pip install {project}=={version}
    touche evaluate spot-check-arguments/bm25.txt --task spot-check/arguments
    touche run bm25 -i spot-check/arguments -o out
    cmp out/run.txt spot-check-arguments/bm25.txt
"""


def main() -> None:
    """Writes the archive, and prints its digest as ``sha256sum`` does."""
    readme = README.format(
        project=PROJECT, version=version(PROJECT), commit=origin(ROOT, has_run=True)["revision"]
    )
    content = archive({"README.txt": readme.encode(), **checked_runs()})
    ARCHIVE.parent.mkdir(exist_ok=True)
    ARCHIVE.write_bytes(content)
    print(f"{hashlib.sha256(content).hexdigest()}  {ARCHIVE}")


def checked_runs() -> dict[str, bytes]:
    """Returns the runs of all baselines on the toy collection, by names such as
    ``spot-check-arguments/bm25.txt``.

    Raises:
        ToucheError: if a baseline can't run, or doesn't have an expected score, figure or ranking.
    """
    expected, unreadable = read_expectations([], TOY_PARTS)
    with temporary_folder("touche-evidence-") as folder:
        for outcome in chain(unreadable, rerun(expected, RUNNERS[HERE], Limits(), say, keep=folder)):
            if outcome.verdict != PASSED:
                entry = outcome.expected
                problem = f"{entry.command} on {entry.dataset}: {outcome.verdict} {outcome.remark}".rstrip()
                raise ToucheError(f"{problem}; see the output of: touche regress {entry.baseline}")
        # Only run.txt is kept of each rerun: metadata contain times, which always differ.
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.txt")}


def archive(files: Mapping[str, bytes]) -> bytes:
    """Returns a tar.gz with files and their checksums, whose bytes depend on nothing else."""
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)]
    members = {**files, "SHA256SUMS": "".join(lines).encode()}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in sorted(members):
            member = tarfile.TarInfo(f"evidence/{name}")  # its time and owner are 0, its mode is 644
            member.size = len(members[name])
            tar.addfile(member, io.BytesIO(members[name]))
    return gzip.compress(buffer.getvalue(), mtime=0)


if __name__ == "__main__":
    try:
        main()
    except ToucheError as error:
        sys.exit(f"error: {error}")
