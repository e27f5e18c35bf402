"""The columns of scores in printed tables and on pages. CSV, JSON and frames contain all fields."""

from typing import Any

from touche.errors import one_line
from touche.io.tables import Column, interval, three_decimals, with_commas
from touche.tasks.measures import measure_of

_RUN = [Column("run", "name")]
_RUN_OF_TEAM = [
    Column("team", lambda row: row.team or None, missing="no team is known"),
    Column("run", lambda row: name_in_team(row)),
]
_DIMENSION = Column("dimension", "label")
_EVALUATOR = Column("evaluator", "evaluator")
_INTERVAL = Column("95% interval", interval, missing="an interval needs at least two topics")
_TOPICS = Column("topics", "topics")
_NO_BOUNDS = (
    "only nDCG@k, P@k, RR and AP@k have bounds; means of touche only if each topic has a relevant document"
)
_BOUNDS = [
    Column("least", "least", three_decimals, missing=_NO_BOUNDS),
    Column("greatest", "greatest", three_decimals, missing=_NO_BOUNDS),
]


def name_in_team(row: Any) -> str:
    """Returns a run's name for tables with a column for the team: if the name is
    ``TEAM (TAG)``, only the tag.
    """
    is_told_apart_by_team = row.name == one_line(f"{row.team} ({row.tag})")
    return str(row.tag if is_told_apart_by_team else row.name)


def mean_columns(measure: str, *, with_bounds: bool = False, with_teams: bool = False) -> list[Column]:
    """Returns the columns of rankings' means."""
    return [
        *(_RUN_OF_TEAM if with_teams else _RUN),
        _DIMENSION,
        _EVALUATOR,
        Column(measure, "mean", three_decimals, missing="there is no topic to average over"),
        _INTERVAL,
        *_judged_column(measure),
        *(_BOUNDS if with_bounds else []),
        _TOPICS,
    ]


def topic_columns(measure: str, *, with_bounds: bool = False, with_teams: bool = False) -> list[Column]:
    """Returns the columns of topics' scores."""
    return [
        *(_RUN_OF_TEAM if with_teams else _RUN),
        _DIMENSION,
        _EVALUATOR,
        Column("topic", "topic"),
        Column(measure, "value", three_decimals),
        *_judged_column(measure),
        *(_BOUNDS if with_bounds else []),
        Column("title", "title"),
    ]


def stance_columns(measure: str, *, with_teams: bool = False) -> list[Column]:
    """Returns the columns of detected stances' scores."""
    mean = Column(measure, "mean", three_decimals, missing="no document has a judged stance")
    run = _RUN_OF_TEAM if with_teams else _RUN
    return [*run, _DIMENSION, mean, _INTERVAL, Column("N", "results", with_commas), _TOPICS]


def page_columns(measure: str) -> list[Column]:
    """Returns those columns of the report's leaderboards that are filled only for the user's runs, not for
    published ones.
    """
    return [*_judged_column(measure), Column("Bounds", _least_to_greatest)]


def _judged_column(measure: str) -> list[Column]:
    """Returns a list with the column Judged@k; empty if Judged@k is the measure that runs are scored with."""
    judged = measure_of(measure).judged
    is_share = measure_of(measure).is_judged_share
    return [] if is_share else [Column(judged, "judged", "{:.2f}".format, missing="the run lacks the topic")]


def _least_to_greatest(score: Any) -> str | None:
    """Formats a mean's bounds; returns None if it has none."""
    return None if score.least is None else f"{score.least:.3f} to {score.greatest:.3f}"
