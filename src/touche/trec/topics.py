"""Topics and their file formats."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from touche.errors import InputError, one_line
from touche.io.identifiers import check_new_id
from touche.io.json_lines import read_jsonl, text_field
from touche.io.opening import OF_TABLES, PACKED_SUFFIXES, open_binary, plain_name, read_lines

# Plain or packed; the first one found, in this order, is used.
TOPIC_FILES = ("topics.xml", "queries.jsonl", "queries.tsv", "topics.tsv")
NUMBER_NAMES = (
    "qid",
    "query_id",
    "number",
    "_id",
    "id",
)  # the field that contains the id; the first match counts
TITLE_NAMES = ("query", "title", "text")
# The same for XML: elements in a <topic>, or attributes for the number.
_XML_NAMES = {
    "number": ("number", "num", "id"),
    "title": ("title", "query"),
    "description": ("description",),
    "narrative": ("narrative",),
    "objects": ("objects",),
}
_LARGEST_XML = 1 << 24  # bytes; official files have about 40,000
_DEEPEST_XML = 100  # nested elements; deeper ones need much memory
# Lines can contain narratives or BEIR's metadata, so they are longer than a run's and slower to read.
_LIMITS = OF_TABLES._replace(longest_line=1 << 20, most_lines=500_000, least_bytes=20)
_LONGEST_REASON = 60  # characters


@dataclass(frozen=True)
class Topic:
    """An information need.

    Attributes:
        number: the topic's id, as in the first column of runs and qrels.
        title: the question, which all automatic runs use as their query.
        objects: what a comparative question compares (2022 task 2); otherwise empty.
        description: the user's situation; may be empty.
        narrative: what makes a document relevant; may be empty.
        candidates: ids of the documents to re-rank, or None for the whole collection.
    """

    number: str
    title: str
    objects: tuple[str, ...] = ()
    description: str = ""
    narrative: str = ""
    candidates: frozenset[str] | None = None


def in_order(number: str) -> tuple[int, str]:
    """Returns a sort key that puts topic 2 before topic 10."""
    return len(number), number


def name_of_topics(path: Path) -> str:
    """Returns what a topics file is called in an input directory."""
    suffix = Path(plain_name(path.name)).suffix
    return next((name for name in TOPIC_FILES if name.endswith(suffix)), TOPIC_FILES[0])


def read_topics(path: Path) -> tuple[Topic, ...]:
    """Reads a topics file: JSON lines if it's called .jsonl, TSV if it's called .tsv, otherwise XML.

    Raises:
        InputError: if the file is broken.
    """
    if ".jsonl" in path.suffixes:
        return tuple(read_queries_jsonl(path))
    return tuple(read_queries_tsv(path) if ".tsv" in path.suffixes else read_topics_xml(path))


def read_topics_xml(path: Path) -> list[Topic]:
    """Reads the organizers' topics.xml: a ``<topic>`` with ``<number>`` and ``<title>`` per topic.

    The number can also be an attribute, and the title a ``<query>``. An element's text includes that of
    elements inside it. Whitespace becomes single blanks. Files that declare entities are rejected.

    Raises:
        InputError: if the file is unreadable or not well-formed, there is no topic, or a topic lacks its
            title or number, or repeats a number.
    """
    seen: set[str] = set()
    topics = [_topic_of_texts(texts, path, line, seen) for line, texts in _parse_xml(path)]
    return _at_least_one(topics, path, "put a <topic> with <number> and <title> into it")


def read_queries_jsonl(path: Path) -> list[Topic]:
    """Reads JSON lines from TIRA, BEIR or ir_datasets: ``{"qid", "query"}``, ``{"_id", "text"}`` and so on.

    Description, narrative and objects come from TIRA's ``original_query``, BEIR's ``metadata``, or the line
    itself.

    Raises:
        InputError: if the file is unreadable, a line is broken, or a topic lacks or repeats its id.
    """
    seen: set[str] = set()
    lines = read_jsonl(path, _LIMITS)
    topics = [topic_of_query(_as_in_tira(fields), path, line, seen) for line, fields in lines]
    return _at_least_one(topics, path, 'put one {"qid", "query"} on each line')


def read_queries_tsv(path: Path) -> list[Topic]:
    """Reads lines with a topic's id and query, separated by a tab.

    Raises:
        InputError: if the file is unreadable, a line is broken, or a topic lacks or repeats its id.
    """
    seen: set[str] = set()
    topics = list[Topic]()
    for line, text in read_lines(path, _LIMITS):
        number, *queries = map(with_single_blanks, text.split("\t"))
        if len(queries) != 1 or not queries[0]:
            raise InputError(path, "not an id, a tab and a query", "write both, or queries.jsonl", line=line)
        is_header = line == 1 and number in NUMBER_NAMES and queries[0] in TITLE_NAMES
        if not is_header:
            topics.append(Topic(check_new_id(number, "topic", seen, path, line), queries[0]))
    return _at_least_one(topics, path, "write an id, a tab and a query on each line")


def first_name(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """Returns the first of these names that's in the record, or else the first name."""
    return next((name for name in names if name in fields), names[0])


