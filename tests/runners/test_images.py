"""What images are made of, by which they are known to be older than their files."""

import os
import re
import shutil
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from conftest import ROOT, Write, write_files
from engines import Engine
from touche.baselines.baseline_files import files_in
from touche.baselines.starter import write_baseline
from touche.errors import ToucheError
from touche.io import progress
from touche.runners import baseline_images, container_runs, image_builds
from touche.runners.programs import Log
from touche.tira.provenance import DATASET_VARIABLE, PROJECT

pytest_plugins = ["engines"]


Release = Callable[..., None]


@pytest.fixture
def no_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images are built as by an installed package, whose baselines are still those of the clone."""
    monkeypatch.setattr(image_builds, "clone", lambda: None)


@pytest.fixture
def release(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Release:
    """Installs the metadata of version 1.2.3 of the package, with these addresses."""
    folder = tmp_path_factory.mktemp("site-packages")
    metadata = folder / f"{PROJECT.replace('-', '_')}-1.2.3.dist-info" / "METADATA"
    metadata.parent.mkdir()
    monkeypatch.syspath_prepend(folder)

    def install(*addresses: str) -> None:
        lines = [f"Name: {PROJECT}", "Version: 1.2.3", *(f"Project-URL: {address}" for address in addresses)]
        metadata.write_text("\n".join(["Metadata-Version: 2.4", *lines, ""]))

    install()
    return install


TASK_PAGES = "Homepage, https://touche.webis.de"
ON_GITHUB = "Source, https://github.com/Team/Fork"


def test_a_released_package_knows_where_its_images_are_and_a_clone_builds_on_its_own_base(
    release: Release, request: pytest.FixtureRequest
) -> None:
    release(TASK_PAGES, ON_GITHUB, "Base image, https://ghcr.io/team/fork/base@sha256:12")
    assert image_builds.base_image() == "touche/base"
    request.getfixturevalue("no_clone")
    assert image_builds.base_image() == "ghcr.io/team/fork/base:1.2.3@sha256:12"
    release()
    assert image_builds.published_image("bm25") == "" and image_builds.base_image() == "touche/base"
    release(TASK_PAGES, "Source, https://example.org/a/b")
    assert image_builds.published_image("bm25") == ""  # only of GitHub it is known where images are
    release(TASK_PAGES, ON_GITHUB)
    assert image_builds.published_image("bm25") == "ghcr.io/team/fork/bm25:1.2.3"
    assert image_builds.base_image() == "ghcr.io/team/fork/base:1.2.3"


@pytest.mark.usefixtures("engine", "no_clone")
def test_without_a_clone_what_is_missing_is_pulled_if_it_is_published(release: Release) -> None:
    pull = "podman pull ghcr.io/team/fork/{0}:1.2.3 && podman tag ghcr.io/team/fork/{0}:1.2.3 touche/{0}"
    for name, ask in (
        ("base", lambda: image_builds.build("podman", ["bm25"], print)),
        ("bm25", lambda: image_builds.check_image("podman", "bm25")),
    ):
        release()
        with pytest.raises(ToucheError, match=f"no image touche/{name}; build it in a clone of touche"):
            ask()
        release(ON_GITHUB)
        with pytest.raises(ToucheError, match=re.escape(f"touche/{name}; get it with: {pull.format(name)}")):
            ask()


@pytest.mark.parametrize("has_clone", [True, False])
def test_an_image_of_other_files_is_refused(
    tmp_path: Path, request: pytest.FixtureRequest, engine: Engine, has_clone: bool
) -> None:
    """Other than what is not in images, and than what runs, Python and git write into a folder."""
    if not has_clone:
        request.getfixturevalue("no_clone")
        engine.answer(images=[{"id": "1", "names": ["touche/models"], "labels": {}}])
    folder = Path(shutil.copytree(ROOT / "baselines" / "argsrank", tmp_path / "mine"))
    dockerfile = folder / "Dockerfile"
    dockerfile.write_text(dockerfile.read_text().replace("argsrank", "mine"))
    elsewhere = Path(shutil.copytree(folder, tmp_path / "a b" / "mine"))
    image_builds.build("docker", [str(folder)], print)
    unimportant = ["README.md", "expected.toml", "out/run.txt", "out/ir-metadata.yml", "__pycache__/a.pyc"]
    for name in [*unimportant, ".git/index", ".venv/a.py", "env/pyvenv.cfg", "env/a.py"]:
        write_files(folder, {name: "changed"})
        image_builds.check_image("docker", str(folder))
        image_builds.check_image("docker", str(elsewhere))  # a folder with the same files
    for name in ["Dockerfile", "lexicons/claim-words.txt", "new.py", "pyvenv.cfg", ".hidden"]:
        with (elsewhere / name).open("a") as file:
            file.write("\n")
        command = f"touche images build '{elsewhere}'"
        message = f"touche/mine was not built from the current files of {elsewhere}; build it with: {command}"
        with pytest.raises(ToucheError, match=re.escape(message)):
            image_builds.check_image("docker", str(elsewhere))
        image_builds.build("docker", [str(elsewhere)], print)
        image_builds.check_image("docker", str(elsewhere))
    (elsewhere / "new.py").chmod(0o755)
    with pytest.raises(ToucheError, match="was not built from the current files"):
        image_builds.check_image("docker", str(elsewhere))
    assert bool(engine.labels("touche/mine")["touche.bases"]) == has_clone


def test_bytes_that_are_not_utf_8_are_no_obstacle(tmp_path: Path, engine: Engine) -> None:
    """In names, links and any file."""
    folder = tmp_path / "mine"
    write_baseline(folder)
    name = os.fsdecode(b"n\xff")
    (folder / name).write_bytes(b"\xff")
    (folder / "link").symlink_to(name)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.write_bytes(path.read_bytes() + b"# \xff\n")
    image_builds.build("docker", [str(folder)], print)
    image_builds.check_image("docker", str(folder))
    assert len(engine.labels("touche/mine")["touche.content"]) == 16


def test_an_image_without_labels_is_refused(engine: Engine) -> None:
    engine.answer(images=[{"id": "1", "names": ["touche/bm25"], "labels": None}])
    with pytest.raises(ToucheError, match=r"touche/bm25 was not built from .* build bm25 --runner podman"):
        image_builds.check_image("podman", "bm25")


@pytest.mark.usefixtures("engine")
def test_a_newer_version_of_a_base_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("src", "docker"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(image_builds, "clone", lambda: tmp_path)
    for name, is_sent in {
        "docker/base.txt": True,
        "src/touche/errors.py": True,
        "README.md": False,
        "src/touche/__pycache__/files.pyc": False,
        "src/touche/new.so": False,
    }.items():
        image_builds.build("docker", ["bm25"], print)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with (tmp_path / name).open("a") as file:
            file.write("\n")
        caplog.clear()
        image_builds.check_image("docker", "bm25")
        assert bool(caplog.records) == is_sent, name


@pytest.mark.parametrize("umask", [0o002, 0o077])
def test_what_is_sent_does_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        folder = tmp_path / "mine"
        write_baseline(folder)
        (folder / "program").touch(0o777)
        (folder / "data").mkdir()
        (folder / "data" / "link").symlink_to("../baseline.py")
        with image_builds._build_context(folder, files_in(folder)) as copy:
            modes = {
                str(path.relative_to(copy)): path.lstat().st_mode & 0o777
                for path in copy.rglob("*")
                if not path.is_symlink()
            }
            assert os.readlink(copy / "data" / "link") == "../baseline.py"  # noqa: PTH115 - the text
        programs = {"program", "data", ".github", ".github/workflows"}
        assert modes == {name: 0o755 if name in programs else 0o644 for name in modes} and len(modes) > 8
    finally:
        os.umask(before)


def test_locks_have_the_versions_of_constraints_and_hashes_only() -> None:
    pins = dict(line.lower().replace("_", "-").split("==") for line in _lines("constraints.txt"))
    pins |= dict(line.split("==") for name in ("pyserini.txt", "minilm.txt") for line in _lines(name))
    for path in (ROOT / "docker").glob("*.txt"):
        lines = [] if path.name == "unused.txt" else _lines(f"docker/{path.name}")
        for line, following in pairwise([*lines, ""]):
            package = re.fullmatch(r"([\w.-]+)==(\S+) \\", line)
            assert package or re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line), line
            if package:
                name, pinned = package.groups()
                assert pins[name] == pinned and following.startswith("    --hash"), "run: make locks"


def test_the_pinned_python_is_the_one_that_dependabot_updates() -> None:
    (image,) = re.findall("^FROM (.*)$", (ROOT / "docker/python.Dockerfile").read_text(), flags=re.MULTILINE)
    (default,) = re.findall(
        "^ARG PYTHON_IMAGE=(.*)$", (ROOT / "docker/base.Dockerfile").read_text(), flags=re.MULTILINE
    )
    assert image == default and re.fullmatch(r"python:3\.11-slim-bookworm@sha256:[0-9a-f]{64}", image), (
        "run: make locks"
    )


def _lines(name: str) -> list[str]:
    lines = (ROOT / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", image_builds.BASES)
def test_the_lock_of_a_base_has_all_packages_that_pyproject_requires(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = project["dependencies"] if name == "base" else project["optional-dependencies"][name]
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "docker" / f"{name}.txt").read_text(), flags=re.MULTILINE)
    packages = {re.split("[<>=]", requirement)[0] for requirement in required}
    assert packages - {*_lines("docker/unused.txt")} <= {*locked}, "run: make locks"


SERVER = (
    "a server does not answer; check the network, and try again, or set PYTHON_IMAGE to a Python image that"
)
REASONS = {
    "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.": "a wheel has another hash",
    "write /x: no space left on device": "the disk is full; make room",
    "manifest for python@sha256:1 not found: manifest unknown": "the registry lacks this image",
    "Get https://a.b/v2/: dial tcp: lookup a.b on 1.1.1.1:53: no such host": SERVER,
    "Error: initializing source docker://a/b: connection refused": SERVER,
    "Get https://a.b/v2/: request canceled (Client.Timeout exceeded while awaiting headers)": SERVER,
    "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution": (
        "the build cannot download; check the network, or use this machine's: BUILD_NETWORK=host"
    ),
    "invalid reference format: repository name must be lowercase": "this is not a name of an image",
}


FAILED = "The command returned a non-zero code: 1"


@pytest.mark.parametrize("line", REASONS)
def test_a_failed_build_is_one_line_with_the_reason(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    monkeypatch.delenv("BUILD_NETWORK", raising=False)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0)
    engine.answer(printed=["Step 1/2", line, FAILED], code=1)
    with pytest.raises(ToucheError, match=re.escape(f"building touche/base: {REASONS[line]}")):
        image_builds.build("docker", ["bm25"], print)
    shown = capsys.readouterr()
    assert line in shown.out and "building touche/base: 3 lines [" in shown.err  # progress, in a pipe
    (command,) = engine.calls("docker", "build")
    assert not [word for word in command if word.startswith("--network")]


def test_a_build_uses_the_network_that_the_variable_names(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_NETWORK", "host")
    engine.answer(printed=[FAILED], code=1)
    with pytest.raises(ToucheError, match="building touche/base: exit code 1"):
        image_builds.build("docker", ["bm25"], print)
    (command,) = engine.calls("docker", "build")
    assert "--network=host" in command


def test_a_build_removes_a_replaced_image_if_it_has_no_other_name(engine: Engine) -> None:
    earlier = {"id": "earlier", "names": ["touche/base"], "labels": {}}
    unchanged = {"id": "unchanged", "names": ["touche/bm25"], "labels": {}}
    removal = ["docker", "image", "rm", "earlier"]
    engine.answer(images=[earlier, unchanged], next_ids={"touche/base": "new"})
    image_builds.build("docker", ["bm25"], print)
    assert engine.calls("docker", "image", "rm") == [removal]
    earlier["names"] = ["touche/base", "touche/other"]
    engine.answer(images=[earlier, unchanged])
    image_builds.build("docker", ["bm25", "elrond"], print)
    assert engine.calls("docker", "image", "rm") == [removal]


DATASET = f"--env={DATASET_VARIABLE}="
PARTS = [
    "spot-check/passages",
    "spot-check/pairs",
    "spot-check/pages",
    "spot-check/arguments",
    "spot-check/images",
]


@pytest.mark.parametrize(
    ("expected", "works_on", "tried"),
    [
        ("spot-check/arguments spot-check/passages", "spot-check/passages", PARTS[:1]),
        ("spot-check/arguments", "spot-check/passages", PARTS[3:4]),
        ("touche-2020-task-1", "spot-check/pages", PARTS[:3]),
        (None, "nothing", PARTS),
    ],
)
def test_a_built_image_is_tried_on_the_smallest_part_that_fits(
    tmp_path: Path, write: Write, engine: Engine, expected: str | None, works_on: str, tried: list[str]
) -> None:
    """That expected.toml names, else on all parts until one fits; an image that fits none is removed."""
    folder = tmp_path / "mine"
    write_baseline(folder)
    (folder / "expected.toml").unlink()
    if expected:
        write("mine/expected.toml", "\n".join(f'dataset = "{name}"' for name in expected.split()))
    lines: list[str] = []
    image_builds.build("docker", [str(folder)], print)
    engine.answer(works_on=[works_on])
    removal = ["docker", "image", "rm", "touche/mine"]
    if works_on in tried:
        container_runs.try_image("docker", str(folder), lines.append)
        assert removal not in engine.calls()
    else:
        message = f"touche/mine fails on {tried[0]}, so it was removed: mine: exit code 2: no {tried[0]}"
        with pytest.raises(ToucheError, match=message):
            container_runs.try_image("docker", str(folder), lines.append)
        assert removal in engine.calls()
    variables = [word for call in engine.calls("docker", "run") for word in call]
    assert [word.removeprefix(DATASET) for word in variables if word.startswith(DATASET)] == tried
    assert lines.count("a line of the container") == len(tried) - (works_on in tried)


FETCHING = [
    "ADD http://127.0.0.1:1/s /s",
    "add https://a.example/s /s",
    "\tADD --chown=1:2 http://a.example/s /s",
    "ADD --checksum=sha256:1 http://a.example/s /s",
    "ADD a.txt http://a.example/s /s",
    'ADD ["http://a.example/s", "/s"]',
    'ADD["http://a.example/s", "/s"]',
    'ADD ["\\u0068ttp:\\u002f/a.example/s", "/s"]',
    "ADD \\\n  http://a.example/s /s",
    "AD\\\nD http://a.example/s /s",
    "ADD \\  \n# a comment\n\n  http://a.example/s /s",
    "# escape=`\nADD `\n http://a.example/s /s",
    "RUN <<END\necho \\\nEND\nADD http://a.example/s /s",
    "ADD <<END /s\nEND",
    "ONBUILD ADD http://a.example/s /s",
    "onbuild \\\n add http://a.example/s /s",
    "ADD $ADDRESS /s",
    "ADD ${ADDRESS} /s",
    "ADD git@a.example:x.git /s",
    "ADD github.com/a/b /s",
    "# syntax=127.0.0.1:5000/frontend",
    "#SYNTAX = a.example/frontend",
    "// syntax=a.example/frontend",
    "#!/bin/sh\n# syntax=a.example/frontend",
    '{"syntax": "a.example/frontend"}',
    "FROM localhost:5000/x",
    "FROM --platform=linux/amd64 127.0.0.1/x",
    "COPY --from=127.0.0.1:5000/x /a /b",
    "ARG BASE=[::1]:5000/x",
    "RUN --mount=type=bind,from=0.0.0.0:5000/x true",
]
HARMLESS = """# syntax=docker/dockerfile:1
# ADD http://a.example/s /s
ADD --chown=1:2 words.tar.gz *.txt /opt/
RUN add-apt-repository ppa:a/b && { curl http://a.example/s; } \\
    # a comment
    && git clone https://github.com/a/b
LABEL source=http://127.0.0.1:80/x
ARG OTHER=ghcr.io/a/localhost:5000/b
COPY --from=localhost/touche/base /a /b
"""


@pytest.mark.parametrize("line", FETCHING)
def test_a_dockerfile_that_makes_the_engine_fetch_addresses_is_refused(
    tmp_path: Path, engine: Engine, line: str
) -> None:
    """The engine would fetch them in the machine's network, where servers listen for nobody else."""
    file = tmp_path / "mine" / "Dockerfile"
    write_baseline(file.parent)
    text = file.read_text()
    file.write_text(HARMLESS + text)
    image_builds.build("docker", [str(file.parent)], print)
    builds = engine.calls("docker", "build")
    file.write_text(f"{line}\n{text}" if line[:1] in "#/{" else f"{text}\n{line}\n")
    with pytest.raises(ToucheError, match=r"/Dockerfile: .*; (use COPY|remove|pull|start it with)"):
        image_builds.build("docker", [str(file.parent)], print)
    assert engine.calls("docker", "build") == builds


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", ["Dockerfile", "baseline.py", "more.py"])
def test_links_out_of_the_folder_are_refused_by_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "mine"
    write_baseline(folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes((folder / name).read_bytes() if (folder / name).exists() else b"")
    for target in ("../elsewhere", elsewhere, folder / "README.md"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        with pytest.raises(ToucheError, match=f"/{name}: a link to .*links out of the folder are not sent"):
            image_builds.build("docker", [str(folder)], print)
    (folder / name).unlink()
    (folder / "real").write_bytes(elsewhere.read_bytes())
    (folder / name).symlink_to("real")
    image_builds.build("docker", [str(folder)], print)


def test_two_folders_with_one_name_are_refused_before_anything_is_built(
    tmp_path: Path, engine: Engine
) -> None:
    engine.answer(works_on=PARTS)
    for parent in ("a", "b"):
        (tmp_path / parent).mkdir()
        write_baseline(tmp_path / parent / "mine")
    folders = [str(tmp_path / parent / "mine") for parent in ("a", "b")]
    message = "a/mine: its image and that of .*b/mine would both be touche/mine; rename"
    with pytest.raises(ToucheError, match=message):
        baseline_images.build_images(folders)
    with pytest.raises(ToucheError, match="would both be"):
        baseline_images.build_images(["bm25", *folders])
    assert not engine.calls("docker", "build") and not engine.calls("docker", "run")
    baseline_images.build_images([folders[0], folders[0]])
    assert len(engine.calls("docker", "run")) == 1


@pytest.mark.usefixtures("engine")
def test_a_trial_takes_minutes_in_all(monkeypatch: pytest.MonkeyPatch, write: Write) -> None:
    now = [0.0]
    limits: list[float] = []

    def hang(job: container_runs.Job, limit: container_runs.Limits, log: Log) -> None:
        limits.append(limit.seconds)
        now[0] += min(limit.seconds, 200)
        raise ToucheError("it hangs")

    monkeypatch.setattr(container_runs.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(container_runs, "RUNNERS", {"docker": hang})
    folder = write("mine/baseline.py", "").parent
    with pytest.raises(ToucheError, match="was removed: it was stopped after 5 minutes on the toy coll"):
        container_runs.try_image("docker", str(folder), print)
    assert limits == [300, 100]
