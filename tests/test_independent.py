"""Scores, fusions, rankings and stances of random examples, compared with independent implementations.

The seed is the date. To repeat a failure: ``TOUCHE_SEED=20260131 pytest tests/test_independent.py``.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

import touche
from oracles.formulas import Collection, dlh, dph, length_in_one_byte, pl2
from touche import Argument, Run, Topic, baselines, conclusion_of, premises_of, scan
from touche.evaluation.fusion import METHODS
from touche.evaluation.stances import evaluate_stances
from touche.scan.lengths import one_byte
from touche.trec.columns import RunLine
from touche.trec.qrels import read_stances

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore::UserWarning")]
SEED = int(os.environ.get("TOUCHE_SEED") or f"{date.today():%Y%m%d}")
EXAMPLES = [f"{number} of TOUCHE_SEED={SEED}" for number in range(300)]
FLOAT32 = 1e-5  # tolerance of scores that are sums of float32 values
Values = dict[str, float]
Scores = dict[str, Values]  # of documents, by topic
Hits = list[tuple[str, float]]
Grades = dict[str, dict[str, int]]
Ids = frozenset[str] | None
Collections = dict[str, Collection]  # by the names of fields
Formula = Callable[[Collection, list[str], str], float]


class Comparisons:
    """Compares lists or dictionaries of numbers, and counts the numbers."""

    def __init__(self, name: str) -> None:
        self.random = Random(f"{name} {SEED}")
        self.count = 0

    def check(self, subject: object, ours: Any, theirs: Any, tolerance: float = 1e-9) -> None:
        assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance), subject
        self.count += len(theirs)


@pytest.fixture
def compared(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Iterator[Comparisons]:
    comparisons = Comparisons(request.node.name)
    yield comparisons
    with capsys.disabled():
        print(f"\n{request.node.name}: {comparisons.count:,} numbers compared, TOUCHE_SEED={SEED}")


# Bytes of UTF-8, code points and code units of UTF-16 order the last ids differently.
IDS = [*(f"d{number}" for number in range(30)), "D1", "d", "Z", "é", "\uffe6", "𝒳"]
LABELS = ["FIRST", "SECOND", "NEUTRAL", "NO"]
TOPICS = [str(number) for number in range(1, 13)]
STYLES: list[Callable[[Random], float]] = [
    lambda random: random.gauss(3, 2),
    lambda random: random.choice([2.5, 1.0, 0.0, -0.0, -3.0]),
    lambda random: 1000 + random.randrange(40) * 1e-5,  # float32 values near 1000 differ by at least 6e-5
    lambda random: random.choice([1e30, 1e-40, -1e30]) * random.randrange(1, 5),
]


def line_of(topic: str, document: str, stance: str, rank: int = 1, score: float = 0.0) -> RunLine:
    return RunLine(topic=topic, stance=stance, document=document, rank=rank, score=score, tag="tag")


def random_lines(random: Random) -> list[RunLine]:
    """Returns shuffled lines of a run; ranks agree with scores, contradict them, or are equal."""
    random_score = random.choice(STYLES)
    last_rank = random.choice([None, 1, 5])
    lines = []
    for topic in dict.fromkeys(["1", *random.sample(TOPICS, random.randrange(1, 10))]):
        scores = {id: random_score(random) for id in random.sample(IDS, random.randrange(1, 30))}
        for position, document in enumerate(in_trec_order(scores)):
            rank = random.randint(1, last_rank) if last_rank else position
            lines.append(line_of(topic, document, random.choice([*LABELS, "Q0"]), rank, scores[document]))
    random.shuffle(lines)
    return lines


def scores_by_topic(lines: Iterable[RunLine]) -> Scores:
    scores: Scores = {}
    for line in lines:
        scores.setdefault(line.topic, {})[line.document] = line.score
    return scores


def in_trec_order(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda document: (np.float32(scores[document]), document), reverse=True)


def random_qrels(random: Random) -> Grades:
    """Returns qrels of some topics, with holes and negative grades, some without a relevant document."""
    qrels = {}
    for topic in dict.fromkeys(["1", *random.sample(TOPICS, random.randrange(1, 12))]):
        grades = random.choice([[-2, 0, 1, 2, 3], [0, 1], [-2, 0], [1, 4]])
        qrels[topic] = {id: random.choice(grades) for id in random.sample(IDS, random.randrange(1, 36))}
    return qrels


MEASURES = {  # names of trec_eval, with the lowest relevant grade
    "nDCG@5": ("ndcg_cut_5", 1),
    "nDCG@10": ("ndcg_cut_10", 1),
    "nDCG": ("ndcg", 1),
    "nDCG(gains={1:3,2:1,3:10,4:2})@5": ("ndcg_cut_5", 1),
    "nDCG(judged_only=True)@5": ("ndcg_cut_5", 1),
    "AP": ("map", 1),
    "AP(rel=2)@10": ("map_cut_10", 2),
    "P(rel=2)@5": ("P_5", 2),
    "R@10": ("recall_10", 1),
    "RR(rel=2)@3": ("recip_rank", 2),
    "Rprec": ("Rprec", 1),
    "Bpref(rel=2)": ("bpref", 2),
    "SetF(rel=2)": ("set_F", 2),
    "IPrec@0.3": ("iprec_at_recall_0.30", 1),
}
GAINS = {1: 3, 2: 1, 3: 10, 4: 2}


def by_pytrec_eval(name: str, scores: Scores, qrels: Grades) -> Values:
    """Returns the measure of each topic of the qrels; a topic that the run lacks has 0."""
    measure, level = MEASURES[name]
    gains = GAINS if "gains" in name else {}
    grades = {}
    counted = {}
    for topic, labels in qrels.items():
        grades[topic] = {id: gains.get(label, max(0, label)) for id, label in labels.items()}
        ids = in_trec_order(scores.get(topic, {}))
        if "judged_only" in name:
            ids = [id for id in ids if id in labels]
        if name.startswith("RR"):  # trec_eval -M 3
            ids = ids[:3]
        if ids:
            counted[topic] = {id: scores[topic][id] for id in ids}
    evaluator = pytrec_eval.RelevanceEvaluator(grades, {measure}, relevance_level=level)
    values = evaluator.evaluate(counted)
    return {topic: next(iter(values[topic].values())) if topic in values else 0.0 for topic in qrels}


def ndcg_by_script(first: Sequence[str], labels: Mapping[str, int], cutoff: int) -> float | None:
    """Returns nDCG@k of a topic as the organizers' script; None if its mean leaves the topic out."""
    gains = [max(0, labels[document]) for document in first if document in labels]
    best = sorted((max(0, label) for label in labels.values()), reverse=True)[:cutoff]
    if not gains or best[0] == 0:
        return None
    actual, ideal = (sum(gain / np.log2(n + 2) for n, gain in enumerate(values)) for values in (gains, best))
    return actual / ideal


