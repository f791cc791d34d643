"""A fit that is interrupted leaves an unfitted estimator, whenever and whatever interrupts it."""

import signal
import subprocess
import sys
import warnings
from copy import deepcopy
from functools import cache, partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from featsieve import (
    JASFS,
    NDFS,
    AutoSelector,
    LabelFreeSearchCV,
    LaplacianScore,
    StabilitySelection,
)
from featsieve.base import UnsupervisedSelector
from featsieve.datasets import make_planted
from tests.array_library_checks import quick as of_name

quick = partial(of_name, n_features_to_select=4)

# One of each kind: the others go through the same code.
ESTIMATORS = {name: quick(name) for name in ("JASFS", "LaplacianScore", "NDFS", "SOGFS")} | {
    "NDFS, auto": quick("NDFS", n_features_to_select="auto"),
    "AutoSelector": AutoSelector(quick("NDFS"), sizes=[2, 4]),
    "StabilitySelection": StabilitySelection(LaplacianScore(4), n_subsamples=2, random_state=0),
    "LabelFreeSearchCV": LabelFreeSearchCV(LaplacianScore(4), {"n_neighbors": [3, 5]}),
}
EARLIER = make_planted(24, 12, n_clusters=3, n_informative=4, signal=3.0, random_state=1).X
TABLE = make_planted(30, 14, n_clusters=3, n_informative=4, signal=3.0, random_state=2).X


def fit(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X)


def fitted_attributes(estimator):
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def assert_unfitted(estimator):
    assert fitted_attributes(estimator) == {}
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    with pytest.raises(NotFittedError):
        estimator.transform(TABLE)


def assert_same_fit(ours, theirs):
    ours, theirs = fitted_attributes(ours), fitted_attributes(theirs)
    assert ours.keys() == theirs.keys()
    arrays = [name for name, value in theirs.items() if isinstance(value, np.ndarray)]
    assert arrays or "best_estimator_" in theirs
    for name in arrays:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    for name in {"best_estimator_", "selector_"} & theirs.keys():
        assert_same_fit(ours[name], theirs[name])


@cache
def fitted(name):
    """Return the fits to be expected: of the table, and of an earlier one."""
    return tuple(fit(clone(ESTIMATORS[name]), X) for X in (TABLE, EARLIER))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["_check_input", "_set_selection"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_interrupted_fit_leaves_nothing_behind(name, step, after, monkeypatch):
    expected, earlier = fitted(name)
    assert fitted_attributes(expected)
    estimator = deepcopy(earlier)
    take = getattr(UnsupervisedSelector, step)

    def interrupted(self, *arguments, **more):
        if after:
            take(self, *arguments, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(UnsupervisedSelector, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit(estimator, TABLE)
    assert_unfitted(estimator)
    assert estimator.get_params(deep=False).keys() == expected.get_params(deep=False).keys()
    monkeypatch.undo()
    assert_same_fit(fit(estimator, TABLE), expected)


@pytest.mark.parametrize("error", [ValueError, MemoryError, KeyboardInterrupt, SystemExit])
def test_whatever_a_callback_raises(error):
    def fail(iteration, objective, state):
        raise error

    for estimator in (JASFS(3, n_features_to_select=4, callback=fail), NDFS(3, callback=fail)):
        with pytest.raises(error):
            estimator.fit(TABLE)
        assert_unfitted(estimator)


@pytest.mark.parametrize("name", ["NDFS", "StabilitySelection"])
def test_wrong_parameters_of_a_second_fit(name):
    estimator = fit(clone(ESTIMATORS[name]), TABLE)
    with pytest.raises(ValueError, match="must be"):
        estimator.set_params(verbose=-1).fit(TABLE)
    assert_unfitted(estimator)


SCRIPT = """
import signal
from sklearn.exceptions import NotFittedError
from featsieve import JASFS
from featsieve.datasets import make_planted

signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have it ignored
small = make_planted(40, 20, n_clusters=3, random_state=0).X
large = make_planted(4000, 300, n_clusters=3, random_state=0).X
sieve = JASFS(3, n_features_to_select=8, random_state=0).fit(small)
expected = sieve.labels_
try:
    sieve.set_params(verbose=1).fit(large)
    print("finished")
except KeyboardInterrupt:
    left = [name for name in vars(sieve) if name.endswith("_")]
    try:
        sieve.transform(large)
    except NotFittedError:
        again = sieve.set_params(verbose=0).fit(small)
        print("unfitted", left, (again.labels_ == expected).all())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.slow
def test_control_c_in_the_middle_of_a_fit():
    with subprocess.Popen(
        [sys.executable, "-u", "-c", SCRIPT], stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            if "finding label hypotheses" in line:
                process.send_signal(signal.SIGINT)
                break
        assert process.stdout.read() == "unfitted [] True\n"
    assert process.returncode == 0
