"""The replica of args.me, and its API, spoken by a server on loopback as its documentation has it."""

import json
import logging
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from neighbours import neighbour
from touche import baselines
from touche.errors import ParameterError, ToucheError
from touche.formats.argsme import read_argsme_json
from touche.formats.documents import Argument, Document
from touche.formats.topics import Topic

api = neighbour("argsme", "api")
CHESS = Topic("1", "Is chess a sport?")
ON_PAGE = [
    Argument("both", "Chess is a sport", ("It is chess, and chess takes skill",), page="chess and sport"),
    Argument("no conclusion", "It takes skill", ("Chess is a sport",), page="chess, sport"),
    Argument("half a page", "A sport of minds", ("Chess and skill",), page="only chess"),
    Argument("other", "Cats", ("Dogs",), page="cats, no sport"),
]


def ranked(arguments: list[Any], **options: Any) -> dict[str, float]:
    return dict(next(iter(baselines.load("argsme")([CHESS], arguments, **options)))[1])


def bm25(tf: int, length: float, mean: float, df: int, documents: int) -> float:
    idf = math.log(1 + (documents - df + 0.5) / (df + 0.5))
    return idf * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * length / mean))


def test_the_score_is_that_computed_by_hand() -> None:
    """Without stop words; premises are five tokens longer, and a byte keeps 0.3125 of 1 / 3."""
    of_premises = bm25(2, 1 / 0.3125**2, (9 + 7 + 7 + 6) / 4, 3, 4)  # chess, chess, takes, skill
    in_conclusion = bm25(1, 1 / 0.625**2, (2 + 2 + 2 + 1) / 4, 1, 4) + bm25(1, 1 / 0.625**2, 7 / 4, 2, 4)
    on_page = bm25(1, 1 / 0.625**2, 8 / 4, 3, 4) + bm25(1, 1 / 0.625**2, 8 / 4, 3, 4)
    expected = of_premises + 1.5 * in_conclusion + on_page
    assert ranked(ON_PAGE) == {"both": pytest.approx(expected, rel=1e-6)}


def test_a_conclusion_has_to_have_a_term_and_the_page_all_or_any() -> None:
    assert ranked(ON_PAGE).keys() == {"both"}
    assert ranked(ON_PAGE, match="any").keys() == {"both", "half a page"}


def test_without_pages_the_rest_is_ranked_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    bare = [Argument(each.id, each.conclusion, each.premises) for each in ON_PAGE]
    assert ranked(bare).keys() == {"both", "half a page"}
    assert [each.getMessage() for each in caplog.records] == [
        "no argument has the text of its web page; only premises and conclusions are ranked"
    ]


def test_what_are_no_arguments_and_options_without_effect_are_refused() -> None:
    with pytest.raises(ToucheError, match=r"no document has a conclusion; args\.me ranks arguments"):
        ranked([Document("d", "chess is a sport")])
    with pytest.raises(ParameterError, match=r"with --api args\.me ranks; leave --match out"):
        ranked([], api=True, match="any")


def test_pages_are_read_from_the_corpus(tmp_path: Path) -> None:
    context = ({"sourceText": "all of it"}, {"sourceText": None}, {}, None)
    records = [
        {"id": f"a{number}", "conclusion": "c", "premises": [{"text": "p"}], "context": each}
        for number, each in enumerate(context)
    ]
    (tmp_path / "args-me.json").write_text(json.dumps({"arguments": records}))
    found = [each.page for each in read_argsme_json(tmp_path / "args-me.json")]
    assert found == ["all of it", "", "", ""]


