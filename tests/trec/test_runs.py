import gzip
import math
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from conftest import Write
from random_examples import given, st
from texts import NUMBERS
from touche.baselines.rankings import run_of_rankings
from touche.errors import InputError, ToucheError
from touche.io.opening import read_lines
from touche.trec import runs
from touche.trec.by_stance import CountedLines, counted, read_script_lines
from touche.trec.columns import Run
from touche.trec.runs import (
    LineError,
    RunLine,
    as_float32,
    parse_line,
    ranking,
    read_run,
    split_columns,
    why_no_run,
)
from touche.trec.topics import Topic

# Few ids and few scores cause ties, also ties that exist only as float32.
IDS = st.text("abYZ019-é𝄞", min_size=1, max_size=4)
SCORES = st.sampled_from(
    [0.1, 0.10000000001, 0.1 + 2e-8, 1.0, 3.0, 1e-30, 0.0, -0.0, -2.5, 16777216.0, 16777217.0]
)
HITS = st.dictionaries(
    IDS, st.one_of(SCORES, st.floats(width=32, allow_nan=False, allow_infinity=False)), min_size=1
)


@given(st.one_of(st.floats(), st.integers(), st.just(2.0**128 - 2.0**103), st.floats(3e38, 4e38)))
def test_a_score_is_rounded_as_numpy_does_and_never_warns(score: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rounded = as_float32(score)
    with np.errstate(over="ignore"):
        expected = np.float32(float(score) if abs(score) < 1e308 else math.copysign(math.inf, score))
    if math.isnan(score):
        assert np.isnan(rounded)
    else:
        assert rounded == expected and not (rounded == 0 and np.signbit(rounded))
    assert rounded.dtype == np.float32


@given(st.text(st.sampled_from("ab \t\v\x1c\x85\xa0\u3000é\ud800"), max_size=12), st.integers(-1, 3))
def test_only_ascii_whitespace_separates_columns(text: str, at_most: int) -> None:
    columns = text.encode("utf-8", "surrogatepass").strip().split(maxsplit=at_most)
    assert split_columns(text, at_most) == [column.decode("utf-8", "surrogatepass") for column in columns]


def test_a_run_is_read_as_teams_send_them(write: Write) -> None:
    path = write("a.run", '51\tQ0\td1\t0\t11.7\tteam\t\n2 FIRST d2___3 1 1e-3 "Colbert  edinburg"\n')
    assert read_run(path) == [
        RunLine(topic="51", stance="Q0", document="d1", rank=0, score=11.7, tag="team"),
        RunLine(topic="2", stance="FIRST", document="d2___3", rank=1, score=0.001, tag='"Colbert  edinburg"'),
    ]


FIELDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: not any(blank in text for blank in " \t\n\v\f\r")
)
GOOD = ["1", "Q0", "d", "1", "0.5", "t"]


def parsed_or_refused(*columns: str) -> RunLine | LineError:
    """The line of these columns; or its error, which is one short line and names the place."""
    try:
        return parse_line("\t".join(columns), Path("a.run"), 7)
    except LineError as error:
        assert (
            str(error).startswith("a.run:7: ") and len(str(error).splitlines()) == 1 and len(str(error)) < 200
        )
        return error


