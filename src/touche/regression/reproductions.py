"""The baselines' published values, and what their reruns scored."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import ClassVar

from touche import tasks
from touche.baselines.expected import (
    PINNED,
    PUBLISHED,
    ExpectedScore,
    ExpectedTopics,
    read_expected,
)
from touche.baselines.reruns import evaluation_command, rerun_command
from touche.data.places import shipped, shipped_baselines
from touche.data.remedies import reason_without
from touche.evaluation.same_system import note_on_means
from touche.io.grouping import group_by
from touche.regression.log import LOG_FILE, LoggedScore, read_log
from touche.regression.outcomes import PASSED, same_as_published
from touche.trec.framed import Columns, Table

_SOURCE = attrgetter("dataset", "date", "by", "commit", "run", "md5")  # the same in all rows of one rerun


@dataclass(frozen=True)
class Reproduction:
    """A baseline's published value with its reruns, or its score on a sample if nothing is published.

    Its columns are the ``baseline``, ``command``, ``dataset``, ``dimension``, ``measure``, ``evaluator``,
    ``published`` value, ``tolerance`` and ``source`` of the expected score, the score on the ``sample``, and
    the other attributes.

    Attributes:
        expected: the score that a rerun must reach: the published value or, if nothing is published, our
            score on the sample.
        sample: our score on the corpus sample, or None. It isn't comparable with the published value, because
            a sample contains only some of the documents. ``on_sample.judged`` is the judged share of its
            first results.
        on_corpus: the last rerun on the whole corpus that was within the tolerance, or None.
        on_topics: this dimension in the last rerun of published topic values, whatever it gave, or None.
        on_sample: the last rerun on the sample that was within the tolerance, or None.
        missing: why the published value hasn't been rerun within its tolerance; empty if it has.
    """

    COLUMNS: ClassVar[Columns] = {
        "baseline": attrgetter("expected.baseline"),
        "command": attrgetter("expected.command"),
        "dataset": attrgetter("dataset"),
        "dimension": attrgetter("expected.dimension"),
        "measure": attrgetter("expected.measure"),
        "evaluator": attrgetter("expected.evaluator"),
        "published": attrgetter("expected.published"),
        "tolerance": attrgetter("tolerance"),
        "source": attrgetter("expected.source"),
        "sample": lambda record: record.sample and record.sample.pinned,
        "on_corpus": lambda record: record.on_corpus and asdict(record.on_corpus),
        "on_topics": lambda record: record.on_topics and asdict(record.on_topics),
        "on_sample": lambda record: record.on_sample and asdict(record.on_sample),
        "missing": attrgetter("missing"),
        "rerun": attrgetter("rerun"),
        "evaluate": attrgetter("evaluate"),
    }

    expected: ExpectedScore
    sample: ExpectedScore | None
    on_corpus: LoggedScore | None
    on_topics: LoggedScore | None
    on_sample: LoggedScore | None
    missing: str

    @property
    def dataset(self) -> str:
        """The task's id, which also stands for the whole corpus."""
        return _task_id(self.expected)

    @property
    def tolerance(self) -> float | None:
        """How far a rerun may be off; None without a published value."""
        return self.expected.tolerance if self.expected.kind == PUBLISHED else None

    @property
    def rerun(self) -> str:
        """The command for a rerun; on the sample if nothing is published."""
        return rerun_command(self.expected)

    @property
    def evaluate(self) -> str:
        """The command that evaluates this rerun with the expected score's measure."""
        measures = [] if self.expected.has_task_measure else [self.expected.measure]
        return evaluation_command(self.expected.dataset, measures)

    @property
    def last(self) -> LoggedScore | None:
        """The last rerun within the tolerance: on the whole corpus, or else on some topics, or else on the
        sample.
        """
        green_topics = self.on_topics if self.reproduces_topics else None
        return self.on_corpus or green_topics or self.on_sample

    @property
    def reproduces_topics(self) -> bool:
        """Whether the last rerun on single topics reproduced all their published values."""
        return bool(self.on_topics and self.on_topics.reproduced == self.on_topics.topics)


