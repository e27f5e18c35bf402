"""Contents of reports, from runs and published results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import TypeVar

from touche import tasks
from touche.data.places import has_corpus, is_available, locate, locate_corpus
from touche.documents.discovery import find_documents
from touche.errors import ToucheError
from touche.evaluation.comparison import comparisons, run_named
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.leaderboard import comparable, levels, names, shortlist
from touche.evaluation.notes import notes_of, warnings_of
from touche.evaluation.scores import Evaluated, evaluate
from touche.evaluation.stances import StanceEvaluation
from touche.io.opening import is_file, md5
from touche.regression.expected import ExpectedScore
from touche.regression.reruns import command_of, published_scores, rerun_of, tags_of
from touche.reports.records import (
    BASELINE,
    GIVEN,
    PUBLISHED,
    Depth,
    LeaderboardRow,
    PublishedRerun,
    RunFile,
    StanceView,
    TaskReport,
    View,
)
from touche.reports.results import Texts, ids_of, ranks_of, rendering_of, topics_of
from touche.reports.texts import texts_of
from touche.tasks import STANCE, Corpus, Measure, Published, Task
from touche.tasks.records import rounded

_DEPTHS = (1, 3, 5, 10, 20)
_PARTIAL = (
    "published results are on the whole corpus, this dataset is a part of it; "
    "a run on this part is not comparable with them"
)
_Row = TypeVar("_Row", Evaluated, Published)


def part_of(runs: Sequence[Evaluated], dataset: str, reference: str | Path | None = None) -> TaskReport:
    """Returns the report on evaluated runs of a task, with the texts of their first results.

    Args:
        runs: all runs in all dimensions, with all evaluators of the measure.
        dataset: id of the task, or of a dataset with another corpus, which has the texts.
        reference: run to compare the others with: its path, or a text with its path, name or tag. By default
            it is the organizers' baseline, as submitted or rerun by ``touche run``, or otherwise the run with
            the highest mean.

    Raises:
        ToucheError: if a file is now missing, the corpus is broken, or there is no such reference.
    """
    task, everything = runs[0].task, runs
    runs, detected = (
        [run for run in everything if run.is_ranking == is_ranking] for is_ranking in (True, False)
    )
    if not runs:
        raise ToucheError("a report shows rankings, but only stances are judged; use touche evaluate")
    means = {
        run.name: next(iter(run.evaluations.values())).mean for run in reversed(runs)
    }  # in the first one
    runs = sorted(runs, key=lambda run: -(means[run.name] or 0.0))
    dimensions = _by_dimension(runs)
    of_one = next(iter(dimensions.values()))
    views, faults = _views(runs)
    ranks = ranks_of(of_one)
    own = [tasks.dataset(dataset)[1]] if tasks.is_dataset(dataset) else []
    corpora = [*own, *task.corpora.values()]
    partial = task.published and corpora[0] != task.corpora["full"]
    available = next(filter(has_corpus, corpora), None)
    wanted = {id for documents in ranks.values() for document in documents for id in ids_of(document, task)}
    texts = texts_of(wanted, find_documents(locate_corpus(available))) if available else {}
    images = locate_corpus(available) if available and task.rules.unit == "image" else None
    return TaskReport(
        dataset,
        task,
        _files(of_one),
        _reference(of_one, views, reference) if len(of_one) > 1 or reference else "",
        views,
        {dimension: notes_of(of_dimension) for dimension, of_dimension in dimensions.items()},
        _winners(views),
        runs[0].titles,
        topics_of(ranks, [*runs, *detected], texts, images),
        [*([_PARTIAL] if partial else []), *faults, *warnings_of(everything)],
        _missing(corpora, available, wanted, texts),
        rendering_of(ranks, runs[0], texts) if available else None,
        _stance_view(task, detected),
    )


def _missing(corpora: Sequence[Corpus], available: Corpus | None, wanted: Set[str], texts: Texts) -> str:
    if available is None:
        place = f"corpora/{corpora[0].directory}" if corpora else "a corpus"
        return f"Texts are not shown, because {place} is missing."
    missing = len(wanted) - len(texts)
    return f"{missing} of {len(wanted)} texts are not in corpora/{available.directory}." if missing else ""


def published_parts() -> Iterator[TaskReport]:
    """Yields a part for each task with published results or runs, tasks with organizers' baselines first.

    If a run or judgments are unusable, the part has a warning and only the published results.
    """
    reruns = published_scores()
    for task in sorted(tasks.all_tasks().values(), key=_lacks_baselines):
        rows_of = _by_dimension(
            row for row in task.published if row in comparable(task, row.dimension, row.evaluator or "")
        )
        views = {
            dimension: View(dimension, "as published", "", "", _board([], rows, {}, reruns), {}, [])
            for dimension, rows in rows_of.items()
        }
        stance = _stance_view(task, [])
        alone = TaskReport(task.id, task, [], "", [*views.values()], {}, "", {}, {}, [], stance=stance)
        paths = locate("runs", task.id).iterdir() if is_available("runs", task.id) else ()
        runs = sorted(path for path in paths if path.suffix in (".run", ".txt"))
        try:
            part = part_of(evaluate(runs, task), task.id) if runs else alone
        except ToucheError as error:
            part = replace(alone, warnings=[f"the available runs are omitted: {error}"])
        yield from [part] if rows_of or runs else []


def _lacks_baselines(task: Task) -> bool:
    return not any(row.baseline for row in task.published)


def _files(runs: Sequence[Evaluated]) -> list[RunFile]:
    """Returns the runs with their letters: A to Z, then AA and so on."""
    letters = ("".join(word) for length in (1, 2, 3) for word in product(ascii_uppercase, repeat=length))
    named = zip(runs, letters, strict=False)
    return [RunFile(run.name, letter, run.path, _digest(run.path)) for run, letter in named]


def _digest(path: Path) -> str:
    """Returns the md5 of a run file; empty for a run that is in no file."""
    return md5(path) if is_file(path) else ""


def _reference(runs: Sequence[Evaluated], views: Sequence[View], name: str | Path | None) -> str:
    if name is not None:
        return run_named(name, runs).name
    baselines = [row for row in runs[0].task.published if row.baseline]
    tags = {_plain(tag) for tag in (*tags_of(baselines), *(row.tag for row in baselines))}
    own = [run.name for run in runs if _plain(run.tag) in tags]
    best = [place.name for place in views[0].board if place.kind == GIVEN]
    return (own or best)[0]


def _winners(views: Sequence[View]) -> str:
    """Returns a sentence on the run with the highest means, or on several if no run has all."""
    best: dict[str, list[str]] = {}
    for view in views:
        given = [place for place in view.board if place.kind == GIVEN]
        top = " and ".join(place.name for place in given if place.printed == given[0].printed)
        best.setdefault(top, []).append(f"{view.dimension} ({view.evaluator})")
    everywhere = ["every ranked dimension, by every evaluator"]
    named = (f"{top} in {', '.join(where if len(best) > 1 else everywhere)}" for top, where in best.items())
    number = len(views[0].runs)
    return f"Highest mean of these {number} runs: {'; '.join(named)}." if number > 1 else ""


def _by_dimension(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    dimensions: dict[str, list[_Row]] = {}
    for row in rows:
        dimensions.setdefault(row.dimension, []).append(row)
    return dimensions


def _views(runs: Sequence[Evaluated]) -> tuple[list[View], list[str]]:
    """Returns the views, most published results first, and which runs could not be compared."""
    task, views, faults = runs[0].task, list[View](), list[str]()
    twins = {dimension: _twins_of(each) for dimension, each in _by_dimension(runs).items()}
    reruns = published_scores() if task.published else []
    for evaluator in runs[0].evaluations:
        compared, untested = comparisons(runs, evaluator) if len({run.path for run in runs}) > 1 else ([], [])
        faults += untested
        for dimension, of_dimension in _by_dimension(runs).items():
            qrels = task.qrels[dimension].file
            places = [_place(run, evaluator) for run in of_dimension]
            views.append(
                View(
                    *(dimension, evaluator, of_dimension[0].qrels, md5(locate("qrels", qrels))),
                    _board(places, comparable(task, dimension, evaluator), twins[dimension], reruns),
                    {run.name: run.topic_scores[evaluator] for run in of_dimension},
                    [comparison for comparison in compared if comparison.dimension == dimension],
                    _depths(of_dimension, evaluator),
                    _why_alone(task, dimension, evaluator),
                )
            )
    return sorted(views, key=lambda view: -view.published), faults


def _stance_view(task: Task, runs: Sequence[Evaluated]) -> StanceView | None:
    published = [row for row in task.published if row.dimension == STANCE]
    if not runs and not published:
        return None
    places = [_place(run, "touche") for run in runs]
    board = _board(places, published, _twins(places, published))
    if not runs:
        return StanceView(board)
    evaluations = {run.name: run.evaluations["touche"] for run in runs}
    detected = {name: each for name, each in evaluations.items() if isinstance(each, StanceEvaluation)}
    compared, faults = comparisons(runs, "touche") if len(runs) > 1 else ([], [])
    qrels, notes = runs[0].qrels, [*notes_of(runs), *faults]
    return StanceView(board, qrels, md5(locate("qrels", qrels)), detected, compared, notes)


def _board(
    given: Sequence[LeaderboardRow],
    published: Sequence[Published],
    twins: Mapping[str, Published],
    reruns: Sequence[ExpectedScore] = (),
) -> list[LeaderboardRow]:
    """Returns the leaderboard, best first; a run that is also published occurs once."""
    listed = shortlist(published)
    rows = list[LeaderboardRow]()
    for row, name, level in zip(published, names(published), levels(published), strict=True):
        score = rerun_of(row, reruns)
        place = LeaderboardRow(
            name=name,
            kind=BASELINE if row.baseline else PUBLISHED,
            value=row.value,
            low=row.low,
            high=row.high,
            source=row.sources[0],
            tag=row.tag,
            note=row.interval_note,
            listed=row in listed,
            results=row.results,
            of_team=(row.team_value, row.team_results) if row.team_results else None,
            rerun=PublishedRerun(score.baseline, command_of(score), score.tolerance) if score else None,
            level=level,
        )
        rows.append(place)
    of_row = dict(zip(published, rows, strict=True))
    own = {name: of_row[row] for name, row in twins.items() if row in of_row}
    board = [
        replace(place, tag="", team=twin.name, published=twin.value, rerun=twin.rerun, level=twin.level)
        if (twin := own.get(place.name))
        else replace(place, tag="")
        for place in given
    ]
    board += [row for row in rows if row not in own.values()]
    among = rows or board

    def number(place: LeaderboardRow) -> int:
        others = (other for other in among if other is not own.get(place.name))
        return 1 + sum(other.printed > place.printed for other in others)

    return [replace(each, number=number(each)) for each in sorted(board, key=lambda place: -place.printed)]


def _twins_of(runs: Sequence[Evaluated]) -> dict[str, Published]:
    """Returns the published result of each run of a dimension, by any evaluator."""
    task, dimension = runs[0].task, runs[0].dimension
    twins: dict[str, Published] = {}
    for evaluator in runs[0].evaluations:
        places = [_place(run, evaluator) for run in runs]
        twins = _twins(places, comparable(task, dimension, evaluator)) | twins
    return twins


def _twins(given: Sequence[LeaderboardRow], published: Sequence[Published]) -> dict[str, Published]:
    """Returns the published result of each run, by value and tag; for stances also by value and N."""
    twins = {}
    for place in given:
        same = [
            row for row in published if (rounded(row.value), row.results) == (place.printed, place.results)
        ]
        tagged = [row for row in same if _is_tagged(place.tag, row.tag)]
        if tagged or (place.results is not None and len(same) == 1):
            twins[place.name] = (tagged or same)[0]
    return twins


def _is_tagged(tag: str, printed: str) -> bool:
    """Returns whether a tag is the printed one; tables may print a part of it."""
    ours, theirs = _plain(tag), _plain(printed)
    return bool(theirs) and (ours.startswith(theirs) or theirs.startswith(ours))


def _why_alone(task: Task, dimension: str, evaluator: str) -> str:
    """Returns why a view has no published results, although the task has some; empty if it has them."""
    if not task.published or comparable(task, dimension, evaluator):
        return ""
    if task.only_topics:
        return "The published means are over all topics of the task, so a mean of some topics has no rank."
    rows = [row for row in task.published if row.dimension == dimension]
    if not rows:
        others = dict.fromkeys(row.dimension for row in task.published if row.dimension != STANCE)
        return f"No values are published for {dimension}, only for {', '.join(others)}."
    measure, qrels = task.measure_for(dimension).name, task.qrels[dimension].file
    of_rows = [(row.measure, row.evaluator, row.qrels) for row in rows]
    of_view = (("of", measure), ("by", evaluator), ("by the judgments", qrels))
    for (word, own), known in zip(of_view, map(set, zip(*of_rows, strict=True)), strict=True):
        if not known & {own, None}:
            named = ", ".join(sorted(map(str, known)))
            return (
                f"The published values are {word} {named}. They are not comparable with values {word} {own}."
            )
    return "No published value has the same measure, evaluator and judgments as these."


def _plain(tag: str) -> str:
    """Returns a tag without quotes, blanks and case, which tables and teams write differently."""
    return tag.strip("\"' ").casefold()


def _place(run: Evaluated, evaluator: str) -> LeaderboardRow:
    score = run.scores[evaluator]
    low, high = (score.low, score.high) if score.topics > 1 else (None, None)
    return LeaderboardRow(
        name=run.name,
        kind=GIVEN,
        value=score.mean,
        low=low,
        high=high,
        judged=score.judged,
        tag=run.tag,
        doubtful=not score.comparable,
        results=score.results,
        decimals=run.task.decimals,
        bounds=run.mean_bounds(evaluator),
    )


def _depths(runs: Sequence[Evaluated], evaluator: str) -> list[Depth]:
    """Returns evaluations by nDCG at several depths, if nDCG is the measure."""
    task, depths = runs[0].task, []
    cutoffs = sorted({*_DEPTHS, task.cutoff}) if task.measure.of_script else []
    for measure in (Measure(f"nDCG@{cutoff}", cutoff) for cutoff in cutoffs):
        scores = {run.name: EVALUATORS[evaluator](run.lines, run.judgments, measure) for run in runs}
        depths.append(Depth(measure, scores))
    return depths
