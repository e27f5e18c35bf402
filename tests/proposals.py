"""What pull requests could propose for the log of reruns: an honest row, and tampered ones to refuse."""

import csv
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

BASELINE, DATASET, DIMENSION = "bm25", "spot-check/passages", "relevance"
HONEST = "honest.txt"  # the file of the honest row's run at the server's address
# Columns of the honest row that are changed, ADDRESS being the server's, and what the refusal says.
TAMPERED: dict[str, tuple[Mapping[str, str], str]] = {
    "another repository's commit": ({"commit": "f" * 40}, "is not in this repository's main branch"),
    "no commit": ({"commit": ""}, "the commit is missing"),
    "no day of the calendar": ({"date": "2026-02-30"}, "date 2026-02-30 is not between"),
    "a date before the commit": ({"date": "2020-01-01"}, "date 2020-01-01 is not between"),
    "a date to come": ({"date": "2999-01-01"}, "date 2999-01-01 is not between"),
    "a path": ({"baseline": "../../my-team"}, "there is no baseline '../../my-team'"),
    "a command": ({"baseline": "bm25 --k1 $(touch /tmp/harm)"}, "expected.toml has no value"),
    "an unknown dataset": ({"dataset": "/etc"}, "there is no dataset '/etc'"),
    "an unjudged dimension": ({"dimension": "quality"}, "has no value 'pinned, quality, trec_eval'"),
    "an expected value": ({"expected": "0.49414", "difference": "-0.00002"}, "the expected value is 0.49412"),
    "a difference": ({"difference": "0.1"}, "the difference is +0.00000, not +0.10000"),
    "a verdict": ({"verdict": "too high"}, "the verdict is passed, not 'too high'"),
    "a score": ({"got": "0.49414", "difference": "0.00002"}, "got is 0.49412 in the rerun here, not 0.49414"),
    "a judged share": ({"judged": "0.5"}, "in the rerun here, not 0.5"),
    "no encryption": ({"run": "http://127.0.0.1/run.txt"}, "is not an address with https://"),
    "another file": ({"run": "ADDRESS/other.txt"}, "the md5 of 'ADDRESS/other.txt' is "),
    "another run": (
        {"run": "ADDRESS/other.txt", "md5": "ac5114f49734c0b29d3e105e466e5b1e"},
        "got is 0.0 in the run at its address, not 0.49412",
    ),
    "no run": ({"run": "ADDRESS/nothing.txt"}, "cannot be downloaded (404"),
    "a redirection": ({"run": "ADDRESS/away"}, "cannot be downloaded (No connection adapters"),
    "control characters": ({"by": "Ada\x1b[2J"}, "a text contains control characters"),
}
OTHER_RUN = "11 Q0 nothing 1 1 other\n"


def tampered(row: Mapping[str, str], name: str, address: str) -> tuple[dict[str, str], str]:
    """Returns the honest row with changes, and what the refusal says.

    Args:
        row: the honest row.
        name: the changes' name.
        address: the server's address.
    """
    changes, sentence = TAMPERED[name]
    filled_in = {column: text.replace("ADDRESS", address) for column, text in changes.items()}
    return {**row, **filled_in}, sentence.replace("ADDRESS", address)


def last_row(log: Path) -> dict[str, str]:
    """Returns the texts of a log's last row by column."""
    with log.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))[-1]


def propose(path: Path, log: Path, row: Mapping[str, str]) -> None:
    """Writes a copy of a log with another row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log.read_bytes())
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, row, lineterminator="\n").writerow(row)


class _Server(SimpleHTTPRequestHandler):
    """Serves the files of a folder; redirects from ``/away`` to an address without encryption, and never ends
    the answer for ``/endless``.
    """

    def do_GET(self) -> None:
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1/")
            self.end_headers()
        elif self.path == "/endless":
            self.send_response(200)
            self.end_headers()
            Event().wait()
        else:
            super().do_GET()

    def log_message(self, format: str, *arguments: object) -> None:
        """Is silent."""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Path]]:
    """Serves a folder with https on loopback.

    Yields:
        The address and the certificate, for the variable REQUESTS_CA_BUNDLE.
    """
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "other.txt").write_text(OTHER_RUN)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Server, directory=str(folder)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"https://127.0.0.1:{server.server_port}", certificate
    finally:
        server.shutdown()
        server.server_close()
