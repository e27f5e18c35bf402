"""What the tests share: a place to run in, small files, and official data where it is at hand."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
Write = Callable[[str, str | bytes], Path]


@pytest.fixture(autouse=True)
def in_the_clone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tests run in the clone, see no data but what they ask for, and leave the user's cache alone."""
    monkeypatch.chdir(ROOT)
    for variable in ("TOUCHE_DATA", "inputDataset", "outputDir"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file in the temporary directory, gzipped if its name says so, and returns its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write_file


OFFICIAL = os.environ.get("TOUCHE_DATA")


@pytest.fixture
def official(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with official data, for the tests in tests/official."""
    if OFFICIAL is None:
        pytest.skip(
            "needs official data: set TOUCHE_DATA to a folder with topics/, qrels/, runs/ and corpora/"
        )
    folder = (ROOT / OFFICIAL).resolve()
    monkeypatch.setenv("TOUCHE_DATA", str(folder))
    return folder
