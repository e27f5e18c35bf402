"""What commands read before their work begins."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from touche import cli

ROOT = Path(__file__).parents[2]


def test_the_help_imports_no_library_but_click() -> None:
    script = (
        "import sys; from touche.cli import cli; cli(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "First steps" in output
    assert not {"numpy", "msgspec", "orjson", "touche.tasks"} & {*output.splitlines()[-1].split()}


@pytest.mark.parametrize("name", [*cli.FIRST, *cli.MORE])
def test_the_help_shows_what_the_commands_themselves_show(name: str) -> None:
    imported = getattr(import_module(f"touche.cli.{name}"), name)
    shown = cli._declared(name)
    assert shown.get_short_help_str(200) == imported.get_short_help_str(200) != ""
    assert shown.example == imported.example != ""
