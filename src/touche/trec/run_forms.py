"""Converts runs and qrels from the forms that users can pass: paths, frames, and dictionaries by topic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, SupportsFloat, SupportsInt, TypeAlias, TypeGuard

import numpy as np

from touche.errors import InputError, ToucheError, counted, one_line
from touche.io.identifiers import (
    NO_TEXT,
    AnyPath,
    as_id,
    check_text,
    expanded,
    is_path,
    is_word,
    numbered,
    quoted,
)
from touche.io.opening import STANDARD_INPUT, content_of_pipe, is_file, resolved
from touche.trec.by_stance import read_script_lines
from touche.trec.columns import NO_STANCE, Columns, Run
from touche.trec.forms import Frame, as_pandas, is_frame, remedy_for, unusable
from touche.trec.qrels import LARGEST_GRADE, Qrels, read_qrels
from touche.trec.runs import MOST_DIGITS, RUN_FILE, as_number, checked, is_score, read_run, why_no_run

AnyRun: TypeAlias = AnyPath | Run | Frame | Mapping[Any, Mapping[Any, SupportsFloat]]
"""A run in one of its forms:

* the path of a run file, which can be a pipe; ``-`` is standard input
* a ``Run``, or another result of ``touche`` that is or has written a run
* a frame of pandas, or one with ``to_pandas()``, with the columns of PyTerrier (qid, docno, score, and
  perhaps rank and stance) or of ir_measures (query_id, doc_id, score); its name is the tag in its ``attrs``
