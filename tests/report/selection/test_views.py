import base64
import io

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from featsieve import MaxVariance
from featsieve.arrays import as_operator
from featsieve.report.selection.inputs import check_shape, gather
from featsieve.report.selection.views import pixel_images, plane, sample_map
from tests.report.selection.cases import planted


@pytest.mark.parametrize("sparse", [False, True])
def test_the_plane_is_that_of_principal_components(sparse):
    X = np.where(planted().X > 0.0, 5.0 * planted().X, 0.0)
    pca = PCA(2)
    expected = pca.fit_transform(StandardScaler().fit_transform(X))
    found, shares = plane(as_operator(sp.csr_array(X) if sparse else X, scale="std"))
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-9)
    np.testing.assert_allclose(shares, pca.explained_variance_ratio_, rtol=1e-5)
    assert (found[np.abs(found).argmax(axis=0), [0, 1]] > 0).all()


def test_both_views_show_the_same_samples_turned_alike():
    names = [f"s{i}" for i in range(60)]
    views = sample_map(
        gather(MaxVariance(8).fit(planted().X), planted().X, sample_names=names, n_clusters=2)
    )
    assert views["names"] == names
    for view in (views["selected"], views["all"]):
        for axis in ("x", "y"):
            assert len(view[axis]) == 60
            assert (min(view[axis]), max(view[axis])) == (0, 1000)
    assert views["selected"]["n_features"] == 8
    assert views["all"]["n_features"] == 40
    for axis in ("x", "y"):
        assert np.corrcoef(views["selected"][axis], views["all"][axis])[0, 1] > 0


def test_no_view_of_columns_that_do_not_vary():
    X = np.column_stack([np.arange(6.0), np.ones(6)])
    sieve = MaxVariance(1).fit(X)
    sieve.support_ = np.array([False, True])
    assert sample_map(gather(sieve, X)) is None


def pixels(text):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))


@pytest.mark.parametrize("sparse", [False, True])
def test_images_are_means_row_by_row(sparse):
    X = np.where(planted().X > 0.0, planted().X, 0.0)
    sieve = MaxVariance(3).fit(X)
    selection = gather(sieve, sp.csr_array(X) if sparse else X, n_clusters=2)
    images = pixel_images(selection, (4, 10))
    mean = X.mean(axis=0).reshape(4, 10)
    expected = 255.0 * (mean - mean.min()) / np.ptp(mean)
    np.testing.assert_allclose(pixels(images["mean"]), expected, atol=0.51)
    inside = X[selection.clusters.codes == 1].mean(axis=0).reshape(4, 10)
    expected = 255.0 * (inside - inside.min()) / np.ptp(inside)
    np.testing.assert_allclose(pixels(images["clusters"][1]["png"]), expected, atol=0.51)
    assert pixels(images["score"]).flat[sieve.scores_.argmax()] == 255
    assert sorted(images["selected"]) == np.flatnonzero(sieve.support_).tolist()
    assert images["rank"] == sieve.ranking_.tolist()


@pytest.mark.parametrize("shape", [(8, 9), (8,), (8, 8, 1), (64, -1), (8.0, 8), "square"])
def test_shapes_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match="image_shape"):
        check_shape(shape, 64)
