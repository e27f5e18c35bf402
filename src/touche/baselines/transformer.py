"""Baselines as PyTerrier transformers; imported only if PyTerrier is installed."""

from collections.abc import Mapping
from typing import Any

import pyterrier as pt
from pandas import DataFrame

from touche.baselines.method import Baseline
from touche.collection.documents import Documents, PlainDocuments
from touche.errors import ToucheError
from touche.formats.documents import Document
from touche.formats.runs import ranking
from touche.formats.topics import Topic

_SCORES = ["score", "rank"]


class BaselineTransformer(pt.Transformer):  # type: ignore[misc]
    """A transformer that ranks by a baseline.

    Attributes:
        ranker: the baseline.
        options: values of all its options.
        documents: the collection; None if the frames have the documents.
    """

    def __init__(self, ranker: Baseline, options: Mapping[str, Any], documents: Documents | None) -> None:
        """Creates the transformer; arguments as the attributes."""
        super().__init__()
        self.ranker, self.options, self.documents = ranker, options, documents

    def __repr__(self) -> str:
        changed = self.ranker.changed(dict(self.options))
        options = "".join(f", {name}={value!r}" for name, value in changed.items())
        return f"touche.pyterrier({self.ranker.name!r}{options})"

    def transform(self, inp: DataFrame) -> DataFrame:
        """Ranks the documents of a collection, or re-ranks those of a frame.

        Args:
            inp: the columns qid and query; with docno the frame is re-ranked, and without a collection it
                also needs text.

        Returns:
            The input's columns with docno, score and rank, from 0. Documents without a score are missing.
        """
        with pt.validate.any(inp, context=self) as v:
            if self.documents is not None:
                v.query_frame(extra_columns=["query"], mode="retrieve")
                v.result_frame(extra_columns=["query"], mode="rerank")
            else:
                v.result_frame(extra_columns=["query", "text"], mode="rerank")
        is_ranked = "docno" in inp.columns
        kept = inp.drop(columns=_SCORES, errors="ignore")
        found = self._ranked(kept.astype(str), is_ranked)
        keys = ["qid", "docno"] if is_ranked else ["qid"]
        columns = [*kept.columns, *(["docno"] if not is_ranked else []), *_SCORES]
        return found.merge(kept.astype(dict.fromkeys(keys, str)), on=keys, how="left")[columns]

    def _ranked(self, texts: DataFrame, is_ranked: bool) -> DataFrame:
        """Returns a row with qid, docno, score and rank for each document."""
        topics = _topics(texts, is_ranked)
        documents = self.documents
        if documents is None:
            by_id = dict(zip(texts["docno"], texts["text"], strict=True))
            documents = PlainDocuments([Document(id, text) for id, text in by_id.items()])
        rows = [
            (topic.number, id, float(score), rank)
            for topic, hits in (self.ranker(topics, documents, **self.options) if topics else ())
            for rank, (id, score) in enumerate(ranking((hit[0], hit[1]) for hit in hits))
        ]
        types = {"qid": str, "docno": str, "score": float, "rank": int}
        return DataFrame(rows, columns=[*types]).astype(types)


def _topics(frame: DataFrame, is_ranked: bool) -> list[Topic]:
    """Returns the topics of a frame, each once, with the documents to re-rank."""
    candidates: dict[str, set[str]] = {}
    titles: dict[str, str] = {}
    for row in frame.to_dict("records"):
        if titles.setdefault(row["qid"], row["query"]) != row["query"]:
            raise ToucheError(f"topic {row['qid']} has two queries; use a different qid for each query")
        if is_ranked:
            candidates.setdefault(row["qid"], set()).add(row["docno"])
    return [
        Topic(qid, title, candidates=frozenset(candidates[qid]) if is_ranked else None)
        for qid, title in titles.items()
    ]