* the scores of documents by topic, ``{topic: {document: score}}``, as in pytrec_eval
"""
SeveralRuns: TypeAlias = Sequence[AnyRun] | Mapping[str, AnyRun]
"""Several runs: a list of them, or a dictionary of runs by names of your choice."""
# A dictionary of runs by name and a dictionary of scores by topic have the same type here. If the union
# contained two mappings, mypy couldn't infer the types of the values in a dictionary that a user writes.
AnyRuns: TypeAlias = (
    AnyPath | Run | Frame | Sequence[AnyRun] | Mapping[Any, AnyRun | Mapping[Any, SupportsFloat]]
)
"""One run in any form of ``AnyRun``, a list of runs, or a dictionary of runs by names of your choice."""
AnyQrels: TypeAlias = AnyPath | Frame | Mapping[Any, Mapping[Any, SupportsInt]]
"""Judgments in one of the forms of runs. ``Qrels`` are ``{topic: {document: grade}}``; a frame has the column
label (PyTerrier) or relevance (ir_measures) instead of score.
"""

# The name that we use for a column (mostly PyTerrier's), with the name in ir_measures, which may be the same.
_OTHER_NAMES = {
    "qid": "query_id",
    "docno": "doc_id",
    "score": "score",
    "rank": "rank",
    "stance": "stance",
    "label": "relevance",
}
IN_MEMORY = "qrels"  # the name of qrels that aren't in a file
_RUN_FORMS = "a path, a Run, a frame with the columns qid, docno and score, or {topic: {document: score}}"
_QRELS_FORMS = "a path, Qrels, a frame with the columns qid, docno and label, or {topic: {document: grade}}"


def list_of_runs(runs: AnyRuns) -> list[AnyRun]:
    """Returns one run or several runs as a list. The runs can have any form and aren't converted. If they are
    in a dictionary, its keys are dropped.
    """
    if _are_named(runs):
        return [*runs.values()]
    # Exclude sequences that are one run: strings are paths, and a ``Run`` is a sequence of lines. Bytes are
    # no valid run; there will be an error about them later.
    if isinstance(runs, Sequence) and not isinstance(runs, str | bytes | Run):
        return [*runs]
    return [runs]  # type: ignore[list-item]  # mypy doesn't see that no form of several runs is left


class RunSource(NamedTuple):
    """A run that hasn't been read yet.

    Attributes:
        path: the run's file. If it isn't in a file, the run's name, as a path.
        content: the run if it was passed as an object, or the bytes that were read from a pipe. None if the
            run is in a file, which ``read`` reads.
        name: the run's path or name, different from those of all other runs.
        passed: the run as it was passed.
        is_tag: whether the name is a key in a dictionary of runs. The key then replaces the tag on all lines.
    """

    path: Path
    content: bytes | Run | None
    name: Path
    passed: AnyRun | None = None
    is_tag: bool = False

    def read(self, *, by_stance: bool = False) -> Run:
        """Reads the run and gives it its name.

        Args:
            by_stance: whether each stance has its own ranking. Lines that don't count are then allowed,
                because the organizers' script skips them.

        Raises:
            InputError: if it's unusable.
        """
        if isinstance(self.content, Run):
            # Give it the name before the checks, because errors contain the name.
            run = self.named(self.content)
            return run if by_stance else checked(run)
        if by_stance:
            return self.named(read_script_lines(self.path, self.content))
        return self.named(read_run(self.path, self.content))

    def named(self, run: Run) -> Run:
        """Returns the run with the name of this source."""
        return run.called(str(self.name)) if self.is_tag else replace(run, path=self.name)


def run_sources(runs: AnyRuns, *, distinct: bool = True) -> list[RunSource]:
    """Returns the sources of one run or several. No file is read yet. If runs have the same name, numbers are
    added.

    Args:
        runs: the runs, or a dictionary of runs by name; ``-`` is standard input.
        distinct: whether passing the same file or object twice is an error.

    Raises:
        ToucheError: if a run in memory is unusable, a run or name is passed twice, or a path is a folder.
    """
    source_by_identity = dict[object, RunSource]()
    names_taken = set[Path]()
    sources = list[RunSource]()
    for run in list_of_runs(runs):
        identity = resolved(expanded(run)) if is_path(run) else id(run)
        if identity not in source_by_identity:
            source_by_identity[identity] = _source(run, names_taken)
        elif str(run) == STANDARD_INPUT:
            raise InputError(STANDARD_INPUT, "standard input, passed twice", "pass it once")
        elif distinct:
            raise InputError(source_by_identity[identity].name, "passed twice", "pass it once")
        sources.append(source_by_identity[identity])
    return _named(sources, [*runs]) if _are_named(runs) else sources


def _source(run: AnyRun, names_taken: set[Path]) -> RunSource:
    """Returns a run's source and adds the run's name to ``names_taken``. If the name is already taken, the
    run is called ``NAME (2)``, ``NAME (3)`` and so on.
    """
    content: bytes | Run | None
    if is_path(run):
        path = Path(expanded(run))
        content = content_of_pipe(path)
        if content is None and is_file(path / RUN_FILE):
            raise InputError(path, "a folder", f"pass its run, {path / RUN_FILE}")
    else:
        content = run_of(run)
        path = content.path
    name = Path(numbered(str(path), {*map(str, names_taken)}))
    names_taken.add(name)
    return RunSource(path=path, content=content, name=name, passed=run)


def _named(sources: Sequence[RunSource], keys: Sequence[Any]) -> list[RunSource]:
    """Returns the sources of a dictionary's runs, with its keys as names."""
    named = dict[Path, RunSource]()
    for key, source in zip(keys, sources, strict=True):
        name = one_line(str(key)).strip()
        if not name:
            raise ToucheError(f"{quoted(key)} is not the name of a run; use a text such as its method")
        if Path(name) in named:
            raise InputError(Path(name), "passed twice", "pass it once")
        named[Path(name)] = source._replace(name=Path(name), is_tag=True)
    return [*named.values()]


def read_runs(runs: AnyRuns, *, distinct: bool = True) -> list[Run]:
    """Reads one run or several, each file once. Arguments and errors are the same as for ``run_sources`` and
    ``read_sources``, which it calls.
    """
    return read_sources(run_sources(runs, distinct=distinct))


def read_sources(sources: Sequence[RunSource], *, by_stance: bool = False) -> list[Run]:
    """Reads runs. A file that is passed twice is read once.

    Args:
        sources: the runs.
        by_stance: whether each stance has its own ranking, as in ``RunSource.read``.

    Raises:
        ToucheError: if a run is unusable, or some of several files aren't runs.
    """
    source_by_name = {source.name: source for source in sources}
    try:
        run_by_name = {name: source.read(by_stance=by_stance) for name, source in source_by_name.items()}
    except InputError:
        check_all_are_runs(sources)
        raise
    return [run_by_name[source.name] for source in sources]


