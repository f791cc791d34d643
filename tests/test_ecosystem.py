"""Notebooks and data frames: what scikit-learn, pandas and polars promise holds for everything."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import featsieve
from featsieve import AutoSelector, LabelFreeSearchCV, LaplacianScore, StabilitySelection
from tests.array_library_checks import quick
from tests.report.tags import Tags

SELECTORS = tuple(featsieve.selectors.__all__)
AROUND = {
    "AutoSelector": AutoSelector(LaplacianScore(), sizes=[4, 8]),
    "StabilitySelection": StabilitySelection(LaplacianScore(8), n_subsamples=3, random_state=0),
    "LabelFreeSearchCV": LabelFreeSearchCV(LaplacianScore(8), {"n_neighbors": [3, 5]}),
    "search of a pipeline": LabelFreeSearchCV(
        make_pipeline(StandardScaler(), LaplacianScore(8)), {"laplacianscore__n_neighbors": [3, 5]}
    ),
}
EVERYTHING = (*SELECTORS, *AROUND)
NAMES = [f"gene {j}" for j in range(20)]
ROWS = [f"cell {i}" for i in range(45)]

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning"),  # small tables
]


def make(name):
    """Return an estimator with settings that make it quick."""
    if name in AROUND:
        return clone(AROUND[name])
    return quick(name, n_features_to_select=6, max_iter=3)


@pytest.fixture(scope="module")
def frame():
    planted = featsieve.datasets.make_planted(
        45, 20, n_informative=6, n_clusters=3, signal=3.0, random_state=0
    )
    return pd.DataFrame(planted.X, columns=NAMES, index=ROWS)


@pytest.fixture(scope="module")
def fitted(frame):
    """Return every estimator, fitted to the frame; each is fitted once."""
    known = {}

    def fit(name):
        if name not in known:
            known[name] = make(name).fit(frame)
        return known[name]

    return fit


# Data frames --------------------------------------------------------------------------------------


def columns_kept(estimator):
    """Return the names of the selected columns, from the mask alone."""
    best = getattr(estimator, "best_estimator_", estimator)
    best = best[-1] if hasattr(best, "steps") else best
    return [name for name, keep in zip(NAMES, best.get_support(), strict=True) if keep]


@pytest.mark.parametrize("name", EVERYTHING)
def test_names_come_in_and_go_out(name, fitted, frame):
    sieve = fitted(name)
    kept = columns_kept(sieve)
    assert 1 <= len(kept) < 20
    assert list(sieve.feature_names_in_) == NAMES
    assert list(sieve.get_feature_names_out()) == kept
    assert isinstance(sieve.transform(frame), np.ndarray)  # unless set_output says otherwise
    inner = getattr(sieve, "selector_", getattr(sieve, "best_estimator_", sieve))
    assert list(inner.feature_names_in_) == NAMES


@pytest.mark.parametrize("name", EVERYTHING)
def test_frames_of_pandas(name, fitted, frame):
    expected = frame[columns_kept(fitted(name))]
    if name == "search of a pipeline":
        expected = (expected - expected.mean()) / expected.std(ddof=0)
    else:
        with config_context(transform_output="pandas"):
            pd.testing.assert_frame_equal(fitted(name).transform(frame), expected)
    again = make(name).set_output(transform="pandas").fit_transform(frame)
    pd.testing.assert_frame_equal(again, expected)  # rows keep their names too


@pytest.mark.parametrize("name", EVERYTHING)
def test_frames_of_polars(name, fitted, frame):
    table = pl.from_pandas(frame)
    sieve = make(name).set_output(transform="polars").fit(table)
    kept = columns_kept(fitted(name))
    assert list(sieve.feature_names_in_) == NAMES
    chosen = sieve.transform(table)
    assert isinstance(chosen, pl.DataFrame)
    assert chosen.columns == kept == list(sieve.get_feature_names_out())
    if name != "search of a pipeline":
        np.testing.assert_array_equal(chosen.to_numpy(), frame[kept].to_numpy())
    # from one library into the other
    assert chosen.equals(sieve.transform(frame))
    back = sieve.set_output(transform="pandas").transform(table)
    assert isinstance(back, pd.DataFrame)
    assert list(back.columns) == kept


@pytest.mark.parametrize("name", EVERYTHING)
def test_other_columns_than_in_fit_are_refused(name, fitted, frame):
    with pytest.raises(ValueError, match="feature names should match"):
        fitted(name).transform(frame[NAMES[::-1]])
    with pytest.raises(ValueError, match="feature names should match"):
        fitted(name).transform(pl.from_pandas(frame.rename(columns={"gene 3": "gene three"})))


@pytest.mark.parametrize("name", ["LaplacianScore", "JASFS"])
def test_columns_keep_their_types(name, frame):
    mixed = frame.copy()
    mixed[NAMES[::2]] = (10.0 * mixed[NAMES[::2]]).round().astype(np.int32)
    mixed[NAMES[1::4]] = mixed[NAMES[1::4]].astype(np.float32)
    chosen = make(name).set_output(transform="pandas").fit(mixed).transform(mixed)
    pd.testing.assert_frame_equal(chosen, mixed[list(chosen.columns)])


# Notebooks ----------------------------------------------------------------------------------------


def words(page):
    """Return what a reader sees of a piece of HTML, all of whose tags close."""
    return [text.strip() for where, text in Tags(page).texts if {*where[-1:]} - {"style", "script"}]


@pytest.mark.parametrize("name", ["JASFS", "NDFS", *AROUND])
def test_the_picture_of_an_estimator(name, fitted):
    fresh, done = make(name), fitted(name)
    for estimator, state in ((fresh, "Not fitted"), (done, "Fitted")):
        page = estimator._repr_html_()
        assert {type(estimator).__name__, state} <= set(words(page))
        named = [word for word in words(page) if "write_selection_report(" in word]
        # the call that makes the report, in one line; of a pipeline it needs the selector
        assert len(named) == (state == "Fitted" and name != "search of a pipeline")
        bundle = estimator._repr_mimebundle_()
        assert {type(estimator).__name__, *named} <= set(words(bundle["text/html"]))
        assert bundle["text/plain"] == repr(estimator)
        # The documentation has no public address yet; a link to scikit-learn's would be broken.
        assert estimator._get_doc_link() == ""
        links = [tag[key] for _, tag in Tags(page).tags for key in ("href", "src") if key in tag]
        assert [link for link in links if not re.search(r"/sklearn\.\w+\.", link)] == []
        assert not any("featsieve" in link or name in link for link in links)
