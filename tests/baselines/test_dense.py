"""The baseline dense: embeddings that are stored, exact search, and what it ranks."""

import errno
import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import touche as package
from conftest import ROOT, Touche, Write
from neighbours import neighbour
from random_examples import given, st
from touche import Documents, baselines
from touche.documents.document_records import AnyDocument, Argument, Document
from touche.io import writing
from touche.pairs import embeddings as minilm
from touche.trec.topics import Topic

embeddings = neighbour("dense", "embeddings")
nearest = neighbour("dense", "nearest")

DIMENSIONS = minilm.DIMENSIONS


def vector_of(text: str) -> Any:
    """A vector of length 1 that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


@dataclass
class Encoder:
    """Notes the texts that it embeds."""

    texts: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str], shown: Any = None) -> Any:
        self.texts += texts
        if shown:
            shown.update(len(texts))
        return np.array([vector_of(text) for text in texts], np.float32).reshape(-1, DIMENSIONS)


TEXTS = [f"text {number}" for number in range(7)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_BLOCK_DOCUMENTS", 3)


def collection(texts: Sequence[str], prefix: str = "d") -> Documents:
    return Documents.of([Document(f"{prefix}{number}", text) for number, text in enumerate(texts)])


def embedded(
    folder: Path | None, texts: Sequence[str] = TEXTS, precision: str = "float32", prefix: str = "d"
) -> tuple[list[str], Any, list[str]]:
    """Ids and vectors of a collection, and the texts that had to be embedded."""
    encoder = Encoder()
    store = embeddings.Embeddings(encoder, precision, folder)
    blocks = [(ids, np.array(vectors)) for ids, vectors in store.of_documents(collection(texts, prefix))]
    return [id for ids, _ in blocks for id in ids], np.vstack([block for _, block in blocks]), encoder.texts


def expected_vectors(texts: Sequence[str]) -> Any:
    return np.array([vector_of(text) for text in texts])


@pytest.mark.parametrize(("precision", "error"), [("float32", 0), ("float16", 2e-4)])
def test_stored_embeddings_are_not_computed_again(tmp_path: Path, precision: str, error: float) -> None:
    ids, vectors, computed = embedded(tmp_path, precision=precision)
    assert ids == [f"d{number}" for number in range(7)] and computed == TEXTS
    assert vectors.dtype == np.dtype(precision)
    assert np.abs(vectors - expected_vectors(TEXTS)).max() <= error
    # The ids are those of the collection, whatever they were when the embeddings were stored.
    ids, again, computed = embedded(tmp_path, precision=precision, prefix="e")
    assert ids == [f"e{number}" for number in range(7)] and computed == []
    assert (again == vectors).all()
    assert (embedded(None, precision=precision)[1] == vectors).all()


def test_a_link_with_the_name_of_a_block_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    embedded(tmp_path)
    blocks = sorted(tmp_path.iterdir())
    expected = [path.read_bytes() for path in blocks]
    own = tmp_path / "own.txt"
    own.write_text("precious")
    for path in blocks:
        path.unlink()
        path.symlink_to(own)
    embedded(tmp_path)
    assert own.read_text() == "precious"
    assert [path.read_bytes() for path in blocks] == expected and not any(
        path.is_symlink() for path in blocks
    )


def test_only_what_follows_a_change_is_computed_again(tmp_path: Path) -> None:
    embedded(tmp_path)
    changed = [*TEXTS[:4], "other", *TEXTS[5:]]
    _, vectors, computed = embedded(tmp_path, changed)
    assert computed == [TEXTS[3], "other", TEXTS[5]]
    assert (vectors == expected_vectors(changed)).all()


@pytest.mark.parametrize(
    ("texts", "others"),
    [(["ab", "c"], ["a", "bc"]), (["a", "b"], ["b", "a"]), (["a", ""], ["", "a"]), (["1:a"], ["a"])],
)
def test_blocks_of_other_texts_are_not_used(tmp_path: Path, texts: list[str], others: list[str]) -> None:
    embedded(tmp_path, texts)
    _, vectors, computed = embedded(tmp_path, others)
    assert computed == others and (vectors == expected_vectors(others)).all()


@pytest.mark.parametrize("other", ["model", "length", "precision"])
def test_blocks_of_another_model_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    embedded(tmp_path)
    if other == "model":
        monkeypatch.setitem(embeddings.pairs.CHECKSUMS, "model.safetensors", "0" * 64)
    elif other == "length":
        monkeypatch.setattr(embeddings.pairs, "LENGTH", 128)
    assert embedded(tmp_path, precision="float16" if other == "precision" else "float32")[2] == TEXTS
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: content[:40], id="half a header"),
        pytest.param(lambda content: content[:-1], id="without the last byte"),
        pytest.param(lambda content: bytes([content[0] ^ 1]) + content[1:], id="no array"),
        pytest.param(lambda content: content.replace(b"<f4", b"<f2"), id="of another type"),
        pytest.param(lambda content: content.replace(b"(3, 384)", b"(2, 384)"), id="of fewer texts"),
    ],
)
def test_a_damaged_block_is_computed_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[bytes], bytes]
) -> None:
    _, vectors, _ = embedded(tmp_path, TEXTS[:6])
    contents = {path: path.read_bytes() for path in tmp_path.iterdir()}
    path = min(contents)
    path.write_bytes(damage(contents[path]))
    with caplog.at_level(logging.WARNING):
        _, again, computed = embedded(tmp_path, TEXTS[:6])
    assert (again == vectors).all() and len(computed) == 3
    assert str(path) in caplog.text and "damaged" in caplog.text
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == contents


KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
import pytest
sys.path.insert(0, "tests")
from baselines import test_dense as tests
tests.embeddings._BLOCK_DOCUMENTS = 3
syncs = iter(range(9))
os.fsync = lambda file: next(syncs) < 1 or os.kill(os.getpid(), signal.SIGKILL)
tests.embedded(Path(sys.argv[1]))
"""


