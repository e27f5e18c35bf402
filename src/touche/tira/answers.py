"""Keeps the dates of search engines' answers, for the metadata of the run that used them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any

_Dates = dict[str, list[datetime]]  # by search engine

_dates_of_run: ContextVar[_Dates | None] = ContextVar("dates of answers", default=None)  # None between runs


@contextmanager
def noting_answers() -> Iterator[_Dates]:
    """Yields the dates of the answers that ``note_answer`` notes in this block."""
    dates: _Dates = {}
    token = _dates_of_run.set(dates)
    try:
        yield dates
    finally:
        _dates_of_run.reset(token)


def note_answer(engine: str, date: datetime) -> None:
    """Notes when a search engine answered; does nothing outside of ``noting_answers``."""
    dates = _dates_of_run.get()
    if dates is not None:
        dates.setdefault(engine, []).append(date)


def data_of_answers(dates: _Dates) -> dict[str, Any]:
    """Returns each engine's number of answers, and first and last date, for a run's metadata."""
    engines = {
        engine: {
            "answers": len(engine_dates),
            "first": min(engine_dates).isoformat(timespec="seconds"),
            "last": max(engine_dates).isoformat(timespec="seconds"),
        }
        for engine, engine_dates in dates.items()
    }
    return {"search engines": engines} if engines else {}
