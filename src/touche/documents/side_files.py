"""Scores for pages from elsewhere, such as the Waterloo spam ranks: a number and an id per line."""

from collections.abc import Container, Iterable
from pathlib import Path

from touche.errors import InputError
from touche.io.identifiers import quoted
from touche.io.opening import read_lines
from touche.trec.runs import decimal, split_columns
from touche.trec.topics import paths_named

SPAM_RANKS = "spam-ranks.txt"
PAGE_RANKS = "page-ranks.txt"


def side_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Selects the side files, which rate web pages, plain or compressed."""
    return paths_named(paths, (SPAM_RANKS, PAGE_RANKS))


def read_scores(path: Path, wanted: Container[str]) -> dict[str, float]:
    """Reads pages' scores from lines such as ``73 clueweb12-0000tw-00-00000``, in any order.

    The columns may be swapped, and the file gzipped. Memory depends only on the number of ``wanted`` ids.

    Raises:
        InputError: if a line is not a number and an id, or repeats a wanted id.
    """
    scores: dict[str, float] = {}
    for line, text in read_lines(path):  # no blank lines, so there is a first column
        columns = split_columns(text)
        if decimal(columns[0]) is None:  # the id may come first
            columns.reverse()
        score = decimal(columns[0])
        if len(columns) != 2 or score is None:
            problem = f"{quoted(text.strip())} is not a number and an id"
            raise InputError(path, problem, "write lines such as: 73 PAGE", line=line)
        page_id = columns[1]
        if page_id in scores:
            raise InputError(
                path, f"page {page_id!r} occurs a second time", "remove one of the two", line=line
            )
        if page_id in wanted:
            scores[page_id] = score
    return scores
