"""Sentences about runs: warnings, why evaluators differ, ranks among published scores. None is repeated."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

import numpy as np

from touche.data.remedies import full_file_remedy
from touche.errors import one_line
from touche.evaluation.disagreement import reasons_for_disagreement
from touche.evaluation.evaluators import (
    EVALUATORS,
    TREC_EVAL_VERSION,
    by_trec_eval,
    topics_that_crash_trec_eval,
)
from touche.evaluation.leaderboard import (
    UNJUDGED_LIMIT,
    OwnRank,
    is_comparable,
    judged_limit,
    other_md5,
    published_with,
    standing,
    unjudged_limit,
    why_no_rank,
)
from touche.evaluation.same_system import REPRODUCED, closeness, same_system, verdict_sentences
from touche.evaluation.scoring import ByEvaluator, Judged, Scored, by_evaluator
from touche.evaluation.significance import differences_of
from touche.evaluation.stances import StanceEvaluation
from touche.io.grouping import group_by
from touche.io.identifiers import in_order
from touche.tasks import MACRO_F1, MEASURE_OF_QUESTION, STANCE, Measure, Task
from touche.tasks.per_topic import equal_runs, runs_with_topics
from touche.tasks.reported import reported_results
from touche.tasks.task_records import CUTOFF, UNKNOWN, rounded
from touche.tira.metadata import has_other_statistics
from touche.trec.by_stance import topic_in
from touche.trec.columns import Run

_SHOWN_TOPICS = 5  # how many topics a sentence lists; of the others, it only says how many there are


def all_warnings(scored: Iterable[Scored], task: Task | None) -> tuple[str, ...]:
    """Returns the warnings about scores, without duplicates.

    Args:
        scored: the scored runs.
        task: their task, if there is one.
    """
    return tuple(dict.fromkeys(_grouped(by_evaluator(scored), partial(doubts, task=task))))


def all_notes(
    scored: Sequence[Scored], task: Task | None, ranks: Mapping[Scored, OwnRank]
) -> tuple[str, ...]:
    """Returns the notes on scores, without duplicates, followed by the note on the task's published results.

    Args:
        scored: the scored runs.
        task: their task, if there is one.
        ranks: their ranks among published results.
    """
    notes = [*score_notes(scored, task, ranks)]
    if task is not None and task.results_note:
        notes.append(f"{task.id}: {task.results_note}")
    return tuple(dict.fromkeys(notes))


def score_notes(
    scored: Sequence[Scored], task: Task | None, ranks: Mapping[Scored, OwnRank] | None
) -> list[str]:
    """Returns sentences that say why one evaluator doesn't know a measure, why the two evaluators' scores
    differ, and which ranks the runs have.

    Args:
        scored: the scored runs.
        task: their task, if there is one.
        ranks: their ranks among published results. None for pages that show the ranks in a leaderboard: no
            sentence mentions ranks then.
    """
    groups = by_evaluator(scored)
    measures = dict.fromkeys(scored_run.judged.measure for scored_run in scored)
    return [
        *(sentence for measure in measures for sentence in _without_evaluator(measure)),
        *_grouped(groups, _not_by_trec_eval),
        *_grouped(
            groups, lambda group: chain(_disagreement(group), _standing(group, task, ranks) if ranks else ())
        ),
        *_other_sizes(scored),
        *equal_to_published(groups, task),
        *_grouped(groups, partial(_among_reported, task=task)),
        *_without_stances(scored, task),
    ]


def doubts(group: ByEvaluator, task: Task | None) -> Iterator[str]:
    """Yields warnings about a run's scores, as sentences."""
    first = _first(group)
    tag = first.run.tag
    if first.name not in map(one_line, (tag, f"{first.team} ({tag})")):  # see ``unique_names``
        yield f"several runs have the tag or path {tag!r}, so they have other names here"
    tags = first.run.tags.present
    if len(tags) > 1:
        yield f"the file has {len(tags)} tags, the first is {first.run.tag!r}; check that the file is one run"
    if isinstance(first.evaluation, StanceEvaluation):
        yield from _wrong_labels(first.evaluation)
        return
    yield from chain(
        _skipped(first),
        _unjudged(group, task),
        _no_grade_0(first.judged),
        _unofficial(group, task),
        _topics_left_out(group),
        _topics_in_one_file(first, task),
        _equal_ranks(group),
        _near_ties(group),
    )


