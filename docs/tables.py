"""The table of baselines in README.md, from what each baseline must score.

python docs/tables.py              # writes it
python docs/tables.py --measure    # first measures the images again; needs Docker and the samples
"""

import ast
import os
import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import tomlkit

from touche import baselines
from touche.errors import ToucheError
from touche.io.writing import write_whole
from touche.origin import origin
from touche.regression.expected import PINNED, PUBLISHED, ExpectedScore, read_expected
from touche.regression.running import Outcome, regress
from touche.sandbox import images
from touche.sandbox.limits import Limits
from touche.sandbox.runs import RUNNERS, Usage
from touche.tasks import dataset
from touche.tasks.records import SPOT_CHECK

ROOT = Path(__file__).parents[1]
README, GUIDE, MEASURED = (
    ROOT / "README.md",
    ROOT / "docs" / "explanation" / "replication.md",
    ROOT / "docs" / "measured.toml",
)
BEGIN, END = "<!-- baselines: made by docs/tables.py -->\n", "<!-- end -->"
SAMPLE, NOTHING = "/sample", "–"
SHOWN_OPTIONS: Sequence[Mapping[str, Any]] = ({}, {"match": "30%"})  # without it few passages match
TIMES = 3  # that an image is run
IN_IMAGES = ("baselines/**.py", "baselines/**Dockerfile", "src/touche", "docker", "constraints.txt")

_HEADER = """\
# Written by: python docs/tables.py --measure (with TOUCHE_DATA, in some minutes, on a machine that is quiet).
# make docs warns when the code of an image has changed since this commit.
# images: the unpacked size in MB; the medians of three runs on the dataset, with one processor: seconds from
# the start of the container to run.txt, and the peak of memory in MB (of what: see memory).
# judged: Judged@5 of the runs whose scores the tables show.

"""
_FOR_README = """\
**Published** is the nDCG@5 that a paper or task page prints of the original on the whole corpus.
**Uncorrected** are the labels of 2020 that it belongs to, for they were corrected later, and **version 1**
is the first one of args.me. **Image**: its unpacked size, and time and peak memory of a run on the spot
check with one processor, from the start of the container to run.txt. They were measured at commit
{commit} ({date}). Swordsman and Puss in Boots are the organizers' own baselines, of task 1 and of task 2.
"""
_FOR_GUIDE = """\
All values are nDCG@5. **Published** are those of the originals on the whole corpus, **on a real sample**
those of the baselines here on a part of it, by trec_eval: the two do not compare. **Judged@5** is the share
of the first five results there that has a judgment; what has none counts as not relevant.
"""


@dataclass(frozen=True)
class Row:
    """What is known of a baseline on one task.

    Attributes:
        task: the task, and the version of its corpus.
        options: those that are not the default ones, as typed.
        published: the published values, such as ``quality 0.476``.
        sample: the measured ones on the real sample.
        judged: Judged@5 of these, each share once.
    """

    task: str = NOTHING
    options: str = ""
    published: Sequence[str] = ()
    sample: Sequence[str] = ()
    judged: Sequence[str] = ()


def rows(name: str, judged: Mapping[str, float]) -> list[Row]:
    """A row for each task and options that have a published value or one on a real sample; one at least."""
    found: dict[tuple[str, str], list[ExpectedScore]] = {}
    for each in scores(name):
        if each.kind == PUBLISHED or is_shown(each):
            found.setdefault(_place(each), []).append(each)
    return [_row(*place, entries, judged) for place, entries in found.items()] or [Row()]


def scores(name: str) -> list[ExpectedScore]:
    """The scores that are expected of a baseline, without those that official runs have."""
    return [each for each in read_expected(name) if isinstance(each, ExpectedScore) and each.reruns]


def is_shown(entry: ExpectedScore) -> bool:
    """Whether it is a value on a real sample that the tables show."""
    chosen = entry.evaluator == "trec_eval" and entry.options in SHOWN_OPTIONS
    return entry.kind == PINNED and entry.dataset.endswith(SAMPLE) and chosen


def for_readme(measured: Mapping[str, Any], text: str) -> str:
    """The table of README, a row for each baseline as it is without options; text is the guide's."""
    lines = []
    for name in in_order():
        published = [(row.task, row.published) for row in rows(name, {}) if row.published and not row.options]
        values = "<br>".join(f"{task}: {', '.join(each)}" for task, each in published) or NOTHING
        image = _of_image(measured["images"].get(name))
        lines.append([f"[{name}](baselines/{name})", about(name), values, exactness(text)[name], image])
    columns = ["baseline", "what it is", "published, whole corpus", "exactness", "image"]
    when = {"commit": measured["measured"]["commit"][:7], "date": measured["measured"]["date"]}
    return f"{_FOR_README.format(**when)}\n{_table(columns, lines)}"


def for_guide(measured: Mapping[str, Any], text: str) -> str:
    """The table of the guide, a row for each baseline, task and options that have a value."""
    lines = []
    for name in in_order():
        for number, row in enumerate(rows(name, measured["judged"])):
            task = f"{row.task}<br>`{row.options}`" if row.options else row.task
            values = ["<br>".join(each) or NOTHING for each in (row.published, row.sample, row.judged)]
            first, last = ("", "") if number else (f"[{name}](../baselines/{name})", exactness(text)[name])
            lines.append([first, task, *values, last])
    columns = ["baseline", "task", "published, whole corpus", "on a real sample", "Judged@5", "exactness"]
    return f"{_FOR_GUIDE}\n{_table(columns, lines)}"


