"""What commands read before their work begins."""

import subprocess
import sys
from importlib import import_module

import pytest

from touche import cli

LOADED = "import sys; print(*(name for name in sys.modules if name.startswith({names})))"
HELP = "from touche.cli import cli; cli(['--help'], standalone_mode=False)"
SUBMODULES = (
    "import touche.reports.page as page, touche.lab.identification, touche, touche.evaluation.linting"
)
FUNCTIONS = "print(page.__name__, *map(type, (touche.report, touche.lint, touche.identify)))"
FUNCTION = " <class 'function'>"


@pytest.mark.parametrize(
    ("code", "last_line"),
    [
        # The command minds signals before it imports what takes time.
        pytest.param(f"import touche; {LOADED.format(names=('touche', 'numpy'))}", "touche", id="library"),
        pytest.param(
            f"{HELP}; {LOADED.format(names=('numpy', 'msgspec', 'orjson', 'touche.tasks'))}", "", id="help"
        ),
        pytest.param(f"{SUBMODULES}; {FUNCTIONS}", f"touche.reports.page{3 * FUNCTION}", id="functions"),
    ],
)
def test_imports_neither_load_what_is_not_needed_nor_hide_functions(code: str, last_line: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == last_line


@pytest.mark.parametrize("name", [*cli.FIRST, *cli.MORE, *cli.LAB])
def test_the_help_shows_what_the_commands_themselves_show(name: str) -> None:
    imported = getattr(import_module(f"touche.cli.{name}"), name)
    shown = cli._declared(name)
    assert shown.get_short_help_str(200) == imported.get_short_help_str(200) != ""
    assert shown.example == imported.example != ""
