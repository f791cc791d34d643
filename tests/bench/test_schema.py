"""What a part carries besides its rows."""

import pytest

from featsieve.bench.cells import SCHEMA, STATUSES
from featsieve.bench.schema import arrow_schema, arrow_table, overall_status, part_about
from featsieve.bench.store import Store
from tests.bench.test_store import CELL, row_of


def test_every_column_has_a_type_and_must_have_a_value():
    schema = arrow_schema()
    assert schema.names == list(SCHEMA)
    assert not any(field.nullable for field in schema)


@pytest.mark.parametrize("status", STATUSES)
def test_one_row_that_is_not_done_decides(status):
    assert overall_status([row_of(), row_of(status=status), row_of()]) == status


def test_the_status_is_known_without_reading_the_rows(tmp_path):
    store = Store(tmp_path)
    store.write(CELL, [row_of(status="failed", reason="why")])
    path = tmp_path / "cells" / f"{CELL.id}.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 200 + content[204:])  # damaged where the rows are
    assert part_about(path).status == "failed"
    with pytest.raises(FileNotFoundError):
        part_about(tmp_path / "cells" / "nothing.parquet")


def test_numbers_of_numpy_are_taken_as_they_are(small_planted):
    whole, truth = small_planted.labels[0], small_planted.informative[0]
    table = arrow_table(CELL, [row_of(n_features=whole, control=truth)])
    assert table["n_features"].to_pylist() == [int(whole)]
    assert table["control"].to_pylist() == [bool(truth)]
