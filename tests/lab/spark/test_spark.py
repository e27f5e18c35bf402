"""Runs on a small cluster with two workers, compared with runs on one machine."""

import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from archives import record
from conftest import ROOT, Touche, Write, write_files
from touche.documents.discovery import find
from touche.io.opening import md5
from touche.lab.spark import inputs, shipping
from touche.lab.spark.session import started
from touche.lab.spark.spark_collection import SparkDocuments
from touche.scan.reading import Reading

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]  # one cluster for all
MASTER = "local-cluster[2,1,1024]"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for Java that lives for a minute
Same = Callable[..., str]

# A participant's folder: modules, data, a lambda as a field, a model that closes over an option.
BASELINE = """
from pathlib import Path

from touche import Documents, Rankings, Topics, baseline, scan

from .helper.models import weighted

WORDS = (Path(__file__).parent / "words.txt").read_text().split()


@baseline
def own(topics: Topics, documents: Documents, *, power: float = 0.5, depth: int = 100) -> Rankings:
    def model(tf: scan.Array, length: scan.Array, term: scan.Term) -> scan.Array:
        return weighted(tf, length, term) ** power

    marked = lambda each: " ".join(word for word in WORDS if word in each.text)
    fields = {"all": lambda each: each.text, "marked": marked}
    yield from scan.rank(topics, documents, model, analysis="english", fields=fields, depth=depth)
"""
MODELS = "def weighted(tf, length, term):\n    return 1 + tf / length / term.df\n"
BY_ITSELF = """
from touche import Documents, Rankings, Topics, baseline


@baseline
def first(topics: Topics, documents: Documents) -> Rankings:
    yield topics[0], [(next(iter(documents)).id, 1.0)]
"""
# Fails only on workers, some lines into its own code.
FAILS = """
from touche import Documents, Rankings, Topics, baseline, scan


def text_of(document):
    return {}[document.id[:3]]


@baseline
def fails(topics: Topics, documents: Documents) -> Rankings:
    yield from scan.rank(topics, documents, scan.dph, analysis="english", fields={"text": text_of})
"""


# words.txt names what happens to the first worker that reads or scores a document.
STRUCK = """
import os, signal, subprocess
from pathlib import Path

from touche import Documents, Rankings, Topics, baseline, scan

FAULT, WHEN, MARK = (Path(__file__).parent / "words.txt").read_text().split()


def parent_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def strike(when):
    if when != WHEN or "SPARK_LOCAL_DIRS" not in os.environ or Path(MARK).exists():
        return
    try:
        with Path(MARK).open("x") as mark:  # two workers may come here at once
            mark.write(os.environ["SPARK_LOCAL_DIRS"])
    except FileExistsError:
        return
    if FAULT == "worker":
        os.kill(os.getpid(), signal.SIGKILL)
    if FAULT == "executor":
        os.kill(parent_of(os.getppid()), signal.SIGKILL)
    if FAULT == "disk":
        full = ["mount", "-t", "tmpfs", "-o", "nr_inodes=1", "full", os.environ["SPARK_LOCAL_DIRS"]]
        subprocess.run(full, check=True)


def text_of(document):
    strike("reading")
    return document.text


def model(tf, length, term):
    strike("scoring")
    return scan.dph(tf, length, term)


@baseline
def struck(topics: Topics, documents: Documents) -> Rankings:
    yield from scan.rank(topics, documents, model, analysis="english", fields={"text": text_of})
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder is viewfs://tests/data for Spark, which passes its files on as on any cluster."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def context(elsewhere: Path) -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="needs PySpark: make .venv/spark")
    if not (shutil.which("java") or "JAVA_HOME" in os.environ):
        pytest.skip("needs Java 17 or newer: install it")
    settings = {
        "spark.hadoop.fs.viewfs.mounttable.tests.link./data": f"file://{elsewhere}",
        "spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout": "1s",  # there is no third worker
        "spark.excludeOnFailure.application.maxFailedTasksPerExecutor": "1000",  # for later tests
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
    }
    with started(MASTER, "tests", settings) as session:
        yield session


@pytest.fixture
def same(
    context: Any,
    touche: Touche,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Same:
    """Compares a baseline's run on one machine with its run on the cluster."""

    @contextmanager
    def shared(master: str, name: str) -> Iterator[Any]:
        yield context

    @contextmanager
    def lasting(prefix: str) -> Iterator[Path]:  # workers fetch all folders that were ever sent
        yield tmp_path_factory.mktemp(prefix)

    monkeypatch.setattr(inputs, "started", shared)
    monkeypatch.setattr(shipping, "temporary_folder", lasting)

    def run(*arguments: str | Path, tasks: int = 2) -> str:
        wait_for_workers(context)
        monkeypatch.setattr(type(context), "defaultParallelism", tasks)
        problems = []
        for name, command, master in (("one", "run", []), ("many", "spark", ["--master", MASTER])):
            code, _, err = touche(command, *arguments, "-o", tmp_path / name, *master)
            files = [(path.name, without_times(path)) for path in sorted((tmp_path / name).glob("*"))]
            problems.append((code, files, re.sub(r"/(one|many)/run.txt in .*", "", err)))
        assert problems[1] == problems[0]
        return problems[0][2]

    return run


