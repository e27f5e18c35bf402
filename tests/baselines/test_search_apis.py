"""The APIs of args.me and ChatNoir, each spoken by a server on loopback as its documentation has it."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from conftest import ROOT, Touche, Write
from neighbours import neighbour
from touche.baselines import search_apis
from touche.errors import ToucheError
from touche.tira.answers import noting_answers
from touche.trec.topics import Topic

Found = list[tuple[str, float]]
Patch = pytest.MonkeyPatch
Search = Callable[..., Found]
Trouble = int | bytes | tuple[int, str]  # a status, what is sent, or a status and a Retry-After


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Server:
    """Answers as told, then with results. It notes what it is asked, with which headers, and when."""

    def __init__(self, clock: Clock) -> None:
        self.asked: list[dict[str, Any]] = []
        self.agents: list[str] = []
        self.times: list[float] = []
        self.troubles: list[Trouble] = []
        self.delay = self.working = 0.0  # seconds: real ones, and those of the clock
        self.found: list[tuple[Any, Any]] = [("a", 2.5), ("b", 3.5), ("a", 1.0), ("c", 0.5)]
        self.total = 250
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                words = parse_qs(urlsplit(self.path).query)
                self._answer({name: values[0] for name, values in words.items()}, server.arguments)

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._answer(request, server.pages)

            def _answer(self, request: dict[str, Any], answer: Callable[[dict[str, Any]], bytes]) -> None:
                server.asked.append(request)
                server.agents.append(self.headers["User-Agent"])
                server.times.append(clock.now)
                trouble = server.troubles.pop(0) if server.troubles else answer(request)
                threading.Event().wait(server.delay)
                clock.sleep(server.working)
                status, pause = trouble if isinstance(trouble, tuple) else (trouble, "")
                body = b"{}" if isinstance(status, int) else status
                self.send_response(status if isinstance(status, int) else 200)
                self.send_header("Content-Length", str(len(body)))
                if pause:
                    self.send_header("Retry-After", pause)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def gaps(self) -> list[float]:
        return [after - before for before, after in zip(self.times, self.times[1:], strict=False)]

    def arguments(self, _: dict[str, Any]) -> bytes:
        """As args.me answers."""
        scores = [{} if score is None else {"explanation": {"score": score}} for _, score in self.found]
        arguments = [{"id": id} | score for (id, _), score in zip(self.found, scores, strict=True)]
        return json.dumps({"arguments": arguments, "totalSize": 4}).encode()

    def pages(self, request: dict[str, Any]) -> bytes:
        """As ChatNoir answers: two pages of each host stand together, so that scores are not in order."""
        numbers = range(request["from"], min(request["from"] + request["size"], self.total))
        fixed = {
            "uuid": "00000000-0000-0000-0000-000000000000", "index": "cw12", "target_hostname": "a.example",
            "target_uri": "http://a", "page_rank": None, "spam_rank": 70, "title": "t", "snippet": "s",
            "lang": "en", "warc_id": None, "cache_uri": "http://c", "crawl_date": None, "content_type": None,
        }  # fmt: skip
        results = [fixed | {"score": 1000.0 - (n ^ 1), "trec_id": f"clueweb12-{n:04}"} for n in numbers]
        meta = {"query_time": 3, "total_results": self.total, "indices": ["cw12"], "search_method": "default"}
        return json.dumps({"meta": meta, "results": results}).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def clock(monkeypatch: Patch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(search_apis.time, "sleep", clock.sleep)
    return clock


@pytest.fixture
def server(monkeypatch: Patch, clock: Clock) -> Iterator[Server]:
    server = Server(clock)
    monkeypatch.setenv("CHATNOIR_API_KEY", "secret")
    monkeypatch.setenv("CHATNOIR_URL", server.url)
    monkeypatch.setenv("ARGSME_URL", server.url)
    yield server
    server.close()


def argsme(*queries: str, depth: int = 10, cache_days: float = 7) -> Found:
    """The last ranking of args.me's client."""
    return [*RANKINGS["argsme"](topics(queries), depth, cache_days)][-1][1]


def chatnoir(*queries: str, depth: int = 10, cache_days: float = 7) -> Found:
    """The last ranking of ChatNoir's client."""
    return [*RANKINGS["chatnoir"](topics(queries), depth, cache_days)][-1][1]


