"""What reports contain, from runs and published results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from touche import tasks
from touche.baselines.reruns import rerun_tags
from touche.data.judgments import topic_titles
from touche.data.places import find, find_corpus, locate
from touche.documents.discovery import find_documents
from touche.errors import ToucheError
from touche.evaluation.comparison import (
    Comparison,
    Comparisons,
    comparisons,
    run_letters,
    usual_evaluator,
    why_untested,
)
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.judged import judged
from touche.evaluation.leaderboard import (
    comparable,
    is_complete,
    names,
    other_md5,
    published_with,
    rank_of,
)
from touche.evaluation.notes import all_warnings, equal_to_published, score_notes
from touche.evaluation.scores import Score, rows
from touche.evaluation.scoring import ByEvaluator, Scored, by_evaluator, ranks_stances, score
from touche.io.grouping import group_by
from touche.io.opening import is_file, md5
from touche.io.progress import bar
from touche.reports.first_results import first_results, ranked_documents
from touche.reports.published_results import ranked
from touche.reports.report_records import LeaderboardRow, RunFile, TaskReport, View
from touche.reports.texts import read_texts
from touche.tasks import STANCE, Corpus, Measure, Published, Task
from touche.tasks.public_runs import Check, checks
from touche.tasks.task_records import CUTOFF, DECIMALS, SCRIPT, rounded
from touche.trec.run_forms import read_sources, run_sources

_DEPTHS = (1, 3, 5, 10, 20)  # nDCG cutoffs that a report compares
_PARTIAL = (
    "published results are on the whole corpus; "
    "a run on this dataset, a part of it, is not comparable with them"
)


def task_report(
    scored: Sequence[Scored], task: Task | None, dataset: str, reference: Path | None = None
) -> TaskReport:
    """Returns the report on a task's scored runs, with the texts of their first results.

    Args:
        scored: all runs in all dimensions, with all the measure's evaluators.
        task: their task; None if there is only the user's judgments.
        dataset: the id of the task, or of a dataset with another corpus, which provides the texts; without a
            task, the file name of the user's judgments.
        reference: the path of the run to compare the others with. By default the organizers' baseline, as
            submitted or rerun by ``touche run``; if it isn't among the runs, the best run that is marked as a
            baseline, or else the run with the highest comparable mean.

    Raises:
        ToucheError: if a file is now missing, or the corpus is broken.
    """
    groups = by_evaluator(scored)
    rankings = _best_first([group for group in groups if _first(group).is_ranking])
    detected = [group for group in groups if not _first(group).is_ranking]
    if not rankings:
        raise ToucheError("a report shows rankings, but only stances are judged; use touche evaluate")
    by_dimension = group_by([*rankings, *detected], lambda group: _first(group).judged.dimension)
    # Each dimension has all runs.
    runs_once = [_first(group) for group in by_dimension[_first(rankings[0]).judged.dimension]]
    ranks = {scored_run: rank_of(scored_run, task) for scored_run in scored}
    scores = dict(zip(scored, rows(scored, task, ranks, with_bounds=True), strict=True))
    views, reasons_without_test = _views(rankings, scores, task, reference)
    warnings = [*reasons_without_test, *all_warnings(scored, task)]
    notes = {
        dimension: score_notes(
            [scored_run for group in in_dimension for scored_run in group.values()], task, ranks=None
        )
        for dimension, in_dimension in by_dimension.items()
    }
    stance, reasons_without_comparison = _stance_view(task, detected, scores)
    if reasons_without_comparison:
        notes[STANCE] += reasons_without_comparison
    is_official = runs_once[0].judged.is_official
    corpus_of_dataset = [tasks.dataset(dataset)[1]] if tasks.is_dataset(dataset) else []
    # Texts come from the first one that is here.
    corpora = [*corpus_of_dataset, *(task.corpora.values() if task else ())]
    is_part = task is not None and corpora[0] != task.corpora["full"]
    if task is not None and task.published and is_official and is_part:
        warnings.insert(0, _PARTIAL)
    documents_by_topic = ranked_documents(runs_once)
    results = {result for documents in documents_by_topic.values() for result in documents}
    wanted = {id for result in results for id in (task.rules.ids_of(result) if task else [result])}
    folders = ((corpus, find_corpus(corpus)) for corpus in corpora)
    available, folder = next((pair for pair in folders if pair[1]), (None, None))
    texts = read_texts(wanted, find_documents(folder)) if folder else {}
    titles = topic_titles(task) if task else {}
    names = {scored_run.run.path: scored_run.name for scored_run in runs_once}
    return TaskReport(
        dataset=dataset,
        task=task,
        is_official=is_official,
        runs=_files(runs_once),
        reference=names[reference] if reference else _default_reference(runs_once, views, task),
        views=views,
        notes=notes,
        equal_to_published=[*equal_to_published(rankings, task)],
        titles=titles,
        topics=first_results(
            documents_by_topic, scored, task, texts, titles, where_missing=_where_missing(corpora, available)
        ),
        warnings=warnings,
        missing_texts=_missing_texts(corpora, available, missing=len(wanted) - len(texts), of=len(wanted)),
        stance=stance,
    )


def score_files(runs: Sequence[Path], task: Task) -> list[Scored]:
    """Scores run files in all dimensions of a task, with all evaluators.

    Raises:
        ToucheError: if a run is unusable or judgments are missing.
    """
    to_judge = judged(task)
    return score(read_sources(run_sources(runs), by_stance=ranks_stances(to_judge)), to_judge)


def _first(group: ByEvaluator) -> Scored:
    """Returns a run's score with the first evaluator, for what doesn't depend on the evaluator."""
    return next(iter(group.values()))


def published_parts() -> Iterator[TaskReport]:
    """Yields a part for each task with published results or runs, the newest tasks first.

    If a run or judgments are unusable, the part has a warning and only contains published results.
    """
    newest_first = sorted(tasks.all_tasks().values(), key=lambda task: tasks.newest_first(task.id))
    for task in bar("preparing", "tasks", len(newest_first), over=newest_first):
        # Only rankings over all topics, with the card's measure and judgments. An empty name finds
        # rows with an unknown evaluator.
        rows = [row for row in task.published if row in comparable(task, row.dimension, row.evaluator or "")]
        paths = locate("runs", task.id).iterdir() if find("runs", task.id) else ()
        runs = sorted(
            path
            for path in paths
            if path.name.removesuffix(".gz").endswith((".run", ".txt")) and path.is_file()
        )
        views = [
            _published_view(published, task)
            for published in group_by(rows, lambda row: row.dimension).values()
        ]
        stance, _ = _stance_view(task, [], {})
        part = TaskReport(dataset=task.id, task=task, views=views, stance=stance)
        if runs:
            try:
                part = task_report(score_files(runs, task), task, task.id)
            except ToucheError as error:
                part = replace(part, warnings=[f"the available runs are omitted: {error}"])
        if rows or runs:
            yield part


def _best_first(groups: Sequence[ByEvaluator]) -> list[ByEvaluator]:
    """Sorts runs by their mean in the first dimension with the first evaluator, best first."""
    means: dict[Path, float] = {}
    for group in groups:
        first = _first(group)
        means.setdefault(first.run.path, first.evaluation.mean or 0.0)  # later groups: other dimensions
    return sorted(groups, key=lambda group: -means[_first(group).run.path])


def _files(runs: Sequence[Scored]) -> list[RunFile]:
    """Returns the runs with their letters. A run without a file has no md5."""
    letters = run_letters(scored_run.name for scored_run in runs)
    return [
        RunFile(
            name=scored_run.name,
            letters=letters[scored_run.name].upper(),
            path=scored_run.run.path,
            md5=md5(scored_run.run.path) if is_file(scored_run.run.path) else "",
        )
        for scored_run in runs
    ]


def _default_reference(runs: Sequence[Scored], views: Sequence[View], task: Task | None) -> str:
    """Returns the run to compare with: an organizers' published baseline, or the best run that is marked as a
    baseline, or the best run, if possible a comparable one; empty for a single run. The runs are best first.
    """
    if len(runs) < 2:
        return ""
    baselines = [row for row in task.published if row.baseline] if task else []
    tags = {*rerun_tags(baselines), *(row.tag for row in baselines)}
    plain_tags = {_plain(tag) for tag in tags}
    baseline_names = [scored_run.name for scored_run in runs if _plain(scored_run.run.tag) in plain_tags]
    marked_names = [scored_run.name for scored_run in runs if scored_run.is_baseline]
    comparable_names = [row.name for row in views[0].run_rows.values() if not row.doubtful]
    return next(iter([*baseline_names, *marked_names, *comparable_names, *views[0].run_rows]))


def _missing_texts(corpora: Sequence[Corpus], available: Corpus | None, missing: int, of: int) -> str:
    """Returns a sentence about texts that aren't shown; empty if all are.

    Args:
        corpora: the corpora that could have the texts; none for the user's own judgments.
        available: the first of them that is here.
        missing: the number of documents or sentences whose text isn't known.
        of: the number of those whose text we need.
    """
    if available is None:
        return f"Texts are not shown, because {_where_missing(corpora, available)}."
    return f"{missing} of {of} texts are not in corpora/{available.directory}." if missing else ""


def _where_missing(corpora: Sequence[Corpus], available: Corpus | None) -> str:
    """Returns why the text of a result isn't known, for a sentence. The arguments are as above."""
    if available is not None:
        return f"it is not in corpora/{available.directory}"
    return f"{f'corpora/{corpora[0].directory}' if corpora else 'a corpus'} is missing"


