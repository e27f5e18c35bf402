"""What tests with random examples need of Hypothesis; where it is missing, only these tests are skipped."""

from unittest.mock import MagicMock

import pytest

try:
    from hypothesis import HealthCheck, example, given, settings
    from hypothesis import strategies as st
except ModuleNotFoundError:
    HealthCheck = st = MagicMock()  # no strategy is used, because each test with one is skipped

    def given(*_: object, **__: object) -> pytest.MarkDecorator:
        return pytest.mark.skip(reason="needs Hypothesis: pip install hypothesis")

    def settings(*_: object, **__: object) -> pytest.MarkDecorator:
        return given()

    example = settings
else:
    # No test asserts a duration. Only nightly tests search for new examples.
    settings.register_profile("nightly", deadline=None, print_blob=True)
    settings.register_profile("fuzz", deadline=None, print_blob=True, max_examples=400)
    settings.register_profile("sanitize", deadline=None, print_blob=True, max_examples=10_000)
    settings.register_profile("touche", deadline=None, derandomize=True, database=None)
    settings.load_profile("touche")

__all__ = ["HealthCheck", "example", "given", "settings", "st"]
