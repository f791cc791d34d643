"""Tables of other array libraries: what is refused, in which words, and what comes back."""

import array_api_strict as strict
import numpy as np
import pandas as pd
import pytest

from featsieve import JASFS, MaxVariance
from featsieve.base import UnsupervisedSelector, estimator
from featsieve.validation import check_table

DEVICE = strict.Device("device1")


def table(values, **settings):
    return strict.asarray(values, device=DEVICE, **settings)


X = np.arange(12.0).reshape(4, 3) ** 2


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (table(np.ones(5)), ValueError, "Expected 2D array.*Reshape"),
        (table(np.ones((1, 3))), ValueError, r"Found array with 1 sample\(s\).*minimum of 2"),
        (table(np.ones((4, 0))), ValueError, r"Found array with 0 feature\(s\)"),
        (table(np.ones((4, 3)) * 1j), ValueError, "Complex data not supported"),
        (
            table([[1.0, np.nan], [2.0, 3.0]]),
            ValueError,
            r"contains NaN: 1 non-finite value in 1 c",
        ),
        (table([[np.inf, np.inf], [2.0, 3.0]]), ValueError, r"infinity: 2 .* 2 columns \(0, 1\)"),
        (
            strict.asarray(np.ones((4, 3), dtype=np.float32), device=strict.Device("no_float64")),
            ValueError,
            "float64, which the device of X does not have",
        ),
    ],
)
def test_what_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        MaxVariance(1).fit(given)
    with pytest.raises(error, match=words):
        check_table(given, owner="a function")


def test_parameters_of_other_methods_mean_nothing_to_a_selector_of_ones_own():
    @estimator
    class Own(MaxVariance):
        gamma: float = 0.0
        update: str = "newton"
        n_components: float = 0.5
        max_inner_iter: int = 0
        path_length: str = "long"

    assert Own(n_features_to_select=1).fit(X).get_support(indices=True).tolist() == [2]


@pytest.mark.parametrize("scores", [[1.0, 2.0], [[1.0, 2.0, 3.0]], [1.0, np.nan, 3.0]])
def test_scores_that_rank_nothing_are_refused(scores):
    class Own(MaxVariance):
        def _fit(self, X):
            self._check_varies(np.ones(X.shape[1], dtype=bool))
            self._set_selection(np.array(scores), 1)

    with pytest.raises(ValueError, match="Own: scores must be one number for each of the 3 col"):
        Own(1).fit(X)


def test_a_selector_of_ones_own_needs_no_scale_and_is_told_what_it_forgot():
    @estimator
    class Own(UnsupervisedSelector):
        n_features_to_select: float = 0.5
        asks: bool = True

        def _fit(self, X):
            norms = self._operator(X).column_norms() if self.asks else np.ones(X.shape[1])
            self._set_selection(1e-16 + norms, self._n_to_select())

    varied = np.column_stack([np.ones(6), np.arange(6.0)])
    assert Own().fit(varied).scores_[0] == 0.0  # it does not vary
    with pytest.raises(ValueError, match=r"Own: _fit must call self\._operator\(X\) first"):
        Own(asks=False).fit(varied)


def test_a_column_that_does_not_vary_needs_no_score():
    class Own(MaxVariance):
        def _fit(self, X):
            self._check_varies(np.array([False, True, True]))
            self._set_selection(np.array([np.nan, 1.0, 2.0]), 1)

    assert Own(1).fit(X).ranking_.tolist() == [3, 2, 1]


def test_sparse_tensors_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"scipy\.sparse only"):
        MaxVariance(1).fit(torch.tensor(X).to_sparse())


def test_rows_are_checked_as_in_scikit_learn():
    sieve = MaxVariance(1).fit(table(X))
    with pytest.raises(ValueError, match="X has 2 features, but MaxVariance is expecting 3"):
        sieve.transform(table(X[:, :2]))
    with pytest.raises(ValueError, match="NaN"):
        sieve.transform(table(np.full((2, 3), np.nan)))
    with pytest.raises(ValueError, match="a different shape than during fitting"):
        sieve.inverse_transform(table(X))
    assert sieve.transform(table(X[:1])).shape == (1, 1)


def test_frames_are_made_where_they_are_asked_for():
    sieve = MaxVariance(1).fit(table(X)).set_output(transform="pandas")
    kept = sieve.transform(table(X))
    assert isinstance(kept, pd.DataFrame)
    np.testing.assert_array_equal(kept["x2"], X[:, 2])


def test_fitted_with_one_library_applied_to_another():
    made = np.random.default_rng(0).standard_normal((30, 5))
    made[:15] += 4.0
    sieve = JASFS(2, n_features_to_select=2, random_state=0).fit(table(made))
    assert isinstance(sieve.transform(made), np.ndarray)
    np.testing.assert_array_equal(np.from_dlpack(sieve.predict(table(made))), sieve.predict(made))


def test_a_selection_is_a_new_array():
    given = table(X.copy())
    kept = MaxVariance(1).fit(given).transform(given)
    kept[0, 0] = -1.0
    assert float(given[0, 2]) == X[0, 2]
