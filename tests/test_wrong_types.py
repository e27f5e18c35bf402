"""Public functions refuse values of other types with an error of their own, never with another exception."""

import inspect
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pandas
import pytest
from ir_measures import Qrel, ScoredDoc

import touche
from touche.errors import ToucheError

WRONG = (5, 1.5, True, None, b"bytes", object(), [1], {1: 2}, ["x", 3], (None,), {"a": None}, "\0")
RUN = {"11": {"d1": 2.0, "d2": 1.0}}
OTHER_RUN = {"11": {"d2": 2.0, "d1": 1.0}}  # because passing one object twice is an error of its own
QRELS = {"11": {"d1": 1}}
TASK = "spot-check/passages"
# What a call needs besides the tried parameter. All other public functions need nothing, or aren't called
# with what a user passes: they help baselines, which pass documents, results and texts.
VALID: dict[str, dict[str, Any]] = {
    "build_images": {"baselines": "none"},
    "check_cards": {},
    "check_range": {"name": "b", "value": 1.0, "least": 0, "most": 2},
    "check_writable": {},
    "compare": {"runs": [RUN, OTHER_RUN], "task": TASK},
    "digest_images": {},
    "evaluate": {"runs": RUN, "task": TASK},
    "fetch": {"datasets": "spot-check/arguments", "output": "fetched"},
    "fuse": {"runs": {"a": RUN, "b": OTHER_RUN}},
    "identify": {"run": RUN, "task": TASK},
    "imported": {"module": "json", "extra": "apis"},
    "lint": {"runs": RUN, "task": TASK},
    "list_baselines": {},
    "list_data": {},
    "list_images": {},
    "load": {},
    "make_folder": {},
    "overlap": {"runs": {"a": RUN, "b": OTHER_RUN}},
    "published": {},
    "published_topics": {"task": TASK},
    "pyterrier": {"baseline": "bm25"},
    "qrels_of": {"source": QRELS},
    "regress": {"baselines": "bm25", "datasets": "none"},
    "report": {"runs": RUN, "task": TASK, "output": "report"},
    "reported": {},
    "reproductions": {},
    "run": {"baseline": "bm25", "dataset": "none"},
    "run_of": {"source": RUN},
    "run_on_spark": {"baseline": "bm25", "dataset": "none", "output": "out"},
    "sweep": {"baseline": "bm25", "dataset": "none", "grid": {"k1": [1.2]}},
    "task": {},
    "verify": {},
    "verify_image": {},
    "wide": {"runs": RUN, "task": TASK},
    "words": {"text": "a b"},
    "write_for_tira": {"task": TASK, "output": "tira"},
    "write_run": {"baseline": "bm25", "dataset": "none", "output": "out"},
}
HELP_FOR_BASELINES = {
    "as_page", "bar", "baseline", "conclusion_of", "discussion_of", "first_of_each", "page_of",
    "parse_as_in_2020", "premises_of", "rank_by_words", "watched", "whole", "with_unmatched",
}  # fmt: skip
ENGINES = ("lucene", "pairs", "scan")  # modules, and Lucene may be missing
CALLED_BACK = ("log", "report")  # functions of the caller


def public_functions() -> dict[str, Callable[..., Any]]:
    functions = {name: getattr(touche, name) for name in touche.__all__ if name not in ENGINES}
    return {name: value for name, value in functions.items() if inspect.isfunction(value)}


def test_every_public_function_is_tried() -> None:
    assert public_functions().keys() - HELP_FOR_BASELINES - {"list_tasks"} == VALID.keys()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", VALID)
def test_values_of_other_types_are_refused_or_accepted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")  # no engine is called
    function = public_functions()[name]
    for parameter in inspect.signature(function).parameters.values():
        is_callback = parameter.name in CALLED_BACK and callable(parameter.default)
        if is_callback or parameter.kind is parameter.VAR_KEYWORD:
            continue
        for value in WRONG:
            try:
                function(**VALID[name] | {parameter.name: value})
            except ToucheError as error:
                assert "\n" not in str(error)
            except Exception as error:
                raise AssertionError(f"{name}({parameter.name}={value!r})") from error


