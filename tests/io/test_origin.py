"""The commit of a folder, which can be untrusted."""

from pathlib import Path

import pytest

from conftest import git, write_files
from touche.io import origin as module
from touche.io.origin import commit_time, earlier_commit_time, origin


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = write_files(tmp_path / "mine", {"baseline.py": "a"})
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


@pytest.mark.parametrize("has_run", [True, False])
def test_a_change_and_a_new_file_are_dirty(repository: Path, has_run: bool) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "-a", "v1", "-m", "a tag is not a commit")
    write_files(repository, {".venv/a.py": "", "deep/__pycache__/a.pyc": ""})
    assert origin(repository, has_run=has_run)["revision"] == commit
    (repository / "new.py").touch()
    assert origin(repository, has_run=has_run)["revision"] == f"{commit}-dirty"
    (repository / "new.py").unlink()
    (repository / "baseline.py").write_text("b")
    assert origin(repository, has_run=has_run)["revision"] == f"{commit}-dirty"


def test_neither_a_hook_of_another_repository_nor_a_setting_hides_a_new_file(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "config", "status.showUntrackedFiles", "no")
    (repository / "new.py").touch()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))
    assert origin(repository, has_run=False)["revision"] == f"{commit}-dirty"


def test_without_a_status_the_commit_is_unknown(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = module._git
    monkeypatch.setattr(
        module, "_git", lambda folder, *command: "" if "status" in command else called(folder, *command)
    )
    assert origin(repository, has_run=False)["revision"] == "unknown"


def test_only_commits_in_the_history_of_the_current_one_have_a_time(repository: Path) -> None:
    """A fork's commits can be in the same repository, because GitHub keeps them together."""
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-b", "fork")
    git(repository, "commit", "--allow-empty", "-m", "second")
    second = git(repository, "rev-parse", "HEAD")
    assert earlier_commit_time(repository, first) == int(git(repository, "show", "-s", "--format=%ct", first))
    assert earlier_commit_time(repository, second) == commit_time(repository)
    git(repository, "checkout", "-")
    assert earlier_commit_time(repository, first) and earlier_commit_time(repository, second) == 0


FILTERS = ["filter.evil.clean", "filter.evil.process", "filter.a=b.clean"]
# ``!`` begins a shell command in an alias; of the others, the value is a command or the path of a program.
PROGRAMS = [
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy", "core.askPass"),
    *("gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand"),
    *("diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "pager.status"),
    *("credential.helper", "interactive.diffFilter", "remote.origin.uploadpack", "sequence.editor"),
    *("alias.status", "alias.rev-list", "alias.remote", "uploadpack.packObjectsHook", "trace2.normalTarget"),
]


@pytest.mark.parametrize("setting", [*FILTERS, *PROGRAMS, "core.hooksPath"])
def test_no_setting_of_a_repository_is_executed(repository: Path, tmp_path: Path, setting: str) -> None:
    hook = "hooks/post-index-change"
    program = write_files(tmp_path, {hook: f"#!/bin/sh\ntouch '{tmp_path}/run'\ncat\n"}) / hook
    program.chmod(0o755)
    sign(repository, "gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n")
    commit = git(repository, "rev-parse", "HEAD")
    name = setting.split(".", 1)[1].rpartition(".")[0] or "evil"
    (repository / ".git" / "info" / "attributes").write_text(f"*.py filter={name} diff=evil merge=evil\n")
    # The settings are in an included file, which the repository's own file names.
    included = repository / ".git" / "more"
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "include.path", str(included))
    if setting in FILTERS:
        git(repository, "config", "--file", str(included), f"filter.{name}.required", "true")
    value = str(program.parent) if setting == "core.hooksPath" else str(program)
    if setting.startswith("alias."):
        value = f"!{program}"
    git(repository, "config", "--file", str(included), setting, value)
    (repository / "baseline.py").write_text("b")
    revision = origin(repository, has_run=False)["revision"]
    assert commit_time(repository) > 1_000_000_000
    assert not (tmp_path / "run").exists()
    assert revision == ("unknown" if "=" in setting else f"{commit}-dirty")


def test_filters_of_a_folder_whose_code_has_run_decide_what_has_changed(repository: Path) -> None:
    (repository / ".git" / "info" / "attributes").write_text("*.py filter=mine\n")
    git(repository, "config", "filter.mine.clean", "sed s/b/a/")
    (repository / "baseline.py").write_text("b")
    commit = git(repository, "rev-parse", "HEAD")
    assert origin(repository, has_run=True)["revision"] == commit
    assert origin(repository, has_run=False)["revision"] == f"{commit}-dirty"


def sign(repository: Path, signature: str) -> None:
    """Replaces the last commit by one with a signature."""
    header, _, message = git(repository, "cat-file", "commit", "HEAD").partition("\n\n")
    file = repository / ".git" / "signed"
    file.write_text(f"{header}\n{signature}\n{message}\n")
    git(repository, "update-ref", "HEAD", git(repository, "hash-object", "-t", "commit", "-w", str(file)))


@pytest.mark.parametrize("has_run", [True, False])
def test_a_folder_without_a_repository_has_no_origin(tmp_path: Path, has_run: bool) -> None:
    assert origin(tmp_path, has_run=has_run) == {"revision": "unknown", "source": "unknown"}
