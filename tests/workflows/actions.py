"""Runs the workflows of GitHub Actions here: make workflows, or make workflows ONLY=test.yml:lint.

Every ``run:`` step runs in its order, in a clean clone of the last commit. Equivalents replace actions. What
cannot run here is listed with the reason.
"""

import ast
import hashlib
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
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
ENVIRONMENT = {
    "regression.yml": {"DATASETS": "spot-check/arguments spot-check/pairs"}
}  # for the official data
NOT_HERE = {
    "pypa/gh-action-pypi-publish": "trusted publishing",
    "actions/attest-build-provenance": "attestations",
}
PASSED, FAILED, LEFT_OUT = "passed", "FAILED", "left out"

_TOKEN = re.compile(r"(&&|\|\||!(?!=))|('(?:[^']|'')*')|([A-Za-z_][\w.-]*)(\(?)")
_SIGNS = {"&&": " and ", "||": " or ", "!": "~"}
_LITERALS = {"true": "True", "false": "False", "null": "None"}
_OPEN = ("outputs", "vars")  # what these lack is empty, as on GitHub


class UnknownExpressionError(Exception):
    """An expression that this module does not know."""


def evaluated(text: str, context: Mapping[str, Any]) -> Any:
    """The value of an expression, without its braces.

    Raises:
        UnknownExpressionError: if a name, function or sign is not known.
    """
    written = _TOKEN.sub(lambda found: _in_python(*found.groups()), text.strip())
    try:
        return _value(ast.parse(written, mode="eval").body, context)
    except (SyntaxError, KeyError, TypeError) as error:
        raise UnknownExpressionError(f"{text.strip()!r} ({error})") from error


def _in_python(sign: str, literal: str, name: str, called: str) -> str:
    """A token as Python writes it; ``~`` stands for ``!``, which binds as tightly."""
    if sign or literal:
        return _SIGNS.get(sign) or repr(literal[1:-1].replace("''", "'"))
    return _LITERALS.get(name) or f"names[{name + (called and '()')!r}]{called}"


def _value(node: ast.expr, context: Mapping[str, Any]) -> Any:
    value = partial(_value, context=context)
    match node:
        case ast.Constant():
            return node.value
        case ast.BoolOp():
            ends = isinstance(node.op, ast.Or)
            values = [value(each) for each in node.values]
            return next((each for each in values if bool(each) == ends), values[-1])
        case ast.UnaryOp(ast.Invert()):
            return not value(node.operand)
        case ast.Compare(left, [ast.Eq() | ast.NotEq() as sign], [right]):
            return (value(left) == value(right)) == isinstance(sign, ast.Eq)
        case ast.Subscript(ast.Name("names"), ast.Constant(str(name))):
            return _looked_up(name, context)
        case ast.Call(function, arguments):
            return value(function)(*map(value, arguments))
    raise TypeError(f"{type(node).__name__} is not known")


def _looked_up(name: str, context: Mapping[str, Any]) -> Any:
    value: Any = context
    for before, part in pairwise(["", *name.split(".")]):
        value = value.get(part, "") if before in _OPEN else value[part]
    return value


def filled(value: Any, context: Mapping[str, Any]) -> Any:
    """A value of a workflow with its ``${{ }}`` evaluated; one that is nothing else keeps its type."""
    if isinstance(value, Mapping):
        return {key: filled(each, context) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, context) for each in value]
    if not isinstance(value, str):
        return value
    if whole := re.fullmatch(r"\$\{\{((?:(?!\}\}).)*)\}\}", value):
        return evaluated(whole[1], context)
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: _as_text(evaluated(found[1], context)), value)


