"""Raw counts in, with all that users give beside them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import anndata
from featsieve import JASFS
from featsieve.anndata import select_genes
from featsieve.criteria.structure import NoStructureWarning
from featsieve.io.counts import read_expression

RNG = np.random.default_rng(1)
TYPES = np.repeat([0, 1, 2], 40)
MEANS = np.full((3, 40), 1.0)
for k in range(3):
    MEANS[k, 6 * k : 6 * k + 6] = 6.0
DEPTH = RNG.lognormal(0.0, 0.5, size=(120, 1))
COUNTS = RNG.poisson(RNG.gamma(4.0, MEANS[TYPES] * DEPTH / 4.0)).astype(np.float32)
COUNTS[:, 39] = 0.0  # a gene without counts
GENES = [f"g{j}" for j in range(36)] + ["MT-1", "MT-2", "ACTB", "none"]
FEW = {"n_genes": 8, "n_clusters": 3}


def make(X=COUNTS):
    adata = anndata.AnnData(sp.csr_matrix(X))
    adata.var_names, adata.obs_names = GENES, [f"c{i}" for i in range(120)]
    adata.obs["donor"] = pd.Categorical(["a", "b", "c"] * 40)
    return adata


def chosen(adata):
    return set(adata.var_names[adata.var["featsieve_selected"]])


def test_counts_are_normalised_for_the_fit_alone():
    adata = make()
    select_genes(adata, **FEW)
    found = read_expression(sp.csr_matrix(COUNTS))
    sieve = JASFS(3, n_features_to_select=8, random_state=0).fit(found.X)
    np.testing.assert_array_equal(adata.var["featsieve_selected"], sieve.support_)
    np.testing.assert_array_equal(adata.obs["featsieve_certainty"], sieve.sample_certainty_)
    np.testing.assert_array_equal(adata.X.toarray(), COUNTS)
    assert adata.var["featsieve_rank"].to_numpy()[39] == 40  # all zero: last
    about = adata.uns["featsieve"]
    assert about["values"] == "counts"
    assert about["library_size"] == np.median(COUNTS.sum(axis=1))
    assert "log(1 + x)" in about["normalisation"]
    assert about["structure"]["verdict"] == "clusters"
    assert (about["n_cells"], about["n_genes_looked_at"], about["n_clusters_is"]) == (
        120,
        40,
        "given",
    )
    assert about["mean_certainty"] == pytest.approx(sieve.sample_certainty_.mean())
    assert pd.crosstab(adata.obs["featsieve_cluster"], TYPES).max(axis=1).sum() > 110


@pytest.mark.usefixtures("untested_fits")
def test_totals_are_those_of_all_genes(tmp_path):
    adata = make()
    mask = np.arange(40) < 30
    select_genes(adata, **FEW, mask_var=mask)
    assert adata.uns["featsieve"]["library_size"] == np.median(COUNTS.sum(axis=1))
    make().write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    select_genes(backed, **FEW, mask_var=mask)
    pd.testing.assert_frame_equal(backed.var, adata.var)
    backed.file.close()


@pytest.mark.usefixtures("untested_fits")
def test_constraints_by_name_are_recorded_and_survive_a_file(tmp_path):
    adata = make()
    adata.var["mito"] = [name.startswith("MT-") for name in GENES]
    groups = {"probe/1": ["g0", "g20"]}
    select_genes(
        adata, n_clusters=3, keep=["ACTB"], exclude="mito", groups=groups,
        costs={"probe/1": 2.0, "g6": 1.5}, budget=7.0,
    )  # fmt: skip
    picked = chosen(adata)
    assert "ACTB" in picked
    assert not picked & {"MT-1", "MT-2"}
    assert ("g0" in picked) == ("g20" in picked)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    about = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["featsieve"]["constraints"]
    assert about["keep"].tolist() == ["ACTB"]
    assert about["exclude"].tolist() == ["MT-1", "MT-2"]
    assert about["groups"]["group"].to_dict() == {"g0": "probe/1", "g20": "probe/1"}
    assert about["costs"]["price"].to_dict() == {"probe/1": 2.0, "g6": 1.5}
    assert about["budget"] == 7.0


@pytest.mark.usefixtures("untested_fits")
@pytest.mark.parametrize("masked", [False, True])
def test_prices_of_a_series_go_by_its_names(masked):
    prices = pd.Series(np.linspace(1.0, 3.0, len(GENES)), index=GENES)
    given = {"mask_var": np.array([name != "g3" for name in GENES])} if masked else {}
    found = []
    for costs in (prices, prices[::-1], prices.to_numpy()):
        adata = make()
        select_genes(adata, n_clusters=3, costs=costs, budget=9.0, **given)
        found.append(chosen(adata))
    assert found[0] == found[1] == found[2]


@pytest.mark.usefixtures("untested_fits")
def test_constraints_beside_a_mask():
    adata = make()
    mask = np.array([name != "g3" for name in GENES])
    select_genes(
        adata, **FEW, mask_var=mask, keep=["ACTB"], exclude=["g3", "MT-*"], costs={"g3": 2.0}
    )
    assert "ACTB" in chosen(adata)
    assert adata.uns["featsieve"]["constraints"]["exclude"].tolist() == ["MT-1", "MT-2"]
    with pytest.raises(ValueError, match="keep names 'g3', which mask_var leaves out"):
        select_genes(adata, **FEW, mask_var=mask, keep=["g3"])


@pytest.mark.usefixtures("untested_fits")
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": ["ACTB"], "exclude": ["ACTB"]}, "keep and exclude both name 'ACTB'"),
        ({"keep": ["ACTBB"]}, r"no column 'ACTBB' \(did you mean 'ACTB'"),
        ({"groups": {"a": ["g1", "g2"], "b": ["g2"]}}, "Groups 'a' and 'b' both have 'g2'"),
        ({"n_genes": "auto", "keep": ["g1", "g2"], "budget": 1.0}, "more than the budget of 1"),
        ({"budget": 5.0}, "budget is there in place of a number.*n_genes"),
        ({"batch_key": "doner"}, r"adata.obs has no column 'doner' \(did you mean 'donor'"),
        ({"selector": JASFS(3), "keep": ["g1"]}, "estimator with settings of its own: leave"),
    ],
)
def test_mistakes_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        select_genes(make(), **(FEW | settings))


def test_batches_reach_the_fit_complete_or_not_at_all():
    class Recorded(JASFS):
        def fit(self, X, y=None, *, batch=None):
            self.seen = batch
            return super().fit(X, batch=batch)

    sieve, adata = Recorded(3, n_features_to_select=8, random_state=0), make()
    select_genes(adata, selector=sieve, batch_key="donor")
    assert sieve.seen.tolist() == ["a", "b", "c"] * 40
    about = adata.uns["featsieve"]
    assert about["batch_key"] == "donor"
    assert about["batch"]["n_batches"] == 3
    assert about["batch"]["after"] < 0.1
    assert about["structure"]["verdict"] == "clusters"
    adata.obs.loc["c3", "donor"] = None
    with pytest.raises(ValueError, match="missing for 1 of 120 cells: leave these cells out"):
        select_genes(adata, **FEW, batch_key="donor")


@pytest.mark.usefixtures("untested_fits")
def test_bad_counts_are_refused_before_anything_is_written():
    for value, message in ((-1.0, "below 0"), (np.nan, "NaN.*g5")):
        X = COUNTS.copy()
        X[3, 5] = value
        adata = make(X)
        with pytest.raises(ValueError, match=message):
            select_genes(adata, **FEW)
        assert not set(adata.var)
        assert not adata.uns
    X = COUNTS.copy()
    X[7] = 0.0
    with pytest.raises(ValueError, match="1 of 120 cells have no counts"):
        select_genes(make(X), **FEW)


@pytest.mark.usefixtures("untested_fits")
def test_columns_of_others_are_never_replaced():
    for change in (
        lambda adata: adata.var.insert(0, "featsieve_rank", 1.0),
        lambda adata: adata.obs.insert(0, "featsieve_cluster", "mine"),
        lambda adata: adata.uns.update(featsieve="mine"),
    ):
        adata = make()
        change(adata)
        with pytest.raises(ValueError, match=r"not from select_genes: .*key_added"):
            select_genes(adata, **FEW)
    select_genes(adata, **FEW, key_added="own")
    select_genes(adata, **(FEW | {"n_genes": 3}), key_added="own")  # its own it may replace
    assert adata.var["own_selected"].sum() == 3


def test_no_structure_is_said_also_where_the_numbers_are_given():
    noise = RNG.poisson(3.0, size=(120, 40)).astype(np.float32)
    with pytest.warns() as said:  # certainty may be low as well
        select_genes(make(noise), **FEW)
    assert any(one.category is NoStructureWarning for one in said)


@pytest.mark.usefixtures("untested_fits")
def test_an_estimator_may_name_genes():
    adata = make()
    sieve = JASFS(3, n_features_to_select=5, keep=["ACTB"], exclude="mito", init="k-means")
    adata.var["mito"] = adata.var_names.str.startswith("MT-")
    select_genes(adata, selector=sieve, mask_var=np.array(GENES) != "g3")
    assert "ACTB" in chosen(adata)
    assert (sieve.keep, sieve.exclude) == (["ACTB"], "mito")  # as they were given
    assert adata.uns["featsieve"]["constraints"]["exclude"].tolist() == ["MT-1", "MT-2"]
    with pytest.raises(ValueError, match=r"no column 'ACTA' \(did you mean 'ACTB'"):
        select_genes(adata, selector=JASFS(3, n_features_to_select=5, keep=["ACTA"]))


@pytest.mark.usefixtures("untested_fits")
def test_patterns_without_genes_are_recorded(tmp_path):
    adata = make()
    with pytest.warns(UserWarning, match=r"no column is like 'RP"):
        select_genes(adata, **FEW, exclude=["MT-*", "RP[SL]*"])
    adata.write_h5ad(tmp_path / "cells.h5ad")
    about = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["featsieve"]
    assert about["patterns_without_genes"].tolist() == ["RP[SL]*"]


@pytest.mark.usefixtures("untested_fits")
@pytest.mark.parametrize("batch_key", [None, "donor"])
def test_a_device_gives_the_answer_of_the_processor(batch_key):
    pytest.importorskip("torch")
    here, there = make(), make()
    select_genes(here, **FEW, batch_key=batch_key)
    select_genes(there, **FEW, batch_key=batch_key, device="cpu")
    assert chosen(here) == chosen(there)
    crossed = pd.crosstab(here.obs["featsieve_cluster"], there.obs["featsieve_cluster"])
    assert crossed.max(axis=1).sum() >= 118
    np.testing.assert_array_equal(there.X.toarray(), COUNTS)


def test_a_device_that_is_not_there_is_named():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"device='elsewhere'.*leave device out"):
        select_genes(make(), **FEW, device="elsewhere")
