"""What reports contain, from runs and published results."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from string import ascii_uppercase

from touche import tasks
from touche.baselines.expected import SCRIPT, ExpectedScore
from touche.baselines.reruns import find_rerun, published_scores, rerun_tags
from touche.data.judgments import topic_titles
from touche.data.places import find, has_corpus, is_available, locate, locate_corpus
from touche.documents.discovery import find_documents
from touche.errors import ToucheError
from touche.evaluation.comparison import comparisons, conclusions, run_named
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.leaderboard import comparable, levels, names, shortlist
from touche.evaluation.notes import all_warnings, score_notes
from touche.evaluation.scores import Evaluated
from touche.evaluation.scoring import score_task
from touche.evaluation.stances import StanceEvaluation
from touche.io.grouping import group_by
from touche.io.opening import is_file, md5
from touche.io.progress import bar
from touche.reports.first_results import Texts, first_results, ranked_documents
from touche.reports.report_records import (
    BASELINE,
    GIVEN,
    PUBLISHED,
    LeaderboardRow,
    RunFile,
    StanceView,
    TaskReport,
    View,
)
from touche.reports.texts import read_texts
from touche.tasks import STANCE, Corpus, Measure, Published, Task
from touche.tasks.public_runs import checks
from touche.tasks.task_records import rounded

_DEPTHS = (1, 3, 5, 10, 20)  # nDCG cutoffs that a report compares
_PARTIAL = (
    "published results are on the whole corpus; "
    "a run on this dataset, a part of it, is not comparable with them"
)


def task_report(runs: Sequence[Evaluated], dataset: str, reference: str | Path | None = None) -> TaskReport:
    """Returns the report on a task's evaluated runs, with the texts of their first results.

    Args:
        runs: all runs in all dimensions, with all the measure's evaluators.
        dataset: the id of the task, or of a dataset with another corpus, which provides the texts.
        reference: the run to compare the others with: its path, or its path, name or tag as a string. By
            default the organizers' baseline, as submitted or rerun by ``touche run``; if it isn't among the
            runs, the run with the highest mean.

    Raises:
        ToucheError: if a file is now missing, the corpus is broken, or there is no such reference.
    """
    task = runs[0].task
    rankings = _best_first([run for run in runs if run.is_ranking])
    detected = [run for run in runs if not run.is_ranking]
    if not rankings:
        raise ToucheError("a report shows rankings, but only stances are judged; use touche evaluate")
    rankings_by_dimension = group_by(rankings, lambda run: run.dimension)
    runs_once = rankings_by_dimension[rankings[0].dimension]  # each dimension has all runs
    reruns = published_scores() if task.published else []
    views, reasons_without_test = _views(rankings, reruns)
    warnings = [*reasons_without_test, *all_warnings(runs)]
    # The user's own judgments make a task that isn't a dataset.
    corpus_of_dataset = [tasks.dataset(dataset)[1]] if tasks.is_dataset(dataset) else []
    corpora = [*corpus_of_dataset, *task.corpora.values()]  # texts come from the first one that is here
    if task.published and corpora[0] != task.corpora["full"]:  # a part of the collection
        warnings.insert(0, _PARTIAL)
    ranks = ranked_documents(runs_once)
    results = {result for documents in ranks.values() for result in documents}
    wanted = {id for result in results for id in task.rules.ids_of(result)}
    available = next(filter(has_corpus, corpora), None)
    folder = locate_corpus(available) if available else None
    texts = read_texts(wanted, find_documents(folder)) if folder else {}
    titles = topic_titles(task)
    # Even for one run, a reference with an unknown name is an error.
    needs_reference = len(runs_once) > 1 or reference is not None
    return TaskReport(
        dataset=dataset,
        task=task,
        runs=_files(runs_once),
        reference=_reference(runs_once, views, reference) if needs_reference else "",
        views=views,
        notes={dimension: score_notes(ranked) for dimension, ranked in rankings_by_dimension.items()},
        titles=titles,
        topics=first_results(ranks, [*rankings, *detected], texts, titles),
        warnings=warnings,
        missing_texts=_missing_texts(corpora, available, wanted, texts),
        stance=_stance_view(task, detected, reruns),
    )


def published_parts() -> Iterator[TaskReport]:
    """Yields a part for each task with published results or runs, tasks with organizers' baselines first.

    If a run or judgments are unusable, the part has a warning and only contains published results.
    """
    reruns = published_scores()
    all_tasks = tasks.all_tasks().values()
    with_baselines_first = sorted(
        all_tasks, key=lambda task: any(row.baseline for row in task.published), reverse=True
    )
    for task in bar("preparing", "tasks", len(with_baselines_first), over=with_baselines_first):
        # Only rankings over all topics, with the card's measure and judgments. An empty name finds
        # rows with an unknown evaluator.
        rows = [row for row in task.published if row in comparable(task, row.dimension, row.evaluator or "")]
        paths = locate("runs", task.id).iterdir() if is_available("runs", task.id) else ()
        runs = sorted(path for path in paths if path.name.removesuffix(".gz").endswith((".run", ".txt")))
        views = [
            View(
                dimension=dimension,
                evaluator="as published",
                board=_board(run_rows=[], published=published, twins={}, reruns=reruns),
            )
            for dimension, published in group_by(rows, lambda row: row.dimension).items()
        ]
        part = TaskReport(dataset=task.id, task=task, views=views, stance=_stance_view(task, [], reruns))
        if runs:
            try:
                part = task_report(score_task(runs, task), task.id)
            except ToucheError as error:
                part = replace(part, warnings=[f"the available runs are omitted: {error}"])
        if rows or runs:
            yield part


def _best_first(runs: Sequence[Evaluated]) -> list[Evaluated]:
    """Sorts runs by their mean in the first dimension with the first evaluator, best first."""
    means: dict[str, float] = {}
    for run in runs:
        first_score = next(iter(run.scores.values()))
        means.setdefault(run.name, first_score.mean or 0.0)  # a run's later records are for other dimensions
    return sorted(runs, key=lambda run: -means[run.name])


def _files(runs: Sequence[Evaluated]) -> list[RunFile]:
    """Returns the runs with their letters: A to Z, then AA and so on. A run without a file has no md5."""
    combinations = chain.from_iterable(product(ascii_uppercase, repeat=length) for length in (1, 2, 3))
    return [
        RunFile(
            name=run.name,
            letters="".join(letters),
            path=run.path,
            md5=md5(run.path) if is_file(run.path) else "",
        )
        for run, letters in zip(runs, combinations, strict=False)  # of 18,278, we don't need most
    ]


def _reference(runs: Sequence[Evaluated], views: Sequence[View], name: str | Path | None) -> str:
    """Returns which run to compare with: the named one, an organizers' baseline, or the best."""
    if name is not None:
        return run_named(name, runs).name
    baselines = [row for row in runs[0].task.published if row.baseline]
    tags = {*rerun_tags(baselines), *(row.tag for row in baselines)}
    plain_tags = {_plain(tag) for tag in tags}
    baseline_names = [run.name for run in runs if _plain(run.tag) in plain_tags]
    return baseline_names[0] if baseline_names else views[0].run_rows[0].name


