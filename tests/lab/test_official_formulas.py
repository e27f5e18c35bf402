"""Formulas that explain an official run; on the toy collection, the baseline itself makes this run."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from conftest import ROOT, Touche
from touche.baselines.expected import OfficialRun, read_expected
from touche.data.places import shipped_baselines
from touche.errors import InputError
from touche.lab import official_formulas
from touche.lab.identification.differentiable_models import MODELS
from touche.lab.identification.fitting import Fit
from touche.lab.official_formulas import Model, check_formulas, read_formulas
from touche.regression.outcomes import MISSING, PASSED, Outcome
from touche.runners.container_runs import Job, run_locally
from touche.runners.limits import Limits
from touche.trec.runs import RunLine, read_run

pytest_plugins = ["small_clone"]

FORMULA = """
[[formula]]
dataset = "small-arguments"
run = "official.tsv"
median = 0.00001
pinned = 1.0
tolerance = 0.001
"""
MAXIMUM = f"""{FORMULA}
model = "LMDirichlet"
analysis = "standard"
fields = ["premises", "conclusion"]
combination = "maximum"
parameters = {{ mu = 2000.0 }}
"""
ONE_FIELD = f"""{FORMULA}
model = "BM25"
analysis = "english"
fields = ["premises and conclusion in one field"]
parameters = {{ "k1 (1 - b)" = 0.54 }}
official_parameters = {{ "k1 b / avgdl" = 0.00665298 }}
rerun_parameters = {{ "k1 b / avgdl" = 0.00665298 }}
"""
TWO_FIELDS = f"""{FORMULA}
model = "BM25"
analysis = "english"
fields = ["premises", "conclusion"]
combination = "sum"
parameters = {{ k1 = 0.9, b = 0.4 }}
official_mean_lengths = {{ premises = 49.062963, conclusion = 5.048148 }}
rerun_mean_lengths = {{ premises = 49.062963, conclusion = 5.048148 }}
"""
TOPICS = 10  # of the official runs; the rerun is limited to their documents

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def make_baseline(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Runs a baseline on the toy collection, once with each change of its program."""
    known: dict[tuple[str, ...], Path] = {}

    def make(baseline: str, *change: str) -> Path:
        if (baseline, *change) not in known:
            folder = tmp_path_factory.mktemp("made")
            shutil.copytree(ROOT / "baselines" / baseline, folder / baseline)
            program = folder / baseline / "baseline.py"
            text = program.read_text()
            assert not change or change[0] in text
            program.write_text(text.replace(*change) if change else text)
            job = Job(
                baseline=str(folder / baseline),
                arguments=(),
                input="spot-check/arguments",
                output=folder / "out",
            )
            run_locally(job, Limits(), lambda line: None)
            known[baseline, *change] = folder / "out" / "run.txt"
        return known[baseline, *change]

    return make


