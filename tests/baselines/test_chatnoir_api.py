"""ChatNoir's API, spoken by a server on loopback as its documentation of version 1 has it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Touche
from neighbours import neighbour
from touche.errors import ToucheError

chatnoir = neighbour("chatnoir-bm25f", "api")
ChatNoir = chatnoir.ChatNoir


class Server:
    """Answers as told: a status, raw bytes, or None for results; then with results."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.troubles: list[int | bytes] = []
        self.total, self.delay = 250, 0.0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append(asked)
                trouble = server.troubles.pop(0) if server.troubles else server.answer(asked)
                threading.Event().wait(server.delay)
                status, body = (trouble, b"{}") if isinstance(trouble, int) else (200, trouble)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/v1/_search"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, asked: dict[str, Any]) -> bytes:
        """Two pages of each host stand together, so that scores are not in order."""
        numbers = range(asked["from"], min(asked["from"] + asked["size"], self.total))
        results = [
            {
                "score": 1000.0 - (n ^ 1), "uuid": "00000000-0000-0000-0000-000000000000", "index": "cw12",
                "trec_id": f"clueweb12-{n:04}", "target_hostname": "a.example", "target_uri": "http://a",
                "page_rank": None, "spam_rank": 70, "title": "<em>t</em>", "snippet": "s", "lang": "en",
                "warc_id": None, "cache_uri": "http://c", "crawl_date": None, "content_type": None,
            }
            for n in numbers
        ]  # fmt: skip
        meta = {"query_time": 3, "total_results": self.total, "indices": ["cw12"], "search_method": "default"}
        return json.dumps({"meta": meta, "results": results}).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server()
    monkeypatch.setenv("CHATNOIR_API_KEY", "secret")
    monkeypatch.setenv("CHATNOIR_URL", server.url)
    monkeypatch.setattr(chatnoir, "_PAUSE", 0.01)
    monkeypatch.setattr(chatnoir, "_TIMEOUT", 1)
    yield server
    server.close()


def test_results_are_paged_through(server: Server) -> None:
    found = ChatNoir().search("wool or down?", 220)
    assert [(ask["from"], ask["size"]) for ask in server.asked] == [(0, 100), (100, 100), (200, 20)]
    first = {"apikey": "secret", "query": "wool or down?", "index": ["cw12"], "from": 0, "size": 100}
    assert server.asked[0] == first | {"explain": False, "minimal": False, "search_method": "default"}
    assert [id for id, _ in found] == [f"clueweb12-{n:04}" for n in range(220)]
    assert found[:2] == [("clueweb12-0000", 999.0), ("clueweb12-0001", 1000.0)]


def test_it_ends_where_the_results_end(server: Server) -> None:
    server.total = 130
    assert len(ChatNoir().search("q", 1000)) == 130
    assert len(server.asked) == 2


def test_what_was_answered_is_not_asked_again(server: Server, tmp_path: Path) -> None:
    server.troubles = []
    first = ChatNoir().search("q", 150)
    assert ChatNoir().search("q", 150) == first and len(server.asked) == 2
    ChatNoir().search("r", 100)
    ChatNoir("clueweb09").search("q", 100)
    assert len(server.asked) == 4
    kept = [path.read_text() for path in (tmp_path / "cache" / "touche" / "chatnoir").iterdir()]
    assert len(kept) == 4 and not any("secret" in text for text in kept)


@pytest.mark.parametrize("trouble", [429, 500, 503, b"<html>", b'{"results": 1}', b'{"results": [{}]}'])
def test_passing_troubles_pass(
    server: Server, trouble: int | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    server.troubles = [trouble, trouble]
    assert len(ChatNoir().search("q", 10)) == 10
    assert len(server.asked) == 3
    told = [each.getMessage() for each in caplog.records if each.name == "touche.chatnoir"]
    assert [each[-9:] for each in told] == ["attempt 1", "attempt 2"]


def test_an_interrupted_search_goes_on_where_it_was(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chatnoir, "_ATTEMPTS", 1)
    good = server.answer({"from": 0, "size": 100})
    server.troubles = [good, b"broken"]
    with pytest.raises(
        ToucheError, match=r"no answer that can be read, 1 times \(ValidationError\); try again"
    ):
        ChatNoir().search("q", 200)
    assert len(ChatNoir().search("q", 200)) == 200
    assert [ask["from"] for ask in server.asked] == [0, 100, 100]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "ChatNoir refuses: ChatNoir API key invalid or missing"),
        (403, "ChatNoir refuses: ChatNoir API blocked this IP"),
        (429, r"no answer that can be read, 2 times \(ChatNoir API quota exceeded"),
        (500, r"no answer that can be read, 2 times \(ChatNoir API internal server error"),
        (418, r"no answer that can be read, 2 times \(ChatNoir API request failed with code 418"),
    ],
)
def test_lasting_troubles_are_one_line(
    server: Server, status: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chatnoir, "_ATTEMPTS", 2)
    server.troubles = [status] * 9
    with pytest.raises(ToucheError, match=message) as caught:
        ChatNoir().search("q", 10)
    assert "\n" not in str(caught.value) and "secret" not in str(caught.value)


