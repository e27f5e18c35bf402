"""Datasets for TIRA: the card that TIRA's client reads, and the files it names."""

import json
import os
import shlex
import shutil
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from touche import tasks
from touche.baselines.loader import baseline_folder
from touche.data.judgments import task_qrels
from touche.data.places import locate_corpus, locate_topics
from touche.data.whole_folders import whole_folder
from touche.errors import InputError, ToucheError, choice
from touche.io.identifiers import as_path, check_text, name_or_path
from touche.io.opening import open_binary
from touche.io.writing import make_folder, whole, write_whole
from touche.tasks import STANCE, Task
from touche.trec.topics import name_of_topics, read_topics

CARD = "README.md"
SPLIT = "test"
_EVALUATOR = "webis/ir_measures_evaluator:1.0.5"  # TIRA's own; it uses ir_measures


def write_for_tira(
    task: str,
    output: str | PathLike[str],
    *,
    dimension: str | None = None,
    baseline: str | PathLike[str] = "bm25",
) -> Path:
    """Writes a task as a dataset for TIRA: a README.md with tira_configs, topics, corpus and judgments.

    The corpus's files are links. Submit the folder using ``tira-cli dataset-submission``.

    Args:
        task: the task's id.
        output: a new folder; its name becomes the dataset's.
        dimension: the dimension to score; None for the first on the task's card.
        baseline: the baseline that TIRA's client runs on the dataset.

    Returns:
        The path of README.md.

    Raises:
        ToucheError: if there is no such task, baseline or dimension, data is missing, or the folder is not
            empty.

    Examples:
        >>> import tempfile, touche
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     touche.write_for_tira("spot-check/arguments", folder).name
        'README.md'
    """
    card = tasks.task(task)
    folder = as_path("output", output)
    ranked_dimensions = [name for name in card.qrels if name != STANCE]
    if not ranked_dimensions:
        raise ToucheError(f"{card.id} has no judged rankings, which TIRA needs; choose another task")
    chosen = ranked_dimensions[0] if dimension is None else dimension
    check_text("dimension", chosen)
    if chosen not in ranked_dimensions:
        raise ToucheError(f"{card.id} does not rank by {chosen!r}; {choice(chosen, ranked_dimensions)}")
    return write_dataset(card, chosen, baseline_folder(name_or_path("baseline", baseline)), folder)


def write_dataset(task: Task, dimension: str, baseline: Path, folder: Path) -> Path:
    """Writes a folder for ``tira-cli dataset-submission`` and returns the card's path.

    ``inputs/`` is an input directory with links to the corpus. ``truths/`` contains the qrels except for
    excluded topics; grades below 0 become 0, because they can crash evaluators.

    Args:
        dimension: a key of ``task.qrels``; TIRA shows one score per dataset.
        baseline: the folder of the baseline that TIRA's client tries on the dataset.
        folder: a new folder, which appears completely or not at all.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InputError(folder, "the folder is not empty", "name a new folder")
    if task.rules.by_stance:
        problem = f"{task.id} has a ranking for each stance of a topic, which ir_measures lacks"
        raise ToucheError(f"{problem}; name another task")
    topics = locate_topics(task, task.corpora["full"])
    corpus = locate_corpus(task.corpora["full"])
    queries = [{"qid": topic.number, "query": topic.title} for topic in read_topics(topics)]
    qrels_lines = (
        f"{topic} 0 {id} {max(grade, 0)}\n"
        for topic, grades in task_qrels(task, dimension).items()
        for id, grade in grades.items()
    )
    with whole_folder(folder) as part:
        inputs = part / "inputs"
        truths = part / "truths"
        shutil.copytree(corpus, inputs, copy_function=_link)
        inputs.chmod(0o755)  # the corpus may be read-only
        name = name_of_topics(topics)
        # Topics in the corpus's folder are links now, and writing would follow them.
        for link in inputs.glob(f"{name}*"):  # or compressed
            link.unlink()
        with open_binary(topics) as content, whole(inputs / name) as file:  # decompressed
            shutil.copyfileobj(content, file)
        make_folder(truths)
        write_whole(truths / "queries.jsonl", "".join(f"{json.dumps(query)}\n" for query in queries))
        write_whole(truths / "qrels.txt", "".join(qrels_lines))
        write_whole(part / CARD, _card(task, dimension, os.path.relpath(baseline, folder)))
    return folder / CARD


def _link(file: str, link: str) -> None:
    """Links instead of copying: a corpus may be large, and TIRA's client makes its own copy."""
    Path(link).symlink_to(Path(file).resolve())


def _card(task: Task, dimension: str, baseline: str) -> str:
    """Returns the card; ``baseline`` is the path to the baseline's folder from the card's."""
    import yaml  # imported late: takes 10 ms

    # wide enough to keep each command on one line
    front_matter = yaml.safe_dump(_settings(task, baseline), sort_keys=False, allow_unicode=True, width=1000)
    ranked = f"Runs rank {task.rules.unit}s, at most {task.rules.max_results} for each topic."
    scored = f"Runs are scored by {task.measure} for {dimension} (trec_eval, through ir_measures)."
    notes = f"{task.qrels[dimension].note} {task.note}".split()
    text = f"{ranked} {scored} Task: <{task.url}>. {' '.join(notes)}".strip()
    return f"---\n{front_matter}---\n\n# {task.title}\n\n{text}\n"


def _settings(task: Task, baseline: str) -> Mapping[str, Any]:
    """Returns the part of the card that TIRA's client reads."""
    measures = [task.measure.name]
    if task.measure.cutoff:
        measures.append(task.measure.judged)  # the share of judged documents up to the same rank
    patterns = {"inputs": "inputs/**", "truths": "truths/*"}
    return {
        "configs": [
            {"config_name": name, "data_files": [{"split": SPLIT, "path": [pattern]}]}
            for name, pattern in patterns.items()
        ],
        "tira_configs": {
            "default_upload_name": "run.txt",
            "resolve_inputs_to": "inputs",
            "resolve_truths_to": "truths",
            "baseline": {
                "link": baseline,
                "command": "baseline -i $inputDataset -o $outputDir",
                "format": {"name": ["run.txt"]},
            },
            # TIRA's client knows no format with separate files for topics and documents.
            "input_format": {"name": "arbitrary"},
            "truth_format": {"name": "qrels.txt"},
            # For the evaluator, TIRA sets inputDataset to truths/.
            "evaluator": {
                "image": _EVALUATOR,
                "command": "/ir_measures_evaluator.py --run ${inputRun}/run.txt --topics "
                "${inputDataset}/queries.jsonl --qrels ${inputDataset}/qrels.txt --output_path ${outputDir} "
                f"--measures {shlex.join(measures)}",
            },
        },
    }
