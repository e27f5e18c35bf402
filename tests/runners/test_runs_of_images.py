"""Images and the sandbox. What needs Docker or Podman is skipped where it is missing, with the remedy."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from built_images import BASELINES, OF_LUCENE, build_once, programs
from conftest import ROOT, Touche, Write, wait_for
from pages import CONTAINERS, commands, follow, reason, type_in, workspace
from tiny_bert import make_tiny
from touche.baselines.loader import parts_in_expected
from touche.baselines.starter import write_baseline
from touche.data.places import shipped_baselines
from touche.errors import ToucheError
from touche.runners import image_builds
from touche.runners.container_runs import (
    RUNNERS,
    TOY_PARTS,
    Job,
    Runner,
    _input_and_output,
    _statistics_option,
    run_in_tira,
    run_locally,
)
from touche.runners.limits import CONTAINER_PROGRAMS, Limits
from touche.runners.programs import output_of, succeeds

# The images are built once, so their tests run on one processor.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("programs")]

# The datasets of the toy collection that each baseline ranks, small ones first.
PARTS = {
    name: [part for part in TOY_PARTS if part in parts_in_expected(name)] for name in shipped_baselines()
}


@pytest.fixture(autouse=True)
def empty_output(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The cache is elsewhere, as the folder of a test is also its output directory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def with_the_rest_nightly(names: list[str], now: list[str]) -> list[Any]:
    """Parameters, of which all but some are for the night, as they go the same way."""
    return [name if name in now else pytest.param(name, marks=pytest.mark.nightly) for name in names]


def same_bytes(runner: Runner, folder: Path, baseline: str, given: str) -> None:
    """Has a runner write the bytes that the local run writes."""
    runner(job(folder / "there", baseline, source=given), Limits(), print)
    run_locally(job(folder / "here", baseline, source=given), Limits(), print)
    assert (folder / "there" / "run.txt").read_bytes() == (folder / "here" / "run.txt").read_bytes()


# Both go the same way, so CI runs one image by Podman, and the nightly tests run all of them.
@pytest.fixture(params=["docker", pytest.param("podman", marks=pytest.mark.nightly)])
def program(request: pytest.FixtureRequest) -> Iterator[str]:
    """Docker or Podman with the images; whatever a test does there, no container of it may be left."""
    name = str(request.param)
    if name not in programs():
        pytest.skip(f"needs a running {name}: install and start it")
    build_once(name)
    yield name
    assert not containers(name, os.getpid())


@pytest.fixture
def docker() -> None:
    """Docker with the images."""
    if "docker" not in programs():
        pytest.skip("needs a running docker: install and start it")
    build_once("docker")


@pytest.fixture
def tira(docker: None) -> None:
    if not (Path(sys.executable).parent / "tira-run").exists():
        pytest.skip("needs tira-run: pip install 'touche-baselines[tira]'")


def containers(program: str, pid: int) -> str:
    """The containers that a process has started and that are still there."""
    return output_of(program, "ps", "--all", "--quiet", "--filter", f"name=touche-{pid}-")


def job(output: Path, baseline: str = "bm25", *arguments: str, source: str = "spot-check/passages") -> Job:
    return Job(baseline, arguments, source, output)


# `touche regress --runner docker` in .ci/run compares the rankings of all other images with the pinned ones.
BY_DAY = [(name, PARTS[name][0]) for name in ("argsme", "argsrank", "bm25", "prince-of-persia")]


@pytest.mark.parametrize(
    ("baseline", "part"),
    [
        pytest.param(name, part, marks=() if (name, part) in BY_DAY else pytest.mark.nightly)
        for name, parts in PARTS.items()
        for part in dict.fromkeys([parts[0], parts[-1]])
    ],
)
def test_an_image_writes_the_bytes_that_the_local_run_writes(
    program: str, tmp_path: Path, baseline: str, part: str
) -> None:
    if baseline in OF_LUCENE:
        build_once(program, *OF_LUCENE)
    same_bytes(RUNNERS[program], tmp_path, baseline, part)
    assert (tmp_path / "there" / "run.txt").stat().st_uid == os.getuid()


INPUTS = {
    "TIRA": {
        "queries.jsonl": '{"qid": "1", "query": "cats"}',
        "documents.jsonl.gz": '{"docno": "a", "text": "cats"}',
    },
    "pages": {
        "topics.xml": "<topics><topic><number>1</number><title>cats</title></topic></topics>",
        "pages.csv": "id,file,url\na,html/a.html,\n",
        "html/a.html": "<p>cats",
    },
}


@pytest.mark.parametrize("kind", INPUTS)
def test_an_image_reads_both_generations_of_input(
    program: str, write: Write, tmp_path: Path, kind: str
) -> None:
    for name, content in INPUTS[kind].items():
        write(f"in/{name}", content)
    RUNNERS[program](job(tmp_path / "out", source=str(tmp_path / "in")), Limits(), print)
    assert (tmp_path / "out" / "run.txt").read_text().startswith("1 Q0 a 1 0.")


def test_the_metadata_names_the_collection_of_a_folder_as_a_local_run_does(
    program: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder itself has another name in the container; tira-cli upload refuses another dataset."""

    def names() -> list[str]:
        metadata = []
        for folder, runner in (("there", RUNNERS[program]), ("here", run_locally)):
            runner(job(tmp_path / folder, source=str(tmp_path / "in")), Limits(), print)
            metadata.append(yaml.safe_load((tmp_path / folder / "ir-metadata.yml").read_text()))
        return [record["data"]["test collection"]["name"] for record in metadata]

    for name, content in INPUTS["TIRA"].items():
        write(f"in/{name}", content)
    assert names() == ["in", "in"]
    monkeypatch.setenv("TIRA_DATASET_ID", "cats-20261101-training")
    assert names() == ["cats-20261101-training"] * 2


