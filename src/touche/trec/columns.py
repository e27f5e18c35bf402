"""Runs as columns with an element per line: the input for scores, warnings and comparisons."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from touche.errors import check_choice
from touche.io.identifiers import expanded
from touche.io.optional import imported
from touche.io.writing import write_whole
from touche.trec.framed import FRAME_NAMES, Shown

if TYPE_CHECKING:
    from ir_measures import ScoredDoc  # not installed in images
    from pandas import DataFrame

Lines = NDArray[np.intp]  # line indices
Order = Mapping[str, Lines]  # each topic's lines
_RANKED_STANCES = {"PRO", "CON"}  # stances that can have their own rankings
NO_STANCE = "Q0"  # the second column of lines without a stance
_NO_STANCES = {"Q0", "QO", "ITER", "ITERATION", "-"}  # what other tools write there, or one number
_COLUMNS = "topics stances documents ranks scores tags line_numbers".split()
_NO_LINES = np.empty(0, np.intp)  # joined with all rankings, because numpy can't join zero arrays


@dataclass(frozen=True, slots=True)
class RunLine:
    """A line in a run.

    Attributes:
        topic: the topic's id.
        stance: the second column: the predicted stance (2022 task 2), or ``Q0``, also for ``ITER`` or for
            the same number on all lines.
        document: the id of the document or sentence pair.
        rank: the rank in the file, which can start at 0 or 1.
        score: the score in the file.
        tag: the rest of the line, including blanks.
    """

    topic: str
    stance: str
    document: str
    rank: int
    score: float
    tag: str


def split_lines(lines: Sequence[bytes], width: int) -> list[list[bytes]] | None:
    """Splits all lines into ``width`` columns at ASCII whitespace.

    Returns:
        Each column's cells; None if a line has another number of cells or a null character.
    """
    # Splitting all lines at once is faster. A null character after each line becomes one more cell.
    # If each null follows ``width`` other cells and the lines contain no nulls, each line has
    # ``width`` cells.
    text = b" \0 ".join([*lines, b""])
    cells = text.split()
    has_nulls = text.count(b"\0") != len(lines)
    last_cells = cells[width :: width + 1]
    if has_nulls or len(cells) != (width + 1) * len(lines) or last_cells.count(b"\0") != len(lines):
        return None
    return [cells[column :: width + 1] for column in range(width)]


def _encoded(words: Sequence[str], codes: defaultdict[str, int]) -> NDArray[np.int32]:
    """Returns words' codes; new words get the next ones."""
    if words and words.count(words[0]) == len(words):  # most tags and stances, and many topics
        return np.full(len(words), codes[words[0]], np.int32)
    return np.fromiter(map(codes.__getitem__, words), np.int32, len(words))


@dataclass(frozen=True)
class Words:
    """A column with few distinct words.

    Attributes:
        words: distinct words in order of first occurrence.
        codes: the index of each line's word in ``words``.
    """

    words: Sequence[str]
    codes: NDArray[np.int32]

    @classmethod
    def encode(cls, column: Sequence[str]) -> "Words":
        """Creates a column from its words, one per line."""
        code_by_word = defaultdict[str, int](count().__next__)
        codes = _encoded(column, code_by_word)
        return cls([*code_by_word], codes)

    def __getitem__(self, lines: Any) -> "Words":
        """Returns some lines' column."""
        return Words(self.words, self.codes[lines])

    def __iter__(self) -> Iterator[str]:
        return (self.words[code] for code in self.codes.tolist())

    @property
    def present(self) -> list[str]:
        """The distinct words, in line order."""
        _, first_lines = np.unique(self.codes, return_index=True)
        return [self.words[code] for code in self.codes[np.sort(first_lines)]]


