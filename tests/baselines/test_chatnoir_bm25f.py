"""ChatNoir's two queries on the spot check's pages, part by part against the formulas."""

import gzip
import json
import re
import tomllib
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import islice
from math import log
from pathlib import Path
from typing import Any

import pytest

from archives import record
from conftest import ROOT, Touche, Write
from neighbours import neighbour
from oracles.formulas import Collection, length_in_one_byte
from touche import baselines
from touche.collection.discovery import find_documents
from touche.data import places
from touche.formats.html_folder import read_pages_csv
from touche.formats.topics import Topic
from touche.lucene.analysis import analyzer_named, tokens
from touche.scan import reading
from touche.web.extraction import parse_as_in_2020
from touche.web.page import Page, RawPage, page_of

ranking, queries, webpages = (
    neighbour("chatnoir-bm25f", name) for name in ("ranking", "queries", "webpages")
)
ByLucene = neighbour("chatnoir-bm25f", "by_lucene").ByLucene

FOLDER = ROOT / "baselines" / "chatnoir-bm25f"
PAGES = ROOT / "corpora" / "spot-check-pages"
NUMBERS = tomllib.loads((FOLDER / "chatnoir.toml").read_text())
K1, B = 1.2, 0.75
FACTOR = 2.2  # of BM25 in Elasticsearch: k1 + 1


@cache
def method() -> Any:
    """The baseline's module."""
    return baselines.load("chatnoir-bm25f").method.__globals__


@cache
def pages(year: str) -> list[Page]:
    documents = places.open_dataset("spot-check/pages").documents
    return [
        page_of(each) for each in (documents.parsed_by(parse_as_in_2020) if year == "2020" else documents)
    ]


@cache
def terms(text: str, analyzer: str = "plural") -> list[str]:
    return tokens(analyzer_named(analyzer), text)


@cache
def collection(field: str, year: str, analyzer: str = "plural") -> Collection:
    text_of = webpages.text_of
    return Collection({page.id: Counter(terms(text_of(field, page), analyzer)) for page in pages(year)})


class Asked:
    """Pages that are asked by the scan and by Lucene, which answer alike."""

    def __init__(self, given: list[Page], titles: list[str], year: str, model: str = "fields") -> None:
        self.method = method()["Method"](NUMBERS[year], model, 1.0)
        topics = [Topic(str(number), title) for number, title in enumerate(titles)]
        asked = [self.method.asked(topic) for topic in topics]
        wanted = replace(self.method.wanted(topics, ""), queries=[queries.Everything()])
        scan = ranking.Collected.of(given, asked, wanted)
        lucene = ByLucene(given, self.method.analyses, asked, titles)
        passing = [page.id for page in given if webpages.filtered(page) == "passes"]
        self._pages = {id: (scan.page(id), lucene.page(id)) for id in passing}

    def parts(self, title: str) -> dict[str, Any]:
        """The parts of the sum, by name."""
        return self.method.parts(Topic("1", title))  # type: ignore[no-any-return]

    def score(self, query: Any, id: str) -> float:
        """The score of a page."""
        ours, theirs = (page.score(query) for page in self._pages[id])
        assert ours == theirs
        return ours  # type: ignore[no-any-return]

    def scores(self, query: Any) -> dict[str, float]:
        """The scores of all pages that the filters let pass."""
        return {id: self.score(query, id) for id in self._pages}


@cache
def index(year: str, model: str = "fields") -> Asked:
    titles = [topic.title for topic in places.open_dataset("spot-check/pages").topics]
    return Asked(pages(year), titles, year, model)


