"""What puts the scores of a run in doubt, in sentences."""

from collections.abc import Iterator, Mapping, Sequence

from touche.evaluation.ndcg import TREC_EVAL_VERSION, Evaluation, by_trec_eval, in_qrels
from touche.formats.qrels import Qrels
from touche.formats.runs import RunLine, by_topic, in_order_of_score
from touche.tasks import Measure

UNJUDGED_LIMIT = 0.10  # of the first results; above it a score is not comparable with published ones
_SHOWN_TOPICS = 5

Evaluations = Mapping[str, Evaluation]  # by the name of the evaluator


def doubts(
    run: Sequence[RunLine], qrels: Qrels, evaluations: Evaluations, measure: Measure, *, published: bool
) -> list[str]:
    """What puts the scores of a run in doubt.

    Args:
        run: all its lines.
        qrels: the judgments.
        evaluations: its scores by these.
        measure: what they score.
        published: whether there are published values to compare them with.
    """
    of_scores = (*_unjudged(evaluations, measure, published), *_topics_left_out(evaluations, measure))
    of_topics = (*_topics_without_judgments(run, qrels), *_topics_without_results(run, qrels, measure))
    of_order = (
        *(_equal_ranks(run) if "touche" in evaluations else ()),
        *(_near_ties(run, qrels, measure) if "trec_eval" in evaluations else ()),
    )
    return [*_several_tags(run), *of_scores, *of_topics, *of_order]


def is_comparable(evaluation: Evaluation, qrels: Qrels) -> bool:
    """Whether a score can stand beside published ones: little is unjudged, and no topic is missing."""
    answered = evaluation.judged_per_topic.keys() >= qrels.keys()
    return answered and unjudged_share(evaluation) <= UNJUDGED_LIMIT


def unjudged_share(evaluation: Evaluation) -> float:
    """The share of the first results that has no judgment."""
    return round(1 - evaluation.judged, 9)  # so that a tenth is a tenth


def listed(topics: Sequence[str]) -> str:
    """Topics in words, the first five of them by number."""
    shown = ", ".join(topics[:_SHOWN_TOPICS])
    rest = f" and {len(topics) - _SHOWN_TOPICS} more" if len(topics) > _SHOWN_TOPICS else ""
    return f"topic{'s' if len(topics) > 1 else ''} {shown}{rest}"


def _several_tags(run: Sequence[RunLine]) -> Iterator[str]:
    if len(tags := dict.fromkeys(line.tag for line in run)) > 1:
        yield f"the file has {len(tags)} tags, {next(iter(tags))!r} the first; is it one run?"


def _unjudged(evaluations: Evaluations, measure: Measure, published: bool) -> Iterator[str]:
    """One sentence for both evaluators, without the share, so that runs have it in common."""
    shares = {name: unjudged_share(result) for name, result in evaluations.items()}
    if names := [name for name, share in shares.items() if share > UNJUDGED_LIMIT]:
        whose = "" if len(names) == len(shares) else f" in the order of {names[0]}"
        top = f"top {measure.cutoff}" if measure.cutoff else "results"
        share = "nothing" if min(shares.values()) == 1 else f"less than {1 - UNJUDGED_LIMIT:.0%}"
        effect = ", so the score is not comparable with published ones" if published else ""
        check = "; check that --task is the run's task" if min(shares.values()) == 1 else ""
        yield f"{share} of the {top}{whose} is judged{effect}: {_what_becomes_of_unjudged(measure)}{check}"


def _what_becomes_of_unjudged(measure: Measure) -> str:
    counted = "counts an unjudged document as not relevant, which is too low where it is relevant"
    left_out = "takes it out, which is too high where it is not"
    if measure.of_script:
        return f"trec_eval {counted}; touche {left_out}"
    return f"{measure} {left_out.replace('it', 'an unjudged document', 1) if measure.condenses else counted}"


def _topics_left_out(evaluations: Evaluations, measure: Measure) -> Iterator[str]:
    result = evaluations.get("touche")
    left_out = [topic for topic in result.judged_per_topic if topic not in result.per_topic] if result else []
    if left_out:
        why = f"nothing in the top {measure.cutoff} is judged, or nothing known is relevant"
        nothing = "" if result and result.per_topic else ", and has no topic left to average over"
        yield f"touche leaves out {listed(left_out)}{nothing}: {why}"


def _topics_without_judgments(run: Sequence[RunLine], qrels: Qrels) -> Iterator[str]:
    if unknown := dict.fromkeys(line.topic for line in run if line.topic not in qrels):
        yield f"there are no judgments for {listed(list(unknown))} of the run, which do not count"


def _topics_without_results(run: Sequence[RunLine], qrels: Qrels, measure: Measure) -> Iterator[str]:
    present = {line.topic for line in run}
    if missing := [topic for topic in qrels if topic not in present]:
        counts = f"which trec_eval counts as 0{' and touche leaves out' if measure.of_script else ''}"
        yield f"the run has no results for {listed(missing)}, {counts}; the score is not comparable"


def _equal_ranks(run: Sequence[RunLine]) -> Iterator[str]:
    topics = by_topic(run).items()
    if repeated := [topic for topic, lines in topics if len({line.rank for line in lines}) < len(lines)]:
        yield f"ranks stand twice in {listed(repeated)}, which touche leaves in the order of the file"


def _near_ties(run: Sequence[RunLine], qrels: Qrels, measure: Measure) -> Iterator[str]:
    """Where scores differ by less than a float32 can tell: trec_eval read these until 2020, now doubles."""
    orders = [in_qrels(order, qrels) for order in (in_order_of_score(run), _in_order_of_double(run))]
    if orders[0] == orders[1]:
        return
    before, after = (by_trec_eval(_places(order), qrels, measure) for order in orders)
    if changed := [topic for topic in orders[0] if before[topic] != after[topic]]:
        change = sum(after[topic] - before[topic] for topic in changed) / len(qrels)
        yield (
            f"trec_eval {TREC_EVAL_VERSION}, which is meant here, reads scores as float32; versions since "
            f"September 2023 read double and order {listed(changed)} otherwise "
            f"({change:+.4f} in {measure})"
        )


def _in_order_of_double(run: Sequence[RunLine]) -> list[RunLine]:
    return sorted(run, key=lambda line: (line.score, line.document), reverse=True)


def _places(order: Mapping[str, Sequence[RunLine]]) -> dict[str, dict[str, float]]:
    """Scores that any reader puts in this order."""
    return {
        topic: {line.document: -place for place, line in enumerate(lines)} for topic, lines in order.items()
    }