def _first(group: ByEvaluator) -> Scored:
    """Returns a run's score with the first evaluator. Used where it doesn't matter which evaluator it is."""
    return next(iter(group.values()))


def _without_evaluator(measure: Measure) -> Iterator[str]:
    """Yields why there is no score by touche, if only trec_eval, or our formula on trec_eval's ranking,
    computes the measure.
    """
    if measure.evaluators == ["trec_eval"]:
        reason = (
            "is scored only by trec_eval, because the organizers' script does not have it"
            if measure.of_trec_eval
            else "is not a measure of trec_eval; it is computed on trec_eval's ranking"
        )
        yield f"{measure} {reason}"


def _not_by_trec_eval(group: ByEvaluator) -> Iterator[str]:
    """Yields for which topics the values weren't computed by trec_eval, although it's named as the
    evaluator.
    """
    scored_run = group.get("trec_eval")
    if scored_run is None or not scored_run.judged.measure.of_trec_eval:
        return
    crashing = topics_that_crash_trec_eval(scored_run.judged.qrels, scored_run.judged.measure)
    # Trec_eval skips topics that aren't in the run, so they can't crash it.
    in_run = [topic for topic in scored_run.run.by_score if topic in crashing]
    if in_run:
        yield f"all grades are below 0 in {_listed(in_run)}, where trec_eval can crash; we count 0 instead"


def equal_to_published(groups: Iterable[ByEvaluator], task: Task | None) -> Iterator[str]:
    """Yields a sentence for each run that has the same scores as a published run on every topic, in all
    dimensions with rankings. Also for each run that has the same scores except on a few topics, and the same
    tag.

    Args:
        groups: the runs' scores in all dimensions with rankings. If a dimension is missing, no sentence is
            yielded.
        task: their task, if there is one.
    """
    # The inner keys are dimension and topic.
    by_run: dict[tuple[str, str], dict[str, Mapping[str, float]]] = {}
    runs: dict[str, Run] = {}
    for group in groups:
        first = _first(group)
        if first.is_ranking and first.judged.is_official and not first.judged.any_order:
            # Prefer touche, because published topic values come from the organizers' script.
            evaluation = (group.get("touche") or first).evaluation
            values_of_run = by_run.setdefault((first.name, str(first.judged.measure)), {})
            values_of_run[first.judged.dimension] = evaluation.per_topic
            runs[first.name] = first.run
    if task is None:
        return
    for (name, measure), values in by_run.items():
        fitted = has_other_statistics(runs[name].path)
        equal = equal_runs(task, measure, values)
        if equal:
            rows = " and ".join(f"{row.name} ({row.tag})" for row in equal)
            intervals = [
                f"; the published interval of {row.name} for {row.dimension}, {row.low:.3f} to "
                f"{row.high:.3f}, is from other resamples than the one computed here"
                for row in equal
                if row.low is not None and row.high is not None
            ]
            # Pass the same values twice, because the published values equal the run's.
            verdict = same_system(task, measure, values, values, equal[0].tag, fitted=fitted).rstrip(".")
            yield f"{name}, published as {rows}: {verdict}{''.join(intervals)}"
            continue
        for published in runs_with_topics(task, measure):
            tag = published.tag
            if tag == runs[name].tag and published.values.keys() == values.keys():
                close = closeness(task, measure, published.values, values, tag)
                if close and close.verdict == REPRODUCED:
                    original = f"{published.team} ({tag}), the published run with its tag"
                    verdict = verdict_sentences(close, fitted=fitted).rstrip(".")
                    yield f"{name}, next to {original}: {verdict}"


