"""The fake Docker and Podman, for test files that name this module in ``pytest_plugins``."""

import io
import json
import os
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("fake_docker.py")
Entry = tuple[str, Mapping[str, Any], bytes]


def tar(*entries: Entry) -> bytes:
    """Returns a tar file of entries: the name, other fields of ``TarInfo``, and the content."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, fields, content in entries:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for field, value in fields.items():
                setattr(member, field, value)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


SAVED = tar(  # what docker save writes for any image
    ("0/layer.tar", {}, tar(("a", {"mode": 0o644}, b"a"))),
    ("c.json", {}, b'{"os": "linux", "architecture": "amd64", "config": {}}'),
    ("manifest.json", {}, b'[{"Config": "c.json", "Layers": ["0/layer.tar"]}]'),
)


@dataclass(frozen=True)
class Engine:
    """Programs ``docker`` and ``podman`` on PATH, which share their images.

    Attributes:
        folder: contains the programs, their state, and their calls.
    """

    folder: Path

    def answer(self, **changes: Any) -> None:
        """Changes what the programs answer.

        Args:
            changes: some of ``images``: a list of dictionaries with ``id``, ``names`` and ``labels``;
                ``printed``: the lines of each build and pull; ``code``: their exit code; ``next_ids``: the
                id that an image gets when it is built, by name; ``works_on``: the datasets that containers
                rank; ``containers``: each container's label by name.
        """
        path = self.folder / "state.json"
        path.write_text(json.dumps(self._state() | changes))

    def _state(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "state.json").read_text()))

    def labels(self, name: str) -> dict[str, str]:
        """Returns the labels of an image."""
        (labels,) = (image["labels"] for image in self._state()["images"] if name in image["names"])
        return dict(labels)

    def calls(self, *beginning: str) -> list[list[str]]:
        """Returns the calls that begin with these words, such as ``docker`` and ``build``."""
        lines = (self.folder / "calls.jsonl").read_text().splitlines()
        calls: list[list[str]] = [json.loads(line) for line in lines]
        return [call for call in calls if call[: len(beginning)] == [*beginning]]


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Docker and Podman, running and without images. Builds succeed, and containers rank nothing."""
    folder = tmp_path_factory.mktemp("engine")
    for name in ("docker", "podman"):
        words = [sys.executable, "-IS", str(PROGRAM), str(folder), name]
        (folder / name).write_text(f'#!/bin/sh\nexec {" ".join(map(quote, words))} "$@"\n')
        (folder / name).chmod(0o755)
    (folder / "saved.tar").write_bytes(SAVED)
    (folder / "calls.jsonl").touch()
    state = {"images": [], "printed": [], "code": 0, "next_ids": {}, "works_on": [], "containers": {}}
    (folder / "state.json").write_text(json.dumps(state))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return Engine(folder)
