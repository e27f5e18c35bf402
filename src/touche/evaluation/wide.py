"""Tables with a row for each run and a column for each measure, as papers print them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

from touche.errors import ToucheError
from touche.evaluation.comparison import comparisons, run_named
from touche.evaluation.scores import Evaluated
from touche.evaluation.significance import SIGNIFICANT
from touche.io.markup import html_table, html_text, latex_table, latex_text, markdown_table, markdown_text
from touche.io.optional import imported

if TYPE_CHECKING:
    from pandas import DataFrame

DIFFERENT = "†"  # significantly different from the reference


@dataclass(frozen=True)
class Cell:
    """The score of a run in a column.

    Attributes:
        value: the mean of the measure; None if the run has no score in this column.
        best: whether no other run has a higher value, as printed; never if the runs' N differ.
        marks: results of the tests: ``†``, or the letters of runs with a significantly lower score.
    """

    value: float | None
    best: bool
    marks: tuple[str, ...]


@dataclass(frozen=True)
class WideTable:
    """The scores of runs by several measures.

    Attributes:
        columns: the names of the columns.
        rows: the cells of each run by its name.
        letters: the letter of each run by its name; empty if marks do not refer to runs.
        note: the meaning of the marks; empty without tests.
        warnings: sentences on pairs of runs that were not compared, and on doubtful scores.
        notes: sentences that explain the scores, as those of ``evaluate``.
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
        """The values of each run by column; with tests also marks, such as ``nDCG@5 marks``."""
        return [self._record(name, cells) for name, cells in self.rows.items()]

    def _record(self, name: str, cells: Sequence[Cell]) -> dict[str, str | float | None]:
        record: dict[str, str | float | None] = {"run": name}
        for column, cell in zip(self.columns, cells, strict=True):
            record[column] = cell.value
            if self.note:
                record[f"{column} marks"] = ",".join(cell.marks)
        return record

    def frame(self) -> "DataFrame":
        """Returns the values, and with tests their marks, as a pandas DataFrame with a row for each run.

        Raises:
            ToucheError: if pandas is not installed.
        """
        return imported("pandas", "analysis").DataFrame(self.records)

    def text_rows(self) -> list[list[str]]:
        """Returns the cells as plain text."""
        return [[name, *map(_plain, cells)] for name, cells in self.rows.items()]

    def markdown(self) -> str:
        """Returns the table in Markdown, the best values in bold."""
        return self._marked_up(markdown_table, markdown_text, _in_markdown)

    def latex(self) -> str:
        """Returns the table in LaTeX with booktabs, the best values in bold."""
        return self._marked_up(latex_table, latex_text, _in_latex)

    def html(self) -> str:
        """Returns the table in HTML, the best values in bold."""
        return self._marked_up(html_table, html_text, _in_html)

    def _marked_up(
        self, table: Callable[..., str], escaped: Callable[[str], str], formatted: Callable[[Cell], str]
    ) -> str:
        header = [escaped(name) for name in ("run", *self.columns)]
        rows = [[escaped(self._named(name)), *map(formatted, cells)] for name, cells in self.rows.items()]
        numeric = [False] + [True] * len(self.columns)
        return table(header, rows, numeric, [self.note] if self.note else [])

    def _named(self, name: str) -> str:
        return f"{name} ({self.letters[name]})" if self.letters else name