@pytest.mark.parametrize("year", ["2020", pytest.param("today", marks=pytest.mark.slow)])
def test_every_field_contributes_its_bm25(year: str) -> None:
    seen = 0
    for topic in places.open_dataset("spot-check/pages").topics[::3]:
        parts = index(year).parts(topic.title)
        for field, boost in NUMBERS[year]["boosts"].items():
            scores = index(year).scores(parts[field])
            analyzer = NUMBERS[year]["analyzers"].get(field, "plural")
            words, found = terms(topic.title, analyzer), collection(field, year, analyzer)
            for id, score in scores.items():
                expected = FACTOR * boost * found.bm25(words, id, K1, B)
                assert score == pytest.approx(expected, rel=1e-4, abs=1e-4)
                seen += expected > 0
    assert seen > 100


def test_bm25f_is_its_formula() -> None:
    weights = NUMBERS["bm25f"]
    fields = {field: collection(field, "2020") for field in weights}
    n = max(each.n for each in fields.values())
    average = sum(weights[field] * each.tokens for field, each in fields.items()) / n
    seen = 0
    for topic in places.open_dataset("spot-check/pages").topics:
        for term, query in index("2020", "bm25f").parts(topic.title).items():
            df = max(each.df[term] for each in fields.values())
            for id, score in index("2020", "bm25f").scores(query).items():
                tf = sum(weights[field] * each.documents[id][term] for field, each in fields.items())
                lengths = {f: length_in_one_byte(c.documents[id].total()) for f, c in fields.items()}
                length = length_in_one_byte(round(sum(weights[f] * lengths[f] for f in fields)))
                idf = terms(topic.title).count(term) * log(1 + (n - df + 0.5) / (df + 0.5))
                expected = idf * tf / (tf + K1 * (1 - B + B * length / average))
                assert score == pytest.approx(expected, rel=1e-4, abs=1e-4)
                seen += expected > 0
    assert seen > 350


def test_a_score_is_the_sum_of_its_parts() -> None:
    parts = index("2020").parts(places.open_dataset("spot-check/pages").topics[0].title).values()
    total = index("2020").scores(queries.Some(tuple(parts)))
    for page in ("duvet-lab", "duvet-forum", "duvet-day"):
        assert sum(index("2020").score(part, page) for part in parts) == pytest.approx(total[page], rel=1e-5)


def test_plurals_are_cut_before_accents_are_folded() -> None:
    assert terms("Menús, cafés and the CITIES") == ["menu", "cafe", "and", "the", "city"]


def small(*found: Page, **options: Any) -> list[str]:
    """The ids of the pages that are found for one title, best first."""
    title = options.pop("title", "cats sleep")
    ((_, hits),) = baselines.load("chatnoir-bm25f")([Topic("1", title)], found, **options)
    return [id for id, _ in sorted(hits, key=lambda hit: -hit[1])]


def cat(id: str, **fields: str) -> Page:
    """A page that all filters let pass."""
    body = f"{fields.pop('body', 'Cats sleep.')} {'and so on ' * 12}"
    empty = dict.fromkeys(("headings", "meta_description", "meta_keywords", "host", "path"), "")
    return Page(id, **(empty | {"title": "", "language": "en", "full_body": body} | fields), body=body)


def test_every_token_has_to_match_in_some_field() -> None:
    both = cat("both", body="A cat.", title="Sleep")
    assert small(both, cat("one", body="A cat."), cat("none", body="A dog.")) == ["both"]
    assert small(both, cat("one", body="A cat."), match="50%") == ["both", "one"]
    assert small(cat("half", body="cats"), title="cats sleep all day", match="30%") == ["half"]
    assert small(cat("half", body="cats"), title="cats sleep all day", match="50%") == []


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("cats, sleep???", {"a", "b"}),
        ('"cats sleep"', {"a"}),
        ('cats "sleep', {"a", "b"}),
        ("cats -like", {"a", "c"}),
        ("cats AND sleep", {"a", "b"}),
        ('cats AND sleep "', {"a", "b"}),
        ('like AND "cats and"', set()),
        ("dogs OR like", {"b", "c"}),
        ("dogs or like", set()),
        ('"sleep AND cats"', set()),
        ("(cats) ~ * sleep|dogs \\", {"a", "b", "c"}),
        ("???", set()),
        ("- + | \"", set()),
    ],
)  # fmt: skip
def test_a_title_is_read_as_somebody_s_query(title: str, found: set[str]) -> None:
    given = [
        cat("a", body="Cats sleep."),
        cat("b", body="Cats like to sleep."),
        cat("c", body="Dogs and cats bark."),
    ]
    assert set(small(*given, title=title)) == found


