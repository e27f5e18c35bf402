"""The replica of args.me."""

from typing import Any

import pytest

from conftest import Write
from oracles.formulas import bm25
from reading import read_argsme_json
from touche import baselines
from touche.documents.document_records import Argument, Document
from touche.errors import ToucheError
from touche.trec.topics import Topic

CHESS = Topic("1", "Is chess a sport?")
ON_PAGE = [
    Argument("both", "Chess is a sport", ("It is chess, and chess takes skill",), page="chess and sport"),
    Argument("no conclusion", "It takes skill", ("Chess is a sport",), page="chess, sport"),
    Argument("half a page", "A sport of minds", ("Chess and skill",), page="only chess"),
    Argument("other", "Cats", ("Dogs",), page="cats, no sport"),
]


def ranked(arguments: list[Any], **options: Any) -> dict[str, float]:
    return dict(next(iter(baselines.load("argsme")([CHESS], arguments, **options)))[1])


def test_the_score_is_that_computed_by_hand() -> None:
    """No stop words; premises are five tokens longer, and a byte stores 0.3125 instead of 1 / 3."""
    of_premises = bm25(2, 1 / 0.3125**2, (9 + 7 + 7 + 6) / 4, 3, 4)  # chess, chess, takes, skill
    in_conclusion = bm25(1, 1 / 0.625**2, (2 + 2 + 2 + 1) / 4, 1, 4) + bm25(1, 1 / 0.625**2, 7 / 4, 2, 4)
    on_page = bm25(1, 1 / 0.625**2, 8 / 4, 3, 4) + bm25(1, 1 / 0.625**2, 8 / 4, 3, 4)
    expected = 2.2 * (of_premises + 1.5 * in_conclusion + on_page)  # k1 + 1, before Lucene 8
    assert ranked(ON_PAGE) == {"both": pytest.approx(expected, rel=1e-6)}


def test_a_conclusion_has_to_have_a_term_and_the_page_all_or_any() -> None:
    assert ranked(ON_PAGE).keys() == {"both"}
    assert ranked(ON_PAGE, match="any").keys() == {"both", "half a page"}


def test_without_pages_the_rest_is_ranked_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    bare = [Argument(argument.id, argument.conclusion, argument.premises) for argument in ON_PAGE]
    assert ranked(bare).keys() == {"both", "half a page"}
    assert [argument.getMessage() for argument in caplog.records] == [
        "no argument has the text of its web page; only premises and conclusions are ranked"
    ]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, r"no document has a conclusion; args\.me ranks arguments"),
        ({"api": True, "match": "any"}, r"with --api, args\.me itself ranks"),
    ],
)
def test_what_are_no_arguments_and_options_without_effect_are_refused(
    options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ToucheError, match=problem):
        ranked([Document("d", "chess is a sport")], **options)


def test_pages_are_read_from_the_corpus(write: Write) -> None:
    contexts = '{"sourceText": "all of it"}', '{"sourceText": null}', "{}", "null"
    record = '{"id": "a%d", "conclusion": "c", "premises": [{"text": "p"}], "context": %s}'
    records = ", ".join(record % numbered for numbered in enumerate(contexts))
    path = write("args-me.json", f'{{"arguments": [{records}]}}')
    assert [argument.page for argument in read_argsme_json(path)] == ["all of it", "", "", ""]
