import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import VarianceThreshold

import anndata
from featsieve import JASFS, AutoSelector, LaplacianScore, StabilitySelection
from featsieve.anndata import select_genes
from featsieve.datasets import make_planted
from featsieve.tuning import feature_qvalues

pytestmark = pytest.mark.usefixtures("untested_fits")

PLANTED = make_planted(80, 60, n_informative=8, n_clusters=3, signal=3.0, random_state=0)
# Like expression: no negative values, many zeros, single precision.
EXPRESSION = np.where(PLANTED.X > 0.3, PLANTED.X, 0.0).astype(np.float32)
KINDS = {
    "dense": np.asarray,
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
}


def make(kind="dense", **more):
    adata = anndata.AnnData(KINDS[kind](EXPRESSION.copy()), **more)
    adata.var_names = [f"gene{j}" for j in range(adata.n_vars)]
    adata.obs_names = [f"cell{i}" for i in range(adata.n_obs)]
    return adata


def expected(X=EXPRESSION, **settings):
    return JASFS(3, n_features_to_select=8, random_state=0, **settings).fit(X)


def assert_holds(adata, sieve):
    """What is in the object is what the estimator says."""
    np.testing.assert_array_equal(adata.var["featsieve_selected"], sieve.support_)
    np.testing.assert_allclose(adata.var["featsieve_score"], sieve.scores_, rtol=1e-6)
    np.testing.assert_array_equal(adata.var["featsieve_rank"], sieve.ranking_)
    np.testing.assert_array_equal(adata.obs["featsieve_cluster"].astype(int), sieve.labels_)


@pytest.mark.parametrize("kind", KINDS)
def test_the_object_holds_what_the_estimator_finds(kind):
    adata = make(kind)
    before = adata.X.copy()
    assert select_genes(adata, n_genes=8, n_clusters=3) is None
    assert_holds(adata, expected(KINDS[kind](EXPRESSION)))
    assert adata.var["featsieve_selected"].dtype == bool
    assert adata.obs["featsieve_cluster"].dtype == pd.CategoricalDtype(["0", "1", "2"])
    assert adata.X.dtype == np.float32
    same = (before != adata.X).nnz == 0 if sp.issparse(before) else np.array_equal(before, adata.X)
    assert same
    assert adata.uns["featsieve"]["n_genes"] == 8
    assert adata.uns["featsieve"]["n_clusters"] == 3


@pytest.mark.parametrize(("kind", "mode"), [("dense", "r"), ("csr", "r+"), ("csc", "r")])
def test_backed_objects_give_the_same(kind, mode, tmp_path):
    make(kind).write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed=mode)
    select_genes(backed, n_genes=8, n_clusters=3)
    assert backed.isbacked
    assert_holds(backed, expected(KINDS[kind](EXPRESSION)))
    mask = np.arange(60) % 3 > 0
    select_genes(backed, n_genes=5, n_clusters=3, mask_var=mask, key_added="some")
    sieve = JASFS(3, n_features_to_select=5, random_state=0).fit(KINDS[kind](EXPRESSION)[:, mask])
    np.testing.assert_array_equal(backed.var["some_selected"][mask], sieve.support_)
    backed.file.close()


def test_what_anndata_cannot_do_with_files_is_said_before_the_work(tmp_path):
    make("csr").write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match=r"subset=True on a file.*to_memory\(\).*inplace=False"):
        select_genes(backed, n_genes=8, n_clusters=3, subset=True)
    view = backed[:50]
    with pytest.raises(ValueError, match="cannot change a view in place"):
        select_genes(view, n_genes=8, n_clusters=3)
    frame = select_genes(view, n_genes=8, n_clusters=3, inplace=False)
    np.testing.assert_array_equal(
        frame["featsieve_selected"], expected(sp.csr_matrix(EXPRESSION)[:50]).support_
    )
    backed.file.close()


