import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
import yaml

import touche
from conftest import ROOT, Touche, Write, write_files
from neighbours import neighbour
from reading import read_argsme_json
from touche import Documents, Rankings, Topics, baseline, baselines, run
from touche.baselines import as_arguments
from touche.baselines.method import run_tag
from touche.documents import pieces
from touche.documents.document_records import Document
from touche.errors import ToucheError
from touche.runners.image_builds import check_name
from touche.scan import reading
from touche.trec.topics import Topic, read_topics

TOPICS = read_topics(ROOT / "topics" / "spot-check-arguments.xml")
ARGUMENTS = list(read_argsme_json(ROOT / "corpora" / "spot-check-arguments" / "args-me.json"))


def test_rank_bm25_needs_a_shared_word_not_a_positive_score() -> None:
    cats = [Document(letter, "cats") for letter in "abc"]
    ((_, hits),) = baselines.load("rank-bm25")([Topic("1", "Cats")], [*cats, Document("d", "")], depth=2)
    assert [document for document, _ in hits] == ["c", "b"] and hits[0][1] < 0
    ((_, hits),) = baselines.load("rank-bm25")([Topic("1", "Cats")], [Document("d", "…")])
    assert hits == []


@baseline
def longest_first(
    topics: Topics, documents: Documents, *, depth: int = 2, unit: Literal["letters", "words"] = "letters"
) -> Rankings:
    """Ranks by length.

    depth, other: no line on options, as there is no other.
    unit: what is counted.
    """
    lengths = [
        (document.id, float(len(document.text if unit == "letters" else document.text.split())))
        for document in documents
    ]
    for topic in topics:
        yield topic, sorted(lengths, key=lambda hit: -hit[1])[:depth]


def test_a_baseline_knows_its_name_options_and_tag() -> None:
    assert longest_first.description.startswith("Ranks by length.\n\ndepth, other: no line on options")
    assert longest_first.option_help == {"unit": "what is counted."}
    tag = longest_first.tag({"depth": 3, "unit": "all words"})
    assert tag == "touche-longest-first-depth=3-unit=all_words"
    assert run_tag("dense", {"keep_embeddings": "/tmp/e", "depth": 3}) == "touche-dense-depth=3"


SOURCE = "from touche import baseline\n@baseline\ndef mine(topics, documents):\n    yield from ()\n"


NEIGHBOUR = """from touche import baseline
from .features import WORD
@baseline
def mine(topics, documents):
    for topic in topics:
        yield topic, [(WORD, 1.0)]
        from . import later
        assert later.WORD == WORD
"""


def words(method: baselines.Baseline) -> list[str]:
    return [document for _, hits in method(TOPICS[:2], []) for document, *_ in hits]


@pytest.mark.parametrize(
    ("module", "more"),
    [
        pytest.param("features", {}, id="module"),
        pytest.param("text.words", {}, id="in a folder"),
        pytest.param("text.words", {"text/__init__.py": ""}, id="in a package"),
    ],
)
def test_each_baseline_imports_its_own_neighbours_whenever_it_does(
    tmp_path: Path, module: str, more: dict[str, str]
) -> None:
    for name in ("one", "two"):
        own = {
            f"{module.replace('.', '/')}.py": f"WORD = {name!r}",
            "later.py": f"from .{module} import WORD",
        }
        write_files(tmp_path / name, {"baseline.py": NEIGHBOUR.replace("features", module), **own, **more})
    one, two = (baselines.load(str(tmp_path / name)) for name in ("one", "two"))
    both = zip(one(TOPICS[:2], []), two(TOPICS[:2], []), strict=True)
    mixed = [document for pair in both for _, hits in pair for document, *_ in hits]
    assert mixed == ["one", "two"] * 2
    assert words(one) == ["one"] * 2
    assert not [entry for entry in sys.path if str(tmp_path) in entry]


