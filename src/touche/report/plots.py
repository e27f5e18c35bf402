"""Plots for papers, in colours that colour-blind readers tell apart (Okabe and Ito 2008)."""

import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche.errors import ToucheError, installing
from touche.io.writing import whole
from touche.report.records import BASELINE, GIVEN, PUBLISHED, Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#767676"
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LOOKS = {  # colour, marker, and what the legend says; form tells apart what colour does not
    GIVEN: (_ORANGE, "D", "given runs"),
    BASELINE: (_BLUE, "s", "the organizers' baseline"),
    PUBLISHED: (_GREY, "o", "published results"),
}
_NOTED = (0, (1, 1))  # dotted
_LEGEND: dict[str, Any] = {"fontsize": 9}
_WIDTH, _ROW = 7.5, 0.24  # inches
_LONGEST_LABEL = 48  # characters


def intervals(board: Sequence[Place], xlabel: str) -> "Figure":
    """Means with their 95% confidence intervals, the best on top, like figure 1 of the overview of 2020.

    Printed intervals that are none of 95% are dotted, and the legend says so.
    """
    board = [place for place in board if place.value is not None]
    figure, axes = _figure(0.9 + _ROW * len(board))
    for height, place in enumerate(reversed(board)):
        _draw(axes, height, place)
    axes.set_yticks(range(len(board)), [_label(place.name) for place in reversed(board)])
    for label in axes.get_yticklabels():  # made outside of the style
        label.set_parse_math(False)
    axes.set_ylim(-0.7, len(board) - 0.3)
    axes.set_xlabel(xlabel)
    axes.grid(axis="x", color=_GREY, alpha=0.3, linewidth=0.5)
    if (entries := _explain(axes, board)) > 1:
        figure.legend(loc="outside upper right", ncols=entries, frameon=False, **_LEGEND)
    return figure


def _draw(axes: "Axes", height: int, place: Place) -> None:
    """A mean, hollow where it is not comparable, on its interval."""
    colour, marker, _ = _LOOKS[place.kind]
    if place.low is not None and place.high is not None:
        line: dict[str, Any] = {"linewidth": 1.5, "linestyle": _NOTED if place.note else "-", "zorder": 1}
        axes.plot([place.low, place.high], [height, height], color=colour, **line)
    fill = "white" if place.doubtful else colour
    axes.plot(place.value or 0.0, height, color=colour, marker=marker, markersize=5, markerfacecolor=fill)


def _explain(axes: "Axes", board: Sequence[Place]) -> int:
    """Names what is drawn, for a legend; how many names it takes."""
    kinds = [kind for kind in _LOOKS if any(place.kind == kind for place in board)]
    for colour, marker, name in (_LOOKS[kind] for kind in kinds):
        axes.plot([], [], color=colour, marker=marker, label=name)
    noted = any(place.note for place in board)
    if noted:
        axes.plot([], [], color=_GREY, linestyle=_NOTED, label="not a 95% interval")
    return len(kinds) + noted


def save(figure: "Figure", path: Path) -> None:
    """Writes a figure as SVG and PNG, the same bytes every time; text remains text.

    Args:
        figure: the figure.
        path: the file, without suffix.

    Raises:
        InputError: if the folder cannot be written.
    """
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "touche"}):
        for kind, metadata in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None})):
            with whole(path.with_name(f"{path.name}.{kind}")) as file:
                file.write(_bytes(figure, kind, metadata))


def _bytes(figure: "Figure", kind: str, metadata: Mapping[str, str | None]) -> bytes:
    buffer = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Glyph .* missing"
        )  # names in other scripts; the page has them as text
        figure.savefig(buffer, format=kind, metadata=metadata, dpi=200)
    figure.set_layout_engine("none")  # it is laid out by now
    return buffer.getvalue()


def _figure(height: float) -> "tuple[Figure, Axes]":
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        problem = "matplotlib is not installed"
        raise ToucheError(f"{problem}; get it with: {installing('analysis')}") from error

    with rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        return figure, figure.subplots()


def _label(name: str) -> str:
    """A name that leaves room for the plot; of a path the end tells most."""
    return name if len(name) <= _LONGEST_LABEL else f"…{name[-_LONGEST_LABEL + 1 :]}"
