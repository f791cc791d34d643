"""Text tables as pandas and people write them, and as other programs read them."""

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.dataset import subset
from featsieve.io.formats.text import exact_numbers
from tests.io.tables import FEATURES, SAMPLES, make_table

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.standard_normal((8, 3)), columns=["age", "height", "two words"])
KIND = np.array(list("baabcbca"))
CODES = np.array([1, 0, 0, 1, 2, 1, 2, 0])
SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t", ".CSV": ","}


@pytest.mark.parametrize("ending", SEPARATORS)
@pytest.mark.parametrize("index", [False, True])
def test_a_frame_comes_back(tmp_path, ending, index):
    path = tmp_path / f"toy{ending}"
    FRAME.assign(kind=KIND).to_csv(path, sep=SEPARATORS[ending], index=index)
    table = read_table(path, label_column="kind")
    assert table.name == "toy"
    assert table.feature_names == list(FRAME.columns)  # without the row numbers
    np.testing.assert_array_equal(table.X, FRAME)
    np.testing.assert_array_equal(table.y, CODES)


def test_text_columns_can_be_left_out(tmp_path):
    path = tmp_path / "toy.csv"
    FRAME.assign(kind=KIND, town="x").to_csv(path, index=False)
    table = read_table(path, label_column="kind", drop_text=True)
    np.testing.assert_array_equal(table.X, FRAME)
    assert table.dropped == ("town",)
    assert table.class_names == ["a", "b", "c"]
    table = read_table(path, drop=["town", "age"], label_column="kind")
    assert table.feature_names == ["height", "two words"]
    assert table.dropped == ("town", "age")


@pytest.mark.parametrize("id_column", [None, "who"])
def test_names_of_samples_are_kept_as_they_stand(tmp_path, id_column):
    names = ["001", "1.50", "NA", "", "True", "größe", "a,b", "1e3"]
    path = tmp_path / "toy.csv"
    FRAME.set_axis(pd.Index(names, name=id_column)).to_csv(path)
    for columns in (None, ["height"]):
        table = read_table(path, id_column=id_column, columns=columns)
        assert table.sample_names == names
        assert table.id_name == id_column
        assert table.feature_names == (columns or list(FRAME.columns))


def test_a_column_of_names_wins_over_numbers_of_rows(tmp_path):
    path = tmp_path / "toy.csv"
    FRAME.assign(kind=KIND).to_csv(path)
    assert read_table(path, id_column="kind").sample_names == KIND.tolist()
    assert read_table(path, label_column="kind").sample_names == [str(i) for i in range(8)]


def test_some_columns_whatever_the_others_hold(tmp_path):
    path = tmp_path / "toy.csv"
    FRAME.assign(town="x", kind=KIND).to_csv(path)
    table = read_table(path, columns=["two words", "age"], label_column="kind")
    np.testing.assert_array_equal(table.X, FRAME[["two words", "age"]])
    np.testing.assert_array_equal(table.y, CODES)
    with pytest.raises(
        ValueError, match=r"toy\.csv: there is no column 'Age' \(did you mean 'age'"
    ):
        read_table(path, columns=["Age", "height"])
    with pytest.raises(ValueError, match=r"toy\.csv: columns that are not numbers: 'town'; turn"):
        read_table(path, columns=["town"])


@pytest.mark.parametrize(("separator", "decimal"), [(";", ","), (";", "."), ("\t", ".")])
@pytest.mark.parametrize("header", [True, False])
def test_other_separators_under_the_name_of_csv(tmp_path, separator, decimal, header):
    path = tmp_path / "toy.csv"
    FRAME.to_csv(path, sep=separator, decimal=decimal, header=header, index=False)
    np.testing.assert_array_equal(read_table(path).X, FRAME)


