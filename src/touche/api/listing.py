"""Lists what there is: tasks, baselines and published results, as records."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from touche import tasks
from touche.baselines.expected import ExpectedScore
from touche.baselines.extras import extra_in_dockerfile
from touche.baselines.loader import baseline_folder, load, names
from touche.baselines.reruns import command_of, published_scores, rerun_of
from touche.data.checking import CheckedCard, check_files
from touche.data.for_tira import write_dataset
from touche.errors import InputError, ToucheError, choice
from touche.evaluation.leaderboard import Level, levels, rank, shortlist
from touche.io.grouping import group_by
from touche.io.identifiers import as_path, baseline_names, name_or_path
from touche.tasks import STANCE, Published, Task, per_topic
from touche.tasks.cards import read_card
from touche.tasks.per_topic import PublishedTopic
from touche.tasks.reported import Reported, reported_results
from touche.trec.framed import Table


@dataclass(frozen=True)
class ListedTask:
    """A task in the list of all tasks.

    Attributes:
        id: the id, such as ``touche-2021-task-1``.
        title: the title.
        unit: the ranked unit, such as ``argument``.
        measure: the measure of the runs, such as ``nDCG@5``.
        dimensions: the judged dimensions, such as ``relevance``.
        datasets: the ids of its datasets; the first is the task with its whole collection.
        published: the number of published results.
        url: the web page of the task.
    """

    id: str
    title: str
    unit: str
    measure: str
    dimensions: tuple[str, ...]
    datasets: tuple[str, ...]
    published: int
    url: str


@dataclass(frozen=True)
class BaselineOption:
    """An option of a baseline.

    Attributes:
        name: the name in Python; on the command line, hyphens replace underscores.
        type: the name of its type, such as ``float``; ``tuple`` for several values.
        default: the default.
        choices: the allowed values; empty if there is no list of them.
        help: its description; empty without one.
    """

    name: str
    type: str
    default: Any
    choices: tuple[Any, ...]
    help: str


@dataclass(frozen=True)
class ListedBaseline:
    """A baseline in the list of all baselines.

    Attributes:
        name: the name, such as ``bm25``.
        description: the docstring of its method, without the lines about options.
        extra: the extra of touche-baselines that it needs; empty if it needs none.
        options: its options.
    """

    name: str
    description: str
    extra: str
    options: tuple[BaselineOption, ...]


@dataclass(frozen=True)
class PublishedResult(Published):
    """A published result, with its rank and the command that reruns it.

    Attributes:
        rank: the rank in its dimension and measure, from 1; equal printed values share a rank.
        is_shortlisted: whether it is the best run of its team, or one of the organizers.
        rerun: the command that reruns it; empty if touche has none.
        tolerance: the accepted difference of the rerun; None without a rerun.
        rank_low, rank_high: the 95% interval of the rank, by bootstrap over topics, among the runs with a
            value for each topic; None without such values.
        group: the number of the run's group, from 1. The paired t-test, with Holm's correction for all pairs
            of the table, does not separate the runs of a group from its first run. None without values of
            topics.
        rank_note: why the run has no interval and no group; empty if it has some.
    """

    rank: int = 0
    is_shortlisted: bool = False
    rerun: str = ""
    tolerance: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    group: int | None = None
    rank_note: str = ""


@dataclass(frozen=True, repr=False)
class PublishedResults(Table[PublishedResult]):
    """Published results, task by task; in each task the best of each dimension first, and stances last."""

    @cached_property
    def by_kind(self) -> "dict[tuple[str, str, int | None], PublishedResults]":
        """The results by dimension, measure and number of topics, which is None for all topics; stances last.

        Results of the same kind may be of several tasks; their ranks are those within a task.
        """
        stances_last = sorted(self, key=lambda row: row.dimension == STANCE)
        rows_by_kind = group_by(stances_last, lambda row: row.kind)
        return {kind: PublishedResults(PublishedResult, tuple(rows)) for kind, rows in rows_by_kind.items()}

    @cached_property
    def shortlist(self) -> "PublishedResults":
        """The best run of each team, and those of the organizers."""
        return PublishedResults(PublishedResult, tuple(row for row in self if row.is_shortlisted))


def list_tasks() -> Table[ListedTask]:
    """Returns all tasks: those that ship with touche, and those of ``TOUCHE_DATA``.

    Returns:
        A ``ListedTask`` for each task, by its id; ``frame()`` returns them as a DataFrame. A broken card is
        a ``ToucheWarning``, and not in the list.

    Examples:
        >>> import touche
        >>> [task.id for task in touche.list_tasks() if task.unit == "sentence pair"]
        ['spot-check/pairs', 'touche-2022-task-1']
    """
    datasets = tasks.datasets()
    return Table(ListedTask, tuple(_listed_task(task, datasets) for task in tasks.all_tasks().values()))


def _listed_task(task: Task, datasets: Iterable[str]) -> ListedTask:
    """Returns the record of a task; ``datasets`` has the ids of all tasks' datasets."""
    # Another dataset of a task appends its name to the task's id, such as /sample.
    own_datasets = [name for name in datasets if name == task.id or name.rpartition("/")[0] == task.id]
    return ListedTask(
        id=task.id,
        title=task.title,
        unit=task.rules.unit,
        measure=task.measure.name,
        dimensions=tuple(task.qrels),
        datasets=tuple(own_datasets),
        published=len(task.published),
        url=task.url,
    )


