"""Makes the picture and the tables in RESULTS.md from speed.toml and rehearsal.jsonl.

    python benchmarks/speed_page.py

It rewrites speed.svg, and the tables between the comments in RESULTS.md. It prints nothing, and takes a few
seconds.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
PICTURE = FOLDER / "speed.svg"
FEW = 50  # official topics
MANY = 1000  # made-up topics
ENGINES = {
    "touche": "`touche run bm25`",
    "Anserini": "Anserini 1.7.1",
    "tantivy": "Tantivy 0.27 from Python",
    "bm25s": "bm25s 0.3.16",
}
# Visible on white and on black.
_OWN = "#0072b2"
_OTHER = "#d55e00"
_TEXT = "#767676"

Timings = Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]
"""The rounds of each engine and number of cores."""


def main() -> None:
    """Writes the picture, and replaces the tables between the comments in RESULTS.md."""
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "touche"}):  # real text, same file every time
        draw(read_timings()).savefig(PICTURE, transparent=True, metadata={"Date": None})
    page = FOLDER / "RESULTS.md"
    page.write_text(replaced(page.read_text(encoding="utf-8")), encoding="utf-8")


def replaced(page: str) -> str:
    """Returns the page with new tables."""
    timings = read_timings()
    records = [json.loads(line) for line in (FOLDER / "rehearsal.jsonl").read_bytes().splitlines()]
    tables = {
        "engines": engines(timings),
        "topics": topics(timings),
        "collections": collections(records),
        "reruns": reruns(records),
    }
    for name, lines in tables.items():
        before, _, rest = page.partition(f"<!-- {name} -->\n")
        after = rest.partition("<!-- end -->")[2]
        page = "\n".join([f"{before}<!-- {name} -->", *lines, f"<!-- end -->{after}"])
    return page


def read_timings() -> Timings:
    """Reads all engines' rounds."""
    timings: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for timing in tomllib.loads((FOLDER / "speed.toml").read_text(encoding="utf-8"))["timing"]:
        timings.setdefault((timing["system"], timing["cores"]), []).append(timing)
    return timings


def engines(timings: Timings) -> Iterator[str]:
    """Yields the table with the times from documents to run, memory and index."""
    yield "| engine | one core | two cores | memory, one core | index on the disk |"
    yield "| --- | --- | --- | --- | --- |"
    for engine, name in ENGINES.items():
        one_core = timings[engine, 1]
        two_cores = timings[engine, 2]
        memory = median(timing["megabytes"] for timing in one_core)
        index_size = one_core[0]["left"]  # MB
        index = f"{index_size:,.0f} MB" if index_size else "none"
        yield f"| {name} | {spread(one_core)} | {spread(two_cores)} | {memory:,.0f} MB | {index} |"


def topics(timings: Timings) -> Iterator[str]:
    """Yields the table with the times when an index exists, and from where on a peer is faster."""
    yield "| engine, one core | 50 topics | 1,000 topics | faster from run | faster in one run from |"
    yield "| --- | --- | --- | --- | --- |"
    for engine, name in ENGINES.items():
        medians = Medians.from_rounds(timings[engine, 1])
        faster_from_run = ""
        faster_from_topics = ""
        if engine != "touche":
            faster_from_run = str(medians.runs_until_faster(Medians.from_rounds(timings["touche", 1])))
            faster_from_topics = topics_until_faster(timings[engine, 1], timings["touche", 1])
        cells = [name, f"{medians.again:.1f} s", f"{medians.many:.1f} s", faster_from_run, faster_from_topics]
        yield f"| {' | '.join(cells)} |"


def topics_until_faster(rounds: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]]) -> str:
    """Returns how many topics a run needs until an engine is faster than touche, as a range over rounds.

    The number depends on the difference between two small times per topic, so it varies a lot.
    """
    numbers = []
    for round_, our_round in zip(rounds, ours, strict=True):
        number = Medians.from_rounds([round_]).topics_until_faster(Medians.from_rounds([our_round]))
        if number is None:
            return "not in every round"
        numbers.append(round(number, -3))
    return f"{min(numbers):,.0f} to {max(numbers):,.0f} topics"


