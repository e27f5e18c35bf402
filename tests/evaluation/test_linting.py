import json
import lzma
import re
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from conftest import ROOT, Touche, Write
from random_examples import HealthCheck, given, settings, st
from reading import read_documents_jsonl
from touche.errors import InputError, ToucheError
from touche.evaluation.run_format import CODES, WARNING
from touche.submission import lint
from touche.trec.runs import read_run

TASK = "spot-check/passages"
PAIRS = "touche-2022-task-1"
IDS = [document.id for document in read_documents_jsonl(ROOT / "corpora/spot-check-passages/passages.jsonl")]


def found(path: Path, task: str = TASK) -> list[tuple[str, int | None]]:
    findings = lint(path, task)
    assert all(
        finding.severity == CODES[finding.code] and finding.message and finding.remedy for finding in findings
    )
    return [(finding.code, finding.line) for finding in findings]


def lines(*columns: Sequence[object]) -> str:
    return "".join(" ".join(map(str, finding)) + "\n" for finding in columns)


def line(
    rank: int, score: object, id: str | None = None, topic: int = 11, stance: str = "Q0", tag: str = "t"
) -> tuple[object, ...]:
    return (topic, stance, id or IDS[rank], rank, score, tag)


GOOD = [line(1, 5), line(2, 4.5), line(3, -1)]