def _missing_texts(
    corpora: Sequence[Corpus], available: Corpus | None, wanted: Set[str], texts: Texts
) -> str:
    """Returns a sentence about texts that aren't shown; empty if all are.

    Args:
        corpora: the corpora that could have the texts; none for the user's own judgments.
        available: the first of them that is here.
        wanted: ids of documents or sentences whose texts we need.
        texts: the texts we found, by id.
    """
    if available is None:
        missing_corpus = f"corpora/{corpora[0].directory}" if corpora else "a corpus"
        return f"Texts are not shown, because {missing_corpus} is missing."
    missing = len(wanted) - len(texts)
    return f"{missing} of {len(wanted)} texts are not in corpora/{available.directory}." if missing else ""


def _views(runs: Sequence[Evaluated], reruns: Sequence[ExpectedScore]) -> tuple[list[View], list[str]]:
    """Returns a view per dimension and evaluator, and sentences about pairs of runs without a test.

    The views with most published results come first.

    Args:
        runs: the rankings in all dimensions, best first.
        reruns: the scores that baselines' reruns must reach.
    """
    task = runs[0].task
    views = list[View]()
    reasons_without_test = list[str]()
    by_dimension = group_by(runs, lambda run: run.dimension)
    twins = {dimension: _twins_by_any_evaluator(ranked) for dimension, ranked in by_dimension.items()}
    has_pairs = len({run.path for run in runs}) > 1  # comparing one run is an error
    for evaluator in runs[0].evaluations:
        compared, reasons = comparisons(runs, evaluator) if has_pairs else ([], [])
        undefined = [row for row in compared if row.p_t_test is None]
        reasons_without_test += [*reasons, *conclusions(undefined)]
        for dimension, ranked in by_dimension.items():
            run_rows = [_row_of_run(run, evaluator) for run in ranked]
            published = comparable(task, dimension, evaluator)
            views.append(
                View(
                    dimension=dimension,
                    evaluator=evaluator,
                    qrels=ranked[0].qrels,
                    qrels_md5=_md5_of_qrels(ranked[0]),
                    board=_board(run_rows, published, twins[dimension], reruns),
                    evaluations={run.name: run.evaluations[evaluator] for run in ranked},
                    comparisons=[comparison for comparison in compared if comparison.dimension == dimension],
                    depths=_depths(ranked, evaluator),
                )
            )
    return sorted(views, key=lambda view: view.published_count, reverse=True), reasons_without_test