def list_baselines(
    baselines: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
) -> Table[ListedBaseline]:
    """Returns baselines with their options, types and defaults.

    Args:
        baselines: names of shipped baselines, or their folders; if empty, all that ship.

    Returns:
        A ``ListedBaseline`` for each baseline.

    Raises:
        ToucheError: if there is no such baseline, or its baseline.py is broken.

    Examples:
        >>> import touche
        >>> (bm25,) = touche.list_baselines("bm25")
        >>> [(option.name, option.type, option.default) for option in bm25.options[:2]]
        [('k1', 'float', 0.9), ('b', 'float', 0.4)]
    """
    listed = baseline_names(baselines) or names()
    return Table(ListedBaseline, tuple(map(_listed_baseline, listed)))


def _listed_baseline(name: str) -> ListedBaseline:
    """Returns the record of a baseline with its options."""
    baseline = load(name)
    helps = baseline.option_help
    options = [_option(option, helps.get(option.name, "")) for option in baseline.options.values()]
    return ListedBaseline(
        name=baseline.name,
        description=baseline.description,
        extra=extra_in_dockerfile(name),
        options=tuple(options),
    )


def _option(option: Parameter, help: str) -> BaselineOption:
    """Returns the record of an option, with its choices if only some values are allowed."""
    has_choices = get_origin(option.annotation) is Literal
    return BaselineOption(
        name=option.name,
        type=type(option.default).__name__,
        default=option.default,
        choices=get_args(option.annotation) if has_choices else (),
        help=help,
    )


def published(task: str | None = None) -> PublishedResults:
    """Returns the published results of a task, or of all tasks.

    Args:
        task: the id of the task; None for all tasks.

    Returns:
        Records of ``touche.api.listing.PublishedResult``, the best result of each dimension first; detected
        stances, which have another measure, come last. ``by_kind`` groups them by dimension and measure;
        ``shortlist`` has the best of each team. ``frame()`` returns them as a DataFrame.

    Raises:
        ToucheError: if there is no such task.

    Examples:
        >>> import touche
        >>> best = touche.published("touche-2021-task-1")[0]
        >>> best.rank, best.measure, best.value
        (1, 'nDCG@5', 0.72)
    """
    chosen = tasks.all_tasks().values() if task is None else [tasks.task(task)]
    has_published = any(card.published for card in chosen)
    scores = published_scores() if has_published else []  # reads all expected.toml, which takes long
    results = tuple(result for card in chosen for result in _results(card, scores))
    return PublishedResults(PublishedResult, results)


def _results(task: Task, scores: Sequence[ExpectedScore]) -> Iterator[PublishedResult]:
    """Yields the published results of a task in its card's order, each ranked among those of its ``kind``."""
    by_kind = group_by(task.published, lambda row: row.kind)
    shortlists = {kind: shortlist(rows) for kind, rows in by_kind.items()}
    level_of_row = dict[Published, Level]()
    for rows in by_kind.values():
        level_of_row.update(zip(rows, levels(rows), strict=True))
    for row in task.published:
        level = level_of_row[row]
        score = rerun_of(row, scores)
        yield PublishedResult(
            **vars(row),
            rank=rank(row, by_kind[row.kind]),
            is_shortlisted=row in shortlists[row.kind],
            rerun=command_of(score) if score else "",
            tolerance=score.tolerance if score else None,
            rank_low=level.low,
            rank_high=level.high,
            group=level.group,
            rank_note=level.reason,
        )