def combinations_of(strategy: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The combinations of a matrix; those of ``include`` are further ones, as in these workflows."""
    axes = {name: values for name, values in strategy.get("matrix", {}).items() if name != "include"}
    crossed = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())] if axes else []
    return [*crossed, *strategy.get("matrix", {}).get("include", ())] or [{}]


@dataclass
class Runner:
    """What jobs share.

    Attributes:
        folder: where all of it is.
        registry: a registry of images on loopback; empty where there is none.
        results: the outputs of each job that passed, and the state of each.
        report: a line for each job and each step that was left out.
    """

    folder: Path
    registry: str = ""
    results: dict[str, list[tuple[str, Mapping[str, str]]]] = field(default_factory=dict)
    report: list[str] = field(default_factory=list)

    def run(self, name: str, only: str = "") -> None:
        """Runs a workflow; ``only`` names a job, which then runs without those that it needs."""
        workflow = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
        self.results = {}
        for job_id, job in workflow["jobs"].items():
            if only in ("", job_id):
                self._run_job(name, workflow, job_id, job, check_needs=not only)

    def _run_job(self, name: str, workflow: Any, job_id: str, job: Any, *, check_needs: bool) -> None:
        needs = job.get("needs", [])
        missing = [
            each
            for each in ([needs] if isinstance(needs, str) else needs)
            if check_needs and any(state != PASSED for state, _ in self.results[each])
        ]
        if missing:
            self.results[job_id] = [(LEFT_OUT, {})]
            self._note(f"{name}:{job_id}", LEFT_OUT, f"needs {', '.join(missing)}")
            return
        for matrix in combinations_of(job.get("strategy", {})):
            title = f"{name}:{job_id}{f' ({_listed(matrix)})' if matrix else ''}"
            started, running = time.monotonic(), _Job(self, name, title, workflow, job, matrix)
            state, why = running.run()
            self.results.setdefault(job_id, []).append((state, running.outputs))
            self._note(title, state, why or f"{time.monotonic() - started:.0f} s")

    def _note(self, title: str, state: str, why: str) -> None:
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
        self.repository = TEAM if name == STARTER else REPOSITORY
        github = {
            "actor": "touche", "event_name": "push", "ref": "refs/heads/main", "ref_name": _tag(name),
            "repository": self.repository, "server_url": "https://github.com", "token": "a-token",
        }  # fmt: skip
        own_environment = {**workflow.get("env", {}), **ENVIRONMENT.get(name, {}), **job.get("env", {})}
        self.failed = False
        self.saved: list[tuple[str, str]] = []
        self.context: dict[str, Any] = {
            "github": github, "matrix": matrix, "env": own_environment, "steps": {},
            "vars": {"TOUCHE_BASELINES": REPOSITORY},
            "always()": lambda: True, "success()": lambda: not self.failed, "failure()": lambda: self.failed,
            "hashFiles()": self._hash, "fromJSON()": json.loads,
        }  # fmt: skip
        self.environment = self._environment(github)

    def run(self) -> tuple[str, str]:
        """The state of the job, and why it is no better."""
        if why := self._why_not():
            return LEFT_OUT, why
        why = ""
        for number, step in enumerate(self.job["steps"], 1):
            condition = str(step.get("if", "success()"))
            expression = condition if "always()" in condition else f"success() && ({condition})"
            if not evaluated(expression, self.context):
                continue
            label = step.get("name") or step.get("uses") or step["run"].splitlines()[0]
            if problem := self._step(step, f"step {number}, {label}"):
                self.failed, why = True, why or problem
        for key, paths in self.saved:
            if not self.failed:
                self._save(key, paths)
        self.outputs = filled(self.job.get("outputs", {}), self.context)
        return (FAILED, why) if self.failed else (PASSED, "")

    def _why_not(self) -> str:
        label = filled(self.job["runs-on"], self.context)
        is_arm = platform.machine() in ("aarch64", "arm64")
        if not label.startswith("ubuntu") or ("arm" in label) != is_arm or "container" in self.job:
            return f"needs the runner {label}"
        actions = [each["uses"].partition("@")[0] for each in self.job["steps"] if "uses" in each]
        if not all(map(_python, self._versions())):
            return f"needs Python {' and '.join(self._versions())}"
        return next((NOT_HERE[each] for each in actions if each in NOT_HERE), "")

    def _versions(self) -> list[str]:
        given = (each.get("with", {}).get("python-version") for each in self.job["steps"])
        return [filled(each, self.context) for each in given if each]

    def _step(self, step: Mapping[str, Any], label: str) -> str:
        """Runs a step; returns what is wrong, if anything is."""
        outputs: dict[str, str] = {}
        if "id" in step:
            self.context["steps"][step["id"]] = {"outputs": outputs}
        if "uses" in step:
            action = step["uses"].partition("@")[0]
            if action not in _ACTIONS:
                return f"{label}: there is no equivalent"
            try:
                outputs |= _ACTIONS[action](self, filled(step.get("with", {}), self.context)) or {}
            except (OSError, subprocess.CalledProcessError) as error:
                return f"{label}: {error}"
            return ""
        script = filled(step["run"], self.context)
        if why := self._why_not_run(script):
            self.runner._note(f"{self.title}, {label}", LEFT_OUT, why)
            return ""
        return self._run(script, filled(step.get("env", {}), self.context), outputs, label)

    def _why_not_run(self, script: str) -> str:
        if "sudo " in script:
            return "changes the machine"
        if "make test-all" in script or "make workflows" in script:
            return "it would run the workflows again"
        if "type=local" in script and "io.containerd.snapshotter" not in _printed("docker", "info"):
            return "needs Docker with containerd's store"
        if "ghcr.io" in script and not self.runner.registry:
            return "needs docker-registry"
        return ""

    def _run(self, script: str, own: Mapping[str, str], outputs: dict[str, str], label: str) -> str:
        files = {f"GITHUB_{name}": self.temporary / name.lower() for name in ("OUTPUT", "ENV", "PATH")}
        for path in files.values():
            path.write_text("")
        print(f"          {self.title}, {label}", flush=True)
        environment = self.environment | {name: str(each) for name, each in self.context["env"].items()}
        log = self.temporary / "log.txt"
        with log.open("w") as out:
            code = subprocess.run(
                ["bash", "-e", "-c", script.replace("ghcr.io", self.runner.registry or "ghcr.io")],
                cwd=self.workspace,
                env=environment | own | {name: str(path) for name, path in files.items()},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            ).returncode
        outputs |= _pairs(files["GITHUB_OUTPUT"])
        self.environment |= _pairs(files["GITHUB_ENV"])
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.environment["PATH"] = f"{line}:{self.environment['PATH']}"
        if code:
            print("\n".join(log.read_text(errors="replace").splitlines()[-40:]), flush=True)
        return f"{label}: exit code {code}" if code else ""

    def _environment(self, github: Mapping[str, str]) -> dict[str, str]:
        unset = (
            "VIRTUAL_ENV",
            "PYTHONPATH",
            "MAKEFLAGS",
            "MAKELEVEL",
            "TOUCHE_DATA",
            "PYTEST_ADDOPTS",
            "VENV",
        )
        programs = [
            each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "activate").exists()
        ]
        return {name: value for name, value in os.environ.items() if name not in unset} | {
            **{f"GITHUB_{name.upper()}": value for name, value in github.items() if name != "token"},
            "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"), "RUNNER_TEMP": str(self.temporary),
            "DOCKER_CONFIG": str(self.temporary / "docker"), "PATH": os.pathsep.join(programs),
        }  # fmt: skip

    def _hash(self, *patterns: str) -> str:
        files = sorted(path for each in patterns for path in self.workspace.glob(each) if path.is_file())
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest() if files else ""

    def _save(self, key: str, paths: str) -> None:
        for path in self._matched(paths):
            _copy(path, self.runner.folder / "caches" / key / path.relative_to(self.workspace))

    def _matched(self, patterns: str) -> list[Path]:
        return [path for each in patterns.split() for path in sorted(self.workspace.glob(each))]

    # What takes the place of actions.

    def checkout(self, given: Mapping[str, str]) -> None:
        repository = given.get("repository", self.repository)
        source = ROOT if repository == REPOSITORY else _starter(self.temporary)
        target = self.workspace / given.get("path", ".")
        subprocess.run(["git", "clone", "--quiet", source, target], check=True)

    def setup_python(self, given: Mapping[str, str]) -> None:
        program = _python(given["python-version"])
        subprocess.run([program, "-m", "venv", self.temporary / "python"], check=True)
        self.environment["PATH"] = f"{self.temporary / 'python' / 'bin'}:{self.environment['PATH']}"

    def restore(self, given: Mapping[str, str]) -> dict[str, str]:
        kept = self.runner.folder / "caches" / given["key"]
        if kept.is_dir():
            shutil.copytree(kept, self.workspace, dirs_exist_ok=True, symlinks=True)
        return {"cache-primary-key": given["key"]} | ({"cache-hit": "true"} if kept.is_dir() else {})

    def save(self, given: Mapping[str, str]) -> None:
        self._save(given["key"], given["path"])

    def cache(self, given: Mapping[str, str]) -> dict[str, str]:
        self.saved.append((given["key"], given["path"]))
        return self.restore(given)

    def upload(self, given: Mapping[str, str]) -> None:
        files = self._matched(given["path"])
        if not files and given.get("if-no-files-found") == "error":
            raise FileNotFoundError(f"{given['path']}: no such artifact")
        for path in files:
            _copy(path, self.runner.folder / "artifacts" / given["name"] / path.name)

    def download(self, given: Mapping[str, str]) -> None:
        for folder in sorted(
            (self.runner.folder / "artifacts").glob(given.get("name", given.get("pattern", "*")))
        ):
            shutil.copytree(folder, self.workspace / given["path"], dirs_exist_ok=True)


_ACTIONS: dict[str, Any] = {
    "actions/checkout": _Job.checkout,
    "actions/setup-python": _Job.setup_python,
    "actions/cache": _Job.cache,
    "actions/cache/restore": _Job.restore,
    "actions/cache/save": _Job.save,
    "actions/upload-artifact": _Job.upload,
    "actions/download-artifact": _Job.download,
}


def _as_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else "" if value is None else str(value)


def _listed(matrix: Mapping[str, Any]) -> str:
    return ", ".join(map(str, matrix.values()))


def _tag(name: str) -> str:
    """The name of the ref: a release has a tag, which is the version."""
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    return f"v{version[1]}" if name == "release.yml" and version else "main"


def _python(version: str) -> str:
    """The program of a version of Python, on the PATH or of pyenv; empty where there is none."""
    of_pyenv = sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
    return next(iter(of_pyenv), "") or shutil.which(f"python{version}") or ""


def _pairs(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)


def _printed(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return ""


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    (partial(shutil.copytree, dirs_exist_ok=True) if source.is_dir() else shutil.copy2)(source, target)


def _starter(folder: Path) -> Path:
    """A repository with what ``touche new`` writes."""
    subprocess.run(
        [sys.executable, "-m", "touche", "new", "my-team"], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    git = ["git", "-C", str(folder / "my-team"), "-c", "user.name=A team", "-c", "user.email=team@localhost"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "A baseline"]):
        subprocess.run([*git, *arguments], check=True)
    return folder / "my-team"


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """The address of a registry of images on loopback; empty without Debian's docker-registry."""
    if not (program := shutil.which("docker-registry")):
        yield ""
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