@dataclass(frozen=True)
class Medians:
    """An engine's median seconds.

    Attributes:
        whole: from documents to a run for 50 topics.
        again: for 50 topics, if there is an index.
        many: for 1,000 topics, if there is an index.
    """

    whole: float
    again: float
    many: float

    @classmethod
    def from_rounds(cls, rounds: Sequence[Mapping[str, Any]]) -> "Medians":
        return cls(
            whole=median(timing["seconds"] for timing in rounds),
            again=median(timing["again"] for timing in rounds),
            many=median(timing["many"] for timing in rounds),
        )

    @property
    def per_topic(self) -> float:
        """Seconds for one more topic in the same run."""
        return (self.many - self.again) / (MANY - FEW)

    def runs_until_faster(self, other: "Medians") -> int:
        """Returns the number of runs for 50 topics after which this engine took less time in total."""
        return floor((self.whole - self.again) / (other.whole - self.again)) + 1

    def topics_until_faster(self, other: "Medians") -> float | None:
        """Returns how many topics one run needs until it takes less time; None if it never does."""
        saved = other.per_topic - self.per_topic
        return FEW + (self.whole - other.whole) / saved if saved > 0 else None


def collections(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields the table with the made-up collections: sizes of downloads and unpacked files."""
    yield "| dataset | download | unpacked | most while fetching | time to fetch |"
    yield "| --- | --- | --- | --- | --- |"
    for record in records:
        if "fetch" in record and record["share"] == 1:
            fetch = record["fetch"]
            cells = [
                f"`{record['dataset']}`",
                gigabytes(fetch["bytes"]),
                gigabytes(record["unpacked"]),
                gigabytes(fetch["peak"]),
                f"{fetch['seconds']:,.0f} s",
            ]
            yield f"| {' | '.join(cells)} |"


def reruns(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields the table with the reruns on these collections."""
    yield "| baseline | dataset | documents | time | memory | temporary files |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for record in records:
        if "wall" in record:
            options = " ".join(f"{key}={value}" for key, value in record["options"].items())
            cells = [
                f"`{record['baseline']}` {options}".strip(),
                f"`{record['dataset']}`",
                "all" if record["share"] == 1 else f"{record['share']:.0%}",
                f"{record['wall']:,.0f} s",
                f"{record['memory'] / 1e6:,.0f} MB",
                f"{record['temporary'] / 1e6:,.0f} MB",
            ]
            yield f"| {' | '.join(cells)} |"


def gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


def spread(rounds: Sequence[Mapping[str, Any]]) -> str:
    """Returns the seconds' median and range."""
    seconds = sorted(timing["seconds"] for timing in rounds)
    return f"{median(seconds):.1f} s ({seconds[0]:.1f} to {seconds[-1]:.1f})"


def label(rounds: Sequence[Mapping[str, Any]]) -> str:
    """Returns a bar's label: the median time, and the peak memory in all rounds."""
    seconds = median(timing["seconds"] for timing in rounds)
    return f"{seconds:.1f} s, {max(timing['megabytes'] for timing in rounds):,.0f} MB"


def draw(timings: Timings) -> Figure:
    """Draws a bar for each engine and number of cores."""
    figure = Figure(figsize=(7.5, 2.9), layout="constrained")
    axes = figure.subplots()
    rows = [(engine, cores) for engine in ENGINES for cores in (1, 2)]
    for height, (engine, cores) in enumerate(reversed(rows)):
        rounds = timings[engine, cores]
        seconds = median(timing["seconds"] for timing in rounds)
        axes.barh(height, seconds, color=_OWN if engine == "touche" else _OTHER, height=0.7)
        axes.text(seconds + 1, height, label(rounds), va="center", color=_TEXT, fontsize=9)
    labels = [f"{engine}, {cores} core{'s' if cores > 1 else ''}" for engine, cores in reversed(rows)]
    axes.set_yticks(range(len(rows)), labels, color=_TEXT)
    axes.tick_params(colors=_TEXT)
    axes.margins(x=0.25)
    axes.set_xlabel("seconds from 868,655 passages to the run of 50 topics", color=_TEXT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_TEXT)
    return figure


if __name__ == "__main__":
    main()
