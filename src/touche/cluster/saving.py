"""What workers have found, saved where all machines see it, so that a run that was killed can go on."""

import hashlib
import logging
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)

_WHOLE = "_SUCCESS"  # the file that Spark writes last


@dataclass(frozen=True)
class Saved:
    """A folder that all machines see.

    Attributes:
        folder: on the driver, under the same path as on the workers.
        version: what tells the baseline's code from other code.
    """

    folder: Path
    version: bytes

    def parts(self, found: Any, of: Iterable[bytes]) -> Any:
        """An RDD with what workers find, or have found in an earlier run.

        Args:
            found: the RDD that finds it.
            of: what tells it from what other runs find.
        """
        what = hashlib.md5(b"\0".join([self.version, *of]))
        where = self.folder.absolute() / what.hexdigest()
        if (where / _WHOLE).exists():
            _log.info("going on with the parts in %s", where)
        else:
            shutil.rmtree(where, ignore_errors=True)
            found.saveAsPickleFile(where.as_uri())
        return found.context.pickleFile(where.as_uri())

    def remove(self) -> None:
        """Removes all that was saved."""
        shutil.rmtree(self.folder, ignore_errors=True)
