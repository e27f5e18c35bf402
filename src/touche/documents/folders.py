"""Files in a directory's subfolders."""

import logging
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from touche.errors import one_line

_log = logging.getLogger(__name__)


def files_below(
    directory: Path, name_pattern: re.Pattern[str], without: Collection[str] = ()
) -> Iterator[Path]:
    """Yields files in a directory's subfolders, in any order, but not the directory's own files.

    Hidden files and folders are skipped. Links in the directory itself may lead to folders elsewhere; each
    such folder is read once. Other links out of these folders, and deeper links to folders, are not followed;
    a warning counts them and unreadable folders.

    Args:
        name_pattern: must match a file's whole name.
        without: names to skip.
    """
    skipped: list[str] = []  # for the warning
    roots = [directory.resolve()]  # the directory, and linked folders elsewhere
    folders: list[str] = []  # still to visit
    for entry in _entries(str(directory), without, skipped):
        target = _target(entry)
        if entry.is_dir(follow_symlinks=False) or _add_new_folder(target, roots):
            folders.append(entry.path)
        elif entry.is_symlink() and (target is None or target.is_dir()):
            skipped.append(entry.path)
    while folders:
        for entry in _entries(folders.pop(), without, skipped):
            has_wanted_name = name_pattern.fullmatch(entry.name)
            target = _target(entry)
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif entry.is_symlink() and not (target and target.is_file() and _is_within(target, roots)):
                if has_wanted_name or (target and target.is_dir()):
                    skipped.append(entry.path)
            elif has_wanted_name and entry.is_file():  # not a pipe or a device
                yield Path(entry.path)
    _warn_of(skipped)


def _warn_of(skipped: Sequence[str]) -> None:
    if skipped:
        more = f" and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
        problem = "skipped, because it cannot be read, or is a link that is not followed"
        _log.warning("%s%s: %s", one_line(skipped[0]), more, problem)


def _entries(folder: str, without: Collection[str], skipped: list[str]) -> list[os.DirEntry[str]]:
    """Returns a folder's entries, except hidden ones; adds an unreadable folder to ``skipped``."""
    try:
        with os.scandir(folder) as entries:
            return [
                entry for entry in entries if not entry.name.startswith(".") and entry.name not in without
            ]
    except OSError:
        skipped.append(folder)
        return []


def _target(entry: os.DirEntry[str]) -> Path | None:
    """Returns a link's target; None if it is broken or circular, or the entry isn't a link."""
    if not entry.is_symlink():
        return None
    try:
        return Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a circular link, before Python 3.13
        return None


def _is_within(target: Path, roots: Iterable[Path]) -> bool:
    return any(target.is_relative_to(root) for root in roots)


def _add_new_folder(target: Path | None, roots: list[Path]) -> bool:
    """Adds a linked folder to the roots, unless it overlaps with one. Returns whether it did."""
    if target is None or not target.is_dir():
        return False
    if _is_within(target, roots) or any(root.is_relative_to(target) for root in roots):
        return False
    roots.append(target)
    return True


def common_folder(paths: Iterable[Path]) -> Path:
    """Returns the deepest folder that contains all files."""
    return Path(os.path.commonpath([path.parent.absolute() for path in paths]))


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Returns the files' names, or their paths relative to the common folder if two names are equal."""
    names = [path.name for path in paths]
    if len(set(names)) == len(names):
        return names
    folder = common_folder(paths)
    return [os.path.relpath(path, folder) for path in paths]
