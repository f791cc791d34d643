"""HDF5 files on a disk that may be full.

The library that writes them cannot be stopped: after a write that failed it prints at every object
that it still holds, and may crash when the process ends. So it is told that all went well, and the
error is raised when it has closed its file.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def new_hdf5(h5py: Any, path: Path) -> Iterator[Any]:
    """Give a new HDF5 file to write to; raise what the system said if it could not be written."""
    sink = _Sink(path)
    try:
        with h5py.File(sink, "w") as file:
            yield file
    finally:
        sink.close()
    if sink.error is not None:
        raise sink.error


class _Sink:
    """A binary file that forgets what is written to it after an error, and remembers the error."""

    def __init__(self, path: Path) -> None:
        self.error: OSError | None = None
        self._file = path.open("w+b", buffering=0)

    def write(self, data: Any) -> int:
        """Write all of some bytes, unless there was an error."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        while len(rest) and self.error is None:
            try:
                rest = rest[self._file.write(rest) or 0 :]
            except OSError as error:
                self.error = error
        return size

    def read(self, size: int) -> bytes:
        """Read bytes; by this method h5py knows that it is a file."""
        buffer = bytearray(size)
        self.readinto(buffer)
        return bytes(buffer)

    def readinto(self, buffer: Any) -> int:
        """Read bytes; what was not written is zero."""
        rest = memoryview(buffer).cast("B")
        size = len(rest)
        while len(rest):
            count = self._file.readinto(rest)
            if not count:
                rest[:] = bytes(len(rest))
                break
            rest = rest[count:]
        return size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, which may be behind the end."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place."""
        return self._file.tell()

    def truncate(self, size: int | None = None) -> int:
        """Make the file as long as it says, unless there was an error."""
        if self.error is None:
            try:
                return self._file.truncate(size)
            except OSError as error:
                self.error = error
        return self._file.tell() if size is None else size

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            self.error = self.error or error
