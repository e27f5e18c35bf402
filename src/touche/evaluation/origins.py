"""Where runs come from: their teams, and whether a shipped baseline wrote them."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from touche.data.places import shipped_baselines
from touche.errors import InputError, one_line
from touche.evaluation.scoring import Origin
from touche.evaluation.teams import AnyTeams, teams_of_runs
from touche.tira.metadata import METADATA_FILE, actor_and_method
from touche.trec.run_forms import RunSource


def origins(sources: Sequence[RunSource], teams: AnyTeams = None) -> dict[Path, Origin]:
    """Returns where each run comes from, by its name.

    A run comes from a shipped baseline if ir-metadata.yml next to it says so, and that no option was changed.
    Metadata that can't be read says nothing.

    Args:
        sources: the runs.
        teams: as for ``teams_of_runs``; None for the teams in ir-metadata.yml next to the runs.

    Raises:
        ToucheError: if a run's team is unclear.
    """
    team_of_run = None if teams is None else teams_of_runs([source.name for source in sources], teams)
    baselines = {*shipped_baselines()}
    origin_of_run = dict[Path, Origin]()
    for source in sources:
        team = tag = method = ""
        if source.content is None:  # otherwise there is no folder with metadata
            with suppress(InputError):
                team, tag, method = actor_and_method(source.path.parent / METADATA_FILE)
        if team_of_run is not None:
            team = team_of_run[source.name]
        is_baseline = method in baselines and tag == f"touche-{method}"
        origin_of_run[source.name] = Origin(one_line(team).strip(), tag if is_baseline else "")
    return origin_of_run