@given(st.lists(FIELDS | NUMBERS, min_size=6, max_size=6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_each_field_of_a_line_reads_back_or_the_line_is_refused(any: list[str], taken: list[bool]) -> None:
    columns = [odd if take else good for odd, good, take in zip(any, GOOD, taken, strict=True)]
    line = parsed_or_refused(*columns)
    if isinstance(line, RunLine):
        rank = line.rank
        score = line.score
        assert [line.topic, line.stance, line.document, line.tag] == [*columns[:3], columns[5]]
        assert (rank, score) == (int(columns[3]), float(columns[4]))


@given(FIELDS | NUMBERS)
def test_a_rank_is_18_ascii_digits_at_most_and_a_score_a_decimal_that_is_finite_as_float32(text: str) -> None:
    is_rank = set(text) <= set("0123456789") and len(text) <= 18
    is_score = set(text) <= set("0123456789+-.eE")
    with suppress(ValueError):
        is_score = is_score and abs(float(text)) < 2**128 - 2**103
        line = parsed_or_refused(*GOOD[:4], text, "t")
        assert (
            line == RunLine(topic="1", stance="Q0", document="d", rank=1, score=float(text), tag="t")
            if is_score
            else is_of(line, "score")
        )
    line = parsed_or_refused(*GOOD[:3], text, *GOOD[4:])
    assert (
        line == RunLine(topic="1", stance="Q0", document="d", rank=int(text), score=0.5, tag="t")
        if is_rank
        else is_of(line, "rank")
    )


def is_of(line: RunLine | LineError, column: str) -> bool:
    return isinstance(line, LineError) and line.kind == column


def test_only_what_c_calls_a_blank_parts_columns() -> None:
    line = parse_line("1 \x1f\u2003c d 1 0.5 t\x1c \u00a0 \t\r\n", Path("a.run"), 1)
    assert (line.stance, line.tag) == ("\x1f\u2003c", "t\x1c \u00a0")


def trec_eval_finds_in_first_place(scores: dict[str, float], document: str) -> bool:
    evaluator = pytrec_eval.RelevanceEvaluator({"1": {document: 1}}, {"success_1"})
    return bool(evaluator.evaluate({"1": scores})["1"]["success_1"] == 1.0)


@given(HITS)
def test_the_order_of_a_ranking_is_the_one_of_trec_eval(hits: dict[str, float]) -> None:
    remaining = dict(hits)
    ranked = ranking(hits.items())
    assert ranking(hits.items(), 2) == ranked[:2]
    for document, _ in ranked:
        assert trec_eval_finds_in_first_place(remaining, document)
        del remaining[document]


@given(HITS)
def test_a_written_ranking_is_read_back_in_the_same_order(
    tmp_path_factory: pytest.TempPathFactory, hits: dict[str, float]
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "run.txt"
    run_of_rankings([Topic("1", "a")], [(Topic("1", "a"), hits.items())], "tag").write(path)
    lines = read_run(path)
    assert [line.rank for line in lines] == list(range(1, len(hits) + 1))
    (by_score,) = lines.by_score.values()
    assert lines.take(by_score) == sorted(lines, key=lambda line: line.rank) == lines
    assert {line.document: np.float32(line.score) for line in lines} == {
        document: np.float32(score) for document, score in hits.items()
    }


@pytest.mark.parametrize(
    ("hits", "problem"),
    [
        *(
            ([("a", score)], "scores must be numbers that are finite")
            for score in (math.nan, math.inf, -math.inf, 1e39, True, "1")
        ),
        ([("a", 1.0), ("b", 0.5), ("a", 0.2)], "'a' is ranked twice"),
    ],
)
def test_what_no_run_can_hold_is_refused(hits: list[tuple[str, Any]], problem: str) -> None:
    with pytest.raises(ToucheError, match=problem):
        ranking(hits)


def test_scores_have_no_more_digits_than_they_need() -> None:
    hits = [("a", np.float32(0.1)), ("b", 10.73390007019043), ("c", -0.0)]
    text = run_of_rankings([Topic("7", "a")], [(Topic("7", "a"), hits)], "t").text()
    assert text == "7 Q0 b 1 10.7339 t\n7 Q0 a 2 0.1 t\n7 Q0 c 3 0.0 t\n"


LINES = st.lists(
    st.sampled_from(
        [
            b"1 Q0 a 1 0.5 t",
            b" 1\tQ0 b  2 1e-3 t \r",
            b"1 Q0 c 3 .5 two words",
            b"",
            b"\xc2\xa0",
            b"2 NO \xc3\xa9 4 -1 t",
        ]
    )
    | st.sampled_from(
        [b"1 Q0 a", b"1 Q0 d 1_0 1 t", b"1 Q0 d 1 1_0 t", b"1 Q0 d 1 inf t", b"1 Q0 d 1 1e39 t", b"\xff"]
    )
    | st.sampled_from(
        [
            b"1 Q0 d 1 0.5 t \0 2 Q0 d 1 0.5 t",
            b"1 Q0",
            b"a 1 0.5 t",
            b"1 Q0 d \xd9\xa1 1 t",
            b"1 Q0 d 1 1 t u",
        ]
    )
    | st.binary(max_size=12),
    max_size=6,
)


@pytest.mark.parametrize("block", [1, 3, 2000])
@given(LINES, st.booleans())
def test_blocks_of_lines_are_read_as_each_line_is(
    tmp_path_factory: pytest.TempPathFactory, block: int, lines: list[bytes], marked: bool
) -> None:
    path = tmp_path_factory.mktemp("runs") / "run.txt"
    path.write_bytes(b"\xef\xbb\xbf" * marked + b"\n".join(lines))
    expected: list[RunLine] | int | None
    seen = dict[tuple[str, str], RunLine]()
    try:
        for number, text in read_lines(path):
            line = parse_line(text, path, number)
            if seen.setdefault((line.topic, line.document), line) is not line:
                expected = number
                break
        else:
            expected = list(seen.values()) or None
    except InputError as error:
        expected = error.line
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "BLOCK", block)
        try:
            result: list[RunLine] | int | None = [*read_run(path)]
        except InputError as error:
            result = error.line
    assert result == expected


@given(
    st.lists(
        st.tuples(st.sampled_from("12"), st.sampled_from("abcdé"), st.integers(0, 3), SCORES), max_size=9
    )
)
def test_columns_are_ordered_as_lists_of_lines_are(cells: list[tuple[str, str, int, float]]) -> None:
    lines = [
        RunLine(topic=topic, stance="Q0", document=document, rank=rank, score=score, tag="t")
        for topic, document, rank, score in cells
    ]

    def grouped(ordered: list[RunLine]) -> list[tuple[str, list[RunLine]]]:
        topics: dict[str, list[RunLine]] = {line.topic: [] for line in lines}
        for line in ordered:
            topics.setdefault(line.topic, []).append(line)
        return list(topics.items())

    run = Run.of(lines)
    by_score = sorted(lines, key=lambda line: (np.float32(line.score), line.document), reverse=True)
    by_double = sorted(lines, key=lambda line: (line.score, line.document), reverse=True)
    by_rank = sorted(lines, key=lambda line: line.rank)
    for order, ordered in (
        (run.by_score, by_score),
        (run.order_of(run.scores), by_double),
        (run.by_rank, by_rank),
        (run.by_topic, lines),
    ):
        assert [(topic, [*run.take(positions)]) for topic, positions in order.items()] == grouped(ordered)
    ties = sorted(lines, key=lambda line: (-np.float32(line.score), line.rank))
    by_topic = {topic: [*run.take(positions)] for topic, positions in run.by_score_and_rank.items()}
    assert by_topic == dict(grouped(ties))
    assert run.tags.present == (["t"] if lines else []) and [*run] == lines and run[1:] == lines[1:]


@pytest.mark.parametrize("column", ["Q0", "q0", "0", "1", "ITER", "iteration", "QO", "-"])
def test_what_other_tools_write_in_the_second_column_is_no_stance(write: Write, column: str) -> None:
    for tag in ("t", "t u"):  # lines at once, and one by one
        run = read_run(write("run.txt", f"1 {column} a 1 2.0 {tag}\n1 PRO b 2 1.0 {tag}\n"))
        assert list(run.stances) == ["Q0", "PRO"] and not run[:1].has_stances


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 Q0 a 1 2 t\r1 Q0 b 2 1 t\r", ":1: a carriage return within the line; end lines with line feeds"),
        ("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\r1 Q0 c 3 0 t\n", ":2: a carriage return within the line"),
        ("qid Q0 docno rank score tag\n1 Q0 a 1 2 t\n", ":1: line 1 is a header; delete it"),
        ("query_id\tdoc_id\trank\tscore\n1\ta\t1\t2\n", ":1: line 1 is a header; delete it"),
        ("1,Q0,a,1,2,t\n", ":1: commas between the columns; write blanks or tabs"),
        ('{"1": {"a": 2.0}}', ":1: this is JSON; read it with pandas.read_json"),
        ("1 Q0 a 1 2 t\n".encode("utf-16"), ":1: not UTF-8"),
        ("1 Q0 a 1 2 t\n".encode("utf-16-le"), ":1: a null character, as in UTF-16; save the file in UTF-8"),
        ("1 Q0 é 1 2 t\n".encode("latin-1"), ":1: not UTF-8"),
        ("1 Q0 a 1 2 " + "t" * (1 << 16), ":1: a line of 64 KiB or more"),
    ],
)
def test_a_run_in_another_format_is_named(write: Write, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"\A.*run\.txt{message}.*\Z"):
        read_run(write("run.txt", content))