def wait_for_workers(context: Any) -> None:
    """Waits for both workers: one may be starting, or an earlier test may have killed it."""
    while context._jsc.sc().getExecutorMemoryStatus().size() < 3:  # with the driver
        time.sleep(0.05)


def without_times(path: Path) -> str:
    return re.sub("(start time|stop time|wallclock|used process): .*", "", path.read_text())


def folder(write: Write, name: str, **files: str) -> Path:
    for file, content in files.items():
        path = write(f"{name}/{file.replace('__', '/')}.{'txt' if file == 'words' else 'py'}", content)
    return path.parents[1] if "__" in file else path.parent


def passages(tmp_path: Path, files: int) -> Path:
    """The toy passages in several files, one of them empty and one gzipped."""
    collection = tmp_path / f"passages-in-{files}"
    collection.mkdir()
    shutil.copy(ROOT / "topics" / "spot-check-passages.xml", collection / "topics.xml")
    lines = (ROOT / "corpora" / "spot-check-passages" / "passages.jsonl").read_bytes().splitlines(True)
    for n in range(files):
        (collection / f"passages-{n}.jsonl").write_bytes(b"".join(lines[n::files]))
    (collection / "passages-x.jsonl.gz").write_bytes(gzip.compress(b""))
    return collection


def archives(write: Write, **more: bytes) -> Path:
    topics = "<topics><topic><number>1</number><title>cats or dogs</title></topic></topics>"
    write("web/topics.xml", topics)
    for archive in "abc":
        texts = ["cats", "dogs and cats", "mice"]
        pages = [record(f"{archive}{n}", f"<p>{texts[n % 3]} {'and mice ' * n}".encode()) for n in range(9)]
        write(f"web/en/{archive}.warc.gz", b"".join(pages))
    for name, content in more.items():
        write(f"web/{name}.warc", content)
    return write("web/none.txt", "").parent


@pytest.mark.parametrize("tasks", [2, 7])
def test_the_run_is_that_of_one_machine_however_many_tasks_there_are(
    same: Same, tmp_path: Path, tasks: int
) -> None:
    same("bm25", "-i", passages(tmp_path, 4), tasks=tasks)
    assert (tmp_path / "many" / "run.txt").stat().st_size > 10_000


@pytest.mark.parametrize(("baseline", "part"), [("dirichletlm", "arguments"), ("tfidf", "pairs")])
def test_baselines_of_the_repository(same: Same, baseline: str, part: str) -> None:
    same(baseline, "-i", f"spot-check/{part}")


def test_chatnoir_with_its_filters(same: Same) -> None:
    assert "the filters removed 1 of 26 pages" in same("chatnoir-bm25f", "-i", "spot-check/pages")


SAMPLES = [f"touche-{task}/sample" for task in ("2020-task-1", "2021-task-1", "2022-task-1", "2022-task-2")]
SPOT_CHECKS = [f"spot-check/{part}" for part in ("arguments", "passages", "pairs", "pages")]
EVERY = [
    (name, dataset) for dataset in SAMPLES + SPOT_CHECKS for name in ("bm25", "dirichletlm", "dph", "tfidf")
]
CHATNOIR = [
    (f"chatnoir-bm25f {options}", dataset)
    for options in ("--year 2020", "--year today --match 30%")
    for dataset in ("spot-check/pages", "touche-2022-task-2/sample")
]


@pytest.mark.nightly
@pytest.mark.parametrize(("baseline", "dataset"), EVERY + CHATNOIR)
def test_every_dataset_by_any_number_of_tasks(
    official: Path, same: Same, tmp_path: Path, baseline: str, dataset: str
) -> None:
    name, *options = baseline.split()
    for tasks in (1, 2, 7):
        same(name, "-i", dataset, *options, tasks=tasks)
        assert (tmp_path / "many" / "run.txt").stat().st_size > 500


def test_a_folder_of_a_participant_runs_unchanged(same: Same, write: Write, tmp_path: Path) -> None:
    own = folder(write, "own", words="school\nwomen", baseline=BASELINE, helper__models=MODELS)
    same(own, "-i", "spot-check/arguments", "--power", "0.25")
    own.joinpath("words.txt").write_text("animal")  # the cluster has the older one
    same(own, "-i", "spot-check/arguments")


