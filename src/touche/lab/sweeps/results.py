"""A sweep's results: each setting's scores, and the cross-validated choice among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche.errors import ToucheError, check_choice
from touche.evaluation.equality import first_highest
from touche.evaluation.scores import Score
from touche.io.grouping import group_by
from touche.lab.sweeps.cross_validation import CrossValidation, Fold, Values
from touche.reports import plots
from touche.trec.framed import Shown, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Options = Mapping[str, Any]

_SCORE_COLUMNS = "dimension", "measure", "evaluator", "mean", "low", "high", "judged"


@dataclass(frozen=True)
class Setting:
    """One run in a sweep.

    Attributes:
        options: the values of all options.
        swept: the values of the options that vary in the sweep.
        folder: the run's folder.
    """

    options: Options = field(repr=False)
    swept: Options
    folder: Path

    def __str__(self) -> str:
        if not self.swept:  # there is only one setting
            return self.folder.name
        return " ".join(f"{name}={value}" for name, value in self.swept.items())


@dataclass(frozen=True, kw_only=True)
class SettingScore(Score):
    """A setting's score in one dimension. Attributes as in ``Score``, plus:

    Attributes:
        setting: the setting.
        values: the measure's values by topic.
        doubts: why the score may mislead, as sentences.
    """

    setting: Setting
    values: Values = field(repr=False)
    doubts: Sequence[str] = field(repr=False)

    @property
    def record(self) -> dict[str, Any]:
        """A table row: swept options, scores, number of topics and the run's tag."""
        scores = {name: getattr(self, name) for name in _SCORE_COLUMNS}
        # Not ``self.topics``, which counts rankings when each stance of a topic has its own.
        topics = len(self.values)
        return {**self.setting.swept, **scores, "topics": topics, "tag": self.setting.folder.name}


@dataclass(frozen=True)
class SettingFold:
    """One fold of a cross-validation in one dimension.

    Attributes:
        dimension: the judged dimension.
        number: the fold's number, from 1.
        fold: the setting chosen on the other topics, and its values in this fold.
    """

    dimension: str
    number: int
    fold: Fold[Setting]

    @property
    def record(self) -> dict[str, Any]:
        """A table row: the setting's swept options, the tested topics and their mean."""
        return {
            "dimension": self.dimension,
            "fold": self.number,
            **self.fold.choice.swept,
            "tested topics": " ".join(self.fold.values.keys()),  # keys are topics
            "mean": self.fold.mean,
        }


@dataclass(frozen=True)
class Sweep(Shown):
    """A baseline's runs with all settings of a grid, and their scores.

    Attributes:
        baseline: the baseline's name.
        scores: each setting's score in each dimension, in the grid's order.
        cross_validations: the cross-validated choices of the best setting, with the keys of ``by_dimension``;
            empty unless requested.
        warnings: sentences about topics for which a run found nothing, and about doubtful scores.
    """

    baseline: str
    scores: Table[SettingScore]
    cross_validations: Mapping[str, CrossValidation[Setting]]
    warnings: Sequence[str]

    @cached_property
    def by_dimension(self) -> Mapping[str, Sequence[SettingScore]]:
        """All settings' scores by dimension. With several measures, keys look like ``relevance AP``."""
        kinds = {(score.dimension, score.measure) for score in self.scores}
        # Dimensions can have different measures. Keys only name the measure if a dimension has
        # several.
        has_several_measures = len(kinds) > len({dimension for dimension, _ in kinds})
        return group_by(
            self.scores,
            lambda score: f"{score.dimension} {score.measure}" if has_several_measures else score.dimension,
        )

    @property
    def settings(self) -> list[Setting]:
        """The settings in the grid's order."""
        first_scores = next(iter(self.by_dimension.values()))  # each dimension has a score per setting
        return [score.setting for score in first_scores]

    def best(self, dimension: str) -> SettingScore:
        """Returns the score of the setting with the highest mean in a dimension; the first one if several
        are equal.

        Expect a lower mean on other topics, because the setting was chosen on these.

        Args:
            dimension: the judged dimension; with several measures, a key of ``by_dimension``.

        Raises:
            ToucheError: if the sweep has no such dimension.
        """
        scores = self._scores(dimension)
        return first_highest(scores, [score.mean for score in scores])

    def frame(self) -> "DataFrame":
        """The scores as a pandas DataFrame."""
        return self.scores.frame()

    def folds(self) -> Table[SettingFold]:
        """The folds of all cross-validations. ``frame()`` has a row per fold."""
        folds = (
            SettingFold(dimension=dimension, number=number, fold=fold)
            for dimension, validation in self.cross_validations.items()
            for number, fold in enumerate(validation.folds, 1)
        )
        return Table(SettingFold, tuple(folds))

    def heat_map(self, dimension: str) -> "Figure":
        """Draws the means over the two options with the most values. A cell shows the best mean over the
        other options.

        Args:
            dimension: the judged dimension; with several measures, a key of ``by_dimension``.

        Raises:
            ToucheError: if the sweep has no such dimension, no option varies, no setting has a mean, or
                matplotlib isn't installed.
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
        axes = [name for name in options if name in most_varied]  # in the options' order
        across = axes[0]
        down = axes[1] if len(axes) > 1 else ""  # with a single option, there is one row
        cells: dict[tuple[str, str], float] = {}
        for swept, mean in means:
            cell = (str(swept[across]), str(swept[down]) if down else "")
            cells[cell] = max(cells.get(cell, mean), mean)  # the best over the other options' values
        title = f"{self.baseline}: {scores[0].measure}, {dimension}, {scores[0].evaluator}"
        others = [name for name in options if name not in axes]
        best_over = f"\nbest over {', '.join(others)}" if others else ""
        return plots.heat_map(cells, across, down, title + best_over)

    def _scores(self, dimension: str) -> Sequence[SettingScore]:
        """Returns a dimension's scores. An unknown dimension is an error."""
        check_choice("dimension", dimension, self.by_dimension)
        return self.by_dimension[dimension]
