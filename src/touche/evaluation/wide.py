"""Tables as papers print them: a row per run and a column per measure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from touche import tasks
from touche.errors import ToucheError, check_choice, warn
from touche.evaluation.comparison import (
    Comparison,
    Comparisons,
    comparisons,
    find_reference,
    run_letters,
    usual_evaluator,
    why_untested,
)
from touche.evaluation.evaluators import EVALUATORS
from touche.evaluation.judged import judged
from touche.evaluation.score_columns import name_in_team
from touche.evaluation.scores import Score
from touche.evaluation.scores import table as score_table
from touche.evaluation.scoring import check_evaluators, ranks_stances, score
from touche.evaluation.significance import SIGNIFICANT
from touche.evaluation.teams import AnyTeams, known_teams
from touche.io.formats import HTML, LATEX, MARKDOWN
from touche.io.grouping import group_by
from touche.io.tables import Cell, Column, Sheet, three_decimals
from touche.tasks.measures import parse_measures
from touche.tira.metadata import different_statistics
from touche.trec.framed import Table
from touche.trec.run_forms import AnyQrels, AnyRun, AnyRuns, qrels_source, read_sources, run_sources

if TYPE_CHECKING:
    from ir_measures.measures import Measure

DIFFERENT = "†"  # marks a score that differs significantly from the reference's

# Keys are run, measure, dimension and evaluator. Scores that count pairs in any order have no marks.
Marks = Mapping[tuple[str, str, str, str], Sequence[str]]


@dataclass(frozen=True)
class WideScore:
    """A run's score in a column.

    Attributes:
        value: the measure's mean; None if the run has no score in this column.
        best: whether no other run's value in this column is higher, as printed. Always False if N differs
            between runs, because such values aren't comparable.
        marks: the test's result: ``†`` if the score differs significantly from the reference's, or the
            letters of runs that score significantly lower.
    """

    value: float | None
    best: bool
    marks: tuple[str, ...]


@dataclass(frozen=True)
class WideRow:
    """A run's scores.

    Attributes:
        run: the run's name, which no other row has.
        team: its team; empty if unknown.
        name_in_team: the run's name in tables with a column for the team.
        letter: its letter, if marks refer to runs by letters; otherwise empty.
        scores: its scores by column.
        is_tested: whether significance was tested; if so, the record contains marks.
    """

    run: str
    team: str
    name_in_team: str
    letter: str
    scores: Mapping[str, WideScore]
    is_tested: bool

    @property
    def record(self) -> dict[str, str | float | None]:
        """The row's values by column name. If significance was tested, marks are in columns such as ``nDCG@5
        marks``.
        """
        record: dict[str, str | float | None] = {"run": self.run}
        if self.team:
            record["team"] = self.team
        for column, column_score in self.scores.items():
            record[column] = column_score.value
            if self.is_tested:
                record[f"{column} marks"] = ",".join(column_score.marks)
        return record


@dataclass(frozen=True, repr=False)
class WideTable(Table[WideRow]):
    """Runs' scores with several measures. Attributes as in ``Table``, plus:

    Attributes:
        columns: the column names.
        note: a sentence that says what the marks mean; empty if significance wasn't tested.
    """

    columns: tuple[str, ...] = ()
    note: str = ""

    @property
    def names(self) -> list[str]:
        """The names of the columns in CSV and frames: the run and each score. If significance was tested,
        each score is followed by a column with its marks.
        """
        suffixes = ["", " marks"] if self.note else [""]  # there is a note only if significance was tested
        team = ["team"] if any(row.team for row in self.records) else []
        return ["run", *team, *(f"{column}{suffix}" for column in self.columns for suffix in suffixes)]

    def __repr__(self) -> str:
        return self.markdown()

    def _repr_html_(self) -> str:
        return self.html()

    @property
    def sheet(self) -> Sheet:
        """The printed table, with the best values in bold."""
        columns = [Column(name, partial(_score_in_column, name), _cell) for name in self.columns]
        has_teams = any(row.team for row in self.records)
        team = [Column("team", lambda row: row.team or None, missing="no team is known")] if has_teams else []
        name = attrgetter("name_in_team" if has_teams else "run")
        names = Column("run", lambda row: f"{name(row)} ({row.letter})" if row.letter else name(row))
        return Sheet([*team, names, *columns], self.records, notes=[self.note] if self.note else [])

    def markdown(self) -> str:
        """Returns the table in Markdown, with the best values in bold."""
        return MARKDOWN.sheet(self.sheet)

    def latex(self) -> str:
        """Returns the table in LaTeX with booktabs, with the best values in bold."""
        return LATEX.sheet(self.sheet)

    def html(self) -> str:
        """Returns the table in HTML, with the best values in bold."""
        return HTML.sheet(self.sheet)


def _score_in_column(column: str, row: WideRow) -> WideScore | None:
    """Returns a run's score in a column, or None if the run isn't scored there."""
    score = row.scores[column]
    return None if score.value is None else score


def _cell(score: WideScore) -> Cell:
    """Returns a table cell with a score and its marks."""
    return Cell(three_decimals(score.value), is_bold=score.best, marks=",".join(score.marks))


def wide(
    runs: AnyRuns,
    task: str | None = None,
    evaluator: str | None = "both",
    *,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels | None = None,
    reference: AnyRun | None = None,
    every_two: bool = False,
    teams: AnyTeams = None,
) -> WideTable:
    """Scores runs in a table with one row per run, for papers: ``wide(...).latex()``.

    Args:
        runs, task, evaluator, pairs, measure, qrels, teams: as for ``evaluate``; if the evaluator is None,
            it's chosen as in ``compare``.
        reference: the run, tag or path to test the others against; significant differences are marked.
        every_two: compare all pairs. A run is then marked with the letters of the runs that score
            significantly lower. Can't be combined with a reference.

    Returns:
        A table with a row per run and a column per measure, dimension and evaluator, with values from 0 to 1.
        It offers ``frame()``, ``latex()``, ``markdown()`` and ``html()``, and the notes of ``evaluate``.

    Raises:
        ToucheError: for the same reasons as ``evaluate`` and ``compare``, or if both ``reference`` and
            ``every_two`` are passed.

    Examples:
        >>> import touche
        >>> ranking = {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}}
        >>> qrels = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
        >>> print(touche.wide({"mine": ranking}, qrels=qrels, measure=["RR", "P@1"]).markdown())
        | run | RR | P@1 |
        | --- | ---: | ---: |
        | mine | **0.750** | **0.500** |
    """
    if every_two and reference is not None:
        raise ToucheError("every_two and reference exclude each other; pass only one")
    check_choice("order of pairs", pairs, ["exact", "any-order"])
    sources = run_sources(runs)
    card = None if task is None else tasks.task(task)
    to_judge = judged(card, parse_measures(measure), qrels_source(qrels), any_order=pairs == "any-order")
    chosen = evaluator or usual_evaluator(card, to_judge)
    check_choice("evaluator", chosen, [*EVALUATORS, "both"])
    evaluators = [*EVALUATORS] if chosen == "both" else [chosen]
    check_evaluators(to_judge, evaluators)
    runs_as_read = read_sources(sources, by_stance=ranks_stances(to_judge))
    team_of_run = known_teams(sources, teams)
    scored = score(runs_as_read, to_judge, evaluators, team_of_run)
    path = find_reference(reference, sources, runs_as_read, team_of_run)
    tests = list[Comparisons]()
    if every_two or path is not None:
        # Stances aren't tested. Scores that count pairs in any order are left out, because the run's other
        # score in that dimension is tested already.
        tested = [
            scored_run for scored_run in scored if scored_run.is_ranking and not scored_run.judged.any_order
        ]
        by_evaluator = group_by(tested, lambda scored_run: scored_run.evaluator)
        tests = [comparisons(rankings, card, path, intervals=False) for rankings in by_evaluator.values()]
    scores = score_table(scored, card)
    names = {scored_run.run.path: scored_run.name for scored_run in scored}
    table = wide_table(
        scores=scores,
        compared=[pair for test in tests for pair in test],
        reference=names[path] if path else "",
        every_two=every_two,
    )
    why_missing = [sentence for test in tests for sentence in why_untested(test)]
    warnings = [*why_missing, *scores.warnings]
    if tests:
        warnings += different_statistics(sources)
    table = replace(table, warnings=tuple(warnings), notes=scores.notes)
    for text in table.warnings:
        warn(text)
    return table


def wide_table(
    scores: Sequence[Score], compared: Sequence[Comparison], reference: str, every_two: bool
) -> WideTable:
    """Arranges scores in a table with a row per run.

    Args:
        scores: the scores.
        compared: the runs' comparisons, which become marks.
        reference: the name of the run that all others are compared with; empty if there is no such run.
        every_two: whether all pairs are compared.
    """
    name_by_run = {row.run: row.name for row in scores}
    first_by_run = {row.run: row for row in reversed(scores)}
    letters = run_letters(name_by_run) if every_two else {}
    test = f"by the paired t-test, with Holm's correction for each measure (p < {SIGNIFICANT})"
    note = ""
    if reference:
        note = f"{DIFFERENT} significantly different from {reference} {test}"
    elif every_two:
        note = f"letters: significantly higher than the run of this letter {test}"
    marks = _marks(compared, letters)
    labels = {row.label for row in scores}
    columns = dict[str, dict[str, WideScore]]()  # each column's scores by run
    for (measure, evaluator), rows in group_by(scores, lambda row: (row.measure, row.evaluator)).items():
        evaluators = {row.evaluator for row in scores if row.measure == measure}
        for label, in_column in group_by(rows, lambda row: row.label).items():
            heading = measure
            if len(labels) > 1:
                heading += f" {label}"
            if len(evaluators) > 1:
                heading += f" ({evaluator})"
            columns[heading] = _scores_by_run(in_column, [*name_by_run], marks)
    records = [
        WideRow(
            run=name,
            team=first_by_run[run].team,
            name_in_team=name_in_team(first_by_run[run]),
            letter=letters.get(run, ""),
            scores={heading: score_by_run[run] for heading, score_by_run in columns.items()},
            is_tested=bool(note),
        )
        for run, name in name_by_run.items()
    ]
    return WideTable(WideRow, tuple(records), columns=tuple(columns), note=note)


def _marks(compared: Sequence[Comparison], letters: Mapping[str, str]) -> Marks:
    """Returns a mark for each run that differs significantly from the reference. If runs have letters,
    returns for each run the letters of the runs that score significantly lower.
    """
    marks = defaultdict[tuple[str, str, str, str], list[str]](list)
    for pair in compared:
        if pair.significant:
            # If runs have no letters, run B is the reference, so run A gets the mark even if it scores lower.
            is_higher = pair.difference > 0 or not letters
            run, other = (pair.path_a, pair.path_b) if is_higher else (pair.path_b, pair.path_a)
            key = (run, pair.measure, pair.dimension, pair.evaluator)
            marks[key].append(letters[other] if letters else DIFFERENT)
    return marks


def _scores_by_run(scores: Sequence[Score], runs: Sequence[str], marks: Marks) -> dict[str, WideScore]:
    """Returns each run's score in a column. For a run that isn't scored there, the score's value is None."""
    score_by_run = dict.fromkeys(runs, WideScore(value=None, best=False, marks=()))
    printed = [round(row.mean, 3) for row in scores if row.mean is not None]
    has_equal_n = len({row.results for row in scores}) == 1  # N is None for rankings
    best = max(printed, default=None) if has_equal_n else None
    for row in scores:
        is_best = row.mean is not None and round(row.mean, 3) == best
        marks_of_run = marks.get((row.run, row.measure, row.label, row.evaluator), [])
        score_by_run[row.run] = WideScore(value=row.mean, best=is_best, marks=tuple(sorted(marks_of_run)))
    return score_by_run
