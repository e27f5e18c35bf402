"""Lists the published values of baselines, together with the scores of reruns."""

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

# These columns are the same in all rows of one rerun.
_SOURCE = attrgetter("dataset", "date", "by", "commit", "run", "md5")


@dataclass(frozen=True)
class Reproduction:
    """A baseline's published value with its reruns. If nothing is published, the baseline's score on a
    sample.

    The first columns of tables describe the expected score: ``baseline``, ``command``, ``dataset``,
    ``dimension``, ``measure``, ``evaluator``, ``published`` value, ``tolerance`` and ``source``. Then come
    the score on the ``sample`` and the other attributes.

    Attributes:
        expected: the score that a rerun must reach: the published value or, if nothing is published, our
            score on the sample.
        sample: our score on the corpus sample, or None. It isn't comparable with the published value, because
            a sample contains only some of the documents. ``on_sample.judged`` is the judged share of its
            first results.
        on_corpus: the last rerun on the whole corpus that was within the tolerance, or None.
        on_topics: the row for this dimension from the last rerun on topics with published values, whatever
            its result; None if there is no such rerun.
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
        """The id of the dataset with the task's whole corpus, which is the task's id."""
        return _task_id(self.expected)

    @property
    def tolerance(self) -> float | None:
        """By how much a rerun's value may differ from the published one; None if nothing is published."""
        return self.expected.tolerance if self.expected.kind == PUBLISHED else None

    @property
    def rerun(self) -> str:
        """The command that reruns the baseline on the whole corpus, or on the sample if nothing is
        published.
        """
        return rerun_command(self.expected)

    @property
    def evaluate(self) -> str:
        """The command that evaluates this rerun with the expected score's measure."""
        measures = [] if self.expected.has_task_measure else [self.expected.measure]
        return evaluation_command(self.expected.dataset, measures)

    @property
    def last(self) -> LoggedScore | None:
        """The last rerun that was within the tolerance. A rerun on the whole corpus is preferred to one on
        topics with published values, and that to one on the sample.
        """
        green_topics = self.on_topics if self.reproduces_topics else None
        return self.on_corpus or green_topics or self.on_sample

    @property
    def reproduces_topics(self) -> bool:
        """Whether the last rerun on topics with published values reproduced all these values."""
        return bool(self.on_topics and self.on_topics.reproduced == self.on_topics.topics)


def reproductions(task: str | None = None) -> Table[Reproduction]:
    """Returns the shipped baselines' published values, each with our score on a sample and its reruns.

    The values are read from each baseline's expected.toml. The reruns are read from the log
    ``baselines/reproductions.csv``, to which ``regress`` can append. A rerun only counts if it's within the
    tolerance of the current value.

    Args:
        task: the task's id; None for all tasks.

    Returns:
        A ``touche.regression.reproductions.Reproduction`` per value, sorted by baseline and dataset. If no
        value is published for a baseline on a dataset, there is a record with its first score on the sample
        instead. The notes say whether reruns on topics with published values are the same system.

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
    """Yields sentences that say what can be concluded from reruns on topics with published values, and from
    those on whole corpora.
    """
    rows = [record.on_topics for record in records if record.on_topics]  # one row per dimension
    by_run = group_by(rows, lambda row: (row.baseline, row.dataset))
    for (command, dataset), rows_of_run in by_run.items():
        yield f"{command} on {dataset}: {verdict_on_topics(rows_of_run)}"
    if any(record.on_corpus for record in records):
        yield note_on_means()


def verdict_on_topics(rows: Sequence[LoggedScore]) -> str:
    """Returns sentences that say whether a logged rerun on topics with published values is the same system as
    the published run.

    Args:
        rows: the rerun's rows, one per dimension. The log contains only the number of equal values, and not
            the values themselves, so only these can be used.
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
    """Returns a record for each of a baseline's published values. If nothing is published for a task, returns
    one record with a score on the sample, if possible in the dimension and with the evaluator of the task's
    published results.
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
    """Returns whether the task has published results with the same dimension, measure and evaluator as this
    score.
    """
    kind = (score.dimension, score.measure, score.evaluator)
    published = tasks.task(_task_id(score)).published
    return any((row.dimension, row.measure, row.evaluator) == kind for row in published)


def _reproduction(
    entry: ExpectedScore,
    sample: ExpectedScore | None,
    expected_topics: Sequence[ExpectedTopics],
    log: Sequence[LoggedScore],
) -> Reproduction:
    """Returns the record for an entry, with its reruns.

    Args:
        entry: a published value, or a score on a sample if nothing is published.
        sample: the entry for the same command, dimension and evaluator on the sample; None if there is none.
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
    # The number of topics with published values, by dataset.
    topics_by_dataset = {
        other.dataset: len(tasks.dataset(other.dataset)[0].only_topics) for other in same_dimension
    }
    # Only use rows with this number of topics. Rows about means have none, and if a row's number differs, the
    # choice of topics has changed since then.
    command, dimension, evaluator = key
    rows_on_topics = [
        row
        for row in log
        if (row.baseline, row.evaluator) == (command, evaluator)
        and row.topics
        and row.topics == topics_by_dataset.get(row.dataset)
    ]
    # All rows of the last rerun: there is one per dimension, and all are needed to tell whether it's the same
    # system.
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
    """Returns what identifies the same score in log rows and in entries for other datasets: the baseline with
    its options, the dimension (or what the value is called instead), and the evaluator.
    """
    value_name, evaluator = entry.value_name_and_evaluator
    return entry.command, value_name, evaluator


def _task_id(entry: ExpectedScore | ExpectedTopics) -> str:
    return tasks.dataset(entry.dataset)[0].id


def _last_green(entry: ExpectedScore, log: Iterable[LoggedScore]) -> LoggedScore | None:
    """Returns the last row in the log whose value is within the tolerance of the expected value, given the
    value and the tolerance that the entry has now.
    """
    rows = [row for row in log if row.dataset == entry.dataset and row.expected == entry.value]
    green = [row for row in rows if row.verdict == PASSED and entry.accepts(row.got)]
    return green[-1] if green else None