def _among_reported(group: ByEvaluator, task: Task | None) -> Iterator[str]:
    """Yields a sentence that says how many systems in TIREx score lower, and which one is the best."""
    scored_run = group.get("trec_eval")
    if task is None or scored_run is None or scored_run.evaluation.mean is None:
        return
    # TIREx evaluated systems on all topics with the task's own qrels, so only such scores are comparable.
    is_comparable = (
        scored_run.judged.measure.name == "nDCG@10" and scored_run.judged.is_official and not task.only_topics
    )
    # The best system comes first.
    rows = [row for row in reported_results(task.id) if row.dimension == scored_run.judged.dimension]
    if rows and is_comparable:
        above = sum(scored_run.evaluation.mean > row.ndcg_10 for row in rows)
        best = f"{rows[0].system} {rows[0].ndcg_10:.3f}, with {rows[0].unjudged_10:.0%} unjudged"
        systems = f"{len(rows)} systems that TIREx reports, and nobody submitted"
        mean = f"{scored_run.evaluation.mean:.3f}"
        yield f"with trec_eval, {mean} is above {above} of {systems}; the best is {best}"


def _without_stances(scored: Iterable[Scored], task: Task | None) -> Iterator[str]:
    """Yields which runs detect no stances. Their stances are only scored if the user chooses macro F1."""
    if task is None or STANCE not in task.qrels:
        return
    # A user who chose a measure of rankings, or passed other judgments, doesn't expect stances to be scored.
    rankings = [
        scored_run
        for scored_run in scored
        if scored_run.judged.is_official and not scored_run.judged.is_chosen
    ]
    with_stances = {scored_run.name for scored_run in scored if not scored_run.is_ranking}
    names = [
        scored_run.name
        for scored_run in rankings
        if not scored_run.run.has_stances and scored_run.name not in with_stances
    ]
    if names:
        listed = ", ".join(dict.fromkeys(names))
        yield f"{listed}: every stance is {UNKNOWN}; choose the measure {MACRO_F1} to score them"


def _other_sizes(scored: Iterable[Scored]) -> Iterator[str]:
    """Yields a warning if stances of different runs are scored over different numbers of results (N)."""
    sizes = {
        scored_run.name: scored_run.evaluation.results
        for scored_run in scored
        if scored_run.evaluation.results
    }
    if len({*sizes.values()}) > 1:
        listed = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        yield f"N differs ({listed}), so the values of {MACRO_F1} are not comparable; use touche compare"


def _wrong_labels(evaluation: StanceEvaluation) -> Iterator[str]:
    """Yields warnings if a run contains labels that aren't stances of the task, or if the stance of none of
    its documents is judged.
    """
    others = evaluation.counts[..., -1].sum()  # the last column counts labels that aren't stances
    if others:
        stances = ", ".join(evaluation.labels)
        yield f"{others:,} of {evaluation.results:,} labels are not among {stances}, and count as wrong"
    if not evaluation.results:
        yield "no document has a judged stance; check that the task is the run's task"


def _grouped(groups: Iterable[ByEvaluator], sentences: Callable[[ByEvaluator], Iterable[str]]) -> list[str]:
    """Returns the sentences without duplicates. Each begins with the runs and dimensions that it's about."""
    by_sentence: dict[str, list[Scored]] = {}
    for group in groups:
        for sentence in sentences(group):
            by_sentence.setdefault(sentence, []).append(_first(group))
    return [f"{_subjects(concerned)}: {sentence}" for sentence, concerned in by_sentence.items()]


def _subjects(scored: Iterable[Scored]) -> str:
    """Returns run names with their dimensions, grouping runs with the same dimensions."""
    by_name = group_by(scored, lambda scored_run: scored_run.name)
    groups = group_by(
        by_name, lambda name: _enumerated([*dict.fromkeys(scored_run.label for scored_run in by_name[name])])
    )
    return "; ".join(f"{', '.join(names)}, {dimensions}" for dimensions, names in groups.items())