def test_layers():
    adata = make("csr", layers={"log": sp.csr_matrix(np.log1p(EXPRESSION))})
    select_genes(adata, n_genes=8, n_clusters=3, layer="log")
    assert_holds(adata, expected(sp.csr_matrix(np.log1p(EXPRESSION))))
    assert adata.uns["featsieve"]["layer"] == "log"
    with pytest.raises(ValueError, match=r"no layer 'logs'; its layers are: log"):
        select_genes(adata, layer="logs")
    with pytest.raises(ValueError, match=r"adata\.X is empty"):
        select_genes(anndata.AnnData(shape=(5, 4)))


def test_only_some_genes_are_looked_at():
    X = EXPRESSION.copy()
    X[:, 50] = np.nan  # not looked at, so no harm
    adata = anndata.AnnData(sp.csr_matrix(X))
    mask = np.arange(60) < 40
    adata.var["wanted"] = mask
    select_genes(adata, n_genes=6, n_clusters=3, mask_var="wanted")
    sieve = JASFS(3, n_features_to_select=6, random_state=0).fit(sp.csr_matrix(EXPRESSION[:, mask]))
    np.testing.assert_array_equal(adata.var["featsieve_selected"][mask], sieve.support_)
    np.testing.assert_array_equal(adata.var["featsieve_rank"][mask], sieve.ranking_)
    assert not adata.var["featsieve_selected"][~mask].any()
    assert adata.var["featsieve_score"][~mask].isna().all()
    assert adata.var["featsieve_rank"][~mask].isna().all()
    assert adata.uns["featsieve"]["mask_var"] == "wanted"
    with pytest.raises(ValueError, match="40"):
        select_genes(adata, n_genes=41, mask_var="wanted")


def test_the_other_genes_are_dropped():
    adata = make("csr", obsm={"X_pca": EXPRESSION[:, :2]})
    select_genes(adata, n_genes=8, n_clusters=3, subset=True)
    chosen = expected(sp.csr_matrix(EXPRESSION)).support_
    assert list(adata.var_names) == [f"gene{j}" for j in np.flatnonzero(chosen)]
    np.testing.assert_array_equal(adata.X.toarray(), EXPRESSION[:, chosen])
    assert adata.var["featsieve_selected"].all()
    assert adata.obsm["X_pca"].shape == (80, 2)


def test_several_selections_stand_side_by_side():
    adata = make()
    select_genes(adata, n_genes=8, n_clusters=3)
    select_genes(adata, n_genes=5, selector="laplacianscore", key_added="smooth")
    assert set(adata.var) == {
        "featsieve_selected", "featsieve_score", "featsieve_rank",
        "smooth_selected", "smooth_score", "smooth_rank",
    }  # fmt: skip
    assert set(adata.obs) == {"featsieve_cluster", "featsieve_certainty"}
    assert {name: adata.uns[name]["selector"] for name in adata.uns} == {
        "featsieve": "JASFS",
        "smooth": "LaplacianScore",
    }
    np.testing.assert_array_equal(
        adata.var["smooth_selected"], LaplacianScore(5).fit(EXPRESSION).support_
    )
    # the clusters of an earlier selection are not those of this one
    select_genes(adata, n_genes=5, selector="LaplacianScore")
    assert not set(adata.obs)


def test_views_are_copied_by_the_user():
    adata = make("csr")
    with pytest.raises(ValueError, match=r"change a view in place: .*adata\.copy\(\)"):
        select_genes(adata[:60], n_genes=8, n_clusters=3)
    view = adata[:60].copy()
    select_genes(view, n_genes=8, n_clusters=3)
    assert_holds(view, expected(sp.csr_matrix(EXPRESSION[:60])))
    select_genes(adata[:60], n_genes=8, n_clusters=3, inplace=False)  # nothing is written


