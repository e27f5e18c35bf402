"""Small valid files, one of each format, before they are corrupted."""

import io
import tarfile
import zipfile

from archives import record, record_of_clueweb22

TOPICS = """<?xml version="1.0" encoding="UTF-8"?>
<topics>
  <topic>
    <number>1</number>
    <title>Should cats be leashed?</title>
    <objects>cats, dogs</objects>
    <description>Somebody's cat hunts birds.</description>
    <narrative>Relevant arguments name birds or cats.</narrative>
  </topic>
  <topic><number>2</number><title>Are cafés better than bars?</title></topic>
</topics>
""".encode()
QUERIES = """\
{"qid": "1", "query": "Leash cats?", "original_query": {"objects": "cats, dogs", "title": ""}}
{"qid": 2, "query": "Are cafés better than bars?", "original_query": {"objects": ["cafés", "bars"]}}
""".encode()
DOCUMENTS = """\
{"docno": "d1", "text": "Cats hunt birds, and bars sell beer."}
{"docno": "d2", "html": "<title>Cats</title><p>Leashed cats are sad.", "url": "http://a.example/cats"}
{"docno": 3, "title": "Cafés", "body": "Cafés are better than bars", "host": "b.example"}
""".encode()
PASSAGES = """\
{"id": "clueweb12-0000tw-00-00000___1", "contents": "Cats hunt birds.", "chatNoirUrl": "https://chatnoir.eu/a"}
{"id": "clueweb12-0000tw-00-00000___2", "contents": "Cafés sell.", "chatNoirUrl": "https://chatnoir.eu/b"}
""".encode()
BEIR = """\
{"_id": "a", "title": "Cats hunt", "text": "They hunt birds.", "metadata": {"stance": "PRO"}}
{"_id": "b", "title": "", "text": "Cafés sell.", "metadata": {}}
""".encode()
CANDIDATES = b"""\
{"qid": "1", "query": "Leash cats?", "docno": "d1", "text": "Cats hunt birds.", "score": 1.5, "rank": 1}
{"qid": "1", "query": "Leash cats?", "docno": "d2", "text": "Dogs are leashed.", "score": 1, "rank": 2}
{"qid": "2", "query": "Are bars better?", "docno": "d1", "text": "Cats hunt birds.", "score": 0.5, "rank": 1}
"""
ARGUMENTS = """{"arguments": [{"id": "S1-A1", "conclusion": "Cats should be leashed",
 "premises": [{"text": "They hunt birds.", "stance": "PRO", "annotations": []}],
 "context": {"sourceId": "S1", "aspects": [{"name": "animals", "weight": 0.5, "rank": 1}], "depth": null}},
 {"id": "S1-A2", "conclusion": "Cafés", "premises": [{"text": "Better than bars.", "stance": "CON"}]}]}
""".encode()
PROCESSED = """id,conclusion,premises,context,sentences
S1-A1,Leash cats,"[{'text': 'They ""hunt"". It\\'s', 'stance': 'PRO', 'annotations': []}]",{'a': 1},\
"[{'sent_id': 'S1-A1__CONC__1', 'sent_text': 'Leash'}, {'sent_id': 'S1-A1__PREMISE__1', 'sent_text': 'A'}]"
S1-A2,Cafés,"[{'text': 'Better than bars.', 'stance': 'CON', 'annotations': [1, None]}]",{},\
"[{'sent_id': 'S1-A2__CONC__1', 'sent_text': 'Cafés'}, {'sent_id': 'S1-A2__PREMISE__1', 'sent_text': 'B'}]"
""".encode()
HTML = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Cats and cafés</title>
<meta name="description" content="All about cats"><meta name="keywords" content="cats, bars"></head>
<body><nav><a href="/">Home</a></nav><h1>Cats</h1><p>Cats &amp; mice.</p><table><tr><td>1</td></tr></table>
<script>if (1 < 2) {}</script><svg><path d="M0 0"/></svg></body></html>
""".encode()
PAGES = b"id,file,url\np1,html/a.html,https://a.example/cats\np2,html/b.html,\n"
SPAM_RANKS = b"73 p1\np2 88\n99 clueweb12-0000tw-00-00000\n"
_JUDGED = ("001c9609___5", "014d8999___9", "048a3b9f___7")  # for topic 11 of spot-check/passages
RUN = b"".join(
    f"{topic} Q0 {document} {rank} {10 - rank / 2} a-tag\n".encode()
    for topic in (11, 12)
    for rank, document in enumerate([*(f"spotcheck-{id}" for id in _JUDGED), "d1", "d2", "d3"], 1)
)
QRELS = b"".join(
    f"11 0 spotcheck-{id} {label}\n".encode() for id, label in zip(_JUDGED, ("1", "-2", "2.0"), strict=True)
)
CARD = b"""id = "cats-2026"
title = "Cats"
url = "https://a.example"
topics = "cats.xml"
measure = "P(rel=2)@10"
excluded_topics = ["3"]
note = "Judged by cats."
qrels.relevance = { file = "cats.qrels", labels = [-2, 0, 1] }
corpora.full = { directory = "cats", ir_datasets = "argsme/2020-04-01", files = ["a.json"] }
rules = { unit = "argument", stances = ["Q0"], max_results = 1000, min_results = 50, max_runs = 5 }

[[published]]
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "cats.qrels"
sources = ["Table 1"]
runs = [{ team = "Tom", run = "Run 1", tag = "t", value = 0.5, interval = [0.4, 0.6], baseline = true }]
"""
EXPECTED = b"""[[score]]
dataset = "spot-check/passages"
dimension = "relevance"
measure = "nDCG@5"
evaluator = "trec_eval"
qrels = "spot-check-passages-relevance.qrels"
pinned = 0.5
tolerance = 0.0005
options = { k1 = 1.2, b = 0.5 }
"""
BASELINE = b'''"""Nothing but the length."""

from touche import Documents, Rankings, Topics, baseline


@baseline
def by_length(topics: Topics, documents: Documents, *, depth: int = 10, b: float = 0.5) -> Rankings:
    """Ranks documents by their length.

    depth: how many.
    """
    lengths = [(document.id, len(document.text) * b) for document in documents]
    for topic in topics:
        yield topic, sorted(lengths, key=lambda hit: -hit[1])[:depth]
'''
WARC = record("p1", HTML) + record("p2", b"<p>Leashed cats") + record("p3", b"GIF89a", kind="image/gif")
WARC_OF_CLUEWEB09 = b"".join(record(id, HTML, version="0.18", newline="\n") for id in ("p0", "p1"))
WARC_OF_CLUEWEB22 = record_of_clueweb22("p1", HTML) + record_of_clueweb22("p2", b"<p>Leashed cats")
_TEXT_OF_CLUEWEB22 = """{"URL": "https://a.example/\\n", "URL-hash": "0A", "Language": "en", \
"ClueWeb22-ID": "p1", "Clean-Text": "Cats\\nCafés are better than bars"}
""".encode()
TEXTS_OF_CLUEWEB22 = _TEXT_OF_CLUEWEB22 + _TEXT_OF_CLUEWEB22.replace(b"p1", b"p2")


def zip_of(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("README", "about")
        packed.writestr(f"folder/{name}", content)
    return out.getvalue()


def tar_of(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for path, raw in (("README", b"about"), (f"folder/{name}", content)):
            member = tarfile.TarInfo(path)
            member.size = len(raw)
            packed.addfile(member, io.BytesIO(raw))
    return out.getvalue()