def _enumerated(names: Sequence[str]) -> str:
    """Returns names in words: ``a``, ``a and b`` or ``a, b and c``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _listed(topics: Sequence[str]) -> str:
    """Returns topics in words: the numbers of the first five, then how many others there are."""
    topics = sorted(topics, key=in_order)
    rest = f" and {len(topics) - _SHOWN_TOPICS} more" if len(topics) > _SHOWN_TOPICS else ""
    return f"topic{'s' if len(topics) > 1 else ''} {', '.join(topics[:_SHOWN_TOPICS])}{rest}"


def _skipped(scored_run: Scored) -> Iterator[str]:
    """Yields a warning per kind of error that makes the organizers' script skip lines."""
    for errors in group_by(scored_run.skipped, lambda error: error.kind).values():
        lines = f"{len(errors):,} line{'s' if len(errors) > 1 else ''}"
        yield f"the organizers' script skips {lines}, first {errors[0]}"


def _unjudged(group: ByEvaluator, task: Task | None) -> Iterator[str]:
    """Yields a warning if many results are unjudged, at most one for both evaluators. The share of unjudged
    results isn't mentioned, so that the same sentence fits several runs and is printed only once.
    """
    judged = _first(group).judged
    measure = judged.measure
    unjudged = {name: scored_run.evaluation.unjudged for name, scored_run in group.items()}
    over_limit = [evaluator for evaluator, share in unjudged.items() if share > UNJUDGED_LIMIT]
    if not over_limit or measure.is_judged_share:
        return
    top = f"top {measure.cutoff}" if measure.cutoff else "results"
    # Only one of them, because the two evaluators order documents differently.
    if len(over_limit) < len(unjudged):
        top += f" in the order of {over_limit[0]}"
    none_is_judged = all(share == 1 for share in unjudged.values())
    share = "none" if none_is_judged else f"less than {1 - UNJUDGED_LIMIT:.0%}"
    check = "; check that the task is the run's task" if none_is_judged else ""
    comparison = _comparison_with_published(judged, task, max(unjudged.values()))
    yield f"{share} of the {top} is judged{comparison}: {_effect_of_unjudged(measure)}{check}"


def _comparison_with_published(judged: Judged, task: Task | None, unjudged: float) -> str:
    """Returns a clause that says whether the score is comparable with published scores; empty if nothing is
    published.

    Args:
        judged: what the run was scored against.
        task: its task, if there is one.
        unjudged: the run's unjudged share.
    """
    published = task.published if task and judged.is_official else ()
    has_published = any(
        (row.dimension, row.measure) == (judged.dimension, judged.measure.name) for row in published
    )
    effect = ", so the score is not comparable with published ones" if has_published else ""
    limit = judged_limit(task, judged.measure)
    if limit is None:
        return effect
    if unjudged > unjudged_limit(task, judged.measure):
        return f", but at least {limit:g} for the published runs{effect}"
    return ", as for the published scores"  # a similar share of the published runs' results is unjudged


def _no_grade_0(judged: Judged) -> Iterator[str]:
    """Yields a warning if the task's qrels don't contain grade 0, although the card lists it."""
    # Negative grades mean not relevant, too, so they do instead of 0.
    has_not_relevant = any(min(grades.values()) <= 0 for grades in judged.qrels.values())
    if 0 in judged.grades and not has_not_relevant:
        effect = f"so {judged.measure.judged} is too low, and a score of only judged documents is too high"
        yield f"{judged.file} lacks the judgments with grade 0, {effect}; {full_file_remedy(judged.file)}"


