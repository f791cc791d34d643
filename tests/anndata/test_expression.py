from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import anndata
from featsieve.anndata import expression as module
from featsieve.anndata.expression import cell_totals, expression

RNG = np.random.default_rng(0)
# A gene counts for as much in every cell, but cells are read to very different depths.
DEPTH = RNG.lognormal(8.0, 0.8, size=(200, 1))
COUNTS = RNG.poisson(DEPTH * RNG.dirichlet(np.full(50, 0.5))).astype(np.float32)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(np.asarray, np.float32), (sp.csr_matrix, np.int32), (sp.csc_matrix, np.float64)],
)
def test_files_are_read_in_parts(kind, dtype, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_ELEMENTS", 777)  # many blocks
    X = kind(COUNTS.astype(dtype))
    anndata.AnnData(X).write_h5ad(tmp_path / "x.h5ad")
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    for mask in (np.ones(50, dtype=bool), np.arange(50) % 4 == 1):
        read = expression(backed, None, mask)
        assert read.dtype == dtype
        assert sp.issparse(read) == sp.issparse(X)
        dense = read.toarray() if sp.issparse(read) else read
        np.testing.assert_array_equal(dense, COUNTS[:, mask])
    np.testing.assert_allclose(cell_totals(backed, None), COUNTS.sum(axis=1, dtype=float))
    backed.file.close()


def test_arrays_of_other_libraries_must_be_loaded():
    lazy = SimpleNamespace(X=memoryview(b"x"), layers={}, isbacked=False)  # dask is not needed here
    with pytest.raises(TypeError, match=r"adata\.X is a memoryview.*adata\.to_memory\(\)"):
        expression(lazy, None, np.ones(2, dtype=bool))
