"""Plots for papers, in colours that colour-blind readers can tell apart (Okabe and Ito 2008)."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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

    from touche.reports.report_records import LeaderboardRow

# The same blue and orange as in templates/style.css.
_BLUE = "#0072b2"
_ORANGE = "#d55e00"
_GREY = "#767676"
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,  # a dollar sign in a name is just text
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LOOKS = {  # colour, marker and legend; markers differ for black-and-white prints
    "given": (_ORANGE, "D", "your runs"),
    "baseline": (_BLUE, "s", "baselines"),
    "published": (_GREY, "o", "published results"),
}
_DOTTED = (0, (1, 1))
_WIDTH = 7.5  # inches; width of interval plots
_ROW_HEIGHT = 0.24  # inches
_CELL_HEIGHT = 1.5 * _ROW_HEIGHT
_LONGEST_LABEL = 48  # characters
_CELL_WIDTH = 0.62  # inches
_LIGHT = 0.6  # share of the colour range; lighter colours need dark text


def plot_intervals(rows: "Sequence[LeaderboardRow]", xlabel: str) -> "Figure":
    """Draws means with 95% confidence intervals, the best on top, like figure 1 in the overview of 2020.

    Intervals with another level are dotted; the legend explains it.

    Args:
        rows: the rows, best first; those without a mean are left out.
        xlabel: the axis label.

    Raises:
        ToucheError: if matplotlib isn't installed.
    """
    rows = [row for row in rows if row.value is not None]
    with _styled_figure(_WIDTH, 0.9 + _ROW_HEIGHT * len(rows)) as figure:  # axis and legend take 0.9
        axes = figure.subplots()
        labels = []
        for y, row in enumerate(reversed(rows)):  # the lowest row has y = 0
            _draw(axes, y, row)
            # For a path, the end is the most distinctive part.
            is_short = len(row.label) <= _LONGEST_LABEL
            labels.append(row.label if is_short else f"…{row.label[-(_LONGEST_LABEL - 1) :]}")
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(-0.7, len(rows) - 0.3)  # rows are at 0, 1, 2 ..., with a margin of 0.7
        axes.set_xlabel(xlabel)
        axes.grid(axis="x", color=_GREY, alpha=0.3, linewidth=0.5)
        # Lines without points only show up in the legend.
        for kind, (colour, marker, legend) in _LOOKS.items():
            if any(row.look == kind for row in rows):
                axes.plot([], [], color=colour, marker=marker, label=legend)
        if any(row.note for row in rows):
            axes.plot([], [], color=_GREY, linestyle=_DOTTED, label="not a 95% interval")
        if any(row.doubtful for row in rows):
            colour, marker, _ = _LOOKS["given"]
            axes.plot([], [], marker, color=colour, markerfacecolor="white", label="not comparable")
        _, entries = axes.get_legend_handles_labels()
        if len(entries) > 1:  # a single entry wouldn't explain anything
            figure.legend(loc="outside upper right", ncols=len(entries), frameon=False, fontsize=9)
    return figure


@contextmanager
def _styled_figure(width: float, height: float) -> Iterator["Figure"]:
    """Yields a figure of this size (inches), in the style that all plots share."""
    with imported("matplotlib", "analysis").rc_context(_STYLE):
        figure_module = imported("matplotlib.figure", "analysis")
        yield figure_module.Figure(figsize=(width, height), layout="constrained")


def _draw(axes: "Axes", y: int, row: "LeaderboardRow") -> None:
    """Draws a mean and its interval at height y. The marker is hollow if the mean isn't comparable."""
    colour, marker, _ = _LOOKS[row.look]
    low = row.shown.low
    high = row.shown.high
    if low is not None and high is not None:
        style: Any = _DOTTED if row.note else "-"
        # Below the markers, whose zorder is 2.
        axes.plot([low, high], [y, y], color=colour, linewidth=1.5, linestyle=style, zorder=1)
    fill = "white" if row.doubtful else colour
    mean: Any = row.value  # not None here
    axes.plot(mean, y, color=colour, marker=marker, markersize=5, markerfacecolor=fill)


def heat_map(cells: Mapping[tuple[str, str], float], across: str, down: str, title: str) -> "Figure":
    """Draws a value per combination of two options, as a colour and a number. The highest is bold.

    Args:
        cells: values by the labels of column and row, both in order of first occurrence.
        across, down: the options' names, which label the axes.
        title: the title, which says what the values are.

    Raises:
        ToucheError: if matplotlib isn't installed.
    """
    columns = list(dict.fromkeys(column for column, _ in cells))
    rows = list(dict.fromkeys(row for _, row in cells))
    least = min(cells.values())
    most = max(cells.values())
    # Combinations without a value are white.
    grid = [[cells.get((column, row), nan) for column in columns] for row in rows]
    # Row labels and the colour bar take 2.2 inches, title and column labels 1.4.
    with _styled_figure(2.2 + _CELL_WIDTH * len(columns), 1.4 + _CELL_HEIGHT * len(rows)) as figure:
        axes = figure.subplots()
        image = axes.imshow(grid, cmap="viridis", aspect="auto")  # perceptually uniform, even in grey
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
    """Writes a figure as SVG and PNG, always with the same bytes. Text in SVG stays searchable.

    Args:
        figure: the figure.
        path: the file, without suffix.

    Raises:
        InputError: if the folder isn't writable.
    """
    # SVG contains text rather than letter shapes, and always the same ids. None leaves out metadata
    # that changes: time and version.
    settings = {"svg.fonttype": "none", "svg.hashsalt": "touche"}
    formats = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
    with imported("matplotlib", "analysis").rc_context(settings), warnings.catch_warnings():
        # No warning for letters missing from the font: the same names are in tables next to the
        # plots.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        for kind, metadata in formats.items():
            buffer = BytesIO()
            # A PNG's sides are below 2^16 pixels, which a plot of 1,400 runs would exceed.
            dpi = min(200, 65_000 / max(figure.get_size_inches()))
            figure.savefig(buffer, format=kind, metadata=metadata, dpi=dpi)
            figure.set_layout_engine("none")  # keep this layout for the next format
            with whole(path.with_name(f"{path.name}.{kind}")) as file:
                file.write(buffer.getvalue())
