"""Images are rebuilt to the last byte, and what is not is named."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from built_images import build_once, programs
from conftest import ROOT, Touche
from engines import Engine
from touche.errors import InputError, ToucheError
from touche.lab import verification
from touche.lab.verification import DIFFERENT, NOT_COMPARABLE, SAME, verify, verify_run
from touche.runners.image_builds import BASES, REVISION_LABEL, TITLE_LABEL
from touche.runners.image_content import Content, File, digest
from touche.runners.programs import output_of
from touche.tira import provenance
from touche.tira.metadata import IMAGE_VARIABLE

pytest_plugins = ["engines"]
OF_EACH_BASE = ("bm25", "elrond", "dense")
COMMIT = "a" * 40
OTHER = "b" * 40
FILE = File(kind="file", mode="644", owner="0:0", content="1")
BASE = {"etc": FILE}
CONTENT = Content(
    layers=[BASE, {"usr/x": FILE}, {"opt/a": FILE}],
    commands=["base", "|1 A=b /bin/sh -c apt-get install --yes x", "/bin/sh -c #(nop) COPY file:1 in /opt"],
    settings={"User": "", "Env": []},
)
CHANGED = replace(CONTENT, layers=[BASE, {"usr/x": FILE}, {"opt/a": replace(FILE, mode="664")}])


@dataclass
class Images:
    """What Docker and Podman have: an image of bm25, and what a rebuild of it becomes."""

    engine: Engine
    original: Content = CONTENT
    rebuilt: Content = CONTENT
    commit: str = COMMIT

    def store(self, original: Content = CONTENT, **labels: str) -> None:
        """Stores an image of bm25 under two names, instead of the earlier one."""
        self.original = original
        names = ["touche/bm25", "image"]
        labels = {TITLE_LABEL: "touche/bm25", REVISION_LABEL: COMMIT} | labels
        image = {"id": original.digest, "names": names, "labels": labels}
        bases = {"id": "base", "names": [f"touche-verify-{os.getpid()}/{base}" for base in BASES]}
        self.engine.answer(images=[image, bases])


@pytest.fixture
def images(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Images:
    images = Images(engine)
    images.store()

    def content(program: str, image: str) -> Content:
        return images.rebuilt if "verify" in image else images.original

    monkeypatch.setattr(verification, "origin", lambda folder, has_run: {"revision": images.commit})
    monkeypatch.setattr(verification, "build", Mock())
    monkeypatch.setattr(verification, "read_content", content)
    monkeypatch.setattr("touche.runners.image_content.read_content", content)
    return images


def test_the_same_content_is_the_same_and_layers_of_apt_are_named(images: Images) -> None:
    result = verify("docker", "bm25", print)
    assert (result.answer, result.subject, result.difference) == (SAME, "touche/bm25", "")
    assert result.digest == result.rebuilt == CONTENT.digest
    assert result.unpinned == ["apt-get install --yes x"]
    steps = {
        "RUN |1 SOURCE=https://example.org/a.git /bin/sh -c #(nop) COPY file:1 in /opt": False,
        f"/bin/sh -c {'true && ' * 30} curl --output /x https://example.org": True,
        "/bin/sh -c pip install --require-hashes -r locked.txt": False,
        "RUN /bin/sh -c python3 -m pip install x # buildkit": True,
    }
    for command, is_unpinned in steps.items():
        # The same files, in other layers.
        layers = [BASE, {}, {"usr/x": FILE, "opt/a": FILE}]
        images.rebuilt = replace(CONTENT, layers=layers, commands=["base", command, "COPY"])
        result = verify("docker", "bm25", print)
        assert (result.answer, result.difference) == (SAME, "")
        assert bool(result.unpinned) == is_unpinned, command


APT, COPY = "the layer apt-get install --yes x", "the layer COPY file:1 in /opt"
BOTH_CHANGED = [BASE, {"usr/x": replace(FILE, content="3")}, {"opt/a": replace(FILE, content="2")}]
REBUILDS: dict[str, tuple[Content, str]] = {
    "both changed": (replace(CONTENT, layers=BOTH_CHANGED), APT),
    "one changed": (CHANGED, COPY),
    "a file in a later layer": (
        replace(CONTENT, layers=[BASE, {}, {"usr/x": FILE, "opt/a": replace(FILE, content="2")}]),
        APT,
    ),
    "an unchanged file again": (replace(CHANGED, layers=[BASE, BASE | {"usr/x": FILE}, {}]), COPY),
    "a layer more": (
        replace(CONTENT, layers=[*CONTENT.layers, {"x": FILE}], commands=[*CONTENT.commands, "RUN new"]),
        "the layer RUN new",
    ),
    "settings": (replace(CONTENT, settings={"User": "1", "Env": ["A=1"]}), "the settings User, Env"),
}


@pytest.mark.parametrize("rebuild", REBUILDS)
def test_the_first_layer_with_another_content_is_named_else_the_settings(
    images: Images, rebuild: str
) -> None:
    images.rebuilt, difference = REBUILDS[rebuild]
    result = verify("docker", "bm25", print)
    assert (result.answer, result.difference) == (DIFFERENT, difference)


@pytest.mark.parametrize(
    ("image", "source", "reason"),
    [
        (OTHER, COMMIT, f"from commit {OTHER}, but the source is at {COMMIT}; run: git checkout {OTHER}"),
        (COMMIT, f"{COMMIT}-dirty", "the current source has uncommitted changes"),
        (f"{COMMIT}-dirty", COMMIT, "was made from uncommitted changes"),
        (COMMIT, "unknown", "the commit of the current source is unknown"),
    ],
)
def test_other_sources_are_not_comparable(images: Images, image: str, source: str, reason: str) -> None:
    images.store(**{REVISION_LABEL: image})
    images.commit = source
    result = verify("docker", "bm25", print)
    assert result.answer == NOT_COMPARABLE and reason in result.reason and result.rebuilt == ""


@pytest.mark.parametrize(
    ("label", "value", "problem"),
    [
        (TITLE_LABEL, "debian", "image is not an image of bm25"),
        (TITLE_LABEL, "touche/tfidf", "image is not an image of bm25"),
        (REVISION_LABEL, "", "image names no commit"),
        (REVISION_LABEL, "unknown", "image names no commit"),
    ],
)
def test_another_image_and_one_by_hand_are_refused(
    images: Images, label: str, value: str, problem: str
) -> None:
    images.store(**{label: value})
    with pytest.raises(ToucheError, match=problem):
        verify("docker", "bm25", print, against="image")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, touche: Touche) -> Path:
    """A run of bm25 by an image with the digest of CONTENT."""
    monkeypatch.setenv(IMAGE_VARIABLE, CONTENT.digest)
    monkeypatch.setenv(provenance.REVISION_VARIABLE, COMMIT)
    assert touche("run", "bm25", "-i", "spot-check/passages", "-o", tmp_path / "out")[0] == 0
    return tmp_path / "out" / "run.txt"


def test_a_run_leads_to_its_image_and_its_commit(images: Images, run: Path) -> None:
    result = verify_run("docker", run, print)
    assert (result.answer, result.digest, result.commit) == (SAME, CONTENT.digest, COMMIT)
    images.rebuilt = CHANGED
    result = verify_run("docker", run, print)
    assert (result.answer, result.difference) == (DIFFERENT, COPY)
    images.store(CHANGED)  # the local image is another one, so no layer can be compared
    result = verify_run("docker", run, print)
    assert (result.answer, result.digest, result.difference) == (DIFFERENT, CONTENT.digest, "")
    images.commit = OTHER
    assert verify_run("docker", run, print).answer == NOT_COMPARABLE


def test_a_run_without_an_image_or_of_an_unknown_baseline_is_refused(images: Images, run: Path) -> None:
    metadata = run.with_name("ir-metadata.yml")
    text = metadata.read_text()
    metadata.write_text(text.replace("name: bm25", "name: ../../elsewhere"))
    with pytest.raises(InputError, match=r"there is no shipped baseline '\.\./\.\./elsewhere'"):
        verify_run("docker", run, print)
    metadata.write_text(text.replace("content digest", "digest"))
    with pytest.raises(InputError, match="it names no image; pass a run that was made by --runner"):
        verify_run("docker", run, print)
    metadata.unlink()
    with pytest.raises(InputError, match=r"ir-metadata.yml: this file is missing; .* next to run.txt"):
        verify_run("docker", run, print)


def test_the_command_prints_the_answer_and_its_exit_code_says_it(images: Images, touche: Touche) -> None:
    code, out, _ = touche("images", "verify", "bm25")
    assert code == 0 and f"touche/bm25: the same ({CONTENT.digest}, commit {COMMIT})\n" in out
    images.rebuilt = CHANGED
    code, out, _ = touche("images", "verify", "bm25")
    assert code == 1 and f"\nthe first difference: {COPY}\n" in out
    images.commit = OTHER
    code, out, err = touche("images", "verify", "bm25")
    assert (code, out, err.count("\n")) == (2, "", 1) and "touche/bm25: not comparable: " in err


@pytest.mark.parametrize(
    ("against", "line", "message"),
    [
        ("x/y", "Error: manifest unknown", "no image x/y, and cannot pull it: the registry lacks this image"),
        ("x/y", "lookup a.b: no such host", "cannot pull it: a server does not answer; check the network"),
        # Anyone may own this local name in a registry.
        ("", "pulled", "podman has no image touche/bm25; build it .* build bm25 --runner podman"),
    ],
)
def test_an_image_is_pulled_only_by_its_address_and_a_failure_is_named(
    engine: Engine, against: str, line: str, message: str
) -> None:
    engine.answer(printed=[line], code=1)
    with pytest.raises(ToucheError, match=message):
        verify("podman", "bm25", print, against=against)


@pytest.fixture
def both() -> None:
    if programs() != ["docker", "podman"]:
        pytest.skip("needs running Docker and Podman: install and start them")


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    """An unpacked sdist in another folder, by another umask."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    folder = tmp_path / "an sdist"
    folder.mkdir()
    unpack = f"umask 002 && tar --no-same-permissions -xzf '{archive}' -C '{folder}' --strip-components=1"
    subprocess.run(["sh", "-c", unpack], check=True)
    return folder