def test_threads_that_load_and_run_two_baselines_do_not_mix_their_neighbours(
    write: Write, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        slow = f"import time\ntime.sleep(0.01)\nWORD = {name!r}"
        files = {"features.py": slow, "later.py": "from .features import WORD"}
        write_files(tmp_path / name, {"baseline.py": NEIGHBOUR, **files})

    def run(number: int) -> tuple[str, set[str]]:
        name = ("one", "two")[number % 2]
        write(f"{name}/data.txt", str(number))  # so that the code is loaded anew
        return name, {*words(baselines.load(str(tmp_path / name)))}

    with ThreadPoolExecutor(4) as pool:
        assert all(names == {name} for name, names in pool.map(run, range(40)))


READING = """from pathlib import Path
from touche import baseline
from .text import words
from .features import WORD

DATA = (Path(__file__).parent / "data" / "words.txt").read_text()

@baseline
def mine(topics, documents):
    yield topics[0], [(WORD + words.WORD + DATA, 1.0)]
"""


@pytest.mark.parametrize("file", ["features.py", "text/words.py", "data/words.txt"])
def test_a_neighbour_and_its_data_are_loaded_anew_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """Also a change of the same size in the same second, which compiled files do not notice."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    files = {
        "baseline.py": READING,
        "features.py": "WORD = 'a'",
        "text/words.py": "WORD = 'a'",
        "data/words.txt": "a",
    }
    folder = write_files(tmp_path / "mine", files)
    before = baselines.load(str(folder))
    assert words(before)[0] == "aaa" and baselines.load(str(folder)).method is before.method
    write_files(folder, {file: "WORD = 'b'" if file.endswith(".py") else "b"})
    assert sorted(words(baselines.load(str(folder)))[0]) == ["a", "a", "b"]
    assert not list(folder.rglob("__pycache__"))
    assert words(before)[0] == "aaa"


def test_a_change_behind_a_link_to_a_folder_is_noticed(tmp_path: Path) -> None:
    shared = write_files(tmp_path / "shared", {"words.py": "WORD = 'a'", "deep/x.txt": "x", "loop": ""})
    (shared / "loop").unlink()
    (shared / "loop").symlink_to(shared)
    source = {"baseline.py": READING, "features.py": "WORD = 'a'", "data/words.txt": "a"}
    folder = write_files(tmp_path / "mine", source)
    (folder / "text").symlink_to(shared)
    before = baselines.load(str(folder))
    assert words(before)[0] == "aaa" and baselines.load(str(folder)).method is before.method
    write_files(shared, {"words.py": "WORD = 'bb'"})
    assert words(baselines.load(str(folder)))[0] == "abba"


def test_modules_of_subfolders_and_with_the_names_of_libraries_are_imported_relatively(
    tmp_path: Path,
) -> None:
    files = {
        "baseline.py": "import yaml as library\nfrom . import yaml\nfrom .text.words import WORD\n" + SOURCE,
        "yaml.py": "OWN = 1",
        "text/words.py": "from ..yaml import OWN\nfrom ..features import WORD",
        "features.py": "WORD = 'own'",
    }
    loaded = baselines.load(str(write_files(tmp_path / "mine", files))).method.__globals__
    assert (loaded["WORD"], loaded["yaml"].OWN) == ("own", 1) and loaded["library"].dump(1)


def test_two_baselines_with_an_api_module_are_used_in_one_process() -> None:
    argsme = neighbour("argsme", "api")
    chatnoir = neighbour("chatnoir-bm25f", "api")
    assert argsme is not chatnoir and hasattr(chatnoir, "KEY") and not hasattr(argsme, "KEY")
    assert neighbour("argsme", "api") is argsme
    for name, part in (("argsme", "arguments"), ("chatnoir-bm25f", "pages"), ("argsme", "arguments")):
        assert len(run(name, f"spot-check/{part}")) > 0


PARALLEL = """import logging
from functools import partial
from touche import Documents, Rankings, Topics, baseline, scan
from .features import shout

def whisper(suffix, document):
    return document.text.lower() + suffix

@baseline
def mine(topics, documents):
    fields = {"loud": shout, "quiet": partial(whisper, "")}
    yield from scan.rank(topics, documents, scan.dph, analysis="english", fields=fields)
"""


def test_two_processes_that_read_a_collection_import_the_functions_of_a_folder(
    write: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = str(write("mine/baseline.py", PARALLEL).parent)
    write("mine/features.py", "def shout(document):\n    return document.text.upper()\n")
    expected = run(folder, "spot-check/passages")
    monkeypatch.setattr(pieces, "SIZE", 100)
    monkeypatch.setattr(reading, "_MIN_PIECES", 4)
    monkeypatch.setattr(reading, "processors", lambda: 2)
    caplog.set_level("DEBUG", "touche")
    assert run(folder, "spot-check/passages").text() == expected.text()
    assert "by 2 of 2 processors" in caplog.text and "only one process" not in caplog.text


POOL = """import multiprocessing
from pathlib import Path
from touche import baseline, load
from .features import shout

@baseline
def mine(topics, documents):
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(1, initializer=load, initargs=(str(Path(__file__).parent),)) as pool:
        for topic in topics:
            yield topic, [(pool.apply(shout, ("a",)), 1.0)]
"""


def test_processes_that_a_baseline_starts_import_its_modules_after_load(write: Write, tmp_path: Path) -> None:
    write("mine/baseline.py", POOL)
    write("mine/features.py", "def shout(text):\n    return text.upper()\n")
    command = [sys.executable, "-m", "touche", "run", "./mine", "-i", "spot-check/passages", "-o", "out"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    assert (tmp_path / "out" / "run.txt").read_text().split()[2] == "A"


def test_the_metadata_lists_the_libraries_that_the_modules_of_a_folder_import(
    write: Write, tmp_path: Path
) -> None:
    own = "from touche import baseline\nfrom . import features\n" + SOURCE.partition("\n")[2]
    folder = write("mine/baseline.py", own.replace("yield from ()", "yield topics[0], [('a', 1.0)]")).parent
    write("mine/features.py", "import json\nfrom yaml import dump\n")
    write("mine/test_baseline.py", "import pytest\n")
    touche.write_run(folder, "spot-check/passages", tmp_path / "out")
    record = yaml.safe_load((tmp_path / "out" / "ir-metadata.yml").read_text())
    named = {library.partition("==")[0].lower() for library in record["platform"]["software"]["libraries"]}
    assert "pyyaml" in named and not named & {"json", "pytest", "features"}


CANNOT = "cannot be loaded"
UNLOADABLE = {
    "1 / 0": f"baseline.py:1: {CANNOT} (ZeroDivisionError: division by zero)",
    "def f(:": f"baseline.py:1: {CANNOT} (SyntaxError: invalid syntax (baseline.py, line 1))",
    "-" * 100_000 + "3": f"baseline.py: {CANNOT} (",
    "'\0'": f"baseline.py: {CANNOT} (",
    "\nfrom . import broken": f"broken.py:2: {CANNOT} (NameError: name 'nothing' is not defined)",
    "from . import cut": f"cut.py:1: {CANNOT} (SyntaxError: '(' was never closed (cut.py, line 1))",
    "from .features import x": f"baseline.py:1: {CANNOT} (ImportError: cannot import name 'x' from 'feat",
    "import features": "baseline.py:1: the import of features failed; its folder has features; import it rel",
    "from .text import absent": f"baseline.py:1: {CANNOT} (ImportError: cannot import name 'absent' fr",
    "from .features.x import y": "baseline.py:1: the import of features.x failed; its folder has features",
    "from .feature import x": "baseline.py:1: the import of feature failed; its folder has features",
    "from . import spoken": "spoken/__init__.py:1: the import of lexemes failed; its folder has lexemes_",
    "import no_such_library.x": "baseline.py:1: the import of no_such_library failed: it is neither in ",
    "from . import learned": "learned.py:2: the import of no_such_library failed: it is neither in",
}


NEIGHBOURS = {
    "features.py": "",
    "broken.py": "\nnothing",
    "cut.py": "f(",
    "learned.py": "\nimport no_such_library.y",
    "text/__init__.py": "",
    "spoken/__init__.py": "import lexemes",
    "spoken/lexemes_.py": "",
}


@pytest.mark.parametrize("source", UNLOADABLE, ids=range(len(UNLOADABLE)))
def test_what_cannot_be_loaded_is_named_with_its_line(tmp_path: Path, source: str) -> None:
    folder = write_files(tmp_path / "mine", {"baseline.py": source, **NEIGHBOURS})
    with pytest.raises(ToucheError) as caught:
        baselines.load(str(folder))
    message = str(caught.value)
    assert message.startswith(f"{folder}/{UNLOADABLE[source]}") and "\n" not in message
    assert ("pip install" in message) == ("no_such_library" in source or "learned" in source)


def test_a_name_is_that_of_the_clone_and_a_path_is_written_as_one(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bm25", "mine", "in/mine"):
        write(f"{name}/baseline.py", SOURCE)
    monkeypatch.chdir(tmp_path)
    shipped = ROOT / "baselines" / "bm25"
    assert baselines.baseline_folder("bm25") == shipped and baselines.load("bm25").is_shipped
    for path in ("./bm25", "bm25/", "./in/../bm25", str(tmp_path / "bm25")):
        assert baselines.load(path).folder == tmp_path / "bm25" and not baselines.load(path).is_shipped
    assert baselines.baseline_folder("in/mine").resolve() == tmp_path / "in" / "mine"
    refused = {
        "bm52": r"no baseline 'bm52'; did you mean bm25\? Or pass the path",
        "mine": r"no baseline 'mine', but a folder of this name; .* write \./mine$",
        "./in": "^in: no baseline.py in this folder",
        "./bm52": "^bm52: no such folder",
        "": "there is no baseline",
        "baselines": "there is no baseline",
    }
    for name, message in refused.items():
        with pytest.raises(ToucheError, match=message):
            baselines.load(name)
    monkeypatch.chdir(tmp_path / "mine")
    assert baselines.load(".").name == "mine"


FUTURE = """from __future__ import annotations
from dataclasses import dataclass
import touche

@dataclass
class Weights:
    title: float = 1.0

@touche.baseline
def mine(
    topics: touche.Topics, documents, *, K: int | None = 1,
    weights: tuple[float, float] = (1, 2), pair=(1, "a"),
):
    '''Ranks.

    K, pair: what is
        told in two lines,
    or three.
    weights: two of them,
    for two fields.

    It does.
    '''
    yield topics[0], [(f"{K!r}{weights!r}{pair!r}".replace(" ", ""), Weights().title)]
"""


def test_annotations_of_the_future_and_options_of_several_values(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    folder = write("mine/baseline.py", FUTURE).parent
    loaded = baselines.load(str(folder))
    both = "what is told in two lines, or three."
    assert loaded.option_help == {"K": both, "pair": both, "weights": "two of them, for two fields."}
    assert loaded.description == "Ranks.\n\n\nIt does."
    command = ("run", folder, "-i", "spot-check/passages", "-o", tmp_path / "out")
    assert touche(*command)[0] == 0
    run = tmp_path / "out" / "run.txt"
    assert run.read_text() == "11 Q0 1(1.0,2.0)(1,'a') 1 1.0 touche-mine\n"
    assert touche(*command, "--K", "3", "--weights", "0.5", "2", "--pair", "2", "b")[0] == 0
    assert run.read_text() == "11 Q0 3(0.5,2.0)(2,'b') 1 1.0 touche-mine-K=3-weights=0.5,2.0-pair=2,b\n"
    assert "'x' is not a valid integer" in touche(*command, "--pair", "x", "b")[2]
    options = {"weights": (0.5, 2.0), "pair": (2, "b"), "loud": False}
    assert as_arguments(options) == ["--weights", "0.5", "2.0", "--pair", "2", "b", "--no-loud"]


def test_what_a_method_holds_open_is_closed_with_its_rankings(write: Write, tmp_path: Path) -> None:
    body = "try:\n        yield topics[0], []\n    finally:\n        closed.append(1)"
    write("mine/baseline.py", "closed = []\n" + SOURCE.replace("yield from ()", body))
    mine = baselines.load(str(tmp_path / "mine"))
    rankings = mine(TOPICS, [])
    next(rankings)
    rankings.close()
    assert mine.method.__globals__["closed"] == [1]


def with_options(options: str) -> str:
    return SOURCE.replace("documents", f"documents, *, {options}")


OTHER = "@baseline\ndef other(topics, documents):\n    yield from ()\n"


def with_body(body: str) -> str:
    return SOURCE.replace("yield from ()", body)


REFUSED = {
    "": "0 baselines in this file; decorate one",
    SOURCE + OTHER: "2 baselines in this file; decorate one",
    with_body("pass"): "the baseline mine returned None",
    with_body("raise __import__('touche').ToucheError('no; do it')"): "touche: no; do it",
    with_body("raise SystemExit"): "mine ended the program with exit code 0 before it wrote run",
    **{
        SOURCE.replace("(topics, documents)", parameters): "baseline.py:2: the parameters of mine are not "
        for parameters in ("()", "(topics)", "(topics, documents, extra)")
    },
    with_options("no_loud=1, loud=True"): "an option cannot be called 'loud', because --no-loud is taken",
    **{
        with_options(f"{name}=1"): f"baseline.py:2: an option cannot be called {name!r}, because "
        for name in ("dataset", "output", "seconds", "time_limit", "quiet", "help")
    },
    **{
        with_options(f"k{default}"): "baseline.py:2: the default of option 'k' is not int, "
        for default in ("", "=None", "=()", "=(1, None)", "=[1]", "=((1, 2), 3)")
    },
}


@pytest.mark.parametrize("source", REFUSED)
def test_a_baseline_that_cannot_be_run_is_refused_in_one_line(
    touche: Touche, write: Write, tmp_path: Path, source: str
) -> None:
    folder = write("mine/baseline.py", source).parent
    code, _, err = touche("run", folder, "-i", "spot-check/passages", "-o", tmp_path / "out")
    assert (code, REFUSED[source] in err.splitlines()[-1]) == (2, True), err
    assert not list(tmp_path.glob("out/*"))


FAULTY = """from touche import baseline
from .helper import share
@baseline
def mine(topics, documents, *, how="by zero"):
    for topic in topics:
        yield topic, [(each.id, share(how)) for each in documents]
"""
HELPER = """def share(how):
    if how == "by zero":
        return 1 / 0
    if how == "opens":
        open("/nowhere/at all")
"""


@pytest.mark.parametrize(
    ("how", "line", "error"),
    [
        ("by zero", 3, "ZeroDivisionError: division by zero"),
        ("opens", 5, "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/at all'"),
    ],
)
def test_an_error_in_a_baseline_shows_its_own_frames_and_one_line(
    touche: Touche, write: Write, monkeypatch: pytest.MonkeyPatch, how: str, line: int, error: str
) -> None:
    tmp_path = write("mine/baseline.py", FAULTY).parents[1]
    write("mine/helper.py", HELPER)
    monkeypatch.chdir(tmp_path)
    command = ("run", "./mine", "-i", "spot-check/passages", "-o", "out", "--how", how)
    code, _, err = touche(*command)
    frames = re.findall(r'^  File "(.*)", line (\d+)', err, flags=re.MULTILINE)
    listed = [(f"{tmp_path}/mine/baseline.py", "6"), (f"{tmp_path}/mine/helper.py", str(line))]
    # Until Python 3.11 a comprehension has a frame of its own.
    assert (code, list(dict.fromkeys(frames))) == (1, listed)
    remedy = "repair it, or see all frames with --verbose"
    assert err.splitlines()[-1] == f"touche: mine/helper.py:{line}: {error}; {remedy}"
    assert not (tmp_path / "out" / "run.txt").exists()
    code, _, err = touche(*command, "--verbose")
    assert code == 1 and "baselines/method.py" in err and err.count('  File "') > 6


def test_documents_need_not_be_there_for_a_baseline_that_says_so(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    source = SOURCE.replace("@baseline", "@baseline(needs_documents=False)")
    write("in/queries.jsonl", '{"qid": "1", "query": "cats"}')
    command = ("run", tmp_path / "mine", "-i", tmp_path / "in", "-o", tmp_path / "out")
    for text in (SOURCE, source.replace("yield from ()", "yield topics[0], [(list(documents), 1.0)]")):
        write("mine/baseline.py", text)
        assert "in: no documents in this" in touche(*command)[2]
    write("mine/baseline.py", source.replace("yield from ()", "yield topics[0], [('a', 1.0)]"))
    assert touche(*command)[0] == 0 and (tmp_path / "out" / "run.txt").exists()


def test_a_folder_with_the_name_of_a_shipped_baseline_is_told_from_it(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("bm25/baseline.py", SOURCE)
    write("bm25/Dockerfile", "FROM touche/base\nCOPY *.py /opt/baselines/bm25/\n")
    monkeypatch.chdir(tmp_path)
    command = ("-i", "spot-check/passages", "-o", "out")
    assert "warning: ./bm25 has the name of a shipped baseline" in touche("run", "./bm25", *command)[2]
    assert "warning" not in touche("run", "bm25", *command)[2]
    with pytest.raises(ToucheError, match="would replace touche/bm25"):
        check_name(tmp_path / "bm25")
    check_name(ROOT / "baselines" / "bm25")