def test_the_variables_of_tira_stand_in_for_the_options(program: str, write: Write, tmp_path: Path) -> None:
    """As root and without a sandbox, as TIRA runs it: a shell in place of the entrypoint."""
    for name, content in INPUTS["TIRA"].items():
        write(f"in/{name}", content)
    (tmp_path / "out").mkdir()
    folders = [f"--volume={tmp_path}:/tira", "--env=inputDataset=/tira/in", "--env=outputDir=/tira/out"]
    command = [program, "run", "--rm", "--network=none", "--entrypoint=sh", *folders, "touche/bm25"]
    subprocess.run([*command, "-c", "baseline"], check=True)
    assert (tmp_path / "out" / "run.txt").read_text().startswith("1 Q0 a 1 0.")


def test_an_image_explains_itself_and_carries_labels_but_no_tests_and_no_compiler(program: str) -> None:
    assert "--variant [terrier|classic]" in output_of(program, "run", "--rm", "touche/tfidf", "--help")
    labels = output_of(program, "image", "inspect", "--format", "{{json .Config.Labels}}", "touche/tfidf")
    labels_by_name = {key.rpartition(".")[2]: value for key, value in json.loads(labels).items()}
    assert labels_by_name["title"] == "touche/tfidf" and labels_by_name["licenses"] == "Apache-2.0"
    assert labels_by_name["version"] == version("touche-baselines") and labels_by_name.keys() >= {
        "revision",
        "source",
    }
    absent = "! command -v gcc cc && ! find /opt -type d -name tests | grep -q ."
    inside = [program, "run", "--rm", "--entrypoint=sh", "touche/tfidf", "-c"]
    assert subprocess.run([*inside, absent]).returncode == 0
    assert subprocess.run([*inside, "/opt/touche/bin/python -c 'import scipy'"]).returncode == 1
    assert int(image_builds.size(program, "tfidf").split()[0]) <= 600  # MB


@pytest.mark.parametrize("baseline", with_the_rest_nightly(BASELINES, now=["rank-bm25"]))
@pytest.mark.usefixtures("tira")
def test_the_unmodified_tira_run_gets_the_same_bytes_from_every_image(tmp_path: Path, baseline: str) -> None:
    same_bytes(run_in_tira, tmp_path, baseline, PARTS[baseline][0])