class Server:
    """Answers as told: a status, or raw bytes; then with results."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.troubles: list[int | bytes] = []
        self.results = [("a", 2.5), ("b", 3.5), ("a", 1.0), ("c", 0.5)]
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                words = parse_qs(urlsplit(self.path).query)
                server.asked.append({name: values[0] for name, values in words.items()})
                trouble = server.troubles.pop(0) if server.troubles else server.answer()
                status, body = (trouble, b"{}") if isinstance(trouble, int) else (200, trouble)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/v2/arguments"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self) -> bytes:
        explained = [{"score": score, "name": "sum", "details": []} for _, score in self.results]
        results = [
            {"id": id} | ({"explanation": explanation} if explanation["score"] is not None else {})
            for (id, _), explanation in zip(self.results, explained, strict=True)
        ]
        return json.dumps({"arguments": results, "totalSize": 4}).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server()
    monkeypatch.setenv("ARGSME_URL", server.url)
    for name, value in (("_PAUSE", 0.01), ("_TIMEOUT", 1), ("_ATTEMPTS", 3)):
        monkeypatch.setattr(api, name, value)
    yield server
    server.close()


def test_args_me_is_asked_once_for_each_title_and_its_answer_is_kept(server: Server, tmp_path: Path) -> None:
    found = baselines.load("argsme")([CHESS], [], api=True, depth=7)
    assert list(found) == [(CHESS, [("a", 2.5), ("b", 3.5), ("c", 0.5)])]  # an id that is repeated: the first
    words = {"query": "Is chess a sport?", "pageSize": "7", "format": "json"}
    assert server.asked == [words | {"fields": "totalSize,arguments.id,arguments.explanation.score"}]
    assert len(api.ArgsMe().search(CHESS.title, 7)) == 3 and len(server.asked) == 1
    (kept,) = (tmp_path / "cache" / "touche" / "argsme").iterdir()
    kept.write_text('{"arguments": [{"no": 1}]}')
    assert len(api.ArgsMe().search(CHESS.title, 7)) == 3 and len(server.asked) == 2
    assert api.ArgsMe().search(CHESS.title, 8) and len(server.asked) == 3


def test_answers_without_scores_keep_their_order_and_short_ones_are_told(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.results = [("a", 1.0), ("b", None), ("a", 3.0)]  # type: ignore[list-item]
    with caplog.at_level(logging.WARNING):
        assert api.ArgsMe().search("q", 10) == [("a", 2.0), ("b", 1.0)]
    assert caplog.records[-1].getMessage() == "args.me gave 3 of 4 results for: q"
    api.ArgsMe().search("q", 10)
    assert len(server.asked) == 2  # for what is short is not kept


NO_SIZE = b'{"arguments": [], "totalSize": null}'


@pytest.mark.parametrize(
    "trouble",
    [429, 500, b"<html>", b"[]", b'{"arguments": 1}', b'{"arguments": [{}]}', b'{"arguments": [1]}', NO_SIZE],
)
def test_troubles_that_pass_are_waited_for(server: Server, trouble: int | bytes) -> None:
    server.troubles = [trouble, trouble]
    assert len(api.ArgsMe().search("q", 10)) == 3
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        (404, r"args\.me refuses \(HTTP 404\); see if its API has changed"),
        (
            503,
            r"gave no answer that can be read, 3 times \(HTTP 503\); try again later: what it has answered",
        ),
        (b"{}", r"gave no answer that can be read, 3 times \(no JSON with arguments\)"),
    ],
)
def test_troubles_that_last_are_one_line_and_the_next_call_goes_on(
    server: Server, trouble: int | bytes, message: str
) -> None:
    api.ArgsMe().search("first", 10)
    server.troubles = [trouble] * 3
    with pytest.raises(ToucheError, match=message):
        api.ArgsMe().search("second", 10)
    server.troubles, asked = [], len(server.asked)
    api.ArgsMe().search("first", 10)
    api.ArgsMe().search("second", 10)
    assert len(server.asked) == asked + 1


@pytest.mark.parametrize(
    ("url", "message"),
    [("nowhere", "which is no address"), ("http://127.0.0.1:1/", r"3 times \(ConnectionError")],
)
def test_a_server_that_is_not_there(
    server: Server, url: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARGSME_URL", url)
    with pytest.raises(ToucheError, match=message):
        api.ArgsMe().search("q", 10)