def test_a_server_that_is_silent_or_absent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chatnoir, "_ATTEMPTS", 2)
    server.close()
    with pytest.raises(ToucheError, match=r"no answer that can be read, 2 times \(Connect"):
        ChatNoir().search("q", 10)


def test_an_address_that_is_none_is_not_tried_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("foo", "ftp://host/x", "http://"):
        monkeypatch.setenv("CHATNOIR_URL", address)
        with pytest.raises(ToucheError, match=f"CHATNOIR_URL is '{address}', which is no address"):
            ChatNoir().search("q", 10)


def test_a_server_that_does_not_answer_in_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chatnoir, "_ATTEMPTS", 2)
    monkeypatch.setattr(chatnoir, "_TIMEOUT", 0.1)
    server.delay = 0.5
    with pytest.raises(ToucheError, match=r"no answer that can be read, 2 times \(ReadTimeout\)"):
        ChatNoir().search("q", 10)


def test_it_waits_between_requests_and_ever_longer_after_troubles(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chatnoir, "_PAUSE", 1.0)
    now, slept = [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(chatnoir.time, "sleep", sleep)
    monkeypatch.setattr(chatnoir.time, "monotonic", lambda: now[0])
    server.troubles = [503, 429]
    ChatNoir().search("q", 250)
    assert slept == [0.0, 2.0, 4.0, 1.0, 1.0]


def test_results_without_an_id_do_not_end_the_search(server: Server) -> None:
    first = json.loads(server.answer({"from": 0, "size": 100}))
    first["results"][3]["trec_id"] = None
    server.troubles = [json.dumps(first).encode()]
    assert len(ChatNoir().search("q", 200)) == 199


def test_answers_are_those_of_their_server_and_broken_ones_are_asked_for_again(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ChatNoir().search("q", 100)
    (kept,) = (tmp_path / "cache" / "touche" / "chatnoir").iterdir()
    for asked, broken in enumerate(('[["clueweb', '{"results": []}', "[1]", '[["a", null]]'), 2):
        kept.write_text(broken)
        assert len(ChatNoir().search("q", 100)) == 100 and len(server.asked) == asked
    monkeypatch.setenv("CHATNOIR_URL", server.url + "?")
    ChatNoir().search("q", 100)
    assert len(server.asked) == 6


def test_a_run_of_chatnoir_itself(
    server: Server, touche: Touche, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "topics.xml").write_bytes((ROOT / "topics" / "spot-check-pages.xml").read_bytes())
    command = (
        "run",
        "chatnoir-bm25f",
        "-i",
        tmp_path / "in",
        "-o",
        tmp_path / "out",
        "--api",
        "--depth",
        "4",
    )
    code, _, err = touche(*command)
    assert code == 0 and "4 topics from topics.xml\n" in err
    query = "a second query by OR with 30% of the tokens, 0.99 of its score and 0.01 of the first one's"
    told = f"is asked: ChatNoir's query ({query}) and index of today, not those of 2020 and 2021\n"
    assert err.count(f"warning: {server.url} {told}") == 1
    lines = [line.split() for line in (tmp_path / "out" / "run.txt").read_text().splitlines()]
    assert [line[2][-1] for line in lines[:4]] == ["1", "0", "3", "2"]
    cached = [f"{n} Q0 clueweb12-{d:04} {d + 1} {2000.5 - d} cached\n" for n in (21, 22) for d in (1, 0, 9)]
    (tmp_path / "cached.run").write_text("".join(cached))
    runs = (tmp_path / "cached.run", tmp_path / "out" / "run.txt")
    code, out, _ = touche("overlap", *runs, "--format", "json")
    assert code == 0 and json.loads(out)[0]["topics"] == 4
    touche(*command, "--group-by-host")
    lines = [line.split() for line in (tmp_path / "out" / "run.txt").read_text().splitlines()]
    assert [line[2][-1] for line in lines[:4]] == ["0", "1", "2", "3"]
    assert "with --api ChatNoir ranks; leave --year," in touche(*command, "--year", "today")[2]
    monkeypatch.delenv("CHATNOIR_API_KEY")
    code, _, err = touche(*command)
    assert code == 2 and "CHATNOIR_API_KEY is not set; ask for a key at https://www.chatnoir.eu" in err
