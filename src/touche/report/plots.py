"""The plots of a report, in colours that colour-blind readers tell apart (Okabe and Ito 2008)."""

import re
import warnings
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touche.errors import ToucheError, installing
from touche.files import whole
from touche.regression.running import Outcome
from touche.report.records import BASELINE, GIVEN, PUBLISHED, Place, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#767676"
_INK = "#010203"  # black, but for the page, which replaces it by the colour of its text
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "axes.spines.top": False,
    "axes.spines.right": False,
    **{
        f"{name}color": _INK
        for name in ("text.", "axes.label", "axes.edge", "xtick.", "ytick.", "axes.title")
    },
}
_LOOKS = {  # colour, marker, and what the legend says; form tells apart what colour does not
    GIVEN: (_ORANGE, "D", "given runs"),
    BASELINE: (_BLUE, "s", "the organizers' baseline"),
    PUBLISHED: (_GREY, "o", "published results"),
}
_NOTED = (0, (1, 1))  # dotted
_LEGEND: dict[str, Any] = {"labelcolor": _INK, "fontsize": 9}
_WIDTH, _ROW = 7.5, 0.24  # inches
_LONGEST_LABEL = 48  # characters


def intervals(board: Sequence[Place], xlabel: str) -> "Figure":
    """Means with their 95% confidence intervals, the best on top, like figure 1 of the overview of 2020.

    Printed intervals that are none of 95% are dotted, and the legend says so.
    """
    board = [place for place in board if place.value is not None]
    figure, axes = _figure(1, 0.9 + _ROW * len(board))
    for height, place in enumerate(reversed(board)):
        _draw(axes[0], height, place)
    axes[0].set_yticks(range(len(board)), [_label(place.name) for place in reversed(board)])
    axes[0].set_ylim(-0.7, len(board) - 0.3)
    axes[0].set_xlabel(xlabel)
    axes[0].grid(axis="x", color=_GREY, alpha=0.3, linewidth=0.5)
    if (entries := _explain(axes[0], board)) > 1:
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


def differences(view: View) -> "Figure":
    """How much the first run scores above or below each of the others, topic by topic."""
    first, *others = view.runs
    limit = 1.1 * max(map(view.spread, view.topics), default=0.0) or 1.0
    figure, axes = _figure(len(others), 0.4 + 1.7 * len(others))
    for axis, run in zip(axes, others, strict=True):
        found = {topic: _difference(view, first, run, topic) for topic in view.topics}
        ordered = sorted(
            ((value, topic) for topic, value in found.items() if value is not None), reverse=True
        )
        colours = [_BLUE if value > 0 else _ORANGE for value, _ in ordered]
        axis.bar(range(len(ordered)), [value for value, _ in ordered], color=colours, width=0.8)
        axis.set_xticks(range(len(ordered)), [topic for _, topic in ordered], rotation=90, fontsize=6)
        axis.set_title(f"{_label(first)} minus {_label(run)}", fontsize=9, loc="left", color=_INK)
        axis.set_ylim(-limit, limit)
        axis.axhline(0, color=_INK, linewidth=0.6)
        axis.margins(x=0.01)
    axes[-1].set_xlabel("topic")
    return figure


def usage(outcomes: Sequence[Outcome]) -> "Figure":
    """Wall time and peak memory of every run of a regression."""
    used = {
        f"{each.expected.command}, {each.expected.dataset}": each.usage for each in outcomes if each.usage
    }
    names = list(reversed(used))
    figure, (left, right) = _figure(1, 0.8 + _ROW * len(used), columns=2)
    for axis, label, values in (
        (left, "seconds", [used[name].wall for name in names]),
        (right, "MB at the most", [(used[name].memory or nan) / 1e6 for name in names]),
    ):
        axis.barh(range(len(names)), values, color=_BLUE, height=0.7)
        axis.set_xlabel(label)
        axis.set_ylim(-0.6, len(names) - 0.4)
        axis.grid(axis="x", color=_GREY, alpha=0.3, linewidth=0.5)
    left.set_yticks(range(len(names)), map(_label, names))
    right.set_yticks([])
    return figure


def saved(figure: "Figure", path: Path) -> str:
    """Writes a figure as SVG and PNG, the same bytes every time, and returns the SVG for a page.

    Args:
        figure: the figure.
        path: the file, without suffix.

    Returns:
        The SVG element; black is the colour of the page's text, and text remains text.

    Raises:
        InputError: if the folder cannot be written.
    """
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "touche"}):
        drawn = {
            kind: _bytes(figure, kind, metadata)
            for kind, metadata in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None}))
        }
    for kind, content in drawn.items():
        with whole(path.with_suffix(f".{kind}")) as file:
            file.write(content)
    element = drawn["svg"].decode()
    element = element[element.index("<svg") :].replace(_INK, "currentColor")
    return re.sub(
        r'(\bid="|url\(#|href="#)', rf"\1{path.name}-", element
    )  # ids are of the page, not of the figure


def _bytes(figure: "Figure", kind: str, metadata: Mapping[str, str | None]) -> bytes:
    buffer = BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Glyph .* missing"
        )  # names in other scripts; the page has them as text
        figure.savefig(buffer, format=kind, metadata=metadata, dpi=200, transparent=kind == "svg")
    figure.set_layout_engine("none")  # it is laid out by now
    return buffer.getvalue()


def _figure(rows: int, height: float, columns: int = 1) -> "tuple[Figure, list[Axes]]":
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        problem = "matplotlib is not installed"
        raise ToucheError(f"{problem}; get it with: {installing('analysis')}") from error

    with rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).flat
    return figure, list(axes)


def _difference(view: View, run: str, other: str, topic: str) -> float | None:
    values = (view.value(run, topic), view.value(other, topic))
    return None if None in values else values[0] - values[1]  # type: ignore[operator]


def _label(name: str) -> str:
    """A name that leaves room for the plot; of a path the end tells most."""
    return name if len(name) <= _LONGEST_LABEL else f"…{name[-_LONGEST_LABEL + 1 :]}"