def test_a_data_frame_instead_and_a_number_that_is_found():
    adata = make()
    frame = select_genes(adata, n_clusters=3, inplace=False)
    assert list(frame.columns) == ["featsieve_selected", "featsieve_score", "featsieve_rank"]
    assert list(frame.index) == list(adata.var_names)
    np.testing.assert_array_equal(
        frame["featsieve_selected"], JASFS(3, random_state=0).fit(EXPRESSION).support_
    )
    assert adata.var.shape[1] == adata.obs.shape[1] == len(adata.uns) == 0
    few = select_genes(adata, n_clusters=3, inplace=False, subset=True)
    pd.testing.assert_frame_equal(few, frame[frame["featsieve_selected"]])


@pytest.mark.parametrize("name", ["MCFS", "SPEC", "MaxVariance"])
def test_methods_by_name(name):
    adata = make("csr")
    select_genes(adata, n_genes=0.1, selector=name, n_clusters=3)
    assert adata.var["featsieve_selected"].sum() == 6
    assert sorted(adata.var["featsieve_rank"]) == list(range(1, 61))
    assert adata.uns["featsieve"]["selector"] == name


def test_estimators_are_fitted_themselves():
    adata = make()
    sieve = JASFS(3, n_features_to_select=7, alpha=1.0, random_state=1)
    select_genes(adata, selector=sieve)
    assert_holds(adata, sieve)
    assert adata.uns["featsieve"]["params"]["alpha"] == 1.0
    stable = StabilitySelection(LaplacianScore(8), n_subsamples=5, random_state=0)
    select_genes(adata, selector=stable, key_added="stable")
    np.testing.assert_array_equal(adata.var["stable_score"], stable.selection_frequency_)
    auto = AutoSelector(JASFS(3, random_state=0), sizes=[5, 10])
    select_genes(adata, selector=auto, key_added="auto")
    np.testing.assert_array_equal(adata.var["auto_selected"], auto.support_)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"selector": "JASF"}, ValueError, "no method 'JASF' .did you mean 'jasfs'"),
        ({"selector": VarianceThreshold()}, TypeError, "selector of featsieve"),
        ({"n_genes": 0}, ValueError, "n_features_to_select"),
        ({"mask_var": "wanted"}, ValueError, "no column 'wanted'; its columns are: symbol"),
        ({"mask_var": "symbol"}, ValueError, "True or False for each of the 60 genes"),
        ({"mask_var": np.zeros(60, dtype=bool)}, ValueError, "leaves no gene"),
        ({"selector": JASFS(3), "n_genes": 20}, ValueError, "leave n_genes out, and set its own"),
        ({"selector": JASFS(3), "random_state": None}, ValueError, "leave random_state out"),
    ],
)
def test_mistakes_are_named(settings, error, message):
    adata = make()
    adata.var["symbol"] = "x"
    with pytest.raises(error, match=message):
        select_genes(adata, **settings)
    assert list(adata.var) == ["symbol"]


def test_something_else_than_an_anndata_object():
    with pytest.raises(TypeError, match=r"AnnData object; got ndarray.*JASFS\(\)\.fit"):
        select_genes(EXPRESSION)


def test_q_values_on_request():
    adata, mask = make(), PLANTED.informative | (np.arange(60) >= 10)
    sieve = JASFS(3, n_features_to_select="significant", init=PLANTED.labels, random_state=0)
    select_genes(adata, selector=sieve, mask_var=mask)
    np.testing.assert_array_equal(adata.var["featsieve_q"][mask], sieve.qvalues_)
    assert adata.var["featsieve_q"][~mask].isna().all()
    np.testing.assert_array_equal(adata.var["featsieve_selected"], adata.var["featsieve_q"] <= 0.05)
    plain = JASFS(3, n_features_to_select=8, init=PLANTED.labels, random_state=0)
    frame = select_genes(adata, selector=plain, qvalues=True, inplace=False)
    expected = feature_qvalues(plain, EXPRESSION, random_state=0).qvalues
    np.testing.assert_array_equal(frame["featsieve_q"], expected)
    select_genes(adata, selector=plain)
    assert "featsieve_q" not in adata.var  # those of another selection are gone
