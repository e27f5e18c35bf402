"""Results of a sweep: scores of all settings, and the cross-validated choice among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche.errors import ToucheError, choice, imported
from touche.evaluation.cross_validation import CrossValidation, Values
from touche.report import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """A run of a sweep.

    Attributes:
        options: values of all options of the baseline.
        swept: options with several values in the sweep.
        folder: folder of the run.
    """

    options: Options = field(repr=False)
    swept: Options
    folder: Path

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.swept.items()) or self.folder.name


@dataclass(frozen=True)
class SettingScore:
    """The score of a setting in one dimension.

    Attributes:
        setting: the setting.
        dimension: judged dimension.
        measure: such as ``nDCG@5``.
        evaluator: ``trec_eval`` or ``touche``.
        mean: mean over the topics; None without topics.
        low, high: 95% confidence interval of the mean; None without topics.
        judged: Judged@k, with the k of the measure.
        values: values of the measure by topic.
    """

    setting: Setting
    dimension: str
    measure: str
    evaluator: str
    mean: float | None
    low: float | None
    high: float | None
    judged: float
    values: Values = field(repr=False)


@dataclass(frozen=True)
class Sweep:
    """Runs of a baseline with all settings of a grid, and their scores.

    Attributes:
        baseline: name of the baseline.
        scores: scores of each setting in each dimension, in the order of the grid.
        cross_validations: cross-validated choice of the best setting, by dimension; empty unless requested.
        made: number of new runs; earlier sweeps completed the others.
        warnings: a sentence for each topic without results in one of the new runs.
    """

    baseline: str
    scores: Sequence[SettingScore]
    cross_validations: Mapping[str, CrossValidation[Setting]]
    made: int
    warnings: Sequence[str]

    @cached_property
    def by_dimension(self) -> Mapping[str, Sequence[SettingScore]]:
        """Scores of all settings in each dimension."""
        found: dict[str, list[SettingScore]] = {}
        for score in self.scores:
            found.setdefault(score.dimension, []).append(score)
        return found

    @property
    def settings(self) -> list[Setting]:
        """Settings in the order of the grid."""
        return [score.setting for score in next(iter(self.by_dimension.values()))]

    def best(self, dimension: str) -> SettingScore:
        """Returns the setting with the highest mean in a dimension; the first of equal ones.

        Its mean is too high for other topics, because these topics chose it.

        Args:
            dimension: judged dimension.
        """
        rows = self.by_dimension[dimension]
        return max(rows, key=lambda row: float("-inf") if row.mean is None else row.mean)

    @property
    def records(self) -> list[dict[str, Any]]:
        """Row of each setting and dimension: swept options, and figures of ``SettingScore``."""
        return [
            {
                **row.setting.swept,
                "dimension": row.dimension,
                "measure": row.measure,
                "evaluator": row.evaluator,
                "mean": row.mean,
                "low": row.low,
                "high": row.high,
                "judged": row.judged,
                "topics": len(row.values),
                "tag": row.setting.folder.name,
            }
            for row in self.scores
        ]

    @property
    def fold_records(self) -> list[dict[str, Any]]:
        """Row of each dimension and fold: the setting that other topics chose, and its mean in the fold."""
        return [
            {
                "dimension": dimension,
                "fold": number,
                **fold.choice.swept,
                "tested topics": " ".join(fold.values),
                "mean": fold.mean,
            }
            for dimension, validation in self.cross_validations.items()
            for number, fold in enumerate(validation.folds, 1)
        ]

    def frame(self) -> "DataFrame":
        """The records as a pandas DataFrame."""
        return _frame(self.records)

    def folds(self) -> "DataFrame":
        """The records of the folds as a pandas DataFrame."""
        return _frame(self.fold_records)

    def heat_map(self, dimension: str) -> "Figure":
        """Draws means by the two options with most values; each is the best over values of other options.

        Args:
            dimension: judged dimension.

        Raises:
            ToucheError: if no option has several values, or matplotlib is not installed.
        """
        if dimension not in self.by_dimension:
            raise ToucheError(
                f"the sweep has no dimension {dimension!r}; {choice(dimension, self.by_dimension)}"
            )
        rows = [row for row in self.by_dimension[dimension] if row.mean is not None]
        counts = {name: len({s.swept[name] for s in self.settings}) for name in self.settings[0].swept}
        axes = sorted(counts, key=lambda name: -counts[name])[:2]
        if not (axes and rows):
            raise ToucheError("a heat map needs several settings; choose several values of an option")
        across, *down = (name for name in counts if name in axes)
        others = [name for name in counts if name not in axes]
        cells: dict[tuple[str, str], float] = {}
        for row in rows:
            cell = str(row.setting.swept[across]), str(row.setting.swept[down[0]]) if down else ""
            cells[cell] = max(cells.get(cell, float("-inf")), row.mean or 0.0)
        title = f"{self.baseline}: {rows[0].measure}, {dimension}, {rows[0].evaluator}"
        best_over = f"\nbest over {', '.join(others)}" if others else ""
        return plots.heat_map(cells, across, down[0] if down else "", title + best_over)


def _frame(records: Sequence[Mapping[str, Any]]) -> "DataFrame":
    imported("pandas", "analysis")
    from touche.formats.untruncated import UntruncatedFrame  # here, because it imports pandas

    return UntruncatedFrame(records)
