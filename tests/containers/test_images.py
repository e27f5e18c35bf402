"""What images are made of, by which they are known to be older than their files."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from email.message import Message
from pathlib import Path

import pytest

from conftest import ROOT
from touche.baselines.starter import write_baseline
from touche.containers import images
from touche.containers.programs import Ended, Log
from touche.errors import ToucheError


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """No clone, and a program that has no image; yields the addresses in the package's metadata."""
    addresses: list[str] = []
    about = Message()
    monkeypatch.setattr(about, "get_all", lambda name: addresses)
    monkeypatch.setattr(images, "metadata", lambda name: about)
    monkeypatch.setattr(images, "version", lambda name: "1.2.3")
    monkeypatch.setattr(images, "clone", lambda: None)
    monkeypatch.setattr(images, "check_program", lambda program: None)
    monkeypatch.setattr(images, "answer", lambda *command: "")
    yield addresses


def test_a_released_package_knows_where_its_images_are_and_a_clone_builds_on_its_own_base(
    nowhere: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert images.published("bm25") == "" and images.base() == "touche/base"
    nowhere += ["Homepage, https://touche.webis.de", "Source, https://example.org/a/b"]
    assert images.published("bm25") == ""  # only of GitHub it is known where images are
    nowhere[1] = "Source, https://github.com/Team/Fork"
    assert images.published("bm25") == "ghcr.io/team/fork/bm25:1.2.3"
    assert images.base() == "ghcr.io/team/fork/base:1.2.3"
    monkeypatch.setattr(images, "clone", lambda: ROOT)
    assert images.base() == "touche/base"


def test_without_a_clone_what_is_missing_is_pulled_if_it_is_published(nowhere: list[str]) -> None:
    pull = "podman pull ghcr.io/team/fork/{0}:1.2.3 && podman tag ghcr.io/team/fork/{0}:1.2.3 touche/{0}"
    for name, ask in (
        ("base", lambda: images.build("podman", ["bm25"], print)),
        ("bm25", lambda: images.check_image("podman", "bm25")),
    ):
        nowhere.clear()
        with pytest.raises(ToucheError, match=f"no image touche/{name}; build it in a clone of touche"):
            ask()
        nowhere.append("Source, https://github.com/Team/Fork")
        with pytest.raises(ToucheError, match=re.escape(f"touche/{name}; get it with: {pull.format(name)}")):
            ask()


def test_an_image_is_advised_only_where_there_can_be_one(
    nowhere: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert images.instead("elrond") == ""
    nowhere.append("Source, https://github.com/Team/Fork")
    assert images.instead("elrond") == "; or run its image: add --runner docker"
    monkeypatch.setattr(images, "clone", lambda: ROOT)
    assert "touche images build elrond, then add --runner docker" in images.instead("elrond")
    assert images.instead("bm25") == ""  # its image has no Lucene


def test_without_a_clone_an_image_of_ones_own_is_built(nowhere: list[str], tmp_path: Path) -> None:
    with pytest.raises(ToucheError, match="has no image touche/mine; build it with: touche images build"):
        images.check_image("docker", str(write_baseline(tmp_path / "mine") or tmp_path / "mine"))


def test_an_image_is_older_than_a_change_of_what_it_copies_and_of_nothing_else(tmp_path: Path) -> None:
    """Not of what regress --update and benchmarks/images.py rewrite, nor of what Python and git keep."""
    folder = tmp_path / "baselines" / "argsrank"
    for name in ("src", "docker", folder.relative_to(tmp_path)):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (each for each in ROOT.iterdir() if each.is_file() and not each.name.startswith(".")):
        shutil.copy(path, tmp_path)
    content = images._content(tmp_path, folder)
    copied = ["Dockerfile", "lexicons/claim-words.txt", "new.py"]
    for path in [*map(folder.joinpath, copied), tmp_path / "minilm.txt", tmp_path / "src/touche/errors.py"]:
        with path.open("a") as file:
            file.write("\n")
        before, content = content, images._content(tmp_path, folder)
        assert content != before
    others = ["README.md", "baselines/argsrank/README.md", "baselines/argsrank/expected.toml"]
    for name in [*others, "src/touche/__pycache__/files.pyc", "baselines/argsrank/.git/index"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("changed")
    assert images._content(tmp_path, folder) == content
    elsewhere = shutil.copytree(folder, tmp_path / "mine" / "argsrank")
    assert images._content(tmp_path, Path(elsewhere)) == content


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


@pytest.mark.parametrize(("baseline", "team"), [("bm25", "touche-baselines"), ("./mine", "")])
def test_only_the_image_of_a_shipped_baseline_names_a_team(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, baseline: str, team: str
) -> None:
    write_baseline(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    commands: list[Sequence[str]] = []
    monkeypatch.setattr(images, "check_program", lambda program: None)

    def execute(command: Sequence[str], log: Log) -> Ended:
        commands.append(command)
        return Ended(0, "")

    monkeypatch.setattr(images, "execute", execute)
    images.build("docker", [baseline], print)
    assert f"--build-arg=TEAM={team}" in commands[-1]