def check_all_are_runs(sources: Sequence[RunSource]) -> None:
    """Raises an error if several files were passed and some of them aren't runs, which happens with patterns
    such as ``out/bm25/*``. A single file isn't checked here: when it's read, the error about its first broken
    line says more.
    """
    files = [source.path for source in sources if source.content is None]
    reason_by_file = {str(path): why_no_run(path) for path in files} if len(sources) > 1 else {}
    other_files = [file for file, reason in reason_by_file.items() if reason]
    if len(other_files) == 1:
        problem = f"{other_files[0]} is not a run; pass only runs, such as {RUN_FILE}"
        raise ToucheError(f"{problem} ({reason_by_file[other_files[0]]})")
    if other_files:
        raise ToucheError(f"{', '.join(other_files)} are not runs; pass only runs, such as {RUN_FILE}")


def _are_named(runs: Any) -> TypeGuard[Mapping[str, AnyRun]]:
    """Returns whether a value is a dictionary of runs by name, rather than a dictionary with one run's scores
    by topic.
    """
    return isinstance(runs, Mapping) and any(map(_is_run, runs.values()))


def _is_run(value: Any) -> bool:
    """Returns whether a value is one run. Other possible values are several runs, or the scores of one
    topic's documents.
    """
    if isinstance(value, Mapping):
        return any(isinstance(documents, Mapping) for documents in value.values())
    return isinstance(value, Run) or is_path(value) or is_frame(value)


def run_of(source: AnyRun, name: str = "run") -> Run:
    """Returns a run in any form as ``Run``.

    If the source contains no ranks, documents are ranked in trec_eval's order: by descending score, ties by
    descending id.

    Args:
        source: the run.
        name: the run's name if it has no tag.

    Returns:
        The run. If a frame's ranks start at 0, as in PyTerrier, 1 is added.

    Raises:
        ToucheError: if the run is empty, a column is missing or occurs twice, an id is neither a word nor an
            integer, a rank isn't an integer, a score isn't finite, or a topic contains a document twice. Also
            if the source has none of the forms.

    Examples:
        >>> import touche
        >>> run = touche.run_of({"1": {"d1": 1.0, "d2": 2.5}})
        >>> sorted((hit.rank, hit.document, hit.score) for hit in run)
        [(1, 'd2', 2.5), (2, 'd1', 1.0)]
    """
    check_text("name", name)
    if isinstance(source, Run):
        return source
    if is_path(source):
        path = Path(expanded(source))
        return read_run(path, content_of_pipe(path))
    if not is_frame(source) and not isinstance(source, Mapping):
        raise unusable(source, name, "a run", _RUN_FORMS, of_iterator="a list of its runs")
    tag = getattr(source, "attrs", {}).get("tag") or ""  # only frames have ``attrs``
    name = one_line(str(tag)).strip() or name
    table = _table(source, name, ("qid", "docno", "score"), optional=("rank", "stance"))
    size = len(table["qid"])
    topics = _ids(table, "qid", name)
    documents = _ids(table, "docno", name)
    ranks = [1] * size  # placeholders: if the source has no ranks, ``ranked_by_score`` computes them below
    if "rank" in table:
        ranks = _numbers(table, "rank", name, _is_rank, "a whole number from 0")
        if 0 in ranks:  # the ranks start at 0, as in PyTerrier, but we count them from 1
            ranks = [int(rank) + 1 for rank in ranks]
    scores = _numbers(table, "score", name, is_score, "a finite number as float32")
    stances = [NO_STANCE] * size
    if "stance" in table:
        table["stance"] = [NO_STANCE if _is_missing(value) else value for value in table["stance"]]
        stances = _ids(table, "stance", name)
    columns = Columns()
    columns.add(
        topics=topics,
        stances=stances,
        documents=documents,
        ranks=ranks,
        scores=scores,
        tags=[name] * size,
        line_numbers=range(1, size + 1),
    )
    run = checked(columns.run(name), "check what made it")
    if "rank" not in table:
        return run.ranked_by_score()
    # Sort the lines by topic and rank. The order of rows in a frame means nothing, but the order of lines in
    # a run can decide which lines count.
    return run.take(np.concatenate([*run.rankings.by_rank.values()]))


