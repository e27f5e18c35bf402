"""Finds out which team each run belongs to."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from os.path import commonpath, realpath  # Path.resolve raises an error for circular links
from pathlib import Path
from typing import Literal, TypeAlias

from touche.errors import InputError, ToucheError, counted, one_line
from touche.io.grouping import group_by
from touche.io.identifiers import quoted
from touche.tira.metadata import METADATA_FILE, team_of_run
from touche.trec.run_forms import RunSource

PER_FOLDER = "per-folder"  # each folder contains one team's runs
AnyTeams: TypeAlias = 'Sequence[str] | Mapping[str, str | Sequence[str]] | Literal["per-folder"] | None'
"""Each run's team, or ``per-folder``, or file name patterns by team."""


def known_teams(sources: Sequence[RunSource], teams: AnyTeams = None) -> dict[Path, str]:
    """Returns each run's team by the run's name, in a form that can be printed; empty if the team is unknown.

    Args:
        sources: the runs.
        teams: as for ``teams_of_runs``; None to take them from ir-metadata.yml next to the runs. If that file
            can't be read, the team is unknown.

    Raises:
        ToucheError: if a run's team is unclear.
    """
    if teams is None:
        named = {source.name: _team_in_metadata(source) for source in sources}
    else:
        named = teams_of_runs([source.name for source in sources], teams)
    return {name: one_line(team).strip() for name, team in named.items()}


def _team_in_metadata(source: RunSource) -> str:
    if source.content is None:  # only runs in files can have metadata next to them
        with suppress(InputError):
            return team_of_run(source.path.parent / METADATA_FILE)
    return ""


def teams_of_runs(paths: Sequence[Path], teams: AnyTeams) -> dict[Path, str]:
    """Returns each run file's team; an empty name for each if ``teams`` is None.

    Args:
        paths: the run files.
        teams: a list with each run's team, in the order of the paths; or ``per-folder`` if each folder
            contains one team's runs; or a dictionary with a file name pattern for each team, such as
            ``{"Katana": "katana-*"}``. None if all runs belong to one team.

    Raises:
        ToucheError: if the number of teams is wrong, a file belongs to no team or to several, or a pattern
            doesn't match any file.
    """
    if teams is None:
        return dict.fromkeys(paths, "")
    if teams == PER_FOLDER:
        return _teams_by_folder(paths)
    if isinstance(teams, Mapping):
        return _teams_by_pattern(paths, teams)
    if isinstance(teams, str):
        raise ToucheError(f"teams = {teams!r} is one text; pass a list with the team of each run")
    if not isinstance(teams, Sequence) or not all(isinstance(team, str) for team in teams):
        raise ToucheError(f"teams = {quoted(teams)}; pass a list with the team of each run")
    if len(teams) != len(paths):
        problem = f"{counted(len(teams), 'team')} passed for {counted(len(paths), 'run')}"
        raise ToucheError(f"{problem}; name the team of each run")
    return dict(zip(paths, teams, strict=True))


def _teams_by_folder(paths: Sequence[Path]) -> dict[Path, str]:
    """Returns the name of each run file's folder. If several folders have the same name, such as ``output``
    in TIRA's ``TEAM/RUN/output``, the team is instead the first part in which their paths differ, here
    ``TEAM``.
    """
    folder_of_path = {path: Path(realpath(path.parent)) for path in paths}
    folders_by_name = group_by({*folder_of_path.values()}, lambda folder: folder.name)
    team_of_folder = dict[Path, str]()
    for name, folders in folders_by_name.items():
        # The index of the first part that isn't the same in all paths.
        below = len(Path(commonpath(folders)).parts)
        for folder in folders:
            is_told_apart = len(folders) > 1 and below < len(folder.parts)
            team_of_folder[folder] = folder.parts[below] if is_told_apart else name or str(folder)
    return {path: team_of_folder[folder] for path, folder in folder_of_path.items()}


def _teams_by_pattern(paths: Sequence[Path], patterns: Mapping[str, str | Sequence[str]]) -> dict[Path, str]:
    """Returns each run file's team according to its name. A pattern with a slash matches whole paths."""
    teams: dict[Path, str] = {}
    for team, one_or_several in patterns.items():
        team_patterns = [one_or_several] if isinstance(one_or_several, str) else one_or_several
        is_list = isinstance(team_patterns, Sequence)
        if not is_list or not all(isinstance(pattern, str) for pattern in team_patterns):
            problem = f"the team {team} has {quoted(one_or_several)}"
            raise ToucheError(f"{problem}; pass patterns of its file names")
        for pattern in team_patterns:
            names = {path: str(path) if "/" in pattern else path.name for path in paths}
            matching = [path for path, name in names.items() if fnmatchcase(name, pattern)]
            if not matching:
                raise ToucheError(f"no run matches {pattern!r} of the team {team}; correct the pattern")
            for path in matching:
                if teams.setdefault(path, team) != team:
                    problem = f"{path} belongs to the teams {teams[path]} and {team}"
                    raise ToucheError(f"{problem}; make their patterns more specific")
    without_team = [path for path in paths if path not in teams]
    if without_team:
        raise ToucheError(f"{without_team[0]} belongs to no team; name its team, or omit the file")
    return teams
