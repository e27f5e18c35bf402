"""Does the verdict tell a baseline from itself with another setting? Counted on official data.

python docs/site/other_settings.py    # prints two tables of docs/explanation/same-system.md

``make outputs`` renews these tables. The data comes from TOUCHE_DATA, and other stemmers and stop words from
Lucene.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from statistics import fmean
from typing import Any

import same_system
import tables
from touche import Documents, baselines, conclusion_of, lucene, premises_of, scan, tasks
from touche.baselines.rankings import Rankings
from touche.data.datasets import open_dataset
from touche.data.judgments import task_qrels
from touche.documents.statistics_files import StatisticsFiles
from touche.evaluation.evaluators import touche as by_script
from touche.evaluation.same_system import (
    EQUAL,
    IDENTICAL,
    OTHER_TEAMS,
    REPRODUCED,
    SAME_TEAM,
    Closeness,
    closeness,
    share_of_sets,
)
from touche.tasks.per_topic import TopicValues, runs_with_topics
from touche.tasks.task_records import MEASURE, rounded
from touche.trec.columns import Run
from touche.trec.runs import RunLine

DIMENSIONS = ("relevance", "quality")
ACCEPTED = (IDENTICAL, REPRODUCED)
DEPTH = 10  # the measure needs five
STEMMERS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "Porter": ("porterStem",),
    "Krovetz": ("kStem",),
    "S": ("englishMinimalStem",),
}
STOP_WORDS = ("none", "lucene", "snowball")
NEAR_FACTORS = (0.9, 0.95, 1.05, 1.1)  # of a parameter
FAR_FACTORS = (0.5, 0.75, 1.25, 1.5, 2.0)
NEAR = "by at most 10%"
ALL = "all"  # the last row
TWO_FIELDS: scan.Fields = {"premises": premises_of, "conclusion": conclusion_of}
OTHER_BASELINES: list[tuple[str, dict[str, Any]]] = [
    ("bm25", {}),
    ("dirichletlm", {}),
    *(("dph", {"model": model}) for model in ("DPH", "DLH", "PL2")),
    ("rank-bm25", {}),
    *(("tfidf", {"variant": variant}) for variant in ("terrier", "classic")),
]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A baseline taken apart, so that any part can be replaced.

    Attributes:
        formula: returns the scan's formula with these parameters.
        similarity: returns Lucene's.
        parameters: the parameters' defaults by name.
        analysis: the name of the scan's analysis.
        first_filters: Lucene's filters before those for stop words and stems.
        stop_words, stemmer: the rest of this analysis, as keys of ``STOP_WORDS`` and ``STEMMERS``.
        fields: an argument's fields.
        statistics: a file in the baselines' folder with the whole collection's statistics.
    """

    formula: Callable[..., scan.Formula]
    similarity: Callable[..., Any]
    parameters: Mapping[str, float]
    analysis: str
    first_filters: tuple[str, ...]
    stop_words: str
    stemmer: str
    fields: scan.Fields
    statistics: str


METHODS = {
    "dirichletlm": Method(
        formula=scan.dirichletlm,
        similarity=lucene.dirichlet,
        parameters={"mu": 2000.0},
        analysis="standard",
        first_filters=("lowercase",),
        stop_words="none",
        stemmer="none",
        fields=TWO_FIELDS,
        statistics="dirichletlm/statistics/argsme-2020-04-01.json",
    ),
    "bm25": Method(
        formula=scan.bm25,
        similarity=lucene.bm25,
        parameters={"k1": 0.9, "b": 0.4},
        analysis="english",
        first_filters=("englishPossessive", "lowercase"),
        stop_words="lucene",
        stemmer="Porter",
        fields=scan.ONE_FIELD,
        statistics="bm25/statistics/touche-2022-task-2.json",
    ),
}