def test_pages_are_parsed_and_what_is_broken_is_left_out_and_told_wherever_they_are(
    same: Same, touche: Touche, write: Write, tmp_path: Path, elsewhere: Path
) -> None:
    shutil.rmtree(elsewhere)
    broken = b"".join([record("x1"), record("x2", b"<p>cats cats", length=900), record("x3", b"\x00" * 99)])
    collection = archives(write, broken=broken, nothing=b"<html>")
    cut_off = collection / "en" / "b.warc.gz"
    cut_off.write_bytes(cut_off.read_bytes()[:-20])
    said = same("bm25", "-i", shutil.copytree(collection, elsewhere))
    assert "skipped 2 of 29 pages: 2 cut off, or of a wrong length; the first is x2" in said
    assert "nothing.warc has no records" in said
    _, _, far = touche("spark", "bm25", "-i", "viewfs://tests/data", "-o", tmp_path / "far")
    assert (tmp_path / "far" / "run.txt").read_bytes() == (tmp_path / "one" / "run.txt").read_bytes()
    for message in ("nothing.warc has .*", "b.warc.gz is .*", "skipped .* pages: [^;]*"):
        assert re.findall(message, far) == re.findall(message, said) != []


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ('{"id": "p1", "contents": "a"}\n{"id": "p2"}', r'passages-0\.jsonl:2: no "text"'),
        ("", r"passages-0\.jsonl: no documents in this"),
    ],
)
def test_what_is_wrong_is_said_in_the_same_words(same: Same, write: Write, lines: str, error: str) -> None:
    topics = write("in/topics.xml", "<topics><topic><number>1</number><title>a</title></topic></topics>")
    write("in/passages-0.jsonl", lines)
    assert re.search(error, same("bm25", "-i", topics.parent))


@pytest.mark.parametrize("address_format", ["viewfs://tests/data", "file://{}"])
def test_files_may_lie_at_any_depth_in_any_file_system(
    same: Same, touche: Touche, write: Write, tmp_path: Path, elsewhere: Path, address_format: str
) -> None:
    shutil.rmtree(elsewhere)
    same("bm25", "-i", shutil.copytree(passages(tmp_path, 2), elsewhere))
    expected = (tmp_path / "one" / "run.txt").read_bytes()
    (elsewhere / "deep" / "er").mkdir(parents=True)
    shutil.move(elsewhere / "passages-0.jsonl", elsewhere / "deep" / "er")
    shutil.move(elsewhere / "passages-1.jsonl", elsewhere / "passages #1?%20[x].jsonl")
    (elsewhere / "deep" / "metadata.json").write_text("{}")
    output = ["-o", tmp_path / "far"]
    address = address_format.format(elsewhere)
    topics = shutil.move(elsewhere / "topics.xml", tmp_path / "asked.xml")
    assert "no topics in this" in touche("spark", "bm25", "-i", address, *output)[2]
    assert touche("spark", "bm25", "-i", address, "--topics", topics, *output)[0] == 0
    assert (tmp_path / "far" / "run.txt").read_bytes() == expected


@pytest.mark.parametrize(
    ("fault", "when"),
    [
        ("worker", "reading"),
        ("worker", "scoring"),
        pytest.param("executor", "reading", marks=pytest.mark.nightly),
        pytest.param("executor", "scoring", marks=pytest.mark.nightly),
        pytest.param("disk", "reading", marks=pytest.mark.nightly),
    ],
)
def test_what_a_worker_loses_is_found_again(
    same: Same, write: Write, tmp_path: Path, fault: str, when: str
) -> None:
    if fault == "disk" and os.geteuid():
        pytest.skip("only root can fill a disk, by mounting a small one")
    mark = tmp_path / "mark"
    own = folder(write, "struck", words=f"{fault} {when} {mark}", baseline=STRUCK)
    try:
        same(own, "-i", passages(tmp_path, 4), tasks=4)
        assert mark.exists()
    finally:
        if fault == "disk" and mark.exists():
            subprocess.run(["umount", "--lazy", mark.read_text()], check=True)


def test_files_that_are_enough_for_all_processors_are_not_cut(context: Any, tmp_path: Path) -> None:
    with shipping.folder_sent(context, None) as ship:
        documents = inputs.find(context, ship, find(passages(tmp_path, 2))).documents
        assert isinstance(documents, SparkDocuments)
        reading = Reading[Any](begin=lambda: len, merge=sum, summary=str)
        tasks = [
            replace(documents, size=1 << 29, parallelism=parallelism).parts(reading) for parallelism in (3, 4)
        ]
        assert [task.stored.getNumPartitions() for task in tasks] == [3, 4]


