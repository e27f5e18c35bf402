"""Files whose contents Spark passes on."""

import io
import os
from pathlib import PosixPath
from typing import Any


class FileInMemory(PosixPath):
    """A file that no path can open: a name and its content.

    When it is pickled, only the name is sent.
    """

    content: bytes

    @classmethod
    def from_bytes(cls, name: str, content: bytes) -> "FileInMemory":
        file = cls(name)
        file.content = content
        return file

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Opens the content as bytes; the arguments are ignored."""
        return io.BufferedReader(io.BytesIO(self.content))

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Returns a size of 0, so that readers show no progress bar; that would open the path itself.

        Derived paths, such as the parent, are looked up on disk.
        """
        if not hasattr(self, "content"):
            return super().stat(follow_symlinks=follow_symlinks)
        return os.stat_result((0,) * 10)