def qrels_of(source: AnyQrels, name: str = "qrels") -> Qrels:
    """Returns relevance judgments in any form as ``Qrels``.

    Args:
        source: the judgments.
        name: their name in errors.

    Returns:
        The grades by topic and document.

    Raises:
        ToucheError: if there are no judgments, a column is missing or occurs twice, an id is neither a word
            nor an integer, a label isn't an integer, or a document has two labels. Also if the source has
            none of the forms.

    Examples:
        >>> import touche
        >>> qrels = touche.qrels_of({"1": {"d1": 2, "d2": 0}})
        >>> qrels["1"]["d1"]
        2
    """
    check_text("name", name)
    if isinstance(source, Qrels):
        return _whole_grades(source, name)
    if is_path(source):
        path = Path(expanded(source))
        return read_qrels(path, content=content_of_pipe(path))
    if not is_frame(source) and not isinstance(source, Mapping):
        raise unusable(source, name, "qrels", _QRELS_FORMS)
    table = _table(source, name, ("qid", "docno", "label"))
    topics = _ids(table, "qid", name)
    documents = _ids(table, "docno", name)
    grades = _numbers(table, "label", name, _is_label, f"a whole number up to {LARGEST_GRADE:,}")
    qrels = Qrels()
    for row, (topic, document, grade) in enumerate(zip(topics, documents, grades, strict=True), 1):
        qrels.add(topic, document, int(grade), name, row)
    if not qrels:
        raise ToucheError(f"{name}: no judgments in it; pass at least one")
    return qrels


def _whole_grades(qrels: Qrels, name: str) -> Qrels:
    """Checks ``Qrels`` that a user created, and converts their grades to integers: they may be floats such as
    2.0. Ids may contain blanks, as in BEIR.

    Raises:
        ToucheError: if a grade isn't a whole number.
    """
    whole = Qrels()
    for topic, grades in qrels.items():
        if not isinstance(grades, Mapping):
            raise ToucheError(f"{name}: topic {quoted(topic)} has {quoted(grades)}; pass grades by document")
        whole[topic] = {}
        for document, passed in grades.items():
            grade = as_number(passed)
            if not _is_label(grade):
                where = f"document {quoted(document)} of topic {quoted(topic)} has the grade {quoted(passed)}"
                raise ToucheError(f"{name}: {where}; use whole numbers up to {LARGEST_GRADE:,}")
            whole[topic][document] = int(grade)
    return whole


class QrelsSource(NamedTuple):
    """The user's judgments, which are used instead of the task's and haven't been read yet.

    Attributes:
        path: the file, or, if they aren't in a file, what to call them in error messages.
        content: the judgments if they were passed as an object, or the bytes that were read from a pipe. None
            if they are in a file.
    """

    path: Path
    content: bytes | Qrels | None

    @property
    def file(self) -> Path:
        """The file that the dimension is named after, or ``qrels``."""
        return self.path if self.content is None else Path(IN_MEMORY)


def qrels_source(qrels: AnyQrels | None) -> QrelsSource | None:
    """Returns the source of judgments in any form. No file is read yet. Returns None for None.

    Raises:
        ToucheError: if the file is missing, or judgments in memory are unusable.
    """
    if qrels is None:
        return None
    if not is_path(qrels):
        return QrelsSource(Path(IN_MEMORY), qrels_of(qrels))
    path = Path(expanded(qrels))
    content = content_of_pipe(path)
    if content is None and not is_file(path):
        raise InputError(path, "no such file of qrels", "check the path")
    return QrelsSource(path, content)


