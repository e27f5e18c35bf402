"""Code submissions: TIRA's unmodified client builds, runs and checks an image, against a local server."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

pytest.importorskip("tira.check_format", reason="needs TIRA's client: pip install tira")
from ruamel.yaml import YAML
from tira.check_format import _fmt, check_format

from built_images import build_once, programs
from conftest import ROOT, git, write_files
from pages import commands
from touche.baselines.starter import write_baseline

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("programs")]

TASK = "a-task"
DATASET = "spot-check-arguments-20261101-training"
CLIENT = Path(sys.executable).parent / "tira-cli"
FORMATS = ["run.txt", "run-with-metadata"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose settings of TIRA's client name a server on loopback with one dataset, and no token."""
    if "docker" not in programs():
        pytest.skip("needs a running docker: install and start it")
    served = tmp_path / "served"
    (served / "v1" / "datasets").mkdir(parents=True)
    with zipfile.ZipFile(served / "inputs.zip", "w") as archive:
        archive.write(ROOT / "topics" / "spot-check-arguments.xml", f"{DATASET}/topics.xml")
        archive.write(ROOT / "corpora/spot-check-arguments/args-me.json", f"{DATASET}/args-me.json")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served)))
    address = f"http://127.0.0.1:{server.server_port}"
    dataset = {
        "id": DATASET,
        "default_task": TASK,
        "mirrors": {"inputs": {"local": f"{address}/inputs.zip"}},
        "format": FORMATS[1],
    }
    (served / "v1" / "datasets" / "all").write_text(json.dumps([dataset]))
    settings = dict.fromkeys(["base_url", "base_url_api", "archive_base_url"], address)
    (tmp_path / "home" / ".tira").mkdir(parents=True)
    (tmp_path / "home" / ".tira" / ".tira-settings.json").write_text(json.dumps(settings))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield tmp_path / "home"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", ["my-team", "bm25", "dense", "elrond"])
def test_the_client_accepts_a_folder_as_it_is(home: Path, tmp_path: Path, name: str) -> None:
    """The starter and a baseline of each base, without build arguments and without --command."""
    folder = tmp_path / "clone" / name
    git(tmp_path, "init", "--quiet", "clone")
    if name == "my-team":
        write_baseline(folder, team='Our "Team" & $Söhne\\')
        build_once("docker", "bm25")
        ignored = ("out/run.txt", ".venv/pyvenv.cfg", "__pycache__/baseline.pyc")
        write_files(folder, dict.fromkeys(ignored, ""))
    else:
        shutil.copytree(ROOT / "baselines" / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        build_once("docker", name)
    # As the page says: the folder becomes a repository of its own, here in another one.
    for line in commands(ROOT / "docs" / "how-to" / "submit-to-tira.md"):
        if line.startswith("git -C my-team "):
            git(folder, *shlex.split(line)[3:])
    command = [CLIENT, "code-submission", "--path", folder, "--task", TASK, "--dataset", DATASET, "--dry-run"]
    environment = os.environ | {"HOME": str(home), "TERM": "dumb"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    try:
        print(done.stdout)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"The git repository {folder} is clean" in done.stdout
        assert "The docker image produced valid outputs on the dataset" in done.stdout
        (output,) = re.findall(r"verify them at (\S+)\)", done.stdout)[-1:]
        for format_of_run in FORMATS:
            assert check_format(Path(output), format_of_run)[0] == _fmt.OK
        record = YAML(typ="safe").load(Path(output) / "ir-metadata.yml")
        team = 'Our "Team" & $Söhne\\' if name == "my-team" else "touche-baselines"
        assert record["actor"]["team"] == team
        assert "commit" not in record["implementation"]["source"]
        assert record["data"]["test collection"]["name"] != "id"
    finally:
        tags = set(re.findall(rf"{name}-[0-9a-f]{{5}}", done.stdout))
        subprocess.run(["docker", "image", "rm", "--force", *tags], capture_output=True)