def _md5_of_qrels(run: Evaluated) -> str:
    """Returns the judgments' md5; empty for judgments in memory or a pipe."""
    path = find("qrels", run.qrels)
    return md5(path) if path else ""


def _stance_view(task: Task, runs: Sequence[Evaluated], reruns: Sequence[ExpectedScore]) -> StanceView | None:
    """Returns the view for detected stances; None if neither a run nor a published result has any.

    Args:
        task: the task.
        runs: the runs with detected stances; only the organizers' script evaluates them.
        reruns: the scores that baselines' reruns must reach.
    """
    published = [row for row in task.published if row.dimension == STANCE]
    if not runs and not published:
        return None
    run_rows = [_row_of_run(run, SCRIPT) for run in runs]
    board = _board(run_rows, published, _twins(runs, SCRIPT, published), reruns)
    if not runs:
        return StanceView(board)
    evaluations = {run.name: run.evaluations[SCRIPT] for run in runs}
    compared, reasons_without_test = comparisons(runs, SCRIPT) if len(runs) > 1 else ([], [])
    return StanceView(
        board=board,
        qrels=runs[0].qrels,
        qrels_md5=_md5_of_qrels(runs[0]),
        # All are evaluations of stances, which the type doesn't say.
        runs={name: value for name, value in evaluations.items() if isinstance(value, StanceEvaluation)},
        compared=compared,
        notes=[*score_notes(runs), *reasons_without_test],
    )


def _board(
    run_rows: Sequence[LeaderboardRow],
    published: Sequence[Published],
    twins: Mapping[str, Published],
    reruns: Sequence[ExpectedScore],
) -> list[LeaderboardRow]:
    """Returns the leaderboard, best first. A run that is also published occurs once.

    Args:
        run_rows: a row per run.
        published: the published results.
        twins: a run's published result with any evaluator, by the run's name.
        reruns: the scores that baselines' reruns must reach.
    """
    rows = _published_rows(published, reruns)
    # A run's twin can be published with another evaluator, and then isn't in this view.
    twin_rows = {name: rows[twin] for name, twin in twins.items() if twin in rows}
    board = []
    for row in run_rows:
        twin = twin_rows.get(row.name)
        if twin:
            row = replace(row, team=twin.name, published=twin.value, rerun=twin.rerun, level=twin.level)
        board.append(row)
    board += [row for result, row in rows.items() if result not in twins.values()]
    # Rank among published results if there are any, so that other given runs don't change the ranks.
    counted_rows = [*rows.values()] or board

    def rank(row: LeaderboardRow) -> int:
        """Returns the rank from 1. The run's own published result doesn't count."""
        others = (other for other in counted_rows if other is not twin_rows.get(row.name))
        return 1 + sum(other.printed > row.printed for other in others)

    return [replace(row, number=rank(row)) for row in sorted(board, key=lambda row: -row.printed)]


