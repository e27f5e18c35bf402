"""Outcomes of a regression with their verdicts, and how they are written: as a table, JSON, Markdown and
JUnit XML.
"""

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
# ``--update`` changed another pinned value of this baseline, but could not measure this one.
NOT_RENEWED = "not renewed"
NOT_INSTALLED = "not installed"
NOTHING_EXPECTED = "nothing expected"
COMPARED = "compared"  # compared with an official run; there is no expected value, so this can't fail
# Differs from a value reported for another implementation, which isn't a failure.
NOT_AS_REPORTED = "not as reported"
UNCHECKED = (MISSING, NOT_INSTALLED, NOTHING_EXPECTED)  # verdicts that say that nothing was checked
# Verdicts that make the regression fail.
BROKEN = (TOO_LOW, TOO_HIGH, CHANGED, FAILED, NOT_THE_SAME, NOT_RENEWED)


@dataclass(frozen=True)
class Outcome:
    """An expectation and what was measured.

    Attributes:
        expected: the expectation.
        verdict: ``passed``, ``too low``, ``too high``, ``changed`` (a ranking), ``not as reported``,
            ``compared`` (with an official run), ``missing``, ``not installed``, ``nothing expected``,
            ``failed``, ``not the same twice``, ``not renewed`` (by an update).
        got: the measured value; None if nothing was measured.
        judged: the measured Judged@k; None if it wasn't measured.
        remark: why the outcome is a failure, or further results.
        usage: how much time and memory the run took; None if nothing was run.
        topics: the rerun's values of single topics, rounded like the published ones, which are in
            ``expected.topic_values``; a topic without results is missing. Empty for outcomes about other
            things than values of topics.
        scored: the rerun's scores in all dimensions with qrels. Only set if runs are kept, and then only in
            one of the rerun's outcomes.
        agreements: how well the rerun agrees with official runs. Only set in one of the rerun's outcomes.
        md5: the checksum of the rerun's run.txt; empty if nothing was rerun.
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
        """Whether this is about a published mean, and the rerun's mean is within its tolerance."""
        is_mean = isinstance(self.expected, ExpectedScore) and self.expected.needs_rerun
        return is_mean and self.expected.kind == PUBLISHED and self.verdict == PASSED

    @property
    def is_broken(self) -> bool:
        """Whether this makes the regression fail."""
        return self.verdict in BROKEN

    @property
    def topic_rows(self) -> list[dict[str, Any]]:
        """A dictionary for each published value of a topic, with the keys ``dimension``, ``topic``,
        ``published`` and ``rerun``. The last is the rerun's value, or None. Empty if values of topics weren't
        compared.
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
        """Sentences that say whether the rerun is the same system as the published run. Empty if values of
        topics weren't compared.
        """
        if not isinstance(self.expected, ExpectedTopics) or not self.topics:
            return ""
        return same_as_published(self.expected, self.topics)

    @property
    def record(self) -> dict[str, Any]:
        """The outcome as a dictionary for JSON. The fields of ``expected`` and ``usage`` are on the same
        level as its own.
        """
        return {
            **self.expected.record,
            "got": self.got,
            "difference": self.difference,
            "judged": self.judged,
            # If nothing was run, all fields about usage are None.
            **(asdict(self.usage) if self.usage else dict.fromkeys(Usage.__annotations__)),
            "verdict": self.verdict,
            "remark": self.remark,
            "topics": self.topic_rows,
            "same_system": self.same_system,
            "agreements": [asdict(overlap) for overlap in self.agreements],
        }


def same_as_published(entry: ExpectedTopics, rerun: TopicValues) -> str:
    """Returns sentences that say whether a rerun is the same system as an entry's published run."""
    task, _ = dataset(entry.dataset)
    return same_system(task, entry.measure, entry.topic_values, rerun, entry.tag, fitted=entry.fitted)


def failed(entry: Expected, error: Exception) -> Outcome:
    """Returns the outcome for an entry that failed with an error. The remark is the error's message."""
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
        """Whether at least one outcome makes the regression fail, e.g. because a score has changed or a run
        failed.
        """
        return any(outcome.is_broken for outcome in self)

    @cached_property
    def missing(self) -> list[str]:
        """The ids of datasets that were needed, but are missing on this machine."""
        datasets = (outcome.expected.dataset for outcome in self if outcome.verdict == MISSING)
        return list(dict.fromkeys(datasets))

    @cached_property
    def not_installed(self) -> list[str]:
        """For each extra that was needed but isn't installed, how to install it."""
        return list(dict.fromkeys(outcome.remark for outcome in self if outcome.verdict == NOT_INSTALLED))

    @property
    def unchecked(self) -> str:
        """Why nothing at all was checked; empty if something was checked."""
        if any(outcome.verdict not in UNCHECKED for outcome in self):
            return ""
        if self.not_installed:
            return self.not_installed[0]
        # Only missing datasets can be the reason, because ``read_expectations`` rejects baselines without
        # entries.
        return f"all datasets are missing; {remedy_for(self.missing)}"

    @property
    def all_repeatable(self) -> bool:
        """Whether no run failed, and all repeated runs were the same."""
        return not any(outcome.verdict in (NOT_THE_SAME, FAILED) for outcome in self)


def _command(outcome: Outcome) -> str:
    """Returns the baseline with its options. If an official run was scored instead of a rerun, returns that
    run's name.
    """
    entry = outcome.expected
    return entry.command if entry.needs_rerun else f"runs/{entry.run}"


def _expected(outcome: Outcome) -> str:
    """Formats the expected value as in expected.toml."""
    value = outcome.expected.value
    return f"{value:g}" if isinstance(value, float) else str(value)


def _five_decimals(value: float | str) -> str:
    """Formats a measured value with five decimals. Texts, such as digests, are returned unchanged."""
    return f"{value:.5f}" if isinstance(value, float) else value


def _difference(outcome: Outcome) -> float | None:
    """Returns the difference, rounded to five decimals; 0 instead of -0."""
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
    """Returns how many outcomes have each verdict, such as ``3 passed, 1 too low``."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def what_reruns_show(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns sentences that say what the outcomes show. If values of topics were compared, they say whether
    the rerun is the same system as the published run. If reruns reached published means, one more sentence
    says what can be concluded from that.
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
        # Leave out empty parts: rankings have no evaluator, and there is no dataset if expected.toml can't be
        # read.
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
        cases: for each test case: its class, its name, why it was skipped, and why it failed. The last two
            are empty if it wasn't skipped or didn't fail.
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
