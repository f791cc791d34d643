"""A selection finds its columns by name, in tables of any kind."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import JASFS, AutoSelector, LabelFreeSearchCV, LaplacianScore, StabilitySelection
from featsieve.datasets import Dataset, make_planted
from featsieve.io.selection_model import SelectionModel

PLANTED = make_planted(
    n_samples=60, n_features=24, n_informative=6, n_clusters=3, signal=4.0, random_state=0
)
NAMES = [f"gene {j}" for j in range(24)]
JOINT = JASFS(3, n_features_to_select=5, random_state=0)
GAPS = np.random.default_rng(0).random((60, 24)) < 0.1
X = np.where(GAPS, np.nan, 3.0 * PLANTED.X + 7.0)


def fitted():
    """Return a pipeline of scikit-learn, and the model that must do the same."""
    pipeline = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), clone(JOINT))
    pipeline.fit(X)
    imputer, scaler, selector = (step for _, step in pipeline.steps)
    model = SelectionModel.from_selector(
        selector, NAMES, fill=imputer.statistics_, centre=scaler.mean_, scale=scaler.scale_
    )
    return pipeline, model


PIPELINE, MODEL = fitted()
SUPPORT = PIPELINE[-1].get_support()
FILLED = PIPELINE[0].transform(X)[:, SUPPORT]

KINDS = {
    "Dataset": lambda values, names: Dataset("new", values, feature_names=names),
    "pandas": lambda values, names: pd.DataFrame(values, columns=names, index=range(5, 65)),
    "polars": lambda values, names: pl.DataFrame(values, schema=names),
}


def numbers(table):
    return table.X if isinstance(table, Dataset) else table.to_numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_found_by_name_whatever_their_order(kind):
    order = np.random.default_rng(1).permutation(24)
    values = X.copy()
    table = KINDS[kind](values[:, order], [NAMES[j] for j in order])
    found = MODEL.transform(table)
    assert type(found) is type(table)
    np.testing.assert_array_equal(numbers(found), FILLED)
    names = found.feature_names if kind == "Dataset" else list(found.columns)
    assert names == list(MODEL.selected) == [NAMES[j] for j in np.flatnonzero(SUPPORT)]
    if kind == "pandas":
        assert found.index.tolist() == table.index.tolist()
    np.testing.assert_array_equal(MODEL.predict(table), PIPELINE.predict(X))
    np.testing.assert_array_equal(values, X)  # left as they are


def test_other_columns_may_hold_anything():
    frame = pd.DataFrame(X, columns=NAMES).assign(kind="rose", day=pd.Timestamp(0))
    np.testing.assert_array_equal(MODEL.transform(frame), FILLED)
    twice = pd.concat([frame, frame[["kind", "day"]]], axis=1)
    np.testing.assert_array_equal(MODEL.transform(twice), FILLED)
    mixed = pl.DataFrame(X, schema=NAMES).with_columns(kind=pl.lit("rose"))
    np.testing.assert_array_equal(MODEL.transform(mixed), FILLED)


def test_sparse_tables_stay_sparse():
    dtype = np.float32
    values = np.where(np.random.default_rng(2).random((60, 24)) < 0.6, 0.0, X).astype(dtype)
    table = Dataset("new", sp.csr_array(values), feature_names=NAMES)
    found = MODEL.transform(table)
    assert isinstance(found.X, sp.csr_array)
    assert found.X.dtype == dtype
    expected = MODEL.transform(Dataset("new", values, feature_names=NAMES)).X
    assert expected.dtype == dtype
    np.testing.assert_array_equal(found.X.toarray(), expected)
    np.testing.assert_array_equal(MODEL.predict(table), PIPELINE.predict(values.astype(float)))


def test_scaled_without_centring():
    values = sp.csr_array(np.where(GAPS, 0.0, PLANTED.X))
    scaler = StandardScaler(with_mean=False)
    pipeline = make_pipeline(scaler, clone(JOINT)).fit(values)
    model = SelectionModel.from_selector(pipeline[-1], NAMES, scale=scaler.scale_)
    table = Dataset("new", values, feature_names=NAMES)
    np.testing.assert_array_equal(model.predict(table), pipeline.predict(values))


def test_gaps_stay_where_nothing_fills_them():
    model = SelectionModel.from_selector(PIPELINE[-1], NAMES)
    table = Dataset("new", X, feature_names=NAMES)
    np.testing.assert_array_equal(model.transform(table).X, X[:, SUPPORT])
    with pytest.raises(ValueError, match=r"contains NaN: \d+ non-finite values .*\(gene "):
        model.predict(table)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_columns_are_named(kind):
    lost = MODEL.selected[:2]
    names = [name.upper() if name in lost else name for name in NAMES]
    hints = [re.escape(f"{name!r} (did you mean {name.upper()!r}?)") for name in lost]
    with pytest.raises(ValueError, match=f"there is no column {', '.join(hints)}; "):
        MODEL.transform(KINDS[kind](X, names))
    with pytest.raises(ValueError, match=f"no column {lost[0]!r}"):
        MODEL.predict(
            KINDS[kind](
                np.delete(X, NAMES.index(lost[0]), axis=1),
                [name for name in NAMES if name != lost[0]],
            )
        )


@pytest.mark.parametrize("library", [pd, pl])
def test_text_in_a_selected_column(library):
    frame = library.DataFrame({name: ["many"] for name in NAMES})
    with pytest.raises(ValueError, match="5 columns do not hold numbers"):
        MODEL.transform(frame)


@pytest.mark.parametrize("table", [X, [[1.0] * 24]])
def test_tables_without_names(table):
    with pytest.raises(TypeError, match=r"found by their names.*a Dataset"):
        MODEL.transform(table)


@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_selectors_inside_of_others_predict():
    filled = PIPELINE[0].transform(X)
    table = Dataset("new", filled, feature_names=NAMES)
    auto = AutoSelector(clone(JOINT), sizes=[2, 5]).fit(filled)
    model = SelectionModel.from_selector(auto, NAMES)
    np.testing.assert_array_equal(model.predict(table), auto.selector_.predict(filled))
    search = LabelFreeSearchCV(clone(JOINT), {"n_features_to_select": [3, 4]}).fit(filled)
    model = SelectionModel.from_selector(search.best_estimator_, NAMES)
    np.testing.assert_array_equal(model.predict(table), search.predict(filled))


def test_clusters_may_need_more_columns_than_the_selection():
    """The clusters of StabilitySelection are those of the fit to all rows."""
    filled = PIPELINE[0].transform(X)
    stable = StabilitySelection(
        clone(JOINT), n_subsamples=2, n_features_to_select=2, random_state=0
    ).fit(filled)
    model = SelectionModel.from_selector(stable, NAMES)
    assert len(model.selected) == 2
    table = Dataset("new", filled, feature_names=NAMES)
    np.testing.assert_array_equal(model.predict(table), stable.selector_.predict(filled))
    with pytest.raises(ValueError, match=r"there is no column .*, .*, .*; columns are"):
        model.predict(model.transform(table))


def test_methods_without_clusters_say_so():
    model = SelectionModel.from_selector(LaplacianScore(3).fit(PLANTED.X), NAMES)
    with pytest.raises(TypeError, match=r"LaplacianScore does not say which cluster.*KMeans"):
        model.predict(Dataset("new", X, feature_names=NAMES))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature_names": ["a", "a"], "selected": ["a"]}, "the same name: 'a'"),
        ({"selected": ["gene 1", "gene 1"]}, "the same name: 'gene 1'"),
        ({"selected": ["gen 1"]}, re.escape("no column 'gen 1' (did you mean 'gene 1'")),
        ({"fill": np.ones(3)}, "fill must have a finite number for each of the 24 features"),
        ({"scale": np.full(24, np.nan)}, "scale must have a finite number"),
        # a model of a stranger must not switch the limits of reading off
        ({"reading": {"trusted": True}}, "reading has an unknown trusted=True"),
        ({"reading": {"sheet": 5}}, "reading has an unknown sheet=5"),
    ],
)
def test_models_that_contradict_themselves(changes, message):
    fields = {"feature_names": NAMES, "selected": ["gene 1"], "selector": JOINT} | changes
    with pytest.raises(ValueError, match=message):
        SelectionModel(**fields)


def test_rows_are_centred_by_all_columns_of_the_fit():
    lights = np.random.default_rng(0).normal(scale=50.0, size=(60, 1))
    table = PLANTED.X + lights
    centred = table - table.mean(axis=1, keepdims=True)
    selector = clone(JOINT).fit(centred)
    model = SelectionModel.from_selector(selector, NAMES, center_rows=True)
    whole = Dataset("new", table, feature_names=NAMES)
    darker = Dataset("new", table - 30.0, feature_names=NAMES)
    predicted = model.predict(whole)
    np.testing.assert_array_equal(predicted, selector.predict(centred))
    np.testing.assert_array_equal(model.predict(darker), predicted)
    np.testing.assert_array_equal(model.transform(whole).X, table[:, selector.support_])
    with pytest.raises(ValueError, match="It needs the 24 columns of the fit"):
        model.predict(model.transform(whole))


@pytest.mark.parametrize("again", [copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_do_the_same(again):
    other = again(MODEL)
    assert other.feature_names == MODEL.feature_names
    table = Dataset("new", X, feature_names=NAMES)
    np.testing.assert_array_equal(other.transform(table).X, FILLED)
    np.testing.assert_array_equal(other.predict(table), MODEL.predict(table))
