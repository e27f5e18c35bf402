"""The formula of args.me's replica, compared with official scores."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from neighbours import neighbour
from touche import scan
from touche.data.datasets import open_dataset
from touche.documents.document_records import Argument, premises_of
from touche.scan.lengths import Array
from touche.scan.tokens import analysis_named

MEANS = {"premises": 196.574, "conclusion": 5.3824}  # tokens, of the index of 2021
PAGES = 405_903  # premises in it


Row = dict[tuple[str, ...], float]


def columns(topic: str, title: str, argument: Argument) -> Row:
    """The parts of a score, except for numbers of the whole index: idf, and the page's share."""
    argsme = neighbour("argsme", "baseline")
    terms = analysis_named("stopped").terms
    rarity = np.log(1 + 9_999.5 / 1.5)
    texts = {"premises": premises_of(argument), "conclusion": argument.conclusion}
    offsets = {"premises": argsme.ADDED_TOKENS, "conclusion": 0}
    parts = {("page", topic, argument.id.partition("-")[0]): 1.0}
    for field, mean in MEANS.items():
        words = Counter(terms(texts[field]))
        length = scan.before_lucene_7(np.array([float(words.total() + offsets[field])]))
        known = scan.Term(1, 1, 10_000, round(10_000 * mean))
        for term in terms(title):
            if words[term]:
                gain = argsme.bm25(np.array([float(words[term])]), length, known)
                parts[field, term] = float(gain[0] / rarity)
    return parts


def fitted(rows: list[Row], scores: Array) -> tuple[Row, Array]:
    """Returns the numbers that reproduce the most scores, by robust least squares, and the errors."""
    names = sorted({name for row in rows for name in row})
    table = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    weights = np.ones(len(rows))
    scale = 1.0
    for _ in range(150):
        numbers = np.linalg.lstsq(table * weights[:, None], scores * weights, rcond=None)[0]
        errors = scores - table @ numbers
        weights = 1 / np.sqrt(1 + np.square(errors / scale))
        scale = max(0.93 * scale, 3e-5)
    return dict(zip(names, numbers.tolist(), strict=True)), np.abs(errors)


@pytest.mark.nightly
def test_official_scores_are_met_by_the_formula_and_by_whole_numbers_of_arguments(official: Path) -> None:
    dataset = open_dataset("touche-2021-task-1/sample")
    titles = {topic.number: topic.title for topic in dataset.topics}
    arguments = {argument.id: argument for argument in dataset.documents}
    path = official / "runs" / "touche-2021-task-1" / "baseline-argsme-in-sample.tsv"
    lines = [line.split() for line in path.read_text().splitlines()]
    rows = [columns(t, titles[t], arguments[id]) for t, id, _ in lines]
    numbers, errors = fitted(rows, np.array([float(score) for *_, score in lines]))
    assert (len(rows), (errors < 1e-5).mean()) == (196, pytest.approx(0.954, abs=0.01))
    without = [{name: value for name, value in row.items() if name[0] != "page"} for row in rows]
    assert (fitted(without, np.array([float(score) for *_, score in lines]))[1] < 1e-5).mean() < 0.2
    frequencies = {"chess": 753, "sport": 3350, "games": 8551, "art": 4180, "psychology": 1785}
    for term, df in frequencies.items():
        assert (PAGES + 1) / np.exp(numbers["premises", term]) - 0.5 == pytest.approx(df, abs=0.01)
