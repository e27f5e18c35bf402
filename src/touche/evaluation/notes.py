"""Sentences about runs, each once: warnings, why evaluators differ, ranks among published scores."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from touche.data.remedies import full_file_remedy
from touche.errors import one_line
from touche.evaluation.disagreement import reasons
from touche.evaluation.evaluators import (
    EVALUATORS,
    TREC_EVAL_VERSION,
    by_trec_eval,
)
from touche.evaluation.leaderboard import standing, why_no_rank
from touche.evaluation.scores import UNJUDGED_LIMIT, Evaluated, Score, by_measure, unjudged_limit
from touche.evaluation.significance import differences_of
from touche.evaluation.stances import StanceEvaluation
from touche.io.grouping import group_by
from touche.tasks import MACRO_F1, MEASURE_OF_QUESTION, STANCE, Measure
from touche.tasks.per_topic import equal_runs
from touche.tasks.reported import reported_results
from touche.tasks.task_records import UNKNOWN, rounded
from touche.trec.by_stance import topic_in
from touche.trec.topics import in_order

_SHOWN_TOPICS = 5  # topics in a list; the others are counted


def all_warnings(runs: Sequence[Evaluated]) -> tuple[str, ...]:
    """Returns the warnings about all measures' scores, each once."""
    return tuple(dict.fromkeys(text for group in by_measure(runs) for text in _grouped(group, doubts)))


def all_notes(runs: Sequence[Evaluated]) -> tuple[str, ...]:
    """Returns the notes on all measures' scores, each once, then the note on the task's results."""
    notes = [text for group in by_measure(runs) for text in score_notes(group)]
    task = runs[0].task  # the same for all measures
    if task.results_note:
        notes.append(f"{task.id}: {task.results_note}")
    return tuple(dict.fromkeys(notes))


def score_notes(runs: Sequence[Evaluated]) -> list[str]:
    """Returns why a measure lacks an evaluator, why the evaluators differ, and the runs' ranks."""
    return [
        # The first run is enough: only a measure that the user chose can lack an evaluator, for all
        # rankings.
        *_without_evaluator(runs[0].measure),
        *_grouped(runs, lambda run: chain(_disagreement(run), _standing(run))),
        *_other_sizes(runs),
        *_equal_to_published(runs),
        *_grouped(runs, _among_reported),
        *_without_stances(runs),
    ]


def doubts(run: Evaluated) -> Iterator[str]:
    """Yields warnings about a run's scores, as sentences."""
    if run.name != one_line(run.tag):  # see ``unique_names``
        yield f"several runs have the tag or path {run.tag!r}, so they have other names here"
    tags = run.lines.tags.present
    if len(tags) > 1:
        yield f"the file has {len(tags)} tags, the first is {run.tag!r}; check that the file is one run"
    evaluation = run.evaluations.get("touche")
    if isinstance(evaluation, StanceEvaluation):
        yield from _wrong_labels(evaluation)
        return
    yield from chain(
        _skipped(run),
        _unjudged(run),
        _no_grade_0(run),
        _unofficial(run),
        _topics_left_out(run),
        _topics_in_one_file(run),
        _equal_ranks(run),
        _near_ties(run),
    )


def _without_evaluator(measure: Measure) -> Iterator[str]:
    """Yields why touche doesn't score a measure that only trec_eval or a formula on its ranking does."""
    if measure.evaluators == ["trec_eval"]:
        reason = (
            "is scored only by trec_eval, because the organizers' script does not have it"
            if measure.of_trec_eval
            else "is not a measure of trec_eval; it is computed on trec_eval's ranking"
        )
        yield f"{measure} {reason}"


def _equal_to_published(runs: Sequence[Evaluated]) -> Iterator[str]:
    """Yields a sentence per run that equals a published run in every topic and ranked dimension."""
    by_name: dict[str, dict[str, Mapping[str, float]]] = {}  # then by dimension and topic
    for run in runs:
        if run.is_ranking and not run.any_order:
            # Prefer touche, because published topic values come from the organizers' script.
            evaluation = run.evaluations.get("touche") or run.evaluations["trec_eval"]
            by_name.setdefault(run.name, {})[run.dimension] = evaluation.per_topic
    task = runs[0].task
    for name, values in by_name.items():
        equal = equal_runs(task, values)
        if equal:
            topics = len(next(iter(values.values())))  # in the first dimension; each topic has an equal value
            rows = " and ".join(f"{row.name} ({row.tag})" for row in equal)
            intervals = [
                f"; the published interval of {row.name} for {row.dimension}, {row.low:.3f} to "
                f"{row.high:.3f}, is from other resamples than the one computed here"
                for row in equal
                if row.low is not None and row.high is not None
            ]
            dimensions = " and ".join(values)
            equality = f"has {rows}'s published values for {dimensions} in {topics} of {topics} topics"
            yield f"{name}: {equality}{''.join(intervals)}"


