import base64
import io

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image

from featsieve import MaxVariance
from featsieve.report.selection import image as selection_image
from featsieve.report.selection.image import check_shape, grey_png, pixel_images
from featsieve.report.selection.inputs import gather
from tests.report.selection.cases import planted


def pixels(text):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (64, 33)])
def test_an_image_comes_back_from_its_file(shape):
    levels = np.random.default_rng(0).integers(0, 256, shape)
    levels.flat[0] = 0
    levels.flat[-1] = 255
    expected = levels if levels.size > 1 else np.zeros(shape)
    np.testing.assert_array_equal(pixels(grey_png(levels.astype(float))), expected)


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


def test_ranks_of_very_many_pixels_are_left_out(monkeypatch):
    monkeypatch.setattr(selection_image, "MOST_RANKS", 39)
    selection = gather(MaxVariance(3).fit(planted().X), planted().X, n_clusters=2)
    assert pixel_images(selection, (4, 10))["rank"] is None


def test_shapes():
    assert check_shape(None, 64) is None
    assert check_shape([8, np.int64(8)], 64) == (8, 8)
    assert check_shape("guess", 1) is None
    assert check_shape("guess", 63) is None


@pytest.mark.parametrize("shape", [(8, 9), (8,), (8, 8, 1), (64, -1), (8.0, 8), "square"])
def test_shapes_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match="image_shape"):
        check_shape(shape, 64)
