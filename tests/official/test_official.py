"""The scores that the real data is known to give; skipped where TOUCHE_DATA is not set."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from conftest import OFFICIAL, ROOT
from neighbours import neighbour
from oracles.formulas import Collection, length_in_one_byte
from touche import baselines, lucene, tasks
from touche.collection.documents import Documents
from touche.data.places import qrels_of
from touche.evaluation import ndcg
from touche.evaluation.agreement import overlaps, scored_overlaps
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.scores import evaluate
from touche.formats.args_processed import read_args_processed_csv
from touche.formats.argsme import read_argsme_json
from touche.formats.documents import conclusion_of, premises_of
from touche.formats.jsonl import read_passages_jsonl
from touche.formats.qrels import read_qrels
from touche.formats.runs import RunLine, in_order_of_score, read_run
from touche.formats.topics import Topic, read_topics_xml
from touche.lint import lint
from touche.lucene.analysis import analyzer_named, terms
from touche.regression.expected import ExpectedFormula, ExpectedScore, read_expected
from touche.regression.running import PASSED, regress
from touche.sandbox.limits import Limits
from touche.sandbox.programs import Log
from touche.sandbox.runs import Job, Usage
from touche.scan.tokens import analysis_named

pytestmark = pytest.mark.xdist_group("official")  # which share what the baselines rank

KNOWN = {
    "touche-2022-task-2/puss-in-boots-1": (0.469, 0.476),
    "touche-2022-task-2/captain-levi-5": (0.753, 0.730),
    "touche-2022-task-2/katana-3": (0.618, 0.643),
    "touche-2022-task-2/captain-tempesta-1": (0.574, 0.589),
    "touche-2022-task-2/grimjack-1": (0.376, 0.363),
    "touche-2022-task-2/asuna-1": (0.263, 0.332),
    "touche-2021-task-1/jean-pierre-polnareff-dirichlet": (0.633, 0.802),
}


def score(run: Path, task_id: str, dimension: str, evaluator: str) -> Evaluation:
    task = tasks.task(task_id)
    return EVALUATORS[evaluator](read_run(run), qrels_of(task, dimension), task.measure)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", KNOWN)
def test_official_runs_score_what_was_published(official: Path, name: str, evaluator: str) -> None:
    """Both evaluators: these runs are fully judged."""
    for dimension, expected in zip(("relevance", "quality"), KNOWN[name], strict=True):
        result = score(official / "runs" / f"{name}.run", name.split("/")[0], dimension, evaluator)
        assert round(result.mean, 3) == expected
        assert (result.judged, len(result.per_topic)) == (1.0, 50)


TITLES = {  # how many topics there are, and the first title
    "touche-2020-task-1": (49, "Should teachers get tenure?"),
    "touche-2020-task-2": (50, "What is the difference between sex and love?"),
    "touche-2021-task-1": (50, "Do we need sex education in schools?"),
    "touche-2021-task-2": (50, "What is better at reducing fever in children, Ibuprofen or Aspirin?"),
    "touche-2022-task-1": (50, "Should teachers get tenure?"),
    "touche-2022-task-2": (50, "Which is better, a laptop or a desktop?"),
}


@pytest.mark.parametrize("name", TITLES)
def test_official_topics_are_read(official: Path, name: str) -> None:
    topics = read_topics_xml(official / "topics" / f"{name}.xml")
    assert (len(topics), topics[0].title) == TITLES[name]


@pytest.mark.parametrize(
    ("task_id", "dimension", "topics", "judgments", "labels"),
    [
        ("touche-2020-task-1", "relevance", 49, 2298, {-2, 0, 1, 2}),
        ("touche-2020-task-1", "relevance-uncorrected", 49, 2298, {-2, 1, 2, 3, 4, 5}),
        ("touche-2020-task-1-v1", "relevance-uncorrected", 49, 2962, {-2, 1, 2, 3, 4, 5}),
        ("touche-2020-task-2", "relevance", 50, 1783, {0, 1, 2}),
        ("touche-2021-task-1", "relevance", 50, 3711, {-2, 0, 1, 2}),
        ("touche-2021-task-1", "quality", 50, 3711, {0, 1, 2}),
        ("touche-2021-task-2", "relevance", 50, 2076, {0, 1, 2}),
        ("touche-2021-task-2", "quality", 50, 2076, {0, 1, 2}),
        ("touche-2022-task-2", "relevance", 50, 2107, {0, 1, 2}),
        ("touche-2022-task-2", "quality", 50, 2107, {0, 1, 2}),
    ],
)
def test_official_judgments_are_read(
    official: Path, task_id: str, dimension: str, topics: int, judgments: int, labels: set[int]
) -> None:
    task = tasks.task(task_id)
    qrels = qrels_of(task, dimension)
    assert (len(qrels), sum(map(len, qrels.values()))) == (topics, judgments)
    assert {label for of_topic in qrels.values() for label in of_topic.values()} == labels
    assert labels == task.qrels[dimension].labels


def test_the_two_copies_of_the_arguments_are_the_same(official: Path) -> None:
    corpora = official / "corpora"
    raw = list(read_argsme_json(corpora / "argsme-2020-04-01-sample" / "args-me.json.gz"))
    processed = list(
        read_args_processed_csv(corpora / "argsme-2020-04-01-processed-sample" / "args_processed.csv.gz")
    )
    assert len(raw) == 10_587
    assert [(each.id, each.text, each.stance) for each in raw] == [
        (each.id, each.text, each.stance) for each in processed
    ]
    assert sum(len(each.sentences) for each in processed) == 240_517


ARGUMENTS, PASSAGES, PAIRS = "touche-2020-task-1", "touche-2022-task-2", "touche-2022-task-1"


def run_baseline(command: str, task: str, output: Path, processors: set[int] | None = None) -> Path:
    """The run.txt that the command makes on the sample of a task."""
    name, *options = command.split()
    arguments = ["run", name, "-i", f"{task}/sample", "-o", str(output), *options]
    pin = processors and (lambda: os.sched_setaffinity(0, processors))
    subprocess.run([sys.executable, "-m", "touche", *arguments], cwd=ROOT, check=True, preexec_fn=pin or None)
    return output / "run.txt"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """The run.txt of a baseline on the sample of a task; made once."""
    if OFFICIAL is None:
        pytest.skip("needs official data")

    @cache
    def measure(command: str, task: str = ARGUMENTS) -> Path:
        return run_baseline(command, task, tmp_path_factory.mktemp("run"))

    return measure


CLASSIC = "tfidf --variant classic"


OF_LUCENE = ("dirichletlm-variants", "elrond", "polnareff")  # which take longer


def by_day(expected: ExpectedScore | ExpectedFormula) -> bool:
    """Whether it is an official run, or what a baseline without options does on one sample of its kind."""
    is_first = expected.dataset.startswith((ARGUMENTS, PASSAGES, PAIRS)) and not expected.options
    return bool(expected.run) or (is_first and expected.baseline not in OF_LUCENE)


@pytest.mark.slow
@pytest.mark.parametrize("night", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_baselines_score_what_is_expected_of_them(
    official: Path, measured: Callable[[str, str], Path], night: bool
) -> None:
    """Every score in every expected.toml on the samples, and of official runs."""

    def copy(job: Job, limits: Limits, log: Log) -> Usage:
        job.output.mkdir()
        command = " ".join([job.baseline, *job.arguments])
        shutil.copy(measured(command, job.given.removesuffix("/sample")), job.output)
        return Usage(1.0)

    expected = [
        each
        for name in baselines.names()
        for each in read_expected(name)
        if (each.dataset.endswith("/sample") or each.run)
        and isinstance(each, ExpectedScore | ExpectedFormula)
        and by_day(each) != night
    ]
    outcomes = list(regress(expected, copy, Limits(), print))
    assert len(outcomes) == len(expected) > 30
    assert [each for each in outcomes if each.verdict != PASSED] == []


@pytest.mark.parametrize(
    ("dimension", "trec_eval", "within"),
    [("relevance", 0.7711, 0.0005), ("relevance-uncorrected", 0.6841, 0.0005)],
)
def test_dirichletlm_scores_what_elasticsearch_would(
    official: Path, measured: Callable[..., Path], dimension: str, trec_eval: float, within: float
) -> None:
    """Whatever expected.toml says."""
    result = score(measured("dirichletlm"), ARGUMENTS, dimension, "trec_eval")
    assert result.mean == pytest.approx(trec_eval, abs=within)
    assert result.judged == pytest.approx(0.8694, abs=0.0001)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        (lambda: lucene.dirichlet(2000), 0.7261),
        pytest.param(lambda: lucene.bm25(1.2, 0.75), 0.4501, marks=pytest.mark.nightly),
        pytest.param(lambda: lucene.classic(), 0.1247, marks=pytest.mark.nightly),
    ],
)
def test_the_engine_scores_what_lucene_is_known_to_score(
    official: Path, similarity: Callable[[], Any], expected: float
) -> None:
    """With the standard analyzer; figures that others measured with Lucene on the same sample."""
    sample = read_argsme_json(official / "corpora" / "argsme-2020-04-01-sample" / "args-me.json.gz")
    qrels = read_qrels(official / "qrels" / tasks.task(ARGUMENTS).qrels["relevance"].file)
    with lucene.index(sample, analyzer="standard", similarity=similarity()) as index:
        run = [
            RunLine(topic.number, "Q0", document, rank, value, "t")
            for topic in read_topics_xml(official / "topics" / "touche-2020-task-1.xml")
            for rank, (document, value) in enumerate(index.search(topic.title, 1000), 1)
        ]
    assert ndcg.trec_eval(run, qrels, tasks.task(ARGUMENTS).measure).mean == pytest.approx(
        expected, abs=0.00005
    )


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors can be chosen on Linux only")
@pytest.mark.parametrize("command", ["dirichletlm", "tfidf"])
def test_the_bytes_of_a_run_do_not_depend_on_the_number_of_threads(
    official: Path, measured: Callable[..., Path], tmp_path: Path, command: str
) -> None:
    one = run_baseline(command, ARGUMENTS, tmp_path, processors={min(os.sched_getaffinity(0))})
    assert one.read_bytes() == measured(command).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [ARGUMENTS, PASSAGES])
def test_what_the_program_writes_passes_the_linter(
    official: Path, measured: Callable[..., Path], task_id: str
) -> None:
    """With topics and corpus: ranks, order of ties, and depths among the rest."""
    task = tasks.task(task_id)
    paths = [measured(command, task_id) for command in ("dirichletlm", "bm25", "tfidf", CLASSIC)]
    assert lint(paths, task, task.corpora["sample"]) == ([], [])


FINDINGS = {
    "touche-2021-task-1/jean-pierre-polnareff-bm25": {"rank-start": 1, "tie-order": 1823},
    "touche-2021-task-1/jean-pierre-polnareff-dirichlet": {"rank-start": 1, "tie-order": 2022},
    "touche-2022-task-2/asuna-1": {"rank-gap": 7, "tie-order": 13},
    "touche-2022-task-2/captain-levi-5": {"tie-order": 16},
    "touche-2022-task-2/captain-tempesta-1": {"tie-order": 83},
    "touche-2022-task-2/grimjack-1": {"tie-order": 3},
    "touche-2022-task-2/katana-3": {"blank-in-tag": 1},
    "touche-2022-task-2/puss-in-boots-1": {"tie-order": 1},
}


@pytest.mark.parametrize("name", FINDINGS)
def test_what_the_linter_finds_in_official_runs(official: Path, name: str) -> None:
    """They were judged all the same; no line is broken."""
    task = tasks.task(name.split("/")[0])
    findings, _ = lint([official / "runs" / f"{name}.run"], task, task.corpora["full"])
    assert Counter(finding.code for finding in findings) == FINDINGS[name]


FORMULAS: dict[str, tuple[str, Any]] = {
    "dirichletlm": ("standard", lambda cs, q, d: max(c.dirichlet(q, d, 2000) for c in cs[1:])),
    "bm25": ("english", lambda cs, q, d: cs[0].bm25(q, d, 0.9, 0.4)),
    "tfidf": ("english", lambda cs, q, d: cs[0].terrier_tfidf(q, d, 1.2, 0.75)),
    CLASSIC: ("english", lambda cs, q, d: cs[0].classic_tfidf(q, d)),
}


BY_DAY = ["tfidf"]  # tests/official/test_official_scan.py compares the others with Lucene


@pytest.mark.slow
@pytest.mark.parametrize(
    "baseline",
    [each if each in BY_DAY else pytest.param(each, marks=pytest.mark.nightly) for each in FORMULAS],
)
def test_scores_on_real_arguments_are_those_of_the_formulas(
    official: Path, measured: Callable[..., Path], baseline: str
) -> None:
    """Every score of every run, against the formulas in plain Python."""
    analyzer, formula = FORMULAS[baseline]
    analysis = analyzer_named(analyzer)
    sample = list(read_argsme_json(official / "corpora" / "argsme-2020-04-01-sample" / "args-me.json.gz"))
    collections = [  # the whole text, and the fields
        Collection({each.id: terms(analysis, text_of(each)) for each in sample})
        for text_of in (lambda each: each.text, premises_of, conclusion_of)
    ]
    topics = read_topics_xml(official / "topics" / "touche-2020-task-1.xml")
    queries = {topic.number: list(terms(analysis, topic.title).elements()) for topic in topics}
    for line in read_run(measured(baseline)):
        assert line.score == pytest.approx(formula(collections, queries[line.topic], line.document), abs=1e-4)


def test_every_run_file_is_evaluated_by_the_command(official: Path) -> None:
    for folder in [each for each in (official / "runs").iterdir() if each.name in tasks.ids()]:
        runs = sorted(folder.glob("*.run"))
        command = [sys.executable, "-m", "touche", "evaluate", *map(str, runs), "--task", folder.name]
        output = subprocess.run(
            [*command, "--format", "json"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        records = json.loads(output)
        assert len(records) == len(runs) * len(tasks.task(folder.name).qrels) * 2
        assert all(0 < record["mean"] < 1 and record["measure"] == "nDCG@5" for record in records)


def test_chatnoir_s_parts_on_the_real_passages(official: Path) -> None:
    """BM25 and BM25F of the main content, the only field of passages, for every one of them."""
    baseline, match, query, rescore = (
        neighbour("chatnoir-bm25f", name) for name in ("baseline", "match", "query", "rescore")
    )
    passages = list(read_passages_jsonl(official / "corpora/touche-2022-task-2-sample/passages.jsonl.gz"))
    topics = read_topics_xml(official / "topics/touche-2022-task-2.xml")[:5]
    terms_of = analysis_named("plural").terms
    words = Collection({passage.id: Counter(terms_of(passage.text)) for passage in passages})

    def scored(model: str, topic: Topic) -> dict[str, float]:
        """The passages that are long enough for the filter."""
        method = baseline.Method(baseline.NUMBERS["2020"], model, 1.0)
        parts = method.parts(topic)
        first = parts["body"] if model == "fields" else query.any_of(parts.values())
        collecting = match.Collecting(method.analyses, [match.Search(first, query.NOTHING, None)], "")
        (hits,) = rescore.Collection.of(Documents.of(passages), collecting).best(frozenset(), 5000)
        return {hit.id: hit.first for hit in hits}

    for topic in topics:
        words_of = terms_of(topic.title)
        sums, combined = scored("fields", topic), scored("bm25f", topic)
        assert len(sums) == len(combined) > 1000
        for id in (passage.id for passage in passages if len(passage.text) >= 100):
            expected = words.bm25(words_of, id, 1.2, 0.75)
            assert sums.get(id, 0.0) == pytest.approx(2.2 * 10 * expected, rel=1e-4, abs=1e-4)
            length = length_in_one_byte(2 * length_in_one_byte(words.documents[id].total()))
            norm = 1.2 * (0.25 + 0.75 * length / (2 * words.tokens / words.n))
            of_terms = (
                words.bm25([term], id, 1.2, 0.75)
                / words.saturation(words.documents[id][term], id, 1.2, 0.75)
                * 2
                * words.documents[id][term]
                / (2 * words.documents[id][term] + norm)
                for term in words_of
                if term in words.documents[id]
            )
            assert combined.get(id, 0.0) == pytest.approx(sum(of_terms), rel=1e-4, abs=1e-4)


RENAMED = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # repro_eval imports by old names


@RENAMED
def test_official_runs_are_compared_by_scores_as_repro_eval_does(official: Path, tmp_path: Path) -> None:
    from repro_eval.Evaluator import RpdEvaluator

    folder = official / "runs" / "touche-2022-task-2"
    paths = [
        folder / f"{name}.run" for name in ("captain-levi-5", "katana-3", "puss-in-boots-1", "grimjack-1")
    ]
    evaluated = evaluate(paths, tasks.task("touche-2022-task-2"), ["trec_eval"])
    runs = [str(_with_short_tag(path, tmp_path)) for path in paths]
    names = [f"run_{which}_path" for which in ("a_orig", "a_rep", "b_orig", "b_rep")]
    for found in scored_overlaps(paths[:2], evaluated, paths[2:]):
        qrels = official / "qrels" / found.qrels
        oracle = RpdEvaluator(qrels_orig_path=str(qrels), **dict(zip(names, runs, strict=True)))
        oracle.measures = [ir_measures.nDCG @ 5]
        oracle.evaluate()
        expected = oracle.rmse()["advanced"], oracle.ttest()["advanced"], oracle.er(), oracle.dri()
        figures = found.rmse, found.p_t_test, found.effect_ratio, found.delta_ri
        assert figures == pytest.approx([each["nDCG@5"] for each in expected])


@RENAMED
def test_official_runs_have_the_rank_biased_overlap_of_repro_eval(official: Path) -> None:
    """At its own depth, as these runs have 1,000 documents for every topic."""
    from repro_eval.Evaluator import RpdEvaluator

    folder = official / "runs" / "touche-2021-task-1"
    paths = [folder / f"jean-pierre-polnareff-{name}.run" for name in ("bm25", "dirichlet")]
    qrels = official / "qrels" / "touche-task1-51-100-relevance.qrels"
    oracle = RpdEvaluator(
        qrels_orig_path=str(qrels), run_b_orig_path=str(paths[0]), run_b_rep_path=str(paths[1])
    )
    (found,) = overlaps(paths)
    assert found.rbo == pytest.approx(oracle.rbo()["baseline"])


def _with_short_tag(path: Path, folder: Path) -> Path:
    """The same run with a tag without blanks, as repro_eval reads no others."""
    lines = (
        f"{line.topic} Q0 {line.document} {line.rank} {line.score} t\n"
        for line in in_order_of_score(read_run(path))
    )
    (folder / path.name).write_text("".join(lines), encoding="utf-8")
    return folder / path.name
