"""Sentences beside those of Java, on all official arguments at hand."""

import runpy
from itertools import pairwise
from pathlib import Path

import pytest

from conftest import ROOT
from touche.formats.argsme import read_argsme_json
from touche.pairs.breaks import pieces

pytestmark = pytest.mark.xdist_group("official")


@pytest.mark.nightly
def test_every_premise_is_split_as_java_does(official: Path) -> None:
    ends, read = runpy.run_path(str(ROOT / "docs" / "breaks.py"))["ends"], 0
    for path in sorted((official / "corpora").rglob("args-me.json*")):
        for argument in read_argsme_json(path):
            for premise in argument.premises:
                places = [0, *ends(premise)]
                assert list(pieces(premise)) == [premise[begin:end] for begin, end in pairwise(places)]
                read += 1
    assert read > 10_000
