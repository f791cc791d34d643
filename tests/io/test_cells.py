"""Numbers written as text, and words that are none."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featsieve.io.cells import is_plain, read_number, read_numbers, without_gaps

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("12.5", 12.5, None),
        ("12,5", None, 12.5),
        ("1e3", 1000.0, 1000.0),
        ("<50", 50.0, 50.0),
        ("≤ 0.5", 0.5, None),
        ("90+", 90.0, 90.0),
        ("12.3%", 12.3, None),
        ("12,3 %", None, 12.3),
        ("$1,234.00", 1234.0, None),
        ("1.234,50 €", None, 1234.5),
        ("-$5", -5.0, -5.0),
        ("(1,200)", -1200.0, -1.2),
        ("1,234", 1234.0, 1.234),
        ("1.234", 1.234, 1234.0),
        ("1 234 567", 1234567.0, 1234567.0),
        ("1\u00a0234", 1234.0, 1234.0),
        ("1'234", 1234.0, 1234.0),
        ("\u22125", -5.0, -5.0),
        ("7*", 7.0, 7.0),
        ("c. 1950", 1950.0, 1950.0),
        ("ca. 5", 5.0, 5.0),
        ("c 5", None, None),
        *((word, NAN, NAN) for word in ("", " - ", "N/A", "?", "Unknown", "#DIV/0!")),
        *((word, None, None) for word in ("abc", "2024-01-31", "10:30", "3-5", "%", "$", "1,23,4")),
        ("0,500", None, 0.5),  # no group of thousands
        ("(5)", -5.0, -5.0),
        *((word, None, None) for word in ("1_2", "1_000.5", "2.1¹", "10³", "2①", "2½", "(5", "5)")),
        *((word, None, None) for word in ("12 34", "1 kg", "A1", "<", "1.2.3")),
        *((word, NAN, NAN) for word in ("<LOD", "< LOQ", "BDL", "ND", "trace", "-inf")),
        ("1e999", None, None),  # too large
    ],
)
def test_what_a_cell_means(text, point, comma):
    for decimal, expected in ((".", point), (",", comma)):
        found = read_number(text, decimal=decimal)
        assert (found is None) == (expected is None), (decimal, found)
        if expected is not None:
            np.testing.assert_equal(found, expected)


def test_a_currency_by_its_letters_is_a_unit_wherever_it_stands():
    found = read_numbers(pd.Series(["€ 1.5", "EUR 103", "7 EUR", "EUR1,200.00"], name="price"))
    assert found.values.tolist() == [1.5, 103.0, 7.0, 1200.0]
    mixed = read_numbers(pd.Series(["5", "6", "EUR 103", "USD 7"] * 3, name="price"))
    np.testing.assert_equal(mixed.values[:4], [5.0, 6.0, np.nan, np.nan])
    assert "units differ, 'EUR', 'USD'" in str(mixed)
    assert read_numbers(pd.Series(["LOT 1", "LOT 2", "CAS 3"], name="lot")) is None


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(".,"))
def test_plain_numbers_are_read_exactly(value, decimal):
    text = repr(value).replace(".", decimal)
    assert is_plain(text, decimal=decimal)
    assert read_number(text, decimal=decimal) == value


@given(st.integers(1, 10**12), st.sampled_from(["{:,}", "${:,}.00", "<{:,}", "{:,} %"]))
def test_grouped_numbers_are_read_exactly(value, form):
    assert read_number(form.format(value)) == value


def test_a_column_of_numbers_but_for_a_few_cells():
    found = read_numbers(pd.Series(["1", "2.5", None, "<3", "n/a", "broken"]))
    np.testing.assert_array_equal(found.values, [1, 2.5, np.nan, 3, np.nan, np.nan])
    assert found.changed.tolist() == [3, 4, 5]
    assert found.was == ["<3", "n/a", "broken"]
    assert str(found) == "numbers except in 3 cells ('<3', 'n/a')"
    assert str(read_numbers(pd.Series(["5%", "7%", None]))) == (
        "numbers written as text ('5%', '7%')"
    )


def test_one_unit_behind_numbers_is_left_out():
    column = pd.Series(["18.5", "26.2 g", "17.7g", "<5 g.", "n.d.", "19"])
    found = read_numbers(column)
    np.testing.assert_array_equal(found.values, [18.5, 26.2, 17.7, 5.0, NAN, 19.0])
    assert (found.decimal, found.was) == (".g", ["26.2 g", "17.7g", "<5 g.", "n.d."])
    assert "units" not in str(found)
    degrees = read_numbers(pd.Series(["21 °C", "3,5°C"]), decimal=",")
    np.testing.assert_array_equal(degrees.values, [21.0, 3.5])


@pytest.mark.parametrize(
    ("cells", "mark", "which"),
    [
        (["1 g", "2 kg"], None, "such cells"),
        (["1 kg"], ".g", "those that are not in g"),
        (["1 g", "2 kg"], ".?", "such cells"),
    ],
)
def test_different_units_are_missing_and_named(cells, mark, which):
    found = read_numbers(pd.Series(["3", "4", "5", *cells]), mark=mark)
    np.testing.assert_array_equal(found.values, [3.0, 4.0, 5.0, *[NAN] * len(cells)])
    assert f"units differ, 'g', 'kg': {which} become missing" in str(found)


def test_the_unit_of_most_cells_counts():
    """One cell in another unit made a column of numbers text, which was left out."""
    cells = ["51.2 µg/L", "48 \u03bcg/L", "<5 ug/L", "0.05 mg/L", "47"]
    found = read_numbers(pd.Series(cells))
    np.testing.assert_array_equal(found.values, [51.2, 48.0, 5.0, NAN, 47.0])
    assert found.decimal == ".ug/L"
    assert "'ug/L', 'mg/L': those that are not in ug/L become missing" in str(found)


def test_a_unit_in_the_name_counts_for_units_of_its_kind():
    """A new row with "1.9 mg/L" below "Iron (ug/L)" was read as 1.9."""
    column = pd.Series(["300", "1.9 mg/L", "250"], name="Iron (µg/L)")
    np.testing.assert_array_equal(read_numbers(column).values, [300.0, NAN, 250.0])
    for name in (
        "Iron (dry)",
        "Iron [n=5]",
        "Iron (mg/L)",
        "Iron",
    ):  # not of that kind, or the same
        np.testing.assert_array_equal(read_numbers(column.rename(name)).values, [300.0, 1.9, 250.0])


def test_words_are_words():
    assert read_numbers(pd.Series(["red", "blue", "1"])) is None
    assert read_numbers(pd.Series(["1", "2", "a", "b"])) is not None  # half of them
    assert read_numbers(pd.Series(["1", "a", "b"]), sure=True).changed.tolist() == [1, 2]
    assert read_numbers(pd.Series(["a", "b"]), sure=True) is None  # another column
    assert read_numbers(pd.Series([[1], [2]])) is None


def test_ranges_are_levels_beside_which_limits_are_no_numbers():
    ages = ["<18", "18-29", "30-64", "65+"]
    assert read_numbers(pd.Series(6 * [*ages, "65+", "<18"])) is None
    stray = read_numbers(pd.Series([*"123456789" * 5, "3-5"]))
    assert stray.was == ["3-5"]  # among numbers it is an odd cell


def test_the_decimal_mark_is_that_of_most_cells():
    column = pd.Series(["1,5", "2,25", "1,234"])
    found = read_numbers(column)
    assert found.decimal == ","
    assert found.values.tolist() == [1.5, 2.25, 1.234]
    # where both are possible, that of the file, or the one that is known
    unclear = pd.Series(["1,234", "2,345"])
    assert read_numbers(unclear).values.tolist() == [1234.0, 2345.0]
    assert read_numbers(unclear, decimal=",").values.tolist() == [1.234, 2.345]
    assert len(read_numbers(unclear, decimal=",").changed) == 0


def test_percent_signs_in_a_part_of_a_column():
    found = read_numbers(pd.Series(["0.5", "50%", "1", None]))
    np.testing.assert_array_equal(found.values, [0.5, 0.5, 1, np.nan])
    # a table read later has the unit of the first, whatever its own cells are
    assert read_numbers(pd.Series(["60%"]), mark=found.decimal).values.tolist() == [0.6]
    percent = read_numbers(pd.Series(["40", "50%"]))
    assert percent.values.tolist() == [40.0, 50.0]
    assert read_numbers(pd.Series(["0.5", "1%"]), mark=percent.decimal).values.tolist() == [0.5, 1]
    assert read_numbers(pd.Series(["5%", "50%"])).values.tolist() == [5.0, 50.0]


def test_columns_mostly_below_detection_hold_numbers():
    found = read_numbers(pd.Series(["<LOD"] * 5 + ["0.2", "trace", "0.3"]))
    assert found.was == ["<LOD"] * 5 + ["trace"]
    np.testing.assert_array_equal(found.values, [np.nan] * 5 + [0.2, np.nan, 0.3])


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([26.0, 31.5, -999.0, 40.0, -999.0], -999.0),
        ([1.0, 2.0, 9999.0, 9999.0, 3.0, np.nan], 9999.0),
        ([0.2, -99.0, 0.4, -99.0, 0.1], -99.0),
        ([26.0, 31.5, -999.0, 40.0, 33.0], None),  # once: a mistake, or a value
        ([1.0, 2.0, 99.0, 99.0, 3.0], None),  # an age
        ([-999.0, -999.0, -999.0, 1.0, 2.0], None),  # most cells
        ([0.0, 700.0, 999.0, 999.0, 650.0], None),  # no further away than the others
        ([1.0, 2.0, -998.0, -998.0, 3.0], None),
    ],
)
def test_codes_for_missing_numbers(values, code):
    values = np.array(values)
    found = without_gaps(values, ".")
    if code is None:
        assert found is None
        return
    np.testing.assert_array_equal(found.values, np.where(values == code, np.nan, values))
    assert found.was == [f"{code:g}"] * 2
    # rows that come later are read by it, where it stands once, and where cells are text
    later = without_gaps(np.array([1.0, code]), ",", mark=found.decimal)
    np.testing.assert_array_equal(later.values, [1.0, np.nan])
    words = read_numbers(pd.Series(["<5", f"{code:g}", "7"]), mark=found.decimal)
    np.testing.assert_array_equal(words.values, [5.0, np.nan, 7.0])
    assert words.decimal == found.decimal
    assert without_gaps(np.array([1.0, 2.0]), ".", mark=".") is None


def test_infinite_numbers_are_gaps():
    found = without_gaps(np.array([1.0, np.inf, 3.0], dtype=np.float32), ".")
    np.testing.assert_array_equal(found.values, [1.0, np.nan, 3.0])
    assert (found.values.dtype, found.was, found.decimal) == (np.float32, ["inf"], ".")


def test_codes_beside_limits_and_with_many_digits():
    """One "<0.5" hid the code of a column, and -9999999 was rounded in the model."""
    column = pd.Series(["1.5", "2.5", "<0.5", "3.5", "-999", "-999"])
    found = read_numbers(column, coded=True)
    np.testing.assert_array_equal(found.values, [1.5, 2.5, 0.5, 3.5, NAN, NAN])
    assert found.decimal == ".=-999"
    np.testing.assert_array_equal(read_numbers(column).values[-2:], [-999.0, -999.0])
    long = without_gaps(np.array([1.0, 2.0, 3.0, -9999999.0, -9999999.0]), ".")
    assert (long.decimal, long.was) == (".=-9999999", ["-9999999"] * 2)
    again = without_gaps(np.array([4.0, -9999999.0]), ".", long.decimal)
    np.testing.assert_array_equal(again.values, [4.0, NAN])
    assert without_gaps(np.array([1000.0] * 9 + [999.0] * 5), ".") is None  # two values


def test_litres_are_litres():
    found = read_numbers(pd.Series(["5 mg/dl", "6 mg/dL", "7 mg/dl"]))
    assert found.values.tolist() == [5.0, 6.0, 7.0]


def test_a_column_that_is_all_in_another_unit_than_its_name_is_read():
    column = pd.Series(["1.9 mg/L", "2.5 mg/L"], name="Iron (ug/L)")
    assert read_numbers(column).values.tolist() == [1.9, 2.5]
