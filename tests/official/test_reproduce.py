"""make reproduce in a copy of the project whose publishers are a server on loopback."""

import csv
import hashlib
import io
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from conftest import ROOT
from reading import read_argsme_json
from touche.tasks import dataset
from touche.trec.qrels import read_qrels

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("official")]

DATASET = "touche-2021-task-1/ten-topics"
COLUMNS = "q_id doc_id rel qual query concl prem stance query_clean query_clean_lem".split()


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Is silent."""


@pytest.fixture
def publishers(official: Path, tmp_path: Path) -> Iterator[dict[str, dict[str, str | int]]]:
    """Serves topics, qrels and judged arguments; yields address, md5 and size of each file."""
    folder = tmp_path / "server"
    folder.mkdir()
    with zipfile.ZipFile(folder / "topics.zip", "w") as archive:
        archive.write(official / "topics" / "touche-2021-task-1.xml", "topics-task-1-only-titles.xml")
    qrels = {}
    for dimension in ("relevance", "quality"):
        name = f"touche-task1-51-100-{dimension}.qrels"
        shutil.copyfile(official / "qrels" / name, folder / name)
        qrels[dimension] = read_qrels(folder / name)
    (path,) = (official / "corpora" / "argsme-2020-04-01-ten-topics").glob("args-me.json*")
    arguments = {argument.id: argument for argument in read_argsme_json(path)}
    text = io.StringIO()
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    table.writerow(COLUMNS)
    for topic in dataset(DATASET)[1].topics:
        for id, grade in qrels["relevance"][topic].items():
            argument = arguments[id]
            quality = qrels["quality"][topic][id]
            texts = ["q", argument.conclusion, argument.premises[0], argument.stance, "q", "q"]
            table.writerow([topic, id, grade, quality, *texts])
    (folder / "judged.tsv").write_text(text.getvalue(), encoding="utf-8", newline="")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {
        file.name: {
            "url": f"http://127.0.0.1:{server.server_port}/{file.name}",
            "md5": hashlib.md5(file.read_bytes()).hexdigest(),
            "size": file.stat().st_size,
        }
        for file in folder.iterdir()
    }
    server.shutdown()
    server.server_close()


def line(path: str, download: Mapping[str, str | int], **more: str) -> str:
    values = ", ".join(f"{key} = {value!r}" for key, value in {**download, **more}.items())
    return f'files."{path}" = {{ {values} }}\n'


def make_reproduce(copy: Path) -> subprocess.CompletedProcess[str]:
    command = ["make", "--silent", "reproduce", "-o", ".venv/demo"]
    surroundings = {name: value for name, value in os.environ.items() if name != "TOUCHE_DATA"}
    surroundings |= {"PYTHONPATH": str(copy / "src"), "XDG_CACHE_HOME": str(copy / "cache")}
    return subprocess.run(command, cwd=copy, env=surroundings, capture_output=True, text=True, timeout=120)


def test_make_reproduce_fetches_the_ten_topics_and_names_what_twenty_need(
    publishers: dict[str, dict[str, str | int]], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    for folder in ("src", "baselines"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("topics", "qrels", "corpora"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("touche*", "args*"))
    for name in ("Makefile", "pyproject.toml"):
        shutil.copyfile(ROOT / name, copy / name)
    (copy / ".venv").symlink_to(Path(sys.executable).parent.parent)  # its path may have a blank
    records = copy / "src" / "touche" / "data" / "publishers.toml"
    record = '[[record]]\ntitle = "t"\nurl = "https://example.org"\nlicence = "none stated"\n'
    topics = line(
        "topics/touche-2021-task-1.xml", publishers["topics.zip"], member="topics-task-1-only-titles.xml"
    )
    names = [name for name in publishers if name.endswith(".qrels")]
    qrels = "".join(line(f"qrels/{name}", publishers[name]) for name in names)
    judged = line("corpora/argsme-2020-04-01-ten-topics", publishers["judged.tsv"], dataset=DATASET)
    records.write_text(record + topics + qrels + judged, encoding="utf-8")
    ended = make_reproduce(copy)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("20 of 20 published topic values") == 2
    assert "missing: touche-2022-task-2/twenty-topics; " in ended.stdout
    assert "\ndirichletlm  quality      100      0.607  0.607      +0.000\n" in ended.stdout
    assert "licence: none stated" in ended.stderr
    again = make_reproduce(copy)
    assert again.returncode == 0 and "0 of them to fetch" in again.stderr
    shutil.rmtree(copy / "corpora" / "argsme-2020-04-01-ten-topics")
    records.write_text(records.read_text().replace("127.0.0.1:", "127.0.0.1:1"))  # no such port
    offline = make_reproduce(copy)
    assert (
        offline.returncode == 2
        and "corpora/argsme-2020-04-01-ten-topics cannot be downloaded" in offline.stderr
    )
    assert not list((copy / "corpora").glob("argsme*")) and "Traceback" not in offline.stderr
