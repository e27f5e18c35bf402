"""touche identify"""

import json
from dataclasses import asdict
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import DATASET_ID, PATH, argument, command, option
from touche.cli.output import counted, show, show_records
from touche.identify import identify as identified
from touche.identify.answer import WITHIN, Answer


@command(
    "touche identify out/bm25/run.txt --task spot-check/arguments",
    argument("run", "RUN", type=PATH),
    option(
        "--task dataset TASK",
        f"Whose documents are at hand; a part of them is enough. One of {', '.join(tasks.datasets())}.",
        type=DATASET_ID,
        required=True,
    ),
    option("--format style", choices=("table", "json")),
)
def identify(run: Path, dataset: str, style: str) -> None:
    """Find out what made a RUN: model, analysis, fields, lengths and parameters, from its scores.

    Hypotheses are fitted to the scores of the documents that are at hand, at most 150 of a topic. The best
    one is the answer if it stands out. RUN can also be a file *.tsv with topic, document and score. It takes
    one to four minutes, and needs the extra lucene.
    """
    answer = identified(run, dataset)
    if style == "json":
        click.echo(json.dumps(asdict(answer), indent=2, ensure_ascii=False))
        return
    best = answer.candidates[0]
    of = f"{best.documents:,} of the run's {answer.in_run:,} documents"
    scores = f"whose scores have {counted(answer.decimals, 'decimal')}"
    click.echo(f"{answer.tried:,} hypotheses on {of}, {scores}\n\n{answer.first_line}")
    for sentence in answer.sentences():
        click.echo(sentence)
    _show_candidates(answer)
    if answer.stands_out:
        _show_details(answer)


def _show_candidates(answer: Answer) -> None:
    click.echo("\nThe best hypotheses (p free numbers, n documents; shares of the scores that are met)")
    first = answer.candidates[0]
    show_records(
        f"n|p|p/n|{'|'.join(f'{within:g}' for within in WITHIN)}|median|hypothesis|",
        "{documents}|{free_numbers}|{floor:.3f}"
        f"|{'|'.join(f'{{shares[{number}]:.3f}}' for number in range(len(WITHIN)))}"
        "|{median:.0e}|{hypothesis}|{doubt}",
        (
            vars(each)
            | {"doubt": "" if each.told_apart or each is first else "cannot be told from the first"}
            for each in answer.candidates
        ),
    )


def _show_details(answer: Answer) -> None:
    click.echo("\nFitted numbers")
    numbers = map(vars, answer.numbers)
    show_records("number|fitted|round|", "{name}|{value:.7g}|{round:g}|{note}", numbers)
    for field, collection in answer.collections.items():
        click.echo(f"\nDocuments with a term in {field}")
        df = sorted(collection.df.items(), key=lambda each: each[1])
        show(("term", "df"), [(term, str(documents)) for term, documents in df])
    click.echo("\nTopics")
    topics = map(vars, answer.topics)
    show_records("topic|n|share|title", "{topic}|{documents}|{share:.2f}|{title}", topics)
    click.echo("\nScores that are missed most")
    show_records(
        "topic|document|score|predicted|would be explained by",
        "{topic}|{document}|{score:.6f}|{predicted:.6f}|{explained}",
        map(vars, answer.worst),
    )