def _as_in_tira(fields: dict[str, Any]) -> dict[str, Any]:
    """Renames a line's fields as in TIRA.

    TIRA puts a topic's other texts into ``original_query``, and ir_datasets into the line itself. This
    project writes them as BEIR metadata. Objects are what a comparative question compares.
    """
    number = first_name(fields, NUMBER_NAMES)
    title = first_name(fields, TITLE_NAMES)
    details = fields.get("original_query")
    if not isinstance(details, dict):
        metadata = fields.get("metadata") if number == "_id" else fields
        # Other projects may write values of any type; we only use strings.
        details = {
            name: value
            for name, value in (metadata.items() if isinstance(metadata, dict) else ())
            if isinstance(value, str) or (name == "objects" and _is_list_of_texts(value))
        }
    names = {"qid": number, "query": title}
    return {name: fields[own] for name, own in names.items() if own in fields} | {"original_query": details}


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _at_least_one(topics: list[Topic], path: Path, remedy: str) -> list[Topic]:
    """Returns a file's topics. If there are none, it raises an InputError."""
    if not topics:
        raise InputError(path, "no topics in this file", remedy)
    return topics


def topic_of_query(fields: dict[str, Any], path: Path, line: int, seen: set[str]) -> Topic:
    """Returns the topic in a line of queries.jsonl or rerank.jsonl.

    Args:
        fields: the line, with fields named as in TIRA.
        path, line: file and line, for errors.
        seen: the ids of earlier topics; repeating one is an error.
    """
    number = check_new_id(text_field(fields, "qid", path, line), "topic", seen, path, line)
    original = fields.get("original_query")
    details = {"objects": "", "description": "", "narrative": ""}
    if isinstance(original, dict):
        # Null and empty values count as missing.
        details |= {name: value for name, value in original.items() if value}
    return Topic(
        number=number,
        title=with_single_blanks(text_field(fields, "query", path, line)),
        objects=_objects(details["objects"], path, line),
        description=with_single_blanks(text_field(details, "description", path, line)),
        narrative=with_single_blanks(text_field(details, "narrative", path, line)),
    )


def _objects(value: Any, path: Path, line: int) -> tuple[str, ...]:
    """Returns the compared objects: a list of strings, or one string with commas."""
    if isinstance(value, str):
        value = value.split(",") if value.strip() else []
    if not _is_list_of_texts(value):
        problem = '"objects" is neither a string nor a list of strings'
        raise InputError(path, problem, "write the compared objects as a list", line=line)
    return tuple(map(with_single_blanks, value))


def _topic_of_texts(texts: Mapping[str, str], path: Path, line: int, seen: set[str]) -> Topic:
    """Returns a topic made of the texts from ``_parse_xml``."""
    if not texts["number"]:
        problem = "the topic has no number"
        raise InputError(path, problem, 'add a <number>, or an attribute number="1"', line=line)
    if not texts["title"]:
        raise InputError(path, "the topic has no title", "add a <title>", line=line)
    check_new_id(texts["number"], "topic", seen, path, line)
    return Topic(**{**texts, "objects": _objects(texts["objects"], path, line)})  # type: ignore[arg-type]


