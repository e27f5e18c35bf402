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
Order = Mapping[str, Lines]  # each topic's line indices, in some order
_RANKED_STANCES = {"PRO", "CON"}  # stances that can have their own rankings
NO_STANCE = "Q0"  # the second column of lines without a stance
# What other tools write into this column instead of Q0; some write a number.
_NO_STANCES = {"Q0", "QO", "ITER", "ITERATION", "-"}
_COLUMNS = "topics stances documents ranks scores tags line_numbers".split()
# Added when rankings are joined, because numpy can't join an empty list of arrays.
_NO_LINES = np.empty(0, np.intp)


@dataclass(frozen=True, slots=True)
class RunLine:
    """A line in a run.

    Attributes:
        topic: the topic's id.
        stance: the second column: the stance that the run detects (2022 task 2), or ``Q0`` if it detects
            none. ``ITER``, or a number that is the same on all lines, becomes ``Q0``.
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
        A list of cells for each column; None if a line doesn't have ``width`` cells, or contains a null
        character.
    """
    # Join all lines and split them at once, because that is faster. A null character is added at the end of
    # each line, so that it becomes one more cell. If there are ``width`` cells before each null, and the
    # lines themselves contain no null, we know that each line has ``width`` cells.
    text = b" \0 ".join([*lines, b""])
    cells = text.split()
    has_nulls = text.count(b"\0") != len(lines)
    last_cells = cells[width :: width + 1]
    if has_nulls or len(cells) != (width + 1) * len(lines) or last_cells.count(b"\0") != len(lines):
        return None
    return [cells[column :: width + 1] for column in range(width)]


def _encoded(words: Sequence[str], codes: defaultdict[str, int]) -> NDArray[np.int32]:
    """Returns the code of each word. Words that aren't in ``codes`` yet get the next free codes."""
    # A shortcut if all words are equal, as in most columns of tags and stances.
    if words and words.count(words[0]) == len(words):
        return np.full(len(words), codes[words[0]], np.int32)
    return np.fromiter(map(codes.__getitem__, words), np.int32, len(words))


