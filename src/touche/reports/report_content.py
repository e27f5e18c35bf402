"""What reports contain, from runs and published results."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import product

from touche import tasks
from touche.baselines.expected import SCRIPT
from touche.baselines.reruns import rerun_tags
from touche.data.judgments import topic_titles
from touche.data.places import find, find_corpus, locate
from touche.documents.discovery import find_documents
from touche.errors import ToucheError
from touche.evaluation.comparison import Comparison, Comparisons, comparisons, why_untested
from touche.evaluation.evaluators import EVALUATORS, Evaluation
from touche.evaluation.leaderboard import comparable, names
from touche.evaluation.notes import all_warnings, score_notes
from touche.evaluation.scores import Evaluated
from touche.evaluation.scoring import score_task
from touche.evaluation.wide import run_letters
from touche.io.grouping import group_by
from touche.io.opening import is_file, md5
from touche.io.progress import bar
from touche.reports.first_results import Texts, first_results, ranked_documents
from touche.reports.published_results import ranked
from touche.reports.report_records import LeaderboardRow, RunFile, TaskReport, View
from touche.reports.texts import read_texts
from touche.tasks import STANCE, Corpus, Measure, Published, Task
from touche.tasks.public_runs import checks
from touche.tasks.task_records import rounded

_DEPTHS = (1, 3, 5, 10, 20)  # nDCG cutoffs that a report compares
_PARTIAL = (
    "published results are on the whole corpus; "
    "a run on this dataset, a part of it, is not comparable with them"
)


def task_report(runs: Sequence[Evaluated], dataset: str, reference: str = "") -> TaskReport:
    """Returns the report on a task's evaluated runs, with the texts of their first results.

    Args:
        runs: all runs in all dimensions, with all the measure's evaluators.
        dataset: the id of the task, or of a dataset with another corpus, which provides the texts.
        reference: the name of the run to compare the others with. By default the organizers' baseline, as
            submitted or rerun by ``touche run``; if it isn't among the runs, the run with the highest
            comparable mean.

    Raises:
        ToucheError: if a file is now missing, or the corpus is broken.
    """
    task = runs[0].task
    rankings = _best_first([run for run in runs if run.is_ranking])
    detected = [run for run in runs if not run.is_ranking]
    if not rankings:
        raise ToucheError("a report shows rankings, but only stances are judged; use touche evaluate")
    by_dimension = group_by([*rankings, *detected], lambda run: run.dimension)
    runs_once = by_dimension[rankings[0].dimension]  # each dimension has all runs
    views, reasons_without_test = _views(rankings, reference)
    warnings = [*reasons_without_test, *all_warnings(runs)]
    notes = {dimension: score_notes(evaluated) for dimension, evaluated in by_dimension.items()}
    stance, reasons_without_comparison = _stance_view(task, detected)
    if reasons_without_comparison:
        notes[STANCE] += reasons_without_comparison
    # The user's own judgments make a task that isn't a dataset.
    corpus_of_dataset = [tasks.dataset(dataset)[1]] if tasks.is_dataset(dataset) else []
    corpora = [*corpus_of_dataset, *task.corpora.values()]  # texts come from the first one that is here
    if task.published and corpora[0] != task.corpora["full"]:  # a part of the collection
        warnings.insert(0, _PARTIAL)
    ranks = ranked_documents(runs_once)
    results = {result for documents in ranks.values() for result in documents}
    wanted = {id for result in results for id in task.rules.ids_of(result)}
    folders = ((corpus, find_corpus(corpus)) for corpus in corpora)
    available, folder = next((pair for pair in folders if pair[1]), (None, None))
    texts = read_texts(wanted, find_documents(folder)) if folder else {}
    titles = topic_titles(task)
    return TaskReport(
        dataset=dataset,
        task=task,
        runs=_files(runs_once),
        reference=reference or _default_reference(runs_once, views),
        views=views,
        notes=notes,
        titles=titles,
        topics=first_results(ranks, [*rankings, *detected], texts, titles),
        warnings=warnings,
        missing_texts=_missing_texts(corpora, available, wanted, texts),
        stance=stance,
    )


def published_parts() -> Iterator[TaskReport]:
    """Yields a part for each task with published results or runs, tasks with organizers' baselines first.

    If a run or judgments are unusable, the part has a warning and only contains published results.
    """
    all_tasks = tasks.all_tasks().values()
    with_baselines_first = sorted(
        all_tasks, key=lambda task: any(row.baseline for row in task.published), reverse=True
    )
    for task in bar("preparing", "tasks", len(with_baselines_first), over=with_baselines_first):
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
            _published_view(published) for published in group_by(rows, lambda row: row.dimension).values()
        ]
        stance, _ = _stance_view(task, [])
        part = TaskReport(dataset=task.id, task=task, views=views, stance=stance)
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
    """Returns the runs with their letters. A run without a file has no md5."""
    letters = run_letters(run.name for run in runs)
    return [
        RunFile(
            name=run.name,
            letters=letters[run.name].upper(),
            path=run.path,
            md5=md5(run.path) if is_file(run.path) else "",
        )
        for run in runs
    ]


def _default_reference(runs: Sequence[Evaluated], views: Sequence[View]) -> str:
    """Returns the run to compare with: an organizers' baseline, or the best run, if possible a comparable
    one; empty for a single run.
    """
    if len(runs) < 2:
        return ""
    baselines = [row for row in runs[0].task.published if row.baseline]
    tags = {*rerun_tags(baselines), *(row.tag for row in baselines)}
    plain_tags = {_plain(tag) for tag in tags}
    baseline_names = [run.name for run in runs if _plain(run.tag) in plain_tags]
    comparable_names = [row.name for row in views[0].run_rows.values() if not row.doubtful]
    return next(iter([*baseline_names, *comparable_names, *views[0].run_rows]))


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


def _published_view(published: Sequence[Published]) -> View:
    """Returns a view of a dimension's published results, without runs."""
    board = _board(runs=[], evaluator="", published=published, twins={})
    return View(dimension=published[0].dimension, evaluator="as published", board=board)


