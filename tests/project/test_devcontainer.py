"""The dev container: valid by the specification, and pinned."""

import json
import re
import tomllib
from typing import Any

import pytest

pytest.importorskip("jsonschema", reason="needs jsonschema: pip install jsonschema")
from jsonschema import Draft201909Validator

from conftest import ROOT

FOLDER = ROOT / ".devcontainer"
DIGEST = r"sha256:[0-9a-f]{64}"
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
COMMAND = {
    "type": ["string", "array", "object"],
    "items": TEXT,
    "additionalProperties": {"type": ["string", "array"]},
}
# What https://containers.dev/implementors/json_reference says about the properties that the file may use.
# Like the published schema, it rejects unknown properties.
SCHEMA = {
    "type": "object",
    "required": ["image"],
    "properties": {
        "name": TEXT,
        "image": TEXT,
        "features": {"type": "object", "additionalProperties": {"type": "object"}},
        "onCreateCommand": COMMAND,
        "postCreateCommand": COMMAND,
        "containerEnv": {"type": "object", "additionalProperties": TEXT},
        "remoteEnv": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        "remoteUser": TEXT,
        "customizations": {
            "type": "object",
            "properties": {"vscode": {"properties": {"extensions": TEXTS, "settings": {"type": "object"}}}},
        },
    },
    "additionalProperties": False,
}


@pytest.fixture
def settings() -> Any:
    return json.loads((FOLDER / "devcontainer.json").read_text())


def test_the_file_has_only_properties_of_the_specification_with_their_types(settings: Any) -> None:
    Draft201909Validator(SCHEMA).validate(settings)


def test_the_image_and_each_feature_are_pinned_by_a_digest(settings: Any) -> None:
    assert re.fullmatch(rf"[\w./-]+:[\w.-]+@{DIGEST}", settings["image"])
    locked = json.loads((FOLDER / "devcontainer-lock.json").read_text())["features"]
    assert locked.keys() == settings["features"].keys() and any("docker-in-docker" in id for id in locked)
    for id, lock in locked.items():
        name, _, version = id.rpartition(":")
        assert lock["version"].split(".")[0] == version
        assert lock["resolved"] == f"{name}@{lock['integrity']}" and re.fullmatch(DIGEST, lock["integrity"])
    updated = (ROOT / ".github" / "dependabot.yml").read_text()
    assert "package-ecosystem: devcontainers" in updated


def test_its_python_runs_the_demo_whose_programs_are_on_the_path(settings: Any) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (version,) = re.findall(r"/python:\d+-(\d\.\d+)-", settings["image"])
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]
    make, target, *variables = settings["postCreateCommand"].split()
    makefile = (ROOT / "Makefile").read_text()
    assert make == "make" and re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
    assert variables == ["PYTHON=python3"]  # replaces an environment that was made outside the container
    (folder,) = re.findall(r"^VENV := (.+)$", makefile, flags=re.MULTILINE)
    assert settings["remoteEnv"]["PATH"].startswith(f"${{containerWorkspaceFolder}}/{folder}/bin:")
