"""Runs' first results: each document once, with its rank in every run, its labels and its text."""

from collections.abc import Iterable, Mapping, Sequence

from touche.evaluation.scoring import Scored
from touche.io.identifiers import in_order
from touche.reports.report_records import Ranked, ShownDocument
from touche.reports.texts import passage, title_terms
from touche.tasks import STANCE, Task
from touche.tasks.task_records import CUTOFF

Texts = Mapping[str, Sequence[tuple[str, str]]]  # each part's kind and text
Ranks = Mapping[str, Mapping[str, Sequence[Ranked]]]  # by topic and document, one per run that contains it


def ranked_documents(runs: Iterable[Scored]) -> Ranks:
    """Returns the ranks of each run's first documents, by trec_eval and the organizers' script."""
    ranks: dict[str, dict[str, list[Ranked]]] = {}
    for scored_run in runs:
        depth = scored_run.judged.measure.cutoff or CUTOFF
        for topic, order in scored_run.run.by_score.items():
            trec_eval_ranks = {line: rank for rank, line in enumerate(order[:depth].tolist(), 1)}
            # The organizers' script reads the rank column.
            script_order = scored_run.run.by_rank[topic][:depth].tolist()
            script_ranks = {line: rank for rank, line in enumerate(script_order, 1)}
            indices = list(trec_eval_ranks | script_ranks)  # lines that come first in one of the orders
            for index, line in zip(indices, scored_run.run.take(indices), strict=True):
                ranked = Ranked(
                    run=scored_run.name,
                    rank=trec_eval_ranks.get(index, 0),
                    script_rank=script_ranks.get(index, 0),
                    score=line.score,
                    stance=line.stance,
                )
                ranks.setdefault(topic, {}).setdefault(line.document, []).append(ranked)
    return ranks


def first_results(
    ranks: Ranks,
    scored: Sequence[Scored],
    task: Task | None,
    texts: Texts,
    titles: Mapping[str, str],
    where_missing: str,
) -> dict[str, list[ShownDocument]]:
    """Returns each judged topic's first results, as deep as the measure scores, best rank first.

    Args:
        ranks: all first results' ranks.
        scored: the runs in all dimensions, for their judgments.
        task: their task, if there is one.
        texts: known texts.
        titles: the topics' titles.
        where_missing: why other texts aren't known, such as ``it is not in corpora/argsme-1.0``.
    """
    qrels = {scored_run.judged.dimension: scored_run.judged.qrels for scored_run in scored}
    stances = next((scored_run.judged.stances for scored_run in scored if scored_run.judged.stances), ())
    topics: dict[str, list[ShownDocument]] = {}
    judged_topics = {topic for judged in qrels.values() for topic in judged}
    for topic in sorted(ranks.keys() & judged_topics, key=in_order):
        terms = title_terms(titles.get(topic, ""))
        topics[topic] = []
        for document, ranks_in_runs in ranks[topic].items():
            labels: dict[str, int | str | None] = {
                dimension: judged.get(topic, {}).get(document) for dimension, judged in qrels.items()
            }
            stance = labels.get(STANCE)
            if isinstance(stance, int):  # judged stances are indices; the page shows words
                labels[STANCE] = stances[stance]
            ids = task.rules.ids_of(document) if task else [document]
            parts = [part for id in ids for part in texts.get(id, ()) if part[1].strip()]
            is_known = any(id in texts for id in ids)
            why_no_text = "" if parts else "it is empty" if is_known else where_missing
            topics[topic].append(
                ShownDocument(
                    document=document,
                    labels=labels,
                    ranks=ranks_in_runs,
                    passages=[(kind, passage(text, terms)) for kind, text in parts],
                    why_no_text=why_no_text,
                )
            )
        # By the best rank in any run; ties by the number of runs.
        topics[topic].sort(key=lambda shown: (min(ranked.best for ranked in shown.ranks), -len(shown.ranks)))
    return topics
