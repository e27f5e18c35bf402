"""Converts topics from the forms that users can pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from touche.errors import ToucheError, check_choice
from touche.io.identifiers import AnyPath, check_new_id, expanded, is_path
from touche.io.json_lines import optional_text
from touche.io.optional import imported
from touche.trec.forms import Frame, as_pandas, is_frame, unusable
from touche.trec.framed import FRAME_NAMES, Table
from touche.trec.record_fields import id_in, text_in
from touche.trec.topics import NUMBER_NAMES, TITLE_NAMES, Topic, read_topics

if TYPE_CHECKING:
    from pandas import DataFrame

AnyTopics: TypeAlias = AnyPath | Sequence[Topic] | Mapping[Any, str] | Frame
"""Topics in one of these forms:

* the path of topics.xml, queries.jsonl or another file of topics
* a list of ``Topic``, such as ``touche.task(id).topics``
* the titles by the topics' numbers, such as ``{"1": "Is coal cheap?"}``
* a frame of pandas, or one with ``to_pandas()``, with the columns qid and query (PyTerrier), query_id and
  text (ir_datasets) or number and title (``touche``)
"""

_NAME = "topics"  # how error messages begin
_FORMS = "a path, a list of Topic, {number: title}, or a frame with the columns qid and query"


@dataclass(frozen=True, repr=False)
class TopicTable(Table[Topic]):
    """A task's topics. Attributes as in ``Table``."""

    def frame(self, names: Literal["pyterrier", "ir_measures"] = "pyterrier") -> "DataFrame":
        """Returns the topics as a pandas DataFrame, which prints without omissions.

        Args:
            names: which library's names to use for the columns with the topic's number and title. PyTerrier:
                qid and query. ir_measures: query_id and, as in ir_datasets, text.

        Returns:
            A row per topic. The other columns are objects, description and narrative, as in ``Topic``.

        Raises:
            ToucheError: if there are no such names, or pandas isn't installed.
        """
        check_choice("set of column names", names, FRAME_NAMES)
        imported("pandas", "analysis")  # raises an error if it isn't installed
        from touche.trec.untruncated import UntruncatedFrame  # optional: pandas

        columns = ["qid", "query"] if names == "pyterrier" else ["query_id", "text"]
        rows = [
            (topic.number, topic.title, topic.objects, topic.description, topic.narrative) for topic in self
        ]
        return UntruncatedFrame(rows, columns=[*columns, "objects", "description", "narrative"])


def topics_in(source: AnyTopics) -> tuple[Topic, ...]:
    """Returns topics in any form as a tuple of ``Topic``.

    Raises:
        ToucheError: if there are no topics, one has no id or query, or an id occurs twice. Also if the source
            has none of the forms.
    """
    if is_path(source):
        return read_topics(Path(expanded(source)))
    if is_frame(source):
        rows = as_pandas(source).to_dict("records")
        topics = [_topic_in(fields, row) for row, fields in enumerate(rows, 1)]
    elif isinstance(source, Mapping):
        pairs = enumerate(source.items(), 1)
        topics = [_topic_in({"number": number, "title": title}, row) for row, (number, title) in pairs]
    elif isinstance(source, Sequence) and all(isinstance(topic, Topic) for topic in source):
        topics = [*source]
    else:
        raise unusable(source, _NAME, "a list of topics", _FORMS, of_iterator="a list of Topic")
    if not topics:
        raise ToucheError(f"{_NAME}: no topics in it; pass at least one")
    numbers_seen = set[str]()
    for row, topic in enumerate(topics, 1):
        check_new_id(topic.number, "topic", numbers_seen, _NAME, row)
    return tuple(topics)


def _topic_in(fields: Mapping[str, Any], row: int) -> Topic:
    """Returns the topic in a row of a frame. ``row`` is the row's number, counted from 1, for error
    messages.
    """
    objects = fields.get("objects")
    return Topic(
        number=id_in(fields, NUMBER_NAMES, _NAME, row),
        title=text_in(fields, TITLE_NAMES, _NAME, row),
        objects=tuple(objects) if isinstance(objects, list | tuple) else (),
        description=optional_text(fields, "description"),
        narrative=optional_text(fields, "narrative"),
    )
