import ast
import contextlib
import warnings
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from texts import TEXTS
from touche.formats import python_literals
from touche.formats.python_literals import value_of

AWKWARD = TEXTS | st.text(alphabet="'\"\\\n{}[], d\x7f\xa0\u2028", max_size=8)
VALUES = st.recursive(
    AWKWARD | st.none() | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(AWKWARD, inner, max_size=3),
    max_leaves=6,
)
PARTS = st.sampled_from(
    [
        *r"""'a' "b'" '' [ ] { } None null 1 \d \' \ud83d \ude00 '\x4e' '\xg0' '\x4' '\u00e9'""".split(),
        *("'\\u12'", r"'\ud83d\ude00'", "'\t'", "b''", "#", "\\", "\n", "'", ", ", ": "),
    ]
)


def evaluated(literal: str) -> Any:
    """What Python makes of a literal; an exception if it is none."""
    try:
        with warnings.catch_warnings(action="ignore"):
            value = ast.literal_eval(literal)
        orjson.dumps(value, default=str)
        return value
    except (ValueError, SyntaxError, TypeError) as error:
        return type(error)


@given(VALUES)
def test_every_value_is_read_back(value: Any) -> None:
    with contextlib.suppress(TypeError):  # numbers of more than 64 bits
        assert value_of(repr(value)) == value


@given(st.lists(PARTS, max_size=8).map("".join) | st.text("'\"\\[]{}, aNonexu0\n", max_size=12))
def test_what_is_read_fast_is_what_python_reads(literal: str) -> None:
    with contextlib.suppress(orjson.JSONDecodeError):
        assert orjson.loads(python_literals._as_json(literal.encode())) == evaluated(literal)


@pytest.mark.parametrize("text", ["it's", 'it\'s "so"', "\\n\n\t\r", "caf\u00e9\x85\u200b", ""])
def test_usual_texts_are_read_fast(text: str) -> None:
    value = [{"sent_id": "a", "sent_text": text, "annotations": [], "stance": None}]
    assert orjson.loads(python_literals._as_json(repr(value).encode())) == value
