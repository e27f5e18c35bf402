"""touche data list | fetch | verify | convert"""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import click

from touche import tasks
from touche.cli.commands import DATASET_ID, Group, argument, option
from touche.cli.options import DATASETS
from touche.cli.output import BROKEN, DOUBTFUL, GOOD, counted, show, tell
from touche.data import fetching
from touche.data.convert import write_beir
from touche.data.fetching import Source
from touche.data.places import home
from touche.data.remedies import in_bytes, remedy
from touche.errors import ToucheError
from touche.progress import say


@click.group(cls=Group, example="touche data fetch touche-2020-task-1 --no-corpora")
def data() -> None:
    """Official topics, judgments and corpora: what there is, fetching and verifying it.

    DATASET is the id of a task, such as touche-2020-task-1; without any, all data is meant.
    """


@data.command("list", example="touche data list touche-2020-task-1", params=[DATASETS])
def list_(datasets: Sequence[str]) -> None:
    """Show every official file: whether it is at hand, size, md5, licence, publisher."""
    header = ("at hand", "size", "md5 (* of the archive)", "file")
    sources = fetching.official(datasets)
    for (title, page, licence), files in groupby(sources, attrgetter("title", "page", "licence")):
        click.echo(f"{title}, {page}, licence: {licence}")
        show(header, map(_row, files), {"yes": GOOD, "no": DOUBTFUL})
        click.echo()


def _row(source: Source) -> tuple[str, ...]:
    at_hand, size = "yes" if source.place() else "no", in_bytes(source.size) if source.url else "–"
    return at_hand, size, f"{source.md5}{'*' if source.member else ''}" or "–", source.path


_EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_FETCH: list[click.Parameter] = [
    DATASETS,
    option("--from mirror DIRECTORY", "A folder to take it from.", type=_EXISTING),
    option("--to folder DIR", "A folder to put it in, for TOUCHE_DATA.", type=_FOLDER),
    option("--no-corpora", "Topics and judgments only."),
    option("--all every", "All that is published, corpora included."),
]


@data.command("fetch", example="touche data fetch touche-2020-task-1 --no-corpora", params=_FETCH)
def fetch_(
    datasets: Sequence[str], mirror: Path | None, folder: Path | None, no_corpora: bool, every: bool
) -> None:
    """Fetch official data, and check it against the publishers' md5.

    Without --to it goes to the clone's topics/, qrels/ and corpora/, outside of a clone to the user's cache
    folder. A download that was interrupted goes on where it stopped. A mirror is laid out in the same way, or
    holds the archives as they are published.
    """
    wanted = [each for each in fetching.official(datasets) if not (no_corpora and each.kind == "corpora")]
    missing = [each for each in wanted if not each.place(folder) and each.url]
    size = in_bytes(sum(each.size for each in missing))
    if missing and not (datasets or mirror or no_corpora or every):
        raise ToucheError(f"all data is {size} to download; name a DATASET, or add --all or --no-corpora")
    tell(f"{len(wanted)} files, {len(missing)} of them to fetch ({size}) to {folder or home()}")
    problems = [*_fetch_files(wanted, mirror, folder, bool(datasets))]
    if not no_corpora:
        problems += _copy_samples(datasets, mirror, folder)
    if folder and folder not in tasks.data_folders():
        others = f'{os.pathsep}"$TOUCHE_DATA"' if tasks.data_folders() else ""
        tell(f"to use it: export TOUCHE_DATA={shlex.quote(str(folder.absolute()))}{others}")
    for problem in problems:
        say(f"error: {problem}")
    if problems:
        raise ToucheError(f"{counted(len(problems), 'file')} missing; do what the lines above say")


@data.command("verify", example="touche data verify touche-2020-task-1", params=[DATASETS])
def verify_(datasets: Sequence[str]) -> int:
    """Compare the files at hand with the publishers' md5; exits with 1 if one differs."""
    sources = fetching.official(datasets)
    if not sources:
        named = " ".join(datasets)
        raise ToucheError(f"nothing of {named} is published, so nothing was verified; name other data")
    statuses = [fetching.verify(each) for each in sources]
    for status in statuses:
        _say(status)
    counts = Counter(status.word for status in statuses)
    click.echo(", ".join(f"{count} {word}" for word, count in counts.items()))
    if counts[fetching.MISSING] == len(statuses):
        named = " ".join(dict.fromkeys(tasks.task(each).id for each in datasets))  # samples are not published
        fetch = f"get them with: touche data fetch {named or '--all'}"
        advice = fetch if any(each.url for each in sources) else remedy(statuses[-1].path)
        raise ToucheError(f"nothing was verified, as no file is at hand; {advice}")
    return BROKEN if counts[fetching.DIFFERS] else 0


_CONVERT: list[click.Parameter] = [
    argument("dataset", "DATASET", type=DATASET_ID),
    option("-o --output folder DIR", "A new folder.", type=_FOLDER, required=True),
]


@data.command("convert", example="touche data convert spot-check/arguments -o beir", params=_CONVERT)
def convert_(dataset: str, folder: Path) -> None:
    """Write a DATASET in the format of BEIR: corpus.jsonl, queries.jsonl and qrels/test.tsv.

    test.tsv has the judgments of the first dimension; other dimensions have files of their own. What BEIR has
    no place for is in metadata, from which the same documents are read.
    """
    for path in write_beir(dataset, folder):
        click.echo(path)


def _fetch_files(
    wanted: Sequence[Source], mirror: Path | None, folder: Path | None, is_chosen: bool
) -> Iterator[str]:
    """Fetches files; yields what is missing."""
    for source in wanted:
        try:
            _say(status := fetching.fetch(source, mirror, folder))
            if is_chosen and status.word == fetching.NOT_IN_MIRROR:
                yield f"{source.path} is not in {mirror}; put it or its archive there"
        except ToucheError as error:
            yield str(error)


def _copy_samples(datasets: Sequence[str], mirror: Path | None, folder: Path | None) -> Iterator[str]:
    for status in fetching.copy_samples(datasets, mirror, folder):
        if status.word != fetching.NOT_PUBLISHED:
            _say(status)
        elif datasets:
            yield f"{status.path} is not published; take it --from where it is"


def _say(status: fetching.Status) -> None:
    click.echo(f"{status.path}: {status.word}{f' ({status.remark})' if status.remark else ''}")