@dataclass(frozen=True, eq=False)
class Run(Sequence[RunLine], Shown):
    """A run as columns. It is also the sequence of its lines, in file order.

    Attributes:
        path: the file, or the name of a run without a file.
        topics, stances, tags: each line's words.
        documents: each line's document id.
        ranks, scores: ranks and scores as written.
        line_numbers: each line's number in the file, from 1.
        unread: an error for each line of the file that couldn't be read. Only the reader of runs with a
            ranking per stance skips such lines; for the others, the first one is an error.
    """

    path: Path
    topics: Words
    stances: Words
    documents: NDArray[np.object_]
    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    tags: Words
    line_numbers: NDArray[np.int64]
    unread: tuple[Any, ...] = field(default=(), repr=False)  # of ``runs.LineError``

    @classmethod
    def of(cls, lines: Iterable[RunLine], path: Path | str = "run") -> "Run":
        """Creates a run from lines. A run is returned unchanged.

        Args:
            lines: the lines, in order.
            path: the file, or the name of a run without a file.
        """
        if isinstance(lines, Run):
            return lines
        columns = Columns()
        columns.add_lines([*enumerate(lines, 1)])
        return columns.run(path)

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[RunLine]:
        ranks = self.ranks.tolist()
        scores = self.scores.tolist()
        return map(RunLine, self.topics, self.stances, self.documents, ranks, scores, self.tags)

    @overload
    def __getitem__(self, index: int) -> RunLine: ...
    @overload
    def __getitem__(self, index: slice) -> "Run": ...
    def __getitem__(self, index: int | slice) -> Any:
        """Returns a line, or a slice of lines in file order."""
        if isinstance(index, slice):
            return self.take(index)
        position = range(len(self))[index]  # counts negative indices from the end, or raises an IndexError
        return next(iter(self.take([position])))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({str(self.path)!r}, {len(self):,} lines, {len(self.by_topic):,} topics)"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def take(self, lines: Any) -> "Run":
        """Returns some lines.

        Args:
            lines: a slice, or line indices from 0.
        """
        return Run(self.path, **{name: getattr(self, name)[lines] for name in _COLUMNS})

    def called(self, name: str) -> "Run":
        """Returns the run with another name, which becomes its tag too.

        Args:
            name: the name.
        """
        return replace(self, path=Path(name), tags=Words.encode([name] * len(self)))

    def ranked_by_score(self) -> "Run":
        """Returns the run with ranks from 1 as trec_eval derives them from the scores."""
        ranks = np.empty(len(self), np.int64)
        for lines in self.by_score.values():
            ranks[lines] = np.arange(1, len(lines) + 1)
        return replace(self, ranks=ranks)

    def frame(self, names: Literal["pyterrier", "ir_measures"] = "pyterrier") -> "DataFrame":
        """Returns the run as a pandas DataFrame, topic by topic in rank order.

        Args:
            names: the columns' names. PyTerrier: qid, docno, rank (from 0) and score. ir_measures: query_id,
                doc_id and score, plus rank if stances are ranked separately. A run with stances also gets
                a column stance.

        Returns:
            A row per line; the tag is ``frame.attrs["tag"]``.

        Raises:
            ToucheError: if there are no such names, or pandas isn't installed.
        """
        check_choice("set of column names", names, FRAME_NAMES)
        pandas = imported("pandas", "analysis")
        rankings = self.rankings.by_rank.values()  # indices, which also fit the lines of ``self``
        run = self.take(np.concatenate([_NO_LINES, *rankings]))
        topics = list(run.topics)
        ranks = np.concatenate([_NO_LINES, *(np.arange(len(lines)) for lines in rankings)])
        if names == "ir_measures":
            columns = {"query_id": topics, "doc_id": run.documents, "score": run.scores}
            if self.ranks_stances:  # scores don't show that a topic has two rankings
                columns["rank"] = ranks
        else:
            columns = {"qid": topics, "docno": run.documents, "rank": ranks, "score": run.scores}
        if self.has_stances:
            columns["stance"] = list(run.stances)
        frame = pandas.DataFrame(columns)
        frame.attrs["tag"] = self.tag
        return frame

    @property
    def has_stances(self) -> bool:
        """Whether any line has a stance instead of Q0."""
        return any(stance != NO_STANCE for stance in self.stances.present)

    @property
    def ranks_stances(self) -> bool:
        """Whether ranks start again for each stance, as in image retrieval."""
        if not _RANKED_STANCES.issuperset(self.stances.present):
            return False
        # A rank occurs twice in a topic, but not for the same stance.
        return self._repeats_ranks and not self.by_stance()._repeats_ranks

    @property
    def _repeats_ranks(self) -> bool:
        """Whether a topic contains a rank twice."""
        return any(len({*self.ranks[lines].tolist()}) < len(lines) for lines in self.by_topic.values())

    @property
    def rankings(self) -> "Run":
        """The run; if stances are ranked separately, ranking names replace the topics."""
        return self.by_stance() if self.ranks_stances else self

    def by_stance(self) -> "Run":
        """Returns the run with a ranking per stance, named ``1 PRO``."""
        names = [f"{topic} {stance}" for topic, stance in zip(self.topics, self.stances, strict=True)]
        return replace(self, topics=Words.encode(names))

    def by_topic_number(self) -> "Run":
        """Returns the run with topics instead of ranking names, undoing ``by_stance``."""
        return replace(self, topics=Words.encode([name.partition(" ")[0] for name in self.topics]))

    def as_dict(self) -> dict[str, dict[str, float]]:
        """Returns document scores by topic in rank order, e.g. for pytrec_eval."""
        return {
            topic: dict(zip(self.documents[lines], self.scores[lines].tolist(), strict=True))
            for topic, lines in self.by_rank.items()
        }

    def scored_docs(self) -> "list[ScoredDoc]":
        """Returns the run as ir_measures records."""
        from ir_measures import ScoredDoc  # not installed in images

        return [
            ScoredDoc(topic, document, score)
            for topic, scores in self.as_dict().items()
            for document, score in scores.items()
        ]

    def write(self, path: str | PathLike[str]) -> None:
        """Writes a run file.

        Args:
            path: the file.

        Raises:
            ToucheError: if it can't be written.
        """
        write_whole(Path(expanded(path)), self.text())

    def text(self) -> str:
        """Returns a run file's lines."""
        return "".join(self.lines_with(self.scores.tolist()))

    def lines_with(self, scores: Iterable[object]) -> list[str]:
        """Returns a run file's lines with these scores, including line ends.

        Args:
            scores: each line's score, as it will be written.
        """
        ranks = self.ranks.tolist()
        lines = zip(self.topics, self.stances, self.documents, ranks, scores, self.tags, strict=True)
        return [
            f"{topic} {stance} {document} {rank} {score} {tag}\n"
            for topic, stance, document, rank, score, tag in lines
        ]

    @property
    def tag(self) -> str:
        """The first line's tag; empty without lines."""
        # The first of ``iter(self.tags)`` would list all lines' codes.
        return self.tags.words[self.tags.codes[0]] if len(self) else ""

    @cached_property
    def rounded(self) -> NDArray[np.float32]:
        """Scores as trec_eval reads them."""
        return self.scores.astype(np.float32)

    @cached_property
    def by_topic(self) -> Order:
        """Each topic's line indices, in file order. Topics are in the order of their first lines."""
        lines = self._split(np.argsort(self.topics.codes, kind="stable"))
        return dict(sorted(lines.items(), key=lambda topic_and_lines: int(topic_and_lines[1][0])))

    @cached_property
    def by_score(self) -> Order:
        """trec_eval's order: descending float32 score, ties by descending document id."""
        return self.order_of(self.rounded)

    @cached_property
    def by_rank(self) -> Order:
        """Ordered by the rank column; equal ranks keep file order."""
        return self._by_topic(np.lexsort((self.ranks, self.topics.codes)))

    @property
    def by_score_and_rank(self) -> Order:
        """Ordered by descending float32 score, ties by rank."""
        return self._by_topic(np.lexsort((self.ranks, -self.rounded, self.topics.codes)))

    def order_of(self, scores: NDArray[Any]) -> Order:
        """Returns each topic's lines by descending score, ties by descending document id.

        Args:
            scores: each line's score.
        """
        # All topics at once, because a run can have many thousand topics with a few lines each.
        lines = np.lexsort((-scores, self.topics.codes))
        same_score = scores[lines][1:] == scores[lines][:-1]
        same_topic = self.topics.codes[lines][1:] == self.topics.codes[lines][:-1]
        is_tied = np.concatenate(([False], same_score & same_topic, [False]))
        # The flag between two lines turns on at each tie's first line and off at its last: around the scores
        # 3 2 2 2 1, the flags are 0 0 1 1 0 0, which change at 1 and 3. numpy can't sort ids fast, because
        # they are strings.
        changes = np.flatnonzero(is_tied[1:] != is_tied[:-1])
        for first, last in changes.reshape(-1, 2).tolist():
            tied_lines = lines[first : last + 1].tolist()
            tied_lines.sort(key=lambda line: self.documents[line], reverse=True)
            lines[first : last + 1] = tied_lines
        return self._by_topic(lines)

    def _by_topic(self, lines: Lines) -> Order:
        """Returns line indices, which are sorted by topic code, topic by topic as in ``by_topic``."""
        lines_by_topic = self._split(lines)
        return {topic: lines_by_topic[topic] for topic in self.by_topic}

    def _split(self, lines: Lines) -> Order:
        """Splits line indices, which are sorted by topic code, into each topic's."""
        if not len(lines):
            return {}
        codes = self.topics.codes[lines]
        starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
        ends = [*starts[1:], len(lines)]
        topics = [self.topics.words[code] for code in codes[starts].tolist()]
        return {
            topic: lines[start:end] for topic, start, end in zip(topics, starts, ends, strict=True)
        }  # slices, because np.split is slow for many topics

    def documents_of(self, order: Order, depth: int | None = None) -> dict[str, list[str]]:
        """Returns each topic's documents.

        Args:
            order: each topic's lines, such as ``by_score`` or ``by_rank``.
            depth: the maximum number of documents per topic; None for all.
        """
        return {topic: self.documents[lines[:depth]].tolist() for topic, lines in order.items()}