def _views(runs: Sequence[Evaluated], reference: str) -> tuple[list[View], list[str]]:
    """Returns a view per dimension and evaluator, and sentences about pairs of runs without a test.

    The views of the task's usual evaluator come first.

    Args:
        runs: the rankings in all dimensions, best first.
        reference: the name of the run that all others are compared with; empty to compare all pairs.
    """
    views = list[View]()
    reasons_without_test = list[str]()
    by_dimension = group_by(runs, lambda run: run.dimension)
    has_pairs = len({run.path for run in runs}) > 1  # comparing one run is an error
    reference_run = next((run for run in runs if run.name == reference), None)
    usual = runs[0].task.usual_evaluator
    for evaluator in sorted(runs[0].evaluations, key=lambda name: name != usual):
        compared = comparisons(runs, evaluator, reference_run) if has_pairs else Comparisons(Comparison, ())
        reasons_without_test += why_untested(compared)
        for dimension, rankings in by_dimension.items():
            published = {name: comparable(runs[0].task, dimension, name) for name in runs[0].evaluations}
            in_dimension = [comparison for comparison in compared if comparison.dimension == dimension]
            views.append(_view(rankings, evaluator, published, in_dimension))
    return views, reasons_without_test


def _stance_view(task: Task, runs: Sequence[Evaluated]) -> tuple[View | None, list[str]]:
    """Returns the view of detected stances, and a sentence for each pair of runs that can't be compared.

    The view is None if neither a run nor a published result detects stances.

    Args:
        task: the task.
        runs: the runs with detected stances; only the organizers' script evaluates them.
    """
    published = [row for row in task.published if row.dimension == STANCE]
    if not runs:
        return _published_view(published) if published else None, []
    compared = comparisons(runs, SCRIPT) if len(runs) > 1 else Comparisons(Comparison, ())
    return _view(runs, SCRIPT, {SCRIPT: published}, compared), [*compared.warnings]


def _view(
    runs: Sequence[Evaluated],
    evaluator: str,
    published: Mapping[str, Sequence[Published]],
    compared: Sequence[Comparison],
) -> View:
    """Returns the view of runs in one dimension with one evaluator.

    Args:
        runs: the runs that the user gave.
        evaluator: the evaluator of their scores.
        published: the dimension's published results by evaluator, best first.
        compared: the runs' comparisons.
    """
    qrels = find("qrels", runs[0].qrels)  # None for judgments in memory or a pipe
    return View(
        dimension=runs[0].dimension,
        evaluator=evaluator,
        board=_board(runs, evaluator, published[evaluator], _twins(runs, published)),
        qrels=runs[0].qrels,
        qrels_md5=md5(qrels) if qrels else "",
        evaluations={run.name: run.evaluations[evaluator] for run in runs},
        comparisons=compared,
        depths=_depths(runs, evaluator),
    )