def _published_view(published: Sequence[Published], task: Task) -> View:
    """Returns a view of a dimension's published results, without runs."""
    dimension = published[0].dimension
    return View(
        dimension=dimension,
        evaluator="as published",
        measure=task.measure_for(dimension),
        board=_board(runs=[], scores={}, published=published, twins={}, task=task),
    )


def _views(
    groups: Sequence[ByEvaluator],
    scores: Mapping[Scored, Score],
    task: Task | None,
    reference: Path | None,
) -> tuple[list[View], list[str]]:
    """Returns a view per dimension and evaluator, and sentences about pairs of runs without a test.

    The views of the task's usual evaluator come first.

    Args:
        groups: the rankings in all dimensions, best first.
        scores: the row of each score.
        task: their task, if there is one.
        reference: the path of the run that all others are compared with; None to compare all pairs.
    """
    views = list[View]()
    reasons_without_test = list[str]()
    by_dimension = group_by(groups, lambda group: _first(group).judged.dimension)
    has_pairs = len({_first(group).run.path for group in groups}) > 1  # comparing one run is an error
    usual = usual_evaluator(task, [_first(group).judged for group in groups])
    for evaluator in sorted(groups[0], key=lambda name: name != usual):
        by_it = [group[evaluator] for group in groups]
        compared = comparisons(by_it, task, reference) if has_pairs else Comparisons(Comparison, ())
        reasons_without_test += why_untested(compared)
        for dimension, in_dimension in by_dimension.items():
            rows_of_dimension = [comparison for comparison in compared if comparison.dimension == dimension]
            views.append(_view(in_dimension, evaluator, scores, task, rows_of_dimension))
    return views, reasons_without_test


