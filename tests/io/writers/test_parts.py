"""Names and classes, as files shall hold them."""

import numpy as np
import pytest

from featsieve.io.dataset import encode_classes
from featsieve.io.writers.parts import free_name, label_values
from tests.io.writers.tables import make_table


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (["1", "2", "10"], "i"),
        (["-0.5", "1.0", "2.5"], "f"),
        (["10", "2", "9"], "U"),  # text: in another order than numbers
        (["01", "02", "03"], "U"),
        (["1", "2", "two"], "U"),
        (None, "i"),
    ],
)
def test_classes_are_written_as_what_they_were(classes, kind):
    table = make_table(class_names=classes)
    values = label_values(table)
    assert values.dtype.kind == kind
    codes, names = encode_classes(values)
    np.testing.assert_array_equal(codes, table.y)
    assert names == (classes or ["0", "1", "2"])


def test_no_classes():
    assert label_values(make_table(y=None, class_names=None)) is None


def test_a_name_that_is_free():
    assert free_name("kind", "label", ["a"]) == "kind"
    assert free_name(None, "label", ["a"]) == "label"
    assert free_name("a", "label", ["a"]) == "label"
    assert free_name("a", "label", ["a", "label"]) == "label_"
