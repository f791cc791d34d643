"""The meta-estimators pass scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from featsieve import AutoSelector, LabelFreeSearchCV, LaplacianScore, StabilitySelection


@pytest.mark.slow
@pytest.mark.usefixtures("untested_fits")  # a contract needs none
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        AutoSelector(LaplacianScore()),
        LabelFreeSearchCV(LaplacianScore(), {"n_features_to_select": [1, 0.5]}),
        StabilitySelection(LaplacianScore(0.5), n_subsamples=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scikit_learn_checks_pass(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert failed == []
    assert sum(r["status"] == "passed" for r in results) >= 40
