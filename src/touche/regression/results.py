"""Formats outcomes as rows of a table, as Markdown and as JUnit XML.

``ExpectedScore.accepts`` in ``touche.regression.expected`` compares a score with its value and tolerance.
"""

from collections import Counter
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from touche.errors import one_line
from touche.regression.outcomes import NOT_INSTALLED, UNCHECKED, Outcome

COLUMNS = tuple(
    "baseline dataset dimension evaluator kind expected got difference wall CPU memory verdict".split()
)


def row_of(outcome: Outcome) -> tuple[str, ...]:
    """Returns the cells of an outcome, one for each of ``COLUMNS``."""
    each, usage, difference = outcome.expected, outcome.usage, outcome.difference
    remark = "" if outcome.verdict == NOT_INSTALLED else outcome.remark
    cells = (
        each.command if each.reruns else f"runs/{each.run}",
        each.dataset,
        *each.names,
        each.kind,
        f"{each.value:g}" if isinstance(each.value, float) else str(each.value),
        f"{outcome.got:.5f}" if isinstance(outcome.got, float) else outcome.got,
        None if difference is None else f"{round(difference, 5) + 0.0:+.5f}",
        usage and f"{usage.wall:.1f} s",
        usage and usage.cpu is not None and f"{usage.cpu:.1f} s",
        usage and usage.memory is not None and f"{usage.memory / 1e6:.0f} MB",
        ": ".join(filter(None, (outcome.verdict, remark))),
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
    suite = Element("testsuite", name="touche regress", tests=str(len(outcomes)))
    suite.set("failures", str(sum(outcome.broken for outcome in outcomes)))
    suite.set("skipped", str(sum(outcome.verdict in UNCHECKED for outcome in outcomes)))
    for outcome in outcomes:
        cells = dict(zip(COLUMNS, map(one_line, row_of(outcome)), strict=True))
        name = " ".join(filter(None, (outcome.expected.dataset, *outcome.expected.names)))
        command = one_line(outcome.expected.command)
        case = SubElement(suite, "testcase", classname=command, name=one_line(name))
        if outcome.verdict in UNCHECKED:
            SubElement(case, "skipped", message=outcome.verdict)
        elif outcome.broken:
            message = "{verdict} (expected {expected}, got {got}, difference {difference})"
            SubElement(case, "failure", message=message.format(**cells))
    return tostring(suite, encoding="unicode", xml_declaration=True)
