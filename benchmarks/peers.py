"""Ranks passages with BM25 in another engine, as its guide does; scan_speed.py times it.

    python benchmarks/peers.py bm25s|tantivy [passages.jsonl topics.tsv run.txt INDEX CORES]

The script writes 1,000 passages per topic to run.txt, and prints nothing. If the folder INDEX doesn't exist,
it is written from the passages. If you pass no files, the exit code tells whether the engine is installed.
"""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

DEPTH = 1000
MODULES = {"bm25s": ["bm25s", "Stemmer"], "tantivy": ["tantivy"]}  # that each engine needs

Ranked = Iterator[tuple[str, list[tuple[str, float]]]]
"""The number of each topic with ids and scores of passages, best first."""


def read_passages(path: str) -> Iterator[dict[str, str]]:
    """Yields the passages, with ``id`` and ``contents``."""
    with Path(path).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def read_topics(path: str) -> list[list[str]]:
    """Reads each topic's number and title."""
    return [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]


def bm25s(passages: str, topics: list[list[str]], folder: Path, cores: int) -> Ranked:
    """Ranks with BM25s (Lù 2024), using Snowball's stemmer."""
    import bm25s as engine
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    if folder.exists():
        ids = json.loads((folder / "ids.json").read_text(encoding="utf-8"))
        index = engine.BM25.load(folder)
    else:
        ids = []
        texts = []
        for passage in read_passages(passages):
            ids.append(passage["id"])
            texts.append(passage["contents"])
        index = engine.BM25(method="lucene", k1=0.9, b=0.4)
        index.index(engine.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False))
        index.save(folder)
        (folder / "ids.json").write_text(json.dumps(ids), encoding="utf-8")
    titles = [title for _, title in topics]
    queries = engine.tokenize(titles, stopwords="en", stemmer=stemmer, show_progress=False)
    rows, scores = index.retrieve(queries, k=DEPTH, n_threads=cores, show_progress=False)
    for topic, best_rows, best_scores in zip(topics, rows.tolist(), scores.tolist(), strict=True):
        number, _ = topic
        yield number, [(ids[row], score) for row, score in zip(best_rows, best_scores, strict=True)]


def tantivy(passages: str, topics: list[list[str]], folder: Path, cores: int) -> Ranked:
    """Ranks with Tantivy, using its English stemmer."""
    import tantivy as engine

    if folder.exists():
        index = engine.Index.open(str(folder))
    else:
        folder.mkdir()
        schema = engine.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw")
        schema.add_text_field("contents", tokenizer_name="en_stem")
        index = engine.Index(schema.build(), path=str(folder))
        writer = index.writer(256_000_000, cores)
        for passage in read_passages(passages):
            writer.add_document(engine.Document(id=passage["id"], contents=passage["contents"]))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
    searcher = index.searcher()
    for number, title in topics:
        words = "".join(letter if letter.isalnum() else " " for letter in title)
        hits = searcher.search(index.parse_query(words, ["contents"]), DEPTH).hits
        yield number, [(searcher.doc(address)["id"][0], score) for score, address in hits]


def main() -> None:
    """Writes a run."""
    name, *files = sys.argv[1:]
    for module in MODULES[name]:
        import_module(module)  # raises an error if the engine is not installed
    if files:
        passages, topics, run, folder, cores = files
        engine = {"bm25s": bm25s, "tantivy": tantivy}[name]
        with Path(run).open("w", encoding="utf-8") as file:
            for number, hits in engine(passages, read_topics(topics), Path(folder), int(cores)):
                for rank, (id, score) in enumerate(hits, 1):
                    file.write(f"{number} Q0 {id} {rank} {score} {name}\n")


if __name__ == "__main__":
    main()