def outcome(clone: Path, entry: str, run: Path, theirs: Path | list[RunLine]) -> Outcome:
    """Returns the outcome of a formula for a rerun and official scores."""
    lines = read_run(theirs) if isinstance(theirs, Path) else theirs
    few = [*dict.fromkeys(line.topic for line in lines)][:TOPICS]
    rows = (f"{line.topic}\t{line.document}\t{line.score}\n" for line in lines if line.topic in few)
    (clone / "runs" / "official.tsv").write_text("".join(rows))
    (clone / "baselines" / "dirichletlm" / "formulas.toml").write_text(entry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(official_formulas, "run", lambda baseline, dataset, **options: read_run(run))
        (checked,) = check_formulas(["dirichletlm"], print)
    return checked


OTHER = ("bm25", "k1: float = 0.9", "k1: float = 1.2")
# With the same k1 (1 - b).
OTHER_LENGTHS = ("bm25", "k1: float = 0.9,\n    b: float = 0.4", "k1: float = 1.2,\n    b: float = 0.55")
NEAR = ("bm25", "k1: float = 0.9", "k1: float = 0.9005")
SUM = ("dirichletlm", ", best_field=True", "")


def test_the_formula_of_an_official_run_is_that_of_the_rerun(clone: Path, make_baseline: Make) -> None:
    agreement = outcome(clone, MAXIMUM, make_baseline("dirichletlm"), make_baseline("dirichletlm"))
    assert (agreement.verdict, agreement.got) == (PASSED, 1.0)
    assert agreement.remark.endswith("tau 1.000; 100.0% of the rerun's own scores")


@pytest.mark.slow
def test_known_mean_lengths_of_either_collection_determine_k1_and_b(clone: Path, make_baseline: Make) -> None:
    run = make_baseline("bm25", "multifield: bool = False", "multifield: bool = True")
    passed = outcome(clone, TWO_FIELDS, run, run)
    assert (passed.verdict, passed.got) == (PASSED, 1.0)
    for whose, name in (("official", "the official run"), ("rerun", "the rerun")):
        mean_lengths = f"{whose}_mean_lengths = {{ premises = "
        failed = outcome(clone, TWO_FIELDS.replace(f"{mean_lengths}49", f"{mean_lengths}59"), run, run)
        assert failed.verdict != PASSED and (name in failed.remark or failed.got != 1.0)


@pytest.mark.parametrize(
    ("entry", "mine", "theirs", "problem"),
    [
        (MAXIMUM, SUM, ("dirichletlm",), "of the rerun's own scores"),
        (ONE_FIELD, OTHER, ("bm25",), "of the rerun, k1 (1 - b) is 0.72 instead of 0.54"),
        (ONE_FIELD, NEAR, ("bm25",), "of the rerun, k1 (1 - b) is 0.5403 instead of 0.54"),
        (ONE_FIELD, ("bm25",), OTHER, "of the official run, k1 (1 - b) is 0.72 instead of 0.54"),
        (ONE_FIELD, OTHER_LENGTHS, ("bm25",), "of the rerun, k1 b / avgdl is "),
        (ONE_FIELD, ("bm25",), OTHER_LENGTHS, "of the official run, k1 b / avgdl is "),
    ],
)
@pytest.mark.slow
def test_another_formula_or_parameter_is_seen_in_the_scores(
    clone: Path, make_baseline: Make, entry: str, mine: tuple[str, ...], theirs: tuple[str, ...], problem: str
) -> None:
    agreement = outcome(clone, entry, make_baseline(*mine), make_baseline(*theirs))
    assert agreement.verdict == "failed" and problem in agreement.remark


@pytest.mark.slow
def test_official_scores_that_the_formula_does_not_meet_lower_the_share_and_raise_the_median(
    clone: Path, make_baseline: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = moved(make_baseline("bm25"), 2)
    agreement = outcome(clone, ONE_FIELD, make_baseline("bm25"), theirs)
    assert agreement.verdict == "too low" and agreement.got == pytest.approx(0.9, abs=0.01)
    monkeypatch.setattr(Fit, "median", 0.00002)
    agreement = outcome(clone, ONE_FIELD, make_baseline("bm25"), theirs)
    assert agreement.verdict == "failed" and agreement.remark.startswith(
        "the median error is 2e-05, above 1e-05 ("
    )


def moved(run: Path, of_twenty: int) -> list[RunLine]:
    """Returns the lines of a run; some of each twenty have another score."""
    return [
        RunLine(
            topic=line.topic,
            stance="Q0",
            document=line.document,
            rank=0,
            score=line.score + (n % 20 < of_twenty) * (3 + n % 7),
            tag="t",
        )
        for n, line in enumerate(read_run(run))
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MAXIMUM.replace("official.tsv", "b/../../a"), "formula[1].run: this name leads out"),
        (MAXIMUM.replace("LMD", "D"), "enum value 'Dirichlet'; did you mean LMDirichlet?"),
        (MAXIMUM.replace("maximum", ""), "formula[1]: fields and combination do not fit"),
        (MAXIMUM.replace('["premises", ', "["), "formula[1]: fields and combination do not fit"),
        (MAXIMUM + 'options = { output = "x" }', "formula[1]: 'output' is not an option of the baseline"),
        (MAXIMUM.replace("small-a", "smal-a"), "formula[1]: dataset 'smal-arguments' is not known"),
        ("formula = []", "formula: Expected `array` of length >= 1"),
    ],
)
def test_an_unusable_formula_is_named(clone: Path, touche: Touche, text: str, message: str) -> None:
    path = clone / "baselines" / "dirichletlm" / "formulas.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_formulas("dirichletlm")
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)
    code, out, _ = touche("identify", "--check")
    assert code == 1 and "failed" in out


