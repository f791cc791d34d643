"""AnnData files as anndata reads them, and all that they hold."""

import os
from dataclasses import replace

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import anndata
from featsieve.datasets import read_table, write_table
from featsieve.io.dataset import subset
from tests.io.tables import FEATURES, SAMPLES, make_table

RNG = np.random.default_rng(0)
N, D = 8, 6
GENES = [f"gene {j}" for j in range(D)]


def make_adata(layout=sp.csr_matrix):
    """Return an object with something in every part."""
    X = np.where(RNG.random((N, D)) < 0.5, RNG.random((N, D)), 0.0).astype(np.float32)
    kinds = pd.Categorical(list("abcabcab"), categories=list("cba"))
    adata = anndata.AnnData(
        layout(X),
        obs=pd.DataFrame(
            {"kind": kinds, "depth": RNG.random(N), "note": list("stuvwxyz")},
            index=[f"cell {i}" for i in range(N)],
        ),
        var=pd.DataFrame(
            {"id": [f"ENSG{j}" for j in range(D)], "strand": pd.Categorical(list("+-+-+-"))},
            index=GENES,
        ),
        uns={"steps": {"log": np.array([1.0, 2.0]), "base": None}, "title": "a toy"},
        obsm={
            "X_pca": RNG.random((N, 2)),
            "frame": pd.DataFrame({"u": RNG.random(N)}).set_axis([f"cell {i}" for i in range(N)]),
        },
        varm={"loadings": RNG.random((D, 2))},
        layers={"counts": layout(np.rint(10 * X)), "dense": X.copy()},
        obsp={"graph": sp.csr_matrix(np.eye(N))},
        varp={"similar": sp.csr_matrix(np.diag(np.arange(1.0, D + 1)))},
    )
    adata.raw = adata.copy()
    return adata


def assert_same_adata(found, expected):
    """Compare every part of two objects."""
    for name in ("obs", "var"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name))
    for name in ("layers", "obsm", "varm", "obsp", "varp"):
        one, other = getattr(found, name), getattr(expected, name)
        assert set(one) == set(other)
        for key in one:
            a, b = (
                v.toarray() if sp.issparse(v) else np.asarray(v) for v in (one[key], other[key])
            )
            assert sp.issparse(one[key]) == sp.issparse(other[key])
            np.testing.assert_array_equal(a, b)
    assert found.uns["title"] == expected.uns["title"]
    np.testing.assert_array_equal(found.uns["steps"]["log"], expected.uns["steps"]["log"])
    a, b = (v.raw.X.toarray() if sp.issparse(v.raw.X) else v.raw.X for v in (found, expected))
    np.testing.assert_array_equal(a, b)
    pd.testing.assert_frame_equal(found.raw.var, expected.raw.var)
    a, b = (v.X.toarray() if sp.issparse(v.X) else v.X for v in (found, expected))
    np.testing.assert_array_equal(a, b)
    assert sp.issparse(found.X) == sp.issparse(expected.X)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_new_file_is_what_anndata_reads(tmp_path, sparse):
    table = make_table(np.float32, sparse=sparse)
    write_table(tmp_path / "toy.h5ad", table)
    adata = anndata.read_h5ad(tmp_path / "toy.h5ad")
    assert sp.issparse(adata.X) == sparse
    assert adata.X.dtype == np.float32
    values, expected = (v.toarray() if sparse else v for v in (adata.X, table.X))
    np.testing.assert_array_equal(values, expected)
    assert adata.var_names.tolist() == FEATURES
    assert adata.obs_names.tolist() == SAMPLES
    assert adata.obs_names.name == "who"
    assert adata.obs["kind"].tolist() == [table.class_names[k] for k in table.y]


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_matrix, np.asarray])
def test_all_else_of_the_source_is_kept(tmp_path, layout):
    adata = make_adata(layout)
    source, path = tmp_path / "source.h5ad", tmp_path / "selected.h5ad"
    adata.write_h5ad(source)
    table = subset(read_table(source, label_column="kind"), [4, 1])
    write_table(path, table, like=source)
    expected = adata[:, ["gene 4", "gene 1"]].copy()
    found = anndata.read_h5ad(path)
    if layout is sp.csc_matrix:
        expected.X = expected.X.tocsr()  # tables are kept in rows
    assert_same_adata(found, expected)
    again = read_table(path, label_column="kind")
    assert again.feature_names == ["gene 4", "gene 1"]
    np.testing.assert_array_equal(again.y, table.y)
    assert sorted(os.listdir(tmp_path)) == ["selected.h5ad", "source.h5ad"]


def test_other_samples_or_genes_are_refused(tmp_path):
    source, path = tmp_path / "source.h5ad", tmp_path / "selected.h5ad"
    make_adata().write_h5ad(source)
    table = read_table(source)
    with pytest.raises(ValueError, match=r"source\.h5ad has 8 samples, but the table has 7"):
        write_table(path, replace(table, X=table.X[:7]), like=source)
    with pytest.raises(ValueError, match=r"no feature 'Gene 0' \(did you mean 'gene 0'"):
        write_table(path, replace(table, feature_names=["Gene 0", *GENES[1:]]), like=source)
    assert os.listdir(tmp_path) == ["source.h5ad"]


def test_categories_of_older_files(tmp_path):
    """Before anndata 0.8 they were kept behind references, which a plain copy would break."""
    source, path = tmp_path / "source.h5ad", tmp_path / "selected.h5ad"
    adata = make_adata()
    del adata.raw, adata.var["strand"], adata.obsm["frame"]
    adata.write_h5ad(source)
    with h5py.File(source, "r+") as file:
        obs = file["obs"]
        obs.attrs["encoding-version"] = "0.1.0"
        codes, categories = obs["kind/codes"][()], obs["kind/categories"][()]
        del obs["kind"]
        obs.create_dataset("__categories/kind", data=categories, dtype=h5py.string_dtype())
        obs["__categories/kind"].attrs["ordered"] = False
        obs["kind"] = codes
        obs["kind"].attrs["categories"] = obs["__categories/kind"].ref
    table = subset(read_table(source, label_column="kind"), [2, 3])
    np.testing.assert_array_equal(table.y, [0, 1, 2, 0, 1, 2, 0, 1])
    write_table(path, table, like=source)
    found = anndata.read_h5ad(path)
    assert found.obs["kind"].tolist() == list("abcabcab")
    assert found.var_names.tolist() == ["gene 2", "gene 3"]
    assert set(found.layers) - {None} == {"counts", "dense"}  # None: X itself, in anndata 0.13
