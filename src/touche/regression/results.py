"""The result of a regression, and its outcomes as rows of a table, as JSON, Markdown and JUnit XML.

``ExpectedScore.accepts`` in ``touche.regression.expected`` compares a score with its value and tolerance.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from touche.data.remedies import remedy_for
from touche.errors import one_line
from touche.regression.outcomes import FAILED, MISSING, NOT_INSTALLED, NOT_THE_SAME, UNCHECKED, Outcome
from touche.trec.framed import Table, formatted

COLUMNS = tuple(
    "baseline dataset dimension evaluator kind expected got difference wall memory verdict".split()
)


@dataclass(frozen=True, repr=False)
class Regression(Table[Outcome]):
    """The outcomes of a regression.

    Attributes:
        page: the path of the page; None if none was requested.
    """

    page: Path | None = None

    @property
    def is_broken(self) -> bool:
        """Whether a score or a ranking has changed, or a run failed."""
        return any(outcome.is_broken for outcome in self)

    @cached_property
    def missing(self) -> list[str]:
        """The ids of missing datasets, each once."""
        datasets = (outcome.expected.dataset for outcome in self if outcome.verdict == MISSING)
        return list(dict.fromkeys(datasets))

    @cached_property
    def not_installed(self) -> list[str]:
        """How to install each missing extra."""
        return list(dict.fromkeys(outcome.remark for outcome in self if outcome.verdict == NOT_INSTALLED))

    @property
    def unchecked(self) -> str:
        """Why nothing was checked; empty if at least one value was."""
        if any(outcome.verdict not in UNCHECKED for outcome in self):
            return ""
        if self.not_installed:
            return self.not_installed[0]
        # At least one dataset is missing, because ``read_expectations`` refuses baselines without any entry.
        return f"all datasets are missing; {remedy_for(self.missing)}"

    @property
    def all_repeatable(self) -> bool:
        """Whether no run failed or differed from its repetition."""
        return not any(outcome.verdict in (NOT_THE_SAME, FAILED) for outcome in self)


def to_json(outcomes: Sequence[Outcome]) -> str:
    """Returns the records of outcomes as a JSON list."""
    return formatted(Table(Outcome, tuple(outcomes)), "json")


def row_of(outcome: Outcome) -> tuple[str, ...]:
    """Returns the cells of an outcome, one for each of ``COLUMNS``."""
    entry = outcome.expected
    difference = outcome.difference
    usage = outcome.usage
    is_noted_below = outcome.verdict == NOT_INSTALLED  # touche regress prints its remark below the table
    has_remark = outcome.remark and not is_noted_below
    cells = (  # None and empty texts become dashes
        entry.command if entry.needs_rerun else f"runs/{entry.run}",
        entry.dataset,
        *entry.value_name_and_evaluator,  # the dimension and the evaluator
        entry.kind,
        f"{entry.value:g}" if isinstance(entry.value, float) else str(entry.value),  # as in expected.toml
        f"{outcome.got:.5f}" if isinstance(outcome.got, float) else outcome.got,  # a text, such as a digest
        None if difference is None else f"{round(difference, 5) + 0.0:+.5f}",  # not -0.00000
        f"{usage.wall:.1f} s" if usage else None,
        f"{usage.memory / 1e6:.0f} MB" if usage and usage.memory else None,
        f"{outcome.verdict}: {outcome.remark}" if has_remark else outcome.verdict,
    )
    return tuple(cell or "–" for cell in cells)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Returns the number of outcomes for each verdict, such as ``3 passed, 1 too low``."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def markdown(outcomes: Sequence[Outcome]) -> str:
    """Returns a table in Markdown, with the summary below it."""
    rows = [COLUMNS, ["---"] * len(COLUMNS), *map(row_of, outcomes)]
    lines = ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return "\n".join(["## Regression", "", *lines, "", summary(outcomes), ""])


def junit(outcomes: Sequence[Outcome]) -> str:
    """Returns the outcomes as JUnit XML."""
    suite = Element(
        "testsuite",
        name="touche regress",
        tests=str(len(outcomes)),
        failures=str(sum(outcome.is_broken for outcome in outcomes)),
        skipped=str(sum(outcome.verdict in UNCHECKED for outcome in outcomes)),
    )
    for outcome in outcomes:
        cells = dict(zip(COLUMNS, map(one_line, row_of(outcome)), strict=True))
        # A ranking has no evaluator, and a baseline whose entries are unreadable has no dataset.
        name = " ".join(filter(None, (outcome.expected.dataset, *outcome.expected.value_name_and_evaluator)))
        command = one_line(outcome.expected.command)
        case = SubElement(suite, "testcase", classname=command, name=one_line(name))
        if outcome.verdict in UNCHECKED:
            SubElement(case, "skipped", message=outcome.verdict)
        elif outcome.is_broken:
            template = "{verdict} (expected {expected}, got {got}, difference {difference})"
            SubElement(case, "failure", message=template.format(**cells))
    return tostring(suite, encoding="unicode", xml_declaration=True)
