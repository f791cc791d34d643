import numpy as np
import pytest
from sklearn.datasets import load_wine

from featsieve.bench.methods import (
    distinct_params,
    make_selector,
    selector_names,
)
from featsieve.datasets import make_planted

WIDE = make_planted(60, 100, n_informative=10, random_state=0).X
TALL = make_planted(150, 30, n_informative=8, random_state=1).X
WINE = load_wine().data


FOLLOWING = {
    "AUFS", "IFPCA", "JASFS", "MCFS", "SKFR", "SOGFS", "SparseKMeans", "TrueLabels", "UGFS",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted({*selector_names()} - FOLLOWING))
def test_a_ranking_does_not_depend_on_the_number_asked_for(name):
    # What lets one fit answer for all counts.
    few, many = (
        make_selector(name, {"n_features_to_select": k}, n_clusters=4, random_state=0).fit(WIDE)
        for k in (5, 60)
    )
    assert np.array_equal(few.ranking_, many.ranking_)


@pytest.mark.parametrize("X", [WIDE, WINE], ids=["wide", "wine"])
def test_alpha_and_beta_of_the_published_jasfs_have_no_effect_without_a_stopping_rule(X):
    # What lets the grids of the plans leave them out where tol = 0.
    fixed = {"solver": "paper", "sparsity": 1e-3, "tol": 0.0}
    start = make_selector("JASFS", fixed | {"max_iter": 1}, n_clusters=4, random_state=0)
    with pytest.warns(UserWarning, match="max_iter=1"):
        labels = start.fit(X).labels_
    fits = []
    for alpha in (1e-6, 1e6):
        for beta in (1e-6, 1e6):
            params = {**fixed, "alpha": alpha, "beta": beta}
            selector = make_selector("JASFS", params, n_clusters=4, random_state=0)
            selector.set_params(init=labels)
            with pytest.warns(UserWarning, match="max_iter=20"):
                fits.append(selector.fit(X))
    for fit in fits[1:]:
        assert np.array_equal(fit.support_, fits[0].support_)
        np.testing.assert_allclose(fit.scores_, fits[0].scores_, atol=1e-6 * fits[0].scores_.max())


def test_with_the_published_stopping_rule_they_have_one():
    # They weigh the objective whose relative change ends the iterations.
    fits = [
        make_selector(
            "JASFS",
            {"solver": "paper", "sparsity": 1e-2, "alpha": alpha},
            n_clusters=4,
            random_state=0,
        ).fit(TALL)
        for alpha in (1e-6, 1e6)
    ]
    assert fits[0].n_iter_ != fits[1].n_iter_
    assert not np.array_equal(fits[0].support_, fits[1].support_)


def test_values_at_their_defaults_do_not_make_a_difference():
    assert distinct_params("NDFS", {"alpha": 1.0, "beta": 1.0}) == {"beta": 1.0}
    assert distinct_params("NDFS", {"alpha": True}) == {"alpha": True}  # not 1.0