@dataclass(frozen=True)
class Original:
    """What reruns with other settings are compared with.

    Attributes:
        baseline: the baseline.
        dataset: the dataset that is ranked.
        tag: the published run's tag. If empty, the original is our own rerun with the default settings, and
            only judged documents are ranked, because the dataset lacks most documents.
    """

    baseline: str
    dataset: str
    tag: str = ""


ORIGINALS = (
    Original("dirichletlm", "touche-2021-task-1/ten-topics", "dirichlet_multi_field"),
    Original("bm25", "touche-2022-task-2/twenty-topics", "BM25-Baseline"),
    Original("dirichletlm", "touche-2021-task-1/sample"),
    Original("bm25", "touche-2021-task-1/sample"),
    Original("dirichletlm", "touche-2022-task-2/sample"),
    Original("bm25", "touche-2022-task-2/sample"),
)


SUBSETS = {
    "touche-2021-task-1": [original for original in ORIGINALS if original.dataset.endswith("/ten-topics")],
    "touche-2022-task-2": [
        original for original in ORIGINALS if original.dataset == "touche-2022-task-2/sample"
    ],
}  # of each task, the originals whose first documents are all judged


class Reruns:
    """Reruns of an original with other settings."""

    def __init__(self, original: Original) -> None:
        source = open_dataset(original.dataset)
        self.method = METHODS[original.baseline]
        self.baseline = original.baseline
        self.task = tasks.task(original.dataset)
        self.qrels = {dimension: task_qrels(self.task, dimension) for dimension in DIMENSIONS}
        self.topics = source.topics
        self.counted = source.documents  # ranked with their own statistics
        self.documents = source.documents
        self.is_fitted = bool(original.tag)
        if self.is_fitted:
            folder = baselines.baseline_folder(original.baseline).parent
            self.documents = self.counted.with_statistics(
                StatisticsFiles(known=folder / self.method.statistics)
            )
        else:
            ids = {document.id for document in self.counted}
            judged = self.qrels["relevance"]
            self.topics = tuple(
                replace(topic, candidates=frozenset(ids & judged[topic.number].keys()))
                for topic in source.topics
            )

    def by_scan(self, documents: Documents | None = None, **changes: Any) -> Rankings:
        """Ranks with the scan; ``changes`` replace its arguments."""
        how: dict[str, Any] = {
            "model": self.method.formula(**self.method.parameters),
            "analysis": self.method.analysis,
            "fields": self.method.fields,
            "best_field": True,
            "depth": DEPTH,
        }
        return scan.rank(self.topics, self.documents if documents is None else documents, **how | changes)

    def by_lucene(self, stop_words: str, stemmer: str) -> Rankings:
        """Ranks with Lucene, using a list of stop words and a stemmer."""
        filters = (*self.method.first_filters, "stop", *STEMMERS[stemmer])
        with lucene.index(
            self.counted,
            analyzer=lucene.Chain(filters, stop_words=lucene.stop_words(stop_words)),
            similarity=self.method.similarity(**self.method.parameters),
            fields=self.method.fields,
            queries=[topic.title for topic in self.topics],
        ) as index:
            for topic in self.topics:
                yield topic, index.search(topic.title, DEPTH, among=topic.candidates, best_field=True)

    def values(self, rankings: Rankings) -> TopicValues:
        """Returns rankings' values by dimension and topic."""
        run = Run.of(
            RunLine(topic=topic.number, stance="Q0", document=id, rank=rank, score=score, tag=self.baseline)
            for topic, hits in rankings
            for rank, (id, score, *_) in enumerate(hits, 1)
        )
        return {name: by_script(run, self.qrels[name], MEASURE).per_topic for name in DIMENSIONS}

    def with_other_settings(self) -> Iterator[tuple[str, str, Rankings]]:
        """Yields what is changed, the setting, and the rankings."""
        yield from self._with_other_parameters()
        if not self.is_fitted:  # terms after another analysis have no fitted frequencies
            yield from self._with_other_analyses()
        if self.task.rules.unit == "argument":  # other documents are one field
            yield from self._with_other_fields()
        yield "lengths exact, not in one byte", "exact", self.by_scan(length_rounding=scan.exact)
        if self.is_fitted:
            yield "the documents' own frequencies", "own", self.by_scan(self.counted)
        for name, options in OTHER_BASELINES:
            if name != self.baseline:
                setting = " ".join([name, *options.values()])
                yield "another baseline", setting, baselines.load(name)(self.topics, self.counted, **options)

    def _with_other_parameters(self) -> Iterator[tuple[str, str, Rankings]]:
        parameters = self.method.parameters
        for name, default in parameters.items():
            row = "b" if name == "b" else "mu or k1"
            for distance, factors in ((NEAR, NEAR_FACTORS), ("by 25% or more", FAR_FACTORS)):
                for value in (default * factor for factor in factors):
                    model = self.method.formula(**{**parameters, name: value})
                    yield f"{row}, {distance}", f"{name} {value:,g}", self.by_scan(model=model)

    def _with_other_analyses(self) -> Iterator[tuple[str, str, Rankings]]:
        for stemmer in STEMMERS:
            if stemmer != self.method.stemmer:
                yield "stemmer", stemmer, self.by_lucene(self.method.stop_words, stemmer)
        for stop_words in STOP_WORDS:
            if stop_words != self.method.stop_words:
                yield "stop words", stop_words, self.by_lucene(stop_words, self.method.stemmer)

    def _with_other_fields(self) -> Iterator[tuple[str, str, Rankings]]:
        for name, field in TWO_FIELDS.items():
            yield "fields", name, self.by_scan(fields={name: field})
        yield "fields", "sum of both", self.by_scan(fields=TWO_FIELDS, best_field=False)
        if self.method.fields != TWO_FIELDS:
            yield "fields", "better of both", self.by_scan(fields=TWO_FIELDS)


