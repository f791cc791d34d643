"""The bytes of one element of a MATLAB file, as they stand there or unpacked block by block."""

import zlib
from typing import Any

from featsieve.io.readers.guard import TableError

BLOCK = 2**16
CUT_SHORT = "it is cut short or damaged: get it or save it again"


class PlainElement:
    """The bytes of an element as they stand in a file; ``size`` is how many."""

    def __init__(self, file: Any, size: int) -> None:
        self._file, self._end, self.size = file, file.tell() + size, size

    def read(self, count: int) -> bytes:
        """Return so many bytes; whoever asks knows that the element has them."""
        return self._file.read(count)

    def skip(self, count: int) -> None:
        """Go on by so many bytes."""
        self._file.seek(count, 1)

    def leave(self) -> None:
        """Go to the end of the element."""
        self._file.seek(self._end)


class UnpackedElement:
    """The bytes that an element unpacks to; ``size`` is how many there are in the file."""

    def __init__(self, file: Any, size: int) -> None:
        self._file, self._packed, self.size = file, size, size
        self._end = file.tell() + size
        self._engine = zlib.decompressobj()
        self._ready = b""

    def _more(self) -> None:
        """Unpack another block."""
        waiting = self._engine.unconsumed_tail
        if not waiting:
            waiting = self._file.read(min(BLOCK, self._packed))
            self._packed -= len(waiting)
        if not waiting or self._engine.eof:
            raise TableError(CUT_SHORT)
        try:
            self._ready += self._engine.decompress(waiting, BLOCK)
        except zlib.error as error:
            raise TableError(CUT_SHORT) from error

    def read(self, count: int) -> bytes:
        """Return exactly so many bytes."""
        while len(self._ready) < count:
            self._more()
        found, self._ready = self._ready[:count], self._ready[count:]
        return found

    def skip(self, count: int) -> None:
        """Go on by so many bytes."""
        while len(self._ready) < count:
            count -= len(self._ready)
            self._ready = b""
            self._more()
        self._ready = self._ready[count:]

    def leave(self) -> None:
        """Go to the end of the element."""
        self._file.seek(self._end)
