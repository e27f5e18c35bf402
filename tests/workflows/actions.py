"""Runs the workflows of GitHub Actions here: make workflows, or make workflows ONLY=test.yml:lint.

Every ``run:`` step runs in its order, in a clean clone of the last commit. Equivalents replace actions, and
no cache is ever hit. What cannot run here is listed with the reason.
"""

import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
STARTER = "my-team.yml"  # the name of the starter's check.yml here
REPOSITORY, TEAM = "touche/touche-baselines", "team/my-team"
WORKFLOWS = {path.name: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))} | {
    STARTER: ROOT / "src/touche/baselines/starter/my-team/.github/workflows/check.yml"
}
VARIABLES = {"regression.yml": {"DATASETS": "spot-check/arguments spot-check/pairs"}}  # not the official data
UNSET = {"VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "TOUCHE_DATA", "PYTEST_ADDOPTS", "VENV"}
NOT_HERE = {
    "pypa/gh-action-pypi-publish": "trusted publishing",
    "actions/attest-build-provenance": "attestations",
    "actions/deploy-pages": "GitHub Pages",
    "actions/upload-pages-artifact": "GitHub Pages",
}
SCRIPTS_NOT_HERE = {
    "sudo ": "changes the machine",
    "make (test-all|workflows)": "it would run the workflows again",
    "(?s)amd64=.*arm64=": "needs the images of both kinds of processors",
    "ghcr.io": "needs docker-registry",
    "docker pull": "needs the registry of the Python image",
}
PASSED, FAILED, LEFT_OUT = "passed", "FAILED", "left out"

_TOKEN = re.compile(
    r"(?P<sign>&&|\|\||[!=]=|[(),])|'(?P<literal>(?:[^']|'')*)'|(?P<name>[A-Za-z_][\w.-]*\(?)"
)
_SIGNS = {"&&": " and ", "||": " or "}
_OPEN = ("outputs", "vars")  # what these lack is empty, as on GitHub


class UnknownExpressionError(Exception):
    """An expression that this module does not know."""


def evaluated(text: str, context: Mapping[str, Any]) -> Any:
    """Returns the value of an expression, without its braces.

    Raises:
        UnknownExpressionError: if a name, function or sign is not known, or has no value.
    """

    def in_python(token: re.Match[str]) -> str:
        if token["name"]:
            return f"value({token['name'].removesuffix('(')!r}){'(' * token['name'].endswith('(')}"
        sign = token["sign"]
        return _SIGNS.get(sign, sign) if sign else repr(token["literal"].replace("''", "'"))

    try:
        if unknown := _TOKEN.sub("", text).strip():
            raise SyntaxError(unknown)
        names = {"__builtins__": {}, "value": lambda name: _looked_up(name, context)}
        return eval(_TOKEN.sub(in_python, text).strip(), names)
    except (SyntaxError, KeyError, TypeError, ValueError) as error:
        raise UnknownExpressionError(f"{text.strip()!r} ({error})") from error


def _looked_up(name: str, context: Mapping[str, Any]) -> Any:
    value: Any = context
    for before, part in pairwise(["", *name.split(".")]):
        value = value.get(part, "") if before in _OPEN else value[part]
    return value


def filled(value: Any, context: Mapping[str, Any]) -> Any:
    """Returns a value of a workflow with its ``${{ }}`` evaluated; a lone expression keeps its type."""
    if isinstance(value, Mapping):
        return {key: filled(each, context) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, context) for each in value]
    if not isinstance(value, str):
        return value
    if whole := re.fullmatch(r"\$\{\{((?:(?!\}\}).)*)\}\}", value):
        return evaluated(whole[1], context)
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: str(evaluated(match[1], context)), value)