class Columns:
    """A run's columns while it is being read."""

    def __init__(self) -> None:
        self._codes = {
            name: defaultdict[str, int](count().__next__) for name in ("topics", "stances", "tags")
        }
        self._blocks = list[dict[str, NDArray[Any]]]()  # arrays by column name, one per call of add

    def add(
        self,
        *,
        topics: Sequence[str],
        stances: Sequence[str],
        documents: Sequence[str],
        ranks: Sequence[int],
        scores: Sequence[float] | NDArray[np.float64],
        tags: Sequence[str],
        line_numbers: Sequence[int] | NDArray[np.int64],
    ) -> None:
        """Adds lines; the columns are ``Run``'s attributes."""
        block = {
            "topics": _encoded(topics, self._codes["topics"]),
            "stances": _encoded(stances, self._codes["stances"]),
            "documents": np.array(documents, dtype=object),
            "ranks": np.array(ranks, np.int64),
            "scores": np.array(scores, np.float64),
            "tags": _encoded(tags, self._codes["tags"]),
            "line_numbers": np.array(line_numbers, np.int64),
        }
        self._blocks.append(block)

    def add_lines(self, lines: Sequence[tuple[int, RunLine]]) -> None:
        """Adds lines with their numbers."""
        self.add(
            topics=[line.topic for _, line in lines],
            stances=[line.stance for _, line in lines],
            documents=[line.document for _, line in lines],
            ranks=[line.rank for _, line in lines],
            scores=[line.score for _, line in lines],
            tags=[line.tag for _, line in lines],
            line_numbers=[number for number, _ in lines],
        )

    def run(self, path: Path | str) -> Run:
        """Returns the run with all lines added so far."""
        if not self._blocks:
            self.add_lines([])  # numpy can't join zero arrays
        arrays = {name: np.concatenate([block[name] for block in self._blocks]) for name in _COLUMNS}
        words = [*self._codes["stances"]]
        # A single number says as little as Q0, but several numbers are probably meant as stances.
        has_one_number = sum(map(str.isdigit, words)) == 1
        stances = [
            NO_STANCE if word.upper() in _NO_STANCES or (word.isdigit() and has_one_number) else word
            for word in words
        ]
        return Run(
            path=Path(path),
            topics=Words([*self._codes["topics"]], arrays["topics"]),
            stances=Words(stances, arrays["stances"]),
            documents=arrays["documents"],
            ranks=arrays["ranks"],
            scores=arrays["scores"],
            tags=Words([*self._codes["tags"]], arrays["tags"]),
            line_numbers=arrays["line_numbers"],
        )