def published_topics(
    task: str, *, team: str | None = None, only_baselines: bool = False
) -> Table[PublishedTopic]:
    """Returns the published values of each topic: nDCG@5 of rankings, macro F1 of detected stances.

    The organizers published them for ``touche-2021-task-1``, ``touche-2021-task-2`` and
    ``touche-2022-task-2``. Some runs lack topics; their published means are over the topics that they have.

    Args:
        task: the id of the task, or of a dataset with some of its topics.
        team: the team whose values to return; None for all teams.
        only_baselines: whether to return only values of the organizers' baselines.

    Returns:
        Records of ``touche.tasks.per_topic.PublishedTopic``, run by run; none for other tasks. The notes name
        the tasks that have some. ``frame()`` returns them as a DataFrame.

    Raises:
        ToucheError: if there is no such task, or the task has values but none of the team.

    Examples:
        >>> import touche
        >>> len({value.topic for value in touche.published_topics("touche-2021-task-2")})
        50
    """
    values = per_topic.published_topics(tasks.task(task))
    if not values:
        note = f"{task} has no published values of topics; {choice(task, per_topic.tasks_with_topics())}"
        return Table(PublishedTopic, (), notes=(note,))
    teams = dict.fromkeys(value.team for value in values)
    if team is not None:
        if team not in teams:
            raise ToucheError(f"{task} has no published values of {team!r}; {choice(team, teams)}")
        values = tuple(value for value in values if value.team == team)
    if only_baselines:
        values = tuple(value for value in values if value.baseline)
    return Table(PublishedTopic, values)


def reported(task: str) -> Table[Reported]:
    """Returns values of systems over a task's whole corpus that TIREx reports, best nDCG@10 first.

    They are not published results of Touché, because nobody submitted these runs. Most have many unjudged
    documents among their first ten.

    Args:
        task: the id of the task.

    Returns:
        Records of ``touche.tasks.reported.Reported``; none for tasks other than those of 2020 and 2021.

    Raises:
        ToucheError: if there is no such task.

    Examples:
        >>> import touche
        >>> best = touche.reported("touche-2020-task-2")[0]
        >>> best.system, best.ndcg_10, best.unjudged_10
        ('ChatNoir', 0.5281, 0.214)
    """
    return Table(Reported, reported_results(tasks.task(task).id))


def check_cards(cards: str | PathLike[str] | Sequence[str | PathLike[str]]) -> Table[CheckedCard]:
    """Checks task cards for unknown keys, wrong types and contradictions, also with the files that they name.

    The files are checked if they are available: their format, and whether all judged topics and documents
    exist, and those of smaller corpora.

    Args:
        cards: the path of a card, or several paths.

    Returns:
        A ``CheckedCard`` for each card, with its first problem.

    Examples:
        >>> import touche
        >>> touche.check_cards("my-task.toml")[0].problem
        'my-task.toml: cannot be read (No such file or directory); check the path'
    """
    paths = [cards] if isinstance(cards, str | PathLike) else [*cards]
    return Table(CheckedCard, tuple(_checked(as_path("card", path)) for path in paths))


def _checked(card: Path) -> CheckedCard:
    """Checks a card, and the files that it names if the card itself has no problem."""
    try:
        task = read_card(card)
        tasks.check_name(card)
        return check_files(card, task)
    except InputError as error:
        return CheckedCard(str(card), str(error))


def write_for_tira(
    task: str,
    output: str | PathLike[str],
    *,
    dimension: str | None = None,
    baseline: str | PathLike[str] = "bm25",
) -> Path:
    """Writes a task as a dataset for TIRA: a README.md with tira_configs, topics, corpus and judgments.

    The files of the corpus are links. ``tira-cli dataset-submission`` submits the folder.

    Args:
        task: the id of the task.
        output: a new folder, whose name becomes the name of the dataset.
        dimension: the dimension to score; None for the first of the task's card.
        baseline: the baseline that TIRA's client runs on the dataset.

    Returns:
        The path of README.md.

    Raises:
        ToucheError: if there is no such task, baseline or dimension, data is missing, or the folder is not
            empty.

    Examples:
        >>> import tempfile, touche
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     touche.write_for_tira("spot-check/arguments", folder).name
        'README.md'
    """
    card = tasks.task(task)
    folder = as_path("output", output)
    ranked_dimensions = [name for name in card.qrels if name != STANCE]
    if not ranked_dimensions:
        raise ToucheError(f"{card.id} has no judged rankings, which TIRA needs; choose another task")
    chosen = ranked_dimensions[0] if dimension is None else dimension
    if chosen not in ranked_dimensions:
        raise ToucheError(f"{card.id} does not rank by {chosen!r}; {choice(chosen, ranked_dimensions)}")
    return write_dataset(card, chosen, baseline_folder(name_or_path("baseline", baseline)), folder)