@dataclass(frozen=True)
class Words:
    """A column of a run in which the same few words occur again and again. Each word is stored once.

    Attributes:
        words: the distinct words, in the order in which they first occur.
        codes: for each line, the index of its word in ``words``.
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
        """Returns the column for some of the lines, given as a slice or as an array of indices."""
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
        topics, stances, tags: each line's topic, stance and tag.
        documents: each line's document id.
        ranks, scores: each line's rank and score, as they are in the file.
        line_numbers: each line's number in the file, from 1.
        unread: an error for each line of the file that couldn't be read. Only filled for runs with a ranking
            per stance, because the organizers' script skips such lines. When other runs are read, the first
            such line raises an error.
    """

    path: Path
    topics: Words
    stances: Words
    documents: NDArray[np.object_]
    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    tags: Words
    line_numbers: NDArray[np.int64]
    unread: tuple[Any, ...] = field(default=(), repr=False)  # contains ``runs.LineError``

    @classmethod
    def of(cls, lines: Iterable[RunLine], path: Path | str = "run") -> "Run":
        """Creates a run from lines. If ``lines`` is a run already, it's returned unchanged.

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
        # Turns a negative index into a position, and raises an IndexError if there is no such line.
        position = range(len(self))[index]
        return next(iter(self.take([position])))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({str(self.path)!r}, {len(self):,} lines, {len(self.by_topic):,} topics)"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def take(self, lines: Any) -> "Run":
        """Returns a run with some of the lines.

        Args:
            lines: a slice, or line indices from 0.
        """
        return Run(self.path, **{name: getattr(self, name)[lines] for name in _COLUMNS})

    def called(self, name: str) -> "Run":
        """Returns the run with another name. The name also replaces the tag on each line.

        Args:
            name: the new name.
        """
        return replace(self, path=Path(name), tags=Words.encode([name] * len(self)))

    def ranked_by_score(self) -> "Run":
        """Returns the run with new ranks, counted from 1, which follow trec_eval's order of the scores."""
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
            A DataFrame with a row per line. The run's tag is in ``frame.attrs["tag"]``.

        Raises:
            ToucheError: if there are no such names, or pandas isn't installed.
        """
        check_choice("set of column names", names, FRAME_NAMES)
        pandas = imported("pandas", "analysis")
        # Line indices; valid for ``self``, too, because ``rankings`` has the same lines in the same order.
        rankings = self.rankings.by_rank.values()
        run = self.take(np.concatenate([_NO_LINES, *rankings]))
        topics = list(run.topics)
        ranks = np.concatenate([_NO_LINES, *(np.arange(len(lines)) for lines in rankings)])
        if names == "ir_measures":
            columns = {"query_id": topics, "doc_id": run.documents, "score": run.scores}
            # Needed because one can't tell from the scores that a topic has two rankings.
            if self.ranks_stances:
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
        """Whether at least one line has a stance, rather than Q0."""
        return any(stance != NO_STANCE for stance in self.stances.present)

    @property
    def ranks_stances(self) -> bool:
        """Whether ranks start again for each stance, as in image retrieval."""
        if not _RANKED_STANCES.issuperset(self.stances.present):
            return False
        # True if a topic contains a rank twice, but each time for another stance.
        return self._repeats_ranks and not self.by_stance()._repeats_ranks

    @property
    def _repeats_ranks(self) -> bool:
        """Whether the same rank occurs twice in some topic."""
        return any(len({*self.ranks[lines].tolist()}) < len(lines) for lines in self.by_topic.values())

    @property
    def rankings(self) -> "Run":
        """The run itself. But if each stance has its own ranking, names such as ``1 PRO`` replace the
        topics.
        """
        return self.by_stance() if self.ranks_stances else self

    def by_stance(self) -> "Run":
        """Returns the run with topics replaced by the names of rankings, such as ``1 PRO``."""
        names = [f"{topic} {stance}" for topic, stance in zip(self.topics, self.stances, strict=True)]
        return replace(self, topics=Words.encode(names))

    def by_topic_number(self) -> "Run":
        """Returns the run with the names of rankings replaced by topics again, which undoes ``by_stance``."""
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
        """The first line's tag; empty if there are no lines."""
        # Don't use ``next(iter(self.tags))``, because it would first create a list for all lines.
        return self.tags.words[self.tags.codes[0]] if len(self) else ""

    @cached_property
    def rounded(self) -> NDArray[np.float32]:
        """Each line's score as float32, which is how trec_eval reads it."""
        return self.scores.astype(np.float32)

    @cached_property
    def by_topic(self) -> Order:
        """Each topic's line indices, in file order. Topics are in the order of their first lines."""
        lines = self._split(np.argsort(self.topics.codes, kind="stable"))
        return dict(sorted(lines.items(), key=lambda topic_and_lines: int(topic_and_lines[1][0])))

    @cached_property
    def by_score(self) -> Order:
        """Each topic's line indices in trec_eval's order: by descending float32 score, ties by descending
        document id.
        """
        return self.order_of(self.rounded)

    @cached_property
    def by_rank(self) -> Order:
        """Each topic's line indices, sorted by the rank column. Lines with equal ranks stay in file order."""
        return self._by_topic(np.lexsort((self.ranks, self.topics.codes)))

    @property
    def by_score_and_rank(self) -> Order:
        """Each topic's line indices, sorted by descending float32 score. Ties are sorted by rank."""
        return self._by_topic(np.lexsort((self.ranks, -self.rounded, self.topics.codes)))

    def order_of(self, scores: NDArray[Any]) -> Order:
        """Returns each topic's lines by descending score, ties by descending document id.

        Args:
            scores: each line's score.
        """
        # Sort all topics at once, because a run can have many thousands of topics with a few lines each.
        lines = np.lexsort((-scores, self.topics.codes))
        same_score = scores[lines][1:] == scores[lines][:-1]
        same_topic = self.topics.codes[lines][1:] == self.topics.codes[lines][:-1]
        is_tied = np.concatenate(([False], same_score & same_topic, [False]))
        # Ids are strings, which numpy sorts slowly, so only tied lines are sorted by id. To find them, there
        # is a flag between each two neighbours, 1 if their scores are equal. The scores 3 2 2 2 1 have the
        # flags 0 0 1 1 0 0 (with a 0 at both ends). The flags change at 1 and at 3, which are the indices of
        # the tie's first and last line.
        changes = np.flatnonzero(is_tied[1:] != is_tied[:-1])
        for first, last in changes.reshape(-1, 2).tolist():
            tied_lines = lines[first : last + 1].tolist()
            tied_lines.sort(key=lambda line: self.documents[line], reverse=True)
            lines[first : last + 1] = tied_lines
        return self._by_topic(lines)

    def _by_topic(self, lines: Lines) -> Order:
        """Returns each topic's line indices, with topics in the same order as in ``by_topic``. ``lines`` must
        be sorted by topic code.
        """
        lines_by_topic = self._split(lines)
        return {topic: lines_by_topic[topic] for topic in self.by_topic}

    def _split(self, lines: Lines) -> Order:
        """Splits line indices into one array per topic. ``lines`` must be sorted by topic code."""
        if not len(lines):
            return {}
        codes = self.topics.codes[lines]
        starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
        ends = [*starts[1:], len(lines)]
        topics = [self.topics.words[code] for code in codes[starts].tolist()]
        return {
            topic: lines[start:end] for topic, start, end in zip(topics, starts, ends, strict=True)
        }  # slices are used because np.split is slow if there are many topics

    def documents_of(self, order: Order, depth: int | None = None) -> dict[str, list[str]]:
        """Returns each topic's documents.

        Args:
            order: each topic's line indices, such as ``by_score`` or ``by_rank``.
            depth: the maximum number of documents per topic; None for all.
        """
        return {topic: self.documents[lines[:depth]].tolist() for topic, lines in order.items()}


class Columns:
    """Collects a run's columns while the file is being read."""

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
        """Adds lines. Each argument is a column with one element per line, and has the name of an attribute
        of ``Run``.
        """
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
        """Adds lines, each given with its number in the file."""
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
            self.add_lines([])  # adds empty columns, because numpy can't join an empty list of arrays
        arrays = {name: np.concatenate([block[name] for block in self._blocks]) for name in _COLUMNS}
        words = [*self._codes["stances"]]
        # If all numbers in the column are the same, the number means nothing, like Q0. Different numbers are
        # probably meant as stances, so they are kept.
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
