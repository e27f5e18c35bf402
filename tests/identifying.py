"""Small samples for the tests of touche identify."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from touche import baselines
from touche.documents.discovery import Input
from touche.documents.document_records import Document
from touche.lab.identification import search
from touche.lab.identification.counts import ANALYSES, NAMED, FieldCounts, count_terms
from touche.lab.identification.fitting import Fit, Problem
from touche.lab.identification.hypotheses import Hypothesis
from touche.lab.identification.samples import Array, Sample, sample_of
from touche.scan.statistics import Statistics
from touche.trec.runs import RunLine
from touche.trec.topics import Topic

STANDARD = ANALYSES[0]
TEXT = ("text",)
PAIR = ("premises", "conclusion")


def line(topic: str, document: str, score: float = 1.0) -> RunLine:
    """A line of a run."""
    return RunLine(topic, "Q0", document, 0, score, "made up")


def sample(texts: Mapping[str, str], titles: Mapping[str, str], run: Sequence[RunLine]) -> Sample:
    """A sample of documents that have one text each."""
    topics = [Topic(number, title) for number, title in titles.items()]
    return sample_of(run, topics, [Document(id, text) for id, text in texts.items()], "made up")


def by_baseline(name: str, source: Input, **options: object) -> list[RunLine]:
    """The run of a baseline, with its default options except for these."""
    baseline = baselines.load(name)
    settings = {key: option.default for key, option in baseline.options.items()} | options
    ranked = baseline.method(source.topics, source.documents, **settings)
    return [line(topic.number, hit[0], float(hit[1])) for topic, hits in ranked for hit in hits]


def search_named_analyses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches only hypotheses with engines' default analyses; nightly tests search all."""
    monkeypatch.setattr(
        search, "count_terms", lambda sample, documents: count_terms(sample, [*NAMED.values()], documents)
    )


def made_counts(seed: int, rows: int = 12, terms: int = 3) -> FieldCounts:
    """Random counts, in which each document has each term or not."""
    random = np.random.default_rng(seed)
    row, term = np.nonzero(random.random((rows, terms)) < 0.7)
    tf = random.integers(1, 9, len(row)).astype(float)
    lengths = random.integers(50, 500, rows).astype(float)
    qtf = random.integers(1, 3, terms)[term].astype(float)
    return FieldCounts(
        rows=row,
        terms=term,
        tf=tf,
        qtf=qtf,
        lengths=lengths,
        vocabulary=tuple(f"t{n}" for n in range(terms)),
        statistics=Statistics(
            documents=rows,
            tokens=int(lengths.sum()),
            df=np.bincount(term, minlength=terms),
            ttf=np.bincount(term, tf, minlength=terms).astype(np.int64),
        ),
    )


def fit(errors: Sequence[float] | Array, numbers: int = 1, **axes: object) -> Fit:
    """Returns a fit with these errors and this many free parameters."""
    hypothesis = Hypothesis(**({"model": "DPH", "analysis": STANDARD, "fields": TEXT} | axes))  # type: ignore[arg-type]
    zeros = np.zeros(numbers)
    problem = Problem(hypothesis, (), np.zeros(len(errors)))
    return Fit(problem, zeros, zeros, np.array(errors, dtype=float), numbers)
