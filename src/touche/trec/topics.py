"""Topics and their file formats."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from touche.errors import InputError, one_line
from touche.io.identifiers import check_new_id, quoted
from touche.io.json_lines import read_jsonl, text_field
from touche.io.opening import CARRIAGE_RETURN, OF_TABLES, PACKED_SUFFIXES, open_binary, plain_name, read_lines

# File names of topics, without the suffix of packed files. If a folder contains several, the first name in
# this list is used.
TOPIC_FILES = ("topics.xml", "queries.jsonl", "topics.jsonl", "queries.tsv", "topics.tsv")
NUMBER_NAMES = (
    "qid",
    "query_id",
    "number",
    "_id",
    "id",
)  # names of the field with the id; if a line has several, the first one in this list is used
TITLE_NAMES = ("query", "title", "text")
_LARGEST_XML = 1 << 24  # bytes; official files have about 40,000 bytes
_DEEPEST_XML = 100  # nested elements; if they were nested more deeply, parsing would need much memory
# A tree with so many elements takes about 30 MB; the same limit is used for the number of attributes.
_MOST_ELEMENTS = 100_000
# Bytes; limited because the parser stores each attribute of a tag together with its namespace's address.
_LONGEST_TAG = 1 << 14
_LONGEST_COMMENT = 1 << 18  # bytes; large, because someone may have commented out topics
_REMEDY = "check that this is a Touché topics file"
# Lines can contain narratives or BEIR's metadata, so they can be longer than lines of runs. As long lines are
# slower to read, fewer are allowed.
_LIMITS = OF_TABLES._replace(longest_line=1 << 20, most_lines=500_000, least_bytes=20)
_LONGEST_REASON = 60  # characters of the parser's message in an error
_RUN_LINE = re.compile(r"\s*(\S+\s+){3}\d+\s+[-+.\deE]+\s+\S.*")  # topic, Q0, document, rank, score, tag
_QRELS_LINE = re.compile(r"\s*(\S+\s+){3}-?\d+\s*")  # topic, 0, document, grade


@dataclass(frozen=True)
class Topic:
    """An information need.

    Attributes:
        number: the topic's id, as in the first column of runs and qrels.
        title: the question, which all automatic runs use as their query.
        objects: the things that a comparative question compares (2022 task 2); empty for other questions.
        description: the user's situation; may be empty.
        narrative: what makes a document relevant; may be empty.
        candidates: the ids of the documents to re-rank; None to rank the whole collection.
    """

    number: str
    title: str
    objects: tuple[str, ...] = ()
    description: str = ""
    narrative: str = ""
    candidates: frozenset[str] | None = None


def name_of_topics(path: Path) -> str:
    """Returns the name that a topics file must have in an input directory, given by its format."""
    suffix = Path(plain_name(path.name)).suffix
    return next((name for name in TOPIC_FILES if name.endswith(suffix)), TOPIC_FILES[0])


def read_topics(path: Path) -> tuple[Topic, ...]:
    """Reads a topics file: JSON lines if it's called .jsonl, TSV if it's called .tsv, otherwise XML.

    Raises:
        InputError: if the file is unreadable or empty, a topic is broken, or an id occurs twice.
    """
    try:
        return _topics_in(path)
    except InputError as error:
        form, remedy = _other_form(path, error.line)
        if not form:
            raise
        raise InputError(path, f"looks like {form}, not like topics", remedy, line=error.line) from error


def _topics_in(path: Path) -> tuple[Topic, ...]:
    """Reads a topics file; errors as for ``read_topics``."""
    if ".jsonl" in path.suffixes:
        numbered = _topics_in_jsonl(path)
        remedy = 'put one {"qid", "query"} on each line'
    elif ".tsv" in path.suffixes:
        numbered = _topics_in_tsv(path)
        remedy = "write an id, a tab and a query on each line"
    else:
        numbered = _topics_in_xml(path)
        remedy = "put a <topic> with <number> and <title> into it"
    seen = set[str]()
    topics = list[Topic]()
    for line, topic in numbered:
        check_new_id(topic.number, "topic", seen, path, line)
        topics.append(topic)
    if not topics:
        raise InputError(path, "no topics in this file", remedy)
    return tuple(topics)


def _other_form(path: Path, broken_line: int | None) -> tuple[str, str]:
    """Returns which other kind of file an unreadable topics file looks like, and a remedy. Both are empty if
    it doesn't look like another kind, or if its first line isn't the one that can't be read.
    """
    if broken_line is None or not path.is_file():  # not for pipes, because they can't be read a second time
        return "", ""
    with suppress(InputError):
        line, text = next(read_lines(path, _LIMITS), (0, ""))  # (0, "") if the file is empty
        if line != broken_line:
            return "", ""
        if _RUN_LINE.fullmatch(text):
            return "a run", "pass a file that contains topics"
        if _QRELS_LINE.fullmatch(text):
            return "qrels", "pass a file that contains topics"
        for beginning, form, name in (("<", "XML", "topics.xml"), ("{", "JSON lines", "queries.jsonl")):
            if text.lstrip("\ufeff \t").startswith(beginning) and name_of_topics(path) != name:
                return form, f"if these are topics, name the file {name}"
    return "", ""


def _topics_in_xml(path: Path) -> Iterator[tuple[int, Topic]]:
    """Yields the topics in the organizers' topics.xml, each with its line number. A topic is an element
    ``<topic>`` that contains ``<number>`` and ``<title>``.

    The number can also be an attribute, and the title a ``<query>``. An element's text includes the text of
    the elements inside it. Whitespace becomes single blanks. Names may be in capitals or in a namespace.
    Files that declare entities are rejected.
    """
    for line, element in _topic_elements(path):
        attributes = [with_single_blanks(element.get(name, "")) for name in ("number", "num")]
        text = _text_in(element, "number", "num", "id", path=path, line=line)
        number = _only([*attributes, text], "number", path, line)
        # Only if there is no number: next to a number, the id can be something else.
        number = number or with_single_blanks(element.get("id", ""))
        if not number:
            problem = "the topic has no number"
            raise InputError(path, problem, 'add a <number>, or an attribute number="1"', line=line)
        text_in = partial(_text_in, element, path=path, line=line, name=f"topic {quoted(number)}")
        title = text_in("title", "query")
        if not title:
            raise InputError(path, "the topic has no title", "add a <title>", line=line)
        topic = Topic(
            number=number,
            title=title,
            objects=_objects(text_in("objects"), path, line),
            description=text_in("description"),
            narrative=text_in("narrative"),
        )
        yield line, topic


def _only(texts: Iterable[str], noun: str, path: Path, line: int) -> str:
    """Returns the text that isn't empty; an empty string if all texts are empty.

    Raises:
        InputError: if several different texts aren't empty, because it's unclear which of them counts.
    """
    different = [*dict.fromkeys(filter(None, texts))]
    if len(different) > 1:
        problem = f"the topic has the {noun}s {quoted(different[0])} and {quoted(different[1])}"
        raise InputError(path, problem, "keep one of them", line=line)
    return different[0] if different else ""


def _text_in(topic: Element, *tags: str, path: Path, line: int, name: str = "the topic") -> str:
    """Returns the text of a topic's only element with one of these tags; empty if there is none.

    Blank elements don't count.

    Args:
        path, line: the topic's file and line, for errors.
        name: the topic's name, for errors.

    Raises:
        InputError: if several elements have a text.
    """
    texts = [(element.tag, "".join(element.itertext())) for element in topic if element.tag in tags]
    texts = [(tag, text) for tag, text in texts if text.strip()]
    if len(texts) > 1:
        (first_tag, first), (second_tag, second), *_ = texts
        first, second = with_single_blanks(first), with_single_blanks(second)
        problem = f"{name} has <{first_tag}> {quoted(first)} and <{second_tag}> {quoted(second)}"
        raise InputError(path, problem, "keep one of them", line=line)
    return with_single_blanks(texts[0][1]) if texts else ""


def _topics_in_jsonl(path: Path) -> Iterator[tuple[int, Topic]]:
    """Yields the topics in a file of JSON lines from TIRA, BEIR or ir_datasets, each with its line number.
    The lines have fields such as ``{"qid", "query"}`` or ``{"_id", "text"}``.

    Description, narrative and objects are read from ``original_query`` (in TIRA), from ``metadata`` (in
    BEIR), or from fields of the line itself.
    """
    for line, fields in read_jsonl(path, _LIMITS):
        for noun, names in (("number", NUMBER_NAMES), ("title", TITLE_NAMES)):
            values = (fields.get(name, "") for name in names)
            _only((with_single_blanks(value) for value in values if isinstance(value, str)), noun, path, line)
        yield line, topic_of_query(_as_in_tira(fields), path, line)


def _topics_in_tsv(path: Path) -> Iterator[tuple[int, Topic]]:
    """Yields the topics in a file of lines with an id and a query, separated by a tab, each with its line
    number.
    """
    for line, text in read_lines(path, _LIMITS):
        number, *queries = map(with_single_blanks, text.split("\t"))
        if "\r" in text:
            raise InputError(path, *CARRIAGE_RETURN, line=line)
        if len(queries) != 1 or not queries[0]:
            raise InputError(path, "not an id, a tab and a query", "write both, or queries.jsonl", line=line)
        is_header = line == 1 and number in NUMBER_NAMES and queries[0] in TITLE_NAMES
        if not is_header:
            yield line, Topic(number, queries[0])


def first_name(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """Returns the first of these names that the record has as a field. If it has none of them, returns the
    first name, for the error.
    """
    return next((name for name in names if name in fields), names[0])


def _as_in_tira(fields: dict[str, Any]) -> dict[str, Any]:
    """Renames a line's fields so that they have TIRA's names.

    Description, narrative and objects can be in three places: TIRA puts them into ``original_query``,
    ir_datasets into fields of the line itself, and this project, when it writes BEIR files, into
    ``metadata``. Objects are the things that a comparative question compares.
    """
    number = first_name(fields, NUMBER_NAMES)
    title = first_name(fields, TITLE_NAMES)
    details = fields.get("original_query")
    if not isinstance(details, dict):
        metadata = fields.get("metadata") if number == "_id" else fields
        # Other projects may write values of any type into these fields. Only strings are used.
        details = {
            name: value
            for name, value in (metadata.items() if isinstance(metadata, dict) else ())
            if isinstance(value, str) or (name == "objects" and _is_list_of_texts(value))
        }
    names = {"qid": number, "query": title}
    return {name: fields[own] for name, own in names.items() if own in fields} | {"original_query": details}


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def topic_of_query(fields: dict[str, Any], path: Path, line: int) -> Topic:
    """Returns the topic in a line of queries.jsonl or rerank.jsonl.

    Args:
        fields: the line's fields, with TIRA's names.
        path, line: file and line, for errors.
    """
    title = with_single_blanks(text_field(fields, "query", path, line))
    if not title:
        raise InputError(path, "the query is empty", "write its text, or remove the topic", line=line)
    original = fields.get("original_query")
    details = {"objects": "", "description": "", "narrative": ""}
    if isinstance(original, dict):
        # Leave out null and empty values, so that they don't replace others.
        details |= {name: value for name, value in original.items() if value}
    return Topic(
        number=text_field(fields, "qid", path, line),
        title=title,
        objects=_objects(details["objects"], path, line),
        description=with_single_blanks(text_field(details, "description", path, line)),
        narrative=with_single_blanks(text_field(details, "narrative", path, line)),
    )


def _objects(value: Any, path: Path, line: int) -> tuple[str, ...]:
    """Returns the compared objects, which can be given as a list of strings or as one string with commas."""
    if isinstance(value, str):
        value = value.split(",") if value.strip() else []
    if not _is_list_of_texts(value):
        problem = '"objects" is neither a string nor a list of strings'
        raise InputError(path, problem, "write the compared objects as a list", line=line)
    return tuple(map(with_single_blanks, value))


def _topic_elements(path: Path) -> list[tuple[int, Element]]:
    """Returns each ``<topic>`` in an XML file with its line number, except ``<topic>`` elements inside of
    another one.
    """
    with open_binary(path) as file:
        content = file.read(_LARGEST_XML + 1)
    if len(content) > _LARGEST_XML:
        raise InputError(path, "larger than 16 MiB", _REMEDY)
    builder = _LimitedTree(path)
    parser = DefusedXMLParser(target=builder)
    builder.expat = parser.parser
    parser.parser.AttlistDeclHandler = builder.refuse_attributes
    try:
        for end in range(_LONGEST_TAG, len(content) + _LONGEST_TAG, _LONGEST_TAG):
            parser.feed(content[end - _LONGEST_TAG : end])
            builder.check_progress(content, min(end, len(content)))
        root = parser.close()
        inner_topics = {inner for topic in root.iter("topic") for inner in topic.iterfind(".//topic")}
        topics = list[tuple[int, Element]]()
        for line, topic in zip(builder.topic_lines, root.iter("topic"), strict=True):
            if topic not in inner_topics:
                topics.append((line, topic))
            # A ``<topic>`` inside of another one is an error only if it has a title; if not, it's just a part
            # of the outer topic.
            elif _has_title(topic):
                raise InputError(path, "a <topic> in another one", "close the one before it", line=line)
        return topics
    except DefusedXmlException as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(path, "the file declares an entity", "remove the declaration", line=line) from error
    # If the encoding is unknown, LookupError or ValueError is raised.
    except (ParseError, LookupError, ValueError) as error:
        line = parser.parser.CurrentLineNumber
        problem = f"broken XML ({one_line(str(error))[:_LONGEST_REASON]})"
        remedy = "repair the file (write & as &amp; and < as &lt;) and save it in UTF-8"
        if b"<top>" in content.lower():
            problem = "TREC's SGML, which is not XML"
            remedy = "write a <topic> with <number> and <title> for each <top>, or a tab between id and title"
            remedy += " in queries.tsv"
        raise InputError(path, problem, remedy, line=line) from error


class _LimitedTree(TreeBuilder):
    """Builds the tree of an XML file, and remembers the line of each topic. Raises an error if the tree gets
    too large or is nested too deeply.

    Attributes:
        expat: the parser, which calls this object and knows which line it's reading.
        topic_lines: the line number of each ``<topic>``.
    """

    expat: Any

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.topic_lines = list[int]()
        self._path = path
        self._depth = 0
        self._elements = 0
        self._attributes = 0
        # How many characters all names of tags and attributes have so far, with their namespaces.
        self._name_characters = 0
        self._waits_at = 0  # the position of the first byte that the parser hasn't reported yet

    def start(self, tag: str, attributes: dict[str, str]) -> Element:
        self._depth += 1
        self._elements += 1
        self._attributes += len(attributes)
        self._name_characters += sum(map(len, (tag, *attributes)))
        if self._depth > _DEEPEST_XML:
            raise self._error(f"more than {_DEEPEST_XML} elements in each other")
        if self._elements > _MOST_ELEMENTS:
            raise self._error(f"more than {_MOST_ELEMENTS:,} elements")
        if self._attributes > _MOST_ELEMENTS:
            raise self._error(f"more than {_MOST_ELEMENTS:,} attributes")
        if self._name_characters > _LARGEST_XML:
            raise self._error("names and namespaces of more than 16 MiB")
        if _local_name(tag) == "topic":
            self.topic_lines.append(self.expat.CurrentLineNumber)
        return super().start(_local_name(tag), {name.lower(): value for name, value in attributes.items()})

    def end(self, tag: str) -> Element:
        self._depth -= 1
        return super().end(_local_name(tag))

    def check_progress(self, content: bytes, end: int) -> None:
        """Raises an InputError if the tag or comment that the parser is reading is too long. ``end`` is how
        many bytes it has read.
        """
        # The position is -1 before the first token. In expat 2.5, it can also be -1 while the parser waits
        # for the rest of a token.
        if self.expat.CurrentByteIndex >= 0:
            self._waits_at = self.expat.CurrentByteIndex
        begin = self._waits_at
        # Nulls are removed for files in UTF-16.
        is_tag = content[begin : begin + 4].replace(b"\0", b"")[1:2] not in (b"!", b"?")
        if end - begin > (_LONGEST_TAG if is_tag else _LONGEST_COMMENT):
            raise self._error("a tag of 16 KiB or more" if is_tag else "a comment of 256 KiB or more")

    def refuse_attributes(self, *declaration: object) -> None:
        """Raises an InputError if a file declares attributes: they would be added to every element, which
        needs much memory.
        """
        raise InputError(
            self._path,
            "the file declares an attribute",
            "remove the declaration",
            line=self.expat.CurrentLineNumber,
        )

    def _error(self, problem: str) -> InputError:
        return InputError(self._path, problem, _REMEDY, line=self.expat.CurrentLineNumber)


def _local_name(tag: str) -> str:
    """Returns a tag's name in lower case. The namespace, in braces before the name, is removed."""
    return tag.rpartition("}")[2].lower()


