"""The report: what is in it, and how it behaves in a real browser."""

import gzip
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from math import log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from conftest import ROOT, Touche, Write
from spotcheck import BEST, QRELS, made_up, run_of, run_text
from touche import tasks
from touche.errors import ToucheError
from touche.evaluation.scores import evaluate
from touche.formats.documents import Argument, Document, Sentence
from touche.report import Page, Part, plots
from touche.report import part_of as part_of_evaluated
from touche.report import write as write_page
from touche.report.page import _digits
from touche.report.rendering import FILE
from touche.report.texts import Passage, passage, terms_of, texts_of
from touche.tasks import Corpus, Published, Task
from touche.web.page import Page as WebPage

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)
SECOND = 1 / log2(3)  # the only relevant document at rank 2


def part_of(paths: list[Path], dataset: str, reference: str | None = None) -> Part:
    return part_of_evaluated(evaluate(paths, tasks.task(dataset)), dataset, reference)


def published(name: str, value: float, **others: Any) -> Published:
    known: dict[str, Any] = {
        "task": "made-up", "dimension": "relevance", "measure": "nDCG@5", "team": name, "run": "", "tag": "",
        "value": value, "low": None, "high": None, "baseline": False, "evaluator": None, "qrels": None,
        "sources": ("table 1",),
    }  # fmt: skip
    return Published(**known | others)


def make_task(
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    rows: Iterable[Published],
    topics: str = "1234",
    **others: str,
) -> Task:
    """A made-up task with these published results, whose relevant document is always a."""
    task = made_up(write, monkeypatch, topics, relevance="a", **others)
    task = replace(task, published=tuple(rows), corpora={"full": Corpus("nowhere")})
    monkeypatch.setattr(tasks, "task", lambda _: task)
    monkeypatch.setattr(tasks, "datasets", dict)
    monkeypatch.setattr("touche.regression.reruns.published_scores", list)  # those of tasks that there are
    return task


@pytest.fixture
def part(write: Write, monkeypatch: pytest.MonkeyPatch) -> Part:
    """Two runs of a made-up task with two dimensions: of four topics the first wins two and loses none."""
    rows = (
        published("Zorro", 0.95, low=0.9, high=1.0),
        published("Boots", 0.75, baseline=True, evaluator="trec_eval"),
        published("Other", 0.5, dimension="quality", evaluator="touche"),
    )
    make_task(write, monkeypatch, rows, quality="b")
    first = write("first.txt", run_of("1 a b", "2 a b", "3 a b", "4 b x", tag="first"))
    second = write("second.txt", run_of("1 b a", "2 b a", "3 a b", "4 b x", tag="second"))
    return part_of([first, second], "made-up")


def test_given_runs_stand_among_what_they_may_be_compared_with(part: Part) -> None:
    boards = {
        view.id: [(place.name, place.kind, pytest.approx(place.value)) for place in view.board]
        for view in part.views
    }
    first, second = ("first", "given", 3 / 4), ("second", "given", (2 * SECOND + 1) / 4)
    zorro, boots = ("Zorro", "published", 0.95), ("Boots", "baseline", 0.75)
    assert boards["relevance-trec_eval"] == [zorro, first, boots, second]
    assert boards["relevance-touche"] == [zorro, first, second]
    assert [name for name, _, _ in boards["quality-touche"]] == ["second", "first", "Other"]
    assert [name for name, _, _ in boards["quality-trec_eval"]] == ["second", "first"]
    assert part.views[0].id == "relevance-trec_eval"  # the one with most to compare with
    place = part.views[0].board[0]
    assert (place.low, place.high, place.judged, place.source) == (0.9, 1.0, None, "table 1")
    assert [place.judged for place in part.views[0].board if place.kind == "given"] == [7 / 8, 7 / 8]


