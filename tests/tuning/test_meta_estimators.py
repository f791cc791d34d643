"""The meta-estimators pass scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from featsieve import MCFS, AutoSelector, LabelFreeSearchCV, LaplacianScore, StabilitySelection
from featsieve.criteria.measures import CRITERIA

# Few runs, and a number of clusters that need not be found.
QUICK = CRITERIA["modularity"](n_runs=2)


@pytest.mark.slow
@pytest.mark.usefixtures("untested_fits")  # a contract needs none
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        AutoSelector(MCFS(2), criterion=QUICK),
        LabelFreeSearchCV(MCFS(2), {"n_features_to_select": [1, 0.5]}, criterion=QUICK),
        StabilitySelection(LaplacianScore(0.5), n_subsamples=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scikit_learn_checks_pass(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert failed == []
    assert sum(r["status"] == "passed" for r in results) >= 40