def test_what_is_not_wanted_earns_nothing() -> None:
    given = [cat("a", body="Cats sleep."), cat("b", body="Cats like to sleep."), cat("d", body="Dogs.")]
    assert small(*given, title="cats -like", match="50%") == ["a"]
    assert small(*given, title='cats -"sleep and" -like', match="50%") == []
    titles = ["cats -like", "cats"]
    found = Asked(given, titles, "2020")
    with_minus, without = (
        {name: found.scores(query) for name, query in found.parts(title).items()} for title in titles
    )
    assert with_minus == without


def test_pages_that_a_filter_stops() -> None:
    given = [
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
    assert set(small(*given)) == {"good", "passage", "title", "100"}


def test_bonuses() -> None:
    given = [
        cat("c", path="/x"),
        cat("b", path="/"),
        cat("a", host="en.wikipedia.org", path="/wiki/index.html"),
    ]
    assert small(*given) == ["a", "b", "c"]
    is_shallow, is_wikipedia = webpages.is_shallow, webpages.is_wikipedia
    paths = ("/", "/wiki/", "/index.php", "", "wiki/", "index.html", "/wiki/Cat", "/index.html/x", "/a")
    assert [is_shallow(cat("x", path=path)) for path in paths] == [True] * 3 + [False] * 6
    assert not is_shallow(Page("p", body="a passage")) and not is_wikipedia(Page("p", body="a passage"))
    hosts = ("en.wikipedia.org", "de.wikipedia.org", "wikipedia.org", "en.wikipedia.org.example")
    assert [is_wikipedia(cat("x", host=host)) for host in hosts] == [True, False, False, False]


@pytest.mark.parametrize("year", ["2020", "today"])
def test_a_host_is_searched_by_its_labels_and_a_path_is_not(year: str) -> None:
    there = cat("a", body="A cat.", host="www.sleep.example")
    others = [
        cat("path", body="A cat.", path="/sleep"),
        cat("part", body="A cat.", host="cat-sleep.example"),
        cat("stemmed", body="A cat.", host="sleeps.example"),
    ]
    given = [there, *others, cat("b", body="A cat sleeps.")]
    assert small(*given, year=year) == ["b", "a"]
    assert set(small(*given, year=year, model="bm25f")) == {"b", "a"}
    country = [cat("c", body="A cat.", host="cat.is"), cat("d", body="A cat.", host="travel.example")]
    assert small(*country, title="cat is travel", year=year) == []
    labels_of = webpages.labels_of
    assert labels_of("en.wool-beds.co.uk") == "wool_beds" and labels_of("") == ""


@pytest.mark.parametrize("year", ["2020", "today"])
def test_a_label_of_a_host_earns_its_idf(year: str) -> None:
    """Where hosts are of one length, 2.2 idf / (1 + 1.2); of 733 million pages that is 5 to 10 points."""
    given = [cat(str(n), host=f"{'beds' if n == 0 else 'wool'}.com") for n in range(9)]
    found = Asked(given, ["beds"], year)
    assert found.score(found.parts("beds")["host"], "0") == pytest.approx(log(1 + 8.5 / 1.5), rel=1e-5)


def test_keywords_of_2020_are_not_stemmed() -> None:
    title = "cats sleep"
    singular, plural = cat("1", meta_keywords="cat,dog"), cat("2", meta_keywords="dog,CATS mice")
    for year, expected in (("2020", [0, 1]), ("today", [1, 1])):
        found = Asked([singular, plural], [title, '"cats" nobody'], year)
        query = found.parts(title)["meta_keywords"]
        assert [found.score(query, each) > 0 for each in "12"] == expected
    only = [cat("3", body="Sleep.", meta_keywords="cats"), cat("4", body="Sleep.", meta_keywords="cat")]
    assert small(*only) == ["3"] and small(*only, year="today") == ["4", "3"]


def test_bm25f_sums_the_frequencies_of_singulars_and_plurals_in_keywords_too() -> None:
    given = [cat("a", meta_keywords="cats"), cat("b", meta_keywords="dogs")]
    assert small(*given, title="cats", model="bm25f") == ["a", "b"]
    assert small(*reversed(given), title="cats", model="bm25f") == ["a", "b"]
    with_ids_swapped = [cat("b", meta_keywords="cats"), cat("a", meta_keywords="dogs")]
    assert small(*with_ids_swapped, title="cats", model="bm25f") == ["b", "a"]


def test_pages_of_2020_are_those_of_its_indexer(write: Write, tmp_path: Any) -> None:
    """Which has headings without a blank between them, where today's tells words apart."""
    html = (
        "<title>Cats</title><h2>cats</h2><h2>sleep</h2>"
        + f"<p>{'They have been here for all of the night. ' * 9}</p>"
    )
    write("p.warc", record("p", html.encode()))
    given = find_documents(tmp_path)
    ((_, hits),) = baselines.load("chatnoir-bm25f")([Topic("1", "catssleep")], given)
    assert [id for id, _ in hits] == ["p"]
    ((_, hits),) = baselines.load("chatnoir-bm25f")([Topic("1", "catssleep")], given, year="today")
    assert [id for id, _ in hits] == []


@pytest.mark.parametrize("year", ["2020", "today"])
def test_phrases_and_bonuses_by_their_formulas(year: str) -> None:
    """A phrase counts 1 / (1 + places apart), and as rare as its words together; a bonus is what it is."""
    apart = {
        "Cats sleep.": 0,
        "Cats can sleep.": 1,
        "Sleep cats.": 2,
        "Cats may well sleep.": 2,
        "Cats in an hour sleep.": None,
    }
    given = [
        cat(str(n), title=text, body=text, host="en.wikipedia.org" * (n % 2), path="/x"[: 1 if n > 2 else 2])
        for n, text in enumerate(apart)
    ]
    found = Asked(given, ["cats sleep"], year)
    parts = found.parts("cats sleep")
    for field in ("title", "body"):
        words = Collection({page.id: Counter(terms(getattr(page, field) or "")) for page in given})
        for page, gaps in zip(given, apart.values(), strict=True):
            count = 0 if gaps is None else 1 / (1 + gaps)
            idf = sum(
                log(1 + (words.n - words.df[term] + 0.5) / (words.df[term] + 0.5))
                for term in terms("cats sleep")
            )
            weight = FACTOR * {"title": 15, "body": 10}[field]
            expected = weight * idf * words.saturation(count, page.id, K1, B)
            assert found.score(parts[f"phrase in {field}"], page.id) == pytest.approx(expected, rel=1e-4)
    wikipedia, shallow = {"2020": (50, 1), "today": (30, 70)}[year]
    assert [found.score(parts["wikipedia"], str(n)) for n in range(5)] == [0, wikipedia, 0, wikipedia, 0]
    assert [found.score(parts["shallow"], str(n)) for n in range(5)] == [0, 0, 0, shallow, shallow]
    matched = found.scores(found.method.first(Topic("1", "cats sleep")))
    assert (matched["1"] > 50 and matched["3"] > 50) == (year == "today") and matched["4"] < 50


def test_a_score_of_today_has_a_hundredth_of_the_first_query() -> None:
    hits = [ranking.Hit(3.0, "duvet-lab", 7.0, ""), ranking.Hit(5.0, "duvet-forum", 2.0, "")]
    for year, part in (("2020", 0.0), ("today", 0.01)):
        scores = {hit.id: score for hit, score in method()["scored"](hits, NUMBERS[year])}
        expected = {hit.id: part * hit.first + (1 - part) * hit.second for hit in hits}
        assert scores == pytest.approx(expected)


def test_in_the_second_query_of_today_a_third_of_the_tokens_must_match(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [cat("one", body="Cats."), cat("two", body="Cats sleep.")]
    title = "cats sleep well today under beds near sofas"
    for year, again in (("2020", True), ("today", False)):
        ((_, hits),) = baselines.load("chatnoir-bm25f")(
            [Topic("1", title)], given, match="1%", year=year, explain=("1", "one")
        )
        lines = capsys.readouterr().out.splitlines()[1:]
        assert total_of(lines) == pytest.approx(dict(hits)["one"], rel=1e-4, abs=1e-5)
        assert (total_of(lines[1:]) > 0) == again


def test_a_phrase_may_have_two_other_words_in_it() -> None:
    near, far = cat("z", body="Cats can sleep."), cat("a", body="Cats that are here sleep well and so on.")
    assert small(cat("y", body="Sleep? A cat dreams, it is said."), near, far)[0] == "z"


def test_pages_of_a_host_are_shown_together() -> None:
    hosts = [cat(f"{n:02}", host=f"{'ab'[n % 2]}.example", body="cats sleep " * (20 - n)) for n in range(12)]
    plain = small(*hosts)
    assert small(*hosts, group_by_host=True) == [*plain[0:10:2], *plain[1:10:2], plain[10], plain[11]]


def total_of(lines: list[str]) -> float:
    return sum(float(line[20:].split(" x ")[0]) * float(line.split(" x ")[1]) for line in lines)


def test_spam_and_explanation(touche: Touche, write: Write, tmp_path: Any) -> None:
    command = ("run", "chatnoir-bm25f", "-i", "spot-check/pages", "-o", tmp_path / "a")
    code, out, err = touche(*command, "--explain", "21", "duvet-lab")
    assert (
        code == 0 and "2 of 64 pages were left out: 2 without readable text; the first is heap-frame" in err
    )
    known, *lines = out.splitlines()
    assert re.fullmatch(r"duvet-lab: matches \(spam rank \d\d\.0, page rank unknown\)", known)
    assert [line.split()[0] for line in (lines[0], lines[1], lines[-1])] == ["first", "title", "shallow"]
    run = (tmp_path / "a" / "run.txt").read_text()
    total = next(float(line.split()[4]) for line in run.splitlines() if " duvet-lab " in line)
    assert total_of(lines) == pytest.approx(total, rel=1e-4)
    _, out, _ = touche(*command, "--explain", "21", "duvet-lab", "--year", "today")
    today = (tmp_path / "a" / "run.txt").read_text()
    total = next(float(line.split()[4]) for line in today.splitlines() if " duvet-lab " in line)
    assert total_of(out.splitlines()[1:]) == pytest.approx(total, rel=1e-4)
    assert "duvet-de: is in another language (spam" in touche(*command, "--explain", "21", "duvet-de")[1]
    assert "of 62 pages the filters leave out 7 in another language\n" in err
    assert "of 26 pages that match a title the filters leave out 1 with a bad spam rank" in err
    assert (
        "duvet-shop: does not match (spam rank 41.0" in touche(*command, "--explain", "21", "duvet-shop")[1]
    )
    assert "explain = 9 a: there is no topic 9" in touche(*command, "--explain", "9", "a")[2]
    assert "there is no page heap-frame, or it could" in touche(*command, "--explain", "21", "heap-frame")[2]
    assert "print-shop" not in run
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "topics.xml").write_bytes((ROOT / "topics" / "spot-check-pages.xml").read_bytes())
    folder = ROOT / "corpora" / "spot-check-pages"
    for each in folder.rglob("*.html"):
        write(f"in/html/{each.name}", each.read_bytes())
    write("in/pages.csv", (folder / "pages.csv").read_bytes())
    _, _, err = touche("run", "chatnoir-bm25f", "-i", tmp_path / "in", "-o", tmp_path / "b")
    assert "of 62 pages the spam rank of 62 are missing, so that they pass the filter" in err
    assert "print-shop" in (tmp_path / "b" / "run.txt").read_text()


@pytest.mark.parametrize(
    "options",
    [
        [],
        pytest.param(["--year", "today", "--match", "30%"], marks=pytest.mark.slow),
        pytest.param(["--model", "bm25f", "--match", "50%", "--depth", "9"], marks=pytest.mark.slow),
        pytest.param(["--match", "30%", "--group-by-host"], marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_lucene_ranks_tells_and_explains_the_same(touche: Touche, tmp_path: Path, options: list[str]) -> None:
    def ranked(engine: str, page: str) -> tuple[str, str, list[list[str]]]:
        out = tmp_path / engine
        command = ("run", "chatnoir-bm25f", "-i", "spot-check/pages", "-o", out, "--engine", engine)
        _, told, err = touche(*command, *options, "--explain", "21", page)
        lines = (out / "run.txt").read_text().splitlines()
        return told, err.partition("chatnoir-bm25f: wrote")[0], [line.split()[:5] for line in lines]

    for page in ("duvet-lab", "duvet-de", "duvet-shop"):
        assert ranked("scan", page) == ranked("lucene", page)


def test_spam_ranks_beside_candidates_count(touche: Touche, write: Write, tmp_path: Any) -> None:
    lines = [f'{{"qid": "1", "query": "cat", "docno": "p{n}", "text": "{"a cat " * 20}"}}\n' for n in (1, 2)]
    write("in/rerank.jsonl", "".join(lines))
    write("in/spam-ranks.txt", "10 p1\n90 p2\n")
    code, _, err = touche("run", "chatnoir-bm25f", "-i", tmp_path / "in", "-o", tmp_path)
    assert code == 0 and "of 2 pages that match a title the filters leave out 1 with a bad spam rank" in err
    assert [line.split()[2] for line in (tmp_path / "run.txt").read_text().splitlines()] == ["p2"]


def test_what_is_missing_of_passages_is_told(touche: Touche, tmp_path: Any) -> None:
    _, _, err = touche("run", "chatnoir-bm25f", "-i", "spot-check/passages", "-o", tmp_path, "--match", "30%")
    assert "of 100 pages the language of 100 and the spam rank of 100 are missing, so that they" in err


def test_a_share_without_a_meaning_is_refused(touche: Touche, tmp_path: Any) -> None:
    for value in ("0%", "101%", "some", "30", ""):
        command = ("run", "chatnoir-bm25f", "-i", "spot-check/passages", "-o", tmp_path, "--match", value)
        assert f"match = {value}: write all, or a share from 1% to 100%" in touche(*command)[2]


def test_the_pages_are_ranked_the_same_from_archives(touche: Touche, write: Write, tmp_path: Any) -> None:
    """Packed by the test, half of them gzipped."""
    found = [each for each in read_pages_csv(PAGES / "pages.csv") if isinstance(each, RawPage)]
    for number, part in enumerate((found[:30], found[30:])):
        records = [record(page.id, page.content, url=page.url, charset="") for page in part]
        content = b"".join(gzip.compress(each) if number else each for each in records)
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{number}.warc{'.gz' * number}").write_bytes(content)
    for name in ("topics/spot-check-pages.xml", "corpora/spot-check-pages/spam-ranks.txt"):
        target = "topics.xml" if "topics" in name else "spam-ranks.txt"
        (tmp_path / "in" / target).write_bytes((ROOT / name).read_bytes())
    _, _, err = touche("run", "chatnoir-bm25f", "-i", tmp_path / "in", "-o", tmp_path / "archives")
    assert "4 topics from topics.xml, web pages from 0.warc, 1.warc.gz" in err
    touche("run", "chatnoir-bm25f", "-i", "spot-check/pages", "-o", tmp_path / "folder")
    one, other = ((tmp_path / name / "run.txt").read_text() for name in ("archives", "folder"))
    assert one == other


@pytest.mark.parametrize("size", [pytest.param(3, marks=pytest.mark.slow), 40, 1000])
def test_the_best_of_the_first_query_are_the_same_for_any_number_of_parts(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Of pages that score the same, too, as all do here that lie in two parts."""
    monkeypatch.setattr(reading, "_BATCH", size)
    monkeypatch.setattr(reading, "_TOGETHER", size)
    twice = [replace(page, id=f"{page.id}-{n}") for n in range(2) for page in pages("2020")]
    topics = places.open_dataset("spot-check/pages").topics
    asking = method()["Method"](NUMBERS["2020"], "fields", 0.3)
    asked = [asking.asked(topic) for topic in topics]
    found = ranking.Collected.of(twice, asked, asking.wanted(topics, ""))
    assert len(found.parts.parts) == -(-len(twice) // size)
    lucene = ByLucene(twice, asking.analyses, asked, [topic.title for topic in topics])
    for window in (1, 4, 1000):
        assert [*map(list, found.best(frozenset(), window))] == list(lucene.best([], window))


def test_a_piece_without_a_page_is_read_as_any_other() -> None:
    """Such as one of blank lines: an error would have one process read all pages again."""
    wanted = method()["Method"](NUMBERS["2020"], "fields", 1.0).wanted([Topic("1", "cats")], "p1")
    with wanted.reading().begin() as maker:
        assert maker.part([]).pages.ids == [] and maker.part([cat("p1")]).pages.ids == ["p1"]


def test_a_part_of_the_pages_is_scored_by_the_statistics_of_all(
    touche: Touche, write: Write, tmp_path: Path
) -> None:
    texts = ["cats sleep", "a cat may sleep", "dogs bark", "cats and dogs sleep", "mice"]
    lines = [
        json.dumps({"docno": f"p{n}", "title": text, "body": f"{text}. {'and so on ' * 12}"}) + "\n"
        for n, text in enumerate(texts)
    ]
    for folder, some in (("all", lines), ("part", lines[:2])):
        write(f"{folder}/documents.jsonl", "".join(some))
        write(f"{folder}/queries.jsonl", '{"qid": "1", "query": "cats sleep"}\n')
    command, file = ("run", "chatnoir-bm25f", "-o", tmp_path / "out"), tmp_path / "statistics.json"

    def scores(folder: str, *options: object) -> dict[str, str]:
        assert touche(*command, "-i", tmp_path / folder, *map(str, options))[0] == 0
        lines = (tmp_path / "out" / "run.txt").read_text().splitlines()
        return {line.split()[2]: line.split()[4] for line in lines}

    known = scores("all", "--keep-statistics", file)
    assert scores("part", "--statistics", file) == {id: known[id] for id in ("p0", "p1")}
    assert scores("part") != {id: known[id] for id in ("p0", "p1")}


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="mappings are read from /proc")
@pytest.mark.parametrize("topics", [4, 1], ids=["all-topics", "abandoned"])
def test_a_run_by_lucene_closes_its_index(topics: int) -> None:
    """A mapping of a deleted file would stay in memory until the process ends."""

    def mapped() -> int:
        return Path("/proc/self/maps").read_text("utf-8").count("(deleted)")

    dataset = places.open_dataset("spot-check/pages")
    before = mapped()
    for _ in range(2):
        run = baselines.load("chatnoir-bm25f")(dataset.topics, dataset.documents, engine="lucene")
        assert len(list(islice(run, topics))) == topics
        run.close()
    assert mapped() <= before