@pytest.mark.nightly
@pytest.mark.xdist_group("programs")
@pytest.mark.usefixtures("both")
def test_podman_builds_of_the_sdist_what_docker_builds_of_the_clone(sdist: Path) -> None:
    """One image of each base, under another umask."""
    build_once("docker", *OF_EACH_BASE)
    names = ["touche", "images", "build", *OF_EACH_BASE, "--runner", "podman"]
    python = [sys.executable, "-P", "-m", *names]
    environment = os.environ | {"PYTHONPATH": str(sdist / "src")}
    subprocess.run(python, cwd=sdist, env=environment, check=True, umask=0o002)
    for name in OF_EACH_BASE:
        first = digest("docker", f"touche/{name}")
        assert first.digest == digest("podman", f"touche/{name}").digest, name


def everything(program: str) -> set[str]:
    """The ids and names of all images, also unnamed ones, and of all containers."""
    images = output_of(program, "images", "--all", "--format", "{{.ID}} {{.Repository}}")
    containers = output_of(program, "ps", "--all", "--format", "{{.ID}} {{.Names}}")
    return {*images.splitlines(), *containers.splitlines()}


@pytest.mark.nightly
@pytest.mark.xdist_group("programs")
@pytest.mark.parametrize("program", ["docker", "podman"])
def test_a_verification_leaves_no_image_and_no_container(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if program not in programs():
        pytest.skip(f"needs a running {program}: install and start it")
    commit = COMMIT  # tests may run in a clone with changes
    folder = Path(shutil.copytree(ROOT / "baselines" / "bm25", tmp_path / "mine"))
    dockerfile = folder / "Dockerfile"
    text = dockerfile.read_text().replace("bm25", "mine")
    dockerfile.write_text(
        text.replace("ARG REVISION\n", "RUN apt --version > /apt\nRUN date +%N > /time\nARG REVISION\n")
    )
    monkeypatch.setattr(verification, "origin", lambda folder, has_run: {"revision": commit})
    monkeypatch.setattr(
        "touche.runners.image_builds.origin", lambda folder: {"revision": commit, "source": "unknown"}
    )
    verification.build(program, [str(folder)], print)
    try:
        before = everything(program)
        result = verify(program, str(folder), print)
        assert result.answer == DIFFERENT and result.difference.startswith("the layer date ")
        assert result.unpinned == ["apt --version > /apt"]
        assert everything(program) == before
    finally:
        output_of(program, "image", "rm", "--force", "touche/mine")