def test_scores_are_those_of_pytrec_eval_and_of_the_script(compared: Comparisons, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    scored = {(name, "trec_eval") for name in MEASURES} | {("nDCG@5", "touche"), ("nDCG@10", "touche")}
    for example in EXAMPLES[:160]:
        lines = random_lines(compared.random)
        qrels = random_qrels(compared.random)
        rows = [f"{line.topic} Q0 {line.document} {line.rank} {line.score!r} tag\n" for line in lines]
        path.write_text("".join(rows), encoding="utf-8")
        run = compared.random.choice([path, Run.of(lines)])
        topics = touche.evaluate(run, qrels=qrels, measure=[*MEASURES], per_topic=True)
        means = touche.evaluate(run, qrels=qrels, measure=[*MEASURES])
        assert {(row.measure, row.evaluator) for row in means} == scored
        for mean in means:
            subject = f"{mean.measure} by {mean.evaluator} in example {example}"
            rows = [row for row in topics if (row.measure, row.evaluator) == (mean.measure, mean.evaluator)]
            values, judged = expected_scores(mean.measure, mean.evaluator == "touche", lines, qrels)
            compared.check(subject, {row.topic: row.value for row in rows}, values)
            shares = {topic: judged.get(topic) for topic in values}
            compared.check(subject, {row.topic: row.judged for row in rows}, shares)
            expected = [fmean(values.values()) if values else None, fmean(judged.values()), len(values)]
            compared.check(subject, [mean.mean, mean.judged, mean.topics], expected)
    assert compared.count > 5000


def expected_scores(measure: str, script: bool, run: list[RunLine], qrels: Grades) -> tuple[Values, Values]:
    """Returns the values of the topics that count, and the shares of judged documents of the run's topics."""
    cutoff = re.search(r"@(\d+)$", measure)
    depth = int(cutoff[1]) if cutoff else 1000
    values = {}
    judged = {}
    scores = scores_by_topic(line for line in run if line.topic in qrels)
    for topic, labels in qrels.items():
        by_rank = sorted((line for line in run if line.topic == topic), key=lambda line: line.rank)
        order = [line.document for line in by_rank] if script else in_trec_order(scores.get(topic, {}))
        value = ndcg_by_script(order[:depth], labels, depth)
        if value is not None:
            values[topic] = value
        if order:
            judged[topic] = fmean(document in labels for document in order[:depth])
    return values if script else by_pytrec_eval(measure, scores, qrels), judged


def shares(method: str, scores: Mapping[str, float]) -> Values:
    order = in_trec_order(scores)
    if method == "rrf":
        return {document: 1 / (60 + rank) for rank, document in enumerate(order, 1)}
    if method == "rbc":
        return {document: 0.05 * 0.95**better for better, document in enumerate(order)}
    if len({*scores.values()}) == 1:
        return dict.fromkeys(scores, 0.0 if method == "z-score" else 1.0)
    zero = min(scores.values())
    unit = max(scores.values()) - zero
    if method == "z-score":
        zero = fmean(scores.values())
        unit = pstdev(scores.values())
    return {document: (score - zero) / unit for document, score in scores.items()}


def plainly_fused(method: str, runs: Sequence[Scores], weights: Sequence[float]) -> Scores:
    fused: Scores = {}
    for topic in {topic for run, weight in zip(runs, weights, strict=True) if weight for topic in run}:
        parts = defaultdict[str, list[float]](list)
        for run, weight in zip(runs, weights, strict=True):
            for document, share in shares(method, run[topic]).items() if weight and topic in run else ():
                parts[document].append(weight * share)
        times = len if method == "combmnz" else lambda _: 1
        fused[topic] = {id: times(parts[id]) * sum(parts[id]) for id in parts}
    return fused


def check_hits(compared: Comparisons, subject: str, hits: Hits, scores: Values) -> None:
    """Compares the scores of a topic; the order agrees with their own rounded values, ties go by id."""
    assert hits == sorted(hits, key=lambda hit: (np.float32(hit[1]), hit[0]), reverse=True), subject
    compared.check(subject, dict(hits), scores, FLOAT32)


def test_fusions_are_those_of_plain_formulas(compared: Comparisons) -> None:
    random = compared.random
    for example in EXAMPLES[:40]:
        runs = [Run.of(random_lines(random), f"run{number}") for number in range(random.randrange(2, 5))]
        weights = random.choice([None, [random.choice([0, 0.25, 1, 3]) for _ in runs[1:]] + [2.0]])
        stances = {(line.topic, line.document): line.stance for run in reversed(runs) for line in run}
        for method in METHODS:
            subject = f"{method} with weights {weights} in example {example}"
            lines = list(touche.fuse(runs, method, weights=weights))
            first = list(touche.fuse(runs, method, weights=weights, depth=5))
            assert first == [line for line in lines if line.rank <= 5], subject
            expected = plainly_fused(method, [*map(scores_by_topic, runs)], weights or [1.0] * len(runs))
            computed = scores_by_topic(lines)
            assert computed.keys() == expected.keys(), subject
            for topic, of_topic in computed.items():
                check_hits(compared, subject, [*of_topic.items()], expected[topic])
                ranks = [line.rank for line in lines if line.topic == topic]
                assert ranks == [*range(1, len(ranks) + 1)], subject
            assert all(line.stance == stances[line.topic, line.document] for line in lines), subject
    assert compared.count > 5000


NORMS = {"rrf": "rank", "combsum": "min-max", "combmnz": "min-max", "z-score": "zmuv", "rbc": "rank"}
NAMES = {"combsum": "sum", "combmnz": "mnz", "z-score": "sum"}  # of ranx


def test_fusions_are_those_of_ranx(compared: Comparisons) -> None:
    """ranx orders ties otherwise, and all of its runs need all topics."""
    ranx = pytest.importorskip("ranx")
    random = compared.random
    for example in EXAMPLES[:10]:
        topics = [(run, topic) for run in range(3) for topic in TOPICS]
        scores = {pair: {id: random.gauss(3, 2) for id in random.sample(IDS, 20)} for pair in topics}
        runs = [{topic: scores[run, topic] for topic in TOPICS} for run in range(3)]
        for method, norm in NORMS.items():
            options = {"norm": norm, "params": {"phi": 0.95} if method == "rbc" else None}
            theirs = ranx.fuse(runs=[*map(ranx.Run, runs)], method=NAMES.get(method, method), **options)
            ours = touche.fuse(runs, method).as_dict()
            for topic, of_topic in theirs.to_dict().items():
                compared.check(f"{method} in example {example}", ours[topic], of_topic, FLOAT32)
    assert compared.count > 5000


WORDS = [*(f"w{number}" for number in range(25)), "the", "of"]  # Porter's stemmer does not change them
FIELDS = {"premises": premises_of, "conclusion": conclusion_of}
TEXT = {"text": lambda document: document.text}


def random_text(random: Random, longest: int) -> str:
    """Returns a text in which the first words are frequent; one text in ten is empty, and one is long."""
    longest = random.choice([0, *[longest] * 8, 40 * longest])
    weights = [1 / (position + 1) for position in range(len(WORDS))]
    words = random.choices(WORDS, weights, k=random.randint(0, longest))
    return random.choice([" ", ", ", "... "]).join(random.choice([word, word.upper()]) for word in words)


def random_topics(random: Random) -> list[Topic]:
    """Returns topics whose titles repeat words; some have candidates, of which the collection lacks one."""
    topics = []
    for number in range(6):
        title = " ".join(random.choices([*WORDS, "elsewhere"], k=random.randrange(1, 6)))
        candidates = random.choice([None, frozenset(["missing", *random.sample(IDS, 12)])])
        topics.append(Topic(str(number), title, candidates=candidates))
    return topics


def plain_terms(text: str, analysis: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    return [word for word in words if analysis == "standard" or word not in ("the", "of")]


def plain_scores(
    query: list[str], among: Ids, collections: Collections, formula: Formula, options: Mapping[str, Any]
) -> Values:
    """Returns the scores of documents with a term of the query; each field has its own statistics."""
    parts = defaultdict[str, list[float]](list)
    for name, collection in collections.items():
        for id, counts in collection.documents.items():
            if counts.keys() & {*query} and (among is None or id in among):
                parts[id].append(options["boosts"][name] * formula(collection, query, id))
    joined = max if options["best_field"] else sum
    return {id: joined(of_fields) for id, of_fields in parts.items()}


@pytest.mark.parametrize("name", ["bm25", "dirichletlm", "dph", "dlh", "pl2", "terrier", "classic"])
def test_rankings_by_counting(name: str, compared: Comparisons, monkeypatch: pytest.MonkeyPatch) -> None:
    random = compared.random
    for example in EXAMPLES[:200]:
        for limit in ("_BATCH", "_MERGED"):  # so that a collection has many parts
            monkeypatch.setattr(f"touche.scan.reading.{limit}", random.choice([7, 20, 1000]))
        text_of = partial(random_text, random)  # at most so many words, or 40 times as many
        ids = random.sample(IDS, len(IDS))
        documents = [Argument(id, text_of(4), (text_of(12), text_of(12))) for id in ids]
        topics = random_topics(random)
        k1 = random.choice([0, 0.9, 2.7])
        b = random.random()
        mu = random.choice([0.5, 30, 2000])
        model, formula = {
            "bm25": (scan.bm25(k1, b), partial(Collection.bm25, k1=k1, b=b)),
            "dirichletlm": (scan.dirichletlm(mu), partial(Collection.dirichlet, mu=mu)),
            "dph": (scan.dph, partial(Collection.by_chance, formula=dph)),
            "dlh": (scan.dlh, partial(Collection.by_chance, formula=dlh)),
            "pl2": (scan.pl2(), partial(Collection.by_chance, formula=pl2)),
            "terrier": (None, partial(Collection.terrier_tfidf, k1=0.7, b=b)),
            "classic": (None, Collection.classic_tfidf),
        }[name]
        in_one_byte = name == "classic" or (name in ("bm25", "dirichletlm") and random.random() < 0.5)
        options = {"analysis": "english", "fields": TEXT, "boosts": {"text": 1}, "best_field": False}
        if model is None:
            rank = partial(baselines.load("tfidf"), topics, documents, variant=name, k1=0.7, b=b)
        else:
            fields = random.choice([TEXT, FIELDS])
            options["analysis"] = random.choice(["standard", "english"])
            boosts = {field: random.choice([0.5, 1, 1.7]) for field in fields}
            options |= {"fields": fields, "boosts": boosts, "best_field": random.random() < 0.5}
            lengths = one_byte if in_one_byte else scan.exact
            rank = partial(scan.rank, topics, documents, model, **options, kept_of_lengths=lengths)
        subject = f"{name} in example {example}"
        ranked = list(rank())
        depth = random.choice([1, 5])
        assert list(rank(depth=depth)) == [(topic, hits[:depth]) for topic, hits in ranked], subject
        collections = {}
        for field, text in options["fields"].items():
            counts = {each.id: Counter(plain_terms(text(each), options["analysis"])) for each in documents}
            collections[field] = Collection(counts, length_in_one_byte if in_one_byte else float)
        for topic, hits in ranked:
            query = plain_terms(topic.title, options["analysis"])
            scores = plain_scores(query, topic.candidates, collections, formula, options)
            last = sorted({*IDS}.intersection(topic.candidates or ()) - scores.keys(), reverse=True)
            others = dict.fromkeys(last, min([0.0, *scores.values()]))  # within the tolerance
            check_hits(compared, f"{subject}, {topic}", hits, scores | others)
            assert [id for id, _ in hits[len(scores) :]] == last, subject
    assert compared.count > 3000


def test_scores_of_stances_are_those_of_scikit_learn(compared: Comparisons, tmp_path: Path) -> None:
    random = compared.random
    for example in EXAMPLES:
        run_topics, judged_topics = (["1", *random.sample(TOPICS[1:], 4)] for _ in range(2))
        words = [*LABELS, "no", "first", "Q0"]
        pairs = [(topic, id) for topic in run_topics for id in random.sample(IDS, 20)]
        lines = [line_of(topic, id, random.choice(words)) for topic, id in pairs]
        used = random.sample(LABELS, random.randint(1, 4))
        judged = {name: {id: random.choice(used) for id in random.sample(IDS, 20)} for name in judged_topics}
        shared = [line for line in lines if line.document in judged.get(line.topic, {})]
        true = [judged[line.topic][line.document] for line in shared]
        detected = [line.stance.upper() for line in shared]
        path = tmp_path / "stance.qrels"
        pairs = [(topic, id) for topic in judged for id in judged[topic]]
        rows = [f"{topic} 0 {id} {judged[topic][id]}\n" for topic, id in pairs]
        path.write_text("".join(rows), encoding="utf-8")
        (score,) = touche.evaluate(Run.of(lines), "touche-2022-task-2", measure="macro F1", qrels=path)
        columns = precision_recall_fscore_support(true, detected, labels=LABELS, zero_division=0)
        subject = f"stances of example {example}"
        compared.check(subject, [score.mean, score.results], [fmean(columns[2]), len(shared)])
        evaluation = evaluate_stances(lines, read_stances(path, LABELS), LABELS)
        by_class = evaluation.by_class().values()
        classes = [(row.precision, row.recall, row.f1, row.documents) for row in by_class]
        compared.check(subject, np.ravel(classes).tolist(), np.transpose(columns).ravel().tolist())
        matrix = confusion_matrix(true, detected, labels=[*LABELS, "Q0"])[:-1].ravel().tolist()
        compared.check(subject, np.ravel(evaluation.totals).tolist(), matrix)
    assert compared.count > 5000
