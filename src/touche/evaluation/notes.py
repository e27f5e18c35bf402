"""What must be said about a score: doubts, why the evaluators differ, where it stands."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from touche.evaluation.disagreement import reasons
from touche.evaluation.leaderboard import comparable, standing
from touche.evaluation.ndcg import CUTOFF, EVALUATORS, Evaluation
from touche.evaluation.scores import ANY_ORDER, ScoredRun

UNJUDGED_LIMIT = 0.10  # of the top 5; above it a score is not comparable with published ones
_SHOWN_TOPICS = 5


@dataclass(frozen=True)
class Note:
    """Something to know about the scores of a run.

    Attributes:
        run: the name of the run.
        dimension: what was judged.
        text: one sentence.
    """

    run: str
    dimension: str
    text: str

    def __str__(self) -> str:
        return f"{self.run}, {self.dimension}: {self.text}"


def warnings_of(scored: ScoredRun) -> list[Note]:
    """What puts the scores in doubt: unjudged documents, topics without judgments, topics without results."""
    checks = (_unjudged, _topics_without_judgments, _topics_without_results, _topics_left_out)
    texts = [text for check in checks for text in check(scored)]
    return [Note(scored.name, scored.dimension, text) for text in texts]


def notes_of(scored: ScoredRun) -> list[Note]:
    """Why the evaluators differ, and where the run stands among the published ones."""
    texts = (*_disagreement(scored), *_standing(scored))
    return [Note(scored.name, scored.dimension, text) for text in texts]


def shared_tags(scored: Iterable[ScoredRun]) -> Iterator[str]:
    """A sentence for every tag that several of the runs have."""
    paths: dict[str, dict[str, None]] = {}
    for each in scored:
        paths.setdefault(each.lines[0].tag, {})[str(each.path)] = None
    for tag, files in paths.items():
        if len(files) > 1:
            yield f"{' and '.join(files)} have the same tag, {tag!r}; they are named by their paths"


def doubts(scored: Sequence[ScoredRun]) -> list[str]:
    """What puts the scores of several runs in doubt, each thing said once."""
    return [*shared_tags(scored), *grouped(note for each in scored for note in warnings_of(each))]


def is_doubtful(scored: ScoredRun, evaluator: str) -> bool:
    """Whether too much is unjudged, or topics are missing, to compare a score with published ones."""
    result = scored.evaluations[evaluator]
    lacks_topics = result.judged_per_topic.keys() < scored.qrels.keys()
    return lacks_topics or _unjudged_share(result) > UNJUDGED_LIMIT


def grouped(notes: Iterable[Note]) -> list[str]:
    """The texts, each once, with what they are about."""
    about: dict[str, dict[str, list[str]]] = {}
    for note in notes:
        about.setdefault(note.text, {}).setdefault(note.run, []).append(note.dimension)
    named = {
        text: "; ".join(f"{run}, {' and '.join(dimensions)}" for run, dimensions in runs.items())
        for text, runs in about.items()
    }
    return [f"{runs}: {text}" for text, runs in named.items()]


def _unjudged(scored: ScoredRun) -> Iterator[str]:
    """Once for both evaluators, unless they see another top 5."""
    shares = {name: _unjudged_share(result) for name, result in scored.evaluations.items()}
    for share in dict.fromkeys(share for share in shares.values() if share > UNJUDGED_LIMIT):
        names = [name for name in shares if shares[name] == share]
        whose = "" if len(names) == len(shares) else f" in the order of {names[0]}"
        yield (
            f"{share:.1%} of the top {CUTOFF}{whose} is unjudged, so the score is not comparable with "
            "published ones: trec_eval counts an unjudged document as not relevant, which is too low where "
            "it is relevant; touche takes it out, which is too high where it is not"
        )


def _topics_without_judgments(scored: ScoredRun) -> Iterator[str]:
    if unknown := dict.fromkeys(line.topic for line in scored.lines if line.topic not in scored.qrels):
        yield f"there are no judgments for {_listed(list(unknown))} of the run, which do not count"


def _topics_without_results(scored: ScoredRun) -> Iterator[str]:
    present = {line.topic for line in scored.lines}
    if missing := [topic for topic in scored.qrels if topic not in present]:
        counts = "which trec_eval counts as 0 and touche leaves out"
        yield f"the run has no results for {_listed(missing)}, {counts}; the score is not comparable"


def _topics_left_out(scored: ScoredRun) -> Iterator[str]:
    result = scored.evaluations.get("touche")
    left_out = [topic for topic in result.judged_per_topic if topic not in result.per_topic] if result else []
    if left_out:
        why = f"nothing in the top {CUTOFF} is judged, or nothing known is relevant"
        yield f"touche leaves out {_listed(left_out)}: {why}"


def _disagreement(scored: ScoredRun) -> Iterator[str]:
    if len(scored.evaluations) == len(EVALUATORS) and (found := reasons(scored.lines, scored.qrels)):
        difference = scored.evaluations["touche"].mean - scored.evaluations["trec_eval"].mean
        side = "above" if difference >= 0 else "below"
        parts = (f"{each.change:+.4f} as {each.text} ({_listed(each.topics)})" for each in found)
        yield f"touche is {abs(difference):.4f} {side} trec_eval: {'; '.join(parts)}"


def _standing(scored: ScoredRun) -> Iterator[str]:
    places = {
        name: f"{result.mean:.3f} is {standing(result.mean, rows)}{_doubt(scored, name)}"
        for name, result in scored.evaluations.items()
        if (rows := comparable(scored.task, scored.dimension, name))
    }
    for place in dict.fromkeys(places.values()):
        yield f"with {' and '.join(name for name in places if places[name] == place)}, {place}"
    if not places and scored.task.published:
        yield _why_no_standing(scored)


def _doubt(scored: ScoredRun, evaluator: str) -> str:
    return "; not comparable, see the warning" if is_doubtful(scored, evaluator) else ""


def _unjudged_share(result: Evaluation) -> float:
    return round(1 - result.judged, 9)  # so that a tenth is a tenth


def _why_no_standing(scored: ScoredRun) -> str:
    if scored.dimension.endswith(ANY_ORDER):
        return "published values count pairs in the judged order only"
    rows = [row for row in scored.task.published if row.dimension == scored.dimension]
    if rows:
        return f"the published values were computed with {rows[0].evaluator}; evaluate with it to compare"
    return "no published values belong to these judgments"


def _listed(topics: Sequence[str]) -> str:
    shown = ", ".join(topics[:_SHOWN_TOPICS])
    rest = f" and {len(topics) - _SHOWN_TOPICS} more" if len(topics) > _SHOWN_TOPICS else ""
    return f"topic{'s' if len(topics) > 1 else ''} {shown}{rest}"