@pytest.mark.parametrize("runner", ["docker", "tira"])
@pytest.mark.usefixtures("tira")
def test_the_task_of_a_run_is_found_by_the_id_of_its_dataset(
    touche: Touche, tmp_path: Path, runner: str
) -> None:
    RUNNERS[runner](job(tmp_path / "out"), Limits(), print)
    record = yaml.safe_load((tmp_path / "out" / "ir-metadata.yml").read_text())
    assert record["data"]["test collection"]["name"] == "spot-check/passages"
    assert touche("evaluate", tmp_path / "out" / "run.txt")[0] == 0


FAULTS = {
    "exits": "faulty: exit code 2: .* ended the program with exit code 3 before it wrote run.txt",
    "hangs": "faulty .* time limit of 4 s",
    "eats memory": "faulty .* memory limit of 128m",
    "writes nothing": "faulty: exit code 2: .* ended the program with exit code 0 before it wrote run.txt",
    "writes elsewhere": "faulty: exit code 1: .*baseline.py:[0-9]+: OSError: .*Read-only file system",
    "calls home": "faulty: exit code 1: .*baseline.py:[0-9]+: URLError: .*Network is unreachable",
    "links": "faulty .* exit code 0 without run.txt",
    "empty run": "run.txt.invalid: .* empty",
    "bad run": r"run.txt.invalid:2: .*\(the first of 2 errors\)",
}


def faulty(output: Path, fault: str) -> Job:
    return job(output, str(ROOT / "tests" / "faulty"), "--fault", fault)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_baseline_is_one_line_and_leaves_nothing(program: str, tmp_path: Path, fault: str) -> None:
    limits = Limits(memory="128m", seconds=4 if fault == "hangs" else 60)
    (tmp_path / "run.txt").write_text("of an earlier run")
    with pytest.raises(ToucheError, match=FAULTS[fault]):
        RUNNERS[program](faulty(tmp_path, fault), limits, print)
    left = ["run.txt.invalid"] if "run" in fault else []
    assert [path.name for path in tmp_path.iterdir()] == left


