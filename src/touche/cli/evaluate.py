"""touche evaluate"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from touche.cli.commands import command, option
from touche.cli.guessing import task_of
from touche.cli.options import FORMAT, RUNS, SCORING_BY_SEVERAL
from touche.cli.output import echo, explain, render
from touche.cli.teams import TEAMS, teams_passed
from touche.errors import ToucheError
from touche.evaluation import scores as library
from touche.evaluation.evaluators import EVALUATORS, TREC_EVAL_VERSION
from touche.evaluation.score_columns import mean_columns, stance_columns, topic_columns
from touche.evaluation.scores import Score, TopicScore, merged
from touche.evaluation.wide import wide
from touche.io.formats import FORMATS, FORMATS_FOR_PAPERS
from touche.io.tables import Column, Sheet, three_decimals, with_commas


@command(
    "touche evaluate out/bm25/run.txt --task spot-check/arguments",
    RUNS,
    *SCORING_BY_SEVERAL,
    option(
        "--evaluator",
        f"trec_eval {TREC_EVAL_VERSION}, the organizers' script (touche), or both.",
        ["both", *EVALUATORS],
    ),
    option("--per-topic", "Print the scores of each topic instead of the means."),
    option(
        "--bounds",
        "Add the lowest and highest score that grades of unjudged documents among the first k could give.",
    ),
    option(
        "--pairs",
        "any-order: add a score that also counts pairs judged in the other order.",
        ["exact", "any-order"],
    ),
    *TEAMS,
    option("--title TEXT", "A line above the table."),
    option("--reference RUN", "Mark runs that differ significantly from RUN, a file or tag."),
    FORMAT,
)
def evaluate(
    runs: Sequence[Path],
    evaluator: str,
    per_topic: bool,
    bounds: bool,
    pairs: str,
    reference: str | None,
    team_per_folder: bool,
    teams: Mapping[str, Sequence[str]],
    title: str | None,
    format: str,
    **scoring: Any,
) -> None:
    """Score RUNs in every dimension with the task's measure, such as nDCG@5, and confidence intervals.

    Detected stances are scored with macro F1 over the N documents whose stance is judged. Judged@5 is the
    share of judged documents among the first five. If both evaluators agree on a row, it's printed once.
    Below the table, lines explain differences between the evaluators and give each run's rank among the
    published results; in CSV and JSON, the rank is a column. Without --task, the task comes from
    ir-metadata.yml next to the RUNs. With --qrels, you don't need a task. The team of a RUN comes from there
    too, unless you pass --team-per-folder or --team.
    """
    scoring["task"] = task_of(runs, scoring["task"], scoring["qrels"])
    needs_row_per_run = FORMATS[format].is_for_papers or reference is not None
    if needs_row_per_run and per_topic:
        options = f"--reference, {FORMATS_FOR_PAPERS}"
        raise ToucheError(f"{options} print one row for each run; omit --per-topic")
    has_several_means = len(scoring["measure"]) > 1 and not per_topic
    is_wide = needs_row_per_run or (has_several_means and format == "table")
    if bounds and is_wide:
        remedy = "pass one measure, or --format csv"
        if reference is not None:
            remedy = "omit --reference"
        elif FORMATS[format].is_for_papers:
            remedy = f"omit --format {format}"
        raise ToucheError(f"--bounds prints one row for each evaluator; {remedy}")
    if title is not None and format in ("csv", "json"):
        raise ToucheError(f"--title has no place in {format.upper()}; omit it, or choose another --format")
    scoring |= {"evaluator": evaluator, "pairs": pairs, "teams": teams_passed(team_per_folder, teams)}
    heading = [Sheet((), (), above=[title])] if title else []
    if is_wide:
        table = wide(runs, reference=reference, **scoring)
        render(table, format, [*heading, table.sheet])
        if format == "table" and table.notes and not table.note:
            echo()  # a blank line between the table and the notes; ``note`` already has one above it
        explain(table, format)
    else:
        scores = library.evaluate(runs, bounds=bounds, **scoring)
        rows = scores.per_topic if per_topic else scores
        render(rows, format, [*heading, *_sheets(rows, bounds)])
        explain(rows, format)


_CLASSES = [
    Column("run", "name"),
    Column("stance", "stance"),
    Column("precision", "precision", three_decimals),
    Column("recall", "recall", three_decimals),
    Column("F1", "f1", three_decimals),
    Column("documents", "documents", with_commas),
]


def _sheets(scores: Sequence[Score | TopicScore], bounds: bool) -> Iterator[Sheet]:
    """Yields a table per ranking measure, and two tables for stances."""
    has_teams = any(score.team for score in scores)
    rankings = [score for score in scores if score.is_ranking]
    for measure in dict.fromkeys(score.measure for score in rankings):
        records = [score for score in rankings if score.measure == measure]
        notes = []
        if bounds:
            notes.append(
                "least, greatest: over all topics, whatever grades the unjudged results among the first k get"
            )
        qrels_by_label = {score.label: score.qrels for score in records}
        for number, (label, file) in enumerate(qrels_by_label.items()):
            if number:
                notes.append("")  # a blank line between dimensions
            notes.append(f"{label} is judged by {file}")
        columns_of_measure = topic_columns if isinstance(records[0], TopicScore) else mean_columns
        columns = columns_of_measure(measure, with_bounds=bounds, with_teams=has_teams)
        yield Sheet(columns, merged(records, columns), notes)
    # Stances aren't scored topic by topic.
    stances = [score for score in scores if isinstance(score, Score) and not score.is_ranking]
    if stances:
        classes = [
            SimpleNamespace(name=score.name, stance=stance, **vars(class_scores))
            for score in stances
            for stance, class_scores in score.stances.items()
        ]
        yield Sheet(stance_columns(stances[0].measure, with_teams=has_teams), stances)
        yield Sheet(_CLASSES, classes, [f"stance is judged by {stances[0].qrels}"])