def _published_rows(
    published: Sequence[Published], reruns: Sequence[ExpectedScore]
) -> dict[Published, LeaderboardRow]:
    """Returns a leaderboard row for each published result, best first.

    Args:
        published: the results for one dimension, best first.
        reruns: the scores that baselines' reruns must reach.
    """
    short = shortlist(published)
    check_of_row = checks(tasks.task(published[0].task)) if published else {}
    return {
        row: LeaderboardRow(
            name=name,
            kind=BASELINE if row.baseline else PUBLISHED,
            value=row.value,
            low=row.low,
            high=row.high,
            source=row.sources[0],
            tag=row.tag,
            note=row.interval_note,
            listed=row in short,
            results=row.results,
            whole_team=(row.team_value, row.team_results) if row.team_results else None,
            rerun=find_rerun(row, reruns),
            level=level,
            check=check_of_row.get(row, ("", "")),
        )
        for row, name, level in zip(published, names(published), levels(published), strict=True)
    }


def _row_of_run(run: Evaluated, evaluator: str) -> LeaderboardRow:
    """Returns a row for a run that the user gave."""
    score = run.scores[evaluator]
    return LeaderboardRow(
        name=run.name,
        kind=GIVEN,
        value=score.mean,
        low=score.low,
        high=score.high,
        score=score,
        results=score.results,
        decimals=run.task.decimals,
    )


def _twins_by_any_evaluator(runs: Sequence[Evaluated]) -> dict[str, Published]:
    """Returns the published result of each run in a dimension that has one, by the run's name.

    If several evaluators have one, the first evaluator's counts.
    """
    twins: dict[str, Published] = {}
    for evaluator in runs[0].evaluations:
        new_twins = _twins(runs, evaluator, comparable(runs[0].task, runs[0].dimension, evaluator))
        twins = new_twins | twins  # earlier evaluators' results stay
    return twins


def _twins(runs: Sequence[Evaluated], evaluator: str, published: Sequence[Published]) -> dict[str, Published]:
    """Returns the published result of each run that has one, by the run's name.

    It must match in value, N (None for rankings) and tag. For stances, value and N are
    enough if no other result matches.
    """
    twins = {}
    for run in runs:
        own_row = _row_of_run(run, evaluator)
        own_value = (own_row.printed, own_row.results)
        # Published values are printed; rounding only removes decimals beyond the tables'.
        same = [row for row in published if (rounded(row.value), row.results) == own_value]
        tagged = [row for row in same if _is_tagged(_plain(run.tag), _plain(row.tag))]
        detects_stances = own_row.results is not None
        if tagged:
            twins[run.name] = tagged[0]
        elif detects_stances and len(same) == 1:
            twins[run.name] = same[0]
    return twins


def _is_tagged(tag: str, printed: str) -> bool:
    """Returns whether a tag is the printed one. Tables can print a part of it."""
    return bool(printed) and (tag.startswith(printed) or printed.startswith(tag))


def _plain(tag: str) -> str:
    """Returns a tag without outer quotes, blanks and case, which tables and teams write differently."""
    return tag.strip("\"' ").casefold()


def _depths(runs: Sequence[Evaluated], evaluator: str) -> dict[str, dict[str, Evaluation]]:
    """Returns evaluations with nDCG at several depths, by measure and run; none for other measures."""
    task = runs[0].task
    # The organizers' script only computes nDCG, so a measure that it has is nDCG.
    cutoffs = sorted({*_DEPTHS, task.cutoff}) if task.measure.of_script else []
    measures = [Measure(f"nDCG@{cutoff}", cutoff) for cutoff in cutoffs]
    evaluate_run = EVALUATORS[evaluator]
    return {
        measure.name: {run.name: evaluate_run(run.lines, run.judgments, measure) for run in runs}
        for measure in measures
    }
