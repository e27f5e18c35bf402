"""Relevance judgments (qrels): ``topic 0 document grade`` on each line (TREC), or three columns (BEIR)."""

import logging
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from touche.errors import InputError, check_choice, counted
from touche.io.identifiers import NO_ID, expanded, is_word, quoted
from touche.io.opening import OF_TABLES, read_lines
from touche.io.optional import imported
from touche.io.writing import write_whole
from touche.trec.by_stance import topic_in
from touche.trec.framed import FRAME_NAMES, Shown
from touche.trec.runs import IS_HEADER, is_in_quotes, other_format, split_columns

if TYPE_CHECKING:
    from ir_measures import Qrel  # not installed in images
    from pandas import DataFrame

_log = logging.getLogger(__name__)

_GRADE = re.compile(r"([+-]?[0-9]{1,18})(?:\.0{0,9})?")
# Our field's qrels have grades from -2 to 4; magnitude estimation and sliders reach the hundreds. For
# nDCG, trec_eval makes a gain for each grade up to the largest one and compares it with all others,
# so its time grows with the square. Measures also accept a gain or ``rel`` up to 1000.
LARGEST_GRADE = 1000

_TREC = ["topic", "0", "document", "grade"]  # the columns, for messages
_BEIR = ["query-id", "corpus-id", "score"]  # the header
_ON_TOPIC = "ONTOPIC"  # in the second column, in place of a stance
_OTHER_FILE = "check that this is the right file"