@dataclass(frozen=True)
class Outcome:
    """What the verdict is on a rerun with another setting.

    Attributes:
        change: what is changed, a row of the table.
        setting: the setting.
        verdict: the verdict.
        equal: how many of a topic's values are equal, for each topic.
    """

    change: str
    setting: str
    verdict: str
    equal: tuple[int, ...]


@cache
def outcomes(original: Original) -> tuple[Outcome, ...]:
    """Returns the verdict on each rerun of an original with another setting."""
    reruns = Reruns(original)
    if original.tag:
        values = published_values(original.dataset, original.tag)
    else:
        values = reruns.values(reruns.by_scan())
    results = []
    for change, setting, rankings in reruns.with_other_settings():
        rerun = reruns.values(rankings)
        close = closeness(reruns.task, MEASURE.name, values, rerun, original.tag)
        assert close is not None  # the tasks have published values
        results.append(Outcome(change, setting, close.verdict, equal_by_topic(values, rerun)))
    return tuple(results)


def published_values(dataset: str, tag: str) -> TopicValues:
    """Returns the values that are published for a run on the dataset's topics."""
    [run] = [run for run in runs_with_topics(tasks.task(dataset), MEASURE.name) if run.tag == tag]
    return {name: run.values[name] for name in DIMENSIONS}


def equal_by_topic(original: TopicValues, rerun: TopicValues) -> tuple[int, ...]:
    """Returns how many values of each of the original's topics are equal, to the published decimals."""
    return tuple(
        sum(
            topic in rerun[name] and rounded(original[name][topic]) == rounded(rerun[name][topic])
            for name in DIMENSIONS
        )
        for topic in original[DIMENSIONS[0]]
    )


