"""Runs with a ranking per stance, as in image retrieval. A ranking is named ``1 PRO``.

Lines count like in the organizers' script, submission-evaluator.sh in touche-webis-de/touche-code.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path

from touche.errors import counted
from touche.io.identifiers import quoted
from touche.io.opening import decoded
from touche.trec.columns import Columns, Run, RunLine
from touche.trec.runs import (
    MOST_DIGITS,
    LineError,
    add_error,
    lines_after_metadata,
    parse_line,
    split_columns,
)

_RANK = re.compile(f"[1-9][0-9]{{0,{MOST_DIGITS - 1}}}")
_SCORE = re.compile(r"-?[0-9]+\.?[0-9]*")


def ranking_names(topics: Iterable[str], stances: Sequence[str]) -> list[str]:
    """Returns all rankings' names, such as ``1 PRO``; the topics if ``stances`` is empty."""
    if not stances:
        return list(topics)
    return [f"{topic} {stance}" for topic in topics for stance in stances]


def topic_in(ranking: str) -> str:
    """Returns the topic in a ranking's name."""
    return ranking.partition(" ")[0]


def in_rankings(runs: Sequence[Run]) -> list[Run]:
    """Returns runs. If one of them has a ranking per stance, names such as ``1 PRO`` replace all topics."""
    stances_have_rankings = any(run.ranks_stances for run in runs)
    return [run.by_stance() if stances_have_rankings else run for run in runs]


def read_counted(
    path: Path,
    stances: Sequence[str],
    ids: str,
    depth: int,
    topics: Collection[str] | None,
    content: bytes | Run | None = None,
) -> tuple[Run, list[LineError]]:
    """Reads a run; returns the lines that the script counts, and an error for each line that it skips.

    An error's kind is ``unknown-topic`` or ``unknown-stance``, or as in ``LineError``.

    Args:
        path: the file, or a name for the content.
        stances: the stances that have rankings.
        ids: a regular expression for document ids.
        depth: the largest rank.
        topics: the topics' numbers; None if unknown.
        content: the bytes or the run, if it isn't in a file.

    Raises:
        InputError: if the file is unreadable, or too many lines are broken.
    """
    lines: Iterable[tuple[int, str]]
    if isinstance(content, Run):
        lines = zip(content.numbers.tolist(), content.lines_with(content.scores.tolist()), strict=True)
    else:
        texts = enumerate(decoded(lines_after_metadata(path, content)[0], path), 1)
        lines = ((number, text.rstrip("\r\n")) for number, text in texts if text.strip())
    counted = list[tuple[int, RunLine]]()
    skipped = list[LineError]()
    last_lines = dict[str, RunLine]()  # by ranking's name, such as ``1 PRO``
    for number, text in lines:
        try:
            _check_columns(text, path, number, stances, ids, depth, topics)
            line = parse_line(text, path, number)
            ranking = f"{line.topic} {line.stance}"
            if ranking in last_lines:
                _check_order(line, last_lines[ranking], ranking, path, number)
            last_lines[ranking] = line
            counted.append((number, line))
        except LineError as error:
            add_error(skipped, error, path)
    columns = Columns()
    columns.add_lines(counted)
    return columns.run(path), skipped


def _check_columns(
    text: str,
    path: Path,
    number: int,
    stances: Sequence[str],
    ids: str,
    depth: int,
    topics: Collection[str] | None,
) -> None:
    """Checks a line's columns like the organizers' script.

    Args:
        text: the line.
        path, number: its file and line number, for errors.
        stances, ids, depth, topics: as in ``read_counted``.

    Raises:
        LineError: if the script skips the line.
    """
    line_error = partial(LineError, path=path, line=number)
    columns = split_columns(text)
    if len(columns) != 6:
        remedy = f"write: topic {'|'.join(stances)} document rank score tag, and a tag without blanks"
        raise line_error("columns", problem=f"{counted(len(columns), 'column')} instead of 6", remedy=remedy)
    topic, stance, document, rank, score, _ = columns
    if topics is not None and topic not in topics:
        raise line_error(
            "unknown-topic", problem=f"{quoted(topic)} is not a topic of the task", remedy="remove the line"
        )
    if stance not in stances:
        raise line_error(
            "unknown-stance",
            problem=f"stance {quoted(stance)} is not one of the task",
            remedy=f"write {' or '.join(stances)} in the second column",
        )
    if not re.fullmatch(ids, document):
        problem = f"{quoted(document)} does not have the form {ids}"
        raise line_error("id", problem=problem, remedy="use the ids of the task's collection")
    if not _RANK.fullmatch(rank) or int(rank) > depth:
        raise line_error(
            "rank", problem=f"rank {rank} is not from 1 to {depth}", remedy="return fewer results"
        )
    if not _SCORE.fullmatch(score):
        problem = f"score {quoted(score)} is not a decimal number"
        raise line_error("score", problem=problem, remedy="write it as 0.00001, without e")


def _check_order(line: RunLine, above: RunLine, ranking: str, path: Path, number: int) -> None:
    """Raises a LineError unless a line's rank is below, and its score at most, that of the line above.

    Args:
        line: the line.
        above: the last line of the same ranking.
        ranking: the ranking's name, such as ``1 PRO``.
        path, number: file and line number, for errors.
    """
    if line.rank <= above.rank:
        problem = f"rank {line.rank} comes after rank {above.rank} of {ranking}"
        raise LineError("rank", path=path, problem=problem, remedy="order the lines by rank", line=number)
    if line.score > above.score:
        problem = f"score {line.score} at rank {line.rank} of {ranking} is above {above.score}"
        raise LineError("score", path=path, problem=problem, remedy="rank by descending score", line=number)
