"""The tables of what was tried, for docs/internals.md."""

import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from outcomes import MEMORY, PROCESSES, REFUSED, RESULT, ROOT, SECONDS, Outcome
from readers import COMMANDS, READERS

GUIDE = ROOT / "docs" / "internals.md"
BEGIN, END = "<!-- what was tried: made by make fuzz -->\n", "<!-- end of what was tried -->"


def of(read: Sequence[Outcome], around: Sequence[Outcome], seed: int) -> str:
    """All tables, with when and where they were made."""
    places = [(name, [each for each in read if each.name == name]) for name in (*READERS, *COMMANDS)]
    names = dict.fromkeys(each.name for each in around)
    troubles = [(name, [each for each in around if each.name == name]) for name in names]
    made = f"Made on {datetime.now(UTC):%Y-%m-%d} from commit {_commit()}, with seed {seed}, on {_machine()}."
    tables = _table("read by", places), _table("around a run", troubles)
    return "\n".join([made, "", *filter(None, tables), _mutations(read)])


def write(text: str) -> None:
    """Puts the tables between their marks."""
    before, begin, rest = GUIDE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end, f"{GUIDE} has no place for the tables: {BEGIN.strip()} and {END}"
    GUIDE.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip() or "unknown"


def _machine() -> str:
    return f"{PROCESSES} processors, {platform.system()}, Python {platform.python_version()}"


def _table(first: str, groups: Iterable[tuple[str, Sequence[Outcome]]]) -> str:
    header = (first, "tried", "a result", "one line", "failed", "skipped", "slowest", "largest")
    rows = [_row(name, outcomes) for name, outcomes in groups if outcomes]
    lines = [header, ["---"] * len(header), *rows] if rows else []
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _row(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    counts = Counter(each.ended for each in outcomes)
    seconds, memory = max(each.seconds for each in outcomes), max(each.memory for each in outcomes)
    return [
        name,
        str(len(outcomes)),
        str(counts[RESULT]),
        str(counts[REFUSED]),
        str(sum(each.failed for each in outcomes)),
        str(counts["skipped"]),
        f"{seconds:.1f} s" if seconds else "",
        f"{memory / 1e6:.0f} MB" if memory else "",
    ]


def _mutations(read: Sequence[Outcome]) -> str:
    counts = Counter(name for each in read for name in each.mutations.split(", "))
    told = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.most_common())
    return (
        f"Each is to end in a result or in an error of one line within {SECONDS} s of a processor "
        f"and {MEMORY >> 30} GiB; "
        "for a reader the peak is that of the process that reads one input after the other.\n"
        f"What was wrong with the inputs, one to three things each: {told}.\n"
    )
