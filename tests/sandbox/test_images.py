"""What images are made of, by which they are known to be older than their files."""

import os
import shutil
from pathlib import Path

import pytest

from conftest import ROOT
from touche.sandbox import images


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Of what images are made of, with one baseline that copies a folder and modules."""
    for name in ("src", "docker"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (each for each in ROOT.iterdir() if each.is_file() and not each.name.startswith(".")):
        shutil.copy(path, tmp_path)
    shutil.copytree(ROOT / "baselines" / "argsrank", tmp_path / "baselines" / "argsrank")
    return tmp_path


def content(clone: Path) -> str:
    return images._content(clone, clone / "baselines" / "argsrank")


@pytest.mark.parametrize(
    "name",
    [
        "baselines/argsrank/Dockerfile",
        "baselines/argsrank/centrality.py",
        "baselines/argsrank/lexicons/claim-words.txt",
        "docker/baseline",
        "docker/models.txt",
        "docker/base.Dockerfile",
        "minilm.txt",
        "src/touche/files.py",
    ],
)
def test_an_image_is_older_than_a_change_of_what_it_copies(clone: Path, name: str) -> None:
    before = content(clone)
    with (clone / name).open("a") as file:
        file.write("\n")
    assert content(clone) != before


def test_an_image_is_older_than_a_further_file_that_it_would_copy(clone: Path) -> None:
    before = content(clone)
    (clone / "baselines" / "argsrank" / "features.py").touch()
    assert content(clone) != before


def test_an_image_is_as_new_as_what_it_does_not_copy(clone: Path) -> None:
    """What regress --update and docs/tables.py rewrite, and what Python and git keep."""
    before = content(clone)
    for name in ("README.md", "CHANGELOG.md", "baselines/argsrank/README.md"):
        (clone / name).write_text("changed")
    (clone / "baselines" / "argsrank" / "expected.toml").write_text("changed")
    for name in ("src/touche/__pycache__/files.pyc", "baselines/argsrank/.git/index"):
        (clone / name).parent.mkdir()
        (clone / name).touch()
    assert content(clone) == before


def test_an_image_is_as_new_where_a_folder_lies_elsewhere(clone: Path, tmp_path: Path) -> None:
    elsewhere = shutil.copytree(clone / "baselines" / "argsrank", tmp_path / "mine" / "argsrank")
    assert images._content(clone, Path(elsewhere)) == content(clone)


def test_what_is_copied_is_read_as_docker_does(tmp_path: Path) -> None:
    for name in ("a.py", "data/deep/x.toml", "data/.hidden", "not.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    lines = [
        "FROM scratch AS nsp",
        "COPY --chown=1:1 *.py \\",
        "     data/ /opt/",
        "COPY --from=nsp not.md /opt",
    ]
    (tmp_path / "Dockerfile").write_text("\n".join([*lines, "RUN true", ""]))
    found = [os.path.relpath(path, tmp_path) for path in images.made_of(ROOT, tmp_path)]
    assert found == ["Dockerfile", "a.py", "data/deep/x.toml"]
    (tmp_path / "Dockerfile").write_text("FROM touche/base\nCOPY . /opt/\n")
    assert {tmp_path / "not.md", ROOT / "docker" / "baseline"} <= {*images.made_of(ROOT, tmp_path)}
