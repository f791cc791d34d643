import base64
import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from featsieve import JASFS, MaxVariance, explain
from featsieve.arrays import as_operator
from featsieve.report.selection.features import (
    cluster_facts,
    cluster_means,
    correlated_pairs,
    correlations,
    feature_rows,
    heat_map,
    pixel_images,
    plane,
    sample_map,
)
from featsieve.tuning.selection import gather
from tests.report.selection.cases import planted


def fitted():
    return JASFS(3, n_features_to_select=6, random_state=0).fit(planted().X)


def test_rows_say_what_explain_says():
    sieve = fitted()
    names = [f"gene {j}" for j in range(40)]
    rows = feature_rows(gather(sieve, planted().X, feature_names=names), None)
    facts = explain(sieve, planted().X)
    assert rows["total"] == len(rows["name"]) == 40
    for i, j in enumerate(rows["index"]):
        assert rows["name"][i] == f"gene {j}"
        assert rows["rank"][i] == facts["rank"][j]
        assert rows["selected"][i] == facts["selected"][j]
        assert rows["status"][i] == facts["status"][j]
        assert rows["closest"][i] == "gene " + facts["closest_selected"][j][1:]  # was x7
        assert rows["cluster"][i] == str(facts["best_cluster"][j])
        np.testing.assert_allclose(rows["separation"][i], facts["separation"][j], rtol=1e-3)
        np.testing.assert_allclose(rows["correlation"][i], facts["correlation"][j], rtol=1e-3)


def test_constant_columns_have_no_cluster_and_no_neighbour():
    X = np.column_stack([planted().X[:, planted().informative], np.ones(60)])
    rows = feature_rows(gather(MaxVariance(2).fit(X), X, n_clusters=2), None)
    assert rows["status"][-1] == "constant"
    assert rows["cluster"][-1] is rows["correlation"][-1] is rows["closest"][-1] is None
    assert rows["separation"][-1] is None


def test_a_perfect_separation_is_infinite():
    X = np.array([[0.0, 1, 5], [0, 2, 4], [9, 1, 6], [9, 2, 5]])
    rows = feature_rows(gather(MaxVariance(1).fit(X), X, n_clusters=2), None)
    assert rows["separation"][0] in ("inf", "-inf")


def selected():
    return gather(JASFS(3, n_features_to_select=8, random_state=0).fit(planted().X), planted().X)


@pytest.mark.parametrize("sparse", [False, True])
def test_means_are_those_of_pandas(sparse):
    X = np.where(planted().X > 0.0, 5.0 * planted().X, 0.0)
    clusters = selected().clusters
    frame = pd.DataFrame(X)
    scores = (frame - frame.mean()) / frame.std(ddof=0)
    expected = scores.groupby(clusters.codes).mean().to_numpy().T
    found = cluster_means(sp.csr_array(X) if sparse else X, clusters)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_the_heat_map_is_ordered_by_cluster_and_from_high_to_low():
    chosen = selected()
    heat = heat_map(chosen)
    assert heat["cluster"] == sorted(heat["cluster"])
    assert sorted(heat["feature"]) == sorted(f"x{j}" for j in chosen.chosen)
    own = [row[int(name)] for row, name in zip(heat["mean"], heat["cluster"], strict=True)]
    for name in set(heat["cluster"]):
        signs = [mean > 0 for mean, n in zip(own, heat["cluster"], strict=True) if n == name]
        assert signs == sorted(signs, reverse=True)


def test_rows_count_the_samples_and_name_marks():
    chosen = selected()
    rows = cluster_facts(chosen)["rows"]
    assert [row["size"] for row in rows] == np.bincount(chosen.clusters.codes).tolist()
    means = cluster_means(planted().X, chosen.clusters)
    for k, row in enumerate(rows):
        assert len(row["marks"]) <= 3
        for mark in row["marks"]:
            side, name = mark.split()
            assert side == ("high" if means[int(name[1:]), k] > 0 else "low")


def copies():
    """Return columns of which the first four are nearly the same, one of them turned round."""
    rng = np.random.default_rng(0)
    base = rng.standard_normal(80)
    copies = [base + 0.1 * rng.standard_normal(80) for _ in range(3)]
    return np.column_stack([base, *copies[:2], -copies[2], rng.standard_normal((80, 6))])


@pytest.mark.parametrize("sparse", [False, True])
def test_correlations_are_those_of_numpy(sparse):
    X = np.where(planted().X > 0.0, planted().X, 0.0)
    found = correlations(sp.csr_array(X) if sparse else X)
    np.testing.assert_allclose(found, np.corrcoef(X.T), atol=1e-10)


def test_pairs_are_those_that_correlate():
    found = correlated_pairs(gather(MaxVariance(10).fit(copies()), copies(), n_clusters=2))
    r = np.corrcoef(copies().T)
    pairs = {frozenset((int(a[1:]), int(b[1:]))): value for a, b, value in found["pairs"]}
    expected = {frozenset((a, b)) for a in range(10) for b in range(a) if abs(r[a, b]) >= 0.5}
    assert set(pairs) == expected
    assert found["n_pairs"] == len(expected)
    assert found["n_in_duplicates"] == 4
    for (a, b), value in ((tuple(pair), value) for pair, value in pairs.items()):
        assert value == pytest.approx(r[a, b], abs=1e-3)
    strengths = [abs(value) for *_, value in found["pairs"]]
    assert strengths == sorted(strengths, reverse=True)
    assert found["mean"] == pytest.approx(np.abs(r[np.triu_indices(10, 1)]).mean(), rel=1e-2)


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
