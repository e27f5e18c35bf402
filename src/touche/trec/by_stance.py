"""Runs in which each stance of a topic has its own ranking, as in image retrieval. Rankings are named by
topic and stance, such as ``1 PRO``.

Which lines of a run count is decided as in the organizers' script, submission-evaluator.sh in
touche-webis-de/touche-code.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from pathlib import Path

from touche.errors import counted as count_of
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
_REMEDY = "write it as 0.00001, without e"  # what to do about scores such as 1e-5


def ranking_names(topics: Iterable[str], stances: Sequence[str]) -> list[str]:
    """Returns the names of all rankings, such as ``1 PRO``. If ``stances`` is empty, these are the topics."""
    if not stances:
        return list(topics)
    return [f"{topic} {stance}" for topic in topics for stance in stances]


def topic_in(ranking: str) -> str:
    """Returns the topic in a ranking's name."""
    return ranking.partition(" ")[0]


def in_rankings(runs: Sequence[Run]) -> list[Run]:
    """Returns runs. If one of the runs has a ranking per stance, names such as ``1 PRO`` replace the topics
    of all runs.
    """
    stances_have_rankings = any(run.ranks_stances for run in runs)
    return [run.by_stance() if stances_have_rankings else run for run in runs]


@dataclass(frozen=True)
class CountedLines:
    """Which lines of a run the organizers' script counts.

    Attributes:
        stances: the stances that have rankings.
        ids: a regular expression for document ids.
        depth: the largest rank that counts.
        topics: the topics' numbers; None if unknown.
    """

    stances: tuple[str, ...]
    ids: str
    depth: int
    topics: frozenset[str] | None


def counted(run: Run, rule: CountedLines) -> tuple[Run, list[LineError]]:
    """Returns the lines that the organizers' script counts, with names such as ``1 PRO`` instead of topics.

    Args:
        run: the run, whose lines are in the order of the file.
        rule: which lines count.

    Returns:
        The lines that count, and an error for each line that doesn't. An error's kind is ``unknown-topic``,
        ``unknown-stance``, ``id``, ``rank`` or ``score``.
    """
    kept = list[int]()
    errors = list[LineError]()
    # The rank of the last line and the score of the last line that counted, both by the ranking's name. They
    # can be from different lines, because the script remembers a line's rank before it checks the score.
    last_ranks = dict[str, int]()
    last_scores = dict[str, float]()
    for index, (number, line) in enumerate(zip(run.line_numbers.tolist(), run, strict=True)):
        ranking = f"{line.topic} {line.stance}"
        problem = _problem(line, rule) or _wrong_rank(line, last_ranks.get(ranking, 0), ranking)
        if not problem:
            last_ranks[ranking] = line.rank
            problem = _wrong_score(line, last_scores.get(ranking, inf), ranking)
        if isnan(line.score):
            continue  # skip the line: there is already an error about it in ``run.unread``
        if problem:
            kind, text, remedy = problem
            add_error(errors, LineError(kind, run.path, problem=text, remedy=remedy, line=number), run.path)
        else:
            last_scores[ranking] = line.score
            kept.append(index)
    return run.take(kept).by_stance(), errors


def _problem(line: RunLine, rule: CountedLines) -> tuple[str, str, str] | None:
    """Returns why the script skips a line whatever the other lines are: kind, problem and remedy. Returns
    None if it doesn't skip the line.
    """
    if rule.topics is not None and line.topic not in rule.topics:
        return "unknown-topic", f"{quoted(line.topic)} is not a topic of the task", "remove the line"
    if line.stance not in rule.stances:
        remedy = f"write {' or '.join(rule.stances)} in the second column"
        return "unknown-stance", f"stance {quoted(line.stance)} is not one of the task", remedy
    if not re.fullmatch(rule.ids, line.document):
        problem = f"{quoted(line.document)} does not have the form {rule.ids}"
        return "id", problem, "use the ids of the task's collection"
    if not 1 <= line.rank <= rule.depth:
        return "rank", f"rank {line.rank} is not from 1 to {rule.depth}", "return fewer results"
    return None


def _wrong_rank(line: RunLine, above: int, ranking: str) -> tuple[str, str, str] | None:
    """Returns why the script skips a line if its rank isn't larger than the rank of the line above in the
    ranking; None if it is.
    """
    if line.rank > above:
        return None
    return "rank", f"rank {line.rank} comes after rank {above} of {ranking}", "order the lines by rank"


def _wrong_score(line: RunLine, above: float, ranking: str) -> tuple[str, str, str] | None:
    """Returns why the script skips a line if its score is higher than that of the last line that counted;
    None if it isn't.
    """
    if not line.score > above:
        return None
    problem = f"score {line.score} at rank {line.rank} of {ranking} is above {above}"
    return "score", problem, "rank by descending score"


def read_script_lines(path: Path, content: bytes | None = None) -> Run:
    """Reads the lines that the organizers' script can read; ``unread`` has an error for each other line.

    If the script can't read only the score of a line, there is an error for the line, but the line is also
    part of the run, with the score nan. ``counted`` needs the line's rank and then removes the line.

    Args:
        path: the file, or a name for the content.
        content: the bytes, if they aren't in a file.

    Raises:
        InputError: if the file is unreadable, or too many lines are broken.
    """
    texts = enumerate(decoded(lines_after_metadata(path, content)[0], path), 1)
    lines = list[tuple[int, RunLine]]()
    errors = list[LineError]()
    for number, text in texts:
        if text.strip():
            try:
                lines.append((number, _script_line(text.rstrip("\r\n"), path, number)))
                if isnan(lines[-1][1].score):
                    score = quoted(split_columns(text)[4])
                    problem = f"score {score} is not a decimal number"
                    raise LineError("score", path, problem=problem, remedy=_REMEDY, line=number)
            except LineError as error:
                add_error(errors, error, path)
    columns = Columns()
    columns.add_lines(lines)
    return replace(columns.run(path), unread=tuple(errors))


def _script_line(text: str, path: Path, number: int) -> RunLine:
    """Parses a line with six columns and a rank in the form that the script reads.

    Returns:
        The line. Its score is nan if it isn't written in the form that the script reads.

    Raises:
        LineError: if the script skips the line for another reason.
    """
    columns = split_columns(text)
    if len(columns) != 6:
        remedy = "write: topic stance document rank score tag, and a tag without blanks"
        problem = f"{count_of(len(columns), 'column')} instead of 6"
        raise LineError("columns", path, problem=problem, remedy=remedy, line=number)
    rank, score = columns[3:5]
    if not _RANK.fullmatch(rank):
        remedy = "number the lines of each ranking from 1"
        raise LineError(
            "rank", path, problem=f"rank {quoted(rank)} is not from 1", remedy=remedy, line=number
        )
    if _SCORE.fullmatch(score):
        return parse_line(text, path, number)
    columns[4] = "0"
    return replace(parse_line(" ".join(columns), path, number), score=nan)
