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
# Grades in Touché's and TREC's qrels are from -2 to 4. If assessors use sliders or magnitude estimation, they
# can be several hundred. There has to be a limit, because trec_eval's time for nDCG grows with the square of
# the largest grade: it creates a gain for each grade up to it and compares each gain with all others. The
# same limit holds for gains and ``rel`` in measures.
LARGEST_GRADE = 1000

_TREC = ["topic", "0", "document", "grade"]  # names of the columns, for error messages
_BEIR = ["query-id", "corpus-id", "score"]  # the columns in a file's header
_ON_TOPIC = "ONTOPIC"  # in image retrieval: the second column of lines that say whether the image is on topic
_OTHER_FILE = "check that this is the right file"


class Qrels(dict[str, dict[str, int]], Shown):
    """Relevance judgments: document grades by topic, ``{topic: {document: grade}}``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} topics, {sum(map(len, self.values())):,} judgments)"

    def add(self, topic: str, document: str, grade: int, path: Path | str, line: int) -> None:
        """Adds a judgment.

        Args:
            topic, document, grade: the judgment.
            path, line: the file, and the line's number, for error messages.

        Raises:
            InputError: if the document already has another grade.
        """
        # For a new document, ``setdefault`` stores the grade and returns it, so it equals itself below.
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
        """Returns the judgments as ir_measures records. Their ``iteration`` is ir_measures' default."""
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
    """Reads judgments in which each document has one label per topic.

    Args:
        path, content, excluded_topics: as in ``read_qrels``.
        parse_label: a function that parses the last column. Its arguments are the text and the line number,
            for errors.
    """
    qrels = Qrels()
    judgments = 0
    subtopics = set[str]()
    for line, columns in _judgments(path, content, excluded_topics):
        topic, *subtopic, document, label = columns  # BEIR's lines have no second column with a subtopic
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
    """Reads judged stances, in upper or lower case. Each stance is returned as its index in ``stances``.

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
    """Reads judgments of images. Returns the grades of images by topic and aspect, such as ``1 ONTOPIC``.

    Lines are ``topic aspect image grade``; the aspect is ONTOPIC, PRO or CON.

    Args:
        path: the file.
        stances: the stances.
        excluded_topics, labels, content: as in ``read_qrels``.
        ids: a regular expression for image ids; empty if any id is fine.

    Raises:
        InputError: as in ``read_qrels``. Also if a line has an unknown aspect or an id that doesn't match
            ``ids``, or if there is no line with ONTOPIC.
    """
    aspects = (_ON_TOPIC, *stances)  # the words that are allowed in the second column
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
    """Returns the answer to a question about each image, for each topic and stance, such as ``1 PRO``: 1 for
    yes, 0 for no.

    A grade of at least 1 is a yes. An image that isn't on topic gets 0 for every question.

    Args:
        question: ``topicRelevance`` (is the image on topic?), ``argumentativeness`` (does it also have a
            stance?), or ``stanceRelevance`` (does it also have the ranking's stance?).
        grades: the grades per topic and aspect, from ``read_answers``.
        stances: the stances.
    """
    qrels = Qrels()
    for topic in dict.fromkeys(map(topic_in, grades)):  # each topic once, in file order
        by_aspect = {aspect: grades.get(f"{topic} {aspect}", {}) for aspect in (_ON_TOPIC, *stances)}
        # Each image once, first by aspect, then in file order.
        images = dict.fromkeys(chain.from_iterable(by_aspect.values()))
        has_yes = {
            aspect: {image for image, grade in judged.items() if grade > 0}
            for aspect, judged in by_aspect.items()
        }
        for stance in stances:
            # The image must be on topic. For two of the questions, at least one of these aspects must also
            # have a yes.
            sufficient = {"argumentativeness": stances, "stanceRelevance": [stance]}.get(
                question, [_ON_TOPIC]
            )
            relevant = has_yes[_ON_TOPIC] & set[str]().union(*(has_yes[aspect] for aspect in sufficient))
            qrels[f"{topic} {stance}"] = {image: int(image in relevant) for image in images}
    return qrels


def _judgments(
    path: Path, content: bytes | None, excluded_topics: Collection[str]
) -> Iterator[tuple[int, list[str]]]:
    """Yields each line's number and its columns, for files in TREC's or BEIR's format. Arguments as in
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
        # Search the whole text first, because that's fast.
        has_quotes = ('"' in text or "'" in text) and any(map(is_in_quotes, columns))
        if line == 1 or has_quotes or len(columns) != len(column_names):
            _check_columns(text, columns, column_names, path, line)
        topic, *_, document, _ = columns
        for noun, id in (("topic", topic), ("document", document)):
            if not is_word(id.replace(" ", "")):  # ignore blanks, because BEIR's ids can contain them
                raise InputError(path, f"{noun} {quoted(id)} is not an id", NO_ID, line=line)
        if topic not in excluded_topics:
            is_empty = False
            yield line, columns
    if is_empty:
        raise InputError(path, "no judgments in this file", _OTHER_FILE)


def _parsed_grade(text: str, labels: Collection[int] | None, path: Path, line: int) -> int:
    """Returns the grade that a text stands for. ``labels`` is as in ``read_qrels``; path and line number are
    for errors.
    """
    match = _GRADE.fullmatch(text)
    if match is None or abs(int(match[1])) > LARGEST_GRADE:
        problem = f"grade {quoted(text)} is not a whole number up to {LARGEST_GRADE:,}"
        is_stance = text.isalpha()  # e.g. PRO: the file contains stances instead of grades
        hint = "; to score stances, use the measure macro F1" if is_stance else ""
        raise InputError(path, problem, f"write grades such as -2, 0 or 2{hint}", line=line)
    grade = int(match[1])
    if labels is not None and grade not in labels:
        raise _unknown(path, f"grade {text}", sorted(labels), line)
    return grade


def _check_columns(text: str, columns: Sequence[str], names: Sequence[str], path: Path, line: int) -> None:
    """Raises an InputError if a line doesn't have as many columns as there are names, or is in another
    format.
    """
    reason = other_format(text, line)
    has_three = len(columns) == len(_BEIR)
    # ``suffixes`` and not ``suffix``, to recognize .tsv.gz, too.
    is_of_beir = line == 1 and (has_three or ".tsv" in path.suffixes)
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
    """Splits a line at tabs only, because BEIR's ids can contain blanks. Empty columns are dropped."""
    return [column.strip() for column in text.split("\t") if column.strip()]


def _unknown(path: Path, value: str, known: Collection[object], line: int) -> InputError:
    """Returns the error about a value that isn't one of the allowed values."""
    problem = f"{value} is unknown (known: {', '.join(map(str, known))})"
    return InputError(path, problem, _OTHER_FILE, line=line)