def test_lines_may_end_in_any_way_that_does_not_join_them(write: Write) -> None:
    content = b"\xef\xbb\xbf1 Q0 a 1 3 t\r\n1\fQ0 b 2 2 t\n\f\n\r\r\n1 Q0 c 3 1 t\xe2\x80\xa8u"
    run = read_run(write("run.txt", content))
    assert run.documents.tolist() == ["a", "b", "c"] and run.tag == "t"


@pytest.mark.parametrize(
    "lines",
    [
        [b"a " * 30_000 + b"\n"] * 3000,
        [b"\n" * 1_000_000] * 60,
        [b"1 0 %x 1 1 t\n" % n for n in range(1_500_001)],
    ],
    ids=["cells", "blanks", "lines"],
)
def test_a_run_that_unpacks_beyond_reason_is_refused_in_little_memory(
    write: Write, lines: list[bytes]
) -> None:
    path = write("run.txt", gzip.compress(b"".join(lines), 1))
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))\n"
        "from pathlib import Path\nfrom touche.trec.runs import InputError, read_run\n"
        "try: read_run(Path(sys.argv[1]))\nexcept InputError as error: sys.exit(str(error))"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "run.txt" in done.stderr


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_metadata_in_comments_is_skipped(write: Write, mark: str) -> None:
    comments = "# ir_metadata.start\n# actor:\n#   team: Example\n# ir_metadata.end\n"
    path = write("run.txt", f"{mark}{comments}1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
    run = read_run(path)
    assert [(line.document, number) for line, number in zip(run, run.line_numbers, strict=True)] == [
        ("a", 5),
        ("b", 6),
    ]
    assert not why_no_run(path)
    run = read_script_lines(path.rename(path.with_name("r")))
    rankings, skipped = counted(run, CountedLines(("Q0",), ".", 10, None))
    assert len(rankings) == 2 and not skipped and not run.unread
    for text in (comments, f"# a comment\n{comments}", comments.replace("end", "more"), comments[2:]):
        with pytest.raises(InputError):
            read_run(write("broken.txt", text + ("" if text == comments else "1 Q0 a 1 2 t\n")))
    with pytest.raises(InputError, match=r":6: 2 columns instead of 6"):
        read_run(write("broken.txt", f"{comments}1 Q0 a 1 2 t\n1 Q0\n"))
