"""Data sets in the format of BEIR: corpus.jsonl, queries.jsonl and qrels/test.tsv."""

import json
from operator import attrgetter
from pathlib import Path

import pytest

from conftest import Write
from random_examples import given, st
from reading import read_documents_jsonl
from spotcheck import table_of
from texts import IDS, TEXTS
from touche import tasks
from touche.documents.beir import corpus_line
from touche.documents.discovery import find
from touche.documents.document_records import AnyDocument, Argument, Document, Sentence
from touche.documents.pages import RawPage
from touche.errors import InputError
from touche.trec.qrels import read_qrels
from touche.trec.topics import Topic, read_topics

HEADER = "query-id\tcorpus-id\tscore\n"


def read_corpus(path: Path) -> list[AnyDocument | RawPage]:
    return list(read_documents_jsonl(path))


ARGUMENTS = st.builds(
    Argument,
    IDS,
    TEXTS,
    st.lists(TEXTS, max_size=3).map(tuple),
    st.sampled_from(["", "PRO", "CON"]),
    st.none() | st.lists(st.builds(Sentence, IDS, TEXTS), max_size=2).map(tuple),
    TEXTS,
    TEXTS,
)


@given(
    documents=st.lists(st.builds(Document, IDS, TEXTS) | ARGUMENTS, unique_by=attrgetter("id"), min_size=1)
)
def test_what_is_written_is_read_as_the_same_documents(
    tmp_path_factory: pytest.TempPathFactory, documents: list[AnyDocument]
) -> None:
    path = tmp_path_factory.mktemp("beir") / "corpus.jsonl"
    path.write_text("".join(map(corpus_line, documents)), encoding="utf-8")
    assert read_corpus(path) == documents


def test_a_data_set_is_an_input(write: Write) -> None:
    """Gzipped; a document without a title is its text, and an argument has its stance."""
    argument = '{"_id": "a", "title": "Cats", "text": "purr", "metadata": {"stance": "PRO"}}'
    write("in/corpus.jsonl.gz", f'{argument}\n{{"_id": "b", "text": "dogs"}}\n')
    folder = write("in/queries.jsonl", '{"_id": "1", "text": "Cats?", "metadata": {}}\n').parent
    source = find(folder)
    assert source.topics == (Topic("1", "Cats?"),)
    assert list(source.documents) == [
        Argument(id="a", conclusion="Cats", premises=("purr",), stance="PRO"),
        Document("b", "dogs"),
    ]


@pytest.mark.parametrize(
    "metadata",
    [
        *({"type": "page"}, {"type": "argument", "premises": ["a"]}, {"page": 3}, {"fields": ["a"]}),
        *({"stance": None}, {"stance": [1]}, {"discussion": "d"}, {"url": "u"}, {"touche": "2020"}),
        *("{}", '{"stance": "PRO"}', [1], 3, None),
    ],
)
def test_metadata_of_other_projects_is_ignored(write: Write, metadata: object) -> None:
    records = [{"_id": "a", "title": "t", "text": "x"}, {"_id": "b", "text": "y"}]
    lines = "".join(f"{json.dumps(record | {'metadata': metadata})}\n" for record in records)
    assert read_corpus(write("corpus.jsonl", lines)) == [Argument("a", "t", ("x",)), Document("b", "y")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"title": "t", "text": "x"}', "_id"),
        ('{"_id": "b", "title": "t"}', "text"),
        ('{"_id": "b", "title": [3], "text": "x"}', "title"),
        ('{"_id": "a", "text": "x"}', "'a'"),
        ("{", "JSON"),
        ('{"_id": "b", "text": "x", "metadata": {"touche": {"page": 3}}}', "page"),
    ],
)
def test_a_broken_line_is_named(write: Write, line: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"corpus.jsonl:2: .*{problem}"):
        read_corpus(write("corpus.jsonl", f'{{"_id": "a", "text": "x"}}\n{line}\n'))


@pytest.mark.parametrize(
    "metadata", [{"description": 3}, {"narrative": ["n"]}, {"objects": {"a": 1}}, {"objects": [1]}, "{}", [1]]
)
def test_metadata_of_queries_of_other_projects_is_ignored(write: Write, metadata: object) -> None:
    path = write("queries.jsonl", json.dumps({"_id": "1", "text": "t", "metadata": metadata}))
    assert [*read_topics(path)] == [Topic("1", "t")]


def test_judgments_have_a_header_and_three_columns_that_are_split_at_tabs(write: Write) -> None:
    text = f"{HEADER}1\ta b\t2\n1\tb\t0\n"
    assert read_qrels(write("test.tsv", text)) == {"1": {"a b": 2, "b": 0}}
    assert read_qrels(write("blanks.tsv", HEADER.replace("\t", " ") + "1 a 2\n")) == {"1": {"a": 2}}


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("queries.jsonl", '{"_id": "1"}\n', "1: "),
        ("test.tsv", f"{HEADER}1\t0\ta\t2\n", "2: "),
        ("test.tsv", f"1\ta\t2\n{HEADER}", "1: "),
        ("test.tsv", f"{HEADER}{HEADER}", "2: "),
        ("test.tsv", f"{HEADER}1\t\t2\n", "2: .*2 columns instead of 3"),
    ],
)
def test_a_broken_query_or_judgment_is_named(write: Write, name: str, text: str, problem: str) -> None:
    read = read_topics if name == "queries.jsonl" else read_qrels
    with pytest.raises(InputError, match=f"{name}:{problem}"):
        read(write(name, text))


@pytest.mark.parametrize(
    ("name", "text", "is_beir"),
    [
        ("test.tsv.gz", "1\ta b\tc\t2\n", True),
        ("test.tsv", "1\ta\n", True),
        ("a.qrels", "1 a 2\n", True),
        ("a.qrels", "1 a\n", False),
        ("test.tsv", "1 0 a 2\n1 a 2\n", False),
    ],
)
def test_a_missing_header_is_named(write: Write, name: str, text: str, is_beir: bool) -> None:
    with pytest.raises(InputError) as error:
        read_qrels(write(name, text))
    assert ("begin with: query-id corpus-id score" in str(error.value)) == is_beir


@pytest.mark.parametrize(
    ("run", "values"),
    [
        ("bm25-multifield", {"nDCG@10": 0.3673, "R@100": 0.5376, "R@1000": 0.8668}),
        ("splade-v2", {"nDCG@10": 0.27152}),
    ],
)
def test_official_runs_have_their_published_scores(
    official: Path, run: str, values: dict[str, float]
) -> None:
    path = official / "runs/beir-webis-touche2020" / f"{run}.run.gz"
    for measure, value in values.items():
        task = tasks.task("beir-webis-touche2020-v2")
        (score,) = table_of([path], task, ["trec_eval"], measure=measure)
        digits = len(str(value)) - 2
        assert score.evaluator == "trec_eval"
        assert score.comparable  # published values have the same gaps
        assert round(score.mean or 0, digits) == value
