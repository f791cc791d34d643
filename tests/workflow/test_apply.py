"""The selected columns of other rows."""

import numpy as np
import pandas as pd
import pytest

from featsieve import JASFS, save_model
from featsieve.datasets import Dataset, read_table
from featsieve.workflow import apply_model, select_features
from featsieve.workflow.apply import (
    load_selection,
    read_new,
    write_applied,
)

FAST = {"n_clusters": 3, "n_features": 6, "n_subsamples": 0}


@pytest.fixture(scope="module")
def frame(small_planted):
    return pd.DataFrame(small_planted.X, columns=[f"g{j}" for j in range(60)])


@pytest.fixture(scope="module")
def run(frame):
    return select_features(frame, **FAST)


def test_columns_are_found_by_name(frame, run):
    expected = frame[run.selected].to_numpy()
    shuffled = frame.sample(axis=1, frac=1.0, random_state=0)
    for table in (frame, shuffled, frame[run.selected[::-1]]):
        applied = apply_model(run.model, table)
        assert applied.table.feature_names == run.selected
        np.testing.assert_array_equal(applied.table.X, expected)
        assert applied.clusters is None
    assert len(apply_model(run.model, shuffled).ignored) == 54
    assert apply_model(run.model, frame[run.selected]).notes == ()


def test_clusters_are_those_of_the_selector(frame, run):
    applied = apply_model(run.model, frame[run.selected].iloc[::-1], predict=True)
    np.testing.assert_array_equal(applied.clusters[::-1], run.selector.predict(frame.to_numpy()))
    assert applied.samples["cluster"].tolist() == applied.clusters.tolist()
    with pytest.raises(ValueError, match="no clusters: apply"):
        apply_model(run.model, frame).samples  # noqa: B018


def test_standardised_models_predict_in_the_units_of_the_file(frame):
    units = 10.0 ** np.random.default_rng(0).uniform(-3, 3, 60)
    scaled = frame * units + 5.0
    run = select_features(scaled, standardize=True, **FAST)
    applied = apply_model(run.model, scaled, predict=True)
    np.testing.assert_array_equal(applied.table.X, scaled[run.selected].to_numpy())
    np.testing.assert_array_equal(applied.clusters, run.selector.predict(run.prepared.X))


def test_missing_values(frame, run):
    holed = frame.copy()
    holed.loc[3, run.selected[0]] = np.nan
    with pytest.raises(ValueError, match=f"1 missing value, in column '{run.selected[0]}'") as told:
        apply_model(run.model, holed)
    assert "--impute median" in str(told.value)
    elsewhere = frame.copy()
    elsewhere[next(name for name in frame if name not in run.selected)] = np.nan
    np.testing.assert_array_equal(
        apply_model(run.model, elsewhere).table.X, frame[run.selected].to_numpy()
    )
    filling = select_features(frame, impute="median", **FAST)
    applied = apply_model(filling.model, holed, predict=True)
    first = filling.selected.index(run.selected[0])
    assert applied.table.X[3, first] == frame[run.selected[0]].median()
    assert applied.n_filled == 1
    assert "1 missing value was filled" in applied.notes[-1]


def test_methods_without_clusters(frame):
    run = select_features(frame, method="laplacianscore", n_features=4, n_subsamples=0)
    assert apply_model(run.model, frame).table.X.shape == (80, 4)
    with pytest.raises(ValueError, match="LaplacianScore cannot tell the clusters"):
        apply_model(run.model, frame, predict=True)


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet", ".npz", ".mat", ".h5ad"])
def test_files_of_every_format(frame, run, ending, tmp_path):
    from featsieve.datasets import write_table

    names = list(frame.columns[::-1])
    table = Dataset("new", frame[names].to_numpy()[:20], feature_names=names)
    write_table(tmp_path / f"new{ending}", table)
    applied = apply_model(run.model, tmp_path / f"new{ending}", predict=True)
    np.testing.assert_array_equal(applied.table.X, frame[run.selected].to_numpy()[:20])
    write_applied(applied, tmp_path / f"out{ending}", clusters=tmp_path / "c.csv")
    again = read_table(tmp_path / f"out{ending}")
    assert again.feature_names == run.selected
    np.testing.assert_array_equal(again.X, applied.table.X)
    assert pd.read_csv(tmp_path / "c.csv")["cluster"].tolist() == applied.clusters.tolist()


def test_names_and_classes_are_kept_where_they_are(frame, tmp_path):
    whole = frame.assign(who=[f"p{i}" for i in range(80)], kind=["a", "b"] * 40, more="text")
    whole.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", id_column="who", label_column="kind", drop=["more"])
    model = select_features(table, **FAST).model
    for left_out in ([], ["who"], ["kind"], ["who", "kind"]):
        whole.drop(columns=left_out).to_csv(tmp_path / "new.csv", index=False)
        read = read_new(model, tmp_path / "new.csv")
        assert (read.sample_names is None) == ("who" in left_out)
        assert (read.y is None) == ("kind" in left_out)
        assert len(read.unread) == 55  # 54 features, and "more"
        assert "more" in read.unread
    whole.drop(columns=model.selected[0]).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ValueError, match=f"no column '{model.selected[0]}'"):
        read_new(model, tmp_path / "new.csv")


def test_models_of_files(frame, run, tmp_path):
    save_model(run.model, tmp_path / "model.skops")
    for path in (tmp_path / "model.skops", tmp_path):
        assert list(load_selection(path).selected) == run.selected
    save_model(JASFS(3, random_state=0).fit(frame), tmp_path / "bare.skops")
    with pytest.raises(ValueError, match="holds a JASFS"):
        load_selection(tmp_path / "bare.skops")
    with pytest.raises(TypeError, match="must be a SelectionModel"):
        apply_model(run.selector, frame)
