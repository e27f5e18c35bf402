"""What a software leaves for TIRA: run.txt, whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from touche.errors import InputError, ToucheError
from touche.formats.runs import MAX_DEPTH, format_run, ranking
from touche.formats.topics import Topic
from touche.io.identifiers import is_word, quoted
from touche.io.writing import make_folder, write_whole

INPUT_VARIABLE, OUTPUT_VARIABLE = "inputDataset", "outputDir"  # set by TIRA
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
        ToucheError: if the rankings hold another topic, a topic twice, or no candidate of the topic; an id,
            a stance or the tag is no word; or a score is no finite number.
        InputError: if the directory cannot be written or the disk is full.
    """
    prepare_output(directory)
    _word(tag, "tag", "such as touche-bm25")
    wanted = {topic.number: topic for topic in topics}
    lines: dict[str, str] = {}
    for topic, hits in (_checked(each, "(topic, ranking)", 2) for each in rankings):
        if not isinstance(topic, Topic):
            raise ToucheError(f"the baseline yielded {quoted(topic)}; yield the Topic, not its number")
        if topic.number not in wanted or topic.number in lines:
            problem = f"topic {topic.number} was not asked for or is ranked twice"
            raise ToucheError(f"{problem}; rank each topic once")
        stances: dict[str, str] = {}
        ranked = ranking(_scores(hits, stances), MAX_DEPTH)
        candidates = wanted[topic.number].candidates
        if strangers := [id for id, _ in ranked if candidates is not None and id not in candidates]:
            problem = f"document {strangers[0]!r} is no candidate of topic {topic.number}"
            raise ToucheError(f"{problem}; a baseline for re-ranking must keep to topic.candidates")
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
        (directory / name).resolve().unlink()


@contextmanager
def replacing_run(directory: Path) -> Iterator[None]:
    """Sets what an earlier run wrote aside; restores it after a ToucheError, and removes it otherwise.

    A process that is killed meanwhile leaves it in ``run.txt.set-aside``, for the next run.

    Raises:
        InputError: if the directory cannot be written.
    """
    paths = [Path(os.path.realpath(directory / name)) for name in (RUN_FILE, METADATA_FILE)]
    aside = {path: path.with_name(f"{path.name}.set-aside") for path in paths}
    refused = False
    try:
        for path in filter(Path.is_file, paths):
            _rename(path, aside[path])
        prepare_output(directory)
        yield
    except ToucheError:
        refused = True
        raise
    finally:
        for path in filter(lambda each: aside[each].exists(), paths):
            _rename(aside[path], path) if refused else aside[path].unlink()


def _rename(path: Path, target: Path) -> None:
    try:
        path.replace(target)
    except OSError as error:
        problem = f"cannot be renamed to {target.name} ({error.strerror})"
        raise InputError(path, problem, "choose another directory") from error


def _scores(hits: Iterable[Hit], stances: dict[str, str]) -> Iterator[tuple[str, float]]:
    """The hits without their stances, which are noted."""
    if not isinstance(hits, Iterable):
        raise ToucheError(f"the baseline yielded the ranking {quoted(hits)}; it must be a list of pairs")
    for hit in hits:
        document, score, *stance = _checked(hit, "(document id, score), or triples with a stance", 2, 3)
        _word(document, "document id", "as the documents have it; the score follows")
        for each in stance:
            stances[document] = _word(each, "stance", "such as PRO or FIRST")
        yield document, score


def _word(value: Any, what: str, example: str) -> str:
    """What can be a column of a run; readers part columns at white space, and some at control characters."""
    if not is_word(value):
        raise ToucheError(f"the baseline yielded the {what} {quoted(value)}; it must be one word, {example}")
    return str(value)


def _checked(value: Any, wanted: str, *lengths: int) -> Any:
    if not isinstance(value, tuple | list) or len(value) not in lengths:
        raise ToucheError(f"the baseline yielded {quoted(value)}; it must yield pairs {wanted}")
    return value
