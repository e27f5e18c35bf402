"""Results of a sweep: scores of all settings, and the cross-validated choice among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche.errors import ToucheError, check_choice
from touche.evaluation.cross_validation import CrossValidation, Fold, Values
from touche.evaluation.scores import Score
from touche.reports import plots
from touche.trec.framed import Shown, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Options = Mapping[str, Any]

_SCORE_COLUMNS = "dimension", "measure", "evaluator", "mean", "low", "high", "judged"


@dataclass(frozen=True)
class Setting:
    """A run of a sweep.

    Attributes:
        options: values of all options of the baseline.
        swept: values of the options that have several values in the sweep.
        folder: folder of the run.
    """

    options: Options = field(repr=False)
    swept: Options
    folder: Path

    def __str__(self) -> str:
        if not self.swept:  # the only setting
            return self.folder.name
        return " ".join(f"{name}={value}" for name, value in self.swept.items())


@dataclass(frozen=True, kw_only=True)
class SettingScore(Score):
    """The score of a setting in one dimension; attributes as in ``Score``, and these:

    Attributes:
        setting: the setting.
        values: values of the measure by topic.
        doubts: why the score may mislead, as sentences.
    """

    setting: Setting
    values: Values = field(repr=False)
    doubts: Sequence[str] = field(repr=False)

    @property
    def record(self) -> dict[str, Any]:
        """Row of a table: swept options, scores, number of topics, and tag of the run."""
        scores = {name: getattr(self, name) for name in _SCORE_COLUMNS}
        # Not ``self.topics``, which counts rankings if each stance of a topic has its own.
        topics = len(self.values)
        return {**self.setting.swept, **scores, "topics": topics, "tag": self.setting.folder.name}


@dataclass(frozen=True)
class SettingFold:
    """A fold of a cross-validation in one dimension.

    Attributes:
        dimension: judged dimension.
        number: number of the fold, from 1.
        fold: the setting that other topics chose, and its values in the fold.
    """

    dimension: str
    number: int
    fold: Fold[Setting]

    @property
    def record(self) -> dict[str, Any]:
        """Row of a table: swept options of the setting, tested topics, and their mean."""
        return {
            "dimension": self.dimension,
            "fold": self.number,
            **self.fold.choice.swept,
            "tested topics": " ".join(self.fold.values.keys()),  # values are by topic
            "mean": self.fold.mean,
        }


@dataclass(frozen=True)
class Sweep(Shown):
    """Runs of a baseline with all settings of a grid, and their scores.

    Attributes:
        baseline: name of the baseline.
        scores: scores of each setting in each dimension, in the order of the grid.
        cross_validations: cross-validated choice of the best setting, with the keys of ``by_dimension``;
            empty unless requested.
        warnings: sentences about topics without results in one of the runs, and about the scores.
    """

    baseline: str
    scores: Table[SettingScore]
    cross_validations: Mapping[str, CrossValidation[Setting]]
    warnings: Sequence[str]

    @cached_property
    def by_dimension(self) -> Mapping[str, Sequence[SettingScore]]:
        """Scores of all settings by dimension; with several measures, the key is as in ``relevance AP``."""
        kinds = {(score.dimension, score.measure) for score in self.scores}
        # Dimensions may have different measures; keys name the measures only if a dimension has several.
        has_several_measures = len(kinds) > len({dimension for dimension, _ in kinds})
        groups: dict[str, list[SettingScore]] = {}
        for score in self.scores:
            name = f"{score.dimension} {score.measure}" if has_several_measures else score.dimension
            groups.setdefault(name, []).append(score)
        return groups

    @property
    def settings(self) -> list[Setting]:
        """Settings in the order of the grid."""
        first_scores = next(iter(self.by_dimension.values()))  # each dimension has a score of each setting
        return [score.setting for score in first_scores]

    def best(self, dimension: str) -> SettingScore:
        """Returns the score of the setting with the highest mean in a dimension; the first of equal ones.

        On other topics, expect a lower mean, because the setting was chosen by its values on these topics.

        Args:
            dimension: judged dimension; with several measures, it is followed by a measure, as in
                ``by_dimension``.

        Raises:
            ToucheError: if the sweep has no such dimension.
        """
        return max(
            self._scores(dimension), key=lambda score: float("-inf") if score.mean is None else score.mean
        )

    def frame(self) -> "DataFrame":
        """The scores as a pandas DataFrame."""
        return self.scores.frame()

    def folds(self) -> Table[SettingFold]:
        """The folds of all cross-validations; their ``frame()`` has a row for each fold."""
        folds = (
            SettingFold(dimension=dimension, number=number, fold=fold)
            for dimension, validation in self.cross_validations.items()
            for number, fold in enumerate(validation.folds, 1)
        )
        return Table(SettingFold, tuple(folds))

    def heat_map(self, dimension: str) -> "Figure":
        """Draws the means by the two options with most values; a cell has the best mean over other options.

        Args:
            dimension: judged dimension; with several measures, it is followed by a measure, as in
                ``by_dimension``.

        Raises:
            ToucheError: if the sweep has no such dimension, no option has several values, no setting has a
                mean, or matplotlib is not installed.
        """
        scores = self._scores(dimension)
        means = [(score.setting.swept, score.mean) for score in scores if score.mean is not None]
        options = list(self.settings[0].swept)
        if not options:
            raise ToucheError("a heat map needs several settings; choose several values of an option")
        if not means:
            raise ToucheError("no setting has a mean; check that the qrels have topics of the runs")
        value_counts = {name: len({setting.swept[name] for setting in self.settings}) for name in options}
        most_varied = sorted(options, key=value_counts.__getitem__, reverse=True)[:2]
        axes = [name for name in options if name in most_varied]  # in the order of the options
        across = axes[0]
        down = axes[1] if len(axes) > 1 else ""  # a single option has one row
        cells: dict[tuple[str, str], float] = {}
        for swept, mean in means:
            cell = (str(swept[across]), str(swept[down]) if down else "")
            cells[cell] = max(cells.get(cell, mean), mean)  # over the values of other options
        title = f"{self.baseline}: {scores[0].measure}, {dimension}, {scores[0].evaluator}"
        others = [name for name in options if name not in axes]
        best_over = f"\nbest over {', '.join(others)}" if others else ""
        return plots.heat_map(cells, across, down, title + best_over)

    def _scores(self, dimension: str) -> Sequence[SettingScore]:
        """Returns the scores of a dimension; an unknown one is an error."""
        check_choice("dimension", dimension, self.by_dimension)
        return self.by_dimension[dimension]
