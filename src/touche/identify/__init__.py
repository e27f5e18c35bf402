"""What made a run: the model, the analysis, the fields and the numbers that its scores give away."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from touche.data import places
from touche.formats.columns import Run
from touche.identify.answer import Answer, answer
from touche.identify.samples import read_scores, sample_of


def identify(
    run: Path | Run, dataset: str, mean_lengths: Mapping[str, float] = MappingProxyType({})
) -> Answer:
    """Searches for what made a run, with the documents of a dataset.

    Of the documents that both have, at most 150 of a topic are taken. In a script this belongs below
    ``if __name__ == "__main__":``, as hypotheses are fitted by processes of their own.

    Args:
        run: a run, or a file ``*.tsv`` with topic, document and score on each line.
        dataset: such as ``touche-2021-task-1/sample``; a part of the documents is enough.
        mean_lengths: the mean number of tokens of fields in the whole collection, if they are known. An
            argument needs those of premises and conclusion; BEIR's names text and title are accepted.
            Lucene averages over the documents that have a token in the field.

    Raises:
        ToucheError: if the run is broken, the dataset is not at hand, or they have no document in common,
            a mean length is that of a field that they lack, or only one of an argument's parts has one.
    """
    lines, source = run if isinstance(run, Run) else read_scores(run), places.open_dataset(dataset)
    return answer(sample_of(lines, source.topics, source.documents, dataset, mean_lengths))
