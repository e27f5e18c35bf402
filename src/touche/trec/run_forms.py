"""Runs and qrels in the forms of other tools: frames, dictionaries and records."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from touche.errors import InputError, ToucheError, counted, one_line
from touche.io.identifiers import NO_TEXT, as_id, expanded, is_word, quoted
from touche.io.opening import STANDARD_INPUT, content_of_pipe, is_file, resolved
from touche.trec.columns import NO_STANCE, Columns, Run
from touche.trec.qrels import LARGEST_GRADE, Qrels, read_qrels
from touche.trec.records_in_memory import USED_UP, as_pandas, is_frame
from touche.trec.runs import MOST_DIGITS, RUN_FILE, checked, is_other_file, is_score, read_run

AnyRun: TypeAlias = Any
"""A run in one of its forms:

* the path of a run file, or an open text file; ``-`` is standard input
* a frame of pandas, or one with ``to_pandas()``, with the columns of PyTerrier (qid, docno, score, and
  perhaps rank and stance) or of ir_measures (query_id, doc_id, score); its name is the tag in its ``attrs``
* the scores of documents by topic, ``{topic: {document: score}}``, as in pytrec_eval
* a list of records with query_id, doc_id and score, such as ScoredDoc of ir_measures
* any run that ``touche`` returns

