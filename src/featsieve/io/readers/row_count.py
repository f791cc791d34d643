"""How many rows a text table has: line ends count, but not inside of quotes nor of blank lines."""

from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.readers.guard import TableError

BLOCK = 2**20
MARK_OF_UTF8 = b"\xef\xbb\xbf"
RETURN, NEW_LINE, QUOTE = 13, 10, 34
BLANKS = (32, 9)


class RowCounter:
    r"""Count the rows of a text that comes block by block, as pandas reads them.

    Never fewer than there are. A quotation mark opens a cell only where a cell begins, and any
    other one closes it. Where one stands elsewhere, which pandas takes as a letter, all further
    lines count as rows, whatever stands in quotes.
    """

    def __init__(self, separator: str = ",", *, encoding: str = "utf-8") -> None:
        self.ends = 0
        self._separator = ord(separator)
        self._before_cell = (RETURN, NEW_LINE, QUOTE, self._separator)
        self._two_bytes = encoding == "utf-16"
        self._order = ""
        self._rest = b""
        self._blanks = tuple({*BLANKS} - {self._separator})
        self._last = NEW_LINE
        self._quoted = self._lost = self._counted = False

    def add(self, block: bytes) -> None:
        """Count the rows that end in the next block."""
        letters = self._letters(block)
        if not len(letters):
            return
        line_end = (letters == NEW_LINE) | (letters == RETURN)
        ends = line_end.copy()  # once for \r\n, never for blank lines
        ends[1:] &= ~line_end[:-1]
        ends[0] &= self._last not in (NEW_LINE, RETURN)
        behind = np.flatnonzero(letters[:-1] == RETURN) + 1
        behind = np.concatenate([[0], behind]) if self._last == RETURN else behind
        rows, blanks = np.flatnonzero(ends), behind[np.isin(letters[behind], self._blanks)]
        # pandas makes a row of a blank line whose end is \r if a separator follows
        again = behind[letters[behind] == self._separator] - 1
        self.ends += int((~np.append(ends, self._counted)[again]).sum())
        self._counted = bool(ends[-1])
        quotes = np.flatnonzero(letters == QUOTE)
        if not self._lost and (self._quoted or len(quotes)):
            opening = quotes[1 if self._quoted else 0 :: 2]  # and the others close
            before = np.where(opening > 0, letters[opening - 1], self._last)
            if np.isin(before, self._before_cell).all():
                rows, blanks = (
                    places[(np.searchsorted(quotes, places) + self._quoted) % 2 == 0]
                    for places in (rows, blanks)
                )
                self._quoted = (len(quotes) + self._quoted) % 2 == 1
            else:
                self._lost = True
        if len(blanks):  # pandas goes back to the last \n, and reads what it has read, again
            raise TableError(
                "its lines end with carriage returns, and one begins with a blank: save it with "
                "usual ends of lines"
            )
        self.ends += len(rows)
        self._last = int(letters[-1])

    def _letters(self, block: bytes) -> Any:
        """Return the next bytes, or pairs of bytes, as numbers."""
        if not self._two_bytes:
            if not self._order:
                self._order, block = "any", block.removeprefix(MARK_OF_UTF8)
            return np.frombuffer(block, np.uint8)
        block = self._rest + block
        whole = len(block) // 2 * 2
        block, self._rest = block[:whole], block[whole:]
        if not self._order and block:
            self._order = ">u2" if block.startswith(b"\xfe\xff") else "<u2"
            block = block[2:]
        return np.frombuffer(block, self._order or "<u2")


def count_rows(path: Path, counter: RowCounter) -> int:
    """Return how many rows a file has at most, the last one without an end included."""
    with path.open("rb") as file:
        for block in iter(lambda: file.read(BLOCK), b""):
            counter.add(block)
    return counter.ends + 1
