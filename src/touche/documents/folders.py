"""Files in subfolders of a directory."""

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
    """Yields files in subfolders of a directory, in any order; the directory's own files are not included.

    Hidden files and folders are skipped. Links in the directory itself may lead to folders elsewhere, and
    each such folder is read once. Deeper links to folders, and links to files outside of these folders, are
    not followed; a warning counts them and unreadable folders.

    Args:
        directory: the directory.
        name_pattern: a pattern for the whole name of a file.
        without: names to skip.
    """
    top = str(directory)
    folders = [top]  # to be visited
    roots = [directory.resolve()]  # the directory, and the folders elsewhere to which its links lead
    skipped: list[str] = []  # paths that the warning counts
    while folders:
        folder = folders.pop()
        is_top = folder == top
        for entry in _entries(folder, skipped):
            if entry.name.startswith(".") or entry.name in without:
                continue
            has_wanted_name = not is_top and name_pattern.fullmatch(entry.name)
            is_link = entry.is_symlink()
            target = _target(entry.path) if is_link else None  # None also for a broken link
            leads_to_new_folder = is_top and _add_new_folder(target, roots)  # changes the roots
            leads_to_file_in_roots = target is not None and target.is_file() and _is_within(target, roots)
            if entry.is_dir(follow_symlinks=False) or leads_to_new_folder:
                folders.append(entry.path)
            elif is_link and not leads_to_file_in_roots:  # not followed
                # The warning counts a link that has a wanted name or leads to a folder, and a broken link in
                # the directory itself, because it may have led to a folder.
                leads_to_folder = target is not None and target.is_dir()
                is_broken_at_top = is_top and target is None
                if has_wanted_name or leads_to_folder or is_broken_at_top:
                    skipped.append(entry.path)
            elif has_wanted_name and entry.is_file():  # not a pipe or a device
                yield Path(entry.path)
    if skipped:
        more = f" and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
        problem = "skipped, because it cannot be read, or is a link that is not followed"
        _log.warning("%s%s: %s", one_line(skipped[0]), more, problem)


def _entries(folder: str, skipped: list[str]) -> list[os.DirEntry[str]]:
    """Returns the entries of a folder; an unreadable folder has none, and is added to ``skipped``."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        skipped.append(folder)
        return []


def _target(link: str) -> Path | None:
    """Returns the target of a link, or None if it is broken or circular."""
    try:
        return Path(link).resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: a circular link, before Python 3.13
        return None


def _is_within(target: Path, roots: Iterable[Path]) -> bool:
    """Returns whether a path is one of the folders, or below one of them."""
    return any(target.is_relative_to(root) for root in roots)


def _add_new_folder(target: Path | None, roots: list[Path]) -> bool:
    """Adds the target of a link to the roots, and returns whether it did so.

    It does not add a file, a missing target (None), or a folder that is in one of the roots or contains one.
    """
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
    """Returns the names of files; if two are equal, all names are paths relative to the common folder."""
    names = [path.name for path in paths]
    if len(set(names)) == len(names):
        return names
    folder = common_folder(paths)
    return [os.path.relpath(path, folder) for path in paths]
