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

# Plain or packed; the first one found, in this order, is used.
TOPIC_FILES = ("topics.xml", "queries.jsonl", "topics.jsonl", "queries.tsv", "topics.tsv")
NUMBER_NAMES = (
    "qid",
    "query_id",
    "number",
    "_id",
    "id",
)  # the field that contains the id; the first match counts
TITLE_NAMES = ("query", "title", "text")
_LARGEST_XML = 1 << 24  # bytes; official files have about 40,000
_DEEPEST_XML = 100  # nested elements; deeper ones need much memory
_MOST_ELEMENTS = 100_000  # a tree of so many takes about 30 MB; the same limit holds for attributes
_LONGEST_TAG = 1 << 14  # bytes; the parser keeps all attributes of a tag, each with its namespace's address
_LONGEST_COMMENT = 1 << 18  # bytes; someone may have commented topics out
_REMEDY = "check that this is a Touché topics file"
# Lines can contain narratives or BEIR's metadata, so they are longer than a run's and slower to read.
_LIMITS = OF_TABLES._replace(longest_line=1 << 20, most_lines=500_000, least_bytes=20)
_LONGEST_REASON = 60  # characters
_RUN_LINE = re.compile(r"\s*(\S+\s+){3}\d+\s+[-+.\deE]+\s+\S.*")  # topic, Q0, document, rank, score, tag
_QRELS_LINE = re.compile(r"\s*(\S+\s+){3}-?\d+\s*")  # topic, 0, document, grade


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


def name_of_topics(path: Path) -> str:
    """Returns what a topics file is called in an input directory."""
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
    """Returns what an unreadable topics file looks like, and a remedy; both are empty if the first line is
    not the broken one, or as it should be.
    """
    if broken_line is None or not path.is_file():  # a pipe can't be read again
        return "", ""
    with suppress(InputError):
        line, text = next(read_lines(path, _LIMITS), (0, ""))  # the default is for an empty file
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
    """Yields the topics in the organizers' topics.xml with their lines: a ``<topic>`` with ``<number>`` and
    ``<title>`` each.

    The number can also be an attribute, and the title a ``<query>``. An element's text includes the text of
    the elements inside it. Whitespace becomes single blanks. Names may be in capitals or in a namespace.
    Files that declare entities are rejected.
    """
    for line, element in _topic_elements(path):
        attributes = [with_single_blanks(element.get(name, "")) for name in ("number", "num")]
        text = _text_in(element, "number", "num", "id", path=path, line=line)
        number = _only([*attributes, text], "number", path, line)
        number = number or with_single_blanks(element.get("id", ""))  # can be another id next to a number
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
    """Returns the only text that isn't empty; empty if there is none.

    Raises:
        InputError: if there are different ones, because it's not clear which one counts.
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
    """Yields the topics in JSON lines from TIRA, BEIR or ir_datasets with their lines: ``{"qid", "query"}``,
    ``{"_id", "text"}`` and so on.

    Description, narrative and objects come from TIRA's ``original_query``, BEIR's ``metadata``, or the line
    itself.
    """
    for line, fields in read_jsonl(path, _LIMITS):
        for noun, names in (("number", NUMBER_NAMES), ("title", TITLE_NAMES)):
            values = (fields.get(name, "") for name in names)
            _only((with_single_blanks(value) for value in values if isinstance(value, str)), noun, path, line)
        yield line, topic_of_query(_as_in_tira(fields), path, line)


def _topics_in_tsv(path: Path) -> Iterator[tuple[int, Topic]]:
    """Yields the topics in lines with an id and a query, separated by a tab."""
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


def topic_of_query(fields: dict[str, Any], path: Path, line: int) -> Topic:
    """Returns the topic in a line of queries.jsonl or rerank.jsonl.

    Args:
        fields: the line, with fields named as in TIRA.
        path, line: file and line, for errors.
    """
    title = with_single_blanks(text_field(fields, "query", path, line))
    if not title:
        raise InputError(path, "the query is empty", "write its text, or remove the topic", line=line)
    original = fields.get("original_query")
    details = {"objects": "", "description": "", "narrative": ""}
    if isinstance(original, dict):
        # Null and empty values count as missing.
        details |= {name: value for name, value in original.items() if value}
    return Topic(
        number=text_field(fields, "qid", path, line),
        title=title,
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


def _topic_elements(path: Path) -> list[tuple[int, Element]]:
    """Returns each ``<topic>`` in an XML file with its line, except those in another one."""
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
            elif _has_title(topic):  # others are just a part of the outer one
                raise InputError(path, "a <topic> in another one", "close the one before it", line=line)
        return topics
    except DefusedXmlException as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(path, "the file declares an entity", "remove the declaration", line=line) from error
    except (ParseError, LookupError, ValueError) as error:  # an unknown encoding raises one of the last two
        line = parser.parser.CurrentLineNumber
        problem = f"broken XML ({one_line(str(error))[:_LONGEST_REASON]})"
        remedy = "repair the file (write & as &amp; and < as &lt;) and save it in UTF-8"
        if b"<top>" in content.lower():
            problem = "TREC's SGML, which is not XML"
            remedy = "write a <topic> with <number> and <title> for each <top>, or a tab between id and title"
            remedy += " in queries.tsv"
        raise InputError(path, problem, remedy, line=line) from error


class _LimitedTree(TreeBuilder):
    """Builds a tree that is neither large nor nested deeply, and notes the topics' lines.

    Attributes:
        expat: the parser that calls this object and knows its current line.
        topic_lines: each ``<topic>``'s line.
    """

    expat: Any

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.topic_lines = list[int]()
        self._path = path
        self._depth = 0
        self._elements = 0
        self._attributes = 0
        self._name_characters = 0  # of tags and attributes, with their namespaces
        self._waits_at = 0  # the first byte of what the parser has not reported yet

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
        """Raises an InputError if the parser waits for the end of a long tag or comment, with what it has
        read up to ``end``.
        """
        # Before the first token, and in expat 2.5 sometimes while it waits in one, the parser says -1.
        if self.expat.CurrentByteIndex >= 0:
            self._waits_at = self.expat.CurrentByteIndex
        begin = self._waits_at
        is_tag = content[begin : begin + 4].replace(b"\0", b"")[1:2] not in (b"!", b"?")  # UTF-16 has nulls
        if end - begin > (_LONGEST_TAG if is_tag else _LONGEST_COMMENT):
            raise self._error("a tag of 16 KiB or more" if is_tag else "a comment of 256 KiB or more")

    def refuse_attributes(self, *declaration: object) -> None:
        """Raises an InputError, because each element would get the attributes that a file declares."""
        raise InputError(
            self._path,
            "the file declares an attribute",
            "remove the declaration",
            line=self.expat.CurrentLineNumber,
        )

    def _error(self, problem: str) -> InputError:
        return InputError(self._path, problem, _REMEDY, line=self.expat.CurrentLineNumber)


def _local_name(tag: str) -> str:
    """Returns a tag in lower case and without its namespace, which comes first, in braces."""
    return tag.rpartition("}")[2].lower()


def _has_title(topic: Element) -> bool:
    return any("".join(element.itertext()).strip() for element in topic if element.tag in ("title", "query"))


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