def _among_reported(run: Evaluated) -> Iterator[str]:
    """Yields a sentence about the systems that TIREx reports, and the best of them."""
    # The best system comes first.
    rows = [row for row in reported_results(run.task.id) if row.dimension == run.dimension]
    score = run.scores.get("trec_eval")
    # TIREx used all topics and the task's own qrels. With the user's qrels, ``task.published`` is
    # empty.
    is_comparable = run.measure.name == "nDCG@10" and run.task.published and not run.task.only_topics
    if rows and is_comparable and score is not None and score.mean is not None:
        above = sum(score.mean > row.ndcg_10 for row in rows)
        best = f"{rows[0].system} {rows[0].ndcg_10:.3f}, with {rows[0].unjudged_10:.0%} unjudged"
        systems = f"{len(rows)} systems that TIREx reports, and nobody submitted"
        yield f"with trec_eval, {score.mean:.3f} is above {above} of {systems}; the best is {best}"


def _without_stances(runs: Sequence[Evaluated]) -> Iterator[str]:
    """Yields which runs detect no stances. Their stances are only scored if the user chooses macro F1."""
    scored = {run.name for run in runs if run.dimension == STANCE}
    names = dict.fromkeys(run.name for run in runs if not run.lines.has_stances and run.name not in scored)
    if names and STANCE in runs[0].task.qrels:
        yield f"{', '.join(names)}: every stance is {UNKNOWN}; choose the measure {MACRO_F1} to score them"


def _other_sizes(runs: Iterable[Evaluated]) -> Iterator[str]:
    """Yields a warning if runs' stances are scored over different N. Rankings have none."""
    sizes = {run.name: score.results for run in runs for score in run.scores.values() if score.results}
    if len({*sizes.values()}) > 1:
        listed = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        yield f"N differs ({listed}), so the values of {MACRO_F1} are not comparable; use touche compare"


def _wrong_labels(evaluation: StanceEvaluation) -> Iterator[str]:
    """Yields warnings if labels aren't the task's stances, or no document's stance is judged."""
    others = evaluation.counts[..., -1].sum()  # the last column counts labels that aren't stances
    if others:
        known = ", ".join(evaluation.labels)
        yield f"{others:,} of {evaluation.results:,} labels are not among {known}, and count as wrong"
    if not evaluation.results:
        yield "no document has a judged stance; check that the task is the run's task"


def _grouped(runs: Iterable[Evaluated], sentences: Callable[[Evaluated], Iterable[str]]) -> list[str]:
    """Returns the sentences, each once, with their runs and dimensions."""
    runs_by_sentence: dict[str, list[Evaluated]] = {}
    for run in runs:
        for sentence in sentences(run):
            runs_by_sentence.setdefault(sentence, []).append(run)
    return [f"{_subjects(concerned)}: {sentence}" for sentence, concerned in runs_by_sentence.items()]


def _subjects(runs: Iterable[Evaluated]) -> str:
    """Returns run names with their dimensions, grouping runs with the same dimensions."""
    by_name = group_by(runs, lambda run: run.name)
    groups = group_by(by_name, lambda name: _enumerated([run.label for run in by_name[name]]))
    return "; ".join(f"{', '.join(names)}, {dimensions}" for dimensions, names in groups.items())


def _enumerated(names: Sequence[str]) -> str:
    """Returns names in words: ``a``, ``a and b`` or ``a, b and c``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _listed(topics: Sequence[str]) -> str:
    """Returns topics in words, the first five by number."""
    topics = sorted(topics, key=in_order)
    rest = f" and {len(topics) - _SHOWN_TOPICS} more" if len(topics) > _SHOWN_TOPICS else ""
    return f"topic{'s' if len(topics) > 1 else ''} {', '.join(topics[:_SHOWN_TOPICS])}{rest}"


def _skipped(run: Evaluated) -> Iterator[str]:
    """Yields a warning per kind of error that makes the organizers' script skip lines."""
    for errors in group_by(run.skipped, lambda error: error.kind).values():
        lines = f"{len(errors):,} line{'s' if len(errors) > 1 else ''}"
        yield f"the organizers' script skips {lines}, first {errors[0]}"


