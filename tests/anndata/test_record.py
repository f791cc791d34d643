import numpy as np
import pandas as pd
import pytest

import anndata
from featsieve import AUFS, JASFS, AutoSelector, StabilitySelection
from featsieve.anndata import select_genes
from featsieve.anndata.record import storable
from featsieve.datasets import make_planted

pytestmark = pytest.mark.usefixtures("untested_fits")

PLANTED = make_planted(60, 40, n_informative=8, n_clusters=3, signal=3.0, random_state=0)


def start(X, n_clusters, random_state):
    return PLANTED.labels


@pytest.mark.parametrize(
    "selector",
    [
        JASFS(3, n_features_to_select=5, init=PLANTED.labels, callback=lambda *_: False),
        JASFS(3, n_features_to_select=5, init=start, random_state=np.random.RandomState(0)),
        JASFS(np.int64(3), n_features_to_select=np.int32(5), solver="paper", random_state=0),
        AUFS(3, n_features_to_select=5, orthogonality=[1.0, 100.0], random_state=0),
        AutoSelector(JASFS(3, random_state=0), sizes=[2, 5]),
        StabilitySelection(JASFS(3, n_features_to_select=5), n_subsamples=3, random_state=0),
    ],
    ids=["labels", "callable", "paper", "sequence", "AutoSelector", "StabilitySelection"],
)
def test_what_is_written_survives_a_file(selector, tmp_path):
    adata = anndata.AnnData(PLANTED.X)
    select_genes(adata, selector=selector)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_frame_equal(again.var, adata.var)
    pd.testing.assert_frame_equal(again.obs, adata.obs)
    assert_same(again.uns["featsieve"], adata.uns["featsieve"])


def assert_same(read, written):
    assert read.keys() == written.keys()
    for name, value in written.items():
        if isinstance(value, dict):
            assert_same(read[name], value)
        else:
            np.testing.assert_array_equal(read[name], value)


def test_what_is_recorded():
    adata = anndata.AnnData(PLANTED.X)
    sieve = JASFS(3, random_state=0)
    select_genes(adata, selector=sieve)
    about = adata.uns["featsieve"]
    assert about["selector"] == "JASFS"
    assert about["layer"] == "X"
    assert "mask_var" not in about
    assert about["params"]["n_clusters"] == 3
    assert about["params"]["random_state"] == 0
    assert "callback" not in about["params"]  # None
    assert set(about["versions"]) == {"featsieve", "anndata", "numpy", "scikit-learn", "scipy"}
    assert about["versions"]["numpy"] == np.__version__
    assert (about["n_clusters"], about["n_genes"]) == (3, sieve.n_features_selected_)


def test_parameters_become_plain():
    kept = storable({"a": None, "b": 0.5, "d": ["x", 1], "e": True})
    assert kept == {"b": 0.5, "d": "['x', 1]", "e": True}
