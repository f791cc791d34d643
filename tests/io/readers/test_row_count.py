"""Rows of text tables, counted as pandas reads them."""

import io
import random

import pandas as pd
import pytest

from featsieve.io.readers import row_count
from featsieve.io.readers.guard import TableError
from featsieve.io.readers.row_count import RowCounter, count_rows

LETTERS = ["a", "1", ",", '"', '"', "\n", "\n", "\r", "\r\n", '","', '"\n', " "]
CELLS = ["1", "a b", '"a,b"', '"two\nlines"', '"a ""word"""', '"\r\n\r\n"', '""', ""]


def counted(content, rng, **how):
    """Return how many rows end in bytes that come in short blocks."""
    counter = RowCounter(**how)
    while content:
        length = rng.randint(3, 9)
        counter.add(content[:length])
        content = content[length:]
    return counter.ends


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "5"])
def test_lines_of_a_file(tmp_path, end, last):
    path = tmp_path / "a.csv"
    path.write_text(end.join(["", "1", "22", "", "", "4", last]), newline="")
    assert count_rows(path, RowCounter()) == 4


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_rows_of_well_formed_tables(encoding, separator):
    rng = random.Random(0)
    for _ in range(20):
        lines = [separator.join(rng.choices(CELLS, k=3)) for _ in range(rng.randint(1, 20))]
        ends = rng.choices(["\n", "\r\n", "\r", "\n\n"], k=len(lines))
        text = "".join(line + end for line, end in zip(lines, ends, strict=True))
        content = text.encode(encoding)
        if encoding == "utf-16-be":
            content = b"\xfe\xff" + content
        how = {"separator": separator, "encoding": encoding.removesuffix("-be")}
        assert counted(content, rng, **how) == len(lines)


def test_never_fewer_rows_than_pandas_reads():
    rng, n_read = random.Random(1), 0
    for _ in range(1500):
        text = "".join(rng.choices(LETTERS, k=rng.randint(1, 25)))
        try:
            rows = counted(text.encode(), rng)
            table = pd.read_csv(io.StringIO(text), header=None, names=range(40), index_col=False)
        except (TableError, pd.errors.ParserError):  # a quotation mark that is not closed
            continue
        n_read += 1
        assert rows + 1 >= len(table), text
    assert n_read > 500


def test_a_mark_inside_of_a_cell_hides_no_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(row_count, "BLOCK", 16)
    path = tmp_path / "a.csv"
    path.write_text('a,b\n5" pipe,1\n' + "1,2\n" * 100 + '6",1\n')
    assert len(pd.read_csv(path)) == 102
    assert count_rows(path, RowCounter()) >= 103


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("block", [3, 4, 5, 7, 1000])
def test_what_pandas_misreads_is_refused(encoding, block):
    def count(text):
        content, counter = text.encode(encoding), RowCounter(encoding=encoding)
        for start in range(0, len(content), block):
            counter.add(content[start : start + block])
        return counter.ends

    for text in ("1\n\r 2\n", "12\r\r\t2\r", "a\r1\r 2\r", '1\n"b"\r 2', "1\n    \r 2"):
        with pytest.raises(TableError, match="carriage returns, and one begins with a blank"):
            count(text)
    for text in ("1\r2 \r", "1\r\r2\r", "1\r\n\r\n 2\n", '1\n"a\r b"\n', "1\n\n 2\n"):
        assert count(text) == len(pd.read_csv(io.StringIO(text), header=None)), text