def _unjudged(run: Evaluated) -> Iterator[str]:
    """Yields a warning if many results are unjudged, one for both evaluators.

    It doesn't state the share, so that several runs can share a warning.
    """
    measure = run.measure
    unjudged = {name: evaluation.unjudged for name, evaluation in run.evaluations.items()}
    over_limit = [evaluator for evaluator, share in unjudged.items() if share > UNJUDGED_LIMIT]
    if not over_limit or measure.is_judged_share:
        return
    top = f"top {measure.cutoff}" if measure.cutoff else "results"
    if len(over_limit) < len(unjudged):  # evaluators order documents differently
        top += f" in the order of {over_limit[0]}"
    none_is_judged = all(share == 1 for share in unjudged.values())
    judged = "none" if none_is_judged else f"less than {1 - UNJUDGED_LIMIT:.0%}"
    check = "; check that the task is the run's task" if none_is_judged else ""
    comparison = _comparison_with_published(run, max(unjudged.values()))
    yield f"{judged} of the {top} is judged{comparison}: {_effect_of_unjudged(measure)}{check}"


def _comparison_with_published(run: Evaluated, unjudged: float) -> str:
    """Returns whether the score is comparable with published ones, as a clause that can be empty.

    Args:
        run: the run.
        unjudged: its unjudged share.
    """
    has_published = any(
        (row.dimension, row.measure) == (run.dimension, run.measure.name) for row in run.task.published
    )
    effect = ", so the score is not comparable with published ones" if has_published else ""
    if run.task.judged_limit is None:
        return effect
    if unjudged > unjudged_limit(run.task):
        return f", but at least {run.task.judged_limit:g} for the published runs{effect}"
    return ", as for the published scores"  # as many of their results are unjudged


def _no_grade_0(run: Evaluated) -> Iterator[str]:
    """Yields a warning if the qrels don't contain grade 0, although the task's card lists it."""
    card = run.task.qrels[run.dimension]
    # Negative grades also mean not relevant.
    has_not_relevant = any(min(grades.values()) <= 0 for grades in run.judgments.values())
    if 0 in card.labels and not has_not_relevant:
        effect = f"so {run.measure.judged} is too low, and a score of only judged documents is too high"
        yield f"{card.file} lacks the judgments with grade 0, {effect}; {full_file_remedy(card.file)}"


def _unofficial(run: Evaluated) -> Iterator[str]:
    """Yields a warning if the qrels aren't the publisher's, but a score is among published ones."""
    if run.official_md5 and any(map(run.published, run.evaluations)):
        problem = f"{run.qrels} is not the publisher's file, whose md5 is {run.official_md5}"
        effect = "so the score is not comparable with published ones"
        yield f"{problem}, {effect}; {full_file_remedy(run.qrels)}"


def _effect_of_unjudged(measure: Measure) -> str:
    """Returns what unjudged documents do to a measure, as a clause."""
    too_low = "counts unjudged documents as not relevant, so its scores may be too low"
    if measure.of_script:
        return f"trec_eval {too_low}; touche removes them, so its scores may be too high"
    if measure.condenses:
        return f"{measure} removes unjudged documents, so its scores may be too high"
    return f"{measure} {too_low}"


def _topics_left_out(run: Evaluated) -> Iterator[str]:
    """Yields a warning about topics that touche doesn't average over."""
    evaluation = run.evaluations.get("touche")
    if evaluation is None:
        return
    left_out = [topic for topic in evaluation.judged_per_topic if topic not in evaluation.per_topic]
    if left_out:
        no_mean = "" if evaluation.per_topic else ", and has no topic left to average over"
        why = f"none of the top {run.task.cutoff} is judged, or no relevant document is known"
        yield f"touche leaves out {_listed(left_out)}{no_mean}: {why}"


def _topics_in_one_file(run: Evaluated) -> Iterator[str]:
    """Yields warnings about topics that are only in the run, or only in the judgments."""
    topics_of_run = run.lines.by_topic.keys()
    unknown = [topic for topic in topics_of_run if topic not in run.judgments]
    missing = [topic for topic in run.judgments if topic not in topics_of_run]
    if unknown:
        problem = "the dataset does not have" if run.task.only_topics else "there are no judgments for"
        yield f"{problem} {_listed(unknown)} of the run, so these results do not count"
    if missing and run.measure in MEASURE_OF_QUESTION.values():  # each name is a ranking's, such as 1 PRO
        yield from _missing_stances(missing, {*map(topic_in, topics_of_run)})
    elif missing:
        by_touche = " and touche leaves out" if run.measure.of_script else ""
        counts = f"which trec_eval counts as 0{by_touche}; the score is not comparable"
        yield f"the run has no results for {_listed(missing)}, {counts}"


