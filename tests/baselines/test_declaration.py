"""Options and help of a baseline, read without running its code."""

from pathlib import Path

import pytest

from conftest import Touche, Write
from touche import baselines
from touche.baselines import declaration

TELLTALE = "'\\d'\nfrom pathlib import Path\nPath('was-run').touch()\n"
SOURCE = """from typing import Literal
import touche
MODELS = Literal["a", "b"]
K = 3
PAIR = (K, "x")

@touche.baseline(needs_documents=False)
def mine(topics, documents, *, k: int = K, pair=PAIR, model: "MODELS" = "b", low: float = -1.5, on=True,
         weights: tuple[float, int] = (1, 2), maybe: int | None = 4, depth: int = 10 * 100,
         share=1 / -K + 2 ** 3 - 1, several: tuple[float, ...] = (0.5, -K), one: tuple[str] = ("a",)):
    '''Ranks.

    k: the number.
    '''
    yield from ()
"""


@pytest.mark.parametrize("name", baselines.names())
def test_what_a_shipped_baseline_declares_is_what_it_is(name: str) -> None:
    declared = baselines.declared(name)
    loaded = baselines.load(name)
    assert declared and declared.options == loaded.options
    for attribute in ("name", "description", "option_help", "line", "folder", "is_shipped", "typed"):
        assert getattr(declared, attribute) == getattr(loaded, attribute)


def test_constants_choices_and_tuples_are_read_as_python_does(write: Write) -> None:
    folder = str(write("mine/baseline.py", SOURCE).parent)
    declared = baselines.declared(folder)
    loaded = baselines.load(folder)
    assert declared and (declared.option_help, declared.line) == (loaded.option_help, loaded.line)
    types = {name: option.annotation for name, option in declared.options.items() if name != "maybe"}
    assert types == {name: option.annotation for name, option in loaded.options.items() if name != "maybe"}
    defaults = {name: option.default for name, option in declared.options.items()}
    assert defaults == {name: option.default for name, option in loaded.options.items()}


@pytest.mark.parametrize(
    "change",
    [
        ("K = 3", "K = 3 + open('x').fileno()"),
        ("K = 3", "K = 3\nK += 1"),
        ("K = 3", "from os import EX_OK as K"),
        ("K = 3", "K = K"),
        ("K = 3", "K = 1 / 0"),
        ("K = 3", "K = 9 ** 9 ** 9"),
        ("K = 3", "K = 10.0 ** 99 * 10 ** 99 ** 2"),
        ("K = 3", "K = 'a' * 9 ** 9"),
        ("= -1.5", "= None"),
        ("= -1.5", ""),
        ('"MODELS"', '"Unknown"'),
        ("@touche.baseline", "@print\n@touche.baseline"),
        ("@touche.baseline(needs_documents=False)", ""),
        ("import touche", "import touche\n@touche.baseline\ndef other(topics, documents): ..."),
    ],
    ids=range(14),
)
def test_what_only_python_knows_is_left_to_it(write: Write, change: tuple[str, str]) -> None:
    assert change[0] in SOURCE
    assert baselines.declared(str(write("mine/baseline.py", SOURCE.replace(*change)).parent)) is None


@pytest.mark.parametrize(
    ("source", "offered"),
    [(TELLTALE + SOURCE, "--low"), (TELLTALE + SOURCE.replace("K = 3", "K = int('3')"), "dir,--l")],
    ids=["declared", "computed"],
)
def test_completion_in_a_downloaded_folder_runs_none_of_its_code(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, offered: str
) -> None:
    for name in ("bm25", "baselines/bm25"):
        write(f"{name}/baseline.py", source)
    (tmp_path / "topics").mkdir()
    for typed in ("bm25", "./bm25", "./baselines/bm25"):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("_TOUCHE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", f"touche run {typed} --l")
        monkeypatch.setenv("COMP_CWORD", "3")
        assert touche()[1].strip().removeprefix("plain,") == ("" if typed == "bm25" else offered)
        assert not list(tmp_path.rglob("was-run"))


def test_help_of_a_folder_runs_none_of_its_code(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("mine/baseline.py", f"import no_such_package\n{TELLTALE}{SOURCE}")
    monkeypatch.chdir(tmp_path)
    code, out, _ = touche("run", "./mine", "--help")
    assert code == 0 and "the number." in out and "[a|b]" in out
    command = ("run", "./mine", "-i", "spot-check/passages", "-o", "out")
    assert touche(*command)[0] == 2  # for now it is imported
    assert touche(*command, "--k", "x")[2].startswith("touche: Invalid value for '--k'")
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("runner", ["docker", "podman", "tira"])
def test_code_whose_defaults_are_computed_is_not_run_for_a_container(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: str
) -> None:
    write("mine/baseline.py", TELLTALE + SOURCE.replace("K = 3", "K = int('3')"))
    monkeypatch.chdir(tmp_path)
    command = ("run", "./mine", "-i", "spot-check/passages", "-o", "out")
    code, _, err = touche(*command, "--runner", runner, "--low", "1")
    assert code == 2 and err.startswith("touche: mine/baseline.py: ") and "literal" in err
    assert not (tmp_path / "was-run").exists()
    assert touche(*command)[0] == 0 and (tmp_path / "was-run").exists()


@pytest.mark.parametrize(
    ("base", "extra"),
    [
        ("touche/lucene", "lucene"),
        ("touche/models:1 AS a", "models"),
        ("registry:5000/touche/lucene@sha256:0", "lucene"),
        ("ghcr.io/me/touche-fork/models:0.1.0", "models"),
        ("ghcr.io/me/models:1", ""),
        ("my-touche/lucene", ""),
        ("touche/lucene-9", ""),
    ],
)
def test_an_extra_is_that_of_a_base_image_of_this_project(
    write: Write, monkeypatch: pytest.MonkeyPatch, base: str, extra: str
) -> None:
    monkeypatch.setattr(declaration, "find_spec", lambda name: None)
    write("mine/baseline.py", SOURCE)
    folder = str(write("mine/Dockerfile", f"FROM {base}\n").parent)
    assert declaration.extra_in_dockerfile(folder) == extra
    assert baselines.missing_extra(folder) == ""  # an image of one's own may have other packages
    assert baselines.missing_extra("elrond") == "lucene"
