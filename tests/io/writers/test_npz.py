"""Archives as NumPy and SciPy read them."""

import numpy as np
import scipy.sparse as sp

from featsieve.datasets import write_table
from tests.io.writers.tables import FEATURES, SAMPLES, make_table


def test_a_sparse_table_is_what_scipy_reads(tmp_path):
    table = make_table(sparse=True)
    write_table(tmp_path / "toy.npz", table)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "toy.npz").toarray(), table.X.toarray())


def test_nothing_is_pickled(tmp_path):
    table = make_table()
    write_table(tmp_path / "toy.npz", table)
    with np.load(tmp_path / "toy.npz", allow_pickle=False) as archive:
        assert set(archive) == {"X", "feature_names", "kind", "who"}
        np.testing.assert_array_equal(archive["X"], table.X)
        assert archive["feature_names"].tolist() == FEATURES
        assert archive["who"].tolist() == SAMPLES
        assert archive["kind"].tolist() == [table.class_names[k] for k in table.y]