def _table(
    source: Frame | Mapping[Any, Any], source_name: str, required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """Returns the columns of a frame, or of a dictionary ``{topic: {document: value}}``. The keys are
    PyTerrier's column names.

    Args:
        source: the run or judgments.
        source_name: what to call the source in error messages.
        required: the names of the columns that the source must have.
        optional: further columns, which only frames may have.
    """
    if isinstance(source, Mapping):
        return _columns_of_mapping(source, source_name, required)
    return _columns_of_frame(as_pandas(source), source_name, required, optional)


def _columns_of_mapping(
    source: Mapping[Any, Any], source_name: str, required: Sequence[str]
) -> dict[str, list[Any]]:
    """Returns the columns of ``{topic: {document: value}}``. ``required`` contains the names for topic,
    document and value, in this order.
    """
    for topic, documents in source.items():
        if not isinstance(documents, Mapping):
            problem = f"topic {quoted(topic)} has {quoted(documents)}"
            forms = f"write {{topic: {{document: {required[-1]}}}}}, or pass a frame of records"
            remedy = remedy_for(documents) or forms
            raise ToucheError(f"{source_name}: {problem}; {remedy}")
    topic_column, document_column, value_column = required
    return {
        topic_column: [topic for topic, documents in source.items() for _ in documents],
        document_column: [document for documents in source.values() for document in documents],
        value_column: [value for documents in source.values() for value in documents.values()],
    }


def _columns_of_frame(
    frame: Any, source_name: str, required: Sequence[str], optional: Sequence[str]
) -> dict[str, list[Any]]:
    """Returns the columns that a pandas frame contains, by their PyTerrier names.

    Raises:
        ToucheError: if a required column is missing, or a column occurs twice, be it with the same name or
            once with each library's name.
    """
    table = {}
    for column in (*required, *optional):
        names = (column, _OTHER_NAMES[column])
        present = [name for name in frame.columns if name in names]
        if not present and column in optional:
            continue
        if len(present) != 1:
            columns = counted(len(present), "column") if present else "no column"
            raise ToucheError(f"{source_name} has {columns} {column!r}; it needs {', '.join(required)}")
        table[column] = frame[present[0]].to_list()
    return table


def _ids(table: Mapping[str, list[Any]], column: str, source_name: str) -> list[str]:
    """Returns a column of ids as strings. Integers, including numpy's, are converted."""
    ids = [
        value if type(value) is str else as_id(value) for value in table[column]
    ]  # ``type(...) is str`` comes first because it's fast
    for row, value in enumerate(ids, 1):
        if not is_word(value):
            problem = f"{column} {quoted(value)} is not an id"
            raise InputError(source_name, problem, NO_TEXT, line=row)
    return ids  # type: ignore[return-value]


def _numbers(
    table: Mapping[str, list[Any]],
    column: str,
    source_name: str,
    is_valid: Callable[[Any], bool],
    description: str,
) -> list[Any]:
    """Returns a column of numbers. Raises an error if ``is_valid`` returns False for one of them."""
    # Check for float first, because that's fast and most values are floats.
    values = [value if type(value) is float else as_number(value) for value in table[column]]
    for row, value in enumerate(values, 1):
        if not is_valid(value):
            remedy = "convert the texts to numbers" if isinstance(value, str) else "correct it"
            raise InputError(source_name, f"{column} {quoted(value)} is not {description}", remedy, line=row)
    return values


def _is_missing(value: Any) -> bool:
    """Returns whether a frame's cell is empty."""
    import pandas  # an optional dependency, but it must be installed if the user passes a frame

    return value == "" if isinstance(value, str) else bool(pandas.isna(value))


def _is_rank(value: Any) -> bool:
    """Returns whether a value can be a rank: a whole number that is at least 0 and has up to 18 digits, as in
    files.
    """
    return _is_whole(value) and 0 <= value < 10**MOST_DIGITS


def _is_whole(value: Any) -> bool:
    """Returns whether a value is a whole number, including numpy's. The first check is fast."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def _is_label(value: Any) -> bool:
    """Returns whether a value is a grade: a whole number, which may be a float such as 2.0."""
    is_float = isinstance(value, float) and value.is_integer()
    return (_is_whole(value) or is_float) and abs(value) <= LARGEST_GRADE
