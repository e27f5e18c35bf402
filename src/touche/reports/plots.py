"""Plots for papers, in colours that colour-blind readers can distinguish (Okabe and Ito 2008)."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche.io.optional import imported
from touche.io.writing import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The same blue and orange as in templates/style.css.
_BLUE = "#0072b2"
_ORANGE = "#d55e00"
_GREY = "#767676"
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,  # a dollar in a name is plain text
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LOOKS = {  # colour, marker and legend; the markers differ, because a print may have no colours
    "given": (_ORANGE, "D", "given runs"),
    "baseline": (_BLUE, "s", "the organizers' baseline"),
    "published": (_GREY, "o", "published results"),
}
_DOTTED = (0, (1, 1))
_WIDTH = 7.5  # inches, of a plot of intervals
_ROW_HEIGHT = 0.24  # inches
_CELL_HEIGHT = 1.5 * _ROW_HEIGHT
_LONGEST_LABEL = 48  # characters
_CELL_WIDTH = 0.62  # inches
_LIGHT = 0.6  # share of the range of colours; lighter colours need dark text


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval.

    Attributes:
        name: label of the row.
        kind: ``given``, ``baseline`` or ``published``.
        mean: the mean.
        low, high: ends of the interval; None if they are unknown.
        is_95: whether the level of the interval is 95%.
        comparable: whether the mean is comparable with the others.
    """

    name: str
    kind: str
    mean: float
    low: float | None = None
    high: float | None = None
    is_95: bool = True
    comparable: bool = True


def plot_intervals(rows: Sequence[Interval], xlabel: str) -> "Figure":
    """Draws means with 95% confidence intervals, the best on top, like figure 1 of the overview of 2020.

    Intervals with another level are dotted, as the legend explains.

    Args:
        rows: the means, the best first.
        xlabel: label of the axis.

    Raises:
        ToucheError: if matplotlib is not installed.
    """
    with _styled_figure(_WIDTH, 0.9 + _ROW_HEIGHT * len(rows)) as figure:  # axis and legend need 0.9
        axes = figure.subplots()
        labels = []
        for y, row in enumerate(reversed(rows)):  # the lowest row has y = 0
            _draw(axes, y, row)
            # A name may be a path, whose end is the most distinctive.
            is_short = len(row.name) <= _LONGEST_LABEL
            labels.append(row.name if is_short else f"…{row.name[-(_LONGEST_LABEL - 1) :]}")
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(-0.7, len(rows) - 0.3)  # rows are at 0, 1, 2 ..., with a margin of 0.7
        axes.set_xlabel(xlabel)
        axes.grid(axis="x", color=_GREY, alpha=0.3, linewidth=0.5)
        # Lines without points are entries of the legend.
        for kind, (colour, marker, legend) in _LOOKS.items():
            if any(row.kind == kind for row in rows):
                axes.plot([], [], color=colour, marker=marker, label=legend)
        if not all(row.is_95 for row in rows):
            axes.plot([], [], color=_GREY, linestyle=_DOTTED, label="not a 95% interval")
        _, entries = axes.get_legend_handles_labels()
        if len(entries) > 1:  # a single entry explains nothing
            figure.legend(loc="outside upper right", ncols=len(entries), frameon=False, fontsize=9)
    return figure


@contextmanager
def _styled_figure(width: float, height: float) -> Iterator["Figure"]:
    """Yields a figure of a size in inches, in the style of all plots."""
    with imported("matplotlib", "analysis").rc_context(_STYLE):
        figure_module = imported("matplotlib.figure", "analysis")
        yield figure_module.Figure(figsize=(width, height), layout="constrained")


def _draw(axes: "Axes", y: int, row: Interval) -> None:
    """Draws a mean and its interval at the height y; the marker is hollow if the mean is not comparable."""
    colour, marker, _ = _LOOKS[row.kind]
    if row.low is not None and row.high is not None:
        style: Any = "-" if row.is_95 else _DOTTED
        # The line is below the markers, which have a zorder of 2.
        axes.plot([row.low, row.high], [y, y], color=colour, linewidth=1.5, linestyle=style, zorder=1)
    fill = colour if row.comparable else "white"
    axes.plot(row.mean, y, color=colour, marker=marker, markersize=5, markerfacecolor=fill)


def heat_map(cells: Mapping[tuple[str, str], float], across: str, down: str, title: str) -> "Figure":
    """Draws a value for each combination of two options as colour and number, the highest in bold.

    Args:
        cells: values by the texts of column and row; both are in the order of their first occurrence.
        across, down: names of the two options, as labels of the axes.
        title: title, which names the values.

    Raises:
        ToucheError: if matplotlib is not installed.
    """
    columns = list(dict.fromkeys(column for column, _ in cells))
    rows = list(dict.fromkeys(row for _, row in cells))
    least = min(cells.values())
    most = max(cells.values())
    # A combination without a value is a white cell.
    grid = [[cells.get((column, row), nan) for column in columns] for row in rows]
    # Labels of rows and the colour bar need 2.2 inches, the title and labels of columns 1.4.
    with _styled_figure(2.2 + _CELL_WIDTH * len(columns), 1.4 + _CELL_HEIGHT * len(rows)) as figure:
        axes = figure.subplots()
        image = axes.imshow(grid, cmap="viridis", aspect="auto")  # a perceptually uniform map, also in grey
        axes.set(title=title, xlabel=across, ylabel=down)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        figure.colorbar(image)
        for (column, row), value in cells.items():
            is_light = value - least > _LIGHT * (most - least)
            colour = "black" if is_light else "white"
            weight = "bold" if value == most else "normal"
            axes.text(
                x=columns.index(column),
                y=rows.index(row),
                s=f"{value:.3f}",
                ha="center",
                va="center",
                color=colour,
                weight=weight,
            )
    vars(figure)["_repr_png_"] = partial(_png, figure)  # notebooks call this method
    return figure


def _png(figure: "Figure") -> bytes:
    """Returns a figure as PNG, for notebooks without ``%matplotlib inline``."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def save(figure: "Figure", path: Path) -> None:
    """Writes a figure as SVG and PNG, with the same bytes every time; texts in SVG stay searchable.

    Args:
        figure: the figure.
        path: the file, without suffix.

    Raises:
        InputError: if the folder cannot be written.
    """
    # SVG contains texts instead of the shapes of letters, and the same ids every time. None omits metadata
    # that would change the bytes, because they are a time or a version.
    settings = {"svg.fonttype": "none", "svg.hashsalt": "touche"}
    formats = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
    with imported("matplotlib", "analysis").rc_context(settings), warnings.catch_warnings():
        # A letter that the font lacks needs no warning, because tables next to the plots have the same names.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        for kind, metadata in formats.items():
            buffer = BytesIO()
            # A PNG has less than 2^16 pixels in each direction, which a plot of 1,400 runs exceeds.
            dpi = min(200, 65_000 / max(figure.get_size_inches()))
            figure.savefig(buffer, format=kind, metadata=metadata, dpi=dpi)
            figure.set_layout_engine("none")  # keeps this layout for the next format
            with whole(path.with_name(f"{path.name}.{kind}")) as file:
                file.write(buffer.getvalue())
