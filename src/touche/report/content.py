"""From runs, and from published results, to what a report shows of them."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import TypeVar

from touche import tasks
from touche.collection.discovery import find_documents
from touche.data.places import at_hand, corpus_at_hand, locate, locate_corpus
from touche.errors import ToucheError
from touche.evaluation.comparison import Comparison, comparisons, run_named
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.leaderboard import comparable, names, shortlist
from touche.evaluation.notes import notes_of, warnings_of
from touche.evaluation.scores import Evaluated, evaluate
from touche.formats.runs import RunLine, in_order_of_rank, in_order_of_score
from touche.io.opening import md5
from touche.regression.reruns import tags_of
from touche.report.records import BASELINE, GIVEN, PUBLISHED, Depth, Place, RunFile, TaskReport, View
from touche.report.results import Texts, first, ids_of, ranks_of, rendering_of, topics_of
from touche.report.texts import texts_of
from touche.tasks import Corpus, Measure, Published, Task
from touche.tasks.records import STANCE

_DEPTHS = (1, 3, 5, 10, 20)
_RUN_FILES = (".run", ".txt")
_Row = TypeVar("_Row", Evaluated, Published)


def part_of(found: Sequence[Evaluated], dataset: str, reference: str | None = None) -> TaskReport:
    """What is to be shown of evaluated runs of a task, with the texts of what they rank first.

    Args:
        found: all runs in all dimensions, with all evaluators of the measure.
        dataset: the id of the task, or of a dataset with another corpus, whose texts are then shown.
        reference: the run that the others are held against, by its path, tag or name; by default the
            organizers' baseline, theirs or as ``touche run`` reruns it, and where that is not among the runs,
            the one with the highest mean.

    Raises:
        ToucheError: if a file is not at hand any more, the corpus is broken, or there is no such reference.
    """
    task, found = found[0].task, _best_run_first(found)
    runs = [each for each in found if each.dimension == found[0].dimension]
    views, faults = _views(found)
    chosen = _reference(runs, views, reference) if len(runs) > 1 else ""
    ranks = ranks_of(runs)
    own = [tasks.dataset(dataset)[1]] if dataset in tasks.datasets() else []
    corpora = [*own, *task.corpora.values()]
    available = next(filter(corpus_at_hand, corpora), None)
    wanted = {id for _, document, _ in ranks for id in ids_of(document, task)}
    texts = texts_of(wanted, find_documents(locate_corpus(available))) if available else {}
    return TaskReport(
        dataset,
        task,
        _files(runs),
        chosen,
        views,
        {dimension: notes_of(each) for dimension, each in _by_dimension(found).items()},
        _winners(views),
        topics_of(ranks, found, texts),
        [*_partial(task, corpora), *faults, *warnings_of(found)],
        _missing(corpora, available, wanted, texts),
        rendering_of(ranks, found[0], texts) if available else None,
    )


def _missing(corpora: Sequence[Corpus], available: Corpus | None, wanted: Set[str], texts: Texts) -> str:
    if available is None:
        place = f"corpora/{corpora[0].directory}" if corpora else "a corpus"
        return f"Texts are not shown, as {place} is not at hand."
    missing = len(wanted) - len(texts)
    return f"Of {len(wanted)} texts {missing} are not in corpora/{available.directory}." if missing else ""


def published_parts() -> Iterator[TaskReport]:
    """Yields a part for each task with published results; with runs where these and their judgments exist.

    Where a run or judgments are unusable, a warning says so, and the part has the published results alone.
    """
    for task in tasks.all_tasks().values():
        if task.all_published:
            alone, runs = _published_part(task), _runs_at_hand(task)
            try:
                yield replace(part_of(evaluate(runs, task), task.id), stance=alone.stance) if runs else alone
            except ToucheError as error:
                yield replace(alone, warnings=[f"the runs at hand are left out: {error}"])


def _runs_at_hand(task: Task) -> Sequence[Path]:
    """The files in runs/TASK, wherever data is."""
    paths = locate("runs", task.id).iterdir() if at_hand("runs", task.id) else ()
    return sorted(path for path in paths if path.suffix in _RUN_FILES)


def _published_part(task: Task) -> TaskReport:
    """The published results alone: a leaderboard for each dimension, that of stances included."""
    rows_of = _by_dimension(task.all_published)
    views = {dimension: _printed(dimension, rows) for dimension, rows in rows_of.items()}
    stance = [views.pop(STANCE)] if STANCE in views else []
    return TaskReport(task.id, task, [], "", [*views.values()], {}, "", [], [], stance=stance)


def _printed(dimension: str, rows: Sequence[Published]) -> View:
    return View(dimension, "as published", "", "", _board([], rows), {}, [])


def _best_run_first(found: Sequence[Evaluated]) -> list[Evaluated]:
    """The same records, ordered by the means of the first dimension."""
    means: dict[str, float] = {}
    for each in found:
        means.setdefault(each.name, next(iter(each.scores.values())).mean or 0.0)
    return sorted(found, key=lambda each: -means[each.name])


def _files(runs: Sequence[Evaluated]) -> list[RunFile]:
    """The runs with letters that stand for them: A to Z, then AA and so on."""
    letters = ("".join(each) for length in (1, 2, 3) for each in product(ascii_uppercase, repeat=length))
    named = zip(runs, letters, strict=False)
    return [RunFile(run.name, letter, run.path, md5(run.path)) for run, letter in named]


def _reference(runs: Sequence[Evaluated], views: Sequence[View], asked: str | None) -> str:
    if asked is not None:
        return run_named(asked, runs).name
    baselines = [row for row in runs[0].task.published if row.baseline]
    tags = {_plain(tag) for tag in (*tags_of(baselines), *(row.tag for row in baselines))}
    own = [run.name for run in runs if _plain(run.tag) in tags]
    best = [place.name for place in views[0].board if place.kind == GIVEN]
    return (own or best)[0]


def _winners(views: Sequence[View]) -> str:
    """Which run has the highest means; several are named where they are level or no run has all."""
    if len(views[0].runs) < 2:
        return ""
    best: dict[tuple[str, ...], list[View]] = {}
    for view in views:
        given = [place for place in view.board if place.kind == GIVEN]
        top = tuple(place.name for place in given if place.printed == given[0].printed)
        best.setdefault(top, []).append(view)
    if len(best) == 1:
        (names_of_best,) = best
        best_runs = f"{' and '.join(names_of_best)}: the highest mean in every dimension, by every evaluator"
        return f"{best_runs}, of these {len(views[0].runs)} runs."
    told = (
        f"{' and '.join(top)} in {', '.join(f'{view.dimension} ({view.evaluator})' for view in where)}"
        for top, where in best.items()
    )
    return f"None of these {len(views[0].runs)} runs has the highest mean throughout: {'; '.join(told)}."


def _partial(task: Task, corpora: Sequence[Corpus]) -> Iterator[str]:
    if task.published and corpora[0] != task.corpora["full"]:
        yield (
            "published results are on the whole corpus, this dataset is a part of it; "
            "a run on this part is not comparable with them"
        )


def _by_dimension(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    dimensions: dict[str, list[_Row]] = {}
    for row in rows:
        dimensions.setdefault(row.dimension, []).append(row)
    return dimensions


def _views(found: Sequence[Evaluated]) -> tuple[list[View], list[str]]:
    """The views, that with most published results first; and which runs could not be compared."""
    dimensions = _by_dimension(found)
    hashes = {runs[0].qrels: md5(locate("qrels", runs[0].qrels)) for runs in dimensions.values()}
    several = len({each.path for each in found}) > 1
    views: list[View] = []
    faults: list[str] = []
    for evaluator in found[0].scores:
        compared, untested = comparisons(found, evaluator) if several else ([], [])
        faults += untested
        for dimension, runs in dimensions.items():
            of_dimension = [each for each in compared if each.dimension == dimension]
            views.append(_view(runs, evaluator, of_dimension, hashes[runs[0].qrels]))
    return sorted(views, key=lambda view: -view.published), faults


def _view(runs: Sequence[Evaluated], evaluator: str, compared: Sequence[Comparison], qrels_md5: str) -> View:
    one = runs[0]
    published = comparable(one.task, one.dimension, evaluator)
    return View(
        one.dimension,
        evaluator,
        one.qrels,
        qrels_md5,
        _board([_place(each, evaluator) for each in runs], published),
        {each.name: each.topic_scores[evaluator] for each in runs},
        compared,
        _depths(runs, evaluator),
    )


def _board(given: Sequence[Place], published: Sequence[Published]) -> list[Place]:
    """The leaderboard, best first; a given run that is a published one stands there once."""
    listed = shortlist(published)
    rows = [
        _published(row, name, row in listed) for row, name in zip(published, names(published), strict=True)
    ]
    twins = {place.name: row for place in given for row in rows if _is_same(place, row)}
    board = [
        *(replace(each, tag="", team=twins[each.name].name if each.name in twins else "") for each in given),
        *(row for row in rows if row not in twins.values()),
    ]
    among = rows or board
    return [
        replace(place, number=1 + sum(other.printed > place.printed for other in among))
        for place in sorted(board, key=lambda place: -place.printed)
    ]


def _is_same(given: Place, published: Place) -> bool:
    """Whether a run is the published one: by value and tag, of which tables may print a part."""
    ours, theirs = _plain(given.tag), _plain(published.tag)
    begins = ours.startswith(theirs) or theirs.startswith(ours)
    return bool(theirs) and begins and given.printed == published.printed


def _plain(tag: str) -> str:
    """A tag without what tables and teams write differently."""
    return tag.strip("\"' ").casefold()


def _published(row: Published, name: str, listed: bool) -> Place:
    kind = BASELINE if row.baseline else PUBLISHED
    figures = row.value, row.low, row.high, None
    return Place(name, kind, *figures, row.sources[0], row.tag, row.interval_note, listed)


def _place(run: Evaluated, evaluator: str) -> Place:
    score = run.scores[evaluator]
    low, high = (score.low, score.high) if score.topics > 1 else (None, None)
    figures = score.mean, low, high, score.judged
    return Place(run.name, GIVEN, *figures, tag=run.tag, doubtful=not score.comparable)


def _depths(runs: Sequence[Evaluated], evaluator: str) -> list[Depth]:
    """The means of nDCG at several depths, where that is the measure."""
    if not runs[0].task.measure.of_script:
        return []
    order = in_order_of_score if evaluator == "trec_eval" else in_order_of_rank
    heads = {each.name: _heads(order(each.lines), max(_DEPTHS)) for each in runs}
    depths = []
    for cutoff in sorted({*_DEPTHS, runs[0].task.cutoff}):
        measure = Measure(f"nDCG@{cutoff}", cutoff)
        scored = {run.name: EVALUATORS[evaluator](heads[run.name], run.judgments, measure) for run in runs}
        means = {name: each.mean for name, each in scored.items()}
        depths.append(Depth(cutoff, means, {name: each.judged for name, each in scored.items()}))
    return depths


def _heads(ordered: Iterable[RunLine], depth: int) -> list[RunLine]:
    """The first lines of each topic."""
    return [line for of_topic in first(ordered, depth).values() for line in of_topic]
