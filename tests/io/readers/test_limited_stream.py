"""Streams that stop at a limit."""

import io

import pytest

from featsieve.io.readers.guard import TableError, TooLargeError
from featsieve.io.readers.limited_stream import LimitedStream
from featsieve.io.readers.row_count import RowCounter


def test_a_stream_stops_at_its_limit():
    assert LimitedStream(io.BytesIO(b"abc"), limit=3).read() == b"abc"
    with pytest.raises(TooLargeError, match="content takes more than 2 bytes"):
        LimitedStream(io.BytesIO(b"abc"), limit=2).read()
    assert LimitedStream(io.BytesIO(b"abc\0")).read() == b"abc\0"
    source = io.BytesIO(b"abc")
    LimitedStream(source, limit=3).close()
    assert source.closed


def test_zero_bytes_are_told_by_their_place():
    stream = LimitedStream(io.BytesIO(b"ab\0"), text=True)
    assert stream.read(2) == b"ab"
    with pytest.raises(TableError, match=r"zero byte \(2\)"):
        stream.read(1)


def rows(text, limit, per_row):
    """Return a stream that counts rows, too."""
    return LimitedStream(io.BytesIO(text), limit=limit, per_row=per_row, counter=RowCounter())


def test_rows_cost_something():
    text = b'1,2\n\n3,"4\n"\n'  # two rows in five lines
    assert rows(text, len(text) + 2 * 100, 100).read() == text
    with pytest.raises(TooLargeError):
        rows(text, len(text) - 1 + 2 * 100, 100).read()


def test_text_that_is_forgotten_costs_nothing():
    stream = rows(b"123\n" * 4, 8 + 3 * 10, 10)
    assert stream.read(8) == b"123\n" * 2
    stream.forget_text()
    assert stream.read(4) == b"123\n"
    with pytest.raises(TooLargeError):  # the rows are still counted
        stream.read(4)
