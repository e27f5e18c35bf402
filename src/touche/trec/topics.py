"""Topics, and readers of their two formats."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from touche.errors import InputError, one_line
from touche.io.identifiers import check_new_id
from touche.io.json_lines import read_jsonl, text_field
from touche.io.opening import open_binary

TOPIC_FILES = ("topics.xml", "queries.jsonl")  # plain or gzipped; the first in this order is used
_LARGEST_XML = 1 << 24  # bytes; official files have about 40,000
_LONGEST_REASON = 60  # characters


@dataclass(frozen=True)
class Topic:
    """An information need.

    Attributes:
        number: the id of the topic, as in the first column of runs and qrels.
        title: the question; all automatic runs use it as their query.
        objects: the compared objects of a comparative question (2022 task 2); else empty.
        description: the situation of the user; empty if the organizers wrote none.
        narrative: the definition of relevance; empty if the organizers wrote none.
        candidates: the ids of the documents to re-rank, or None for the whole collection.
    """

    number: str
    title: str
    objects: tuple[str, ...] = ()
    description: str = ""
    narrative: str = ""
    candidates: frozenset[str] | None = None


def in_order(number: str) -> tuple[int, str]:
    """Returns a sort key by which topic 2 precedes topic 10."""
    return len(number), number


def name_of_topics(path: Path) -> str:
    """Returns the name that a file of topics has in an input directory."""
    return "queries.jsonl" if ".jsonl" in path.suffixes else "topics.xml"


def read_topics(path: Path) -> tuple[Topic, ...]:
    """Reads the topics of a file: JSON lines if its name has the suffix .jsonl, else XML.

    Raises:
        InputError: if the file is broken.
    """
    return tuple(read_queries_jsonl(path) if ".jsonl" in path.suffixes else read_topics_xml(path))


def read_topics_xml(path: Path) -> list[Topic]:
    """Reads the organizers' topics.xml: a ``<topic>`` with ``<number>`` and ``<title>`` for each topic.

    White space becomes single blanks. Files that declare entities are refused.

    Raises:
        InputError: if the file is unreadable or not well-formed, there is no topic, or a topic lacks
            its title or its number, or repeats the number of another.
    """
    seen: set[str] = set()
    topics = [_parse_topic(element, path, seen) for element in _parse_xml(path).iter("topic")]
    return _at_least_one(topics, path, "put a <topic> with <number> and <title> into it")


def read_queries_jsonl(path: Path) -> list[Topic]:
    """Reads queries.jsonl of TIRA or BEIR: ``{"qid", "query"[, "original_query"]}`` or ``{"_id", "text"}``.

    Description, narrative and objects come from ``original_query`` or BEIR's ``metadata``.

    Raises:
        InputError: if the file is unreadable, or a line is broken, or a topic lacks or repeats its id.
    """
    seen: set[str] = set()
    topics = [topic_of_query(_as_in_tira(fields), path, line, seen) for line, fields in read_jsonl(path)]
    return _at_least_one(topics, path, 'put one {"qid", "query"} on each line')


def _as_in_tira(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a line with TIRA's names, also for a line of BEIR.

    TIRA has the other texts of a topic in ``original_query``; this project writes them as metadata of BEIR.
    Objects are those that a comparative question compares.
    """
    is_beir = "_id" in fields and "qid" not in fields
    if not is_beir:
        return fields
    metadata = fields.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    # Values that other projects write may have any type; only texts are used.
    details: dict[str, Any] = {name: value for name, value in metadata.items() if isinstance(value, str)}
    objects = metadata.get("objects")
    if isinstance(objects, list) and all(isinstance(part, str) for part in objects):
        details["objects"] = objects
    return {"qid": fields.get("_id"), "query": fields.get("text"), "original_query": details}


def _at_least_one(topics: list[Topic], path: Path, remedy: str) -> list[Topic]:
    """Returns the topics of a file; an empty list raises an InputError."""
    if not topics:
        raise InputError(path, "no topics in this file", remedy)
    return topics


def topic_of_query(fields: dict[str, Any], path: Path, line: int, seen: set[str]) -> Topic:
    """Returns the topic in a line of queries.jsonl or rerank.jsonl.

    Args:
        fields: the line, with TIRA's names of fields.
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
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        problem = '"objects" is neither a string nor a list of strings'
        raise InputError(path, problem, "write the compared objects as a list", line=line)
    return tuple(map(with_single_blanks, value))


def _parse_topic(element: Element, path: Path, seen: set[str]) -> Topic:
    """Returns the topic in an element, whose attribute ``line`` is from ``_parse_xml``."""
    line = int(element.attrib["line"])
    fields = ("number", "title", "description", "narrative")
    number, title, description, narrative = (
        with_single_blanks(element.findtext(field, "")) for field in fields
    )
    if not number:
        raise InputError(path, "the topic has no number", "add a <number>", line=line)
    if not title:
        raise InputError(path, "the topic has no title", "add a <title>", line=line)
    return Topic(
        number=check_new_id(number, "topic", seen, path, line),
        title=title,
        objects=_objects(element.findtext("objects", ""), path, line),
        description=description,
        narrative=narrative,
    )


def _parse_xml(path: Path) -> Element:
    """Parses XML without entities, and stores the line of each element in its attribute ``line``."""
    builder = _LineNotingBuilder()
    parser = DefusedXMLParser(target=builder)
    builder.expat = parser.parser
    with open_binary(path) as file:
        content = file.read(_LARGEST_XML + 1)
    if len(content) > _LARGEST_XML:
        raise InputError(path, "larger than 16 MiB", "check that this is a Touché topics file")
    try:
        parser.feed(content)
        root: Element = parser.close()
        return root
    except DefusedXmlException as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(path, "the file declares an entity", "remove the declaration", line=line) from error
    except (ParseError, LookupError, ValueError) as error:  # unknown encodings raise the last two
        line = parser.parser.CurrentLineNumber
        problem = f"broken XML ({one_line(str(error))[:_LONGEST_REASON]})"
        raise InputError(path, problem, "repair the file and save it in UTF-8", line=line) from error


class _LineNotingBuilder(TreeBuilder):
    """Stores the line of each element in its attribute ``line``.

    Attributes:
        expat: the parser that calls this builder, and knows its current line.
    """

    expat: Any

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        return super().start(tag, attrs | {"line": str(self.expat.CurrentLineNumber)})


def with_single_blanks(text: str) -> str:
    """Returns a text with single blanks as white space, and none around it."""
    return " ".join(text.split())


def topics_named(paths: Iterable[Path], folder: Path | str, more: str = "") -> Path:
    """Selects the file of topics from the files of a folder, by its name.

    Args:
        paths: all files.
        folder: their folder, for the error message.
        more: the end of the remedy in the error message, such as ``, or pass --topics``.

    Raises:
        InputError: if no file has a name of ``TOPIC_FILES``, plain or with ``.gz``.
    """
    files = paths_named(paths, TOPIC_FILES)
    if not files:
        remedy = f"put {' or '.join(TOPIC_FILES)} there, plain or .gz{more}"
        raise InputError(folder, "no topics in this folder", remedy)
    return files[0]


def paths_named(paths: Iterable[Path], names: Iterable[str]) -> tuple[Path, ...]:
    """Returns the files with these names, in the order of the names, plain files before gzipped ones."""
    path_by_name = {path.name: path for path in paths}
    wanted = [wanted_name for name in names for wanted_name in (name, f"{name}.gz")]
    return tuple(path_by_name[name] for name in wanted if name in path_by_name)
