"""The commit of a folder, which can be untrusted."""

from pathlib import Path

import pytest

from conftest import git, write_files
from touche.io import origin as module
from touche.io.origin import origin


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = write_files(tmp_path / "mine", {"baseline.py": "a"})
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


def test_a_change_and_a_new_file_are_dirty(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "-a", "v1", "-m", "a tag is not a commit")
    assert origin(repository)["revision"] == commit
    (repository / "new.py").touch()
    assert origin(repository)["revision"] == f"{commit}-dirty"
    (repository / "new.py").unlink()
    (repository / "baseline.py").write_text("b")
    assert origin(repository)["revision"] == f"{commit}-dirty"


def test_without_a_status_the_commit_is_unknown(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = module._git
    monkeypatch.setattr(
        module, "_git", lambda folder, *command: "" if "status" in command else called(folder, *command)
    )
    assert origin(repository)["revision"] == "unknown"


@pytest.mark.parametrize(
    "setting",
    ["core.fsmonitor", "filter.evil.clean", "filter.evil.process", "filter.a=b.clean"],
)
def test_no_setting_of_a_repository_is_executed(repository: Path, tmp_path: Path, setting: str) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\ncat\n")
    program.chmod(0o755)
    git(repository, "config", setting, str(program))
    name = setting.removeprefix("filter.").rpartition(".")[0]
    if setting.startswith("filter."):
        git(repository, "config", f"filter.{name}.required", "true")
    (repository / ".git" / "info" / "attributes").write_text(f"*.py filter={name}\n")
    (repository / "baseline.py").write_text("b")
    commit = git(repository, "rev-parse", "HEAD")
    revision = origin(repository)["revision"]
    assert not (tmp_path / "executed").exists()
    assert revision == ("unknown" if "=" in setting else f"{commit}-dirty")


def test_a_folder_without_a_repository_has_no_origin(tmp_path: Path) -> None:
    assert origin(tmp_path) == {"revision": "unknown", "source": "unknown"}