def _unofficial(group: ByEvaluator, task: Task | None) -> Iterator[str]:
    """Yields a warning if the file with the task's qrels differs from the publisher's, but the score is
    compared with published scores.
    """
    judged = _first(group).judged
    md5 = other_md5(judged)
    if md5 and any(published_with(scored_run, task) for scored_run in group.values()):
        problem = f"{judged.file} is not the publisher's file, whose md5 is {md5}"
        effect = "so the score is not comparable with published ones"
        yield f"{problem}, {effect}; {full_file_remedy(judged.file)}"


def _effect_of_unjudged(measure: Measure) -> str:
    """Returns a clause that says how unjudged documents affect a score."""
    too_low = "counts unjudged documents as not relevant, so its scores may be too low"
    if measure.of_script:
        return f"trec_eval {too_low}; touche removes them, so its scores may be too high"
    if measure.condenses:
        return f"{measure} removes unjudged documents, so its scores may be too high"
    return f"{measure} {too_low}"


def _topics_left_out(group: ByEvaluator) -> Iterator[str]:
    """Yields a warning about topics that touche doesn't average over."""
    if "touche" not in group:
        return
    evaluation = group["touche"].evaluation
    left_out = [topic for topic in evaluation.judged_per_topic if topic not in evaluation.per_topic]
    if left_out:
        no_mean = "" if evaluation.per_topic else ", and has no topic left to average over"
        cutoff = _cutoff(group["touche"].judged)
        why = f"none of the top {cutoff} is judged, or no relevant document is known"
        yield f"touche leaves out {_listed(left_out)}{no_mean}: {why}"


def _cutoff(judged: Judged) -> int:
    """Returns the measure's cutoff; if it has none, the cutoff that most tasks use."""
    return judged.measure.cutoff or CUTOFF


def _topics_in_one_file(scored_run: Scored, task: Task | None) -> Iterator[str]:
    """Yields warnings about topics that are only in the run, or only in the judgments."""
    measure = scored_run.judged.measure
    topics_of_run = scored_run.run.by_topic.keys()
    unknown = [topic for topic in topics_of_run if topic not in scored_run.judged.qrels]
    missing = [topic for topic in scored_run.judged.qrels if topic not in topics_of_run]
    if unknown:
        is_part = task is not None and task.only_topics
        problem = "the dataset does not have" if is_part else "there are no judgments for"
        yield f"{problem} {_listed(unknown)} of the run, so these results do not count"
    # The missing names are names of rankings, such as 1 PRO.
    if missing and measure in MEASURE_OF_QUESTION.values():
        yield from _missing_stances(missing, {*map(topic_in, topics_of_run)})
    elif missing:
        by_touche = " and touche leaves out" if measure.of_script else ""
        counts = f"which trec_eval counts as 0{by_touche}; the score is not comparable"
        yield f"the run has no results for {_listed(missing)}, {counts}"


def _missing_stances(missing_rankings: Sequence[str], topics_of_run: Collection[str]) -> Iterator[str]:
    """Yields warnings about missing rankings: one about topics in the run, and one about topics that aren't
    in the run.
    """
    with_topic_in_run = [ranking for ranking in missing_rankings if topic_in(ranking) in topics_of_run]
    missing_topics = {*map(topic_in, missing_rankings)}.difference(topics_of_run)
    if with_topic_in_run:
        yield f"the run has no results for {_listed(with_topic_in_run)}, which touche counts as 0"
    if missing_topics:
        yield (
            f"the run has no results for {_listed([*missing_topics])}, which touche leaves out; "
            "the score is not comparable"
        )


def _equal_ranks(group: ByEvaluator) -> Iterator[str]:
    """Yields a warning about topics in which several results have the same rank."""
    if "touche" not in group:
        return
    run = group["touche"].run
    repeated = [topic for topic, lines in run.by_rank.items() if (np.diff(run.ranks[lines]) == 0).any()]
    if repeated:
        yield f"ranks occur twice in {_listed(repeated)}; touche then uses the order of the file"