class Qrels(dict[str, dict[str, int]], Shown):
    """Relevance judgments: document grades by topic, ``{topic: {document: grade}}``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} topics, {sum(map(len, self.values())):,} judgments)"

    def add(self, topic: str, document: str, grade: int, path: Path | str, line: int) -> None:
        """Adds a judgment.

        Args:
            topic, document, grade: the judgment.
            path, line: file and line, for errors.

        Raises:
            InputError: if the document already has another grade.
        """
        # A new document gets the grade, which is then also the earlier one.
        earlier_grade = self.setdefault(topic, {}).setdefault(document, grade)
        if earlier_grade != grade:
            problem = f"document {document!r} of topic {topic} has two grades"
            raise InputError(path, problem, "remove one of the two", line=line)

    def write(self, path: str | PathLike[str]) -> Path:
        """Writes a qrels file in TREC's format and returns its path.

        Args:
            path: the file.

        Raises:
            ToucheError: if it can't be written, or a judgment doesn't fit on a line: an id isn't one word, or
                a grade isn't a whole number up to 1000.
        """
        path = Path(expanded(path))
        lines = list[str]()
        for topic, grades in self.items():
            for document, grade in grades.items():
                for noun, id in (("topic", topic), ("document", document)):
                    if not is_word(id):
                        problem = f"{noun} {quoted(id)} is not an id"
                        raise InputError(path, problem, NO_ID)
                if not isinstance(grade, Integral) or abs(grade) > LARGEST_GRADE:
                    problem = f"grade {quoted(grade)} is not a whole number up to {LARGEST_GRADE:,}"
                    raise InputError(path, problem, "correct it")
                lines.append(f"{topic} 0 {document} {int(grade)}\n")
        write_whole(path, "".join(lines))
        return path

    def records(self) -> "list[Qrel]":
        """Returns the judgments as ir_measures records, with its default ``iteration``."""
        from ir_measures import Qrel  # not installed in images

        return [Qrel(topic, id, grade) for topic, grades in self.items() for id, grade in grades.items()]

    def frame(self, names: Literal["pyterrier", "ir_measures"] = "pyterrier") -> "DataFrame":
        """Returns the judgments as a pandas DataFrame.

        Args:
            names: the columns' names: qid, docno and label, or query_id, doc_id and relevance.

        Raises:
            ToucheError: if there are no such names, or pandas isn't installed.
        """
        check_choice("set of column names", names, FRAME_NAMES)
        columns = ["qid", "docno", "label"] if names == "pyterrier" else ["query_id", "doc_id", "relevance"]
        rows = [(topic, id, grade) for topic, grades in self.items() for id, grade in grades.items()]
        return imported("pandas", "analysis").DataFrame(rows, columns=columns)


def read_qrels(
    path: Path,
    excluded_topics: Collection[str] = (),
    labels: Collection[int] | None = None,
    *,
    content: bytes | None = None,
) -> Qrels:
    """Reads qrels. Grades are whole numbers, which can be written as ``4.0``.

    Args:
        path: the file, or a name for the content.
        excluded_topics: topics to leave out, from the task's card.
        labels: the allowed grades; None for any.
        content: the bytes, if they aren't in a file.

    Raises:
        InputError: if the file is unreadable or empty, a line is broken or has an unknown grade, or two lines
            contradict each other.
    """
    return _merged(path, content, excluded_topics, lambda text, line: _parsed_grade(text, labels, path, line))


def _merged(
    path: Path,
    content: bytes | None,
    excluded_topics: Collection[str],
    parse_label: Callable[[str, int], int],
) -> Qrels:
    """Reads one label per topic and document.

    Args:
        path, content, excluded_topics: as in ``read_qrels``.
        parse_label: parses the last column; its second argument is the line number, for errors.
    """
    qrels = Qrels()
    judgments = 0
    subtopics = set[str]()
    for line, columns in _judgments(path, content, excluded_topics):
        topic, *subtopic, document, label = columns  # BEIR has no subtopic
        qrels.add(topic, document, parse_label(label, line), path, line)
        judgments += 1
        subtopics.update(subtopic)
    if len(subtopics) > 1 and judgments > sum(map(len, qrels.values())):
        _log.warning(
            "%s: subtopics in column 2 are ignored; a document's judgments are merged into one", path
        )
    return qrels


def read_stances(
    path: Path,
    stances: Sequence[str],
    excluded_topics: Collection[str] = (),
    *,
    content: bytes | None = None,
) -> Qrels:
    """Reads the documents' stances in upper or lower case, as indices in ``stances``.

    The other arguments are as in ``read_qrels``.

    Raises:
        InputError: as in ``read_qrels``.
    """

    def parse_stance(text: str, line: int) -> int:
        if text.upper() not in stances:
            raise _unknown(path, f"stance {quoted(text)}", stances, line)
        return stances.index(text.upper())

    return _merged(path, content, excluded_topics, parse_stance)


def read_answers(
    path: Path,
    stances: Sequence[str],
    excluded_topics: Collection[str],
    labels: Collection[int] | None,
    ids: str,
    *,
    content: bytes | None,
) -> Qrels:
    """Reads image judgments; returns the grades per topic and aspect, such as ``1 ONTOPIC``.

    Lines are ``topic aspect image grade``; the aspect is ONTOPIC, PRO or CON.

    Args:
        path: the file.
        stances: the stances.
        excluded_topics, labels, content: as in ``read_qrels``.
        ids: a regular expression for image ids; empty if any id is fine.

    Raises:
        InputError: as in ``read_qrels``. Also if a line has another aspect or id, or no line has ONTOPIC.
    """
    aspects = (_ON_TOPIC, *stances)  # allowed in the second column
    grades = Qrels()
    for line, (topic, aspect, image, *_, grade) in _judgments(path, content, excluded_topics):
        if aspect not in aspects:
            raise _unknown(path, f"aspect {quoted(aspect)}", aspects, line)
        if ids and not re.fullmatch(ids, image):
            raise InputError(path, f"{quoted(image)} does not have the form {ids}", _OTHER_FILE, line=line)
        grades.add(f"{topic} {aspect}", image, _parsed_grade(grade, labels, path, line), path, line)
    if not any(name.endswith(_ON_TOPIC) for name in grades):
        raise InputError(path, f"no line has {_ON_TOPIC}", _OTHER_FILE)
    return grades


def images_for(question: str, grades: Qrels, stances: Sequence[str]) -> Qrels:
    """Returns 1 or 0 for each image per topic and stance, such as ``1 PRO``: whether the answer is yes.

    A grade of at least 1 is a yes. An image that isn't on topic gets 0 for every question.

    Args:
        question: ``topicRelevance`` (is the image on topic?), ``argumentativeness`` (does it also have a
            stance?), or ``stanceRelevance`` (does it also have the ranking's stance?).
        grades: the grades per topic and aspect, from ``read_answers``.
        stances: the stances.
    """
    qrels = Qrels()
    for topic in dict.fromkeys(map(topic_in, grades)):  # in file order
        by_aspect = {aspect: grades.get(f"{topic} {aspect}", {}) for aspect in (_ON_TOPIC, *stances)}
        # Each image once, in the aspects' order, then in file order.
        images = dict.fromkeys(chain.from_iterable(by_aspect.values()))
        has_yes = {
            aspect: {image for image, grade in judged.items() if grade > 0}
            for aspect, judged in by_aspect.items()
        }
        for stance in stances:
            # An image must be on topic, and needs a yes for one of the aspects that suffice.
            sufficient = {"argumentativeness": stances, "stanceRelevance": [stance]}.get(
                question, [_ON_TOPIC]
            )
            relevant = has_yes[_ON_TOPIC] & set[str]().union(*(has_yes[aspect] for aspect in sufficient))
            qrels[f"{topic} {stance}"] = {image: int(image in relevant) for image in images}
    return qrels


def _judgments(
    path: Path, content: bytes | None, excluded_topics: Collection[str]
) -> Iterator[tuple[int, list[str]]]:
    """Yields the columns of each line in a TREC or BEIR file, with its number. Arguments as in
    ``read_qrels``.
    """
    column_names = _TREC
    has_tabs = False
    is_empty = True
    for line, text in read_lines(path, OF_TABLES, content):
        columns = _columns_at_tabs(text) if has_tabs else split_columns(text)
        if line == 1 and columns == _BEIR:
            column_names = _BEIR
            has_tabs = "\t" in text
            continue
        has_quotes = ('"' in text or "'" in text) and any(map(is_in_quotes, columns))  # the first is fast
        if line == 1 or has_quotes or len(columns) != len(column_names):
            _check_columns(text, columns, column_names, path, line)
        topic, *_, document, _ = columns
        for noun, id in (("topic", topic), ("document", document)):
            if not is_word(id.replace(" ", "")):  # BEIR's ids can contain blanks
                raise InputError(path, f"{noun} {quoted(id)} is not an id", NO_ID, line=line)
        if topic not in excluded_topics:
            is_empty = False
            yield line, columns
    if is_empty:
        raise InputError(path, "no judgments in this file", _OTHER_FILE)


def _parsed_grade(text: str, labels: Collection[int] | None, path: Path, line: int) -> int:
    """Returns a grade. Arguments as in ``read_qrels``; the line number is for errors."""
    match = _GRADE.fullmatch(text)
    if match is None or abs(int(match[1])) > LARGEST_GRADE:
        problem = f"grade {quoted(text)} is not a whole number up to {LARGEST_GRADE:,}"
        is_stance = text.isalpha()  # e.g. PRO, in a file with stances
        hint = "; to score stances, use the measure macro F1" if is_stance else ""
        raise InputError(path, problem, f"write grades such as -2, 0 or 2{hint}", line=line)
    grade = int(match[1])
    if labels is not None and grade not in labels:
        raise _unknown(path, f"grade {text}", sorted(labels), line)
    return grade


def _check_columns(text: str, columns: Sequence[str], names: Sequence[str], path: Path, line: int) -> None:
    """Raises an InputError if a line has another number of columns, or another format."""
    reason = other_format(text, line)
    has_three = len(columns) == len(_BEIR)
    is_of_beir = line == 1 and (has_three or ".tsv" in path.suffixes)  # including .tsv.gz
    count = counted(len(columns), "column")
    if reason is not None:
        problem, remedy = reason
        if has_three and problem == IS_HEADER:
            remedy = f"replace it with: {' '.join(_BEIR)}"
    elif len(columns) == len(names):
        return
    elif is_of_beir:
        problem = f"{count} without BEIR's header"
        remedy = f"begin with: {' '.join(_BEIR)}; or write on each line: {' '.join(_TREC)}"
    else:
        problem = f"{count} instead of {len(names)}"
        remedy = f"write: {' '.join(names)}"
    raise InputError(path, problem, remedy, line=line)


def _columns_at_tabs(text: str) -> list[str]:
    """Splits a line at tabs, because BEIR's ids can contain blanks. Drops empty columns."""
    return [column.strip() for column in text.split("\t") if column.strip()]


def _unknown(path: Path, value: str, known: Collection[object], line: int) -> InputError:
    """Returns the error that a value isn't a known one."""
    problem = f"{value} is unknown (known: {', '.join(map(str, known))})"
    return InputError(path, problem, _OTHER_FILE, line=line)
