"""Outcomes of expectations, and their verdicts; reports show them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from touche.containers.runs import Usage
from touche.evaluation.agreement import Overlap
from touche.evaluation.scores import Evaluated
from touche.regression.expected import Expected, TopicValue

PASSED = "passed"
TOO_LOW = "too low"
TOO_HIGH = "too high"
CHANGED = "changed"
MISSING = "missing"
FAILED = "failed"
NOT_THE_SAME = "not the same twice"
NOT_INSTALLED = "not installed"
NOTHING_EXPECTED = "nothing expected"
NOT_AS_REPORTED = "not as reported"  # a value of another implementation cannot fail
UNCHECKED = (MISSING, NOT_INSTALLED, NOTHING_EXPECTED)  # verdicts of what was not checked
BROKEN = (TOO_LOW, TOO_HIGH, CHANGED, FAILED, NOT_THE_SAME)  # verdicts that make the regression fail


@dataclass(frozen=True)
class Outcome:
    """An expectation and its result.

    Attributes:
        expected: the expectation.
        verdict: ``passed``, ``too low``, ``too high``, ``changed`` (a ranking), ``not as reported``,
            ``missing``, ``not installed``, ``nothing expected``, ``failed``, ``not the same twice``.
        got: the measured value, or None.
        judged: the measured Judged@k, or None.
        remark: the reason of a failure, or more results.
        usage: the time and memory of the run, or None without a run.
        topics: the published and the measured value of each topic, if the entry compares topics.
        evaluated: the run in all dimensions with qrels, if runs are saved.
        agreements: the agreement of the rerun with official runs; only one of the rerun's outcomes has it.
    """

    expected: Expected
    verdict: str
    got: float | str | None = None
    judged: float | None = None
    remark: str = ""
    usage: Usage | None = None
    topics: Sequence[TopicValue] = ()
    evaluated: Sequence[Evaluated] = ()
    agreements: Sequence[Overlap] = ()

    @property
    def difference(self) -> float | None:
        """``got`` minus the expected value, if both are numbers."""
        return None if self.got is None else self.expected.difference(self.got)

    @property
    def is_broken(self) -> bool:
        """Whether the regression fails."""
        return self.verdict in BROKEN

    @property
    def record(self) -> dict[str, Any]:
        """A record for JSON with the fields of the expectation and the usage; only lists are nested."""
        return {
            **self.expected.record,
            "got": self.got,
            "difference": self.difference,
            "judged": self.judged,
            # Without a run, each field of the usage is None.
            **(asdict(self.usage) if self.usage else dict.fromkeys(Usage.__annotations__)),
            "verdict": self.verdict,
            "remark": self.remark,
            "topics": [asdict(value) for value in self.topics],
            "agreements": [asdict(overlap) for overlap in self.agreements],
        }