METADATA = "# ir_metadata.start\n# actor:\n#   team: Example\n#\n#ir_metadata.end \r\n"
BROKEN = {
    "nothing": (lines(*GOOD), []),
    "empty": ("", [("empty-run", None)]),
    "five columns": (lines(*GOOD, (11, "Q0", "a", 4, -2)), [("columns", 4)]),
    "a tag with a blank": (lines(line(1, 1, tag="my run")), [("blank-in-tag", 1)]),
    "a rank that is no number": (lines(*GOOD, (11, "Q0", IDS[4], "four", -2, "t")), [("rank", 4)]),
    "a score that is no number": (lines(*GOOD, line(4, "low")), [("score", 4)]),
    "an unknown topic": (lines(*GOOD, line(1, 1, topic=99), line(2, 0, topic=99)), [("unknown-topic", 4)]),
    "an id with a control character": (lines(*GOOD, line(4, -2, id="x\x1f")), [("id", 4)]),
    "an unknown document": (lines(*GOOD, line(4, -2, id="x")), [("unknown-document", 4)]),
    "a document twice": (lines(*GOOD, line(4, -2, id=IDS[1])), [("duplicate-document", 4)]),
    "ranks from 0": (lines(line(0, 5), line(1, 4)), [("rank-start", 1)]),
    "a rank left out": (lines(line(1, 5), line(3, 4)), [("rank-gap", 2)]),
    "a rank twice": (lines(line(1, 5, IDS[5]), line(1, 4)), [("rank-repeated", 2)]),
    "one rank for all lines": (lines(*(line(0, n, IDS[n]) for n in (1, 2, 3))), [("rank-repeated", 2)]),
    "one rank for all lines of one topic": (
        lines(line(1, 5), line(2, 4), *(line(0, n, IDS[n], 12) for n in (3, 2))),
        [("rank-start", 3), ("rank-repeated", 4)],
    ),
    "lines in another order": (lines(line(2, 4), line(1, 5)), []),
    "a score that rises": (lines(line(1, 4), line(2, 5), line(3, 4.5)), [("score-increasing", 2)]),
    "ties in the order of trec_eval": (lines(line(1, 1, max(IDS)), line(2, 1, min(IDS))), []),
    "ties against trec_eval": (lines(line(1, 1, min(IDS)), line(2, 1, max(IDS))), [("tie-order", 2)]),
    "ranks from 0 in two topics": (lines(line(0, 5), line(0, 5, topic=12)), [("rank-start", 1)]),
    "a score that rises as double": (lines(line(1, 1), line(2, 1 + 1e-9, "!")), [("unknown-document", 2)]),
    "metadata in comments": (METADATA + lines(*GOOD), [("metadata", 1)]),
    "metadata and a byte order mark": (
        "\ufeff" + METADATA + lines(*GOOD),
        [("metadata", 1), ("byte-order-mark", 1)],
    ),
    "metadata and a broken line": (METADATA + lines(*GOOD[:2], (1,)), [("metadata", 1), ("columns", 8)]),
    "only metadata": (METADATA, [("empty-run", None), ("metadata", 1)]),
    "a comment": ("# by me\n" + lines(*GOOD), [("columns", 1)]),
    "metadata without an end": (METADATA[:-20] + "\n" + lines(*GOOD), [("columns", n) for n in range(1, 5)]),
    "a byte order mark": ("\ufeff" + lines(*GOOD), [("byte-order-mark", 1)]),
    "findings of several kinds": (
        lines(line(1, 5, stance="PRO"), line(3, 4), line(4, 3, id="x")),
        [("unknown-stance", 1), ("rank-gap", 2), ("unknown-document", 3)],
    ),
    "ties as float32": (lines(line(1, 1 + 1e-9, min(IDS)), line(2, 1, max(IDS))), [("tie-order", 2)]),
    "several tags": (lines(*GOOD, line(4, -2, tag="u"), line(5, -3, tag="u")), [("several-tags", 4)]),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_each_broken_rule_is_found_at_its_line_and_nothing_else(write: Write, case: str) -> None:
    text, expected = BROKEN[case]
    assert found(write("run.txt", text)) == expected


def pairs(number: int) -> str:
    ids = (f"a__CONC__1,b{rank}__PREMISE__1" for rank in range(1, number + 1))
    return lines(*((1, "PRO", id, rank, -rank, "t") for rank, id in enumerate(ids, 1)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(pairs(99), [("too-few-results", 99)], id="too few"),
        pytest.param(pairs(100), [], id="the least"),
        pytest.param(pairs(1000), [], id="the most"),
        pytest.param(pairs(1001), [("too-many-results", 1001)], id="too many"),
        *(
            pytest.param(pairs(99) + lines((1, "CON", id, 100, -100, "t")), [("no-pair", 100)], id=id)
            for id in ("a__CONC__1", "a__CONC__1,a__CONC__1", "a,b,c", "a,", ",")
        ),
    ],
)
def test_the_task_limits_results_which_are_pairs_of_different_sentences(
    write: Write, text: str, expected: list[tuple[str, int]]
) -> None:
    assert found(write("run.txt", text), PAIRS) == expected


def test_a_topic_without_results_is_too_few_where_there_is_a_minimum(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    topics = "".join(f"<topic><number>{n}</number><title>t</title></topic>" for n in (1, 2))
    write("topics/touche-2022-task-1.xml", f"<topics>{topics}</topics>")
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    assert found(write("run.txt", pairs(100)), PAIRS) == [("too-few-results", None)]


def test_pairs_are_checked_against_the_sentences_and_a_small_corpus_has_fewer(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Three ids: two sentences, and the conclusion that is too short to be one; so six pairs in all."""
    sentences = ", ".join(f"{{'sent_id': 'a__PREMISE__{n}', 'sent_text': 's'}}" for n in (1, 2))
    row = f"a,yes,\"[{{'text': 'p', 'stance': 'PRO', 'annotations': []}}]\",{{}},\"[{sentences}]\"\n"
    header = "id,conclusion,premises,context,sentences\n"
    write("corpora/argsme-2020-04-01-processed/args_processed.csv", header + row)
    monkeypatch.setenv("TOUCHE_DATA", str(tmp_path))
    ids = ["a__PREMISE__1", "a__PREMISE__2", "a__CONC__1"]
    six = [(1, "PRO", ",".join(pair), rank, -rank, "t") for rank, pair in enumerate(permutations(ids, 2), 1)]
    assert found(write("run.txt", lines(*six)), PAIRS) == []
    assert found(write("run.txt", lines(*six[:5])), PAIRS) == [("too-few-results", 5)]
    stranger = (1, "Q0", "a__PREMISE__1,a__PREMISE__3", 6, -6, "t")
    assert found(write("run.txt", lines(*six[:5], stranger)), PAIRS) == [("unknown-document", 6)]


def test_more_runs_than_a_team_may_submit(write: Write) -> None:
    paths = [write(f"{number}.txt", f"52 Q0 a 1 1 t{number}\n") for number in range(7)]
    findings = lint(paths, "touche-2021-task-2")
    assert [(finding.code, finding.run) for finding in findings] == [
        ("too-many-runs", str(path)) for path in paths[5:]
    ]
    assert [note.partition(" because ")[2] for note in findings.notes] == [
        "topics/touche-2021-task-2.xml is missing",
        "corpora/clueweb12 is missing",
    ]
    # No limit was stated.
    assert len(lint(paths, "touche-2020-task-2")) == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.integers(1, 6), st.sampled_from([0.5, 1, 1 + 1e-9, 2])),
        min_size=1,
        unique_by=(lambda x: x[0], lambda x: x[1]),
    )
)
def test_no_finding_on_the_order_means_that_both_evaluators_see_the_same(
    tmp_path: Path, written: list[tuple[str, int, float]]
) -> None:
    path = tmp_path / "run.txt"
    path.write_text(lines(*((1, "Q0", id, rank, score, "t") for id, rank, score in written)))
    codes = {code for code, _ in found(path, "touche-2020-task-2")} - {"rank-start", "rank-gap"}
    run = read_run(path)
    assert bool(codes) == (run.by_rank["1"].tolist() != run.by_score["1"].tolist())
    assert codes <= {"score-increasing", "tie-order"}


def test_blanks_in_a_tag_are_one_warning_that_says_what_trec_eval_makes_of_them(write: Write) -> None:
    path = write("run.txt", lines(*(line(rank, -rank, tag='"Colbert edinburg"') for rank in range(1, 9))))
    (finding,) = lint(path, TASK)
    assert (finding.severity, finding.line) == (WARNING, 1)
    assert "in 8 lines: trec_eval reads only '\"Colbert' of '\"Colbert edinburg\"', and" in finding.message


def test_a_tie_that_is_cut_off_below_what_trec_eval_turns_round_changes_nothing(write: Write) -> None:
    """The first of the three is the first by either order; the two others stand below the cutoff."""
    ids = [*sorted(IDS)[:4], *(sorted(IDS)[rank] for rank in (9, 7, 8))]
    text = lines(*(line(rank, max(5, 10 - rank), id) for rank, id in enumerate(ids, 1)))
    findings = lint(write("run.txt", text), TASK)
    assert [(finding.code, finding.line) for finding in findings] == [("tie-order", 7)]
    assert findings.notes[-1].endswith("of none")


@pytest.mark.parametrize("part", ["arguments", "passages"])
@pytest.mark.parametrize("baseline", ["dirichletlm", "bm25"])
def test_what_the_program_writes_passes_with_no_finding(
    touche: Touche, tmp_path: Path, part: str, baseline: str
) -> None:
    touche("run", baseline, "-i", f"spot-check/{part}", "-o", tmp_path)
    result = touche("lint", tmp_path / "run.txt", "--task", f"spot-check/{part}")
    assert result == (0, "1 run: 0 errors, 0 warnings\n", "")


def test_two_runs_of_a_submission_with_one_tag(write: Write) -> None:
    paths = [write(f"{number}.txt", lines(*GOOD)) for number in (1, 2)]
    assert [(finding.code, finding.run, finding.line) for finding in lint(paths, TASK)] == [
        ("shared-tag", str(paths[1]), 1)
    ]
    with pytest.raises(ToucheError, match="passed twice"):
        lint([paths[0], paths[0]], TASK)
    named = {"mine": {"11": {"a": 1.0}}, "theirs": {"11": {"a": 1.0}}}
    assert "shared-tag" not in {finding.code for finding in lint(named, TASK)}


@pytest.mark.parametrize("task", ["spot-check/passages", "spot-check/images"])
def test_an_empty_run_is_an_error_in_every_task(write: Write, task: str) -> None:
    findings = lint(write("run.txt", ""), task)
    assert [(finding.code, finding.line) for finding in findings] == [("empty-run", None)]
    assert findings.is_broken


def test_topics_that_the_run_lacks_are_a_note_and_no_finding(touche: Touche, write: Write) -> None:
    path = write("run.txt", lines(*GOOD))
    code, _, err = touche("lint", path, "--task", TASK)
    note = f"note: {path} has no results for topics 12, 13, 14; trec_eval counts them as 0\n"
    assert (code, err) == (0, note)


def test_a_file_that_is_no_run_is_given_up_before_its_findings_fill_the_memory(
    touche: Touche, write: Write
) -> None:
    path = write("run.txt", "\n" * 1_000_000)
    code, _, err = touche("lint", path, "--task", "spot-check/passages")
    assert (code, err.count("\n")) == (2, 1)
    assert f"{path}:100001: more than 100000 broken lines" in err


def runs_of_teams(write: Write, counts: dict[str, int]) -> list[Path]:
    """Runs in the folders of their teams, each with a tag of its own."""
    return [
        write(f"{team}/{team.lower()}-{number}.txt", f"52 Q0 a 1 1 {team}-{number}\n")
        for team, count in counts.items()
        for number in range(count)
    ]


def test_each_folder_is_a_team_that_may_submit_so_many_runs(touche: Touche, write: Write) -> None:
    paths = runs_of_teams(write, {"Asuna": 5, "Katana": 6, "Levi": 1})
    arguments = (*paths, "--task", "touche-2021-task-2", "--format", "json")
    together = json.loads(touche("lint", *arguments)[1])
    assert [finding["run"] for finding in together] == [str(path) for path in paths[5:]]
    code, out, _ = touche("lint", *arguments, "--team-per-folder")
    (only,) = json.loads(out)
    assert (code, only["code"], only["run"]) == (1, "too-many-runs", str(paths[10]))
    assert only["message"].startswith("6 runs of the team ") and "Katana" in only["message"]


def test_teams_are_told_by_the_names_of_their_runs(touche: Touche, write: Write) -> None:
    paths = [
        write(f"all/{team}-{number}.txt", f"52 Q0 a 1 1 {team if number < 2 else number}{team}\n")
        for team in ("asuna", "katana")
        for number in range(4)
    ]
    teams = ("--team", "Asuna=asuna-*", "--team", "Katana=*/all/katana-?.txt")
    code, out, _ = touche("lint", *paths, "--task", "touche-2021-task-2", *teams)
    # The first two of each team share a tag; those of different teams may.
    assert code == 0 and out.count("[shared-tag]") == 2
    assert out.endswith("8 runs of 2 teams: 0 errors, 2 warnings\n")


@pytest.mark.parametrize(
    ("teams", "problem"),
    [
        (("--team", "Asuna=asuna-*"), "katana-0.txt belongs to no team"),
        (("--team", "All=*", "--team", "Asuna=asuna-*"), "to the teams All and Asuna"),
        (("--team", "All=*", "--team", "Levi=levi-*"), "'levi-*'"),
        (("--team", "Asuna"), "'Asuna'"),
        (("--team", "=asuna-*"), "'=asuna-*'"),
        (("--team", "All=*", "--team-per-folder"), "exclude"),
    ],
)
def test_teams_that_do_not_fit_the_runs_are_refused(
    touche: Touche, write: Write, teams: tuple[str, ...], problem: str
) -> None:
    paths = runs_of_teams(write, {"Asuna": 2, "Katana": 1})
    code, out, said = touche("lint", *paths, "--task", "touche-2021-task-2", *teams)
    assert (code, out) == (2, "") and problem in said and said.count("\n") == 1


@pytest.mark.parametrize(("topics", "counted"), [([52], "1 topic"), ([52, 53], "2 topics")])
def test_counts_have_their_nouns(touche: Touche, write: Write, topics: list[int], counted: str) -> None:
    path = write("run.txt", "".join(f"{topic} Q0 a 2 1 t\n" for topic in topics))
    out = touche("lint", path, "--task", "touche-2021-task-2")[1]
    assert f"ranks do not start at 1 in {counted}; topic 52 starts at 2" in out


@pytest.mark.parametrize("task", [TASK, PAIRS, "spot-check/images"])
@pytest.mark.parametrize(
    ("content", "message", "line_number"),
    [
        (b"11 Q0 caf\xe9 1 1 t\n", "not UTF-8 (byte 0xe9)", 1),
        (b"PK\x03\x04", "the file is a zip archive", None),
        (lzma.compress(b"11 Q0 a 1 1 t\n" * 9)[:-9], "the xz stream is broken", None),
    ],
)
def test_an_unreadable_file_is_an_error_of_its_team_and_the_others_are_linted(
    write: Write, touche: Touche, task: str, content: bytes, message: str, line_number: int | None
) -> None:
    broken, other = write("a/run.txt", content), write("b/run.txt", "11 Q0\n")
    findings = lint([broken, other], task, teams="per-folder")
    assert (findings[0].run, findings[0].code) == (str(broken), "unreadable")
    assert findings[0].message.startswith(message) and findings[0].line == line_number
    assert [finding.code for finding in findings if finding.run == str(broken)] == ["unreadable"]
    assert "columns" in {finding.code for finding in findings if finding.run == str(other)}
    assert not any(note.startswith(str(broken)) for note in findings.notes)
    assert touche("lint", broken, other, "--task", task)[0] == 1
    with pytest.raises(InputError, match="cannot be read"):
        lint([broken, broken.with_name("missing.txt")], task)
    with pytest.raises(InputError, match=re.escape(message)):
        lint(broken, task)