def _missing_stances(missing_rankings: Sequence[str], topics_of_run: Collection[str]) -> Iterator[str]:
    """Yields warnings about missing rankings: one for topics in the run, one for topics that it lacks."""
    with_topic_in_run = [ranking for ranking in missing_rankings if topic_in(ranking) in topics_of_run]
    missing_topics = {*map(topic_in, missing_rankings)}.difference(topics_of_run)
    if with_topic_in_run:
        yield f"the run has no results for {_listed(with_topic_in_run)}, which touche counts as 0"
    if missing_topics:
        yield (
            f"the run has no results for {_listed([*missing_topics])}, which touche leaves out; "
            "the score is not comparable"
        )


def _equal_ranks(run: Evaluated) -> Iterator[str]:
    """Yields a warning about topics in which a rank occurs twice."""
    if "touche" not in run.evaluations:
        return
    topics = run.lines.by_rank.items()
    repeated = [topic for topic, lines in topics if (np.diff(run.lines.ranks[lines]) == 0).any()]
    if repeated:
        yield f"ranks occur twice in {_listed(repeated)}; touche then uses the order of the file"


def _near_ties(run: Evaluated) -> Iterator[str]:
    """Yields a warning if scores differ by less than float32 can represent. Newer trec_eval reads doubles."""
    if "trec_eval" not in run.evaluations:
        return
    measure = run.measure
    by_float = run.lines.by_score
    by_double = run.lines.order_of(run.lines.scores)
    judged = [topic for topic in by_float if topic in run.judgments]
    depth = measure.depth  # beyond it, the order doesn't matter
    moved = [topic for topic in judged if (by_float[topic][:depth] != by_double[topic][:depth]).any()]
    if not moved:
        return

    def values_in(order: Mapping[str, np.ndarray]) -> Mapping[str, float]:
        moved_lines = {topic: order[topic] for topic in moved}
        return by_trec_eval(run.lines.documents_of(moved_lines, depth), run.judgments, measure)

    as_float = values_in(by_float)
    as_double = values_in(by_double)
    changes = differences_of([as_double[topic] for topic in moved], [as_float[topic] for topic in moved])
    changed = [topic for topic, change in zip(moved, changes, strict=True) if change]
    if changed:
        # How the mean over all judged topics changes. Only the changed topics contribute.
        change = sum(changes) / len(run.judgments)
        yield (
            f"touche uses trec_eval {TREC_EVAL_VERSION}, which reads scores as float32; versions since "
            f"September 2023 read double and order {_listed(changed)} differently "
            f"({change:+.4f} in {measure})"
        )


def _disagreement(run: Evaluated) -> Iterator[str]:
    """Yields why the evaluators' means differ, if both have one."""
    means = [evaluation.mean for evaluation in run.evaluations.values()]
    has_both_means = len(means) == len(EVALUATORS) and None not in means
    if not has_both_means:
        return
    steps = list(reasons(run.lines, run.judgments, run.task.cutoff))
    if steps:
        difference = sum(step.change for step in steps)
        side = "above" if difference >= 0 else "below"
        parts = "; ".join(
            f"{step.change:+.4f} because {step.text} ({_listed(step.topics)})" for step in steps
        )
        yield f"touche is {abs(difference):.4f} {side} trec_eval: {parts}"


def _standing(run: Evaluated) -> Iterator[str]:
    """Yields a run's rank with each evaluator, in one sentence if they're equal, or why it has none."""
    positions = {evaluator: _position(run, score) for evaluator, score in run.scores.items()}
    evaluators = [evaluator for evaluator, position in positions.items() if position]
    for position, names in group_by(evaluators, positions.__getitem__).items():
        yield f"with {' and '.join(names)}, {position}"
    if run.task.published and not any(map(run.published, run.scores)):
        yield why_no_rank(run.task, run.dimension, run.any_order)


def _position(run: Evaluated, score: Score) -> str:
    """Returns a score with its position among comparable published scores; empty if there are none."""
    rows = run.published(score.evaluator)
    if not rows or score.mean is None:
        return ""
    value = f"{score.mean:.3f}"
    # Some tables round twice: 0.40348 becomes 0.4035, then 0.404. Rounded once, it's 0.403.
    if f"{rounded(score.mean, run.task.decimals):.3f}" != value:
        value = f"{score.mean:.5f}, which the tables round twice,"
    warning = "" if score.comparable else "; not comparable, so it has no rank: see the warning"
    return f"{value} is {standing(score.mean, rows, run.task.decimals, score.rank_text)}{warning}"