@pytest.mark.parametrize("runner", ["sandbox", "tira"])
def test_only_the_run_leaves_a_container(
    program: str, runner: str, write: Write, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if runner == "tira":
        request.getfixturevalue("tira")
    folder = write("out/notes.txt", "mine").parent
    write("elsewhere/thesis.tex", "mine")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    RUNNERS[program if runner == "sandbox" else runner](faulty(folder, "overwrites"), Limits(), print)
    assert {path.name for path in folder.iterdir()} == {"notes.txt", "link", "run.txt"}
    assert {path.read_text() for path in (folder / "notes.txt", folder / "link" / "thesis.tex")} == {"mine"}
    assert (folder / "run.txt").stat().st_mode == (folder / "notes.txt").stat().st_mode


@pytest.mark.usefixtures("tira")
def test_tira_run_leaves_no_earlier_run_if_it_fails(write: Write) -> None:
    folder = write("out/run.txt", "of an earlier run").parent
    with pytest.raises(ToucheError, match=r"without run\.txt"):
        run_in_tira(faulty(folder, "exits"), Limits(seconds=60), print)
    assert not [*folder.iterdir()]


def start_hanging(output: Path, runner: str) -> "subprocess.Popen[bytes]":
    """The command, with a baseline that hangs."""
    hanging = faulty(output, "hangs")
    words = ["run", hanging.baseline, *hanging.arguments, "-i", hanging.input, "-o", str(output)]
    return subprocess.Popen(
        [sys.executable, "-m", "touche", *words, "--runner", runner],
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_container(program: str, tmp_path: Path, stop: signal.Signals) -> None:
    process = start_hanging(tmp_path, program)
    container = wait_for(lambda: containers(program, process.pid))
    (inspected,) = json.loads(output_of(program, "inspect", container))
    settings = inspected["HostConfig"]
    assert (settings["NanoCpus"], settings["Memory"], settings["MemorySwap"]) == (10**9, 2**32, 2**32)
    assert settings["ReadonlyRootfs"] and not settings["Privileged"]
    assert (settings["PidsLimit"], settings["NetworkMode"]) == (1024, "none")
    assert settings["LogConfig"]["Type"] == "none"
    if program == "docker":
        assert settings["CapDrop"] == ["ALL"] and "no-new-privileges" in settings["SecurityOpt"]
    mounts = {mount["Destination"]: mount["RW"] for mount in inspected["Mounts"]}
    assert mounts == {"/input/topics.xml": False, "/input/passages.jsonl": False, "/output": True}
    process.send_signal(stop)
    assert process.wait(30) == 128 + stop
    assert not containers(program, process.pid)
    assert list(tmp_path.iterdir()) == []


def test_the_next_run_removes_the_container_of_a_killed_run(program: str, tmp_path: Path) -> None:
    killed, alive = (start_hanging(tmp_path / name, program) for name in ("killed", "alive"))
    try:
        assert wait_for(lambda: containers(program, killed.pid) and containers(program, alive.pid))
        killed.kill()
        killed.wait()
        assert containers(program, killed.pid)
        RUNNERS[program](job(tmp_path / "next"), Limits(), print)
        assert containers(program, alive.pid) and not containers(program, killed.pid)
    finally:
        alive.terminate()
        alive.wait()


@pytest.mark.usefixtures("tira")
def test_an_interrupted_tira_run_leaves_no_container(tmp_path: Path) -> None:
    process = start_hanging(tmp_path, "tira")
    try:
        (output,) = wait_for(lambda: [*tmp_path.glob(".touche-run-*")])
        mounted = ("docker", "ps", "--quiet", f"--filter=volume={output}")
        assert wait_for(lambda: output_of(*mounted))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.terminate()
    assert output_of(*mounted) == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("tira")
def test_tira_run_is_not_given_what_its_shell_would_change(tmp_path: Path) -> None:
    with pytest.raises(ToucheError, match=r'tira-run cannot pass "it\'s".*; use only letters'):
        run_in_tira(job(tmp_path / "out", "tfidf", "--variant", "it's"), Limits(), print)


def test_an_image_of_other_files_is_refused_and_the_earlier_run_stays(program: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(ROOT / "baselines" / "bm25", tmp_path / "bm25"))
    RUNNERS[program](job(tmp_path / "out", str(folder)), Limits(), print)
    with (folder / "baseline.py").open("a") as file:
        file.write("# changed\n")
    with pytest.raises(
        ToucheError, match=r"touche/bm25 was not built from the current files of .*/bm25; build"
    ):
        RUNNERS[program](job(tmp_path / "out", str(folder)), Limits(), print)
    assert (tmp_path / "out" / "run.txt").exists()


def test_a_colon_in_a_path_is_no_mount_option(program: str, write: Write, tmp_path: Path) -> None:
    for name, content in INPUTS["TIRA"].items():
        write(f"a:ro/{name}", content)
    RUNNERS[program](job(tmp_path / "b:ro", source=str(tmp_path / "a:ro")), Limits(), print)
    assert (tmp_path / "b:ro" / "run.txt").exists()
    with pytest.raises(ToucheError, match="/a,b: Docker and Podman cannot mount"):
        RUNNERS[program](job(tmp_path / "a,b", source=str(tmp_path / "a:ro")), Limits(), print)


def test_a_program_that_is_missing_or_does_not_run_is_named(
    monkeypatch: pytest.MonkeyPatch, touche: Touche, write: Write, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    command = ("run", "bm25", "-i", "spot-check/passages", "-o", tmp_path / "out", "--runner")
    for program in CONTAINER_PROGRAMS:
        assert touche(*command, program)[::2] == (2, f"touche: {program} is not installed; install it\n")
    write("bin/docker", "#!/bin/sh\necho first >&2; echo permission denied >&2; exit 1\n").chmod(0o755)
    write("bin/podman", "#!/bin/sh\nexit 0\n").chmod(0o755)
    _, _, err = touche(*command, "docker")
    assert "its service is unreachable (permission denied)" in err and "or use: --runner podman\n" in err


@pytest.mark.usefixtures("docker")
def test_readmes_container_and_new_baseline_have_the_scores_that_it_prints(tmp_path: Path) -> None:
    page = ROOT / "README.md"
    tried = follow(page, workspace(tmp_path / "clone"), but=CONTAINERS)
    assert tried == [command for command in commands(page) if reason(command) in ("", CONTAINERS)]


@pytest.mark.usefixtures("docker")
@pytest.mark.parametrize("name", with_the_rest_nightly(["submit-to-tira.md", "official-data.md"], now=[]))
def test_the_commands_of_the_guides_work(tmp_path: Path, name: str) -> None:
    """Those that need images, and the ones before them; tests/project/test_docs.py leaves them out."""
    page = ROOT / "docs" / "how-to" / name
    folder = workspace(tmp_path / "clone")
    team = f"guide-{os.getpid()}"
    try:
        tried = follow(page, folder, but=CONTAINERS, team=team)
        listed = type_in(folder, "touche images list")
    finally:
        succeeds("docker", "image", "rm", "--force", f"touche/{team}")
    assert tried == [command for command in commands(page) if reason(command) in ("", CONTAINERS)]
    assert re.search(r"^bm25 +touche/bm25 ", listed, flags=re.MULTILINE)
    if name == "submit-to-tira.md":
        by_hand, by_harness = (
            (folder / "out" / name / "run.txt").read_bytes() for name in ("image", "sandbox")
        )
        assert by_hand == by_harness


@pytest.mark.usefixtures("docker")
@pytest.mark.parametrize(
    "source", ["README.md", pytest.param(".github/workflows/check.yml", marks=pytest.mark.nightly)]
)
def test_a_new_baseline_becomes_an_image_as_its_files_say(tmp_path: Path, source: str) -> None:
    team = f"starter-{os.getpid()}"
    write_baseline(tmp_path / team)
    text = (tmp_path / team / source).read_text()
    commands = re.findall("^ {4,}(?:run: )?((?:touche|docker) .*)$", text, flags=re.MULTILINE)
    script = "\n".join(command for command in commands if "docker" in command or "yml" in source)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    try:
        done = subprocess.run(
            ["sh", "-exc", f"touche images build ./{team}\n{script}"],
            cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True,
        )  # fmt: skip
    finally:
        # Its README builds the image again by docker build, which leaves the first one without a name.
        title = f"--filter=label=org.opencontainers.image.title=touche/{team}"
        succeeds("docker", "image", "rm", "--force", *output_of("docker", "images", "--quiet", title).split())
    assert done.returncode == 0, done.stderr
    assert (len(commands), "\nexpected results: 2 passed\n" in done.stdout) == (
        10 if source == "README.md" else 5,
        True,
    )
    assert len(list((tmp_path / "out").rglob("run.txt"))) == 1


@pytest.mark.nightly
@pytest.mark.usefixtures("docker")
def test_a_model_for_next_sentences_is_fetched_when_the_image_is_built(tmp_path: Path) -> None:
    """From a server on this machine; at run time there is no network."""
    model_folder = tmp_path / "hub" / "team" / "tiny" / "resolve" / "abc123"
    tiny = make_tiny(tmp_path / "tiny")
    shutil.copytree(tiny, model_folder)
    files = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "hub"))
    with ThreadingHTTPServer(("127.0.0.1", 0), files) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        arguments = {"HUB": f"http://127.0.0.1:{server.server_port}", "NSP_MODEL": "team/tiny"}
        words = [f"--build-arg={name}={value}" for name, value in arguments.items()]
        folder = str(ROOT / "baselines" / "sentence-coherence")
        command = ["docker", "build", "--force-rm", "--network=host", "--tag=touche/nsp-test", *words, folder]
        unpinned = subprocess.run(command, capture_output=True, text=True)
        assert unpinned.returncode and "NSP_REVISION: pins the model" in unpinned.stdout + unpinned.stderr
        subprocess.run([*command[:-1], "--build-arg=NSP_REVISION=abc123", folder], check=True)
        server.shutdown()
    inside = ["-i", "/input", "-o", "/output", "--coherence", "nsp", "--model", "/opt/nsp", "--depth", "100"]
    (tmp_path / "out").mkdir()
    run = job(tmp_path / "out", "sentence-coherence", source="spot-check/pairs")
    mounts = _input_and_output(run, run.output)
    try:
        run = ["docker", "run", "--rm", "--network=none", *mounts, "touche/nsp-test", *inside]
        subprocess.run(run, check=True)
    finally:
        succeeds("docker", "image", "rm", "--force", "touche/nsp-test")
    local = ["--coherence", "nsp", "--model", str(tiny), "--depth", "100"]
    run_locally(
        job(tmp_path / "here", "sentence-coherence", *local, source="spot-check/pairs"), Limits(), print
    )
    here, there = ((tmp_path / name / "run.txt").read_text() for name in ("here", "out"))
    tag = "touche-sentence-coherence-coherence=nsp-model={}-depth=100"
    assert here.replace(tag.format(tiny.name), "") == there.replace(tag.format("nsp"), "")


LOADING = '''import touche

@touche.baseline
def mine(topics: touche.Topics, documents: touche.Documents, *, depth: int = 100) -> touche.Rankings:
    """Ranks by another baseline, which an image does not contain."""
    yield from touche.load("bm25")(topics, documents, depth=depth)
'''


def test_a_baseline_that_needs_another_one_becomes_no_image(
    program: str, tmp_path: Path, touche: Touche
) -> None:
    team = f"loading-{os.getpid()}"
    write_baseline(tmp_path / team)
    (tmp_path / team / "baseline.py").write_text(LOADING)
    code, _, err = touche("images", "build", tmp_path / team, "--runner", program)
    assert code == 2 and f"touche/{team} fails on spot-check/passages, so it was removed: " in err
    assert "there is no baseline 'bm25'; an image contains only its own baseline" in err.splitlines()[-1]
    assert not output_of(program, "images", "--quiet", f"touche/{team}")


WRONG_FOLDERS = {  # with their Dockerfiles
    "My_Base-Line": ("FROM touche/base\n", "its name is not valid for an image"),
    "mine": ("COPY baseline.py /opt/baselines/bm25/\n", "/opt/baselines/mine/"),
    "without": (None, "no Dockerfile in this folder"),
}


@pytest.mark.parametrize(
    ("baseline", "dataset", "option"),
    [
        ("dirichletlm", "touche-2021-task-1/ten-topics", ["--statistics", "argsme-2020-04-01"]),
        ("dph", "touche-2021-task-1/ten-topics", []),
        ("dirichletlm", "touche-2021-task-1", []),
        ("dirichletlm", "touche-2021-task-1/sample", []),
        ("bm25", "touche-2022-task-2/twenty-topics", ["--statistics", "touche-2022-task-2"]),
        ("bm25", str(ROOT / "corpora"), []),
    ],
)
def test_an_image_is_passed_the_name_of_its_statistics(
    tmp_path: Path, baseline: str, dataset: str, option: list[str]
) -> None:
    assert _statistics_option(job(tmp_path, baseline, source=dataset)) == option
    assert _statistics_option(job(tmp_path, baseline, "--statistics", "none", source=dataset)) == []


@pytest.mark.parametrize("name", WRONG_FOLDERS)
def test_a_folder_that_makes_no_image_of_its_own_is_named(program: str, write: Write, name: str) -> None:
    dockerfile, message = WRONG_FOLDERS[name]
    folder = write(f"{name}/baseline.py", "").parent
    if dockerfile:
        write(f"{name}/Dockerfile", dockerfile)
    with pytest.raises(ToucheError, match=message):
        image_builds.build(program, [str(folder)], print)