def test_the_command_checks_formulas_and_fails_if_one_does_not_hold(
    clone: Path, touche: Touche, make_baseline: Make
) -> None:
    formulas = clone / "baselines" / "dirichletlm" / "formulas.toml"
    formulas.write_text(MAXIMUM)
    code, out, err = touche("identify", "--check", "dirichletlm")
    assert (code, err.startswith("touche: nothing was checked: the data for all formulas are missing; ")) == (
        2,
        True,
    )
    run = "runs/official.tsv (it is not published; set TOUCHE_DATA to a folder that has it)"
    assert out == f"missing: {run}\nformulas: 1 missing\n"
    official = read_run(make_baseline("dirichletlm"))
    rows = (f"{line.topic}\t{line.document}\t{line.score}\n" for line in official)
    (clone / "runs" / "official.tsv").write_text("".join(rows))
    code, out, err = touche("identify", "--check")
    assert (code, err.splitlines()[0]) == (0, "dirichletlm on small-arguments")
    assert out.splitlines()[1].split()[:4] == ["dirichletlm", "small-arguments", "official", "scores"]
    assert out.endswith("formulas: 1 passed\n")
    formulas.write_text(MAXIMUM.replace("mu = 2000", "mu = 1500"))
    code, out, _ = touche("identify", "--check", "--format", "json")
    (record,) = json.loads(out)
    assert (code, record["verdict"]) == (1, "failed")
    assert "in the scores of the rerun, mu is 2000 instead of 1500" in record["remark"]


def test_missing_data_of_a_formula_are_named_with_how_to_get_them(clone: Path) -> None:
    entry = ONE_FIELD.replace("small-arguments", "touche-2022-task-2")
    entry = entry.replace("official.tsv", "touche-2022-task-2/puss-in-boots-1.run")
    (clone / "baselines" / "dirichletlm" / "formulas.toml").write_text(entry)
    (checked,) = check_formulas(["dirichletlm"], print)
    corpus, run = checked.remark.split("), ")
    assert checked.verdict == MISSING
    assert corpus.startswith("touche-2022-task-2 (get it with: touche data fetch touche-2022-task-2, or")
    assert run.startswith("runs/touche-2022-task-2/puss-in-boots-1.run (get it with: touche data fetch ")
    assert "touche-2022-task-2 --runs, or" in run


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--check", "no-such-baseline"], "there is no baseline 'no-such-baseline'"),
        (["--check", "--task", "spot-check/arguments"], "--check reads TASK and mean lengths from"),
        (["--check", "--mean-length", "text=1"], "--check reads TASK and mean lengths from"),
        ([], "name one RUN, or add --check"),
        (["a", "b", "--task", "spot-check/arguments"], "name one RUN, or add --check"),
        (["a"], "the RUN's task is missing; add --task"),
    ],
)
def test_either_a_run_or_formulas_are_checked(touche: Touche, arguments: list[str], problem: str) -> None:
    code, _, err = touche("identify", *arguments)
    assert code == 2 and problem in err


def test_baselines_without_formulas_are_an_error(touche: Touche, clone: Path) -> None:
    (clone / "baselines" / "dirichletlm" / "formulas.toml").unlink()
    code, _, err = touche("identify", "--check", "dirichletlm")
    assert code == 2 and "these baselines have no formulas.toml; choose others" in err


def test_each_shipped_formula_is_of_a_run_that_regress_compares() -> None:
    for name in shipped_baselines():
        official = [
            (entry.dataset, entry.options, entry.run)
            for entry in read_expected(name)
            if isinstance(entry, OfficialRun)
        ]
        formulas = [(entry.dataset, entry.options, entry.run) for entry in read_formulas(name)]
        assert all(formula in official for formula in formulas)


def test_every_model_of_the_formulas_is_one_that_can_be_fitted() -> None:
    assert set(get_args(Model)) == set(MODELS)