def topics(queries: Sequence[str]) -> list[Topic]:
    return [Topic(str(number), query) for number, query in enumerate(queries)]


RANKINGS: dict[str, Callable[..., Iterator[tuple[Topic, Found]]]] = {
    "argsme": neighbour("argsme", "api").rankings,
    "chatnoir": neighbour("chatnoir-bm25f", "api").rankings,
}
both = pytest.mark.parametrize("search", [argsme, chatnoir])


def cached(tmp_path: Path) -> list[Path]:
    """The files of stored answers."""
    return sorted((tmp_path / "cache" / "touche" / "answers").glob("*"))


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Those of the connection, without the one that says which engine is asked."""
    messages = [record.getMessage() for record in caplog.records if record.name == search_apis.__name__]
    return [message for message in messages if " ranks with " not in message]


def test_args_me_is_asked_for_ids_and_scores(server: Server) -> None:
    # Of two with an id the first.
    assert argsme("Is chess a sport?", depth=7) == [("a", 2.5), ("b", 3.5), ("c", 0.5)]
    words = {"query": "Is chess a sport?", "pageSize": "7", "format": "json"}
    assert server.asked == [words | {"fields": "totalSize,arguments.id,arguments.explanation.score"}]
    server.found = [("a", 1.0), ("b", None), ("a", 3.0), ("c", 9.0)]
    assert argsme("without scores there is the order", depth=7) == [("a", 4.0), ("b", 3.0), ("c", 1.0)]


def test_pages_of_chatnoir_are_asked_for_one_after_the_other(server: Server) -> None:
    ranking = chatnoir("wool or down?", depth=220)
    assert [(ask["from"], ask["size"]) for ask in server.asked] == [(0, 100), (100, 100), (200, 20)]
    first = {"apikey": "secret", "query": "wool or down?", "index": ["cw12"], "from": 0, "size": 100}
    assert server.asked[0] == first | {"explain": False, "minimal": False, "search_method": "default"}
    assert [id for id, _ in ranking] == [f"clueweb12-{n:04}" for n in range(220)]
    assert ranking[:2] == [("clueweb12-0000", 999.0), ("clueweb12-0001", 1000.0)]
    assert (
        chatnoir("wool or down?", depth=200) == ranking[:200] and len(server.asked) == 3
    )  # each page is cached
    server.total = 130
    first = json.loads(server.pages({"from": 0, "size": 100}))
    first["results"][3]["trec_id"] = None
    server.troubles = [json.dumps(first).encode()]
    assert len(chatnoir("until its results end", depth=1000)) == 129 and len(server.asked) == 5


@both
def test_an_answer_is_cached_by_server_query_and_depth_without_the_key(
    search: Search, server: Server, tmp_path: Path, monkeypatch: Patch
) -> None:
    first = search("q")
    assert search("q") == first and len(server.asked) == 1
    for variable in ("ARGSME_URL", "CHATNOIR_URL"):
        monkeypatch.setenv(variable, server.url + "?a")
    search("q")
    search("r")
    search("q", depth=11)
    assert len(server.asked) == 4
    stored = [file.read_text() for file in cached(tmp_path)]
    assert len(stored) == 4 and "secret" not in "".join(stored)


@both
def test_an_old_answer_is_requested_again(search: Search, server: Server, tmp_path: Path) -> None:
    search("q")
    search("q", cache_days=0)
    assert len(server.asked) == 2
    (file,) = cached(tmp_path)
    date, _, content = file.read_text().partition("\n")
    then = datetime.now(UTC) - timedelta(days=3)
    assert datetime.fromisoformat(date) > then
    file.write_text(f"{then.isoformat()}\n{content}")
    with noting_answers() as dates:
        search("q", cache_days=4)
        assert len(server.asked) == 2 and [*dates.values()] == [[then]]
        search("q", cache_days=2)
        assert len(server.asked) == 3
        search("q", cache_days=2)
        assert len(server.asked) == 3
    *_, noted = dates.values()
    assert [date > then for date in noted] == [False, True, True]


@both
@pytest.mark.parametrize("broken", ["", "[]", '\n{"results": 1}', "{}\n{}", "2024-01-01\n{}"])
def test_a_broken_answer_in_the_cache_is_requested_again(
    search: Search, server: Server, tmp_path: Path, broken: str
) -> None:
    first = search("q")
    (file,) = cached(tmp_path)
    date = file.read_text().partition("\n")[0]
    file.write_text(broken if broken[:1] != "\n" else date + broken)
    assert search("q") == first and len(server.asked) == 2
    assert search("q") == first and len(server.asked) == 2


@both
def test_it_says_who_asks_and_waits_longer_after_troubles(search: Search, server: Server) -> None:
    server.working = 30.0
    search("q", "r")
    server.troubles = [503, 429, 500]
    search("s", "t")
    assert server.gaps == [30 + pause for pause in (1.0, 1.0, 2.0, 4.0, 8.0, 1.0)]
    assert all(re.match(r"touche-baselines/.*\(https://touche.webis.de\)", agent) for agent in server.agents)


@both
def test_it_waits_as_long_as_it_is_asked_to_unless_that_is_too_long(search: Search, server: Server) -> None:
    in_five_minutes = formatdate(time.time() + 290, usegmt=True)
    for asked_for in ("120", in_five_minutes, "-5", "soon", "9" * 5000, "Fri, 99 Foo 9999 99:99:99 GMT"):
        server.troubles = [(429, asked_for)]
        search(f"q{len(server.asked)}")
    assert server.gaps[0::2] == [120.0, pytest.approx(285, abs=5), *4 * [2.0]]
    for asked_for, minutes in (("3601", 61), ("Wed, 21 Oct 2099 07:28:00 GMT", r"\d+")):
        server.troubles = [(503, asked_for)]
        message = rf"requests a pause of {minutes} minutes \(HTTP 503\); try again later"
        with pytest.raises(ToucheError, match=message):
            search("another")


NO_ANSWERS = [b"<html>", b"{}", b"\xff", 100_000 * b"["]
NO_ARGUMENTS = [
    b'{"arguments": [{"id": "a"}]}', b'{"arguments": [], "totalSize": -1}',
    b'{"arguments": [], "totalSize": "many"}', b'{"totalSize": 1, "arguments": [{"id": null}]}',
    b'{"totalSize": 1, "arguments": [{"id": "a b"}]}',
    b'{"totalSize": 1, "arguments": [{"id": "a", "explanation": {"score": NaN}}]}',
]  # fmt: skip
SPOILT = [(b'"meta"', b'"meat"'), (b"clueweb12-0003", b"clueweb12 0003"), (b"999.0", b"1e999")]


@both
def test_another_attempt_after_a_temporary_error_is_reported(
    search: Search, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.troubles = [429, 408]
    assert len(search("q")) == (3 if search is argsme else 10) and len(server.asked) == 3
    attempts = [re.findall(r"attempt (\d).* (\d) s", warning) for warning in warnings_of(caplog)]
    assert attempts == [[("1", "2")], [("2", "4")]]


@pytest.mark.parametrize(
    ("search", "trouble"),
    [
        *((search, answer) for search in (argsme, chatnoir) for answer in NO_ANSWERS),
        *((argsme, argument) for argument in NO_ARGUMENTS),
        *((chatnoir, page) for page in SPOILT),
    ],
)
def test_unreadable_answers_are_one_line_and_not_cached(search: Search, trouble: Any, server: Server) -> None:
    if isinstance(trouble, tuple):
        trouble = server.pages({"from": 0, "size": 10}).replace(*trouble, 1)
    server.troubles = [trouble]
    with pytest.raises(ToucheError, match=r"sent no readable answer \(no JSON with results\); try again"):
        search("q")
    assert len(search("q")) == (3 if search is argsme else 10) and len(server.asked) == 2


def test_a_short_answer_is_told_and_not_kept(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.found = server.found[:3]
    assert len(argsme("q")) == 2
    server.found.append(("c", 0.5))
    assert len(argsme("q")) == 3
    assert len(argsme("q", depth=3)) == 3  # of as many as were asked for none is missing
    (warning,) = warnings_of(caplog)
    assert "3 of 4 results for: q" in warning


@pytest.mark.parametrize(
    ("search", "status", "message"),
    [
        (argsme, 404, r"args\.me refuses .*\(HTTP 404\)"),
        (chatnoir, 401, r"ChatNoir refuses .*\(HTTP 401\); check CHATNOIR_API_KEY, or request a key"),
        (argsme, 503, r"no readable answer \(HTTP 503\); try again later"),
    ],
)  # fmt: skip
def test_troubles_that_last_are_one_line(search: Search, status: int, message: str, server: Server) -> None:
    search("first")
    server.troubles = [status] * 6
    with pytest.raises(ToucheError, match=message) as caught:
        search("second")
    assert "\n" not in str(caught.value) and "secret" not in str(caught.value)
    assert len(server.asked) == (2 if status < 500 else 7)
    server.troubles = []
    requests_before = len(server.asked)
    search("first")
    search("second")
    assert len(server.asked) == requests_before + 1


@both
def test_a_server_that_is_not_there(search: Search, server: Server, monkeypatch: Patch) -> None:
    server.close()
    with pytest.raises(ToucheError, match=r"no readable answer \(ConnectionError\)"):
        search("q")
    for address in ("foo", "ftp://host/x", "http://["):
        monkeypatch.setenv("CHATNOIR_URL", address)
        monkeypatch.setenv("ARGSME_URL", address)
        with pytest.raises(ToucheError, match=r"_URL is '.*', which is not an address"):
            search("q")


def test_a_server_that_does_not_answer_in_time(server: Server, monkeypatch: Patch) -> None:
    monkeypatch.setattr(search_apis, "_ATTEMPTS", 2)
    monkeypatch.setattr(search_apis, "_TIMEOUT", 0.1)
    server.delay = 0.5
    with pytest.raises(ToucheError, match=r"no readable answer \(ReadTimeout\)"):
        chatnoir("q")


@both
def test_a_cache_that_cannot_be_written_is_one_line(search: Search, server: Server, write: Write) -> None:
    write("cache", "")
    with pytest.raises(ToucheError, match=r"cannot be created \(Not a directory\)"):
        search("q")
    assert server.asked == []


@pytest.mark.parametrize(
    ("name", "candidates", "ranked"),
    [("argsme", "cbd", ["b", "c"]), ("chatnoir-bm25f", ("clueweb12-0003", "d"), ["clueweb12-0003"])],
)
def test_candidates_are_ranked_by_what_is_asked(
    name: str, candidates: Sequence[str], ranked: list[str], server: Server, write: Write, touche: Touche
) -> None:
    lines = [{"qid": "1", "query": "chess", "docno": id, "text": "t"} for id in candidates]
    folder = write("in/rerank.jsonl", "".join(json.dumps(line) + "\n" for line in lines)).parent
    code, _, err = touche("run", name, "-i", folder, "-o", folder.parent / "out", "--api")
    assert code == 0 and err.count(f"warning: {server.url} ranks ") == 1
    run = (folder.parent / "out" / "run.txt").read_text().splitlines()
    assert sorted(line.split()[2] for line in run) == ranked


def test_a_run_of_chatnoir_itself(server: Server, touche: Touche, write: Write, monkeypatch: Patch) -> None:
    path = write("in/topics.xml", (ROOT / "topics" / "spot-check-pages.xml").read_bytes())
    out = path.parents[1] / "out"
    command = ("run", "chatnoir-bm25f", "-i", path.parent, "-o", out, "--api", "--depth", "4")

    def ranked(*options: str) -> str:
        touche(*command, *options)
        return "".join(line.split()[2][-1] for line in (out / "run.txt").read_text().splitlines()[:4])

    code, _, err = touche(*command)
    assert code == 0 and "4 topics from topics.xml\n" in err
    warning = "ranks with today's query and index, not those of 2020 and 2021\n"
    assert err.count(f"warning: {server.url} {warning}") == 1
    assert (ranked(), ranked("--group-by-host")) == ("1032", "0123")
    record = yaml.safe_load((out / "ir-metadata.yml").read_text())
    answers = record["data"]["search engines"]["ChatNoir"]
    started = record["resources"]["runtime"]["start time"]
    assert (
        answers["answers"] == 4 and answers["first"] <= answers["last"] < started
    )  # cached by the first run
    assert "with --api, ChatNoir itself ranks" in touche(*command, "--year", "today")[2]
    assert "with --api, ChatNoir itself ranks" in touche(*command, "--keep-statistics", "x.json")[2]
    monkeypatch.delenv("CHATNOIR_API_KEY")
    code, _, err = touche(*command)
    assert code == 2 and "CHATNOIR_API_KEY is not set; request a key at https://www.chatnoir.eu" in err
