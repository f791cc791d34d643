"""Streams that stop at a limit."""

import io

import pytest

from featsieve.datasets.readers.guard import TableError, TooLargeError
from featsieve.datasets.readers.limited_stream import LimitedStream, count_lines


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


def test_lines_cost_something():
    text = b"1,2\n3,4\n"
    assert LimitedStream(io.BytesIO(text), limit=8 + 2 * 100, per_line=100).read() == text
    with pytest.raises(TooLargeError):
        LimitedStream(io.BytesIO(text), limit=7 + 2 * 100, per_line=100).read()


def test_text_that_is_forgotten_costs_nothing():
    stream = LimitedStream(io.BytesIO(b"123\n" * 4), limit=8 + 3 * 10, per_line=10)
    assert stream.read(8) == b"123\n" * 2
    stream.forget_text()
    assert stream.read(4) == b"123\n"
    with pytest.raises(TooLargeError):  # the lines are still counted
        stream.read(4)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "5"])
def test_lines_of_a_file(tmp_path, end, last):
    path = tmp_path / "a.csv"
    path.write_text(end.join(["1", "22", "", "4", last]), newline="")
    assert count_lines(path) == 5
