"""Outcomes of a regression, with their verdicts: as a table, JSON, Markdown and JUnit XML."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from touche.baselines.expected import PUBLISHED, Expected, ExpectedScore, ExpectedTopics
from touche.data.places import remedy_for
from touche.errors import NotInstalledError, described, one_line
from touche.evaluation.agreement import Overlap
from touche.evaluation.same_system import note_on_means, same_system
from touche.evaluation.scoring import Scored
from touche.io.formats import MARKDOWN
from touche.io.tables import Column, Sheet
from touche.runners.container_runs import Usage
from touche.tasks import dataset
from touche.tasks.per_topic import TopicValues
from touche.trec.framed import Table

PASSED = "passed"
TOO_LOW = "too low"
TOO_HIGH = "too high"
CHANGED = "changed"
MISSING = "missing"
FAILED = "failed"
NOT_THE_SAME = "not the same twice"
NOT_RENEWED = "not renewed"  # by --update, although another pinned value of the baseline moved
NOT_INSTALLED = "not installed"
NOTHING_EXPECTED = "nothing expected"
COMPARED = "compared"  # with an official run; its agreement has no expected value
NOT_AS_REPORTED = "not as reported"  # another implementation's value can't fail
UNCHECKED = (MISSING, NOT_INSTALLED, NOTHING_EXPECTED)  # nothing was checked
BROKEN = (TOO_LOW, TOO_HIGH, CHANGED, FAILED, NOT_THE_SAME, NOT_RENEWED)  # these make the regression fail


@dataclass(frozen=True)
class Outcome:
    """An expectation and what was measured.

    Attributes:
        expected: the expectation.
        verdict: ``passed``, ``too low``, ``too high``, ``changed`` (a ranking), ``not as reported``,
            ``compared`` (with an official run), ``missing``, ``not installed``, ``nothing expected``,
            ``failed``, ``not the same twice``, ``not renewed`` (by an update).
        got: the measured value, or None.
        judged: the measured Judged@k, or None.
        remark: why it failed, or further results.
        usage: the run's time and memory, or None without a run.
        topics: the rerun's values of single topics, rounded like the published ones, which are in
            ``expected.topic_values``; empty if it's about something else. A topic can be missing.
        scored: the run in all dimensions with qrels, if runs are kept; only set in one of a rerun's
            outcomes.
        agreements: how the rerun agrees with official runs; only set in one of a rerun's outcomes.
        md5: the checksum of the rerun's run.txt; empty without a rerun.
    """

    expected: Expected
    verdict: str
    got: float | str | None = None
    judged: float | None = None
    remark: str = ""
    usage: Usage | None = None
    topics: TopicValues = field(default_factory=dict)
    scored: Sequence[Scored] = ()
    agreements: Sequence[Overlap] = ()
    md5: str = ""

    @property
    def difference(self) -> float | None:
        """``got`` minus the expected value, if both are numbers."""
        return None if self.got is None else self.expected.difference(self.got)

    @property
    def reaches_mean(self) -> bool:
        """Whether a rerun's mean is within the tolerance of a published one."""
        is_mean = isinstance(self.expected, ExpectedScore) and self.expected.needs_rerun
        return is_mean and self.expected.kind == PUBLISHED and self.verdict == PASSED

    @property
    def is_broken(self) -> bool:
        """Whether this makes the regression fail."""
        return self.verdict in BROKEN

    @property
    def topic_rows(self) -> list[dict[str, Any]]:
        """For each published topic value, if topics were compared: ``dimension``, ``topic``, ``published``
        and ``rerun``, the rerun's value or None.
        """
        return [
            {
                "dimension": dimension,
                "topic": topic,
                "published": value,
                "rerun": self.topics[dimension].get(topic),
            }
            for dimension, published in (self.expected.topic_values if self.topics else {}).items()
            for topic, value in published.items()
        ]

    @cached_property
    def same_system(self) -> str:
        """Whether the rerun is the same system as the published run, in sentences; empty if no values of
        topics were compared.
        """
        if not isinstance(self.expected, ExpectedTopics) or not self.topics:
            return ""
        return same_as_published(self.expected, self.topics)

    @property
    def record(self) -> dict[str, Any]:
        """The outcome for JSON, with the fields of expectation and usage. Only lists are nested."""
        return {
            **self.expected.record,
            "got": self.got,
            "difference": self.difference,
            "judged": self.judged,
            # Without a run, the usage's fields are None.
            **(asdict(self.usage) if self.usage else dict.fromkeys(Usage.__annotations__)),
            "verdict": self.verdict,
            "remark": self.remark,
            "topics": self.topic_rows,
            "same_system": self.same_system,
            "agreements": [asdict(overlap) for overlap in self.agreements],
        }


def same_as_published(entry: ExpectedTopics, rerun: TopicValues) -> str:
    """Returns whether a rerun is the same system as the published run of an entry, in sentences."""
    task, _ = dataset(entry.dataset)
    return same_system(task, entry.measure, entry.topic_values, rerun, entry.tag, fitted=entry.fitted)


def failed(entry: Expected, error: Exception) -> Outcome:
    """Returns the outcome for an error, with its message."""
    verdict = NOT_INSTALLED if isinstance(error, NotInstalledError) else FAILED
    return Outcome(entry, verdict, remark=described(error))