def _board(
    runs: Sequence[Evaluated],
    evaluator: str,
    published: Sequence[Published],
    twins: Mapping[str, Published],
) -> list[LeaderboardRow]:
    """Returns the leaderboard of a dimension, best first. A run that is also published occurs once.

    Args:
        runs: the runs that the user gave.
        evaluator: the evaluator of their scores.
        published: the published results, best first.
        twins: a run's published result with any evaluator, by the run's name.
    """
    results = dict(zip(published, ranked(published), strict=True))
    names_of_results = dict(zip(published, names(published), strict=True))
    printed_means = [_printed_mean(run, evaluator) for run in runs]
    board = list[LeaderboardRow]()
    for run, printed in zip(runs, printed_means, strict=True):
        twin = twins.get(run.name)
        # Rank among published results if there are any, like ``touche evaluate``, so that other given runs
        # don't change the ranks.
        score = run.scores[evaluator]
        number = score.rank if results else 1 + sum(other > printed for other in printed_means)
        board.append(
            LeaderboardRow(
                name=run.name,
                number=number,
                printed=printed,
                shown=score,
                # None if it was published with another evaluator, and isn't in this view.
                published=results.get(twin) if twin else None,
                published_as=names_of_results.get(twin, "") if twin else "",
                doubtful=run.is_ranking and _is_doubtful(run, evaluator),
            )
        )
    check_of_row = checks(tasks.task(published[0].task)) if published else {}
    for row, result in results.items():
        if row not in twins.values():
            board.append(
                LeaderboardRow(
                    name=names_of_results[row],
                    number=result.rank,
                    printed=rounded(row.value),
                    shown=result,
                    published=result,
                    check=check_of_row.get(row, ("", "")),
                )
            )
    return sorted(board, key=lambda row: -row.printed)


def _is_doubtful(run: Evaluated, evaluator: str) -> bool:
    """Returns whether a run's means aren't comparable, for whatever topics the dataset has."""
    return bool(run.official_md5) or not run.is_complete(run.evaluations[evaluator])


def _printed_mean(run: Evaluated, evaluator: str) -> float:
    """Returns a run's mean as tables print it; -1, below all others, if there is none."""
    mean = run.scores[evaluator].mean
    return -1.0 if mean is None else rounded(mean, run.task.decimals)


def _twins(runs: Sequence[Evaluated], published: Mapping[str, Sequence[Published]]) -> dict[str, Published]:
    """Returns the published result of each run in a dimension that has one, by the run's name.

    It must match in value, N (None for rankings) and tag. For stances, value and N are
    enough if no other result matches.

    Args:
        runs: the runs.
        published: the published results by evaluator. If several evaluators have the run, the first one's
            result counts.
    """
    twins: dict[str, Published] = {}
    for run, (evaluator, rows) in product(runs, published.items()):
        results = run.scores[evaluator].results
        own_value = (_printed_mean(run, evaluator), results)
        # Published values are printed; rounding only removes decimals beyond the tables'.
        same = [row for row in rows if (rounded(row.value), row.results) == own_value]
        tagged = [row for row in same if _is_tagged(_plain(run.tag), _plain(row.tag))]
        if tagged:
            twins.setdefault(run.name, tagged[0])
        elif results is not None and len(same) == 1:
            twins.setdefault(run.name, same[0])
    return twins


def _is_tagged(tag: str, printed: str) -> bool:
    """Returns whether a tag is the printed one. Tables can print a part of it."""
    return bool(printed) and (tag.startswith(printed) or printed.startswith(tag))


def _plain(tag: str) -> str:
    """Returns a tag without outer quotes, blanks and case, which tables and teams write differently."""
    return tag.strip("\"' ").casefold()


def _depths(runs: Sequence[Evaluated], evaluator: str) -> dict[str, dict[str, Evaluation]]:
    """Returns evaluations with nDCG at several depths, by measure and run; none for other measures."""
    # The organizers' script only computes nDCG, so a measure that it has is nDCG.
    cutoffs = sorted({*_DEPTHS, runs[0].task.cutoff}) if runs[0].measure.of_script else []
    measures = [Measure(f"nDCG@{cutoff}", cutoff) for cutoff in cutoffs]
    evaluate_run = EVALUATORS[evaluator]
    return {
        measure.name: {run.name: evaluate_run(run.lines, run.judgments, measure) for run in runs}
        for measure in measures
    }
