"""Fixtures of the tests: a workspace, small files, and official data if it is available."""

import fcntl
import gzip
import logging
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import random_examples  # noqa: F401 (registers the profiles that --hypothesis-profile names)
from touche import cli
from touche.data import places
from touche.io import origin

# Test files import helpers from these plugins before pytest loads them, which would be too late.
pytest.register_assert_rewrite("browsers", "engines", "made_up_reports", "small_clone")

ROOT = Path(__file__).parents[1]
_shipped = places.shipped  # itself, because tests replace it
Write = Callable[[str, str | bytes], Path]
Touche = Callable[..., tuple[int, str, str]]

# For pytest-timeout, in seconds. It is not in pyproject.toml: pytest reads that file also for the test of a
# baseline in a clone, where pytest-timeout may be missing.
os.environ.setdefault("PYTEST_TIMEOUT", "900")

# ir_datasets makes a folder when it is imported, and the home may be read-only.
if "IR_DATASETS_HOME" not in os.environ:
    ir_datasets_home = TemporaryDirectory(prefix="touche-tests-")
    os.environ["IR_DATASETS_HOME"] = ir_datasets_home.name


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Names a long value, or one of bytes, after its argument: ids have to be the same in every process."""
    is_long = isinstance(val, str | int) and len(ascii(val)) > 50
    return argname if is_long or isinstance(val, bytes) else None


@pytest.fixture(autouse=True)
def in_the_clone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Tests run in the clone, see only the data that they request, and do not touch the user's cache."""
    logging.getLogger("touche").setLevel(logging.NOTSET)  # --verbose of an earlier test is over
    monkeypatch.chdir(ROOT)
    for variable in ("TOUCHE_DATA", "inputDataset", "outputDir", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # set where a hook of git runs the tests
        monkeypatch.delenv(variable, raising=False)
    for variable in ("no_proxy", "NO_PROXY"):  # the tests' servers are here
        monkeypatch.setenv(variable, "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(places, "exists", _exists_unless_fetched)
    yield
    _shipped.cache_clear()  # the next test may have another clone


def _exists_unless_fetched(path: Path) -> bool:
    """Hides what ``touche data fetch`` has put into the clone, where .gitignore excludes it."""
    is_fetched = path.parent.resolve().parent == ROOT and not path.name.startswith("spot-check")
    return os.path.exists(path) and not is_fetched  # noqa: PTH110 (Path.exists raises without access)


def use_clone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretends that the package was installed from a folder, here and in processes of a test."""
    (folder / "src").symlink_to(ROOT / "src")
    monkeypatch.setattr(origin, "__file__", str(folder / "src" / "touche" / "io" / "origin.py"))
    places.shipped.cache_clear()
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    monkeypatch.chdir(folder)


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes files by their names, gzipped if the names say so, and returns the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file in the temporary directory, gzipped if its name says so, and returns its path."""
    return lambda name, content: write_files(tmp_path, {name: content}) / name


@pytest.fixture
def touche(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Touche:
    """Runs the command in this process; returns exit code, standard output and standard error."""

    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # the command sets its own

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["touche", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        out, err = capsys.readouterr()
        return int(exit_info.value.code or 0), out, err

    return call


def git(folder: Path, *arguments: str) -> str:
    """Returns the output of a command of git, with a made-up author who signs nothing."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def wait_for(condition: Callable[[], object]) -> object:
    """Returns the first true value of a condition, or its last value after half a minute."""
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def left_in(temporary: Path) -> list[Path]:
    """Returns the files in a folder named in TMPDIR."""
    return [*temporary.rglob("*")]


def on_terminal(*arguments: str | Path, columns: int = 100, **variables: str) -> str:
    """Returns Python's output for these arguments on a terminal, standard output and error together."""
    our_end, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    own = ("COLUMNS", "LINES", "NO_COLOR")
    ours = {name: value for name, value in os.environ.items() if name not in own}
    environment = {**ours, "TERM": "xterm-256color", **variables}  # pytest-xdist sets 80 columns
    command = [sys.executable, *map(str, arguments)]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment):
        os.close(its)
        return b"".join(_read_until_closed(our_end)).decode()


def _read_until_closed(terminal: int) -> Iterator[bytes]:
    try:
        while content := os.read(terminal, 1 << 16):
            yield content
    except OSError:  # Linux's error when no process can write to it any more
        pass
    finally:
        os.close(terminal)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that one process of pytest-xdist makes, while the others wait; no test may change it."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / name
    with (shared / f"{name}.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.fstat(lock.fileno()).st_size:  # it stays empty until the folder is complete
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            lock.write("made")
    return folder


@pytest.fixture(scope="session")
def after_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the clone after ``make demo``, with its output in demo.txt; tests copy it."""
    from pages import type_in, workspace  # which need this module

    def make(folder: Path) -> None:
        (workspace(folder) / "demo.txt").write_text(type_in(folder, "make demo"), encoding="utf-8")

    return made_once(tmp_path_factory, "demo", make)


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
