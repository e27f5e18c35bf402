"""touche data list | fetch | verify"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from touche.cli.commands import Group, option
from touche.cli.options import DATASETS, FORMAT
from touche.cli.output import BROKEN, DOUBTFUL, GOOD, echo, explain, render, tell
from touche.data import official
from touche.data.official import FAILED, OfficialFile
from touche.data.remedies import ELSEWHERE, format_bytes
from touche.data.verifying import NOT_PUBLISHED, Status
from touche.errors import ToucheError, counted
from touche.io.grouping import group_by
from touche.io.progress import say
from touche.io.tables import Column, Sheet


@click.group(cls=Group, example="touche data fetch touche-2020-task-1 --no-corpora")
def data() -> None:
    """List, fetch and verify official topics, relevance judgments, runs and corpora.

    DATASET is a task's id, such as touche-2020-task-1. Without it, a command covers all data.
    """


@data.command("list", example="touche data list touche-2020-task-1", params=[DATASETS, FORMAT])
def list_(datasets: Sequence[str], format: str) -> None:
    """List official files: whether you have them, size, md5, licence and publisher."""
    files = official.list_data(datasets)
    render(files, format, _publications(files))


def _publications(files: Sequence[OfficialFile]) -> Iterator[Sheet]:
    """Yields a table per publication."""
    by_publication = group_by(files, lambda file: (file.title, file.page, file.licence))
    for (title, page, licence), files_of_publication in by_publication.items():
        above = [f"{title}, {page}, licence: {licence}"]
        yield Sheet(_FILES, files_of_publication, above=above, colours={"yes": GOOD, "no": DOUBTFUL})


def _md5(file: OfficialFile) -> str | None:
    """Returns a file's md5, starred if it's the archive's; None if it's unknown."""
    if file.in_archive:
        return f"{file.md5}*"
    return file.md5 or None


_FILES = [
    Column("available", "available", lambda is_available: "yes" if is_available else "no"),
    Column("size", "size", format_bytes, missing="unknown, or touche cannot fetch it"),
    Column("md5 (* of the archive)", _md5, missing="the publisher states none"),
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
            "Copy the data from a mirror, such as a shared folder, instead of downloading it.",
            type=click.Path(exists=True, file_okay=False, path_type=Path),
        ),
        option("--to output DIR", "Folder for the data. To use it, set TOUCHE_DATA to it.", type=_FOLDER),
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

    In a clone, files go to its folders topics/, qrels/ and corpora/; otherwise to your cache folder. Use --to
    to put them elsewhere. Interrupted downloads resume when you repeat the command. A mirror contains the
    same three folders, or the archives as published.
    """
    statuses = official.fetch(
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
    problems = [status.problem for status in statuses if status.problem]
    for problem in problems:
        say(f"error: {problem}")
    if problems:
        missing = counted(len(problems), "file")
        raise ToucheError(f"{missing} missing; follow the lines above, or {ELSEWHERE}")


@data.command("verify", example="touche data verify touche-2020-task-1", params=[DATASETS, FORMAT])
def verify_(datasets: Sequence[str], format: str) -> int:
    """Compare your files with the publishers' md5, and args.me texts with the checksums in their ids.

    Exit with 1 if a file or text differs, or if a file of a named DATASET is missing.
    """
    verified = official.verify(datasets)
    if format == "table":
        for status in verified:
            _print_status(status)
    else:
        render(verified, format, [Sheet(_STATUSES, verified)])
    explain(verified, format)
    return BROKEN if verified.is_broken else 0


_STATUSES = [Column("result", "word"), Column("file", "path"), Column("", "remark")]


def _print_status(status: Status) -> None:
    """Prints what happened to a file, or what we know about it."""
    if status.word in (FAILED, NOT_PUBLISHED):  # ``fetch_`` prints these problems at the end
        return
    remark = f" ({status.remark})" if status.remark else ""
    echo(f"{status.path}: {status.word}{remark}")