def reproductions(task: str | None = None) -> Table[Reproduction]:
    """Returns the shipped baselines' published values, each with our score on a sample and its reruns.

    The values come from each expected.toml, the reruns from ``baselines/reproductions.csv``, the log that
    ``regress`` can append to. A rerun only counts if it's within the tolerance of the current value.

    Args:
        task: the task's id; None for all tasks.

    Returns:
        A ``touche.regression.reproductions.Reproduction`` per value, sorted by baseline and dataset. If a
        baseline has no published value on a dataset, its first score on the sample stands in. The notes say
        whether reruns on single topics are the same system.

    Raises:
        ToucheError: if there is no such task, or an expected.toml or the log is damaged.

    Examples:
        >>> import touche
        >>> first = touche.reproductions("touche-2022-task-1")[0]
        >>> first.expected.baseline, first.expected.dimension, first.expected.published
        ('argsrank', 'relevance', 0.356)
    """
    task_id = None if task is None else tasks.task(task).id
    root = shipped()
    log = read_log(root / "baselines" / LOG_FILE) if root else []
    records = [record for name in shipped_baselines() for record in _reproductions(name, log)]
    if task_id is not None:
        records = [record for record in records if record.dataset == task_id]
    return Table(Reproduction, tuple(records), notes=tuple(_notes(records)))


def _notes(records: Sequence[Reproduction]) -> Iterator[str]:
    """Yields what reruns on single topics and on whole corpora show."""
    rows = [record.on_topics for record in records if record.on_topics]  # one per dimension
    by_run = group_by(rows, lambda row: (row.baseline, row.dataset))
    for (command, dataset), rows_of_run in by_run.items():
        yield f"{command} on {dataset}: {verdict_on_topics(rows_of_run)}"
    if any(record.on_corpus for record in records):
        yield note_on_means()


def verdict_on_topics(rows: Sequence[LoggedScore]) -> str:
    """Returns whether a logged rerun of topic values is the same system as the published run, in sentences.

    Args:
        rows: the rerun's rows, one per dimension. If a topic differs, its value isn't in the log, so only the
            equal ones are counted.
    """
    reproduced = sum(row.reproduced or 0 for row in rows)
    total = sum(row.topics or 0 for row in rows)
    if reproduced < total:
        return f"{reproduced} of {total} topic values are equal."
    name, _, _ = rows[0].baseline.partition(" ")
    entries = (entry for entry in read_expected(name, [rows[0].dataset]) if isinstance(entry, ExpectedTopics))
    [entry] = [entry for entry in entries if entry.command == rows[0].baseline]
    published = entry.topic_values
    return same_as_published(entry, {row.dimension: published[row.dimension] for row in rows})


def _reproductions(name: str, log: Sequence[LoggedScore]) -> list[Reproduction]:
    """Returns a baseline's published values. For tasks without any, it returns one score on the sample.

    It prefers a score in the dimension and with the evaluator of published results.
    """
    entries = read_expected(name)
    scores = [entry for entry in entries if isinstance(entry, ExpectedScore) and entry.needs_rerun]
    expected_topics = [entry for entry in entries if isinstance(entry, ExpectedTopics)]
    published = [entry for entry in scores if entry.kind == PUBLISHED]
    samples = [entry for entry in scores if entry.kind == PINNED and entry.dataset.endswith("/sample")]
    records = []
    for entry in published:
        samples_of_task = [sample for sample in samples if _task_id(sample) == _task_id(entry)]
        counterparts = [sample for sample in samples_of_task if _key(sample) == _key(entry)]
        records.append(_reproduction(entry, counterparts[0] if counterparts else None, expected_topics, log))
    tasks_in_records = {record.dataset for record in records}
    for sample in sorted(samples, key=is_scored_as_published, reverse=True):
        task_id = _task_id(sample)
        if task_id not in tasks_in_records:
            tasks_in_records.add(task_id)
            records.append(_reproduction(sample, sample, expected_topics, log))
    return sorted(records, key=lambda record: (record.dataset, record.expected.command))