def _near_ties(group: ByEvaluator) -> Iterator[str]:
    """Yields a warning if scores are different but equal as float32: newer versions of trec_eval read
    doubles, so their results can differ.
    """
    if "trec_eval" not in group:
        return
    run = group["trec_eval"].run
    # Float32 represents all scores exactly, so both versions use the same order.
    if (run.rounded == run.scores).all():
        return
    judged = group["trec_eval"].judged
    measure = judged.measure
    by_float = run.by_score
    by_double = run.order_of(run.scores)
    judged_topics = [topic for topic in by_float if topic in judged.qrels]
    depth = measure.depth  # the measure doesn't depend on the order of results below this rank
    moved = [topic for topic in judged_topics if (by_float[topic][:depth] != by_double[topic][:depth]).any()]
    if not moved:
        return

    def values_in(order: Mapping[str, np.ndarray]) -> Mapping[str, float]:
        moved_lines = {topic: order[topic] for topic in moved}
        return by_trec_eval(run.documents_of(moved_lines, depth), judged.qrels, measure)

    as_float = values_in(by_float)
    as_double = values_in(by_double)
    changes = differences_of([as_double[topic] for topic in moved], [as_float[topic] for topic in moved])
    changed = [topic for topic, change in zip(moved, changes, strict=True) if change]
    if changed:
        # By how much the mean over all judged topics changes: the sum is over changed topics, because the
        # others add 0.
        change = sum(changes) / len(judged.qrels)
        yield (
            f"touche uses trec_eval {TREC_EVAL_VERSION}, which reads scores as float32; versions since "
            f"September 2023 read double and order {_listed(changed)} differently "
            f"({change:+.4f} in {measure})"
        )


def _disagreement(group: ByEvaluator) -> Iterator[str]:
    """Yields why the evaluators' means differ, if both have one."""
    if len(group) < len(EVALUATORS) or any(
        scored_run.evaluation.mean is None for scored_run in group.values()
    ):
        return
    first = _first(group)
    steps = list(reasons_for_disagreement(first.run, first.judged.qrels, _cutoff(first.judged)))
    if steps:
        difference = sum(step.change for step in steps)
        side = "above" if difference >= 0 else "below"
        parts = "; ".join(
            f"{step.change:+.4f} because {step.text} ({_listed(step.topics)})" for step in steps
        )
        yield f"touche is {abs(difference):.4f} {side} trec_eval: {parts}"


def _standing(group: ByEvaluator, task: Task | None, ranks: Mapping[Scored, OwnRank]) -> Iterator[str]:
    """Yields a run's rank with each evaluator, or why it can't be ranked. If both sentences are equal, yields
    one.
    """
    first = _first(group)
    if task is None or not task.published or not first.judged.is_official:
        return
    positions = {
        evaluator: _position(scored_run, task, ranks[scored_run]) for evaluator, scored_run in group.items()
    }
    evaluators = [evaluator for evaluator, position in positions.items() if position]
    for position, names in group_by(evaluators, positions.__getitem__).items():
        yield f"with {' and '.join(names)}, {position}"
    if not any(published_with(scored_run, task) for scored_run in group.values()):
        yield why_no_rank(task, first.judged.dimension, first.judged.any_order)


def _position(scored_run: Scored, task: Task, rank: OwnRank) -> str:
    """Returns, in words, a score and its position among comparable published scores, if there are any."""
    rows = published_with(scored_run, task)
    mean = scored_run.evaluation.mean
    if not rows or mean is None:
        return ""
    value = f"{mean:.3f}"
    # Some tables round twice: 0.40348 becomes 0.4035, then 0.404. Rounded once, it's 0.403.
    if f"{rounded(mean, task.decimals):.3f}" != value:
        value = f"{mean:.5f}, which the tables round twice,"
    is_ranked = is_comparable(scored_run, task)
    warning = "" if is_ranked else "; not comparable, so it has no rank: see the warning"
    return f"{value} is {standing(mean, rows, task.decimals, str(rank))}{warning}"
