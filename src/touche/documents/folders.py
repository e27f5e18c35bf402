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
    top = str(directory)
    folders = [top]  # still to visit
    roots = [directory.resolve()]  # the directory, and linked folders elsewhere
    skipped: list[str] = []  # for the warning
    while folders:
        folder = folders.pop()
        is_top = folder == top
        for entry in _entries(folder, skipped):
            if entry.name.startswith(".") or entry.name in without:
                continue
            has_wanted_name = not is_top and name_pattern.fullmatch(entry.name)
            is_link = entry.is_symlink()
            target = _target(entry.path) if is_link else None  # also None for a broken link
            leads_to_new_folder = is_top and _add_new_folder(target, roots)  # adds to roots
            leads_to_file_in_roots = target is not None and target.is_file() and _is_within(target, roots)
            if entry.is_dir(follow_symlinks=False) or leads_to_new_folder:
                folders.append(entry.path)
            elif is_link and not leads_to_file_in_roots:  # not followed
                # Count it if its name matches or it leads to a folder. A broken link in the directory
                # itself counts too: it may have led to a folder.
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
    """Returns a folder's entries; adds an unreadable folder to ``skipped``."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        skipped.append(folder)
        return []


def _target(link: str) -> Path | None:
    """Returns a link's target, or None if it is broken or circular."""
    try:
        return Path(link).resolve(strict=True)
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
