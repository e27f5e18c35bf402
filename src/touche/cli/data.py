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
from touche.cli.output import BROKEN, DOUBTFUL, GOOD, counted, show, tell, warn
from touche.data import fetching
from touche.data.convert import write_beir
from touche.data.judged import compare_texts
from touche.data.places import home
from touche.data.remedies import ELSEWHERE, in_bytes, remedy
from touche.data.sources import Source, is_to_download, official
from touche.errors import ToucheError
from touche.io.progress import say


@click.group(cls=Group, example="touche data fetch touche-2020-task-1 --no-corpora")
def data() -> None:
    """List, fetch, verify and convert official topics, relevance judgments and corpora.

    DATASET is the id of a task, such as touche-2020-task-1. Without DATASET, a command covers all data.
    """


@data.command("list", example="touche data list touche-2020-task-1", params=[DATASETS])
def list_(datasets: Sequence[str]) -> None:
    """Show each official file: availability, size, md5, licence and publisher."""
    header = ("available", "size", "md5 (* of the archive)", "file")
    sources = official(datasets)
    for (title, page, licence), files in groupby(sources, attrgetter("title", "page", "licence")):
        click.echo(f"{title}, {page}, licence: {licence}")
        show(header, map(_row, files), {"yes": GOOD, "no": DOUBTFUL})
        click.echo()


def _row(source: Source) -> tuple[str, ...]:
    available, size = "yes" if source.place() else "no", in_bytes(source.size) if source.url else "–"
    return available, size, f"{source.md5}{'*' if source.member else ''}" or "–", source.path


_EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_FETCH: list[click.Parameter] = [
    DATASETS,
    option("--from mirror DIRECTORY", "Folder to copy the data from.", type=_EXISTING),
    option("--to folder DIR", "Folder to write the data to, for TOUCHE_DATA.", type=_FOLDER),
    option("--no-corpora", "Fetch only topics and relevance judgments."),
    option("--all every", "Fetch all published data, including corpora."),
]


@data.command("fetch", example="touche data fetch touche-2020-task-1 --no-corpora", params=_FETCH)
def fetch_(
    datasets: Sequence[str], mirror: Path | None, folder: Path | None, no_corpora: bool, every: bool
) -> None:
    """Fetch official data and check it against the publishers' md5.

    Without --to, the data goes to topics/, qrels/ and corpora/ of the clone, or outside a clone to the user's
    cache folder. An interrupted download resumes. A mirror has the same folders, or contains the archives as
    published.
    """
    wanted = [each for each in official(datasets) if not (no_corpora and each.kind == "corpora")]
    missing = [source for source in wanted if is_to_download(source, folder)]
    size = in_bytes(sum(source.size for source in {source.url: source for source in missing}.values()))
    if missing and not (datasets or mirror or no_corpora or every):
        raise ToucheError(f"all data is a download of {size}; pass a DATASET, or add --all or --no-corpora")
    tell(f"{len(wanted)} files, {len(missing)} of them to fetch ({size}) to {folder or home()}")
    if not mirror:
        for title, page, licence in dict.fromkeys((each.title, each.page, each.licence) for each in missing):
            tell(f"from {page}: {title}, licence: {licence}")
    problems = [*_fetch_files(wanted, mirror, folder, bool(datasets))]
    if not no_corpora:
        problems += _copy_samples(datasets, mirror, folder)
    if folder and folder not in tasks.data_folders():
        others = f'{os.pathsep}"$TOUCHE_DATA"' if tasks.data_folders() else ""
        tell(f"to use the data: export TOUCHE_DATA={shlex.quote(str(folder.absolute()))}{others}")
    for problem in problems:
        say(f"error: {problem}")
    if problems:
        remedy = f"follow the lines above, or {ELSEWHERE}"
        raise ToucheError(f"{counted(len(problems), 'file')} missing; {remedy}")


@data.command("verify", example="touche data verify touche-2020-task-1", params=[DATASETS])
def verify_(datasets: Sequence[str]) -> int:
    """Compare available files with the publishers' md5, and texts of args.me with the checksums in their ids.

    Exit with 1 if a file or a text differs, or a file of a named DATASET is missing.
    """
    sources = official(datasets)
    texts = [*compare_texts(datasets)]
    if not sources and not texts:
        named = " ".join(datasets)
        raise ToucheError(f"{named}: nothing was verified, because no file is published; choose other data")
    statuses = [fetching.verify(each) for each in sources]
    for status in statuses:
        _say(status)
    for path, count, altered in texts:
        for id in altered:
            click.echo(f"{path}: the text of {id} does not match the checksum in its id")
        click.echo(f"{path}: {count - len(altered):,} of {count:,} texts match the checksums in their ids")
    counts = Counter(status.word for status in statuses)
    click.echo(", ".join(f"{count} {word}" for word, count in counts.items()))
    if counts[fetching.MISSING] == len(statuses) and not texts:
        ids = [name.removesuffix("/sample") for name in datasets]  # samples are not published
        named = " ".join(dict.fromkeys(ids))
        fetch = f"get them with: touche data fetch {named or '--all'}"
        advice = fetch if any(each.url for each in sources) else remedy(statuses[-1].path)
        warn(f"nothing was verified, because all files are missing; {advice}")
    is_incomplete = bool(datasets) and counts[fetching.MISSING]
    is_altered = any(altered for _, _, altered in texts)
    return BROKEN if counts[fetching.DIFFERS] or is_altered or is_incomplete else 0


_CONVERT: list[click.Parameter] = [
    argument("dataset", "DATASET", type=DATASET_ID),
    option("-o --output folder DIR", "New folder for the files.", type=_FOLDER, required=True),
]


@data.command("convert", example="touche data convert spot-check/arguments -o beir", params=_CONVERT)
def convert_(dataset: str, folder: Path) -> None:
    """Write a DATASET in BEIR's format: corpus.jsonl, queries.jsonl and qrels/test.tsv.

    test.tsv contains the judgments of the first dimension; each other dimension has its own file. The
    key metadata contains everything else, so that touche reads the same documents.
    """
    for path in write_beir(dataset, folder):
        click.echo(path)


def _fetch_files(
    wanted: Sequence[Source], mirror: Path | None, folder: Path | None, is_chosen: bool
) -> Iterator[str]:
    """Fetches files, and yields a message for each missing file."""
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
            yield f"{status.path} is not published; pass the folder that contains it with --from"


def _say(status: fetching.Status) -> None:
    click.echo(f"{status.path}: {status.word}{f' ({status.remark})' if status.remark else ''}")
