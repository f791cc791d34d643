"""Workbooks: which sheet, titles above the header, and what cells become."""

import zipfile

import numpy as np
import pytest

from featsieve.datasets import read_table, write_table
from featsieve.io import child
from tests.cli.ugly_tables import write_workbook

SHEETS = {
    "Notes": [["a word"]],
    "Values": [
        ["Study of 2024"],
        [],
        ["who", "age", "size", "odd"],
        ["7", "1", "0.1", "<5"],
        ["8", "2", "0.25", "6"],
        [],
        ["9", "", "1e-300", "7"],
    ],
    "2": [["a", "b"], ["1", "2"], ["3", "4"]],
}


@pytest.fixture
def book(tmp_path):
    write_workbook(tmp_path / "book.xlsx", SHEETS)
    return tmp_path / "book.xlsx"


def test_the_largest_sheet_without_its_title(book):
    table = read_table(book, id_column="who", repair=True)
    expected = [[1, 0.1, 5], [2, 0.25, 6], [np.nan, 1e-300, 7]]
    np.testing.assert_array_equal(table.X, expected)
    assert table.names == ["age", "size", "odd"]
    assert table.sample_names == ["7", "8", "9"]  # whole numbers, though the file knows none
    assert table.origin.options == {"sheet": "Values", "repair": {"odd": "."}}
    about_sheets, about_titles = table.origin.notes
    assert about_sheets == "The sheet 'Values' was read, of 3 ('Notes', 'Values', '2')."
    assert about_titles == "Left out above the header: 'Study of 2024'."


def test_a_sheet_by_name_or_number(book):
    np.testing.assert_array_equal(read_table(book, sheet="2").X, [[1, 2], [3, 4]])  # so called
    np.testing.assert_array_equal(read_table(book, sheet=3).X, [[1, 2], [3, 4]])
    for sheet in ("values", 4, 0):
        with pytest.raises(ValueError, match=r"no sheet .*sheets are: 'Notes', 'Values', '2'"):
            read_table(book, sheet=sheet)


def test_what_is_no_workbook(tmp_path):
    path = tmp_path / "book.xlsx"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"book\.xlsx cannot be read as \.xlsx: it is damaged"):
        read_table(path)


def test_workbooks_are_not_written(book, tmp_path):
    table = read_table(book, sheet="2")
    with pytest.raises(ValueError, match=r"how to write it; use one of .*\.csv"):
        write_table(tmp_path / "new.xlsx", table)


def test_a_cell_far_away_and_one_that_is_too_far(book, tmp_path, monkeypatch):
    """Programs leave such cells; all cells up to the last one may not fit into memory."""

    def with_cell(name, cell):
        row = f'<row r="1048576"><c r="{cell}1048576"><v>5</v></c></row></sheetData>'
        with zipfile.ZipFile(book) as old, zipfile.ZipFile(tmp_path / name, "w") as new:
            for part in old.namelist():
                content = old.read(part).decode()
                new.writestr(part, content.replace("</sheetData>", row))
        return tmp_path / name

    far = read_table(with_cell("far.xlsx", "A"), sheet="2")
    np.testing.assert_array_equal(far.X, [[1, 2], [3, 4], [5, np.nan]])
    monkeypatch.setattr(child, "isolated", True)  # the library ends the process
    with pytest.raises(ValueError, match=r"too\.xlsx cannot be read as \.xlsx: .*too large"):
        read_table(with_cell("too.xlsx", "XFD"), sheet="2")


def test_a_table_that_begins_in_the_second_column(tmp_path):
    rows = [["Title"], [], ["", "a", "b", "c"], ["", "1", "2", "3"]]
    write_workbook(tmp_path / "b.xlsx", {"s": rows})
    table = read_table(tmp_path / "b.xlsx")
    assert (table.names, table.sample_names) == (["a", "b", "c"], None)
