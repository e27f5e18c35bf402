"""Files in the folders below a directory."""

import logging
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from touche.errors import one_line

_log = logging.getLogger(__name__)


def files_below(directory: Path, names: re.Pattern[str], without: Collection[str] = ()) -> Iterator[Path]:
    """Yields the files in the folders below a directory, in no order; those in itself are not among them.

    Hidden ones are passed over. Links in the directory itself are followed to folders elsewhere, to each
    once; deeper links to folders are not, nor are those to files outside of all these folders. That there
    are such, or what cannot be read, a warning says.

    Args:
        directory: the directory.
        names: what the name of a file has to be, as a whole.
        without: names of folders that are passed over.
    """
    top, left = str(directory), list[str]()
    folders, roots = [top], [directory.resolve()]
    while folders:
        folder = folders.pop()
        for entry in _entries(folder, left):
            if entry.name.startswith("."):
                continue
            is_wanted = folder != top and names.fullmatch(entry.name)
            target = _target(entry.path) if entry.is_symlink() else None
            if entry.is_dir(follow_symlinks=False) or (folder == top and _is_new_folder(target, roots)):
                folders += [entry.path] if entry.name not in without else []
            elif entry.is_symlink() and not (target and target.is_file() and _is_within(target, roots)):
                is_folder = target.is_dir() if target else folder == top  # as it may have been one
                left += [entry.path] if is_wanted or is_folder else []
            elif is_wanted and entry.is_file():
                yield Path(entry.path)
    if left:
        more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
        problem = "left out, for such links are not followed, or it cannot be read"
        _log.warning("%s%s: %s", one_line(left[0]), more, problem)


def _entries(folder: str, left: list[str]) -> list[os.DirEntry[str]]:
    """What is in a folder; one that cannot be read is noted."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        left.append(folder)
        return []


def _target(link: str) -> Path | None:
    """What a link leads to; None if to nothing, or round in circles."""
    try:
        return Path(link).resolve(strict=True)
    except (OSError, RuntimeError):
        return None


def _is_within(target: Path, roots: Iterable[Path]) -> bool:
    return any(target.is_relative_to(root) for root in roots)


def _is_new_folder(target: Path | None, roots: list[Path]) -> bool:
    """Whether a target is a folder that shares nothing with those so far; then it is one of them."""
    if target is None or not target.is_dir() or _is_within(target, roots):
        return False
    if any(root.is_relative_to(target) for root in roots):
        return False
    roots.append(target)
    return True


def folder_of(paths: Iterable[Path]) -> Path:
    """The folder that all files lie in or below."""
    return Path(os.path.commonpath([path.parent.absolute() for path in paths]))


def names_of(paths: Sequence[Path]) -> list[str]:
    """The names of files; where two have the same one, all are told from the folder that they lie below."""
    names = [path.name for path in paths]
    if len(set(names)) == len(names):
        return names
    folder = folder_of(paths)
    return [os.path.relpath(path, folder) for path in paths]
