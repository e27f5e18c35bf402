"""What is to be said of several runs, each thing once: doubts, why evaluators differ, where runs stand."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from touche.evaluation.doubts import listed
from touche.evaluation.leaderboard import comparable, standing
from touche.evaluation.scores import Evaluated, shared_tags

_Said = Callable[[Evaluated], Iterable[str]]


def warnings_of(found: Sequence[Evaluated]) -> list[str]:
    """What puts the scores of runs in doubt."""
    return [*shared_tags(found), *_grouped(found, lambda each: each.doubts)]


def notes_of(found: Sequence[Evaluated]) -> list[str]:
    """Why the evaluators differ, and where the runs stand among the published ones."""
    return [*_alone(found), *_grouped(found, lambda each: (*_disagreement(each), *_standing(each)))]


def _alone(found: Sequence[Evaluated]) -> Iterator[str]:
    if not (measure := found[0].task.measure).of_script:
        yield f"{measure} is scored by trec_eval alone: the organizers' script has nDCG@k and nothing else"


def _grouped(found: Iterable[Evaluated], said: _Said) -> list[str]:
    """The sentences, each once, with what they are about."""
    about: dict[str, dict[str, dict[str, None]]] = {}
    for each in found:
        for text in said(each):
            about.setdefault(text, {}).setdefault(each.name, {})[each.label] = None
    return [f"{_named(runs)}: {text}" for text, runs in about.items()]


def _named(runs: Mapping[str, Iterable[str]]) -> str:
    """Runs with their dimensions, which are named once for all runs that share them."""
    names: dict[str, list[str]] = {}
    for run, dimensions in runs.items():
        names.setdefault(" and ".join(dimensions), []).append(run)
    return "; ".join(f"{', '.join(of_these)}, {dimensions}" for dimensions, of_these in names.items())


def _disagreement(run: Evaluated) -> Iterator[str]:
    means = [run.scores[name].mean for name in ("touche", "trec_eval") if name in run.scores]
    if run.reasons and None not in means:
        difference = sum(each.change for each in run.reasons)
        side = "above" if difference >= 0 else "below"
        parts = (f"{each.change:+.4f} as {each.text} ({listed(each.topics)})" for each in run.reasons)
        yield f"touche is {abs(difference):.4f} {side} trec_eval: {'; '.join(parts)}"


def _standing(run: Evaluated) -> Iterator[str]:
    """With each evaluator, in one sentence where both put it at the same place."""
    places: dict[str, list[str]] = {}
    for name, score in run.scores.items():
        if score.mean is not None and (
            rows := [] if run.any_order else comparable(run.task, run.dimension, name)
        ):
            doubt = "" if score.comparable else "; not comparable, see the warning"
            places.setdefault(f"{score.mean:.3f} is {standing(score.mean, rows)}{doubt}", []).append(name)
    for place, names in places.items():
        yield f"with {' and '.join(names)}, {place}"
    if not places and run.task.published:
        yield _why_no_standing(run)


def _why_no_standing(run: Evaluated) -> str:
    if run.any_order:
        return "published values count pairs in the judged order only"
    rows = [row for row in run.task.published if row.dimension == run.dimension]
    if rows and rows[0].measure != run.task.measure.name:
        return f"the published values are of {rows[0].measure}; leave --measure out to compare"
    if any(row.evaluator in run.scores for row in rows):
        return f"{rows[0].evaluator}, of which the published values are, has no topic to average over"
    if rows:
        return f"the published values were computed with {rows[0].evaluator}; evaluate with it to compare"
    return "no published values belong to these judgments"
