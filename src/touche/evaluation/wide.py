"""Tables as papers print them: a row per run and a column per measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, product
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal

from touche.errors import ToucheError, warn
from touche.evaluation.comparison import comparisons, conclusions, run_named, with_reference
from touche.evaluation.notes import all_notes, all_warnings
from touche.evaluation.scores import Evaluated, by_measure
from touche.evaluation.scoring import score
from touche.evaluation.significance import SIGNIFICANT
from touche.io.markup import MARKUP, Markup
from touche.io.optional import imported
from touche.trec.run_forms import AnyQrels, AnyRun, run_sources

if TYPE_CHECKING:
    from ir_measures.measures import Measure
    from pandas import DataFrame

DIFFERENT = "†"  # differs significantly from the reference

Marks = dict[tuple[str, str], list[str]]  # by run and dimension; columns for any order of pairs have none


@dataclass(frozen=True)
class Cell:
    """A run's score in a column.

    Attributes:
        value: the measure's mean; None if the run isn't scored here.
        best: whether no other run's printed value is higher; False if N differs between runs.
        marks: test results: ``†``, or the letters of runs that score significantly lower.
    """

    value: float | None
    best: bool
    marks: tuple[str, ...]

    @property
    def printed(self) -> str:
        """The value with three decimals."""
        return "–" if self.value is None else f"{self.value:.3f}"


@dataclass(frozen=True)
class WideTable:
    """Runs' scores with several measures.

    Attributes:
        columns: the column names.
        rows: each run's cells by its name.
        letters: each run's letter by its name; empty if marks don't refer to runs.
        note: what the marks mean; empty without tests.
        warnings: sentences about pairs that weren't compared, and about doubtful scores.
        notes: sentences that explain the scores, like those of ``evaluate``.
    """

    columns: tuple[str, ...]
    rows: dict[str, tuple[Cell, ...]]
    letters: dict[str, str]
    note: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.markdown()

    def _repr_html_(self) -> str:
        return self.html()

    @property
    def records(self) -> list[dict[str, str | float | None]]:
        """Each run's values by column. With tests, also marks, such as ``nDCG@5 marks``."""
        return [self._record(name, cells) for name, cells in self.rows.items()]

    def _record(self, name: str, cells: Sequence[Cell]) -> dict[str, str | float | None]:
        """Returns a run's values by column, with marks if runs were tested."""
        record: dict[str, str | float | None] = {"run": name}
        for column, cell in zip(self.columns, cells, strict=True):
            record[column] = cell.value
            if self.note:  # tests come with a note
                record[f"{column} marks"] = ",".join(cell.marks)
        return record

    def frame(self) -> "DataFrame":
        """Returns the values, with marks if runs were tested, as a pandas DataFrame with a row per run.

        Raises:
            ToucheError: if pandas isn't installed.
        """
        return imported("pandas", "analysis").DataFrame(self.records)

    def text_rows(self) -> list[list[str]]:
        """Returns the cells as plain text."""
        return [
            [name, *(f"{cell.printed}{','.join(cell.marks)}" for cell in cells)]
            for name, cells in self.rows.items()
        ]

    def markdown(self) -> str:
        """Returns the table in Markdown, with the best values in bold."""
        return self.marked_up("markdown")

    def latex(self) -> str:
        """Returns the table in LaTeX with booktabs, with the best values in bold."""
        return self.marked_up("latex")

    def html(self) -> str:
        """Returns the table in HTML, with the best values in bold."""
        return self.marked_up("html")

    def marked_up(self, language: str) -> str:
        """Returns the table in a markup language, with the best values in bold.

        Args:
            language: ``markdown``, ``latex`` or ``html``.
        """
        markup = MARKUP[language]
        header = [markup.text(name) for name in ("run", *self.columns)]
        suffixes = {name: f" ({letter})" for name, letter in self.letters.items()}
        rows = [
            [markup.text(f"{name}{suffixes.get(name, '')}"), *(_cell_markup(cell, markup) for cell in cells)]
            for name, cells in self.rows.items()
        ]
        numeric = [False] + [True] * len(self.columns)
        return markup.table(header, rows, numeric, [self.note])


