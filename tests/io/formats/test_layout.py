"""How text tables are laid out, as programs and people write them."""

import gzip

import pytest

from featsieve.io.formats.layout import find_layout


def layout_of(tmp_path, text, *, name="toy.csv", encoding="utf-8"):
    path = tmp_path / name
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return find_layout(path)


@pytest.mark.parametrize("name", ["toy.csv", "toy.csv.gz"])
@pytest.mark.parametrize(
    ("text", "separator", "decimal"),
    [
        ("a,b\n1,2\n", ",", "."),
        ("a;b\n1;2\n", ";", "."),
        ("a;b\n1,5;2\n", ";", ","),
        ("a\n1.5\n", ",", "."),
        ('"a;b",c\n1,2\n', ",", "."),
        ('"a,b";c\n1,5;2\n', ";", ","),
        ("1,5;2,5\n3,5;4,5\n", ";", ","),
        ("1;2\n3;4\n", ";", "."),
        ("a;b\nx;-,5e-3\n", ";", ","),
        ("a|b\n1.5|2\n", "|", "."),
        ("a;b\n1,234;5\n", ";", ","),  # nothing else tells
        ("a;b\n1,234;5.5\n", ";", "."),
        ("a;b\n1,234;5,5\n", ";", ","),
        ("a;b;c\n1,5;2,5;1.2\n", ";", ","),  # one is a version, a chapter
        ("a;b\n1.736;0,5\n", ";", ","),
    ],
)
def test_what_separates_cells(tmp_path, text, separator, decimal, name):
    found = layout_of(tmp_path, text, name=name)
    assert (found.separator, found.decimal) == (separator, decimal)


def test_tabulators_in_a_file_that_says_so(tmp_path):
    found = layout_of(tmp_path, "a,b\tc\n1,5\t2\n", name="toy.tsv")
    assert (found.separator, found.decimal, found.names) == ("\t", ",", ["a,b", "c"])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", ["a", "b"]),
        ("a,1\n1,2\n", ["a", "1"]),
        ("\n\n a,b \n1,2\n", [" a", "b "]),
        ('"a\nb",c\n1,2\n', ["a\nb", "c"]),
        ("a,,b,\n1,2,3,4\n", ["a", "Unnamed: 1", "b", "Unnamed: 3"]),
    ],
)
def test_names(tmp_path, text, names):
    found = layout_of(tmp_path, text)
    assert found.names == names
    assert found.has_header
    assert not found.row_names


def test_a_first_column_without_a_name_has_the_names_of_the_rows(tmp_path):
    assert layout_of(tmp_path, ",a\nx,1\n").row_names
    assert layout_of(tmp_path, " ,0\nx,1\n").row_names
    assert not layout_of(tmp_path, "1,2\nx,1\n").row_names


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("1,2\n3,4\n", False),
        ("1.5,nan\n3,4\n", False),
        ("0,1,2\n3,4,5\n", False),  # could be data
        ("0,1,2\n3,4,5.5\n", True),  # pandas' names of columns
        ("0,1,2\n", False),
        ("0\n1.5\n", False),
        ("0,1,2,3,4,5,6,7,8,9\n" + "1," * 9 + "1\n", True),
        ("0,1,2,3,4,5,6,7,8,10\n" + "1," * 9 + "1\n", False),
    ],
)
def test_a_header_of_numbers(tmp_path, text, has_header):
    found = layout_of(tmp_path, text)
    assert found.has_header == has_header
    if not has_header:
        assert found.names == [f"x{j}" for j in range(len(found.names))]


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("utf-16", "utf-16")],
)
def test_byte_order_marks(tmp_path, encoding, expected):
    found = layout_of(tmp_path, "größe,b\n1,2\n", encoding=encoding)
    assert found.names == ["größe", "b"]
    assert found.encoding == expected


def test_cells_longer_than_the_csv_module_takes(tmp_path):
    names = [f"gene {j}" for j in range(20_000)]  # one cell, for the wrong separator
    assert layout_of(tmp_path, ",".join(names) + "\n").names == names
    assert layout_of(tmp_path, 'a,"b;c"\n1,' + "x" * 200_000 + "\n").names == ["a", "b;c"]


@pytest.mark.parametrize(
    ("text", "skipped", "names"),
    [
        ("# made by hand, 2024\n# twice\na,b,c\n1,2,3\n", 2, ["a", "b", "c"]),
        ("# two\na,b\n1,2\n", 1, ["a", "b"]),
        ("# counts, batch A, 2024\na,b,c\n1,2,3\n", 1, ["a", "b", "c"]),
        ("#a,b\n1,2\n", 0, ["#a", "b"]),  # a header
        ("# first\n#a,b\n1,2\n", 1, ["#a", "b"]),
        ("# numbers\n1,2,3\n4,5,6\n", 1, ["x0", "x1", "x2"]),
    ],
)
def test_comments_above_the_table(tmp_path, text, skipped, names):
    found = layout_of(tmp_path, text)
    assert (found.skipped, found.names) == (skipped, names)
    assert len(found.notes) == (skipped > 0)


@pytest.mark.parametrize(
    ("units", "left_out"),
    [
        ("-,mg/l,mmol/l,", True),  # pH has none
        ("s0,1,mg/l,2", False),
        ("s0,NA,NA,<LOD", False),  # a sample
        ("s0,NA,bad,NA", False),
        ("s0,<50,<60,<70", False),
    ],
)
def test_units_below_the_header(tmp_path, units, left_out):
    path = tmp_path / "toy.csv"
    path.write_text(f"name,a,b,pH\n{units}\ns1,1,2,7\ns2,3,4,\n")
    found = find_layout(path)
    assert (found.skipped == 1, len(found.notes) == 1) == (left_out, left_out)
    assert find_layout(path, units=False).skipped == 0  # a table that is transposed


def test_years_that_are_read_as_data_are_named(tmp_path):
    path = tmp_path / "years.csv"
    path.write_text("2019,2020,2021\n1.5,2.5,3.5\n2.5,1.5,0.5\n")
    layout = find_layout(path)
    assert not layout.has_header
    assert "give --header" in layout.notes[0]
    assert "'2019, 2020, 2021'" in layout.notes[0]
    assert not find_layout(path, header=True).notes
    path.write_text("3,2020,5\n1.5,2.5,3.5\n")
    assert not find_layout(path).notes


def test_comments_above_numbers_without_a_header(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text("# made by hand\n1,2,3\n4,5,6\n")
    assert find_layout(path, header=False).skipped == 1
    path.write_text("1,,\n4,5,6\n")  # no title
    assert find_layout(path, header=False).skipped == 0
