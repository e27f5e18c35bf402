"""touche data list | fetch | verify | convert"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from touche.cli.commands import Group, option
from touche.cli.options import DATASETS, FORMAT
from touche.cli.output import BROKEN, DOUBTFUL, GOOD, Column, Sheet, echo, explain, quietly, render, tell
from touche.data import official
from touche.data.fetching import NOT_PUBLISHED, Status
from touche.data.official import FAILED, OfficialFile
from touche.data.remedies import format_bytes
from touche.errors import ToucheError
from touche.io.grouping import group_by
from touche.io.progress import say


@click.group(cls=Group, example="touche data fetch touche-2020-task-1 --no-corpora")
def data() -> None:
    """List, fetch, verify and convert official topics, relevance judgments and corpora.

    DATASET is the id of a task, such as touche-2020-task-1. Without DATASET, a command covers all data.
    """


@data.command("list", example="touche data list touche-2020-task-1", params=[DATASETS, FORMAT])
def list_(datasets: Sequence[str], style: str) -> None:
    """Show each official file: availability, size, md5, licence and publisher."""
    files = official.list_data(datasets)
    render(files, style, _publications(files))


def _publications(files: Sequence[OfficialFile]) -> Iterator[Sheet]:
    """Yields a table for each publication."""
    by_publication = group_by(files, lambda file: (file.title, file.page, file.licence))
    for (title, page, licence), files_of_publication in by_publication.items():
        above = [f"{title}, {page}, licence: {licence}"]
        yield Sheet(_FILES, files_of_publication, above=above, colours={"yes": GOOD, "no": DOUBTFUL})


def _md5(file: OfficialFile) -> str | None:
    """Returns the cell of a file's md5; a star marks the md5 of its archive. None if no md5 is known."""
    if file.in_archive:
        return f"{file.md5}*"
    return file.md5 or None


_FILES = [
    Column("available", "available", lambda is_available: "yes" if is_available else "no"),
    Column("size", "size", format_bytes, missing="touche cannot fetch it"),
    Column("md5 (* of the archive)", format=_md5, missing="the publisher states none"),
    Column("file", "path"),
]
_FOLDER = click.Path(file_okay=False, path_type=Path)


@data.command(
    "fetch",
    example="touche data fetch touche-2020-task-1 --no-corpora",
    params=[
        DATASETS,
        option(
            "--from mirror DIRECTORY",
            "Copy the data from this folder, a mirror.",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
        ),
        option(
            "--to output DIR", "Folder for the data; set TOUCHE_DATA to this folder to use it.", type=_FOLDER
        ),
        option("--no-corpora", "Fetch only topics and relevance judgments."),
        option("--runs", "Fetch topics, judgments and the public runs behind published results."),
        option("--all every", "Fetch all published data, including corpora."),
    ],
)
def fetch_(
    datasets: Sequence[str],
    mirror: Path | None,
    output: Path | None,
    no_corpora: bool,
    runs: bool,
    every: bool,
) -> None:
    """Fetch official data and check it against the publishers' md5.

    Without --to, the data goes to the folders topics/, qrels/ and corpora/ of the clone. If touche was
    installed without a clone, the data goes to the user's cache folder. An interrupted download resumes. A
    mirror has the same three folders, or contains the archives as published.
    """
    statuses = quietly(
        official.fetch,
        datasets,
        output=output,
        mirror=mirror,
        no_corpora=no_corpora,
        runs=runs,
        every=every,
        report=_print_status,
        log=tell,
    )
    for note in statuses.notes:
        tell(note)
    for status in statuses:
        if status.problem:
            say(f"error: {status.problem}")
    problem = official.problem_with(statuses)
    if problem:
        raise ToucheError(problem)


@data.command("verify", example="touche data verify touche-2020-task-1", params=[DATASETS, FORMAT])
def verify_(datasets: Sequence[str], style: str) -> int:
    """Compare available files with the publishers' md5, and texts of args.me with the checksums in their ids.

    Exit with 1 if a file or a text differs, or a file of a named DATASET is missing.
    """
    verified = quietly(official.verify, datasets)
    if style == "table":
        for status in verified:
            _print_status(status)
    else:
        render(verified, style, [Sheet(_STATUSES, verified)])
    explain(verified, style)
    return BROKEN if verified.is_broken else 0


_STATUSES = [Column("result", "word"), Column("file", "path"), Column("", "remark")]


def _print_status(status: Status) -> None:
    """Prints what was done with a file, or what is known of it."""
    if status.word in (FAILED, NOT_PUBLISHED):  # ``fetch_`` prints their problems at the end
        return
    remark = f" ({status.remark})" if status.remark else ""
    echo(f"{status.path}: {status.word}{remark}")