def test_what_lies_beside_the_documents_is_found_in_any_file_system(
    same: Same, touche: Touche, tmp_path: Path, elsewhere: Path
) -> None:
    shutil.rmtree(elsewhere)
    corpus = ROOT / "corpora" / "spot-check-pages"
    with (corpus / "pages.csv").open(encoding="utf-8") as file:
        pages = [
            {
                "docno": row["id"],
                "url": row["url"],
                "html": (corpus / row["file"]).read_text("utf-8", "replace"),
            }
            for row in csv.DictReader(file)
        ]
    write_files(elsewhere, {"documents.jsonl": "".join(f"{json.dumps(page)}\n" for page in pages)})
    shutil.copy(ROOT / "topics" / "spot-check-pages.xml", elsewhere / "topics.xml")
    shutil.copy(corpus / "spam-ranks.txt", elsewhere)
    touche("run", "chatnoir-bm25f", "-i", elsewhere, "-o", tmp_path / "here")
    expected = (tmp_path / "here" / "run.txt").read_bytes()
    for n, address in enumerate(("viewfs://tests/data", f"file://{elsewhere}")):
        far = tmp_path / f"far-{n}"
        _, _, said = touche("spark", "chatnoir-bm25f", "-i", address, "-o", far)
        assert "removed 1 of 26 pages that match a title: bad spam rank" in said
        assert (far / "run.txt").read_bytes() == expected


def test_statistics_are_kept_and_known(same: Same, touche: Touche, tmp_path: Path) -> None:
    collection = passages(tmp_path, 4)
    checkpoints = [tmp_path / name for name in ("one.json", "many.json")]
    touche("run", "bm25", "-i", collection, "-o", tmp_path, "--keep-statistics", checkpoints[0])
    same("bm25", "-i", collection, "--keep-statistics", checkpoints[1])
    assert checkpoints[0].read_bytes() == checkpoints[1].read_bytes()
    whole = (tmp_path / "many" / "run.txt").read_bytes()
    (collection / "passages-0.jsonl").unlink()
    same("bm25", "-i", collection, "--statistics", checkpoints[0])
    address = ("-i", f"file://{collection}", "-o", tmp_path / "far")
    touche("spark", "bm25", *address, "--statistics", checkpoints[0])
    part = (tmp_path / "many" / "run.txt").read_bytes()
    assert (tmp_path / "far" / "run.txt").read_bytes() == part != whole
    assert md5(checkpoints[0]) in (tmp_path / "far" / "ir-metadata.yml").read_text()


@pytest.fixture
def on_spark(context: Any, same: Same, touche: Touche, tmp_path: Path) -> Callable[..., str]:
    """Messages of runs that are impossible on the cluster."""

    def run(*arguments: str | Path) -> str:
        wait_for_workers(context)
        code, _, err = touche("spark", *arguments, "-o", tmp_path / "out")
        assert code == 2 and not list((tmp_path / "out").glob("*")), err
        return err.splitlines()[-1]

    return run


def test_what_spark_cannot_do_is_a_sentence(on_spark: Callable[..., str], write: Write) -> None:
    assert "viewfs://tests/data/none" in on_spark("bm25", "-i", "viewfs://tests/data/none")
    alone, fails = (folder(write, name, baseline=own) for name, own in (("first", BY_ITSELF), ("f", FAILS)))
    options = ["-i", "spot-check/passages"]
    write("out/run.txt", "of an earlier run")
    assert "baseline.py:6: KeyError: 'spo'" in on_spark(fails, *options)
    assert "iterates over the documents on one machine" in on_spark(alone, *options)
    rerank = write("rerank/rerank.jsonl", '{"qid": 1, "query": "a", "docno": "b", "text": "a"}')
    assert "documents in files" in on_spark("bm25", "-i", rerank.parent)


def test_an_id_that_two_tasks_have_read_is_refused_where_it_counts(
    on_spark: Callable[..., str], write: Write
) -> None:
    topics = write("in/topics.xml", "<topics><topic><number>1</number><title>cat</title></topic></topics>")
    for n in range(2):
        write(f"in/passages-{n}.jsonl", '{"id": "p1", "contents": "cat"}')
    assert "document 'p1' is ranked twice for one topic" in on_spark("bm25", "-i", topics.parent)


def test_workers_with_other_code_are_refused(
    on_spark: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "_code_digest", lambda: "of another version")
    assert "the code of touche-baselines differs" in on_spark("bm25", "-i", "spot-check/passages")
