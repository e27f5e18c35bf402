"""Relevance judgments (qrels): ``topic 0 document grade`` on each line (TREC), or three columns (BEIR)."""

import re
from collections.abc import Callable, Collection, Sequence
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from touche.errors import InputError
from touche.io.identifiers import NO_ID, expanded, is_word, quoted
from touche.io.opening import read_lines
from touche.io.optional import imported
from touche.io.writing import write_whole
from touche.trec.framed import Shown
from touche.trec.runs import split_columns

if TYPE_CHECKING:
    from ir_measures import Qrel  # optional: an image lacks it
    from pandas import DataFrame

_GRADE = re.compile(r"([+-]?[0-9]{1,18})(?:\.0{0,9})?")
LARGEST = 1_000_000  # trec_eval's memory and time grow with grades, and overflowing grades score 0

_TREC = ["topic", "0", "document", "grade"]
_BEIR = ["query-id", "corpus-id", "score"]
_OTHER_FILE = "check that this is the right file"


class Qrels(dict[str, dict[str, int]], Shown):
    """Relevance judgments: grades of documents by topic, ``{topic: {document: grade}}``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} topics, {sum(map(len, self.values())):,} judgments)"

    def add(self, topic: str, document: str, label: int, path: Path | str, line: int) -> None:
        """Adds a judgment.

        Args:
            topic, document, label: the judgment.
            path, line: file and line, for errors.

        Raises:
            InputError: if the document already has another grade.
        """
        if self.setdefault(topic, {}).setdefault(document, label) != label:
            problem = f"document {document!r} of topic {topic} has two grades"
            raise InputError(path, problem, "remove one of the two", line)

    def write(self, path: str | PathLike[str]) -> Path:
        """Writes a file of qrels in TREC's format; returns its path.

        Args:
            path: the file.

        Raises:
            ToucheError: if it cannot be written, or a judgment does not fit on a line: an id is not one word,
                or a grade is not a whole number up to a million.
        """
        path, lines = Path(expanded(path)), list[str]()
        for topic, labels in self.items():
            for document, label in labels.items():
                for what, id in (("topic", topic), ("document", document)):
                    if not is_word(id):
                        problem = f"{what} {quoted(id)} is not an id"
                        raise InputError(path, problem, NO_ID)
                if not isinstance(label, Integral) or abs(label) > LARGEST:
                    problem = f"grade {quoted(label)} is not a whole number up to {LARGEST:,}"
                    raise InputError(path, problem, "correct it")
                lines.append(f"{topic} 0 {document} {int(label)}\n")
        write_whole(path, "".join(lines))
        return path

    def records(self) -> "list[Qrel]":
        """Returns the judgments as records of ir_measures: query_id, doc_id, relevance, iteration."""
        from ir_measures import Qrel  # optional: an image lacks it

        return [Qrel(topic, *judgment) for topic, labels in self.items() for judgment in labels.items()]

    def frame(self, names: Literal["pyterrier", "ir_measures"] = "pyterrier") -> "DataFrame":
        """Returns the judgments as a pandas DataFrame.

        Args:
            names: names of the columns: qid, docno and label, or query_id, doc_id and relevance.

        Raises:
            ToucheError: if pandas is not installed.
        """
        columns = "qid docno label" if names == "pyterrier" else "query_id doc_id relevance"
        rows = [(topic, *judgment) for topic, labels in self.items() for judgment in labels.items()]
        return imported("pandas", "analysis").DataFrame(rows, columns=columns.split())

    def ranx(self) -> Any:
        """Returns the judgments as a ``ranx.Qrels``, in which grades below 0 become 0.

        Raises:
            ToucheError: if ranx is not installed.
        """
        labels = {topic: {id: max(label, 0) for id, label in of.items()} for topic, of in self.items()}
        return imported("ranx", "ranx").Qrels(labels)


def read_qrels(
    path: Path, excluded_topics: Collection[str] = (), labels: Collection[int] | None = None
) -> Qrels:
    """Reads qrels; grades are whole numbers, also written as ``4.0``.

    Args:
        path: the file.
        excluded_topics: topics to leave out, from the task's card.
        labels: the grades that may occur, or None for any.

    Raises:
        InputError: if the file is unreadable or empty, a line is broken or has an unknown grade, or two lines
            contradict each other.
    """

    def grade(text: str, line: int) -> int:
        whole = _GRADE.fullmatch(text)
        if whole is None or abs(number := int(whole[1])) > LARGEST:
            problem = f"grade {quoted(text)} is not a whole number up to {LARGEST:,}"
            stances = "; to score stances, use the measure macro F1" if text.isalpha() else ""
            remedy = f"write grades such as -2, 0 or 2{stances}"
            raise InputError(path, problem, remedy, line)
        if labels is not None and number not in labels:
            raise _unknown(path, f"grade {text}", sorted(labels), line)
        return number

    return _read(path, excluded_topics, grade)


def read_stances(path: Path, stances: Sequence[str], excluded_topics: Collection[str] = ()) -> Qrels:
    """Reads the documents' stances in upper or lower case; each becomes its index in ``stances``.

    Raises:
        InputError: as in ``read_qrels``.
    """

    def place(text: str, line: int) -> int:
        if text.upper() not in stances:
            raise _unknown(path, f"stance {quoted(text)}", stances, line)
        return stances.index(text.upper())

    return _read(path, excluded_topics, place)


def _read(path: Path, excluded_topics: Collection[str], label_of: Callable[[str, int], int]) -> Qrels:
    qrels, names, has_tabs = Qrels(), _TREC, False
    for line, text in read_lines(path):
        columns = _columns_at_tabs(text) if has_tabs else split_columns(text)
        if line == 1 and columns == _BEIR:
            names, has_tabs = _BEIR, "\t" in text
            continue
        if len(columns) != len(names):
            if line == 1 and (len(columns) == len(_BEIR) or ".tsv" in path.suffixes):
                problem = f"{len(columns)} columns without BEIR's header"
                raise InputError(path, problem, f"begin with: {' '.join(_BEIR)}", line)
            problem = f"{len(columns)} columns instead of {len(names)}"
            raise InputError(path, problem, f"write: {' '.join(names)}", line)
        topic, document, column = columns[0], columns[-2], columns[-1]
        for what, id in (("topic", topic), ("document", document)):
            if not is_word(id.replace(" ", "")):  # BEIR's ids may have blanks
                raise InputError(path, f"{what} {quoted(id)} is not an id", NO_ID, line)
        if topic not in excluded_topics:
            qrels.add(topic, document, label_of(column, line), path, line)
    if not qrels:
        raise InputError(path, "no judgments in this file", _OTHER_FILE)
    return qrels


def _columns_at_tabs(text: str) -> list[str]:
    """Splits a line at tabs, because BEIR's ids may have blanks; leaves out empty columns."""
    return [column for part in text.split("\t") if (column := part.strip())]


def _unknown(path: Path, value: str, known: Collection[object], line: int) -> InputError:
    problem = f"{value} is unknown (known: {', '.join(map(str, known))})"
    return InputError(path, problem, _OTHER_FILE, line)
