"""Tables with a row for each run and a column for each measure, as papers print them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

from touche.evaluation.comparison import comparisons, run_named
from touche.evaluation.scores import Evaluated
from touche.evaluation.significance import SIGNIFICANT
from touche.io.optional import imported

if TYPE_CHECKING:
    from pandas import DataFrame

DIFFERENT = "†"  # significantly different from the reference
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
_LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}


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
        warnings: sentences on pairs of runs that were not compared.
    """

    columns: tuple[str, ...]
    rows: dict[str, tuple[Cell, ...]]
    letters: dict[str, str]
    note: str
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        return self.markdown()

    def frame(self) -> "DataFrame":
        """Returns the values as a pandas DataFrame with a row for each run.

        Raises:
            ToucheError: if pandas is not installed.
        """
        values = [[name, *(cell.value for cell in cells)] for name, cells in self.rows.items()]
        return imported("pandas", "analysis").DataFrame(values, columns=["run", *self.columns])

    def text_rows(self) -> list[list[str]]:
        """Returns the cells as plain text."""
        return [[name, *map(_plain, cells)] for name, cells in self.rows.items()]

    def markdown(self) -> str:
        """Returns the table in Markdown, the best values in bold."""
        header = [_plain_markdown(name) for name in ("run", *self.columns)]
        rows = [
            [_plain_markdown(self._named(name)), *map(_in_markdown, cells)]
            for name, cells in self.rows.items()
        ]
        rule = ["---", *["---:"] * len(self.columns)]
        lines = [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]
        return "\n".join([*lines, *(["", _plain_markdown(self.note)] if self.note else [])])

    def latex(self) -> str:
        """Returns the table in LaTeX with booktabs, the best values in bold."""
        header = " & ".join(map(_escaped, ["run", *self.columns]))
        rows = [
            " & ".join([_escaped(self._named(name)), *map(_in_latex, cells)])
            for name, cells in self.rows.items()
        ]
        lines = [
            f"\\begin{{tabular}}{{l{'r' * len(self.columns)}}}",
            *("\\toprule", f"{header} \\\\", "\\midrule"),
            *(f"{row} \\\\" for row in rows),
            *("\\bottomrule", "\\end{tabular}"),
        ]
        return "\n".join([*lines, *([f"% {self.note}"] if self.note else [])])

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
        ToucheError: if there is no such reference, or only one run to compare.
    """
    names = [*dict.fromkeys(run.name for run in groups[0])]
    letters = dict(zip(names, _letters(len(names)), strict=True)) if every_two and not reference else {}
    columns, faults = dict[str, list[Cell]](), list[str]()
    for group in groups:
        for evaluator in group[0].evaluations:
            marks = dict[tuple[str, str], list[str]]()
            if reference or every_two:
                faults += _mark(group, evaluator, reference, letters, marks)
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
    named = run_named(reference, groups[0]).name if reference else ""
    against = f"{DIFFERENT} significantly different from {named} {tested}" if reference else ""
    higher = f"letters: significantly higher than the run of this letter {tested}" if letters else ""
    return WideTable(tuple(columns), rows, letters, against or higher, tuple(faults))


def _mark(
    group: Sequence[Evaluated],
    evaluator: str,
    reference: str | Path | None,
    letters: dict[str, str],
    marks: dict[tuple[str, str], list[str]],
) -> list[str]:
    """Adds the marks of runs and dimensions by the tests of one measure; returns pairs without a test."""
    ranked = [run for run in group if run.is_ranking and not run.any_order and evaluator in run.evaluations]
    if not ranked:
        return []
    second = run_named(reference, ranked) if reference else None
    compared, faults = comparisons(ranked, evaluator, second)
    for pair in compared:
        if pair.significant and reference:
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


def _plain_markdown(text: str) -> str:
    """Escapes what Markdown reads as markup, unlike an underscore within a word, or < before a blank."""
    return re.sub(r"[\\`*&|\[\]]|<(?! )|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)


def _escaped(text: str) -> str:
    return re.sub(r"[\\~^<>|&%$#_{}]", lambda match: _LATEX[match[0]], text)
