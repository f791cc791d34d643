"""A stream that stops: of a file that does not say how large it is, what comes out is counted."""

import io
from typing import Any

from featsieve.io.readers.guard import TableError, TooLargeError, describe_limit, in_bytes
from featsieve.io.readers.row_count import RowCounter


class LimitedStream(io.RawIOBase):
    """What another stream holds, up to a limit of the memory that it takes as a table."""

    def __init__(
        self,
        source: Any,
        *,
        limit: int | None = None,
        per_row: int = 0,
        counter: RowCounter | None = None,
        text: bool = False,
    ) -> None:
        self._source = source
        self._limit = limit
        self._per_row = per_row
        self._counter = counter
        self._text = text
        self._place = self._kept = 0

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
            taken = self._kept
            if self._counter is not None:
                self._counter.add(found)
                taken += self._per_row * self._counter.ends
            if taken > self._limit:
                raise TooLargeError(
                    f"its content takes more than {in_bytes(self._limit)} as a table, more "
                    f"than {describe_limit(self._limit)}"
                )
        return count

    def forget_text(self) -> None:
        """Count no longer the text that has come out: it has been turned into numbers."""
        self._kept = 0

    def close(self) -> None:
        """Close the other stream, too."""
        self._source.close()
        super().close()
