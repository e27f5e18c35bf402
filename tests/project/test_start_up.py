"""What commands read before their work begins."""

import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from touche import cli

ROOT = Path(__file__).parents[2]
COUNTED = """
import sys
from pathlib import Path

def count(event, arguments):
    if event == "open":
        print("opened", arguments[0])
    elif event in ("os.listdir", "os.scandir"):
        print("listed", arguments[0])
    elif event == "compile":
        print("compiled", arguments[1])
"""
REGRESS = """
from touche.regression.running import read_expectations
sys.addaudithook(count)
read_expectations((), ())
"""
RUN = """
from touche.cli import main
sys.addaudithook(count)
sys.argv = ["touche", "run", "bm25", "-i", "spot-check/arguments", "-o", sys.argv[1]]
main()
"""


@pytest.fixture
def events(tmp_path: Path, request: pytest.FixtureRequest) -> Counter[str]:
    """Counts the events of a script, such as ``listed src/touche/tasks``."""
    command = [sys.executable, "-c", COUNTED + request.param, str(tmp_path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Counter(line.replace(f"{ROOT}/", "") for line in output.splitlines())


@pytest.mark.parametrize("events", [REGRESS], indirect=True)
def test_expectations_are_read_with_one_listing_per_folder_and_one_reading_per_table(
    events: Counter[str],
) -> None:
    tables = [event for event in events if event.endswith((".tsv", "expected.toml"))]
    assert len(tables) > 20 and all(events[table] == 1 for table in tables)
    folders = [event for event in events if event.startswith("listed src/touche/tasks")]
    assert len(folders) == 2  # cards, and those of the toy collection
    # Path.glob lists a folder twice before Python 3.13.
    assert all(events[folder] <= 2 for folder in folders)


@pytest.mark.parametrize("events", [RUN], indirect=True)
def test_a_run_reads_one_card_and_parses_the_baseline_once(events: Counter[str]) -> None:
    cards = {event for event in events if event.startswith("opened src/touche/tasks/") and "toml" in event}
    assert cards == {"opened src/touche/tasks/spot-check/arguments.toml"}
    assert events["compiled baselines/bm25/baseline.py"] <= 2  # to read its options, and to import it


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
