"""Baselines as PyTerrier transformers. Imported only if PyTerrier is installed."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyterrier as pt
from pandas import DataFrame

from touche.baselines.exits import exits_as_errors
from touche.baselines.method import Baseline
from touche.documents.collection import Documents, PlainDocuments
from touche.documents.document_records import Document
from touche.errors import ToucheError
from touche.io.identifiers import quoted
from touche.trec.runs import ranking
from touche.trec.topics import Topic

_SCORES = ["score", "rank"]


class BaselineTransformer(pt.Transformer):  # type: ignore[misc]
    """A transformer that ranks using a baseline.

    ``documents`` is None if the frames contain the documents.
    """

    def __init__(self, ranker: Baseline, options: Mapping[str, Any], documents: Documents | None) -> None:
        super().__init__()
        self.ranker = ranker
        self.options = options
        self.documents = documents

    def __repr__(self) -> str:
        changed = self.ranker.changed(self.options)
        options = "".join(f", {name}={value!r}" for name, value in changed.items())
        return f"touche.pyterrier({self.ranker.name!r}{options})"

    def transform(self, inp: DataFrame) -> DataFrame:
        """Ranks a collection's documents, or re-ranks a frame's.

        Args:
            inp: the columns qid and query. With docno, the frame is re-ranked; without a collection, it needs
                text, too.

        Returns:
            The input's columns with docno, score and rank, from 0. Documents without a score are missing.
        """
        needed = ["query"] if self.documents is not None else ["query", "text"]
        # With a collection, the frame contains queries or results; without one, results.
        with pt.validate.any(inp, context=self) as forms:
            if self.documents is not None:
                forms.query_frame(extra_columns=needed, mode="retrieve")
            forms.result_frame(extra_columns=needed, mode="rerank")
        keys = ["qid", "docno"] if "docno" in inp.columns else ["qid"]  # identify a row of the input
        unscored = inp.drop(columns=_SCORES, errors="ignore")  # without an earlier ranking's scores
        ranked = self._ranked(_checked_texts(unscored, [*keys, *needed]))
        columns = list(dict.fromkeys([*unscored.columns, "docno", *_SCORES]))  # each once
        # The keys in ``ranked`` are strings, but the input's ids may be numbers. Duplicate rows in
        # the input would duplicate results.
        rows = unscored.astype(dict.fromkeys(keys, str)).drop_duplicates(keys)
        return ranked.merge(rows, on=keys, how="left")[columns]

    def _ranked(self, frame: DataFrame) -> DataFrame:
        """Returns qid, docno, score and rank of each hit. If the frame has a column docno, its rows are
        candidates to be re-ranked.
        """
        candidates: Any = {}  # frozensets of ids by qid; a qid without a set ranks all documents
        if "docno" in frame:
            candidates = frame.groupby("qid")["docno"].agg(frozenset)
        queries = _by_key(frame, "qid", "query")
        topics = [Topic(qid, query, candidates=candidates.get(qid)) for qid, query in queries.items()]
        documents = self.documents
        if documents is None:
            text_by_id = _by_key(frame, "docno", "text")
            documents = PlainDocuments([Document(id, text) for id, text in text_by_id.items()])
        # Without topics, the documents would be read for nothing.
        rankings = self.ranker(topics, documents, **self.options) if topics else ()
        rows = []
        with exits_as_errors(self.ranker.name):
            for topic, hits in rankings:
                scores = [(hit[0], hit[1]) for hit in hits]  # without stances
                for rank, (id, score) in enumerate(ranking(scores)):
                    rows.append((topic.number, id, float(score), rank))
        types = {"qid": str, "docno": str, "score": float, "rank": int}
        return DataFrame(rows, columns=[*types]).astype(types)


def _checked_texts(frame: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Returns columns as strings; rejects missing values, which would become the string ``nan``."""
    for column in columns:
        if frame[column].isna().any():
            row = int(frame[column].isna().to_numpy().argmax()) + 1
            raise ToucheError(f"the frame has no {column} in row {row}; add it, or drop the row")
    return frame[columns].astype(str)


def _by_key(frame: DataFrame, key: str, value: str) -> dict[str, str]:
    """Returns each key's value; rejects keys with two values."""
    pairs = frame[[key, value]].drop_duplicates()
    keys = pairs[key]
    repeated = keys[keys.duplicated()]  # each has two values
    if len(repeated):
        problem = f"{key} {quoted(repeated.iloc[0])} has two values of {value}"
        raise ToucheError(f"{problem}; use a different {key} for each")
    return dict(zip(pairs[key], pairs[value], strict=True))
