"""The selected columns of other rows."""

import numpy as np
import pandas as pd
import pytest

from featsieve import JASFS, save_model
from featsieve.datasets import Dataset, read_table, write_table
from featsieve.workflow import select_features
from featsieve.workflow.apply import apply_model, load_selection, read_new

FAST = {"n_clusters": 3, "n_features": 6, "n_subsamples": 0}


@pytest.fixture(scope="module")
def frame(small_planted):
    return pd.DataFrame(small_planted.X, columns=[f"g{j}" for j in range(60)])


@pytest.fixture(scope="module")
def run(frame):
    return select_features(frame, **FAST)


@pytest.fixture
def applied(tmp_path):
    """Return a function that applies a model to a data frame in a file, where digits are kept."""

    def apply(model, frame, **options):
        frame.to_parquet(tmp_path / "new.parquet", index=False)
        return apply_model(model, tmp_path / "new.parquet", **options)

    return apply


def test_standardised_models_predict_in_the_units_of_the_file(frame, applied):
    units = 10.0 ** np.random.default_rng(0).uniform(-3, 3, 60)
    scaled = frame * units + 5.0
    run = select_features(scaled, standardize=True, **FAST)
    reduced, clusters, _ = applied(run.model, scaled, predict=True)
    np.testing.assert_array_equal(reduced.X, scaled[run.selected].to_numpy())
    np.testing.assert_array_equal(clusters, run.selector.predict(run.prepared.X))


def test_missing_values(frame, run, applied):
    holed = frame.copy()
    holed.loc[3, run.selected[0]] = np.nan
    with pytest.raises(ValueError, match=f"1 missing value, in column '{run.selected[0]}'") as told:
        applied(run.model, holed)
    assert "--impute median" in str(told.value)
    elsewhere = frame.copy()
    elsewhere[next(name for name in frame if name not in run.selected)] = np.nan
    reduced, _, _ = applied(run.model, elsewhere)
    np.testing.assert_array_equal(reduced.X, frame[run.selected].to_numpy())
    filling = select_features(frame, impute="median", **FAST)
    reduced, _, notes = applied(filling.model, holed, predict=True)
    first = filling.selected.index(run.selected[0])
    assert reduced.X[3, first] == frame[run.selected[0]].median()
    assert f"1 missing value, in column '{run.selected[0]}': filled" in notes[-1]
    holed.loc[3, filling.selected[:3]] = np.nan
    *_, notes = applied(filling.model, holed, predict=True)
    assert notes[-1].endswith(
        "half of the columns that tell them, or more, were filled in 1 row ('4')."
    )
    *_, notes = applied(filling.model, holed)  # nobody asks for clusters
    assert "clusters" not in notes[-1]


def test_methods_without_clusters(frame, applied):
    run = select_features(frame, method="laplacianscore", n_features=4, n_subsamples=0)
    assert applied(run.model, frame)[0].X.shape == (80, 4)
    with pytest.raises(ValueError, match="LaplacianScore cannot tell the clusters"):
        applied(run.model, frame, predict=True)


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet", ".npz", ".mat", ".h5ad"])
def test_files_of_every_format(frame, run, ending, tmp_path):
    names = list(frame.columns[::-1])
    table = Dataset("new", frame[names].to_numpy()[:20], feature_names=names)
    write_table(tmp_path / f"new{ending}", table)
    reduced, _, _ = apply_model(run.model, tmp_path / f"new{ending}")
    np.testing.assert_array_equal(reduced.X, frame[run.selected].to_numpy()[:20])


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
