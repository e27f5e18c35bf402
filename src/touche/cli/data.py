"""touche data list | fetch | verify"""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import DATASET_ID, Group
from touche.cli.output import BROKEN, DOUBTFUL, GOOD, counted, show, tell
from touche.data import publishers
from touche.data.places import home
from touche.data.remedies import in_bytes, remedy
from touche.errors import ToucheError
from touche.progress import say

_DATASETS = click.argument("chosen", nargs=-1, type=DATASET_ID, metavar="[DATASET...]")


@click.group(cls=Group, example="touche data fetch touche-2020-task-1 --no-corpora")
def data() -> None:
    """Official topics, judgments and corpora: what there is, fetching and verifying it.

    DATASET is the id of a task, such as touche-2020-task-1; without any, all data is meant.
    """


@data.command("list", example="touche data list touche-2020-task-1")
@_DATASETS
def list_(chosen: Sequence[str]) -> None:
    """Show every official file: whether it is at hand, size, md5, licence, publisher."""
    header = ("at hand", "size", "md5 (* of the archive)", "file")
    for (title, page, licence), files in groupby(
        publishers.official(chosen), lambda each: (each.title, each.page, each.licence)
    ):
        rows = [
            (
                "yes" if each.at_hand else "no",
                in_bytes(each.size) if each.url else "–",
                f"{each.md5}{'*' if each.member else ''}" or "–",
                each.path,
            )
            for each in files
        ]
        click.echo(f"{title}, {page}, licence: {licence}")
        show(header, rows, {"yes": GOOD, "no": DOUBTFUL})
        click.echo()


@data.command("fetch", example="touche data fetch touche-2020-task-1 --no-corpora")
@_DATASETS
@click.option(
    "--from",
    "mirror",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder to take it from.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="A folder to put it in, for TOUCHE_DATA.",
)
@click.option("--no-corpora", is_flag=True, help="Topics and judgments only.")
def fetch_(chosen: Sequence[str], mirror: Path | None, folder: Path | None, no_corpora: bool) -> None:
    """Fetch official data, and check it against the publishers' md5.

    Without --to it goes to the clone's topics/, qrels/ and corpora/, outside of a clone to the user's cache
    folder. A download that was interrupted goes on where it stopped. A mirror is laid out in the same way, or
    holds the archives as they are published.
    """
    wanted = [each for each in publishers.official(chosen) if not (no_corpora and each.kind == "corpora")]
    missing = [each for each in wanted if not each.place(folder) and each.url]
    size = in_bytes(sum(each.size for each in missing))
    tell(f"{len(wanted)} files, {len(missing)} of them to fetch ({size}) to {folder or home()}")
    problems = [*_fetch_files(wanted, mirror, folder, bool(chosen))]
    if not no_corpora:
        problems += _copy_samples(chosen, mirror, folder)
    if folder and folder not in tasks.data_folders():
        others = f'{os.pathsep}"$TOUCHE_DATA"' if tasks.data_folders() else ""
        tell(f"to use it: export TOUCHE_DATA={shlex.quote(str(folder.absolute()))}{others}")
    if problems:
        for problem in problems[:-1]:
            say(f"error: {problem}")
        raise ToucheError(f"{counted(len(problems), 'file')} missing: {problems[-1]}")


@data.command("verify", example="touche data verify touche-2020-task-1")
@_DATASETS
def verify_(chosen: Sequence[str]) -> int:
    """Compare the files at hand with the publishers' md5; exits with 1 if one differs."""
    statuses = [publishers.verify(each) for each in publishers.official(chosen)]
    if not statuses:
        raise ToucheError(
            f"nothing of {' '.join(chosen)} is published, so nothing was verified; name other data"
        )
    for status in statuses:
        _say(status)
    counts = Counter(status.word for status in statuses)
    click.echo(", ".join(f"{count} {word}" for word, count in counts.items()))
    if counts[publishers.NOT_AT_HAND] == len(statuses):
        named = "".join(
            dict.fromkeys(f" {tasks.task(each).id}" for each in chosen)
        )  # samples are not published
        fetched = any(each.url for each in publishers.official(chosen))
        advice = f"get them with: touche data fetch{named}" if fetched else remedy(statuses[-1].path)
        raise ToucheError(f"nothing was verified, as no file is at hand; {advice}")
    return BROKEN if counts[publishers.DIFFERS] else 0


def _fetch_files(
    wanted: Sequence[publishers.Source], mirror: Path | None, folder: Path | None, is_chosen: bool
) -> Iterator[str]:
    """Fetches files; yields what is missing."""
    for source in wanted:
        try:
            _say(status := publishers.fetch(source, mirror, folder))
            if is_chosen and status.word == publishers.NOT_IN_MIRROR:
                yield f"{source.path} is not in {mirror}; put it or its archive there"
        except ToucheError as error:
            yield str(error)


def _copy_samples(chosen: Sequence[str], mirror: Path | None, folder: Path | None) -> Iterator[str]:
    for status in publishers.copy_samples(chosen, mirror, folder):
        if status.word != publishers.NOT_PUBLISHED:
            _say(status)
        elif chosen:
            yield f"{status.path} is not published; take it --from where it is"


def _say(status: publishers.Status) -> None:
    click.echo(f"{status.path}: {status.word}{f' ({status.remark})' if status.remark else ''}")
