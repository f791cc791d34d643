"""A stream that stops: of a file that does not say how large it is, what comes out is counted."""

import io
from pathlib import Path
from typing import Any

from featsieve.datasets.readers.guard import TableError, TooLargeError, in_bytes, there_are

BLOCK = 2**20


class LimitedStream(io.RawIOBase):
    """What another stream holds, up to a limit of the memory that it takes as a table.

    Parameters
    ----------
    source : stream
    limit : int, optional
        Bytes of memory. By default there is none.
    per_line : int
        What a line of text takes, besides its letters.
    text : bool
        Whether a zero byte is refused, which libraries take for the end of a cell.
    """

    def __init__(
        self, source: Any, *, limit: int | None = None, per_line: int = 0, text: bool = False
    ) -> None:
        self._source = source
        self._limit = limit
        self._per_line = per_line
        self._text = text
        self._place = self._kept = self._lines = 0

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes into a buffer."""
        count = self._source.readinto(buffer)
        found = bytes(buffer[:count])
        if self._text and b"\0" in found:
            place = self._place + found.index(0)
            raise TableError(f"it has a zero byte ({place}), which no text has: it is damaged")
        self._place += count
        if self._limit is not None:
            self._kept += count
            self._lines += ends_of_lines(found) if self._per_line else 0
            if self._kept + self._per_line * self._lines > self._limit:
                raise TooLargeError(
                    f"its content takes more than {in_bytes(self._limit)} as a table, and "
                    f"{there_are(self._limit)}"
                )
        return count

    def forget_text(self) -> None:
        """Count no longer the text that has come out: it has been turned into numbers."""
        self._kept = 0

    def close(self) -> None:
        """Close the other stream, too."""
        self._source.close()
        super().close()


def count_lines(path: Path) -> int:
    """Return how many lines a file has, the last one without an end included."""
    with path.open("rb") as file:
        return 1 + sum(ends_of_lines(block) for block in iter(lambda: file.read(BLOCK), b""))


def ends_of_lines(text: bytes) -> int:
    r"""Return how many lines end in a text: with "\n", "\r\n" or "\r", as pandas reads them.

    Examples
    --------
    >>> from featsieve.datasets.readers.limited_stream import ends_of_lines
    >>> ends_of_lines(b"a\nb\r\nc\rd")
    3
    """
    returns = text.count(b"\r")
    return text.count(b"\n") + (returns - text.count(b"\r\n") if returns else 0)
