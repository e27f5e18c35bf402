"""Lists the runs in an archive whose runs the index doesn't list yet (src/touche/tasks/public-runs/).

    TOUCHE_DATA=... python benchmarks/runs_of_archive.py TASK ... [--archive FILE] [--write]

Needs the tasks' qrels. The archive is downloaded to memory, or read from FILE; its git blob id must be
the one in the index. A run is FOLDER/TEAM/.../run.txt, as in the archive of 2020 task 2. It is evaluated, and
belongs to the published result of its team that has its scores; if its team has none, to that of another
team. A run with the scores of several results, or of none, isn't listed, and is named in a line that starts
with #, like each file in another layout. As long as there are such files and results without a run, the index
keeps the archive as one with runs that aren't listed.

The new index is printed; --write also writes it.
"""

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import click

from touche import tasks
from touche.data.fetching import fetch_content
from touche.data.places import locate
from touche.data.verifying import git_blob_id
from touche.errors import ToucheError
from touche.regression.published_cells import EQUAL, cells_of_run
from touche.tasks import Task
from touche.tasks.public_runs import Repository, index_path, over_all_topics, public_runs, results_of

MOST_BYTES = 100_000_000  # of an archive, and of one run
MOST_SECONDS = 600
NAME = "run.txt"
LAYOUT = f"FOLDER/TEAM/.../{NAME}"
HEADER = '# Runs behind the published results of this task: docs/how-to/official-data.md, "Public runs".'


@dataclass(frozen=True)
class Member:
    """A file in the archive.

    Attributes:
        path: its path there.
        team: its team's folder; empty if it isn't where a run would be.
        content: its bytes.
        results: team and tag of each published result that it can be.
        problem: why it wasn't or can't be evaluated; empty for runs.
    """

    path: str
    team: str
    content: bytes
    results: Sequence[tuple[str, str]]
    problem: str = ""


def members(task: Task, archive: bytes) -> Iterator[Member]:
    """Yields an archive's files: its runs, evaluated for a task, and the others with a problem.

    Raises:
        ToucheError: if a run is too large, or no file is where a run would be.
    """
    runs = 0
    with zipfile.ZipFile(BytesIO(archive)) as opened, TemporaryDirectory() as folder:
        for info in opened.infolist():
            if info.is_dir():
                continue
            parts = PurePosixPath(info.filename).parts
            if len(parts) < 3 or parts[-1] != NAME:
                yield Member(info.filename, "", b"", [], f"not read, because it isn't {LAYOUT}")
                continue
            runs += 1
            if info.file_size > MOST_BYTES:
                raise ToucheError(f"{info.filename} is larger than {MOST_BYTES:,} bytes; unpack it by hand")
            content = opened.read(info)
            run = Path(folder, NAME)
            run.write_bytes(content)
            team = parts[1].removesuffix(" Baseline")
            try:
                results = results_with_scores_of(task, run, team)
            except ToucheError as error:
                yield Member(info.filename, team, content, [], str(error).replace(str(run), NAME))
                continue
            yield Member(info.filename, team, content, results)
    if not runs:
        raise ToucheError(f"no file in the archive is {LAYOUT}; adapt members() to the archive's layout")


def results_with_scores_of(task: Task, run: Path, team: str) -> list[tuple[str, str]]:
    """Returns team and tag of the published results whose values a run has; those of its team, if any."""
    cells = list(cells_of_run(task, run, over_all_topics(task), url=""))
    names = dict.fromkeys((cell.row.team, cell.row.tag) for cell in cells)
    wrong = {(cell.row.team, cell.row.tag) for cell in cells if cell.verdict != EQUAL}
    equal = [name for name in names if name not in wrong]
    return [name for name in equal if name[0] == team] or equal