Functions for several runs take a list of them, or a dictionary of runs by names of your choice.
"""
AnyQrels: TypeAlias = Any
"""Judgments in one of the forms of runs, with label (PyTerrier) or relevance (ir_measures) for score."""

# Names of columns, most as in PyTerrier, each with its name in ir_measures; some names are equal.
_OTHER_NAMES = {
    "qid": "query_id",
    "docno": "doc_id",
    "score": "score",
    "rank": "rank",
    "stance": "stance",
    "label": "relevance",
}
IN_MEMORY = "qrels"  # the name of qrels without a file
_REMEDY = "pass a path, a frame, scores by topic and document, or records"


def list_of_runs(runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun]) -> list[AnyRun]:
    """Returns one run or several as a list, in their forms; of a dictionary of runs by name, the values."""
    if _are_named(runs):
        return [*runs.values()]
    if _is_one(runs):
        return [runs]
    items = list(runs)
    is_list_of_records = bool(items) and all(map(_is_record, items))  # which is one run
    return [items] if is_list_of_records else items


class RunSource(NamedTuple):
    """A run that is to be read.

    Attributes:
        path: its file, or its name if it has none.
        content: the run, or the bytes of a pipe or an open file; None if they are in the file.
        name: its path or name, which differs from those of the other runs.
        passed: the run as it was passed.
        is_tag: whether the name, a key of a dictionary, replaces the tags.
    """

    path: Path
    content: bytes | Run | None
    name: Path
    passed: AnyRun = None
    is_tag: bool = False

    def read(self) -> Run:
        """Returns the run with its name.

        Raises:
            InputError: if it is unusable.
        """
        if isinstance(self.content, Run):
            return checked(self.named(self.content))  # named first, for errors
        return self.named(read_run(self.path, self.content))

    def named(self, run: Run) -> Run:
        """Returns a run with the name of this source."""
        return run.called(str(self.name)) if self.is_tag else replace(run, path=self.name)


def run_sources(
    runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun], *, distinct: bool = True
) -> list[RunSource]:
    """Returns one run or several before their files are read; runs with the same name are numbered.

    Args:
        runs: the runs, or the runs by names of your choice; ``-`` is standard input.
        distinct: whether to refuse a run that is passed twice: the same file or the same object.

    Raises:
        ToucheError: if a run in memory is unusable, a run or a name is passed twice, or a path is that of a
            folder.
    """
    source_by_identity = dict[object, RunSource]()
    taken_paths = set[str]()
    sources = list[RunSource]()
    for run in list_of_runs(runs):
        path = Path(expanded(run)) if isinstance(run, str | PathLike) else None
        if path is not None and is_file(path / RUN_FILE):
            raise InputError(path, "a folder", f"pass its run, {path / RUN_FILE}")
        identity = id(run) if path is None else resolved(path)
        if identity not in source_by_identity:
            source_by_identity[identity] = _source(run, path, taken_paths)
        elif path is not None and str(path) == STANDARD_INPUT:
            raise InputError(STANDARD_INPUT, "standard input, passed twice", "pass it once")
        elif distinct:
            name = getattr(run, "path", "run") if path is None else path  # of a Run
            raise InputError(name, "passed twice", "pass it once")
        sources.append(source_by_identity[identity])
    return _named(sources, [*runs]) if _are_named(runs) else sources


def _named(sources: Sequence[RunSource], keys: Sequence[Any]) -> list[RunSource]:
    """Returns the runs of a dictionary with its keys as names."""
    names = [one_line(str(name)).strip() for name in keys]
    for key, name in zip(keys, names, strict=True):
        if not name:
            raise ToucheError(f"{quoted(key)} is not the name of a run; use a text such as its method")
    for path, count in Counter(map(Path, names)).items():
        if count > 1:
            raise InputError(path, "passed twice", "pass it once")
    return [
        source._replace(name=Path(name), is_tag=True) for source, name in zip(sources, names, strict=True)
    ]


def _source(run: AnyRun, path: Path | None, taken_paths: set[str]) -> RunSource:
    """Returns the source of a run; if its name is taken, it gets a name such as ``NAME (2)``.

    Args:
        run: the run.
        path: its path; None for a run in memory.
        taken_paths: the resolved paths or names of other runs; that of this run is added.
    """
    content: bytes | Run | None
    if path is not None:
        content = content_of_pipe(path)
    elif hasattr(run, "read") and not isinstance(run, Run):  # a Run would first build its frame
        path, content = _read_open_file(run)
    else:
        content = run_of(run)
        path = content.path
    name = path
    number = 1
    while resolved(name) in taken_paths:
        number += 1
        name = Path(f"{path} ({number})")
    taken_paths.add(resolved(name))
    return RunSource(path, content, name, run)


def read_runs(runs: AnyRun | Sequence[AnyRun] | Mapping[str, AnyRun], *, distinct: bool = True) -> list[Run]:
    """Reads one run or several, each file once; arguments and errors as in the two functions called here."""
    return read_sources(run_sources(runs, distinct=distinct))


def read_sources(sources: Sequence[RunSource]) -> list[Run]:
    """Reads runs, each file once, also if it is passed twice.

    Raises:
        ToucheError: if a run is unusable, or some of several files are not runs.
    """
    source_by_name = {source.name: source for source in sources}
    try:
        run_by_name = {name: source.read() for name, source in source_by_name.items()}
    except InputError:
        check_all_are_runs(sources)
        raise
    return [run_by_name[source.name] for source in sources]


def check_all_are_runs(sources: Sequence[RunSource]) -> None:
    """Raises an error if some of several files are not runs, such as those of a pattern like ``out/bm25/*``.

    A single file has the error of its first broken line.
    """
    files = [source.path for source in sources if source.content is None]
    other_files = [str(path) for path in files if is_other_file(path)] if len(sources) > 1 else []
    if other_files:
        are = "is not a run" if len(other_files) == 1 else "are not runs"
        raise ToucheError(f"{', '.join(other_files)} {are}; pass only runs, such as {RUN_FILE}")


def _are_named(runs: Any) -> TypeGuard[Mapping[str, AnyRun]]:
    """Returns whether a dictionary has runs by name, instead of the scores of one run by topic."""
    return isinstance(runs, Mapping) and any(_is_run(run) for run in runs.values())


def _is_run(source: Any) -> bool:
    """Returns whether a value of a dictionary is a run, and not the scores of a topic's documents."""
    if isinstance(source, Mapping):
        return any(isinstance(documents, Mapping) for documents in source.values())
    if isinstance(source, Iterator):  # of records; the scores of documents cannot be one
        return True
    if isinstance(source, list | tuple):
        return bool(source) and all(map(_is_record, source))
    # The score of a document is not a run, although _is_one is True for it; None is a missing score.
    return _is_one(source) and not isinstance(source, Real | None)


def _is_one(runs: Any) -> bool:
    """Returns whether a value is one run, in any form except a list of records.

    A value that cannot be a run, such as a number, is also True; ``run_of`` refuses it later.
    """
    if isinstance(runs, str | PathLike | Mapping | Run) or not isinstance(runs, Iterable):
        return True
    return hasattr(runs, "read") or is_frame(runs)


def _is_record(value: Any) -> bool:
    """Returns whether a value is a record of ir_measures, and not a frame with such columns."""
    # A Run would first build its frame, because it has the attributes of the frame.
    return not isinstance(value, Run) and hasattr(value, "query_id") and not hasattr(value, "columns")


def run_of(source: AnyRun, name: str = "run") -> Run:
    """Returns a run in any form as ``Run``.

    Without ranks, documents are in trec_eval's order: by descending score, ties by descending id.

    Args:
        source: the run.
        name: name of the run if it has no tag.

    Returns:
        The run. If the ranks of a frame start at 0, as in PyTerrier, 1 is added to each.

    Raises:
        ToucheError: if the run is empty, or a column is missing or occurs twice. Also if an id is neither a
            word nor an integer, a rank is not an integer, a score is not finite, or a topic has a document
            twice.

    Examples:
        >>> import touche
        >>> run = touche.run_of({"1": {"d1": 1.0, "d2": 2.5}})
        >>> sorted((hit.rank, hit.document, hit.score) for hit in run)
        [(1, 'd2', 2.5), (2, 'd1', 1.0)]
    """
    if isinstance(source, Run):
        return source
    if isinstance(source, str | PathLike):
        path = Path(expanded(source))
        return read_run(path, content_of_pipe(path))
    if hasattr(source, "read"):
        return read_run(*_read_open_file(source))
    name = _run_name(source, name)
    table = _table(source, name, ("qid", "docno", "score"), optional=("rank", "stance"))
    size = len(table["qid"])
    topics = _ids(table, "qid", name)
    documents = _ids(table, "docno", name)
    # Without ranks, all get 1, which ``ranked_by_score`` replaces at the end.
    ranks = _numbers(table, "rank", name) if "rank" in table else [1] * size
    if min(ranks, default=1) == 0:  # PyTerrier's ranks start at 0, those of files at 1
        ranks = [int(rank) + 1 for rank in ranks]
    scores = _numbers(table, "score", name)
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
        numbers=range(1, size + 1),
    )
    run = checked(columns.run(name), f"check what made it {USED_UP}")
    return run if "rank" in table else run.ranked_by_score()


def qrels_of(source: AnyQrels, name: str = "qrels") -> Qrels:
    """Returns relevance judgments in any form as ``Qrels``.

    Args:
        source: the judgments.
        name: name in errors.

    Returns:
        The grades by topic and document.

    Raises:
        ToucheError: if there are no judgments, or a column is missing or occurs twice. Also if an id is
            neither a word nor an integer, a label is not an integer, or a document has two labels.

    Examples:
        >>> import touche
        >>> qrels = touche.qrels_of({"1": {"d1": 2, "d2": 0}})
        >>> qrels["1"]["d1"]
        2
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, str | PathLike):
        path = Path(expanded(source))
        return read_qrels(path, content=content_of_pipe(path))
    if hasattr(source, "read"):
        path, content = _read_open_file(source)
        return read_qrels(path, content=content)
    table = _table(source, name, ("qid", "docno", "label"))
    topics = _ids(table, "qid", name)
    documents = _ids(table, "docno", name)
    grades = _numbers(table, "label", name)
    qrels = Qrels()
    for row, (topic, document, grade) in enumerate(zip(topics, documents, grades, strict=True), 1):
        qrels.add(topic, document, int(grade), name, row)
    if not qrels:
        raise ToucheError(f"{name}: no judgments in it; {_REMEDY} {USED_UP}")
    return qrels


class QrelsSource(NamedTuple):
    """Judgments that replace those of a task.

    Attributes:
        path: their file, or their name in errors.
        content: the judgments, or the bytes of a pipe; None if they are in the file.
    """

    path: Path
    content: bytes | Qrels | None

    @property
    def file(self) -> Path:
        """The file, whose name is that of the dimension, or ``qrels``."""
        return self.path.absolute() if self.content is None else Path(IN_MEMORY)


def qrels_source(qrels: AnyQrels) -> QrelsSource | None:
    """Returns judgments in any form before their file is read; None stays None.

    Raises:
        ToucheError: if the file is missing, or judgments in memory are unusable.
    """
    if qrels is None:
        return None
    if not isinstance(qrels, str | PathLike):
        return QrelsSource(Path(IN_MEMORY), qrels_of(qrels))
    path = Path(expanded(qrels))
    content = content_of_pipe(path)
    if content is None and not is_file(path):
        raise InputError(path, "no such file of qrels", "check the path")
    return QrelsSource(path, content)


def _read_open_file(file: Any) -> tuple[Path, bytes]:
    """Returns the name and the content of an open file of texts or bytes."""
    name = str(getattr(file, "name", "the open file"))
    try:
        content = file.read()
    except (OSError, ValueError) as error:  # closed, opened for writing, or not UTF-8
        raise InputError(name, f"cannot be read ({error})", "open it as text, or pass its path") from error
    if isinstance(content, str):
        # Lone surrogates stay, so that the reader refuses their line as not UTF-8.
        content = content.encode("utf-8", "surrogatepass")
    return Path(name), content


def _run_name(source: Any, default: str) -> str:
    """Returns the tag of a frame as one line; ``default`` if there is none."""
    name = getattr(source, "attrs", {}).get("tag")
    one_line_name = one_line(str(name)).strip() if name else ""
    return one_line_name or default


def _table(
    source: Any, source_name: str, wanted: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """Returns the columns of a frame, mapping or list of records, by their names in PyTerrier.

    Args:
        source: the run or the judgments.
        source_name: their name in errors.
        wanted: the columns of topics, documents and values.
        optional: further columns, which only frames can have.
    """
    if is_frame(source):
        return _columns_of_frame(as_pandas(source), source_name, wanted, optional)
    if isinstance(source, Mapping):
        return _columns_of_mapping(source, source_name, wanted)
    # A text never comes here, because it is the path of a file.
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        records = list(source)
        attributes = [_OTHER_NAMES[column] for column in wanted]
        for row, record in enumerate(records, 1):
            if not all(hasattr(record, attribute) for attribute in attributes):
                problem = f"{quoted(record)} does not have {', '.join(attributes)}"
                raise InputError(source_name, problem, "pass records of ir_measures", line=row)
        return {column: [getattr(record, _OTHER_NAMES[column]) for record in records] for column in wanted}
    raise ToucheError(f"{source_name}: {quoted(source)} is neither a run nor judgments; {_REMEDY}")


def _columns_of_mapping(
    source: Mapping[Any, Any], source_name: str, wanted: Sequence[str]
) -> dict[str, list[Any]]:
    """Returns the columns of ``{topic: {document: value}}``; ``wanted`` has their names in this order."""
    for topic, documents in source.items():
        if not isinstance(documents, Mapping):
            problem = f"topic {quoted(topic)} has {quoted(documents)}"
            raise ToucheError(f"{source_name}: {problem}; write {{topic: {{document: {wanted[-1]}}}}}")
    topic_column, document_column, value_column = wanted
    return {
        topic_column: [topic for topic, documents in source.items() for _ in documents],
        document_column: [document for documents in source.values() for document in documents],
        value_column: [value for documents in source.values() for value in documents.values()],
    }


def _columns_of_frame(
    frame: Any, source_name: str, wanted: Sequence[str], optional: Sequence[str]
) -> dict[str, list[Any]]:
    """Returns those of the columns that a frame of pandas has, by their names in PyTerrier.

    Raises:
        ToucheError: if the frame lacks a wanted column, or has a column twice, also by its other name.
    """
    table = {}
    for column in (*wanted, *optional):
        names = (column, _OTHER_NAMES[column])
        present = [name for name in frame.columns if name in names]
        if not present and column in optional:
            continue
        if len(present) != 1:
            columns = counted(len(present), "column") if present else "no column"
            raise ToucheError(f"{source_name} has {columns} {column!r}; it needs {', '.join(wanted)}")
        table[column] = frame[present[0]].to_list()
    return table


def _ids(table: Mapping[str, list[Any]], column: str, source_name: str) -> list[str]:
    """Returns ids as texts; integers are also ids. Both may be of numpy's types."""
    ids = [value if type(value) is str else as_id(value) for value in table[column]]  # the first test is fast
    for row, value in enumerate(ids, 1):
        if not is_word(value):
            problem = f"{column} {quoted(value)} is not an id"
            raise InputError(source_name, problem, NO_TEXT, line=row)
    return ids  # type: ignore[return-value]


def _numbers(table: Mapping[str, list[Any]], column: str, source_name: str) -> list[Any]:
    """Returns the values of a column, which have to be valid ranks, scores or labels."""
    is_valid, description = _CHECKS[column]
    for row, value in enumerate(table[column], 1):
        if not is_valid(value):
            remedy = "convert the texts to numbers" if isinstance(value, str) else "correct it"
            raise InputError(source_name, f"{column} {quoted(value)} is not {description}", remedy, line=row)
    return table[column]


def _is_missing(value: Any) -> bool:
    """Returns whether a cell of a frame is empty."""
    return value is None or value == "" or value != value  # only NaN differs from itself


def _is_rank(value: Any) -> bool:
    """Returns whether a value is a whole number from 0 with up to 18 digits, as in files."""
    return _is_whole(value) and 0 <= value < 10**MOST_DIGITS


def _is_whole(value: Any) -> bool:
    """Returns whether a value is a whole number, also of numpy; the first test is fast."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def _is_label(value: Any) -> bool:
    """Returns whether a value is a grade: a whole number, which may be a float such as 2.0."""
    is_float = isinstance(value, float) and value.is_integer()
    return (_is_whole(value) or is_float) and abs(value) <= LARGEST_GRADE


_CHECKS = {
    "rank": (_is_rank, "a whole number from 0"),
    "score": (is_score, "a finite number as float32"),
    "label": (_is_label, f"a whole number up to {LARGEST_GRADE:,}"),
}