@cache
def fewest_equal(task_id: str, topics: int) -> Closeness | None:
    """Returns how close a rerun of so many topics must at least be for *reproduced*.

    It's assumed that no other published run is as close on these topics.

    None if even equal values on all of the topics aren't enough.
    """
    task = tasks.task(task_id)
    run = runs_with_topics(task, MEASURE.name)[0]
    values = {name: dict(list(run.values[name].items())[:topics]) for name in DIMENSIONS}
    cells = [(name, topic) for topic in values[DIMENSIONS[0]] for name in DIMENSIONS]
    for equal in range(ceil(EQUAL * len(cells)), len(cells) + 1):
        rerun: dict[str, dict[str, float]] = {name: {} for name in DIMENSIONS}
        for name, topic in cells[:equal]:
            rerun[name][topic] = values[name][topic]
        close = closeness(task, MEASURE.name, values, rerun)
        assert close is not None  # the tasks have published values
        if close.share_of_pairs <= OTHER_TEAMS and close.share_of_team_pairs <= SAME_TEAM:
            return close
    return None


def settings_column(original: Original) -> dict[str, str]:
    """Returns how many settings the verdict accepts, such as ``3 of 4``, by what they change."""
    changes = Counter(outcome.change for outcome in outcomes(original))
    accepted = Counter(outcome.change for outcome in outcomes(original) if outcome.verdict in ACCEPTED)
    column = {change: f"{accepted[change]} of {tried}" for change, tried in changes.items()}
    return column | {ALL: f"**{accepted.total()} of {changes.total()}**"}


def heading(original: Original) -> str:
    """Returns the heading of an original's column."""
    topics = len(outcomes(original)[0].equal)
    kind = "published values" if original.tag else "our values"
    return f"{original.baseline}, `{original.dataset}`: {kind} of {topics} topics"


def settings_table() -> str:
    """Returns a Markdown table: how many other settings of each original the verdict accepts."""
    columns = [settings_column(original) for original in ORIGINALS]
    longest_first = sorted(columns, key=len, reverse=True)
    changes = dict.fromkeys(change for column in longest_first for change in column if change != ALL)
    return tables.table(
        ["changed", *map(heading, ORIGINALS)],
        [[change, *(column.get(change, "–") for column in columns)] for change in (*changes, ALL)],
    )


def subsets_table() -> str:
    """Returns a Markdown table: how many reruns and how many published runs are accepted on so many topics.

    Shares are over all sets of so many topics, as the mean over the reruns or over the pairs of runs.
    """
    lines = []
    for task_id, originals in SUBSETS.items():
        reruns = [outcome for original in originals for outcome in outcomes(original)]
        near = [outcome.equal for outcome in reruns if outcome.change.endswith(NEAR)]
        other = [outcome.equal for outcome in reruns if not outcome.change.endswith(NEAR)]
        for topics in (1, 2, 5, 10, 20, 50):
            close = fewest_equal(task_id, topics)
            if close is None:
                lines.append([task_id, str(topics), "all aren't enough", *4 * ["0"]])
                continue
            shares = [
                share_accepted(near, topics, close.equal),
                share_accepted(other, topics, close.equal),
                close.share_of_team_pairs,
                close.share_of_pairs,
            ]
            lines.append([task_id, str(topics), f"{close.equal} of {close.values}", *map(percent, shares)])
    columns = ["task", "topics", "must be equal", f"mu, k1 or b, {NEAR}", "all else"]
    return tables.table([*columns, "one team's runs", "other teams' runs"], lines)


def share_accepted(reruns: Sequence[Sequence[int]], topics: int, least: int) -> float | None:
    """Returns the share of sets of topics with at least so many equal values, as the mean over reruns.

    Args:
        reruns: how many of a topic's values are equal, for each topic of each rerun.
        topics: how many topics a set has.
        least: how many equal values a set must have.

    Returns:
        None if the reruns have fewer topics.
    """
    if len(reruns[0]) < topics:
        return None
    return fmean(share_of_sets(Counter(equal), topics, least) for equal in reruns)


def percent(share: float | None) -> str:
    """Returns a share with two digits; shares below a hundred-thousandth of a percent are 0."""
    return "–" if share is None else same_system.percent(share)


if __name__ == "__main__":
    print(settings_table(), subsets_table(), sep="\n\n")