def test_a_killed_run_is_resumed(tmp_path: Path) -> None:
    """It is killed while the second of three blocks is written."""
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = sorted(path.name.endswith(".part") for path in tmp_path.iterdir())
    assert left == [False, True]
    _, vectors, computed = embedded(tmp_path)
    assert computed == TEXTS[3:] and (vectors == expected_vectors(TEXTS)).all()


@given(
    st.lists(st.integers(-2, 2), min_size=1, max_size=30),
    st.lists(st.integers(1, 7)),
    st.integers(1, 12),
    st.sets(st.integers(0, 40)),
)
def test_the_search_is_exact_whatever_the_blocks(
    values: list[int], sizes: list[int], depth: int, some: set[int]
) -> None:
    """With many ties, and for a topic with candidates; in one dimension the cosine is the product."""
    ids = [f"d{number}" for number in range(len(values))]
    topics = [
        Topic("1", "a"),
        Topic("2", "b", candidates=frozenset(f"d{number}" for number in some)),
        Topic("3", "c"),
    ]
    titles = np.array([[1.0], [0.5], [-1.0]], np.float32)
    blocks = []
    begin = 0
    for size in [*sizes, len(values)]:
        if part := ids[begin : begin + size]:
            blocks.append((part, np.array(values[begin : begin + size], np.float16)[:, None]))
        begin += size
    expected = []
    for topic, weight in zip(topics, (1, 0.5, -1), strict=True):
        hits = [
            (id, weight * value)
            for id, value in zip(ids, values, strict=True)
            if topic.candidates is None or id in topic.candidates
        ]
        expected.append((topic, sorted(hits, key=lambda hit: (hit[1], hit[0]), reverse=True)[:depth]))
    assert list(nearest.nearest(topics, titles, blocks, depth)) == expected


QUESTIONS = [Topic("1", "Should we abolish zoos?"), Topic("2", "Are parks better?")]
DOCUMENTS: list[AnyDocument] = [
    Argument("empty", "", ("",)),
    Argument("title", "Zoos protect animals", ("",)),
    Argument("text", "", ("Their cages are small.",)),
    Argument(
        id="both", conclusion="Zoos protect animals", premises=("Their cages are small.",), stance="PRO"
    ),
    Argument("cut", "Zoos protect animals", ("and so do parks " * 120 + "Cars are fast.",)),
    Document("greek", "Ζωολογικοί κήποι; 动物园 🦁"),
]