def test_places_are_those_of_the_printed_digits(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """0.8155 is 0.815 or 0.816 in print: level with what is printed so, though a little more."""
    value = (1 + 1 + 1 + SECOND + SECOND) / 5
    rows = [published(name, round(value, 3)) for name in ("A", "B")]
    make_task(write, monkeypatch, [*rows, published("C", 0.1)], topics="12345")
    run = write("run.txt", run_of("1 a", "2 a", "3 a", "4 b a", "5 b a"))
    view = part_of([run], "made-up").views[0]
    assert [place.number for place in view.board] == [1, 1, 1, 3]  # those of published runs among these


def test_a_given_run_that_is_a_published_one_stands_on_the_board_once(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables print tags without quotes, or a part of them; with another value it is another run."""
    rows = [published("Zorro", 1.0, tag="mask"), published("Boots", 0.9, tag="cat", baseline=True)]
    make_task(write, monkeypatch, rows)
    runs = [
        write(f"{n}.txt", run_of("1 a", "2 a", "3 a", f"4 {last} a", tag=tag))
        for n, (tag, last) in enumerate([('"Mask-2021"', ""), ("cat", "b")])
    ]
    part = part_of(runs, "made-up")
    board = [(place.number, place.name, place.kind, place.team) for place in part.views[0].board]
    assert board == [
        (1, '"Mask-2021"', "given", "Zorro"),
        (2, "cat", "given", ""),
        (2, "Boots", "baseline", ""),
    ]
    assert part.reference == "cat"  # the task's baseline by its tag, though not the best
    assert part_of(runs, "made-up", str(runs[0])).reference == '"Mask-2021"'
    with pytest.raises(ToucheError, match="there is no run 'cta' to refer to; choose among"):
        part_of(runs, "made-up", "cta")


def test_a_rerun_of_a_baseline_is_the_reference(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """``touche run`` names runs by its baselines, not as the organizers named theirs."""
    task = tasks.task("touche-2022-task-2")
    for judgments in task.qrels.values():
        folder = write(f"data/qrels/{judgments.file}", "2 0 a 2\n3 0 a 1\n").parents[1]
    monkeypatch.setenv("TOUCHE_DATA", str(folder))
    best = write("best.txt", run_of("2 a", "3 a", tag="best"))
    for tag, reference in {"touche-bm25": "touche-bm25", "touche-bm25-k1=2.0": "best"}.items():
        run = write("run.txt", run_of("2 b a", "3 b a", tag=tag))
        assert part_of([best, run], task.id).reference == reference


def test_of_many_runs_the_best_of_each_team_stand_out_and_all_can_be_opened(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    note = "These are 90% intervals."
    rows = [
        *(published("Zorro", 0.9 - n / 100, tag=f"mask{n}", low=0.2, high=1.0) for n in range(30)),
        published("Boots", 0.5, baseline=True, tag="cat", low=0.4, high=0.6, interval_note=note),
        published("Boots", 0.4, baseline=True, tag="api"),
    ]
    make_task(write, monkeypatch, rows)
    part = part_of([write("run.txt", run_of("1 a", "2 a", "3 a", "4 b"))], "made-up")
    view = part.views[0]
    assert len(view.board) == 33
    places = [(place.number, place.name, place.tag) for place in view.listed]
    assert places == [
        (1, "Zorro", "mask0"),
        (16, "t", ""),
        (31, "Boots (cat)", "cat"),
        (32, "Boots (api)", "api"),
    ]
    assert view.notes_on_intervals == [note]
    html = write_page(Page("Title", "touche report", [part]), tmp_path / "out").read_text()
    assert (
        "all 33 runs, not the best of each team alone" in html
        and html.count('class="published other"') == 2 * 29
    )
    assert f"* {note}" in html and "0.400 to 0.600*" in html and "0.200 to 1.000<" in html
    svg = (tmp_path / "out" / "made-up-relevance-trec_eval-intervals.svg").read_text()
    assert svg.count(">Zorro<") == 1 and ">not a 95% interval<" in svg and ">Boots (api)<" in svg


def test_a_report_names_the_measure_of_its_task(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    task = replace(make_task(write, monkeypatch, []), measure=tasks.measure_of("nDCG@10"))
    monkeypatch.setattr(tasks, "task", lambda _: task)
    part = part_of([write("run.txt", run_of("1 b c d e x y a", "2 a", "3 a", "4 a"))], "made-up")
    assert len(part.topics[0].found) == 7  # not five
    html = write_page(Page("Title", "touche report", [part]), tmp_path / "out").read_text()
    assert "means of nDCG@10 over topics" in html and "The first 10 results of each topic" in html
    assert "Judged@10" in html and "Judged@5" not in html and html.count("nDCG@5") == 2  # by depth


def test_what_is_unjudged_or_missing_is_marked(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    make_task(write, monkeypatch, [])
    runs = {
        "whole": run_of("1 a", "2 a", "3 a", "4 a", tag="whole"),
        "holes": run_of("1 a x", "2 a", "3 a", "4 a", tag="holes"),
        "missing": run_of("1 a", "2 a", "3 a", tag="missing"),
    }
    part = part_of([write(f"{name}.txt", text) for name, text in runs.items()], "made-up")
    assert {place.name: place.doubtful for place in part.views[0].board} == {
        "whole": False,
        "holes": True,
        "missing": True,
    }


def test_where_the_evaluators_see_other_results_both_are_shown(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(write, monkeypatch, [])
    ties = "".join(f"1 Q0 {id} {rank} 1 t\n" for rank, id in enumerate("ab", 1))
    part = part_of([write("run.txt", ties + run_of("2 a b"))], "made-up")
    places = {
        (topic.number, each.document): [(place.rank, place.other) for place in each.places]
        for topic in part.topics
        for each in topic.found
    }
    assert places == {
        ("1", "b"): [(1, 2)],  # by trec_eval, and by touche
        ("1", "a"): [(2, 1)],
        ("2", "a"): [(1, None)],
        ("2", "b"): [(2, None)],
    }


def test_runs_without_common_topics_do_not_cost_the_report(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(write, monkeypatch, [])
    runs = [write(f"{n}.txt", run_of(f"{n} a b", tag=f"t{n}")) for n in (1, 2)]
    part = part_of(runs, "made-up")
    assert any(
        text.startswith("t1 and t2 are not compared in relevance by touche: ") for text in part.warnings
    )
    assert {view.evaluator: len(view.comparisons) for view in part.views} == {"trec_eval": 1, "touche": 0}


def test_a_part_of_the_corpus_is_said_to_be_one(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    task = make_task(write, monkeypatch, [published("Zorro", 0.9)])
    sample = Corpus("sample")
    monkeypatch.setattr(tasks, "datasets", lambda: {"made-up/sample": (task, sample)})
    monkeypatch.setattr(tasks, "dataset", lambda _: (task, sample))
    run = write("run.txt", run_of("1 a", "2 a", "3 a", "4 a"))
    assert (
        part_of([run], "made-up/sample").warnings[0].startswith("published results are on the whole corpus")
    )
    assert part_of([run], "made-up").warnings == []


def test_topics_and_comparisons(part: Part) -> None:
    view = part.views[0]
    assert (view.runs, view.topics) == (["first", "second"], ["1", "2", "3", "4"])
    assert [view.spread(topic) for topic in view.topics] == pytest.approx([1 - SECOND, 1 - SECOND, 0, 0])
    (compared,) = view.comparisons
    assert (compared.run_a, compared.won, compared.lost, compared.tied) == ("first", 2, 0, 2)
    assert len(view.qrels_md5) == 32 and view.qrels == "made-up-relevance.qrels"


def test_each_document_stands_once_with_its_labels_and_its_place_in_every_run(part: Part) -> None:
    second = [
        (each.document, [(p.run, p.rank, p.score) for p in each.places]) for each in part.topics[1].found
    ]
    assert second == [
        ("a", [("first", 1, -1.0), ("second", 2, -2.0)]),
        ("b", [("first", 2, -2.0), ("second", 1, -1.0)]),
    ]
    labels = [(each.document, each.labels) for each in part.topics[3].found]
    assert labels == [("b", {"relevance": 0, "quality": 1}), ("x", {"relevance": None, "quality": None})]
    assert part.missing_texts == "Texts are not shown, as corpora/nowhere is not at hand."


def test_depths_and_winners(part: Part) -> None:
    by_depth = {each.cutoff: each.means for each in part.views[0].depths}
    assert by_depth[1] == pytest.approx({"first": 3 / 4, "second": 1 / 4})
    assert by_depth[3] == pytest.approx({"first": 3 / 4, "second": (2 * SECOND + 1) / 4})
    assert part.winners == (
        "None of these 2 runs has the highest mean throughout: first in relevance (trec_eval), "
        "relevance (touche); second in quality (touche), quality (trec_eval)."
    )
    assert part.by_mean_place("touche") == ["first", "second"] and part.mean_place("second", "touche") == 1.5
    assert (part.reference, part.letters) == ("first", {"first": "A", "second": "B"})


def test_texts_of_documents_and_of_sentences() -> None:
    sentences = (Sentence("A__CONC__1", "Cats."), Sentence("A__PREMISE__1", "They purr."))
    argument = Argument("A", "Cats.", ("They purr.",), sentences=sentences)
    collection = [argument, Document("d", "dogs"), WebPage("e", title="Eels", body="swim")]
    premise, conclusion = ("premise", "They purr."), ("conclusion", "Cats.")
    assert texts_of({"d", "A__PREMISE__1"}, collection) == {"d": [("", "dogs")], "A__PREMISE__1": [premise]}
    assert texts_of({"A", "z", "A__CONC__1"}, collection) == {
        "A": [conclusion, premise],
        "A__CONC__1": [conclusion],
    }
    assert texts_of({"e"}, collection) == {"e": [("title", "Eels"), ("", "swim")]}

    def endless() -> Iterator[Document]:
        while True:
            yield Document("d", "dogs")

    assert texts_of({"d"}, endless()) == {"d": [("", "dogs")]}


def read(shown: Passage) -> str:
    return "".join(f"[{piece}]" if marked else piece for piece, marked in shown.pieces)


def test_terms_are_marked_by_their_stems() -> None:
    terms = terms_of("Should abortions be legal?")
    assert read(passage("", "Abortion,  if ABORTED\nlegally, is\ud800legal.", terms)) == (
        "[Abortion], if [ABORTED] [legally], is?[legal]."
    )


def test_a_long_text_is_shown_where_most_terms_are() -> None:
    text = "cats " + "word " * 500 + "cats dogs dogs " + "word " * 500
    shown = read(passage("", text, terms_of("cats dogs")))
    assert shown.startswith("… word ") and " [cats] [dogs] [dogs] word" in shown and shown.endswith("word …")
    assert len(shown) < 480
    assert len(read(passage("", "x" * 2000, frozenset()))) == 450 + len(" …")


@given(st.text(max_size=1500), st.text(max_size=30))
def test_what_is_shown_of_a_text_is_a_part_of_it(text: str, title: str) -> None:
    pieces = passage("", text, terms_of(title)).pieces
    plain = "".join(piece for piece, _ in pieces).removeprefix("… ").removesuffix(" …")
    assert plain in " ".join(text.encode("utf-8", "replace").decode().split())
    assert all(terms_of(piece) <= terms_of(title) for piece, marked in pieces if marked)


def test_the_page_and_its_plots_are_the_same_every_time(part: Part, tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_page(Page("Title", "touche report", [part]), tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(files) == 1 + 4 * 2  # views, and formats of the plot of each
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    svg = (tmp_path / "one" / "made-up-relevance-trec_eval-intervals.svg").read_text()
    assert ">Zorro<" in svg and ">first<" in svg


def test_what_strangers_write_is_text(touche: Touche, write: Write, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>$x^$\"'&amp;"
    run = write("a&b.txt", run_text(tag=hostile) + "11 Q0 <img/onerror=1> 9 0 " + hostile)
    code, out, _ = touche("report", run, "--task", "spot-check/passages", "-o", tmp_path / "out")
    assert (code, out) == (0, f"{tmp_path}/out/index.html\n")
    html = (tmp_path / "out" / "index.html").read_text()
    assert html.count("<script") == 1 and "<img" not in html and "a&amp;b.txt" in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;$x^$" in html


def test_a_dollar_in_a_tag_is_a_dollar_in_plots(part: Part, tmp_path: Path) -> None:
    r"""Matplotlib takes what stands between two for a formula, and \foo for an error in it."""
    board = [replace(place, name=rf"$\foo${place.name}") for place in part.views[0].listed]
    plots.save(plots.intervals(board, r"$\bar$"), tmp_path / "plot")
    svg = (tmp_path / "plot.svg").read_text()
    assert all(f">{text}<" in svg for text in (r"$\foo$first", r"$\foo$second", r"$\foo$Zorro", r"$\bar$"))


def test_nothing_is_printed_as_minus_zero() -> None:
    assert [_digits(value, sign="+") for value in (-0.0004, -0.0006)] == ["+0.000", "−0.001"]


def test_what_is_significant_is_said_of_the_run_beside_it(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    topics = "12345678"
    make_task(write, monkeypatch, [], topics)
    of_tags = {"best": "a", "mid&dle": "b a", "worst": "b c d a"}
    odd = {"best": "b a", "mid&dle": "b c a", "worst": "b c d e a"}  # no two always as far apart
    runs = [
        write(
            f"{n}.txt",
            run_of(*(f"{topic} {(odd if topic == '1' else of_tags)[tag]}" for topic in topics), tag=tag),
        )
        for n, tag in enumerate(of_tags)
    ]
    html = write_page(Page("Title", "", [part_of(runs, "made-up", "mid&dle")]), tmp_path / "out").read_text()
    told = re.findall('title="significantly (.*?)"', html)
    assert set(told) == {
        "above the reference",
        "below the reference",
        "above mid&amp;dle",
        "above worst",
    }


def test_one_run_needs_no_comparison(touche: Touche, write: Write, tmp_path: Path) -> None:
    run = write("run.txt", run_text(["11", "12"]))
    code, _, err = touche("report", run, "--task", "spot-check/passages", "-o", tmp_path / "out")
    html = (tmp_path / "out" / "index.html").read_text()
    assert (code, err) == (0, "")
    assert (
        "Run against run" not in html
        and "spread" not in html.partition("<script>")[0].partition("</style>")[2]
    )
    assert "the run has no results for topics 13, 14" in html
    assert f"touche report {run} --task spot-check/passages" in html


def test_faults_are_one_line(touche: Touche, write: Write, tmp_path: Path) -> None:
    run = write("run.txt", run_text())
    write("file", "")
    command = ("report", run, "--task", "spot-check/passages", "-o")
    code, _, err = touche(*command, tmp_path / "file" / "out")
    assert code == 2 and "cannot be made (Not a directory); choose another directory" in err
    assert "is given twice" in touche(*command[:2], run, *command[2:], tmp_path / "out")[2]
    assert not (tmp_path / "out").exists()


def test_a_regression_reports_on_every_dataset(touche: Touche, tmp_path: Path) -> None:
    code, out, _ = touche(
        "regress", "bm25", "tfidf", "--dataset", "spot-check/passages", "--report", tmp_path / "out"
    )
    assert code == 0 and out.endswith(f"{tmp_path}/out/index.html\n")
    html = (tmp_path / "out" / "index.html").read_text()
    assert ">6 passed<" in html and ">tfidf --variant classic<" in html
    assert 'href="spot-check--passages.html"' in html and "s of a processor" in html
    assert "tfidf-variant-classic.txt" in (tmp_path / "out" / "spot-check--passages.html").read_text()
    runs = tmp_path / "out" / "runs" / "spot-check-passages"
    assert sorted(path.name for path in runs.iterdir()) == [
        "bm25.txt",
        "tfidf-variant-classic.txt",
        "tfidf.txt",
    ]


def test_a_regression_that_fails_has_its_report(
    touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if a part of it cannot be made; and it is known beforehand where it goes."""
    baseline = tmp_path / "odd"
    baseline.mkdir()
    (baseline / "baseline.py").write_text(
        "from touche import baseline\n\n@baseline\ndef odd(topics, documents):\n"
        "    yield topics[0], [('nothing', 1.0)]\n"
    )
    (baseline / "expected.toml").write_text(
        '[[score]]\ndataset = "spot-check/passages"\ndimension = "relevance"\nevaluator = "trec_eval"\n'
        'qrels = "spot-check-passages-relevance.qrels"\npinned = 0.5\ntolerance = 0.1\n'
    )
    code, _, _ = touche("regress", baseline, "--report", tmp_path / "out")
    html = (tmp_path / "out" / "index.html").read_text()
    dataset = (tmp_path / "out" / "spot-check--passages.html").read_text()
    assert code == 1 and ">too low<" in html and "nothing of the top 5 is judged" in dataset
    (tmp_path / "file").write_text("")
    _, _, err = touche("regress", baseline, "--report", tmp_path / "file" / "out")
    assert err.startswith(f"touche: {tmp_path}/file/out: cannot be made (Not a directory)")


COLOURS = re.compile(r"--(\w+): (#[0-9a-f]{3,6})")


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def mixed(colour: str, other: str, share: float) -> str:
    ours, theirs = (
        [int(each[at : at + 2], 16) for at in (1, 3, 5)]
        for each in (
            f"#{''.join(2 * digit for digit in each[1:])}" if len(each) == 4 else each
            for each in (colour, other)
        )
    )
    return "#" + "".join(
        f"{round(share * a + (1 - share) * b):02x}" for a, b in zip(ours, theirs, strict=True)
    )


GROUNDS = ("paper", "band", "given")


def test_text_can_be_read_on_every_ground() -> None:
    """The contrast that WCAG 2 asks for at level AA, in the light and in the dark."""
    css = (ROOT / "src/touche/report/templates/style.css").read_text()
    for block in re.findall(r":root \{(.*?)\}", css, flags=re.DOTALL)[:2]:
        colours = dict(COLOURS.findall(block))
        strongest = mixed(colours["blue"], colours["paper"], 0.65)  # of the heat map
        pairs = [(text, ground) for text in ("ink", "quiet", "accent", "good", "bad") for ground in GROUNDS]
        for text, ground in [*pairs, ("ink", "marked"), ("ink", "heat")]:
            on = strongest if ground == "heat" else colours[ground]
            dark, light = sorted(map(luminance, (colours[text], on)))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


@pytest.fixture
def browse() -> Iterator[Callable[[Path], Tab]]:
    """Opens pages in Chromium; at the end nothing was complained of, and nothing fetched."""
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs Chromium: apt-get install chromium")
    heard: list[str] = []
    known = ["data:,"]
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)

        def opened(path: Path) -> Tab:
            known.extend(each.as_uri() for each in path.parent.glob("*.html"))
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.on("console", lambda message: heard.append(message.text))
            page.on("pageerror", lambda error: heard.append(str(error)))
            page.on("request", lambda request: heard.append(request.url))
            page.goto(path.as_uri())
            return page

        yield opened
        browser.close()
    assert [line for line in heard if line not in known] == []


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without what lies beside them, which takes most of the time."""
    monkeypatch.setattr("touche.report.page._beside", lambda *_: {})


@pytest.fixture
def tab(part: Part, tmp_path: Path, browse: Callable[[Path], Tab], plain: None) -> Tab:
    return browse(write_page(Page("Two runs", "touche report", [part]), tmp_path / "out"))


def shown(tab: Tab) -> list[str]:
    return [each.inner_text() for each in tab.locator("table.board caption").all() if each.is_visible()]


@pytest.mark.slow
def test_dimension_and_evaluator_are_switched_by_keyboard(tab: Tab) -> None:
    assert shown(tab) == ["relevance, trec_eval"]
    tab.get_by_role("radio", name="quality").focus()
    tab.keyboard.press("Space")
    assert shown(tab) == ["quality, trec_eval"]
    tab.get_by_role("radio", name="trec_eval").focus()
    tab.keyboard.press("ArrowDown")
    assert shown(tab) == ["quality, touche"]


def topics(tab: Tab, at: int = 0) -> list[str]:
    return tab.locator("table.heat").nth(at).locator("tbody:not(.depths) a").all_inner_texts()


@pytest.mark.slow
def test_tables_are_sorted_by_their_heads_and_all_heat_maps_alike(tab: Tab) -> None:
    heat = tab.locator("table.heat").first
    spread = heat.get_by_role("button", name="spread")
    spread.focus()
    tab.keyboard.press("Enter")
    assert topics(tab) == topics(tab, 3) == ["3", "4", "1", "2"]
    assert heat.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    spread.click()
    assert topics(tab)[:2] == ["1", "2"]
    heat.get_by_role("button", name="first").click()
    assert topics(tab)[0] == topics(tab, 2)[0] == "4" and heat.locator("th[aria-sort]").count() == 1
    board = tab.locator("table.board").first
    for _ in range(2):  # what has no interval stays behind, both ways
        board.get_by_role("button", name="From").click()
        assert board.locator("tbody tr").last.locator("th").inner_text().startswith("Boots")


@pytest.mark.slow
def test_a_topic_opens_by_link_by_a_cell_and_by_keyboard(tab: Tab) -> None:
    opened = "all => all.map(each => each.id)"
    link = tab.locator("table.heat").first.get_by_role("link", name="2", exact=True)
    link.click()
    tab.locator("#topic-2 summary").click()  # closed again by hand, and opened by the same link
    assert tab.locator("details[open]").count() == 0
    link.click()
    assert tab.locator("details[open]").evaluate_all(opened) == ["topic-2"]
    cell = tab.locator("table.heat").first.locator("tbody tr").nth(2).locator("td").first
    cell.hover()
    assert cell.get_attribute("title") == "3\nA: 1.000\n+0.000 from the reference"
    cell.click()
    assert tab.locator("details[open]").evaluate_all(opened) == ["topic-2", "topic-3"]
    tab.locator("#topic-4 summary").focus()
    tab.keyboard.press("Enter")
    opened_text = tab.locator("#topic-4").inner_text()
    assert "relevance 0 quality 1" in " ".join(opened_text.split()) and "relevance unjudged" in opened_text


@pytest.mark.slow
def test_another_reference_and_one_run_beside_it(tab: Tab) -> None:
    heat = tab.locator("table.heat").first
    second = heat.locator("tbody tr").first.locator("td").nth(1)
    bar = "cell => parseFloat(getComputedStyle(cell, '::after').width) / cell.clientWidth"
    of_board = "cell => getComputedStyle(cell, '::before').width"
    before = tab.locator("td.bar:visible").first.evaluate(of_board)
    tab.get_by_label("differences from the reference").check()
    assert tab.locator("td.bar:visible").first.evaluate(of_board) == before  # only heat maps change
    assert second.evaluate(bar) == pytest.approx((1 - SECOND) / 2, abs=0.02)  # half a cell is a whole point
    tab.locator("select[name=reference]").select_option("B")
    assert second.evaluate(bar) == 0 and tab.locator("b.reference").inner_text() == "B"
    heat.get_by_role("button", name="first").click()  # by differences, of which topic 3 has none
    assert topics(tab)[0] == "3"
    tab.locator("select[name=beside]").select_option("A")
    items = tab.locator(".topic li").evaluate_all("all => all.map(each => each.dataset.whose)")
    assert items == ["both"] * 8
    tab.locator("select[name=beside]").select_option("B")
    assert heat.locator("th[data-run]:visible").count() == 1


@pytest.mark.slow
def test_all_published_runs_are_there_on_request(
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    browse: Callable[[Path], Tab],
    plain: None,
) -> None:
    make_task(write, monkeypatch, [published("Zorro", 0.9 - n / 100, tag=f"mask{n}") for n in range(9)])
    part = part_of([write("run.txt", run_of("1 a", "2 a", "3 a", "4 b"))], "made-up")
    tab = browse(write_page(Page("One run", "touche report", [part]), tmp_path / "out"))
    rows = tab.locator("table.board").first.locator("tbody tr:visible")
    assert rows.count() == 2
    tab.get_by_label("all 10 runs").first.check()
    assert rows.count() == 10


HOSTILE = "<script>document.title='x'</script><img src=x onerror=alert(1)>\"'&amp;"


@pytest.mark.slow
def test_what_strangers_write_runs_nowhere(
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    browse: Callable[[Path], Tab],
    plain: None,
) -> None:
    """In tags, ids of documents and topics, titles, and texts, marked or not."""
    task = make_task(write, monkeypatch, [published(HOSTILE, 0.9, tag=HOSTILE)])
    task = replace(task, corpora={"full": Corpus("strange")})
    monkeypatch.setattr(tasks, "task", lambda _: task)
    monkeypatch.setattr("touche.evaluation.scores.titles_of", lambda _: {"1": f"script {HOSTILE}"})
    evil = "<b>a</b>"
    document = {"docno": evil, "text": f"script {HOSTILE}"}
    write("corpora/strange/documents.jsonl", json.dumps(document) + "\n")
    paths = [write(f"{n}.txt", run_of(f"1 {evil} a", tag=f"{HOSTILE}{n}".replace(" ", "_"))) for n in (1, 2)]
    part = part_of(paths, "made-up")
    assert part.topics[0].found[0].passages
    tab = browse(write_page(Page(HOSTILE, HOSTILE, [part]), tmp_path / "out"))
    tab.locator(".topic summary").click()
    assert HOSTILE in tab.title() and tab.locator("script").count() == 1 and tab.locator("img").count() == 0
    assert (
        "script" in tab.locator("mark").first.inner_text()
        and HOSTILE in tab.locator(".topic li").first.inner_text()
    )


@pytest.mark.slow
def test_nothing_is_cut_at_any_width(
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    browse: Callable[[Path], Tab],
    plain: None,
) -> None:
    """With long names, many runs of which none has a blank, and all that can be opened open."""
    rows = [published("Pippin Took", 0.9 - n / 100, tag="stop-kstem-" * 9, low=0.1, high=1) for n in range(9)]
    make_task(write, monkeypatch, rows, quality="b")
    lists = "1 a b", "2 b a", "3 a b"
    paths = [
        write(f"{n}.txt", run_of(*lists, tag=f"levirank_psuedo_relevance_feedback+voting{n}"))
        for n in range(8)
    ]
    tab = browse(write_page(Page("Wide", "touche report", [part_of(paths, "made-up")]), tmp_path / "out"))
    tab.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    tab.locator(".all").evaluate_all("all => all.forEach(each => each.checked = true)")
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
    for width, mode in product((1400, 768, 390), ("scores", "differences")):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.locator(f"[value={mode}]").check()
        assert tab.locator(".scroll").evaluate_all(cut) == 0
        assert tab.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.slow
def test_it_can_be_read_on_a_phone_in_the_dark_and_on_paper(tab: Tab) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(background) == "rgb(255, 255, 255)"
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(background) == "rgb(22, 24, 26)"
    tab.set_viewport_size({"width": 360, "height": 700})
    tab.locator("details.topic summary").first.click()
    assert tab.evaluate("document.querySelector('.switches').getBoundingClientRect().bottom") < 0
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(background) == "rgb(255, 255, 255)" and shown(tab) == ["relevance, trec_eval"]


@pytest.mark.slow
def test_it_can_be_listened_to(tab: Tab) -> None:
    """What a screen reader goes by: one h1, captions, heads, and words for what is switched."""
    assert tab.locator("h1").all_inner_texts() == ["Two runs"]
    visible = [table for table in tab.locator("table").all() if table.is_visible()]
    assert len(visible) == 4 and all(table.locator("caption").inner_text() for table in visible)
    assert tab.locator("thead th:not([scope=col])").count() == 0
    assert tab.locator("fieldset legend").all_inner_texts() == ["Dimension", "Evaluator", "Show"]
    assert tab.locator("html").get_attribute("lang") == "en"
    ids = tab.locator("[id]").evaluate_all("all => all.map(each => each.id)")
    assert len(ids) == len(set(ids)) > 4


@pytest.mark.slow
def test_without_a_script_all_but_choosing_is_there(part: Part, tmp_path: Path, plain: None) -> None:
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    path = write_page(Page("Two runs", "touche report", [part]), tmp_path / "out")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(path.as_uri())
        assert page.locator("select:visible").count() == 0
        page.get_by_label("differences from the reference").check()
        page.get_by_role("radio", name="quality").check()
        assert (
            page.locator("table.heat:visible caption").inner_text()
            == "nDCG@5 of each topic: quality, trec_eval"
        )
        browser.close()


@pytest.mark.slow
def test_the_gallery_has_every_task_and_the_runs_at_hand(
    touche: Touche,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    browse: Callable[[Path], Tab],
) -> None:
    task = tasks.task("touche-2022-task-2")
    qrels = "".join(f"{topic} 0 d{n} {n % 3}\n" for topic in (2, 3) for n in range(5))
    for judgments in task.qrels.values():
        write(f"data/qrels/{judgments.file}", qrels)
    lines = "".join(f"{topic} Q0 d{n} {n} {9 - n} BM25-Baseline\n" for topic in (2, 3) for n in range(5))
    write(f"data/runs/{task.id}/one.run", lines)
    write("data/runs/touche-2021-task-1/other.txt", lines)  # without judgments
    write("data/runs/touche-2020-task-2/README.txt", "no run at all\n")
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path / "data"))
    code, out, _ = touche("report", "--all-published", "-o", tmp_path / "out")
    assert (code, out) == (0, f"{tmp_path}/out/index.html\n")
    tab = browse(tmp_path / "out" / "index.html")
    links = tab.locator(".pages a").all_inner_texts()
    assert links == [each for each in tasks.ids() if tasks.task(each).all_published] and len(links) == 9
    assert "68 published values, 1 run at hand" in tab.locator(".pages").inner_text()
    tab.get_by_role("link", name=task.id).click()
    assert tab.locator(".board:visible caption").all_inner_texts() == [
        "relevance, touche",
        "stance, as published",
    ]
    headers = tab.locator(".board:visible thead").all_inner_texts()
    assert ["Judged@5" in header for header in headers] == [True, False]
    tab.get_by_role("link", name="Published results of Touché").click()
    tab.get_by_role("link", name="touche-2021-task-1").click()
    assert "the runs at hand are left out: qrels/" in tab.locator(".warning").inner_text()
    assert tab.locator(".board:visible tbody tr:visible").count() == 23


def test_the_gallery_takes_no_runs(touche: Touche, tmp_path: Path) -> None:
    code, _, err = touche("report", "run.txt", "--all-published", "-o", tmp_path / "out")
    assert code == 2 and "--all-published takes no RUNs" in err


def test_what_other_viewers_read_lies_beside_the_page(touche: Touche, tmp_path: Path, write: Write) -> None:
    """As TIRA's evaluators write it: topics, texts and labels of the first ten of each topic."""
    run = write("run.txt", run_text(strangers=7))
    touche("report", run, "--task", "spot-check/passages", "-o", tmp_path / "out")
    found = json.loads(gzip.decompress((tmp_path / "out" / FILE).read_bytes()))
    assert found.keys() == {"queries", "documents", "qrels"}
    assert set(map(len, BEST.values())) == {5} and len(found["queries"]) == len(BEST)
    assert found["queries"]["11"]["qid"] == "11" and found["queries"]["11"]["query"]
    assert found["documents"]["x0"] == {"docno": "x0", "text": ""}
    best = BEST["11"]
    assert (
        found["qrels"]["11"] == {id: QRELS["11"][id] for id in best[:3]}
        and found["documents"][best[2]]["text"]
    )
    assert best[4] not in found["documents"] or any(best[4] in of[:3] for of in BEST.values())
