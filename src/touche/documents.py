"""Documents, and a streaming reader for each of the formats they come in.

Every reader yields one record at a time and keeps nothing but the ids it has seen, to refuse the second
document of one id. To read several files as one collection, hand the same set ``seen`` to each.
"""

import ast
import csv
import dataclasses
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, TypeGuard

import ijson

from touche.errors import InputError
from touche.files import LineCounter, decoded_lines, new_id, open_binary, read_jsonl, text_field
from touche.pages import Page, RawPage
from touche.topics import Topic, topic_of_query

_PAGE_FIELDS = [each.name for each in dataclasses.fields(Page) if each.name != "id"]
_DEEPEST_JSON = 100  # levels; real arguments have six
_LONGEST_CSV_FIELD = 1 << 26  # characters; beyond this a quote has been left open
_SENTENCE_ID = re.compile("__(CONC|PREMISE)__[1-9][0-9]*", re.ASCII)  # after the id of the argument
# How the literals of args_processed.csv look, but for a few.
_TEXT = r"""('[^'\\\n\r]*(?:\\[^\n\r][^'\\\n\r]*)*'|"[^"\\\n\r]*(?:\\[^\n\r][^"\\\n\r]*)*")"""
_RECORDS = {
    "premises": (
        ("text", "stance"),
        re.compile(rf"\{{'text': {_TEXT}, 'stance': {_TEXT}, 'annotations': \[\]\}}(, |\])"),
    ),
    "sentences": (
        ("sent_id", "sent_text"),
        re.compile(rf"\{{'sent_id': {_TEXT}, 'sent_text': {_TEXT}\}}(, |\])"),
    ),
}


@dataclass(frozen=True, slots=True)
class Document:
    """A web page, a passage, or whatever else has an id and a text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an argument, with its id in the corpus of 2022, such as ``S1-A1__PREMISE__2``."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the args.me corpus.

    Attributes:
        id: the id, such as ``S1039ff27-Afc270c6``.
        conclusion: the claim.
        premises: the texts of the reasons, nearly always one.
        stance: ``PRO`` or ``CON``, the stance of the premises towards the conclusion; empty where unknown.
        sentences: the sentences of the conclusion, then those of the premises, as in the processed corpus of
            2022; None where the corpus is not split.
    """

    id: str
    conclusion: str
    premises: tuple[str, ...]
    stance: str = ""
    sentences: tuple[Sentence, ...] | None = None

    @property
    def text(self) -> str:
        """Premises, a space, and the conclusion: one field, as in TIRA's copy of the corpus."""
        return " ".join((*self.premises, self.conclusion))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line of a re-ranking input: a document to be scored for a topic."""

    topic: Topic
    document: Document


AnyDocument = Document | Argument | Page


def read_documents_jsonl(path: Path, seen: set[str] | None = None) -> Iterator[Document | Page | RawPage]:
    """Reads TIRA's documents.jsonl: ``{"docno", "text"}`` on each line.

    In place of the text a web page can have ``html`` and ``url``, or the fields of ``Page``.

    Raises:
        InputError: naming the line that is broken or repeats an id.
    """
    seen = set() if seen is None else seen
    for line, record in read_jsonl(path):
        id = new_id(text_field(record, "docno", path, line), "document", seen, path, line)
        parts = {name: text_field(record, name, path, line) for name in _PAGE_FIELDS if name in record}
        if "html" in record:
            url = text_field(record, "url", path, line) if "url" in record else ""
            yield RawPage(id, url, text_field(record, "html", path, line).encode(), "utf-8")
        elif parts and "text" not in record:
            yield Page(id, **parts)
        else:
            yield Document(id, text_field(record, "text", path, line))


def read_passages_jsonl(path: Path, seen: set[str] | None = None) -> Iterator[Document]:
    """Reads the passages of 2022 task 2: ``{"id", "contents", "chatNoirUrl"}`` on each line.

    Raises:
        InputError: naming the line that is broken or repeats an id.
    """
    return _read_flat_jsonl(path, "id", "contents", seen)


def read_argsme_json(path: Path, seen: set[str] | None = None) -> Iterator[Argument]:
    """Reads a file of the args.me corpus: one object ``{"arguments": [...]}``, of any size.

    Raises:
        InputError: naming the line at which the JSON is broken, or an argument lacks a part or repeats an id.
    """
    seen = set() if seen is None else seen
    line = 0
    with open_binary(path, lambda: line + 1) as file:
        counter = _ShallowJson(file)
        try:
            for fields in ijson.items(counter, "arguments.item", use_float=True):
                line = counter.line
                yield _argument_of(fields, path, line, seen)
        except ijson.JSONError as error:
            raise InputError(path, _reason(error), "fetch the file again", max(1, counter.line)) from error


def read_args_processed_csv(path: Path, seen: set[str] | None = None) -> Iterator[Argument]:
    """Reads args_processed.csv of 2022 task 1, whose premises and sentences are Python literals.

    Raises:
        InputError: naming the line that is broken, holds no literal, or repeats an id.
    """
    seen = set() if seen is None else seen
    csv.field_size_limit(_LONGEST_CSV_FIELD)
    rows = csv.DictReader(decoded_lines(path), strict=True)
    try:
        for row in rows:
            yield _processed_argument_of(row, path, rows.reader.line_num, seen)
    except csv.Error as error:
        raise InputError(
            path, f"broken CSV ({error})", "fetch the file again", rows.reader.line_num
        ) from error


def read_rerank_jsonl(path: Path) -> Iterator[Candidate]:
    """Reads TIRA's rerank.jsonl: ``{"qid", "query", "docno", "text"}`` on each line.

    Raises:
        InputError: naming the line that is broken, repeats a document of a topic, or gives a topic another
            query or a document another text than a line before.
    """
    seen: dict[str, set[str]] = {}
    texts: dict[tuple[str, str], int] = {}  # by their hash, so that memory does not grow with them
    for line, fields in read_jsonl(path):
        topic = topic_of_query(fields, path, line, seen=set())
        docno, text = (text_field(fields, name, path, line) for name in ("docno", "text"))
        for key, value in ((("topic", topic.number), topic.title), (("document", docno), text)):
            if texts.setdefault(key, hash(value)) != hash(value):
                problem = f"{key[0]} {key[1]!r} has another text than before"
                raise InputError(path, problem, "give it one text throughout", line)
        of_topic = seen.setdefault(topic.number, set())
        yield Candidate(topic, Document(new_id(docno, "document", of_topic, path, line), text))


def _read_flat_jsonl(path: Path, id_name: str, text_name: str, seen: set[str] | None) -> Iterator[Document]:
    seen = set() if seen is None else seen
    for line, fields in read_jsonl(path):
        docno, text = (text_field(fields, name, path, line) for name in (id_name, text_name))
        yield Document(new_id(docno, "document", seen, path, line), text)


class _ShallowJson(LineCounter):
    """Refuses JSON nested absurdly deep, for which ijson would take memory by the square of the depth."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._depth, self._events = 0, ijson.sendable_list()
        self._parser = ijson.basic_parse_coro(self._events)

    def read(self, size: int = -1) -> bytes:
        piece = super().read(size)
        if piece:
            self._parser.send(piece)
        for event, _ in self._events:
            self._depth += event.startswith("start_") - event.startswith("end_")
            if self._depth > _DEEPEST_JSON:
                raise ijson.JSONError(f"nested deeper than {_DEEPEST_JSON} levels")
        self._events.clear()
        return piece