def _has_title(topic: Element) -> bool:
    return any("".join(element.itertext()).strip() for element in topic if element.tag in ("title", "query"))


def with_single_blanks(text: str) -> str:
    """Returns a text in which each sequence of whitespace is replaced by a blank, with no whitespace at both
    ends.
    """
    return " ".join(text.split())


def topics_named(paths: Iterable[Path], folder: Path | str, more: str = "") -> Path:
    """Returns the file among a folder's files that contains topics, judging by its name.

    Args:
        paths: all files.
        folder: their folder, for errors.
        more: a text to add to the remedy in errors, such as ``, or pass --topics``.

    Raises:
        InputError: if no file has a name in ``TOPIC_FILES``, plain or packed.
    """
    files = paths_named(paths, TOPIC_FILES)
    if not files:
        remedy = f"put {' or '.join(TOPIC_FILES)} there, plain or packed ({', '.join(PACKED_SUFFIXES)}){more}"
        raise InputError(folder, "no topics in this folder", remedy)
    return files[0]


def paths_named(paths: Iterable[Path], names: Iterable[str]) -> tuple[Path, ...]:
    """Returns the files with these names, in the order of the names. For each name, the plain file comes
    before the packed one.
    """
    path_by_name = {path.name: path for path in paths}
    wanted = [f"{name}{suffix}" for name in names for suffix in ("", *PACKED_SUFFIXES)]
    return tuple(path_by_name[name] for name in wanted if name in path_by_name)
