"""Leaderboards as files that a page offers for download, in CSV and LaTeX."""

from base64 import b64encode
from dataclasses import dataclass

from touche.evaluation.score_columns import name_in_team
from touche.io.formats import LATEX, csv_text
from touche.io.tables import Column, Sheet, interval, three_decimals
from touche.reports.report_records import BASELINE, View
from touche.trec.framed import Table


@dataclass(frozen=True)
class BoardLine:
    """A row of a leaderboard.

    Attributes:
        place: the rank; None for a run without one.
        team: the team; empty if unknown.
        run: the run's tag, or its path if several of the team's runs have this tag. A published run without a
            tag has its name in the published table.
        is_baseline: whether it's an organizers' published baseline, or a given run that is marked as one.
        is_yours: whether the user passed the run.
        dimension, evaluator, measure: what the value is.
        value: the mean, with six decimals; None without topics.
        low, high: its 95% interval, or the published one; None if unknown.
    """

    place: int | None
    team: str
    run: str
    is_baseline: bool
    is_yours: bool
    dimension: str
    evaluator: str
    measure: str
    value: float | None
    low: float | None
    high: float | None


def board_lines(view: View) -> Table[BoardLine]:
    """Returns the rows of a view's leaderboard, best first."""
    lines = list[BoardLine]()
    for row in view.board:
        published = row.published.row if row.published else None
        if row.score:
            team, run = row.score.team, name_in_team(row.score)
        else:
            assert published is not None  # a row has at least one of them
            team, run = published.team, published.tag or published.run
        lines.append(
            BoardLine(
                place=row.number,
                team=team,
                run=run,
                is_baseline=row.look == BASELINE,
                is_yours=row.score is not None,
                dimension=view.dimension,
                evaluator=view.evaluator,
                measure=str(view.measure),
                value=_rounded(row.value),
                low=_rounded(row.shown.low),
                high=_rounded(row.shown.high),
            )
        )
    return Table(BoardLine, tuple(lines))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)  # more digits would make pages larger


def board_csv(view: View) -> str:
    """Returns the address of a leaderboard in CSV, with all columns of ``BoardLine``."""
    return _address("text/csv", csv_text(board_lines(view)))


def board_latex(view: View) -> str:
    """Returns the address of a leaderboard in LaTeX using booktabs."""
    lines = board_lines(view)
    columns = [
        Column("", "place"),
        Column("Team", "team"),
        Column("Run", lambda line: f"{line.run} (baseline)" if line.is_baseline else line.run),
        Column(str(view.measure), "value", three_decimals),
        Column("95% interval", interval),
    ]
    title = f"{view.dimension}, {view.evaluator}"
    return _address("application/x-tex", LATEX.sheet(Sheet(columns, lines, above=[title])) + "\n")


def _address(media_type: str, text: str) -> str:
    """Returns a data address, so that the page needs neither a script nor another file."""
    return f"data:{media_type};charset=utf-8;base64,{b64encode(text.encode()).decode()}"
