"""Runs the commands of the workflows of GitHub Actions: make workflows, or make workflows ONLY=test.yml:lint.

Each ``run:`` step runs once, in its order. The jobs of a workflow share one clean clone of the last commit,
so that a job finds the files that an earlier job uploads. Actions, matrices and conditions do not run here;
actionlint checks them. A step that cannot run here is listed with the reason.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from proposals import BASELINE, DATASET, HONEST, TAMPERED, last_row, propose, served, tampered

ROOT = Path(__file__).parents[2]
RERUNS = "reruns.yml"
STARTER = "my-team.yml"  # the name of the starter's check.yml here
WORKFLOWS = {path.name: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))} | {
    STARTER: ROOT / "src/touche/baselines/starter/my-team/.github/workflows/check.yml"
}
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
VARIABLES = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_ACTOR": "touche",
    "GITHUB_REF_NAME": f"v{VERSION}",
    "GITHUB_REPOSITORY": "touche/touche-baselines",
    "GITHUB_REPOSITORY_OWNER": "touche",
}
UNSET = {"VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "TOUCHE_DATA", "PYTEST_ADDOPTS", "VENV"}
EXPRESSIONS = {
    "github.server_url": "https://github.com",
    "github.repository": VARIABLES["GITHUB_REPOSITORY"],
    "github.token": "a-token",
    "github.event.repository.default_branch": "main",
    "matrix.datasets": "spot-check/arguments spot-check/pairs",  # the official data take hours
    "matrix.frequencies": "dirichletlm -i spot-check/arguments",
    "matrix.processor": "amd64",
    "needs.index.outputs.images": "[]",
    "secrets.TIRA_TOKEN": "",
    "vars.TIRA_DATASET": "",
    "vars.TIRA_TASK": "",
    "vars.TIRA_TEAM": "",
}
NOT_HERE = {
    r"sudo ": "it changes the machine",
    r"those of this collection": "it needs whole collections",
    r"make (test-all|workflows)": "it would run the workflows again",
    r"type=local": "it needs Docker with containerd's store",
    r"imagetools": "it needs the images of both kinds of processors",
    r"git push|gh release": "it changes the repository",
    r"data fetch --no-corpora": "it needs the publishers' servers",
    r"docker pull": "it needs the registry of the Python image",
}
PASSED = "passed"
FAILED = "FAILED"
LEFT_OUT = "left out"


@dataclass
class Runner:
    """What the jobs of a workflow share.

    Attributes:
        folder: contains the clone and the temporary files.
        registry: replaces ghcr.io, such as localhost:5000; without it, steps that push images are left out.
        shell: the workflow's default shell; in ``bash``, a pipe fails if any of its commands does.
        report: a line for each step.
    """

    folder: Path
    registry: str = ""
    shell: str = ""
    report: list[str] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def run(self, workflow: dict[str, Any], name: str, only: str = "") -> None:
        """Runs the jobs of a workflow, or the one whose name is passed."""
        for job_name, job in workflow["jobs"].items():
            if only in ("", job_name):
                self._run_job(f"{name}:{job_name}", job, workflow.get("env", {}))

    def _run_job(self, title: str, job: dict[str, Any], variables: dict[str, str]) -> None:
        """Runs the steps of a job; after a failure, only those with ``always()``."""
        failed = False
        for step in job["steps"]:
            if "run" not in step or (failed and "always()" not in step.get("if", "")):
                continue
            label = step.get("name", step["run"].splitlines()[0])
            outcome, _ = self.run_step(step["run"], variables | step.get("env", {}))
            failed = failed or outcome.startswith(FAILED)
            self.report.append(f"{outcome}  {title}, {label}")
            print(self.report[-1], flush=True)

    def run_step(self, script: str, variables: dict[str, str]) -> tuple[str, str]:
        """Runs a script as GitHub's runner does; returns its outcome and output."""
        patterns = NOT_HERE if self.registry else NOT_HERE | {"ghcr.io": "it needs REGISTRY"}
        reason = next((reason for pattern, reason in patterns.items() if re.search(pattern, script)), "")
        if reason:
            return f"{LEFT_OUT} ({reason})", ""
        pipefail = ["-o", "pipefail"] if self.shell == "bash" else []
        process = subprocess.run(
            ["bash", "-e", *pipefail, "-c", script.replace("ghcr.io", self.registry)],
            cwd=self.workspace,
            env=self._environment() | {name: without_expressions(text) for name, text in variables.items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if process.returncode:
            print("\n".join(process.stdout.splitlines()[-40:]), flush=True)
            return f"{FAILED} (exit code {process.returncode})", process.stdout
        return PASSED, process.stdout

    def _environment(self) -> dict[str, str]:
        """Returns the variables of GitHub's runner and of the user, without an activated environment."""
        programs = [
            path for path in os.environ["PATH"].split(os.pathsep) if not (Path(path) / "activate").exists()
        ]
        return {name: value for name, value in os.environ.items() if name not in UNSET} | {
            **VARIABLES,
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "RUNNER_TEMP": str(self.folder),
            "DOCKER_CONFIG": str(self.folder / "docker"),
            "PATH": os.pathsep.join([str(self.folder / "python" / "bin"), *programs]),
        }


def default_shell(workflow: dict[str, Any]) -> str:
    """Returns the shell of a workflow's steps; empty if it is GitHub's default."""
    return str(workflow.get("defaults", {}).get("run", {}).get("shell", ""))


def without_expressions(text: str) -> str:
    """Returns the value of a variable with each ``${{ }}`` replaced; KeyError for an unknown one."""
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: EXPRESSIONS[match[1]], text)


def prepare(folder: Path, name: str) -> None:
    """Makes what the steps of a workflow find: a clone, an environment of Python, and settings of Docker."""
    workspace = folder / "workspace"
    clone = workspace / "touche-baselines" if name == STARTER else workspace
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    if name == STARTER:
        command = [sys.executable, "-m", "touche", "new", "my-team"]
        subprocess.run(command, cwd=workspace, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-m", "venv", folder / "python"], check=True)
    (folder / "docker").mkdir()
    (folder / "docker" / "config.json").write_text("{}")  # Podman refuses a folder without this file


def run_proposals(runner: Runner, workflow: dict[str, Any]) -> None:
    """Runs the check of rows on proposals: an honest row must pass, and each tampered one be refused."""
    [job] = workflow["jobs"].values()
    *preparation, check = job["steps"]
    runner.run({"jobs": {"rows": {"steps": preparation}}}, RERUNS)
    if any(line.startswith(FAILED) for line in runner.report):
        return
    touche = str(runner.workspace / ".venv/bin/touche")
    new_rows = runner.folder / "new.csv"
    proposal = runner.workspace / "proposal/baselines/reproductions.csv"
    folder = runner.folder / "served"
    folder.mkdir()
    with served(folder) as (address, certificate):
        rerun = ["regress", BASELINE, "--dataset", DATASET, "--record", str(new_rows), "--by", "Ada"]
        rerun += ["--run-url", f"{address}/{HONEST}"]
        for command in (rerun, ["run", BASELINE, "-i", DATASET, "-o", str(runner.folder / "out")]):
            subprocess.run([touche, *command, "--quiet"], cwd=runner.workspace, check=True)
        (runner.folder / "out/run.txt").rename(folder / HONEST)
        honest = last_row(new_rows)
        sentences = {"an honest row": (honest, "accepted")}
        sentences |= {name: tampered(honest, name, address) for name in TAMPERED}
        for name, (row, sentence) in sentences.items():
            propose(proposal, runner.workspace / "baselines/reproductions.csv", row)
            outcome, output = runner.run_step(check["run"], {"REQUESTS_CA_BUNDLE": str(certificate)})
            is_right = (outcome == PASSED) == (row is honest) and sentence in output
            runner.report.append(f"{PASSED if is_right else FAILED}  {RERUNS}:rows, {name}: {sentence}")
            print(runner.report[-1], flush=True)


def main(chosen: Sequence[str]) -> int:
    """Runs the workflows, or those chosen, such as ``test.yml`` or ``test.yml:lint``."""
    report = []
    for choice in chosen or WORKFLOWS:
        name, _, job = choice.partition(":")
        workflow = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory(prefix="touche-workflows-") as folder:
            prepare(Path(folder), name)
            registry = os.environ.get("REGISTRY", "")
            runner = Runner(Path(folder), registry=registry, shell=default_shell(workflow))
            if name == RERUNS:
                run_proposals(runner, workflow)
            else:
                runner.run(workflow, name, job)
        report += runner.report
    print("\n".join(["", *report]))
    return int(any(line.startswith(FAILED) for line in report))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
