"""Writes the output of a run for TIRA: run.txt, complete or not at all."""

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
    """Writes run.txt in the order of the topics, complete or not at all.

    Args:
        directory: the output directory, which is made if it is missing.
        topics: the topics to answer.
        rankings: for each topic its (document id, score) pairs in any order; a third element is the stance.
        tag: the last column, one word.

    Returns:
        The topics without results.

    Raises:
        ToucheError: if a topic is unknown or repeated, a document is not a candidate, a score is not a finite
            number, or another value is not a word.
        InputError: if the directory cannot be written, or the disk is full.
    """
    prepare_output(directory)
    _word(tag, "tag", "such as touche-bm25")
    wanted = {topic.number: topic for topic in topics}
    lines: dict[str, str] = {}
    for topic, hits in (_checked(pair, "(topic, ranking)", 2) for pair in rankings):
        if not isinstance(topic, Topic):
            raise ToucheError(f"the baseline yielded {quoted(topic)}; yield the Topic, not its number")
        if topic.number not in wanted or topic.number in lines:
            problem = f"topic {topic.number} is not in the input, or is ranked twice"
            raise ToucheError(f"{problem}; rank each topic of the input once")
        stances: dict[str, str] = {}
        ranked = ranking(_scores(hits, stances), MAX_DEPTH)
        candidates = wanted[topic.number].candidates
        if others := [id for id, _ in ranked if candidates is not None and id not in candidates]:
            problem = f"document {others[0]!r} is not a candidate of topic {topic.number}"
            raise ToucheError(f"{problem}; rank only documents in topic.candidates")
        lines[topic.number] = format_run(topic.number, ranked, tag, stances)
    write_whole(directory / RUN_FILE, "".join(lines.get(number, "") for number in wanted))
    return [topic for topic in wanted.values() if not lines.get(topic.number)]


def prepare_output(directory: Path) -> None:
    """Makes the output directory, and removes the output of an earlier run, so that a failed run leaves none.

    Raises:
        InputError: if the directory cannot be written.
    """
    make_folder(directory)
    for name in (RUN_FILE, METADATA_FILE):
        write_whole(directory / name, "")
        (directory / name).resolve().unlink()


@contextmanager
def replacing_run(directory: Path) -> Iterator[None]:
    """Sets the output of an earlier run aside; restores it after a ToucheError, else removes it.

    If the process is killed, the earlier run stays in ``run.txt.set-aside`` for the next call.

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
        for path in filter(lambda output: aside[output].exists(), paths):
            _rename(aside[path], path) if refused else aside[path].unlink()


def _rename(path: Path, target: Path) -> None:
    try:
        path.replace(target)
    except OSError as error:
        problem = f"cannot be renamed to {target.name} ({error.strerror})"
        raise InputError(path, problem, "choose another directory") from error


def _scores(hits: Iterable[Hit], stances: dict[str, str]) -> Iterator[tuple[str, float]]:
    """Yields hits without their stances, which are added to ``stances``."""
    if not isinstance(hits, Iterable):
        raise ToucheError(f"the baseline yielded the ranking {quoted(hits)}; yield a list of pairs")
    for hit in hits:
        document, score, *stance = _checked(hit, "(document id, score), or triples with a stance", 2, 3)
        _word(document, "document id", "equal to the document's id; the score follows")
        for value in stance:
            stances[document] = _word(value, "stance", "such as PRO or FIRST")
        yield document, score


def _word(value: Any, what: str, example: str) -> str:
    """Returns a column of a run; readers split lines at white space, and some also at control characters."""
    if not is_word(value):
        raise ToucheError(f"the baseline yielded the {what} {quoted(value)}; write one word, {example}")
    return str(value)


def _checked(value: Any, wanted: str, *lengths: int) -> Any:
    if not isinstance(value, tuple | list) or len(value) not in lengths:
        raise ToucheError(f"the baseline yielded {quoted(value)}; yield pairs {wanted}")
    return value