def wide_table(
    groups: Sequence[Sequence[Evaluated]], reference: str | Path | None = None, every_two: bool = False
) -> WideTable:
    """Arranges evaluated runs in one table.

    Args:
        groups: for each measure, the same runs evaluated by it.
        reference: the run to compare each other run with: its path, or a text with its path, name or tag.
        every_two: whether to compare all pairs of runs without a reference.

    Raises:
        ToucheError: if there is no such reference, or only one run to compare. Also if runs are compared both
            with a reference and with each other.
    """
    if every_two and reference is not None:
        raise ToucheError("every_two and reference exclude each other; pass only one")
    names = [*dict.fromkeys(run.name for run in groups[0])]
    letters = dict(zip(names, _letters(len(names)), strict=True)) if every_two else {}
    columns, faults = dict[str, list[Cell]](), list[str]()
    notes = list[str]()
    for group in groups:
        for evaluator in dict.fromkeys(name for run in group for name in run.evaluations):
            marks = dict[tuple[str, str], list[str]]()
            if reference is not None or every_two:
                faults += _mark(group, evaluator, reference, letters, marks, notes)
            for label in dict.fromkeys(run.label for run in group if evaluator in run.evaluations):
                scores = {run.name: run.scores[evaluator].mean for run in group if run.label == label}
                sizes = {run.scores[evaluator].results for run in group if run.label == label}
                known = [round(value, 3) for value in scores.values() if value is not None]
                best = max(known, default=None) if len(sizes) == 1 else None  # else values are not comparable
                columns[_heading(groups, group, label, evaluator)] = [
                    _cell(scores.get(name), best, marks.get((name, label), [])) for name in names
                ]
    rows = dict(zip(names, zip(*columns.values(), strict=True), strict=True))
    tested = f"by the paired t-test, with Holm's correction for each measure (p < {SIGNIFICANT})"
    named = run_named(reference, groups[0]).name if reference is not None else ""
    against = f"{DIFFERENT} significantly different from {named} {tested}" if reference is not None else ""
    higher = f"letters: significantly higher than the run of this letter {tested}" if letters else ""
    return WideTable(
        columns=tuple(columns),
        rows=rows,
        letters=letters,
        note=against or higher,
        warnings=tuple(faults),
        notes=tuple(notes),
    )


def _mark(
    group: Sequence[Evaluated],
    evaluator: str,
    reference: str | Path | None,
    letters: dict[str, str],
    marks: dict[tuple[str, str], list[str]],
    notes: list[str],
) -> list[str]:
    """Adds marks and notes by the tests of one measure; returns pairs without a test."""
    ranked = [run for run in group if run.is_ranking and not run.any_order and evaluator in run.evaluations]
    if not ranked:
        return []
    second = run_named(reference, ranked) if reference is not None else None
    compared, faults = comparisons(ranked, evaluator, second)
    for pair in compared if reference is not None else ():
        about = f"{pair.run_a} and {pair.run_b}, {pair.dimension}, {pair.measure} ({evaluator})"
        undecided = f"not decided by {pair.topics} topics; " if pair.is_undecided else ""
        notes.append(f"{about}: {undecided}differences from {pair.detectable:.3f} are detectable")
    for pair in compared:
        if pair.significant and reference is not None:
            marks.setdefault((pair.run_a, pair.dimension), []).append(DIFFERENT)
        elif pair.significant:
            winner, other = (pair.run_a, pair.run_b) if pair.difference > 0 else (pair.run_b, pair.run_a)
            marks.setdefault((winner, pair.dimension), []).append(letters[other])
    return faults


def _heading(
    groups: Sequence[Sequence[Evaluated]], group: Sequence[Evaluated], label: str, evaluator: str
) -> str:
    """Returns the name of a column: the measure, and its differences from other columns."""
    (measure,) = {str(run.measure) for run in group if run.label == label}
    parts = [measure]
    if len({run.label for runs in groups for run in runs}) > 1:
        parts.append(label)
    of_label = next(run for run in group if run.label == label)
    return " ".join([*parts, *([f"({evaluator})"] if len(of_label.evaluations) > 1 else [])])


def _cell(value: float | None, best: float | None, marks: Sequence[str]) -> Cell:
    return Cell(value, value is not None and round(value, 3) == best, tuple(sorted(marks)))


def _letters(count: int) -> list[str]:
    """Returns the letters a to z, then aa and so on."""
    letters = [*ascii_lowercase, *(first + second for first in ascii_lowercase for second in ascii_lowercase)]
    return letters[:count]


def _printed(cell: Cell) -> str:
    return "–" if cell.value is None else f"{cell.value:.3f}"


def _plain(cell: Cell) -> str:
    return f"{_printed(cell)}{''.join(cell.marks)}"


def _in_markdown(cell: Cell) -> str:
    value = f"**{_printed(cell)}**" if cell.best else _printed(cell)
    return f"{value}<sup>{','.join(cell.marks)}</sup>" if cell.marks else value


def _in_latex(cell: Cell) -> str:
    value = f"\\textbf{{{_printed(cell)}}}" if cell.best else _printed(cell).replace("–", "--")
    marks = ",".join(cell.marks).replace(DIFFERENT, "\\dagger")
    return f"{value}$^{{{marks}}}$" if marks else value


def _in_html(cell: Cell) -> str:
    value = f"<b>{_printed(cell)}</b>" if cell.best else _printed(cell)
    return f"{value}<sup>{','.join(cell.marks)}</sup>" if cell.marks else value