def _stance_view(
    task: Task | None, groups: Sequence[ByEvaluator], scores: Mapping[Scored, Score]
) -> tuple[View | None, list[str]]:
    """Returns the view of detected stances, and a sentence for each pair of runs that can't be compared.

    The view is None if neither a run nor a published result detects stances.

    Args:
        task: the task, if there is one.
        groups: the runs with detected stances; only the organizers' script evaluates them.
        scores: the row of each score.
    """
    if not groups:
        published = [row for row in task.published if row.dimension == STANCE] if task else []
        return _published_view(published, task) if published and task else None, []
    detected = [group[SCRIPT] for group in groups]
    compared = comparisons(detected, task) if len(detected) > 1 else Comparisons(Comparison, ())
    return _view(groups, SCRIPT, scores, task, compared), [*compared.warnings]


def _view(
    groups: Sequence[ByEvaluator],
    evaluator: str,
    scores: Mapping[Scored, Score],
    task: Task | None,
    compared: Sequence[Comparison],
) -> View:
    """Returns the view of runs in one dimension with one evaluator.

    Args:
        groups: the runs that the user passed, with all evaluators.
        evaluator: the evaluator of the view.
        scores: the row of each score.
        task: their task, if there is one.
        compared: the runs' comparisons.
    """
    published = {name: _published(scored_run, task) for name, scored_run in groups[0].items()}
    by_it = [group[evaluator] for group in groups]
    judged = by_it[0].judged
    qrels = find("qrels", judged.file)  # None for judgments in memory or a pipe
    twins = _twins(groups, published, task)
    return View(
        dimension=judged.dimension,
        evaluator=evaluator,
        measure=judged.measure,
        board=_board(by_it, scores, published[evaluator], twins, task),
        qrels=judged.file,
        qrels_md5=md5(qrels) if qrels else "",
        evaluations={scored_run.name: scored_run.evaluation for scored_run in by_it},
        comparisons=compared,
        depths=_depths(by_it),
    )


def _published(scored_run: Scored, task: Task | None) -> list[Published]:
    """Returns the published results that a score is shown with. For stances, these are all, whatever their N
    is.
    """
    if scored_run.is_ranking:
        return published_with(scored_run, task)
    return [row for row in task.published if row.dimension == STANCE] if task else []


