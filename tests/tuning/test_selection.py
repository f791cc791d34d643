import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import JASFS, LabelFreeSearchCV, MaxVariance
from featsieve.tuning.selection import check_shape, gather, named_as_pixels
from tests.report.selection.cases import planted


def test_names_come_from_the_frame_also_if_an_array_was_fitted():
    frame = pd.DataFrame(planted().X, index=[f"s{i}" for i in range(60)])
    frame.columns = [f"gene {j}" for j in range(40)]
    for fitted in (frame, planted().X):
        selection = gather(MaxVariance(3).fit(fitted), frame)
        assert selection.feature_names == list(frame.columns)
        assert selection.sample_names == list(frame.index)
        assert selection.named
    unnamed = frame.reset_index(drop=True)  # rows are only numbered
    assert gather(MaxVariance(3).fit(unnamed), unnamed).sample_names is None


def test_pixels_without_names_are_called_by_row_and_column():
    found = gather(MaxVariance(3).fit(planted().X), planted().X)
    assert named_as_pixels(found, None).feature_names[0] == "x0"
    selection = named_as_pixels(found, (4, 10))
    assert selection.feature_names[0] == "r1c1"
    assert selection.feature_names[39] == "r4c10"
    assert not selection.named


def test_names_that_no_file_can_hold_are_mended():
    names = ["\ud800", *map(str, range(39))]
    selection = gather(MaxVariance(3).fit(planted().X), planted().X, feature_names=names)
    selection.feature_names[0].encode("utf-8")


@pytest.mark.parametrize(
    ("names", "match"),
    [({"feature_names": ["a"]}, "one for every\\s+column"), ({"sample_names": ["a"]}, "every row")],
)
def test_names_must_fit(names, match):
    with pytest.raises(ValueError, match=match):
        gather(MaxVariance(3).fit(planted().X), planted().X, **names)


def test_what_is_no_fitted_selector_is_refused():
    with pytest.raises(TypeError, match=r"pipeline\[-1\]"):
        gather(make_pipeline(StandardScaler(), MaxVariance(2)).fit(planted().X), planted().X)
    with pytest.raises(ValueError, match="not fitted"):
        gather(MaxVariance(2), planted().X)


def test_the_best_candidate_of_a_search_is_taken():
    candidates = {"n_features_to_select": [3, 4]}
    search = LabelFreeSearchCV(MaxVariance(), candidates).fit(planted().X)
    assert gather(search, planted().X).selector is search.best_estimator_


def test_another_table_is_refused():
    sieve = JASFS(3, n_features_to_select=4, random_state=0).fit(planted().X)
    with pytest.raises(ValueError, match="features"):
        gather(sieve, planted().X[:, :10])
    with pytest.raises(ValueError, match="rows but the selector was fitted on"):
        gather(sieve, planted().X[:30])


@pytest.mark.parametrize("shape", [(8, 9), (8,), (8, 8, 1), (64, -1), (8.0, 8), "square"])
def test_shapes_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match="image_shape"):
        check_shape(shape, 64)
