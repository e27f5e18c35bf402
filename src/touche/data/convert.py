"""Converts datasets to the format of BEIR."""

from collections.abc import Iterable
from pathlib import Path

from touche.data.places import at_hand, open_dataset, qrels_of
from touche.errors import InputError
from touche.formats.beir import corpus_line, judgment_lines, query_line
from touche.io.writing import make_folder, whole
from touche.progress import watched
from touche.tasks import STANCE, dataset


def write_beir(dataset_id: str, folder: Path) -> list[Path]:
    """Writes a dataset in the format of BEIR.

    Args:
        dataset_id: the id of a task or dataset whose topics and corpus are available.
        folder: the folder for corpus.jsonl, queries.jsonl and qrels/. The qrels of the task's first dimension
            are test.tsv; other files have the names of their dimensions.

    Returns:
        The written files.

    Raises:
        InputError: if the folder is not empty, or cannot be written.
        NotAtHandError: if topics or corpus are missing.
        ToucheError: if one of the files is broken.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InputError(folder, "the folder is not empty", "name a new folder")
    found, (task, _) = open_dataset(dataset_id), dataset(dataset_id)
    ranked = [name for name in task.qrels if name != STANCE and at_hand("qrels", task.qrels[name].file)]
    judged = {name: qrels_of(task, name) for name in ranked}
    make_folder(folder / "qrels")
    documents = watched(found.documents, "writing", "documents", None)
    files: dict[str, Iterable[str]] = {"queries.jsonl": map(query_line, found.topics)}
    for place, (dimension, qrels) in enumerate(judged.items()):
        files[f"qrels/{'test' if place == 0 else dimension}.tsv"] = judgment_lines(qrels)
    files["corpus.jsonl"] = map(corpus_line, documents)
    for name, lines in files.items():
        with whole(folder / name) as file:
            file.writelines(line.encode() for line in lines)
    return [folder / name for name in files]
