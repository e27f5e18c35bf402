"""touche identify"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import inf
from operator import itemgetter
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import DATASET_ID, argument, command, option
from touche.cli.options import FORMAT
from touche.cli.output import BROKEN, counted, render, tell
from touche.errors import ToucheError
from touche.io.identifiers import quoted
from touche.io.tables import Column, Sheet, three_decimals
from touche.lab import identification as library
from touche.lab.identification.answer import WITHIN, Answer, Candidate
from touche.lab.official_formulas import check_formulas
from touche.regression.outcomes import COLUMNS, MISSING, NOT_INSTALLED, summary
from touche.trec.framed import Table


def _mean_lengths(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, float]:
    """Parses mean lengths into a dictionary by field name."""
    lengths: dict[str, float] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        # A number with 400 digits becomes an infinite float.
        is_valid = name and _is_number(number) and 0 < float(number) < inf
        if not is_valid:
            problem = f"{param.opts[0]} {quoted(value)} is not a field and its mean number of tokens"
            raise click.UsageError(f"{problem}; write it as text=193.93", ctx)
        if name in lengths:
            raise click.UsageError(f"{param.opts[0]} has {quoted(name)} twice; omit one of them", ctx)
        lengths[name] = float(number)
    return lengths


_is_number = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII).fullmatch


@command(
    "touche identify out/bm25/run.txt --task spot-check/arguments\ntouche identify --check bm25",
    argument("names", "[RUN | --check BASELINE...]", type=click.Path(readable=False)),
    option("--task dataset TASK", f"One of {', '.join(tasks.datasets())}.", type=DATASET_ID),
    option(
        "--mean-length mean_lengths FIELD=TOKENS",
        "A field's mean length, if you know it. Can be repeated.",
        multiple=True,
        callback=_mean_lengths,
    ),
    option("--check", "Check the formulas of BASELINEs, or of all baselines, instead of a RUN."),
    FORMAT,
)
def identify(
    names: Sequence[str], dataset: str | None, mean_lengths: Mapping[str, float], check: bool, format: str
) -> int:
    """Infer a RUN's retrieval model, analysis, fields, lengths and parameters from its scores.

    Each hypothesis is fitted to the RUN's scores, for at most 150 documents per topic. TASK is a dataset that
    contains the texts of at least some of these documents. The best hypothesis is the answer if it fits
    clearly better than the others. RUN can also be a *.tsv file with topic, document and score. It takes
    seconds when TASK is the RUN's whole collection, and minutes otherwise. You need the extra lucene.

    With --check, run BASELINEs and check that the formulas in their formulas.toml still explain the scores of
    official runs. Exit with 1 if one doesn't, and with 2 if the data for all of them are missing.
    """
    if check:
        if dataset or mean_lengths:
            raise click.UsageError("--check reads TASK and mean lengths from formulas.toml; omit them")
        return _check(names, format)
    if len(names) != 1:
        raise click.UsageError("name one RUN, or add --check")
    if dataset is None:
        raise click.UsageError("the RUN's task is missing; add --task")
    answer = library.identify(Path(names[0]), dataset, mean_lengths=mean_lengths)
    if format == "json":
        click.echo(json.dumps(asdict(answer), indent=2, ensure_ascii=False))
    else:
        render(Table(Candidate, answer.candidates), format, _sheets(answer))
    return 0


def _check(baselines: Sequence[str], format: str) -> int:
    """Runs ``touche identify --check``."""
    checked = check_formulas(baselines, tell)
    missing = [outcome.remark for outcome in checked if outcome.verdict == MISSING]
    notes = [f"{MISSING}: {data}" for data in missing]
    notes += [f"{NOT_INSTALLED}: {remark}" for remark in checked.not_installed]
    notes.append(f"formulas: {summary(checked)}")
    columns = [column for column in COLUMNS if column.heading not in ("wall", "memory")]
    rows = [outcome for outcome in checked if outcome.verdict != MISSING]
    render(checked, format, [Sheet(columns, rows, notes)])
    if checked.unchecked:
        what_to_get = "the data for all formulas are missing; get what the remarks above name"
        raise ToucheError(f"nothing was checked: {next(iter(checked.not_installed), what_to_get)}")
    return BROKEN if checked.is_broken else 0


def _sheets(answer: Answer) -> Iterator[Sheet]:
    """Yields the table of the best hypotheses. If one stands out, tables of its fitted values follow."""
    best = answer.candidates[0]
    documents = f"{best.documents:,} of the run's {answer.in_run:,} documents"
    decimals = f"whose scores have {counted(answer.decimals, 'decimal')}"
    tried = f"{answer.tried:,} hypotheses on {documents}, {decimals}"
    title = "The best hypotheses (n: documents, p: free parameters; shares of scores within a relative error)"
    lines = [tried, "", answer.first_line, *answer.sentences()]
    # These headings are relative errors; the cells are the shares of scores within them.
    shares = [
        Column(f"{within:g}", partial(_share, index), three_decimals) for index, within in enumerate(WITHIN)
    ]
    columns = [
        Column("n", "documents"),
        Column("p", "free_parameters"),
        Column("p/n", "floor", three_decimals),  # a wrong hypothesis fits this share too
        *shares,
        Column("median", "median", "{:.0e}".format),
        Column("hypothesis", "hypothesis"),
        Column("", partial(_doubt, best)),  # marks hypotheses that are as good as the first
    ]
    yield Sheet(columns, answer.candidates, above=[*lines, "", title])
    if answer.stands_out:
        yield from _details(answer)


def _share(index: int, candidate: Candidate) -> float:
    """Returns the share of scores that a hypothesis reproduces within an error of ``WITHIN[index]``."""
    return candidate.shares[index]


def _doubt(first: Candidate, candidate: Candidate) -> str:
    """Returns a remark if another hypothesis is as good as the first; otherwise an empty string."""
    return "" if candidate.differs or candidate is first else "does not differ significantly from the first"


_NUMBERS = [
    Column("number", "name"),
    Column("fitted", "value", "{:.5g}".format),
    Column("round", "round", "{:g}".format),
    Column("", "note"),
]
_TERMS = [Column("term", itemgetter(0)), Column("df", itemgetter(1))]
_TOPICS = [
    Column("topic", "topic"),
    Column("n", "documents"),
    Column("share", "share", "{:.2f}".format),
    Column("title", "title"),
]
_WORST = [
    Column("topic", "topic"),
    Column("document", "document"),
    Column("score", "score", "{:.6f}".format),
    Column("predicted", "predicted", "{:.4f}".format),
    Column("would be explained by", "explained"),
]


def _details(answer: Answer) -> Iterator[Sheet]:
    """Yields the tables of fitted values."""
    yield Sheet(_NUMBERS, answer.numbers, above=["Fitted numbers"])
    for field, collection in answer.collections.items():
        terms = sorted(collection.df.items(), key=itemgetter(1))
        yield Sheet(_TERMS, terms, above=[f"Documents with a term in {field}"])
    yield Sheet(_TOPICS, answer.topics, above=["Topics"])
    if answer.worst:
        yield Sheet(_WORST, answer.worst, above=["Scores with the largest errors"])