def _board(
    runs: Sequence[Scored],
    scores: Mapping[Scored, Score],
    published: Sequence[Published],
    twins: Mapping[str, Published],
    task: Task | None,
) -> list[LeaderboardRow]:
    """Returns the leaderboard of a dimension, best first. A run that is also published occurs once.

    Args:
        runs: the runs that the user passed, with one evaluator.
        scores: the row of each score.
        published: the published results, best first.
        twins: a run's published result with any evaluator, by the run's name.
        task: the task, if there is one.
    """
    results = dict(zip(published, ranked(published), strict=True))
    names_of_results = dict(zip(published, names(published), strict=True))
    printed_means = [_printed_mean(scored_run, task) for scored_run in runs]
    board = list[LeaderboardRow]()
    for scored_run, printed in zip(runs, printed_means, strict=True):
        twin = twins.get(scored_run.name)
        # Rank among published results if there are any, like ``touche evaluate``, so that other runs of the
        # user don't change the ranks.
        number = (
            scores[scored_run].own_rank.rank
            if results
            else 1 + sum(other > printed for other in printed_means)
        )
        board.append(
            LeaderboardRow(
                name=scored_run.name,
                number=number,
                printed=printed,
                score=scores[scored_run],
                # None if it was published with another evaluator, and isn't in this view.
                published=results.get(twin) if twin else None,
                published_as=names_of_results.get(twin, "") if twin else "",
                doubtful=scored_run.is_ranking and _is_doubtful(scored_run, task),
                is_baseline=scored_run.is_baseline,
            )
        )
    check_of_row = checks(task) if published and task else {}
    for row, result in results.items():
        if row not in twins.values():
            board.append(
                LeaderboardRow(
                    name=names_of_results[row],
                    number=result.rank,
                    printed=rounded(row.value),
                    score=None,
                    published=result,
                    check=check_of_row.get(row, Check("")),
                )
            )
    return sorted(board, key=lambda row: -row.printed)


def _is_doubtful(scored_run: Scored, task: Task | None) -> bool:
    """Returns whether a run's means aren't comparable, for whatever topics the dataset has."""
    return bool(other_md5(scored_run.judged)) or not is_complete(scored_run, task)


def _printed_mean(scored_run: Scored, task: Task | None) -> float:
    """Returns a run's mean as tables print it; -1, below all others, if there is none."""
    mean = scored_run.evaluation.mean
    return -1.0 if mean is None else rounded(mean, task.decimals if task else DECIMALS)


def _twins(
    groups: Sequence[ByEvaluator], published: Mapping[str, Sequence[Published]], task: Task | None
) -> dict[str, Published]:
    """Returns the published result of each run in a dimension that has one, by the run's name.

    It must match in value, N (None for rankings) and tag. For stances, value and N are
    enough if no other result matches.

    Args:
        groups: the runs.
        published: the published results by evaluator. If several evaluators have the run, the first one's
            result counts.
        task: the task, if there is one.
    """
    twins: dict[str, Published] = {}
    for group, (evaluator, results_of_evaluator) in product(groups, published.items()):
        scored_run = group[evaluator]
        results = scored_run.evaluation.results
        own_value = (_printed_mean(scored_run, task), results)
        # Published values are printed; rounding only removes decimals beyond the tables'.
        same = [row for row in results_of_evaluator if (rounded(row.value), row.results) == own_value]
        tagged = [row for row in same if _is_tagged(_plain(scored_run.run.tag), _plain(row.tag))]
        if tagged:
            twins.setdefault(scored_run.name, tagged[0])
        elif results is not None and len(same) == 1:
            twins.setdefault(scored_run.name, same[0])
    return twins


def _is_tagged(tag: str, printed: str) -> bool:
    """Returns whether a tag is the printed one. Tables can print a part of it."""
    return bool(printed) and (tag.startswith(printed) or printed.startswith(tag))


def _plain(tag: str) -> str:
    """Returns a tag without outer quotes, blanks and case, which tables and teams write differently."""
    return tag.strip("\"' ").casefold()


def _depths(runs: Sequence[Scored]) -> dict[str, dict[str, Evaluation]]:
    """Returns evaluations with nDCG at several depths, by measure and run; none for other measures."""
    # The organizers' script only computes nDCG, so a measure that it has is nDCG.
    measure = runs[0].judged.measure
    cutoffs = sorted({*_DEPTHS, measure.cutoff or CUTOFF}) if measure.of_script else []
    measures = [Measure(f"nDCG@{cutoff}", cutoff) for cutoff in cutoffs]
    return {
        measure.name: {
            scored_run.name: EVALUATORS[scored_run.evaluator](
                scored_run.run, scored_run.judged.qrels, measure
            )
            for scored_run in runs
        }
        for measure in measures
    }