def test_columns_without_names(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text("a,b,\n1,2,\n3,4,\n")  # as some programs end their lines
    assert read_table(path).feature_names == ["a", "b"]
    path.write_text("a,b,\n1,2,7\n3,4,\n")
    np.testing.assert_array_equal(read_table(path).X, [[1, 2, 7], [3, 4, np.nan]])


def test_cells_separated_by_something_else(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text("a b\n1 2\n")
    with pytest.raises(
        ValueError, match=r"one column, 'a b', .* separated by commas, semicolons, tabulators or"
    ):
        read_table(path)
    path.write_text("a|b\n1.5|1,218\n2|3\n")
    table = read_table(path, repair=True)
    assert table.X.tolist() == [[1.5, 1218.0], [2.0, 3.0]]  # the other column has a decimal point


def test_what_is_not_utf8_is_read_as_windows_1252_and_said(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_bytes(b"a,kind\n" + b"1,x\n" * 20_000 + "1,größe\n".encode("cp1252"))
    table = read_table(path, label_column="kind", trusted=True)
    assert table.class_names == ["größe", "x"]
    assert table.origin.notes == ("Not UTF-8: read as Windows-1252; check the names: 'a', 'kind'.",)
    path.write_bytes("Öl;Druck;µm\r\n1,5;2;3\r\n2,5;1;0\r\n".encode("cp1252"))
    table = read_table(path, columns=["µm", "Öl"], trusted=True)
    assert table.X.tolist() == [[3.0, 1.5], [0.0, 2.5]]
    assert "check the names: 'Öl', 'µm'." in table.origin.notes[0]
    write_table(tmp_path / "again.csv", table, like=path)
    assert (tmp_path / "again.csv").read_text("utf-8") == "µm;Öl\n3;1,5\n0;2,5\n"


@pytest.mark.parametrize("cell", [b"\xf6\0", b"\xf6\x81", b"\xef\xbb\xbf\xf6"])
def test_what_is_no_windows_1252_either_is_refused(tmp_path, cell):
    path = tmp_path / "toy.csv"
    path.write_bytes(cell + b",a\n" + b"1,2\n" * 9)
    with pytest.raises(ValueError, match=r"not text in UTF-8 or Windows-1252|not a text table"):
        read_table(path, trusted=True)


FOOTED = 'id,a,b,c\nP1,1,2,3\nP2,4,,6\n,,,\nP3,7,8,9\n"Source: CRM, no tests",,,\n'


@pytest.mark.parametrize("asked", [{"id_column": "id"}, {"drop_text": True}, {"columns": ["b"]}])
def test_a_footer_is_no_sample(tmp_path, asked):
    path = tmp_path / "toy.csv"
    path.write_text(FOOTED)
    table = read_table(path, trusted=True, **asked)
    assert len(table.X) == 3  # P2 lacks a value of b, and stays
    assert table.sample_names == (["P1", "P2", "P3"] if "id_column" in asked else None)
    assert table.origin.notes == (
        "Rows without any value, and left out: 1 (the first is row 3).",
        "Rows without any value but a name, and left out: 'Source: CRM, no tests'.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c,d\n1,2,3,4\n5,,,\n6,7,8,9\n",  # a number may be a value of a feature
        "id,b,c\nP1,2,3\nP2,,\nP3,7,8\n",  # of so few columns all may be missing
    ],
)
def test_rows_with_one_value_that_stay(tmp_path, text):
    path = tmp_path / "toy.csv"
    path.write_text(text)
    table = read_table(path, drop_text=True, trusted=True)
    assert (len(table.X), table.origin.notes) == (3, ())


def test_a_feature_without_values_stays_in_a_transposed_table(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text("gene,s1,s2,s3\nA,1,2,3\nB,,,\nC,4,5,7\n")
    assert read_table(path, transpose=True, trusted=True).names == ["A", "B", "C"]


@pytest.mark.filterwarnings("default")
def test_every_row_with_too_many_cells(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text("a,b\n1,2,3\n4,5,6\n")
    with pytest.raises(ValueError, match=r"toy\.csv cannot"):
        read_table(path)


@pytest.mark.parametrize(
    ("version", "asked"),
    [
        ("2.3.3", True),
        ("3.1.1", False),
    ],
)
def test_pandas_is_asked_for_exact_numbers_where_it_takes_that(version, asked):
    assert ("float_precision" in exact_numbers(version)) == asked


def test_numbers_are_read_exactly(tmp_path):
    numbers = np.concatenate([RNG.random(2000), RNG.standard_normal(2000) * 1e-12, [5e-324]])
    path = tmp_path / "toy.csv"
    path.write_text("a,b\n" + "".join(f"{number!r},1\n" for number in numbers.tolist()))
    np.testing.assert_array_equal(read_table(path).X[:, 0], numbers)


def numbered(tmp_path, names):
    """Write a table whose columns have numbers as names."""
    X = np.random.default_rng(0).random((20, len(names))).round(3)
    path = tmp_path / "t.csv"
    pd.DataFrame(X, columns=names).to_csv(path, index=False)
    return path, X


def test_a_header_of_numbers_is_not_guessed_where_it_matters(tmp_path):
    path, X = numbered(tmp_path, [3, *range(10, 18)])
    for asked in ({"label_column": "3"}, {"drop": ["3"]}, {"columns": ["10"]}):
        with pytest.raises(ValueError, match=r"--header; in Python header=True"):
            read_table(path, **asked)
    table = read_table(path, label_column="3", header=True)
    assert table.feature_names == [str(j) for j in range(10, 18)]
    np.testing.assert_array_equal(table.X, X[:, 1:])
    assert read_table(path, header=False).X.shape == (21, 9)
    some = read_table(path, columns=["17", "3"], header=True)
    np.testing.assert_array_equal(some.X, X[:, [8, 0]])


@pytest.mark.parametrize("names", [range(1100, 1124, 2), range(2010, 2022), range(30, 0, -3)])
def test_years_and_wavelengths_are_names(tmp_path, names):
    path, X = numbered(tmp_path, names)
    table = read_table(path)
    assert table.feature_names == [str(name) for name in names]
    np.testing.assert_array_equal(table.X, X)


def test_classes_are_taken_as_they_stand(tmp_path):
    path, back = tmp_path / "t.csv", tmp_path / "back.csv"
    text = "a,kind\n1,001\n2,1\n3,NA\n4,01\n5,\n"
    path.write_text(text)
    table = read_table(path, label_column="kind")
    assert table.class_names == ["001", "01", "1", "NA"]
    assert table.y.tolist() == [0, 2, 3, 1, -1]
    assert table.complete_y is None
    assert table.n_classes == 4
    write_table(back, table)
    assert back.read_text() == text
    path.write_text("a,kind\n1,10\n2,9\n")
    table = read_table(path, label_column="kind")
    assert (table.class_names, table.y.tolist()) == (["9", "10"], [1, 0])


def test_columns_are_read_some_rows_at_a_time(tmp_path):
    """Pandas guesses the types of a column for each part of the rows: the answer is the same."""
    path, n = tmp_path / "toy.csv", 70_000
    frame = pd.DataFrame({"whole": [*range(n - 1), 0.5], "gap": [None] * (n - 1) + [2.0]})
    frame["late"] = [*range(n - 1), "x"]
    frame["flag"] = [True] * n
    frame["kind"] = ["01", "NA"] * (n // 2)
    frame.to_csv(path, index=False)
    wanted = ["gap", "whole", "flag"]
    table = read_table(path, columns=wanted, label_column="kind")
    np.testing.assert_array_equal(table.X, frame[wanted].astype(float))
    assert table.class_names == ["01", "NA"]
    with pytest.raises(ValueError, match=r"'late' has numbers except in 1 cell \('x'\)"):
        read_table(path, columns=["late"])
    path.write_text("a,b\n")
    with pytest.raises(ValueError, match="empty: 0 rows"):
        read_table(path, columns=["b"])


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_lines_that_end_with_carriage_returns(tmp_path, ending):
    path = tmp_path / f"toy{ending}"
    content = b"a\n1\r 2\r 3\r"  # 262,145 rows for pandas
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    assert read_table(path).X.ravel().tolist() == [1, 2, 3]


def test_text_is_what_pandas_reads(tmp_path):
    table = make_table()
    for ending, separator in ((".csv", ","), (".tsv.gz", "\t")):
        path = tmp_path / f"toy{ending}"
        write_table(path, table)
        frame = pd.read_csv(path, sep=separator, dtype={"who": str}, na_filter=False)
        assert list(frame.columns) == ["who", *FEATURES, "kind"]
        assert frame["who"].tolist() == SAMPLES
        assert frame["kind"].tolist() == [table.class_names[k] for k in table.y]
        assert frame['a "b"'].dtype == np.int64  # whole numbers look like it
        assert frame["größe, cm"][2] == ""  # and missing ones like nothing


def test_compressed_files_are_the_same_every_time(tmp_path):
    table = make_table()
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(tmp_path / name, table)
    first, second = ((tmp_path / name).read_bytes() for name in ("a.csv.gz", "b.csv.gz"))
    assert first == second
    assert gzip.decompress(first).startswith(b"who,age,")


@pytest.mark.parametrize(("separator", "decimal"), [(";", ","), (";", "."), ("\t", ".")])
def test_text_like_the_file_it_came_from(tmp_path, separator, decimal):
    source, path = tmp_path / "european.csv", tmp_path / "selected.csv"
    frame = pd.DataFrame(RNG.standard_normal((4, 3)), columns=list("abc"))
    frame.to_csv(source, sep=separator, decimal=decimal, index=False)
    table = subset(read_table(source), [2, 0])
    write_table(path, table, like=source)
    again = pd.read_csv(path, sep=separator, decimal=decimal, **exact_numbers(pd.__version__))
    pd.testing.assert_frame_equal(again, frame[["c", "a"]], check_exact=True)
    np.testing.assert_array_equal(read_table(path).X, table.X)


@pytest.mark.parametrize("sparse", [False, True])
def test_whole_numbers_have_no_decimal_points(tmp_path, sparse):
    X = RNG.integers(-3, 3, (20, 4)) * 1.0
    X[17, 2] = 0.5  # the whole column has decimal points
    X[3, 1] = np.nan
    path = tmp_path / "toy.csv"
    write_table(path, Dataset("toy", sp.csr_array(X) if sparse else X))
    frame = pd.read_csv(path, dtype=str, na_filter=False)
    assert all("." in cell for cell in frame["x2"])
    assert not any("." in cell for cell in frame["x1"])
    np.testing.assert_array_equal(read_table(path).X, X)


@pytest.mark.parametrize("value", [2.0**53, -(2.0**53), 2.0**53 + 2, 1e22, 1e300, np.inf, -0.0])
def test_large_numbers(tmp_path, value):
    path = tmp_path / "toy.csv"
    write_table(path, Dataset("toy", np.array([[value], [1.0]])))
    np.testing.assert_array_equal(read_table(path).X, [[value], [1.0]])
    assert len(path.read_text()) < 30


def read_lines(tmp_path, *lines, name="t.csv", **options):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_table(path, trusted=True, **options)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        (["Study of A, B and C"], "t.csv"),
        (["Study", "", "made in 2024"], "t.csv"),
        (["Study,,,,", ",,,,"], "t.csv"),
        (['"A quoted, long title",,,,'], "t.csv"),
        (["Study, of commas"], "t.tsv"),
    ],
)
def test_titles_above_the_header_are_left_out(tmp_path, title, name):
    separator = "\t" if name.endswith(".tsv") else ","
    rows = [separator.join(row) for row in ("abcde", "12345", "67890")]
    table = read_lines(tmp_path, *title, *rows, name=name)
    np.testing.assert_array_equal(table.X, [[1, 2, 3, 4, 5], [6, 7, 8, 9, 0]])
    (note,) = table.origin.notes
    assert note.startswith("Left out above the header: '")
    assert title[0].strip(',"')[:10] in note


@pytest.mark.parametrize(
    "lines",
    [
        ('"two\nlines",b,c', "1,2,3"),  # a cell of several lines
        ("a,b,,,", "1,2,3,4,5"),  # names are missing
        (",a", "x,1", "y,2"),
    ],
)
def test_headers_that_are_no_titles(tmp_path, lines):
    table = read_lines(tmp_path, *lines)
    assert not table.origin.notes
    assert len(table.X) == len(lines) - 1


def test_columns_of_the_same_name_are_numbered(tmp_path):
    table = read_lines(tmp_path, "x,x,y,x.3", "1,2,3,4", "5,6,7,8")
    assert table.names == ["x.1", "x.2", "y", "x.3"]
    assert read_lines(tmp_path, "x,x,x.1", "1,2,3", "5,6,7").names == ["x.2", "x.3", "x.1"]
    assert table.origin.notes == (
        "Several columns have the same name, 'x': they are numbered (.1, .2, ...).",
    )
    with pytest.raises(ValueError, match=r"no column 'x'; columns are: 'x\.1'"):  # which one?
        read_lines(tmp_path, "x,x,y", "1,2,3", label_column="x")
    with pytest.raises(ValueError, match=r"same name: '1'; these are numbers"):
        read_lines(tmp_path, "1,1,y", "1,2,3")


GENES = ("gene,s1,s2,s3", "g1,1,2,3", "g2,4,<5,6", "kind,u,v,u")


def test_features_in_rows(tmp_path):
    table = read_lines(tmp_path, *GENES, transpose=True, repair=True, label_column="kind")
    np.testing.assert_array_equal(table.X, [[1, 4], [2, 5], [3, 6]])
    assert table.names == ["g1", "g2"]
    assert table.sample_names == ["s1", "s2", "s3"]
    assert table.y.tolist() == [0, 1, 0]
    assert table.origin.options == {"transpose": True, "repair": {"g2": "."}}
    assert table.origin.changes == {"row": [2], "column": ["g2"], "was": ["<5"], "now": [5.0]}
    some = read_lines(tmp_path, *GENES, transpose=True, columns=["g1"])
    np.testing.assert_array_equal(some.X, [[1], [2], [3]])
    with pytest.raises(ValueError, match="'gene' says: --transpose turns it round"):
        read_lines(tmp_path, *GENES)


def test_names_of_features_in_rows(tmp_path):
    unnamed = read_lines(tmp_path, ",s1,s2", "g,1,2", "g,3,4", transpose=True)
    assert unnamed.names == ["g.1", "g.2"]
    numbered = read_lines(tmp_path, "gene_id,s1,s2", "101,1,2", "102,3,4", transpose=True)
    assert numbered.names == ["101", "102"]
    without = read_lines(tmp_path, "1.5,2", "3,4", "5,6", transpose=True)
    assert without.names == ["x0", "x1", "x2"]
    assert without.sample_names is None
    np.testing.assert_array_equal(without.X, [[1.5, 3, 5], [2, 4, 6]])
    described = ("gene,about,s1,s2", "g,a word,1,2", "h,another,3,4")
    with pytest.raises(ValueError, match=r"not numbers: 'about'; .*samples.*--drop-text"):
        read_lines(tmp_path, *described, transpose=True)
    again = read_lines(tmp_path, *described, transpose=True, columns=["h"])  # as apply does
    np.testing.assert_array_equal(again.X, [[3], [4]])
    assert again.origin.notes[1:] == ("Columns of words, which are no samples: 'about'.",)
    table = read_lines(tmp_path, *described, transpose=True, drop_text=True)
    np.testing.assert_array_equal(table.X, [[1, 3], [2, 4]])
    assert table.dropped == ("about",)


def test_columns_about_features_can_be_left_out(tmp_path):
    lines = ("gene\tchr\ts1\ts2", "g\tX\t1\t2", "h\t7\t3\t4", "i\t7\t5\t6")
    path = tmp_path / "genes.txt"
    path.write_text("\n".join(lines))
    table = read_table(path, transpose=True, drop=["chr", "i"], trusted=True)
    np.testing.assert_array_equal(table.X, [[1, 3], [2, 4]])
    assert (table.sample_names, table.dropped) == (["s1", "s2"], ("i", "chr"))
    options = table.origin.options
    assert options == {"transpose": True, "drop": ["chr"]}
    again = read_table(path, columns=["h"], trusted=True, **options)  # as apply does
    np.testing.assert_array_equal(again.X, [[3], [4]])
    path.write_text("gene,s3\nh,8\ng,9\n")  # other files need not have it
    np.testing.assert_array_equal(read_table(path, columns=["h"], **options).X, [[8]])
    with pytest.raises(ValueError, match="'nobody'"):
        read_table(path, transpose=True, drop=["nobody"], trusted=True)


def test_decimal_commas_behind_thousands(tmp_path):
    table = read_lines(
        tmp_path, "name;sum", "a;1.234,50", "b;12.345,25", id_column="name", repair=True
    )
    assert table.X.ravel().tolist() == [1234.5, 12345.25]
    write_table(tmp_path / "new.csv", table, like=tmp_path / "t.csv")
    assert (tmp_path / "new.csv").read_text() == "name;sum\na;1234,5\nb;12345,25\n"


def test_decimal_commas_of_a_transposed_table(tmp_path):
    lines = ("gene;s1;s2;s3", "g;1,5;2;3", "h;4;5,25;6", "kind;u;v;u")
    table = read_lines(tmp_path, *lines, transpose=True, label_column="kind")
    np.testing.assert_array_equal(table.X, [[1.5, 4], [2, 5.25], [3, 6]])


def test_rows_without_any_cell_and_units_are_left_out(tmp_path):
    lines = ("# made by hand", "who,a,b", ",mg/l,kg", "x,1,2", " ,,", "y,,3", ",5,")
    table = read_lines(tmp_path, *lines, id_column="who")
    assert table.sample_names == ["x", "y", ""]
    np.testing.assert_array_equal(table.X, [[1, 2], [np.nan, 3], [5, np.nan]])
    assert table.origin.notes == (
        "Left out above the header: '# made by hand'.",
        "Left out below the header, as units: 'mg/l, kg'.",
        "Rows without any value, and left out: 1 (the first is row 2).",
    )
    # the same rows, whichever columns are asked for
    some = read_table(tmp_path / "t.csv", columns=["b"], trusted=True)
    np.testing.assert_array_equal(some.X.ravel(), [2, 3, np.nan])
