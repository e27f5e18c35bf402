"""Writes a run for TIRA: run.txt and ir-metadata.yml."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from touche.errors import InputError, ToucheError
from touche.io.identifiers import is_word, quoted
from touche.io.writing import check_outputs, write_whole
from touche.tira.metadata import METADATA_FILE
from touche.trec.columns import Run
from touche.trec.runs import RUN_FILE, digits

INPUT_VARIABLE = "inputDataset"  # set by TIRA, like the next one
OUTPUT_VARIABLE = "outputDir"


def write_run(directory: Path, run: Run, metadata: str) -> None:
    """Writes ir-metadata.yml and then run.txt, so that run.txt never appears without its metadata.

    Call ``remove_earlier_run`` first. Scores are written using the fewest digits that give their float32.

    Raises:
        ToucheError: if a column is not a word, or the files can't be written.
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
    write_whole(directory / METADATA_FILE, metadata)
    write_whole(directory / RUN_FILE, "".join(run.lines_with(digits(run.rounded))))


def remove_earlier_run(
    directory: Path, inputs: Sequence[Path] = (), other_outputs: Iterable[Path] = ()
) -> None:
    """Checks that a run can be written, creates the directory, and removes an earlier run with its metadata.

    Args:
        inputs: files and folders that must not be overwritten.
        other_outputs: other files that the command will write.
    """
    files = [directory / RUN_FILE, directory / METADATA_FILE]
    check_outputs([*files, *other_outputs], inputs)
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            problem = f"cannot be removed ({error.strerror})"
            raise InputError(file, problem, "choose another directory") from error