def _argument_of(fields: Any, path: Path, line: int, seen: set[str]) -> Argument:
    if not isinstance(fields, dict) or not _are_premises(premises := fields.get("premises")):
        problem, remedy = "an argument without premises", 'give it "premises": [{"text", "stance"}]'
        raise InputError(path, problem, remedy, line)
    return Argument(
        id=new_id(text_field(fields, "id", path, line), "argument", seen, path, line),
        conclusion=text_field(fields, "conclusion", path, line),
        premises=tuple(premise["text"] for premise in premises),
        stance=str(premises[0].get("stance") or "") if premises else "",
    )


def _reason(error: Exception) -> str:
    """What the JSON parser says, without the excerpt that it adds on further lines."""
    said = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return f"broken JSON ({text.splitlines()[0].rstrip('. ') if text.strip() else 'it is cut off'})"


def _processed_argument_of(row: dict[str, Any], path: Path, line: int, seen: set[str]) -> Argument:
    columns = {name: _records(row.get(name), name, path, line) for name in ("premises", "sentences")}
    argument = _argument_of(dict(row) | columns, path, line, seen)
    sentences = columns["sentences"]
    if not _are_sentences(sentences):
        problem, remedy = "sentences that are no list of sent_id and sent_text", "fetch the file again"
        raise InputError(path, problem, remedy, line)
    if problem := _wrong_id([each["sent_id"] for each in sentences], argument.id):
        raise InputError(path, problem, "fetch the file again", line)
    return replace(
        argument, sentences=tuple(Sentence(each["sent_id"], each["sent_text"]) for each in sentences)
    )


def _wrong_id(ids: Sequence[str], argument: str) -> str:
    """What is wrong with the ids of an argument's sentences, or nothing."""
    for id in ids:
        if not (id.startswith(argument) and _SENTENCE_ID.fullmatch(id, len(argument))):
            return f"sentence id {id!r} does not belong to argument {argument}"
    repeated = [id for id, count in Counter(ids).items() if count > 1]
    return f"sentence id {repeated[0]!r} occurs a second time" if repeated else ""


def _records(text: str | None, name: str, path: Path, line: int) -> Any:
    """The value of a column, which is a Python literal."""
    if text is None:
        raise InputError(path, f'no column "{name}"', "fetch the file again", line)
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes such as \d, which real texts hold
            records = _usual_records(text, *_RECORDS[name])
            return ast.literal_eval(text) if records is None else records
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise InputError(path, f'"{name}" is no Python literal', "fetch the file again", line) from error


def _usual_records(text: str, names: Sequence[str], pattern: re.Pattern[str]) -> list[dict[str, str]] | None:
    """The records of a list that looks as nearly all do, read by a pattern, which is faster; or None."""
    records, at, end = [], 1, ""
    while end != "]":
        match = pattern.match(text, at)
        if match is None:
            return None
        *literals, end = match.groups()
        records.append(dict(zip(names, map(_text_of_literal, literals), strict=True)))
        at = match.end()
    return records if text[0] == "[" and at == len(text) else None


def _text_of_literal(literal: str) -> str:
    return str(ast.literal_eval(literal)) if "\\" in literal else literal[1:-1]


def _are_premises(value: Any) -> TypeGuard[list[dict[str, str]]]:
    return _are_records(value, "text")


def _are_sentences(value: Any) -> TypeGuard[list[dict[str, str]]]:
    return _are_records(value, "sent_id", "sent_text")


def _are_records(value: Any, *names: str) -> bool:
    return isinstance(value, list) and all(
        isinstance(record, dict) and all(isinstance(record.get(name), str) for name in names)
        for record in value
    )