def test_cosines_are_those_of_the_reference_implementation() -> None:
    """The expected values were computed with sentence-transformers 6.2.0 and torch 2.15.

    One text has 490 word pieces; its end, which is cut off, does not matter.
    """
    same = Argument("same", "Zoos protect animals", ("and so do parks " * 120 + "Cats sleep.",))
    rankings = baselines.load("dense")(QUESTIONS, [*DOCUMENTS, same])
    expected = [
        [0.132072, 0.638648, 0.332958, 0.578279, 0.410041, -0.054906],
        [0.102771, 0.259959, 0.159854, 0.219823, 0.433617, -0.106727],
    ]
    for (_, hits), cosines in zip(rankings, expected, strict=True):
        assert [cosine for _, cosine in hits] == sorted((cosine for _, cosine in hits), reverse=True)
        scores = dict(hits)
        assert [scores[document.id] for document in DOCUMENTS] == pytest.approx(cosines, abs=1e-5)
        assert scores["same"] == scores["cut"]


def test_a_second_run_reads_stored_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_BLOCK_DOCUMENTS", 60)
    stored = tmp_path / "new" / "embeddings"
    run = package.run("dense", "spot-check/passages")
    assert package.run("dense", "spot-check/passages", keep_embeddings=str(stored)) == run
    assert len(list(stored.iterdir())) == 2
    monkeypatch.setattr(embeddings, "_store", lambda *block: pytest.fail("a block is written again"))
    assert package.run("dense", "spot-check/passages", keep_embeddings=str(stored)) == run


def ranked(name: str, dataset: str | Path, **options: int) -> dict[str, list[str]]:
    """Returns the ids of the documents of each topic, best first."""
    run = package.run(name, dataset, **options)
    return run.documents_of(run.by_rank)


def test_the_best_of_bm25_are_ranked_in_their_dense_order() -> None:
    bm25 = ranked("bm25", "spot-check/passages", depth=5)
    dense = ranked("dense", "spot-check/passages")
    reranked = ranked("dense", "spot-check/passages", candidates=5)
    assert reranked == {topic: [id for id in dense[topic] if id in ids] for topic, ids in bm25.items()}
    assert reranked != bm25


@pytest.mark.parametrize(
    ("candidates", "expected"), [(0, {"1": ["b", "a"], "2": ["b", "c"]}), (1, {"1": ["b"], "2": ["b"]})]
)
def test_of_a_reranking_input_only_candidates_are_ranked(
    write: Write, candidates: int, expected: dict[str, list[str]]
) -> None:
    rows = [("1", "a", "zoos"), ("1", "b", "cars"), ("2", "b", "cars"), ("2", "c", "fast cars")]
    lines = [json.dumps({"qid": q, "query": "cars", "docno": d, "text": text}) for q, d, text in rows]
    folder = write("in/rerank.jsonl", "\n".join(lines)).parent
    assert ranked("dense", folder, candidates=candidates) == expected


def test_a_folder_that_cannot_be_used_is_refused_before_anything_is_embedded(
    touche: Touche, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "Bert", lambda *model: pytest.fail("the model is loaded"))
    file = write("file", "")
    arguments = ("-i", "spot-check/passages", "-o", tmp_path / "out", "--keep-embeddings", file)
    code, _, err = touche("run", "dense", *arguments)
    assert code == 2 and f"{file}: cannot be created" in err


def test_a_folder_must_be_writable_only_if_a_block_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, vectors, _ = embedded(tmp_path)

    def refuse(**folders: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(writing, "TemporaryFile", refuse)
    assert (embedded(tmp_path)[1] == vectors).all()
    monkeypatch.setattr(Encoder, "embed", lambda *texts: pytest.fail("texts are embedded"))
    with pytest.raises(embeddings.InputError, match=r"cannot be written \(Read-only file system\)"):
        embedded(tmp_path, [*TEXTS, "new"])


def test_a_block_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    embedded(tmp_path)
    path = min(tmp_path.iterdir())
    path.unlink()
    path.mkdir()
    with pytest.raises(embeddings.InputError, match=f"{path.name}: cannot be read"):
        embedded(tmp_path)