def exactness(guide: str) -> Mapping[str, str]:
    """How exact each baseline is, in the words of its section's heading in the guide."""
    return dict(re.findall(r"^## ([\w-]+): (.+)$", guide, flags=re.MULTILINE))


def in_order() -> list[str]:
    """The baselines, those with published values first."""
    return sorted(baselines.names(), key=lambda name: all(each.kind != PUBLISHED for each in scores(name)))


def about(name: str) -> str:
    """The first sentence of a baseline's docstring."""
    tree = ast.parse((ROOT / "baselines" / name / "baseline.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0].rstrip(".")


def filled(text: str, table: str) -> str:
    """A page with a table between the two lines that mark its place."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ToucheError(f"a page has no place for its table; put the lines {BEGIN.strip()} and {END} in it")
    return f"{before}{begin}\n{table}\n{end}{after}"


def measure() -> Mapping[str, Any]:
    """Runs the image of every baseline on its spot check, and on the samples that the tables show.

    Raises:
        ToucheError: if Docker, an image or the samples are not at hand, or a run fails.
    """
    images.build("docker", in_order(), _say)
    shown = [each for name in in_order() for each in scores(name) if is_shown(each)]
    usages = {name: _usages(name) for name in in_order()}
    return {
        "measured": _circumstances() | {"memory": usages["bm25"][0].memory_of},
        "images": {name: _image(name, usages[name]) for name in usages},
        "judged": {_key(each): round(outcome.judged or 0, 2) for each, outcome in _outcomes(shown)},
    }


def changed_since(commit: str) -> list[str]:
    """What images hold and has changed since a commit; nothing where git does not know the commit."""
    command = ["git", "-C", str(ROOT), "diff", "--name-only", commit, "--", *IN_IMAGES]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:  # there is no git
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def _circumstances() -> dict[str, Any]:
    processors = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    (model, *_) = re.findall("^model name.*: (.*)$", processors, flags=re.MULTILINE) or [platform.machine()]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": origin(ROOT)["revision"],
        "machine": f"{os.cpu_count()} cores of {model}, {memory:.0f} GB of memory",
    }


def _usages(name: str) -> list[Usage]:
    return [outcome.usage for _ in range(TIMES) for _, outcome in _outcomes([_first(name)]) if outcome.usage]


def _image(name: str, usages: Sequence[Usage]) -> Mapping[str, Any]:
    return {
        "dataset": _first(name).dataset,
        "size": int(images.size("docker", name).removesuffix(" MB")),
        "seconds": round(median(usage.wall for usage in usages), 1),
        "memory": round(median((usage.memory or 0) / 1e6 for usage in usages)),
    }


def _first(name: str) -> ExpectedScore:
    """What is asked of a baseline on the spot check, as it is without options."""
    return next(each for each in scores(name) if each.dataset.startswith(SPOT_CHECK) and not each.options)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _outcomes(entries: Sequence[ExpectedScore]) -> Iterable[tuple[ExpectedScore, Outcome]]:
    for outcome in regress(entries, RUNNERS["docker"], Limits(), _say):
        each = outcome.expected
        if outcome.usage is None or not isinstance(each, ExpectedScore):
            problem = f"{each.command} on {each.dataset}: {outcome.verdict}"
            raise ToucheError(f"{problem} {outcome.remark}; set TOUCHE_DATA")
        yield each, outcome


def _key(entry: ExpectedScore) -> str:
    return f"{entry.command} on {entry.dataset}, {entry.dimension}"


def _place(entry: ExpectedScore) -> tuple[str, str]:
    task = dataset(entry.dataset)[0].id.removeprefix("touche-").replace("-task-", " task ")
    return task.replace("-v1", ", version 1"), " ".join(entry.arguments) if entry.options else ""


def _row(task: str, options: str, entries: Sequence[ExpectedScore], judged: Mapping[str, float]) -> Row:
    published = [each for each in entries if each.kind == PUBLISHED]
    sample = [each for each in entries if is_shown(each)]
    shares = dict.fromkeys(f"{judged[_key(each)]:.2f}" for each in sample if _key(each) in judged)
    return Row(task, options, _values(published), _values(sample), list(shares))


def _values(entries: Iterable[ExpectedScore]) -> list[str]:
    # A half is rounded up, as people do, and not to whichever side its binary form lies on.
    return [
        f"{each.dimension.removeprefix('relevance-')}&nbsp;{float(each.value) + 1e-9:.3f}" for each in entries
    ]


def _of_image(image: Mapping[str, Any] | None) -> str:
    if image is None:
        return NOTHING  # until it is measured, for which not everybody has Docker
    figures = [f"{image['size']} MB", f"{image['seconds']} s", f"{image['memory']} MB"]
    return "<br>".join(figures).replace(" ", "&nbsp;")


def _table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (columns, ["---"] * len(columns), *lines))


def main() -> None:
    """Writes the tables and, if asked to, what they need to know of the images."""
    if "--measure" in sys.argv[1:]:
        write_whole(MEASURED, _HEADER + tomlkit.dumps(measure()))
    measured = tomllib.loads(MEASURED.read_text(encoding="utf-8"))
    if changed := changed_since(measured["measured"]["commit"]):
        problem = f"{len(changed)} files of images changed since they were measured, such as {changed[0]}"
        _say(f"warning: {problem}; run: python docs/tables.py --measure")
    readme, guide = README.read_text(encoding="utf-8"), GUIDE.read_text(encoding="utf-8")
    write_whole(README, filled(readme, for_readme(measured, guide)))


if __name__ == "__main__":
    try:
        main()
    except ToucheError as error:
        sys.exit(f"error: {error}")