FORMS = (
    (touche.AnyRun, "run"),
    (touche.SeveralRuns, "run"),
    (touche.AnyRuns, "run"),
    (touche.AnyQrels, "qrels"),
    (touche.AnyTopics, "topics"),
)
RECORDS = {
    "run": [ScoredDoc("11", "d1", 2.0), ScoredDoc("11", "d2", 1.0)],
    "qrels": [Qrel("11", "d1", 1)],
    "topics": [{"qid": "11", "query": "coal"}],
}
OTHER_FORMS: dict[str, tuple[Callable[[list[Any]], Any], str]] = {  # with what the error says to pass
    "open file": (lambda records: io.StringIO("11 Q0 d1 1 2.0 tag"), "pass its path"),
    "list of records": (list, "pass a frame of the records, such as pandas.DataFrame(records), or a path"),
    "iterator of records": (iter, "make a frame of its records, such as pandas.DataFrame(records)"),
}
VALID_INPUT = {"baseline": "bm25", "dataset": None, "topics": {"11": "coal"}, "documents": {"d1": "Coal."}}
# The parameters whose types say that they take runs, qrels or topics: (function, parameter, what it takes).
TAKES = [
    (name, parameter.name, what)
    for name, function in public_functions().items()
    for parameter in inspect.signature(function).parameters.values()
    for form, what in FORMS
    if all(part in get_args(parameter.annotation) for part in get_args(form))
]


def call_with(name: str, parameter: str, value: Any) -> Any:
    valid = VALID_INPUT if parameter == "topics" else {}
    return public_functions()[name](**VALID[name] | valid | {parameter: value})


def test_types_name_the_parameters_that_take_runs_qrels_and_topics() -> None:
    tried = {(name, parameter) for name, parameter, _ in TAKES}
    assert tried >= {("evaluate", "runs"), ("evaluate", "qrels"), ("compare", "reference"), ("run", "topics")}
    assert {name for name, _ in tried} == {
        "compare", "evaluate", "fuse", "identify", "lint", "overlap", "qrels_of", "report", "run", "run_of",
        "sweep", "wide", "write_run",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("other_form", OTHER_FORMS)
@pytest.mark.parametrize(("name", "parameter", "what"), TAKES)
def test_the_error_for_another_form_names_the_form_to_pass(
    name: str, parameter: str, what: str, other_form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make, remedy = OTHER_FORMS[other_form]
    with pytest.raises(ToucheError, match=re.escape(remedy)):
        call_with(name, parameter, make(RECORDS[what]))


@pytest.mark.parametrize("read", ["run", "qrels"])
def test_what_the_error_says_to_pass_is_accepted(read: str) -> None:
    expected = {"run": RUN, "qrels": QRELS}[read]
    result = public_functions()[f"{read}_of"](pandas.DataFrame(RECORDS[read]))
    assert (result.as_dict() if read == "run" else result) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: touche.load(1.5), "name = 1.5; pass a name or a path"),
        (lambda: touche.run_of(RUN, name=5), "name = 5 is not a text; pass a text"),
        (lambda: touche.lint(RUN, TASK, teams=5), "teams = 5; pass a list with the team of each run"),
        (lambda: touche.list_data(1.5), "dataset = 1.5; pass a name or a path, or a list of them"),
        (lambda: touche.sweep("bm25", TASK, {1: [2]}), "there is no option 1; "),
        (lambda: touche.regress("bm25", summary="none/a.md"), "none is not a directory; create it"),
        (lambda: touche.evaluate(b"run.txt", TASK), "b'run.txt' is not a run; pass a path as os.fsdecode"),
    ],
)
def test_the_error_names_the_parameter_and_its_value(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ToucheError) as caught:
        call()
    assert message in str(caught.value)
