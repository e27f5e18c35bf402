"""touche identify"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import DATASET_ID, Command
from touche.cli.output import counted, show, style
from touche.identify import identify as identified
from touche.identify.answer import WITHIN, Answer
from touche.identify.words import first_line, sentences


@click.command(
    cls=Command,
    example="touche identify out/bm25/run.txt --task spot-check/arguments",
)
@click.argument("run", type=click.Path(path_type=Path, readable=False), metavar="RUN")
@click.option(
    "--task",
    "dataset",
    type=DATASET_ID,
    required=True,
    metavar="TASK",
    help=f"Whose documents are at hand; a part of them is enough. One of {', '.join(tasks.datasets())}.",
)
@style("table", "json")
def identify(run: Path, dataset: str, style: str) -> None:
    """Find out what made a RUN: model, analysis, fields, lengths and parameters, from its scores.

    Hypotheses are fitted to the scores of the documents that are at hand, at most 150 of a topic. The best
    one is the answer if it stands out. RUN can also be a file *.tsv with topic, document and score. It takes
    one to four minutes, and needs the extra lucene.
    """
    found = identified(run, dataset)
    if style == "json":
        click.echo(json.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    best = found.candidates[0]
    of = f"{best.documents:,} of the run's {found.in_run:,} documents"
    click.echo(f"{found.tried:,} hypotheses on {of}, whose scores have {counted(found.decimals, 'decimal')}")
    click.echo(f"\n{first_line(found)}")
    for sentence in sentences(found):
        click.echo(sentence)
    for title, table in _tables(found):
        click.echo(f"\n{title}")
        show(*table)


Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def _tables(found: Answer) -> Iterator[tuple[str, Table]]:
    """What follows the answer; where there is none, only the best hypotheses."""
    yield (
        "The best hypotheses (p free numbers, n documents; shares of the scores that are met)",
        _candidates(found),
    )
    if found.stands_out:
        yield "Fitted numbers", _numbers(found)
        for field, collection in found.collections.items():
            df = sorted(collection.df.items(), key=lambda each: each[1])
            yield f"Documents with a term in {field}", (("term", "df"), [(term, f"{n}") for term, n in df])
        yield "Topics", _topics(found)
        yield "Scores that are missed most", _worst(found)


def _candidates(found: Answer) -> Table:
    header = ("n", "p", "p/n", *(f"{within:g}" for within in WITHIN), "median", "hypothesis", "")
    rows = [
        (
            str(each.documents),
            str(each.free_numbers),
            f"{each.floor:.3f}",
            *(f"{share:.3f}" for share in each.shares),
            f"{each.median:.0e}",
            each.hypothesis,
            "" if each.told_apart or place == 0 else "cannot be told from the first",
        )
        for place, each in enumerate(found.candidates)
    ]
    return header, rows


def _numbers(found: Answer) -> Table:
    rows = [
        (each.name, f"{each.value:.7g}", "–" if each.round is None else f"{each.round:g}", each.note)
        for each in found.numbers
    ]
    return ("number", "fitted", "round", ""), rows


def _topics(found: Answer) -> Table:
    rows = [(each.topic, str(each.documents), f"{each.share:.2f}", each.title) for each in found.topics]
    return ("topic", "n", "share", "title"), rows


def _worst(found: Answer) -> Table:
    rows = [
        (each.topic, each.document, f"{each.score:.6f}", f"{each.predicted:.6f}", each.explained)
        for each in found.worst
    ]
    return ("topic", "document", "score", "predicted", "would be explained by"), rows
