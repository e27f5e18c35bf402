"""Everything public passes through pickle and joblib, and is used by threads and other processes."""

import importlib
import pickle
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache
from inspect import Parameter, signature
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("joblib", reason="needs joblib: pip install joblib")
pytest.importorskip("cloudpickle", reason="needs cloudpickle: pip install cloudpickle")
import cloudpickle
import joblib

import touche
from conftest import ROOT
from touche.baselines.loader import load
from touche.errors import InputError, ToucheError

TASK = "spot-check/passages"
pytestmark = pytest.mark.filterwarnings("ignore:.*and count as wrong", "ignore:.*nothing found for")


def import_all() -> None:
    """Imports each module that can be imported here; others need an optional dependency."""
    for module in pkgutil.walk_packages(touche.__path__, "touche.", onerror=lambda name: None):
        with suppress(ImportError):
            importlib.import_module(module.name)


def subclasses(kind: type[Any]) -> set[type[Any]]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def errors() -> list[ToucheError]:
    """An error of each class, built with a text or a number for each parameter."""
    import_all()
    values = {"path": Path("f.txt"), "line": 3, "message": "m"}
    records = []
    for kind in sorted(subclasses(ToucheError), key=str):
        parameters = signature(kind).parameters.values()
        named = [value for value in parameters if value.kind is Parameter.POSITIONAL_OR_KEYWORD]
        records.append(kind(*(values.get(value.name, value.name) for value in named)))
    return records


def test_errors_of_every_class_pass_with_message_and_attributes() -> None:
    built = errors()
    assert {type(error).__name__ for error in built} >= {"InputError", "LineError"}
    for error in built:
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            copy = pickle.loads(pickle.dumps(error, protocol))
            assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def refuse(number: int) -> None:
    raise InputError(path="f.txt", problem=f"problem {number}", remedy="remedy", line=number)


def test_an_error_does_not_break_a_process_pool() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for number in (1, 2):
            with pytest.raises(InputError, match=f"f.txt:{number}: problem {number}; remedy") as caught:
                pool.submit(refuse, number).result()
            assert caught.value.line == number


@cache
def results() -> dict[str, Any]:
    """A result of each public function, and what is passed to them."""
    run = touche.run("bm25", TASK)
    runs = [run, touche.run("dirichletlm", TASK)]
    task = touche.task(TASK)
    return {
        "run": run,
        "evaluate": touche.evaluate(runs, TASK),
        "evaluate per topic": touche.evaluate(runs, TASK).per_topic,
        "compare": touche.compare(runs, TASK),
        "compare per topic": touche.compare(runs, TASK).per_topic,
        "wide": touche.wide(runs, TASK, reference=run),
        "published": touche.published("touche-2021-task-1"),
        "published_topics": touche.published_topics("touche-2021-task-1"),
        "overlap": touche.overlap(runs),
        "overlap with scores": touche.overlap(runs, TASK),
        "fuse": touche.fuse(runs),
        "lint": touche.lint(run, TASK),
        "regress": touche.regress("bm25", TASK),
        "sweep": touche.sweep("bm25", TASK, {"k1": [0.6, 1.2]}, cross_validation="two-fold"),
        "task": task,
        "topics": task.topics,
        "qrels": task.qrels["relevance"],
        "all qrels": task.qrels,
        "documents": task.documents,
        "document": next(iter(task.documents)),
        "bm25": touche.scan.bm25(0.9, 0.4),
        "dirichletlm": touche.scan.dirichletlm(2000),
        "pl2": touche.scan.pl2(),
        "dph": touche.scan.dph,
    }


PASS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "cloudpickle": lambda value: pickle.loads(cloudpickle.dumps(value)),
}


def comparable(value: Any) -> Any:
    """The content of a value, without arrays, whose comparison is an array."""
    if isinstance(value, touche.Run):
        return type(value), value.path, value.text()
    if isinstance(value, touche.Documents):
        return type(value), list(value)
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return type(value), {name: value[name] for name in value}
    return value


@pytest.mark.parametrize("way", PASS)
def test_results_pass_with_their_content(way: str) -> None:
    for name, value in results().items():
        copy = PASS[way](value)
        assert comparable(copy) == comparable(value), name
        assert not hasattr(value, "frame") or copy.frame().equals(value.frame()), name


def test_loaded_baselines_pass_to_processes(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "baselines" / "bm25", tmp_path / "mine")
    for name in ("bm25", str(tmp_path / "mine")):
        ranker = load(name)
        for way in PASS.values():
            copy = way(ranker)
            assert copy == ranker and copy.options == ranker.options
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            assert pool.submit(touche.run, ranker, TASK).result().text() == touche.run(ranker, TASK).text()


@touche.baseline
def shortest(topics: touche.Topics, documents: touche.Documents) -> touche.Rankings:
    ranked = [(document.id, -len(document.text)) for document in documents]
    yield from ((topic, ranked) for topic in topics)


def test_a_decorated_function_passes_to_processes() -> None:
    expected = touche.run(shortest, TASK).text()
    assert pickle.loads(pickle.dumps(shortest)) == shortest
    assert [
        run.text() for run in joblib.Parallel(2)(joblib.delayed(touche.run)(shortest, TASK) for _ in "ab")
    ] == [expected] * 2


SCRIPT = """
import logging, touche
from touche.documents import pieces
from touche.scan import reading
pieces.SIZE, reading._MIN_PIECES, reading.processors = 100, 4, lambda: 2
logging.basicConfig(level="DEBUG")

def text(document):
    return document.text

print("begin")
documents = touche.task("spot-check/passages").documents
fields = {"text": FIELD}
topics = touche.task("spot-check/passages").topics
print(len(list(touche.scan.rank(topics, documents, touche.scan.dph, analysis="english", fields=fields))))
"""


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("touche.premises_of", "read in [0-9.]+ s by 2 of 2 processors"),
        ("text", "only one process .* cannot import functions of your script"),
    ],
)
def test_a_script_without_a_guard_runs_once(tmp_path: Path, field: str, message: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("FIELD", field), encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("begin\n4\n", 0), done.stderr
    assert re.search(message, done.stderr) and "Traceback" not in done.stderr
