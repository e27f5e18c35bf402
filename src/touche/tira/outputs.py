"""Writes the output of a run for TIRA: run.txt and ir-metadata.yml."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from touche.errors import InputError, ToucheError
from touche.io.identifiers import is_word, quoted
from touche.io.writing import check_outputs, write_whole
from touche.trec.columns import Run
from touche.trec.runs import RUN_FILE, digits

INPUT_VARIABLE = "inputDataset"  # set by TIRA, as the next one
OUTPUT_VARIABLE = "outputDir"
METADATA_FILE = "ir-metadata.yml"


def write_run(directory: Path, run: Run, metadata: str) -> None:
    """Writes ir-metadata.yml and run.txt; run.txt comes last, so that it is never without its metadata.

    Args:
        directory: the output directory, from which ``remove_earlier_run`` has removed an earlier run.
        run: the run, best documents first; scores are written with the fewest digits of their float32.
        metadata: the text of ir-metadata.yml.

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
    write_whole(directory / METADATA_FILE, metadata)
    write_whole(directory / RUN_FILE, "".join(run.lines_with(digits(run.rounded))))


def remove_earlier_run(
    directory: Path, inputs: Sequence[Path] = (), other_outputs: Iterable[Path] = ()
) -> None:
    """Checks that a run can be written, and removes an earlier run and its metadata.

    Args:
        directory: the output directory, which is made if it is missing.
        inputs: files that the output must not overwrite, and folders whose files it must not overwrite.
        other_outputs: files that the same command will write.

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