def wide(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun],
    task: str | None = None,
    evaluator: str = "both",
    *,
    pairs: Literal["exact", "any-order"] = "exact",
    measure: "str | Measure | Sequence[str | Measure] | None" = None,
    qrels: AnyQrels = None,
    reference: AnyRun | None = None,
    every_two: bool = False,
) -> WideTable:
    """Scores runs in a table with one row per run, for papers: ``wide(...).latex()``.

    Args:
        runs, task, evaluator, pairs, measure, qrels: as for ``evaluate``.
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
    sources, reference_name = with_reference(run_sources(runs), reference)
    evaluated = score(sources, task, evaluator, pairs, measure, qrels)
    table = wide_table(evaluated, reference_name, every_two)
    for text in table.warnings:
        warn(text)
    return table


def wide_table(
    evaluated: Sequence[Evaluated], reference: str | Path | None = None, every_two: bool = False
) -> WideTable:
    """Arranges evaluated runs in one table.

    Args:
        evaluated: the same runs for each measure.
        reference: the run to compare the others with: its path, or its path, name or tag as a string.
        every_two: compare all pairs; can't be combined with a reference.

    Raises:
        ToucheError: if the reference isn't there, there is only one run to compare, or both kinds of
            comparison are requested.
    """
    if every_two and reference is not None:
        raise ToucheError("every_two and reference exclude each other; pass only one")
    names = [*dict.fromkeys(run.name for run in evaluated)]
    # a to z, then aa to zz and so on, as many as there are runs
    alphabet = chain.from_iterable(product(ascii_lowercase, repeat=length) for length in count(1))
    letters = dict(zip(names, map("".join, alphabet), strict=False)) if every_two else {}
    columns = dict[str, list[Cell]]()
    why_missing = list[str]()  # why tests are missing
    for runs in by_measure(evaluated):
        for evaluator in dict.fromkeys(evaluator for run in runs for evaluator in run.evaluations):
            scored = [run for run in runs if evaluator in run.evaluations]
            marks: Marks = {}
            if reference is not None or every_two:
                marks, measure_why_missing = _marks(scored, evaluator, reference, letters)
                why_missing += measure_why_missing
            for label in dict.fromkeys(run.label for run in scored):
                in_column = [run for run in scored if run.label == label]
                columns[_heading(evaluated, in_column[0], evaluator)] = _column(
                    in_column, evaluator, names, marks
                )
    test = f"by the paired t-test, with Holm's correction for each measure (p < {SIGNIFICANT})"
    note = ""
    if reference is not None:
        note = f"{DIFFERENT} significantly different from {run_named(reference, evaluated).name} {test}"
    elif every_two:
        note = f"letters: significantly higher than the run of this letter {test}"
    return WideTable(
        columns=tuple(columns),
        rows=dict(zip(names, zip(*columns.values(), strict=True), strict=True)),
        letters=letters,
        note=note,
        warnings=(*why_missing, *all_warnings(evaluated)),
        notes=all_notes(evaluated),
    )


def _marks(
    runs: Sequence[Evaluated], evaluator: str, reference: str | Path | None, letters: Mapping[str, str]
) -> tuple[Marks, list[str]]:
    """Returns runs' marks for one measure, and why tests are missing."""
    # Stances aren't tested. With any order of pairs, a run's second record isn't another run.
    ranked = [run for run in runs if run.is_ranking and not run.any_order]
    if not ranked:
        return {}, []
    reference_run = run_named(reference, ranked) if reference is not None else None
    compared, why_missing = comparisons(ranked, evaluator, reference_run, intervals=False)
    why_missing += conclusions([pair for pair in compared if pair.p_t_test is None])
    marks: Marks = {}
    for pair in compared:
        if reference_run is not None:
            if pair.significant:  # run B is the reference, so run A gets the mark
                marks.setdefault((pair.run_a, pair.dimension), []).append(DIFFERENT)
        elif pair.significant:
            winner, other = (pair.run_a, pair.run_b) if pair.difference > 0 else (pair.run_b, pair.run_a)
            marks.setdefault((winner, pair.dimension), []).append(letters[other])
    return marks, why_missing


def _heading(runs: Sequence[Evaluated], run: Evaluated, evaluator: str) -> str:
    """Returns a column's heading: the measure, with dimension and evaluator if they vary.

    Args:
        runs: all runs in the table.
        run: any run in the column.
        evaluator: the column's evaluator.
    """
    parts = [str(run.measure)]
    if len({other.label for other in runs}) > 1:
        parts.append(run.label)
    if len(run.evaluations) > 1:
        parts.append(f"({evaluator})")
    return " ".join(parts)


def _column(runs: Sequence[Evaluated], evaluator: str, names: Sequence[str], marks: Marks) -> list[Cell]:
    """Returns a cell for each name. A run without this dimension gets a cell without a value."""
    scores = {run.name: run.scores[evaluator] for run in runs}
    printed = [round(score.mean, 3) for score in scores.values() if score.mean is not None]
    has_equal_n = len({score.results for score in scores.values()}) == 1  # N is None for rankings
    best = max(printed, default=None) if has_equal_n else None
    cells = []
    for name in names:
        value = scores[name].mean if name in scores else None
        is_best = value is not None and round(value, 3) == best
        marks_of_run = tuple(sorted(marks.get((name, runs[0].label), [])))
        cells.append(Cell(value=value, best=is_best, marks=marks_of_run))
    return cells


def _cell_markup(cell: Cell, markup: Markup) -> str:
    """Returns a cell in a markup language, with its marks as superscript."""
    value = markup.text(cell.printed)
    if cell.best:
        value = markup.bold.format(value)
    return f"{value}{markup.superscript(','.join(cell.marks))}" if cell.marks else value
