"""Writes the output of a run for TIRA: run.txt and ir-metadata.yml."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from touche.errors import InputError, ToucheError
from touche.io.identifiers import check_tag, is_word, quoted
from touche.io.writing import check_outputs, write_whole
from touche.trec.columns import Run
from touche.trec.runs import MAX_DEPTH, RUN_FILE, digits, format_run, ranking
from touche.trec.topics import Topic

INPUT_VARIABLE = "inputDataset"  # set by TIRA, as the next one
OUTPUT_VARIABLE = "outputDir"
METADATA_FILE = "ir-metadata.yml"

Hit = tuple[str, float] | tuple[str, float, str]


def write_run(
    directory: Path,
    topics: Sequence[Topic],
    rankings: Iterable[tuple[Topic, Iterable[Hit]]],
    tag: str,
    metadata: Callable[[], str],
    *,
    inputs: Sequence[Path] = (),
    other_outputs: Sequence[Path] = (),
) -> list[Topic]:
    """Writes ir-metadata.yml and run.txt, whose lines are in the order of the topics.

    An earlier run is removed before the first ranking, so run.txt is never one of an earlier run.

    Args:
        directory: the output directory, which is made if it is missing.
        topics: the topics to answer.
        rankings: for each topic its (document id, score) pairs in any order; a third element is the stance. A
            topic may have several rankings, each with a stance of its own.
        tag: the last column, one word.
        metadata: is called after the last ranking, and returns the text of ir-metadata.yml.
        inputs: files that the output must not overwrite, and folders whose files it must not overwrite.
        other_outputs: files that the baseline will write.

    Returns:
        The topics without results.

    Raises:
        ToucheError: if a topic is unknown or repeated, a document is not a candidate, a score is not a finite
            number, or another value is not a word.
        InputError: if the directory cannot be written, or the disk is full.
    """
    check_tag(tag)
    remove_earlier_run(directory, inputs, other_outputs)
    texts = _texts_by_topic({topic.number: topic for topic in topics}, rankings, tag)
    _write(directory, metadata(), "".join(texts.get(topic.number, "") for topic in topics))
    return [topic for topic in topics if not texts.get(topic.number)]


def write_ranked(directory: Path, run: Run, metadata: str, inputs: Sequence[Path] = ()) -> None:
    """Writes a whole run and its metadata, as ``write_run`` does.

    Args:
        directory: the output directory, which is made if it is missing.
        run: the run, best documents first; scores are written with the fewest digits of their float32.
        metadata: the text of ir-metadata.yml.
        inputs: as for ``write_run``.

    Raises:
        ToucheError: if a column is not a word.
        InputError: if the directory cannot be written, or the disk is full.
    """
    columns: dict[str, Iterable[str]] = {
        "topic": run.topics.present,
        "document id": run.documents,
        "stance": run.stances.present,
        "tag": run.tags.present,
    }
    for name, words in columns.items():
        for word in words:
            if not is_word(word):
                raise ToucheError(f"the run has the {name} {quoted(word)}; write one word")
    remove_earlier_run(directory, inputs)
    _write(directory, metadata, "".join(run.lines_with(digits(run.rounded))))


def remove_earlier_run(
    directory: Path, inputs: Sequence[Path] = (), other_outputs: Iterable[Path] = ()
) -> None:
    """Checks that a run can be written, and removes an earlier run and its metadata.

    Args:
        directory: the output directory, which is made if it is missing.
        inputs, other_outputs: as for ``write_run``.

    Raises:
        InputError: if a file cannot be written, or would overwrite an input.
    """
    files = [directory / RUN_FILE, directory / METADATA_FILE]
    check_outputs([*files, *other_outputs], inputs)
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            problem = f"cannot be removed ({error.strerror})"
            raise InputError(file, problem, "choose another directory") from error


def _write(directory: Path, metadata: str, lines: str) -> None:
    """Writes a run; run.txt comes last, so that it is never without its metadata."""
    write_whole(directory / METADATA_FILE, metadata)
    write_whole(directory / RUN_FILE, lines)


def _texts_by_topic(
    topics: Mapping[str, Topic], rankings: Iterable[tuple[Topic, Iterable[Hit]]], tag: str
) -> dict[str, str]:
    """Returns the lines of each topic in run.txt as one text; for no results, it is empty or missing.

    Args:
        topics: the topics to answer, by their numbers.
        rankings, tag: as for ``write_run``.
    """
    texts = defaultdict[str, str](str)
    # By topic, the stances of the rankings so far; an empty text if a ranking has no stance, or several.
    ranked_stances: dict[str, set[str]] = {}
    for pair in rankings:
        topic, hits = _checked_tuple(pair, "(topic, ranking)", lengths=(2,))
        if not isinstance(topic, Topic):
            raise ToucheError(f"the baseline yielded {quoted(topic)}; yield the Topic, not its number")
        stances: dict[str, str] = {}  # by document
        ranked = ranking(_without_stances(hits, stances), MAX_DEPTH)
        stances_of_documents = {stances.get(document, "") for document, _ in ranked}
        stance = stances_of_documents.pop() if len(stances_of_documents) == 1 else ""
        earlier = ranked_stances.setdefault(topic.number, set())
        # The rankings of a topic have different stances; a ranking without a stance has to be the only one.
        is_repeated = stance in earlier or (earlier and "" in {*earlier, stance})
        if topic.number not in topics or (ranked and is_repeated):
            problem = f"topic {topic.number} is not in the input, or is ranked twice"
            raise ToucheError(f"{problem}; rank each topic of the input once, or once for each stance")
        if ranked:
            earlier.add(stance)
        candidates = topics[topic.number].candidates  # None if every document may be ranked
        for document, _ in ranked:
            if candidates is not None and document not in candidates:
                problem = f"document {document!r} is not a candidate of topic {topic.number}"
                raise ToucheError(f"{problem}; rank only documents in topic.candidates")
        texts[topic.number] += format_run(topic.number, ranked, tag, stances)
    return texts


def _without_stances(hits: Iterable[Hit], stances: dict[str, str]) -> Iterator[tuple[str, float]]:
    """Yields hits without their stances, and adds these to ``stances``, by document."""
    if not isinstance(hits, Iterable):
        raise ToucheError(f"the baseline yielded the ranking {quoted(hits)}; yield a list of pairs")
    for hit in hits:
        _checked_tuple(hit, "(document id, score), or triples with a stance", lengths=(2, 3))
        document = _checked_word(hit[0], "document id", "equal to the document's id; the score follows")
        if len(hit) == 3:
            stances[document] = _checked_word(hit[2], "stance", "such as PRO or FIRST")
        yield document, hit[1]


def _checked_word(value: Any, what: str, advice: str) -> str:
    """Returns a value for a column of a run, or raises an error with ``advice`` if it is not one word.

    Programs that read runs split lines at white space, and some also at control characters.
    """
    if not is_word(value):
        raise ToucheError(f"the baseline yielded the {what} {quoted(value)}; write one word, {advice}")
    return str(value)  # a str already, which mypy does not know


def _checked_tuple(value: Any, form: str, lengths: tuple[int, ...]) -> Any:
    """Returns a tuple or list that a baseline yielded; another type or length is an error."""
    if not isinstance(value, tuple | list) or len(value) not in lengths:
        raise ToucheError(f"the baseline yielded {quoted(value)}; yield pairs {form}")
    return value