def combinations_of(matrix: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the combinations of a matrix; those of ``include`` are further ones, as in these workflows."""
    axes = {name: values for name, values in matrix.items() if name != "include"}
    crossed = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())] if axes else []
    return [*crossed, *matrix.get("include", ())] or [{}]


@dataclass
class Runner:
    """What jobs share.

    Attributes:
        folder: where all of it is.
        registry: the registry of images that replaces GitHub's, on loopback.
        states: of the current workflow's jobs, one for each combination.
        needs: the outputs of these jobs.
        report: a line for each job and each step that was left out.
    """

    folder: Path
    registry: str = "ghcr.io"
    states: dict[str, list[str]] = field(default_factory=dict)
    needs: dict[str, dict[str, Any]] = field(default_factory=dict)
    report: list[str] = field(default_factory=list)

    def run(self, name: str, only: str = "") -> None:
        """Runs a workflow; ``only`` names a job, which then runs without those that it needs."""
        workflow = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
        self.states = {job: [PASSED] if only else [] for job in workflow["jobs"]}
        self.needs = {job: {"outputs": {}} for job in workflow["jobs"]}
        for id, job in workflow["jobs"].items():
            if only in ("", id):
                self._run_job(name, workflow, id, job)

    def _run_job(self, name: str, workflow: Any, id: str, job: Any) -> None:
        """Runs a job if each that it needs passed for a combination, and failed for none."""
        needs = [job.get("needs", [])] if isinstance(job.get("needs"), str) else job.get("needs", [])
        missing = [each for each in needs if {*self.states[each]} - {LEFT_OUT} != {PASSED}]
        try:
            context = {"needs": self.needs, "fromJSON": json.loads}
            combinations = combinations_of(filled(job.get("strategy", {}).get("matrix", {}), context))
        except UnknownExpressionError:  # a job that it needs has not run here, or a step of that
            missing = missing or [f"an output of {', '.join(needs)}"]
        if missing:
            self.states[id] = [LEFT_OUT]
            self.note(f"{name}:{id}", LEFT_OUT, f"needs {', '.join(missing)}")
            return
        for matrix in combinations:
            listed = ", ".join(map(str, matrix.values()))
            title = f"{name}:{id} ({listed})" if matrix else f"{name}:{id}"
            started, running = time.monotonic(), _Job(self, name, title, workflow, job, matrix)
            state, why = running.run()
            self.states[id].append(state)
            self.needs[id]["outputs"] |= running.outputs
            self.note(title, state, why or f"{time.monotonic() - started:.0f} s")

    def note(self, title: str, state: str, why: str) -> None:
        """Reports what became of a job or a step."""
        self.report.append(f"{state:8}  {title}: {why}")
        print(self.report[-1], flush=True)


class _Job:
    """A job with one combination of its matrix, in a workspace of its own."""

    def __init__(
        self, runner: Runner, name: str, title: str, workflow: Any, job: Any, matrix: Mapping[str, Any]
    ) -> None:
        self.runner, self.title, self.job, self.outputs = runner, title, job, dict[str, str]()
        self.temporary = Path(tempfile.mkdtemp(dir=runner.folder))
        self.workspace = self.temporary / "workspace"
        self.workspace.mkdir()
        self.failed = False
        github = {
            "actor": "touche", "event_name": "push", "ref": "refs/heads/main", "ref_name": _tag(name),
            "repository": TEAM if name == STARTER else REPOSITORY, "server_url": "https://github.com",
        }  # fmt: skip
        self.context: dict[str, Any] = {
            "github": github | {"token": "a-token"}, "matrix": matrix, "needs": runner.needs, "steps": {},
            "env": workflow.get("env", {}) | VARIABLES.get(name, {}) | job.get("env", {}),
            "vars": {"TOUCHE_BASELINES": REPOSITORY}, "hashFiles": lambda *patterns: "0",
            "always": lambda: True, "success": lambda: not self.failed, "fromJSON": json.loads,
        }  # fmt: skip
        programs = [
            each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "activate").exists()
        ]
        docker = self.temporary / "docker"
        docker.mkdir(exist_ok=True)
        (docker / "config.json").write_text("{}")  # Podman refuses a folder without this file
        self.environment = {name: value for name, value in os.environ.items() if name not in UNSET} | {
            **{f"GITHUB_{name.upper()}": value for name, value in github.items()},
            "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"), "RUNNER_TEMP": str(self.temporary),
            "DOCKER_CONFIG": str(docker), "PATH": os.pathsep.join(programs),
            **{name: str(value) for name, value in self.context["env"].items()},
        }  # fmt: skip

    def run(self) -> tuple[str, str]:
        """Returns the state of the job, and why it is no better."""
        if why := self._why_not():
            return LEFT_OUT, why
        why = ""
        for number, step in enumerate(self.job["steps"], 1):
            condition = str(step.get("if", "success"))
            expression = condition if "always" in condition else f"success() && ({condition})"
            if not evaluated(expression, self.context):
                continue
            label = step.get("name") or step.get("uses") or step["run"].splitlines()[0]
            if problem := self._step(step, f"step {number}, {label}"):
                self.failed, why = True, why or problem
        self.outputs = filled(self.job.get("outputs", {}), self.context)
        return (FAILED, why) if self.failed else (PASSED, "")

    def _why_not(self) -> str:
        label = filled(self.job["runs-on"], self.context)
        is_arm = platform.machine() in ("aarch64", "arm64")
        if not label.startswith("ubuntu") or ("arm" in label) != is_arm or "container" in self.job:
            return f"needs the runner {label}"
        for step in self.job["steps"]:
            version = filled(step.get("with", {}).get("python-version", ""), self.context)
            if version and not _python(version):
                return f"needs Python {version}"
            if why := NOT_HERE.get(step.get("uses", "").partition("@")[0]):
                return why
        return ""

    def _step(self, step: Mapping[str, Any], label: str) -> str:
        """Runs a step; returns what is wrong, if anything is."""
        outputs: dict[str, str] = {}
        if "id" in step:
            self.context["steps"][step["id"]] = {"outputs": outputs}
        if "uses" in step:
            if not (action := ACTIONS.get(step["uses"].partition("@")[0])):
                return f"{label}: there is no equivalent"
            try:
                outputs |= action(self, filled(step.get("with", {}), self.context)) or {}
            except (OSError, subprocess.CalledProcessError) as error:
                return f"{label}: {error}"
            return ""
        script = filled(step["run"], self.context).replace("ghcr.io", self.runner.registry)
        if why := self._why_not_run(script):
            self.runner.note(f"{self.title}, {label}", LEFT_OUT, why)
            return ""
        return self._run(script, filled(step.get("env", {}), self.context), outputs, label)

    def _why_not_run(self, script: str) -> str:
        if "type=local" in script and "io.containerd.snapshotter" not in _printed("docker", "info"):
            return "needs Docker with containerd's store"
        return next((why for words, why in SCRIPTS_NOT_HERE.items() if re.search(words, script)), "")

    def _run(self, script: str, variables: Mapping[str, str], outputs: dict[str, str], label: str) -> str:
        files = {f"GITHUB_{name}": self.temporary / name.lower() for name in ("OUTPUT", "ENV", "PATH")}
        for path in files.values():
            path.write_text("")
        print(f"          {self.title}, {label}", flush=True)
        log = self.temporary / "log.txt"
        with log.open("w") as out:
            code = subprocess.run(
                ["bash", "-e", "-c", script],
                cwd=self.workspace,
                env=self.environment | variables | {name: str(path) for name, path in files.items()},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            ).returncode
        outputs |= _pairs(files["GITHUB_OUTPUT"])
        self.environment |= _pairs(files["GITHUB_ENV"])
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.prepend_path(line)
        if code:
            print("\n".join(log.read_text(errors="replace").splitlines()[-40:]), flush=True)
        return f"{label}: exit code {code}" if code else ""

    def prepend_path(self, folder: Path | str) -> None:
        """Has the programs in a folder called first."""
        self.environment["PATH"] = f"{folder}:{self.environment['PATH']}"


# What takes the place of actions.


def _checkout(job: _Job, given: Mapping[str, str]) -> None:
    repository = given.get("repository", job.context["github"]["repository"])
    source = ROOT if repository == REPOSITORY else _starter(job.temporary)
    subprocess.run(["git", "clone", "--quiet", source, job.workspace / given.get("path", ".")], check=True)


def _set_up_python(job: _Job, given: Mapping[str, str]) -> None:
    folder = job.temporary / "python"
    subprocess.run([_python(given["python-version"]), "-m", "venv", folder], check=True)
    job.prepend_path(folder / "bin")


def _upload(job: _Job, given: Mapping[str, str]) -> None:
    files = [path for pattern in given["path"].split() for path in job.workspace.glob(pattern)]
    if not files and given.get("if-no-files-found") == "error":
        raise FileNotFoundError(f"{given['path']}: no such artifact")
    folder = job.runner.folder / "artifacts" / given["name"]
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        shutil.copy2(path, folder)


def _download(job: _Job, given: Mapping[str, str]) -> None:
    pattern = given.get("name", given.get("pattern", "*"))
    for folder in (job.runner.folder / "artifacts").glob(pattern):
        shutil.copytree(folder, job.workspace / given["path"], dirs_exist_ok=True)


ACTIONS: dict[str, Callable[[_Job, Mapping[str, str]], dict[str, str] | None]] = {
    "actions/checkout": _checkout,
    "actions/setup-python": _set_up_python,
    **dict.fromkeys(
        ("actions/cache", "actions/cache/restore", "actions/cache/save"),
        lambda job, given: {"cache-primary-key": given["key"]},
    ),
    "actions/upload-artifact": _upload,
    "actions/download-artifact": _download,
}


def _tag(name: str) -> str:
    """Returns the name of the ref: a release has a tag, which is the version."""
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    return f"v{version[1]}" if name == "release.yml" and version else "main"


def _python(version: str) -> str:
    """Returns the program of a version of Python, on the PATH or of pyenv; empty where there is none."""
    of_pyenv = sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
    return next(iter(of_pyenv), "") or shutil.which(f"python{version}") or ""


def _pairs(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)


def _printed(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return ""


def _starter(folder: Path) -> Path:
    """Makes a repository with what ``touche new`` writes."""
    subprocess.run(
        [sys.executable, "-m", "touche", "new", "my-team"], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    git = ["git", "-C", str(folder / "my-team"), "-c", "user.name=A team", "-c", "user.email=team@localhost"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "A baseline"]):
        subprocess.run([*git, *arguments], check=True)
    return folder / "my-team"


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Yields the address of a registry of images on loopback; GitHub's without Debian's docker-registry."""
    if not (program := shutil.which("docker-registry")):
        yield "ghcr.io"
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    storage = {"filesystem": {"rootdirectory": str(folder / "registry")}}
    settings = {"version": 0.1, "storage": storage, "http": {"addr": f"127.0.0.1:{port}"}}
    (folder / "registry.yml").write_text(yaml.safe_dump(settings))
    with (folder / "registry.log").open("w") as log:
        process = subprocess.Popen([program, "serve", folder / "registry.yml"], stdout=log, stderr=log)
    try:
        yield f"localhost:{port}"
    finally:
        process.terminate()
        process.wait()


def main(chosen: Sequence[str]) -> int:
    """Runs the workflows, or those chosen, such as ``test.yml`` or ``test.yml:lint``."""
    with tempfile.TemporaryDirectory(prefix="touche-workflows-") as name, registry(Path(name)) as address:
        runner = Runner(Path(name), address)
        for each in chosen or WORKFLOWS:
            workflow, _, job = each.partition(":")
            runner.run(workflow, job)
    print("\n".join(["", *runner.report]))
    return int(any(line.startswith(FAILED) for line in runner.report))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
