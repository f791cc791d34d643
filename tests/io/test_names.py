"""Names of columns: found, or told with those that may be meant."""

import pytest

from featsieve.io.names import (
    ColumnError,
    check_unique,
)

GENES = [f"gene {j}" for j in range(5000)]


def test_names_that_stand_twice():
    check_unique(GENES)
    with pytest.raises(ColumnError, match=r"the same name: 'a', 'b'; rename them$"):
        check_unique(["a", "b", "b", "a", "b"])
    with pytest.raises(ColumnError, match=r"the same name: '1\.5'; these are numbers: is the line"):
        check_unique(["a", "1.5", "2", "1.5"])
    with pytest.raises(ColumnError, match=r"the same name: '1', 'a'; rename them$"):
        check_unique(["1", "1", "a", "a"])
