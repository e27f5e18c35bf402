"""What a software leaves for TIRA: run.txt, whole or not at all."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import shorten
from typing import Any

from touche.errors import ToucheError
from touche.files import make_folder, write_whole
from touche.formats.runs import MAX_DEPTH, format_run, ranking
from touche.formats.topics import Topic

OUTPUT_VARIABLE = "outputDir"  # set by TIRA
RUN_FILE, METADATA_FILE = "run.txt", "ir-metadata.yml"

Hit = tuple[str, float] | tuple[str, float, str]


def write_run(
    directory: Path,
    topics: Iterable[Topic],
    rankings: Iterable[tuple[Topic, Iterable[Hit]]],
    tag: str,
) -> list[Topic]:
    """Writes run.txt, whole or not at all, in the order of the topics.

    Args:
        directory: the output directory; made if it is missing.
        topics: the topics that were to be answered.
        rankings: for each topic its (document id, score) pairs, in any order; a third element is the stance.
        tag: the last column, one word.

    Returns:
        The topics for which nothing was found.

    Raises:
        ToucheError: if the rankings hold another topic, a topic twice, or no candidate of the topic.
        InputError: if the directory cannot be written or the disk is full.
    """
    prepare_output(directory)
    wanted = {topic.number: topic for topic in topics}
    lines: dict[str, str] = {}
    for topic, hits in (_checked(each, "(topic, ranking)", 2) for each in rankings):
        if topic.number not in wanted or topic.number in lines:
            problem = f"topic {topic.number} was not asked for or is ranked twice"
            raise ToucheError(f"{problem}; rank each topic once")
        stances: dict[str, str] = {}
        ranked = ranking(_scores(hits, stances), MAX_DEPTH)
        _check_candidates(wanted[topic.number], (document for document, _ in ranked))
        lines[topic.number] = format_run(topic.number, ranked, tag, stances)
    write_whole(directory / RUN_FILE, "".join(lines.get(number, "") for number in wanted))
    return [topic for topic in wanted.values() if not lines.get(topic.number)]


def prepare_output(directory: Path) -> None:
    """Makes the output directory and takes what an earlier run wrote away; one that fails leaves nothing.

    Raises:
        InputError: if the directory cannot be written.
    """
    make_folder(directory)
    for name in (RUN_FILE, METADATA_FILE):
        write_whole(directory / name, "")
        (directory / name).unlink()


def _scores(hits: Iterable[Hit], stances: dict[str, str]) -> Iterator[tuple[str, float]]:
    """The hits without their stances, which are noted."""
    for hit in hits:
        document, score, *stance = _checked(hit, "(document id, score)", 2, 3)
        if not isinstance(document, str):
            raise ToucheError(
                f"the baseline yielded the document id {document!r}; it must be a text, the score follows"
            )
        for each in stance:
            stances[document] = _word(each)
        yield document, score


def _word(stance: Any) -> str:
    if not isinstance(stance, str) or stance.split() != [stance]:
        raise ToucheError(f"the baseline yielded the stance {stance!r}; it must be one word, such as PRO")
    return stance


def _checked(value: Any, wanted: str, *lengths: int) -> Any:
    if not isinstance(value, tuple | list) or len(value) not in lengths:
        raise ToucheError(f"the baseline yielded {shorten(repr(value), 60)}; it must yield pairs {wanted}")
    return value


def _check_candidates(topic: Topic, documents: Iterable[str]) -> None:
    if topic.candidates is None:
        return
    if strangers := [document for document in documents if document not in topic.candidates]:
        problem = f"document {strangers[0]!r} is no candidate of topic {topic.number}"
        raise ToucheError(f"{problem}; a baseline for re-ranking must keep to topic.candidates")