def is_scored_as_published(score: ExpectedScore) -> bool:
    """Returns whether published results of the task have the same dimension, measure and evaluator."""
    kind = (score.dimension, score.measure, score.evaluator)
    published = tasks.task(_task_id(score)).published
    return any((row.dimension, row.measure, row.evaluator) == kind for row in published)


def _reproduction(
    entry: ExpectedScore,
    sample: ExpectedScore | None,
    expected_topics: Sequence[ExpectedTopics],
    log: Sequence[LoggedScore],
) -> Reproduction:
    """Adds the reruns to an entry.

    Args:
        entry: a published value, or a score on a sample if nothing is published.
        sample: the same command's score on the sample, with the same dimension and evaluator, or None.
        expected_topics: the baseline's published topic values.
        log: the log of reruns.
    """
    task = tasks.task(_task_id(entry))
    is_published = entry.kind == PUBLISHED
    key = _key(entry)
    reruns = [row for row in log if (row.baseline, row.dimension, row.evaluator) == key]
    reruns_on_corpus = [row for row in reruns if (row.dataset, row.expected) == (task.id, entry.value)]
    same_run = [
        other for other in expected_topics if (other.command, _task_id(other)) == (entry.command, task.id)
    ]
    same_dimension = [other for other in same_run if is_published and entry.dimension in other.dimensions]
    # How many topics each dataset of single topics has.
    topics_by_dataset = {
        other.dataset: len(tasks.dataset(other.dataset)[0].only_topics) for other in same_dimension
    }
    # Rows about means have no number of topics. If the number differs, the choice of topics has
    # changed since.
    command, dimension, evaluator = key
    rows_on_topics = [
        row
        for row in log
        if (row.baseline, row.evaluator) == (command, evaluator)
        and row.topics
        and row.topics == topics_by_dataset.get(row.dataset)
    ]
    # One rerun has a row per dimension. Only these say together whether it's the same system.
    last_on_topics = [row for row in rows_on_topics if _SOURCE(row) == _SOURCE(rows_on_topics[-1])]
    of_dimension = [row for row in last_on_topics if row.dimension == dimension]
    on_corpus = _last_green(entry, reruns_on_corpus)
    if on_corpus:
        missing = ""
    elif reruns_on_corpus:
        last = reruns_on_corpus[-1]
        missing = f"the rerun of {last.date} scored {last.got:.3f}"
    else:
        corpus = f"corpora/{task.corpora['full'].directory}"
        missing = f"not rerun yet; {reason_without(corpus)}" if is_published else "no value is published"
    return Reproduction(
        expected=entry,
        sample=sample,
        on_corpus=on_corpus,
        on_topics=of_dimension[-1] if of_dimension else None,
        on_sample=_last_green(sample, reruns) if sample else None,
        missing=missing,
    )


def _key(entry: ExpectedScore) -> tuple[str, str, str]:
    """Returns what an entry shares with log rows and with entries for other datasets.

    These are the baseline with its options, the dimension (or the value's other name), and the evaluator.
    """
    value_name, evaluator = entry.value_name_and_evaluator
    return entry.command, value_name, evaluator


def _task_id(entry: ExpectedScore | ExpectedTopics) -> str:
    return tasks.dataset(entry.dataset)[0].id


def _last_green(entry: ExpectedScore, log: Iterable[LoggedScore]) -> LoggedScore | None:
    """Returns the last log row that's within the entry's current tolerance of its current value."""
    rows = [row for row in log if row.dataset == entry.dataset and row.expected == entry.value]
    green = [row for row in rows if row.verdict == PASSED and entry.accepts(row.got)]
    return green[-1] if green else None