def _parse_xml(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Returns each ``<topic>``'s line and texts, which are named after ``Topic``'s fields."""
    target = _Topics(path)
    parser = DefusedXMLParser(target=target)
    target.expat = parser.parser
    with open_binary(path) as file:
        content = file.read(_LARGEST_XML + 1)
    if len(content) > _LARGEST_XML:
        raise InputError(path, "larger than 16 MiB", "check that this is a Touché topics file")
    try:
        parser.feed(content)
        parser.close()
        return target.topics
    except DefusedXmlException as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(path, "the file declares an entity", "remove the declaration", line=line) from error
    except (ParseError, LookupError, ValueError) as error:  # an unknown encoding raises one of the last two
        line = parser.parser.CurrentLineNumber
        problem = f"broken XML ({one_line(str(error))[:_LONGEST_REASON]})"
        remedy = "repair the file and save it in UTF-8"
        if b"<top>" in content:
            problem = "TREC's SGML, which is not XML"
            remedy = "write a <topic> with <number> and <title> for each <top>, or a tab between id and title"
            remedy += " in queries.tsv"
        raise InputError(path, problem, remedy, line=line) from error


class _Topics:
    """Collects topics' texts while the parser reads. There is no tree, because nesting could use much
    memory.

    Attributes:
        expat: the parser that calls this object and knows its current line.
        topics: each topic's line and texts.
    """

    expat: Any

    def __init__(self, path: Path) -> None:
        self.topics = list[tuple[int, dict[str, str]]]()
        self._path = path
        self._depth = 0
        self._topic_depth = 0  # where the open <topic> is nested; 0 outside
        self._line = 0
        self._number = ""  # the open <topic>'s attribute
        self._texts = dict[str, list[str]]()  # the open <topic>'s texts by element
        self._text: list[str] | None = None  # the text of the open element inside it

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST_XML:
            problem = f"more than {_DEEPEST_XML} elements in each other"
            remedy = "check that this is a Touché topics file"
            raise InputError(self._path, problem, remedy, line=self.expat.CurrentLineNumber)
        if tag == "topic" and not self._topic_depth:
            self._topic_depth = self._depth
            self._line = self.expat.CurrentLineNumber
            self._texts = {}
            numbers = (attributes.get(name, "") for name in _XML_NAMES["number"])
            self._number = with_single_blanks(next(filter(None, numbers), ""))
        elif (
            self._topic_depth == self._depth - 1 and tag not in self._texts
        ):  # if an element is repeated, the first one counts
            self._text = self._texts[tag] = []

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        if self._topic_depth == self._depth - 1:
            self._text = None
        elif self._topic_depth == self._depth:
            texts = {tag: with_single_blanks("".join(parts)) for tag, parts in self._texts.items()}
            fields = {
                field: next((texts[name] for name in names if texts.get(name)), "")
                for field, names in _XML_NAMES.items()
            }
            fields["number"] = fields["number"] or self._number
            self.topics.append((self._line, fields))
            self._topic_depth = 0
        self._depth -= 1

    def close(self) -> None:
        """Does nothing: the result is in ``topics``."""


def with_single_blanks(text: str) -> str:
    """Returns a text with whitespace as single blanks, and none around it."""
    return " ".join(text.split())


def topics_named(paths: Iterable[Path], folder: Path | str, more: str = "") -> Path:
    """Returns the topics file among a folder's files, by its name.

    Args:
        paths: all files.
        folder: their folder, for errors.
        more: ends the remedy in errors, such as ``, or pass --topics``.

    Raises:
        InputError: if no file has a name in ``TOPIC_FILES``, plain or packed.
    """
    files = paths_named(paths, TOPIC_FILES)
    if not files:
        remedy = f"put {' or '.join(TOPIC_FILES)} there, plain or packed ({', '.join(PACKED_SUFFIXES)}){more}"
        raise InputError(folder, "no topics in this folder", remedy)
    return files[0]


def paths_named(paths: Iterable[Path], names: Iterable[str]) -> tuple[Path, ...]:
    """Returns the files with these names, in the names' order, plain files before packed ones."""
    path_by_name = {path.name: path for path in paths}
    wanted = [f"{name}{suffix}" for name in names for suffix in ("", *PACKED_SUFFIXES)]
    return tuple(path_by_name[name] for name in wanted if name in path_by_name)
