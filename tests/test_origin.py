from pathlib import Path

import pytest

from touche import origin


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://x-token:SECRET@example.org/o/r", "https://example.org/o/r"),
        ("/home/somebody/clone", "unknown"),
        ("git@example.org:o/r.git", "unknown"),
    ],
)
def test_neither_paths_nor_tokens_are_told(monkeypatch: pytest.MonkeyPatch, url: str, source: str) -> None:
    told = {"describe": "abc-dirty", "remote": url}
    monkeypatch.setattr(origin, "_git", lambda folder, command, *options: told.get(command, ""))
    assert origin.origin(Path()) == {"revision": "abc-dirty", "source": source}