def new_index(task: Task, repository: Repository, found: Sequence[Member]) -> str:
    """Returns a task's index with the runs that were found, and remarks on the others. Other repositories in
    the index stay as they are.
    """
    index = public_runs(task)
    other_runs = [run for other, run in index.runs if other.url != repository.url and run.tags]
    listed_elsewhere = {(row.team, row.tag) for run in other_runs for row in results_of(task, run)}
    claims = Counter(member.results[0] for member in found if len(member.results) == 1)
    listed = {}
    remarks = []
    for member in found:
        if member.problem:
            remarks.append(f"{member.path}: {member.problem}")
        elif not member.results:
            remarks.append(f"{member.path}: no published result has its scores")
        elif len(member.results) > 1:
            names = "; ".join(", ".join(name) for name in member.results)
            remarks.append(f"{member.path}: several published results have its scores: {names}")
        elif member.results[0] in listed_elsewhere:
            remarks.append(f"{member.path}: the index has another run of {', '.join(member.results[0])}")
        elif claims[member.results[0]] > 1:
            remarks.append(
                f"{member.path}: another run also has the scores of {', '.join(member.results[0])}"
            )
        else:
            listed[member.results[0]] = member
    results = dict.fromkeys((row.team, row.tag) for row in over_all_topics(task))
    without_run = [
        name
        for name in results
        if not (name in listed or name in listed_elsewhere or name[0] in index.untagged_teams)
    ]
    url, _, _ = repository.url.partition("!")
    keys_of_archive = [
        "[[repositories]]",
        f"page = {quoted(repository.page)}",
        f"licence = {quoted(repository.licence)}",
        f"url = {quoted(f'{url}!')}",
    ]
    lines = [HEADER, *(f"# {' '.join(remark.split())}" for remark in remarks)]
    lines += other_repositories(index_path(task), repository.url)
    lines += [*keys_of_archive, "runs = ["] if listed else []
    runs_of_team = Counter(team for team, _ in listed)
    numbers = Counter[str]()
    for (team, tag), member in listed.items():
        numbers[team] += 1
        number = f"-{numbers[team]}" if runs_of_team[team] > 1 else ""
        keys = {
            "file": re.sub(r"[^a-z0-9]+", "-", team.lower()).strip("-") + number,
            "team": team,
            "tags": [tag],
            "path": member.path,
            "bytes": len(member.content),
            "md5": hashlib.md5(member.content).hexdigest(),
            "checked": True,
        }
        lines.append(f"    {{ {', '.join(f'{key} = {quoted(value)}' for key, value in keys.items())} }},")
    lines += ["]", ""] if listed else []
    if remarks and without_run:  # one of the other files may be the run of one of these results
        lines += [*keys_of_archive, f"git_blob = {quoted(repository.git_blob)}", ""]
    lines.append("[without_run]    # published results without a run above: tags by team")
    tags_of_team = dict[str, list[str]]()
    for team, tag in without_run:
        tags_of_team.setdefault(team, []).append(tag)
    lines += [f"{quoted(team)} = {quoted(tags)}" for team, tags in tags_of_team.items()]
    return "\n".join(lines) + "\n"


def other_repositories(path: Path, url: str) -> list[str]:
    """Returns the lines of an index on repositories with another address, as they are written there."""
    text = path.read_text(encoding="utf-8").partition("\n[without_run]")[0]
    _, *blocks = re.split(r"^(?=\[\[repositories\]\])", text, flags=re.MULTILINE)
    return [block.strip() + "\n" for block in blocks if f"url = {quoted(url)}" not in block]


def quoted(value: object) -> str:
    """Returns a string, number, bool or list of strings in TOML, which writes these like JSON."""
    return json.dumps(value, ensure_ascii=False)


@click.command()
@click.argument("task_ids", nargs=-1, required=True, metavar="TASK ...")
@click.option("--archive", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--write", is_flag=True)
def main(task_ids: Sequence[str], file: Path | None, write: bool) -> None:
    """List the runs in an archive whose runs the index doesn't list yet."""
    try:
        list_runs(task_ids, file, write=write)
    except ToucheError as error:
        raise click.ClickException(str(error)) from error


def list_runs(task_ids: Sequence[str], file: Path | None, *, write: bool) -> None:
    """Prints the new index of each task, and writes it if asked to."""
    archives = dict[str, bytes]()
    for task_id in task_ids:
        task = tasks.task(task_id)
        repository = public_runs(task).unlisted
        if repository is None:
            raise click.ClickException(f"the index of {task_id} has no archive whose runs aren't listed")
        url, _, _ = repository.url.partition("!")
        if url not in archives:
            archives[url] = file.read_bytes() if file else fetch_content(url, MOST_BYTES, MOST_SECONDS)
        archive = archives[url]
        blob = git_blob_id(archive)
        if blob != repository.git_blob:
            raise click.ClickException(
                f"the archive's git blob id is {blob} instead of {repository.git_blob}"
            )
        for judgments in task.qrels.values():
            locate("qrels", judgments.file)  # an error before any run is evaluated
        found = [*members(task, archive)]
        text = new_index(task, repository, found)
        path = index_path(task)
        click.echo(f"{path.name}\n{text}")
        if write:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
