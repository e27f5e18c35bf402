"""Whose runs are whose: the team of each run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from os.path import realpath  # Path.resolve raises an error for circular links
from pathlib import Path
from typing import Literal, TypeAlias

from touche.errors import ToucheError, counted
from touche.io.identifiers import quoted

PER_FOLDER = "per-folder"  # each folder contains one team's runs
AnyTeams: TypeAlias = 'Sequence[str] | Mapping[str, str | Sequence[str]] | Literal["per-folder"] | None'
"""Each run's team, or ``per-folder``, or file name patterns by team."""


def teams_of_runs(paths: Sequence[Path], teams: AnyTeams) -> dict[Path, str]:
    """Returns each run file's team, an empty name if all belong to one team.

    Args:
        paths: the run files.
        teams: each run's team, or ``per-folder`` if each folder contains one team's runs, or file name
            patterns by team, such as ``{"Katana": "katana-*"}``. None if all belong to one team.

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
    """Returns the name of each run file's folder, or the folder's path if two folders have this name."""
    folder_of_path = {path: Path(realpath(path.parent)) for path in paths}
    uses = Counter(folder.name for folder in {*folder_of_path.values()})
    return {
        path: folder.name if uses[folder.name] == 1 and folder.name else str(folder)
        for path, folder in folder_of_path.items()
    }


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
