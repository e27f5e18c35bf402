"""The extra of a baseline, by its Dockerfile."""

import pytest

from conftest import Write
from touche import baselines
from touche.baselines import extras


@pytest.mark.parametrize(
    ("base", "extra"),
    [
        ("touche/lucene", "lucene"),
        ("touche/models:1 AS a", "models"),
        ("registry:5000/touche/lucene@sha256:0", "lucene"),
        ("ghcr.io/me/touche-fork/models:0.1.0", "models"),
        ("ghcr.io/me/models:1", ""),
        ("my-touche/lucene", ""),
        ("touche/lucene-9", ""),
    ],
)
def test_an_extra_is_that_of_a_base_image_of_this_project(
    write: Write, monkeypatch: pytest.MonkeyPatch, base: str, extra: str
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    write("mine/baseline.py", "")
    folder = str(write("mine/Dockerfile", f"FROM {base}\n").parent)
    assert extras.extra_in_dockerfile(folder) == extra
    assert baselines.missing_extra(folder) == ""  # an image of one's own may have other packages
    assert baselines.missing_extra("elrond") == "lucene"
