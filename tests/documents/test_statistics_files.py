import json

import pytest

from conftest import Write
from random_examples import given, st
from touche.errors import InputError
from touche.scan.written_statistics import KnownStatistics, read_known, write_statistics

WHOLE = {"analysis": "english", "documents": 3, "tokens": 9, "terms": {"a": [2, 5]}}


@given(
    terms=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.tuples(st.integers(1, 3), st.integers(3, 9)) | st.just((0, 0)),
    )
)
def test_statistics_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, terms: dict[str, tuple[int | None, int | None]]
) -> None:
    path = tmp_path_factory.mktemp("statistics") / "new" / "s.json"
    fields = {
        "premises": KnownStatistics(analysis="standard", documents=3, tokens=9, terms=terms),
        "è": KnownStatistics(analysis="plural", documents=0, tokens=0, terms={}),
    }
    write_statistics(path, fields)
    assert read_known(path) == fields


@pytest.mark.parametrize(
    "wrong",
    [
        {"documents": 1},  # but the term has a df of two
        {"documents": 10},
        {"tokens": 4},
        {"terms": {"a": [5, 2]}},
        {"terms": {"a": [0, 2]}},
        {"terms": {"a": [-1, 5]}},
        {"terms": {"a": [1.5, 5]}},
        {"terms": {"a": [True, 5]}},
        {"terms": {"a": [2]}},
        {"terms": []},
        {"tokens": 1 << 63},
    ],
)
def test_numbers_that_no_documents_have_are_refused(write: Write, wrong: dict[str, object]) -> None:
    path = write("s.json", json.dumps({"fields": {"text": WHOLE | wrong}}))
    with pytest.raises(InputError, match=r"s\.json: the file has no statistics"):
        read_known(path)