@dataclass(frozen=True, repr=False)
class Regression(Table[Outcome]):
    """A regression's outcomes.

    Attributes:
        page: the page's path; None if no page was requested.
    """

    page: Path | None = None

    @property
    def is_broken(self) -> bool:
        """Whether a score or ranking has changed, or a run failed."""
        return any(outcome.is_broken for outcome in self)

    @cached_property
    def missing(self) -> list[str]:
        """Ids of the datasets that are missing."""
        datasets = (outcome.expected.dataset for outcome in self if outcome.verdict == MISSING)
        return list(dict.fromkeys(datasets))

    @cached_property
    def not_installed(self) -> list[str]:
        """How to install each missing extra."""
        return list(dict.fromkeys(outcome.remark for outcome in self if outcome.verdict == NOT_INSTALLED))

    @property
    def unchecked(self) -> str:
        """Why nothing was checked; empty if something was."""
        if any(outcome.verdict not in UNCHECKED for outcome in self):
            return ""
        if self.not_installed:
            return self.not_installed[0]
        # ``read_expectations`` rejects baselines without entries, so a dataset must be missing.
        return f"all datasets are missing; {remedy_for(self.missing)}"

    @property
    def all_repeatable(self) -> bool:
        """Whether no run failed, and all repeated runs were the same."""
        return not any(outcome.verdict in (NOT_THE_SAME, FAILED) for outcome in self)


def _command(outcome: Outcome) -> str:
    """Returns the baseline with its options, or the official run that is scored instead."""
    entry = outcome.expected
    return entry.command if entry.needs_rerun else f"runs/{entry.run}"


def _expected(outcome: Outcome) -> str:
    """Formats the expected value as in expected.toml."""
    value = outcome.expected.value
    return f"{value:g}" if isinstance(value, float) else str(value)


def _five_decimals(value: float | str) -> str:
    """Formats a measured value, unless it's a text, such as a digest."""
    return f"{value:.5f}" if isinstance(value, float) else value


def _difference(outcome: Outcome) -> float | None:
    """Returns the difference to five decimals, and never -0."""
    return None if outcome.difference is None else round(outcome.difference, 5) + 0.0


def _megabytes(memory: int) -> str:
    return f"{memory / 1e6:.0f} MB"


def _verdict(outcome: Outcome) -> str:
    """Returns the verdict with the remark, except for remarks that ``touche regress`` prints below the
    table.
    """
    has_remark = outcome.remark and outcome.verdict != NOT_INSTALLED
    return f"{outcome.verdict}: {outcome.remark}" if has_remark else outcome.verdict


COLUMNS = [
    Column("baseline", _command),
    Column("dataset", lambda outcome: outcome.expected.dataset or None),
    Column("dimension", lambda outcome: outcome.expected.value_name_and_evaluator[0] or None),
    Column("evaluator", lambda outcome: outcome.expected.value_name_and_evaluator[1] or None),
    Column("kind", lambda outcome: outcome.expected.kind or None),
    Column("expected", lambda outcome: _expected(outcome) or None),
    Column("got", "got", _five_decimals),
    Column("difference", _difference, "{:+.5f}".format),
    Column("wall", lambda outcome: outcome.usage.wall if outcome.usage else None, "{:.1f} s".format),
    Column("memory", lambda outcome: outcome.usage.memory if outcome.usage else None, _megabytes),
    Column("verdict", _verdict),
]


def summary(outcomes: Sequence[Outcome]) -> str:
    """Returns the number of outcomes per verdict, such as ``3 passed, 1 too low``."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def what_reruns_show(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns whether reruns are the same systems as published runs, and what reached means show.

    The latter is one sentence for all reruns that reached a published mean; none if there is no such rerun.
    """
    sentences = [
        f"{outcome.expected.command} on {outcome.expected.dataset}: {outcome.same_system}"
        for outcome in outcomes
        if outcome.same_system
    ]
    if any(outcome.reaches_mean for outcome in outcomes):
        sentences.append(note_on_means())
    return sentences


def markdown(outcomes: Sequence[Outcome]) -> str:
    """Returns the outcomes as a Markdown table with a summary below."""
    table = Sheet(COLUMNS, outcomes, notes=[summary(outcomes), *what_reruns_show(outcomes)])
    return f"## Regression\n\n{MARKDOWN.sheet(table)}\n"


def junit(outcomes: Sequence[Outcome]) -> str:
    """Returns the outcomes as JUnit XML."""
    cases = list[tuple[str, str, str, str]]()
    for outcome in outcomes:
        cells = {column.heading: str(column.cell(outcome)) for column in COLUMNS}
        # A ranking has no evaluator. An unreadable expected.toml has no dataset.
        name = " ".join(filter(None, (outcome.expected.dataset, *outcome.expected.value_name_and_evaluator)))
        skipped = outcome.verdict if outcome.verdict in UNCHECKED else ""
        template = "{verdict} (expected {expected}, got {got}, difference {difference})"
        failure = template.format(**cells) if outcome.is_broken else ""
        cases.append((outcome.expected.command, name, skipped, failure))
    return junit_xml("touche regress", cases)


def junit_xml(name: str, cases: Sequence[tuple[str, str, str, str]]) -> str:
    """Returns test cases as JUnit XML.

    Args:
        name: the suite's name.
        cases: for each case its class, its name, why it was skipped, and why it failed (empty if it wasn't).
    """
    suite = Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(sum(bool(failure) for *_, failure in cases)),
        skipped=str(sum(bool(skipped) for _, _, skipped, _ in cases)),
    )
    for class_name, case_name, skipped, failure in cases:
        case = SubElement(suite, "testcase", classname=one_line(class_name), name=one_line(case_name))
        if skipped:
            SubElement(case, "skipped", message=skipped)
        elif failure:
            SubElement(case, "failure", message=one_line(failure))
    return tostring(suite, encoding="unicode", xml_declaration=True)
