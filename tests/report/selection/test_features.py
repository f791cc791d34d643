import base64
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from featsieve import JASFS, MaxVariance, explain
from featsieve.arrays import as_operator
from featsieve.report import render_selection, summarize_selection
from featsieve.report.selection.features import (
    cluster_facts,
    cluster_means,
    correlated_pairs,
    correlations,
    distributions,
    feature_rows,
    similar_order,
)
from featsieve.report.selection.images import pixel_images, signed_levels, signed_png
from featsieve.report.selection.samples import heat_map, plane, sample_map
from featsieve.report.selection.values import readable
from featsieve.tables import Table
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
        assert rows["reason"][i] == facts["reason"][j]
        assert rows["closest"][i] == "gene " + facts["closest_selected"][j][1:]  # was x7
        assert rows["cluster"][i] == str(facts["best_cluster"][j])
        np.testing.assert_allclose(rows["separation"][i], facts["separation"][j], rtol=1e-3)
        np.testing.assert_allclose(rows["correlation"][i], facts["correlation"][j], rtol=1e-3)


def test_constant_columns_have_no_cluster_and_no_neighbour():
    X = np.column_stack([planted().X[:, planted().informative], np.ones(60)])
    rows = feature_rows(gather(MaxVariance(2).fit(X), X, n_clusters=2), None)
    assert rows["reason"][-1] == "constant"
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


def levels(part, width, full):
    """Return the numbers behind a field of values."""
    found = np.frombuffer(base64.b64decode(part["levels"]), dtype=np.uint8).reshape(-1, width)
    return (found.astype(float) - 127.0) / 127.0 * full


def test_the_heat_map_does_not_depend_on_where_columns_lie():
    """A date is some 20,000 days with a spread of a few."""
    X = planted().X
    sieve = JASFS(3, n_features_to_select=8, init=planted().labels, random_state=0).fit(X)
    near, far = heat_map(gather(sieve, X)), heat_map(gather(sieve, X + 20000.0))
    assert far == near
    assert min(near["levels"]) < max(near["levels"])


@pytest.mark.parametrize("sparse", [False, True])
def test_the_heat_map_has_every_sample_beside_those_of_its_cluster(sparse):
    X = np.where(planted().X > 0.0, planted().X, 0.0)
    sieve = JASFS(3, n_features_to_select=8, init=planted().labels, random_state=0).fit(X)
    chosen = gather(sieve, sp.csr_array(X) if sparse else X)
    heat = heat_map(chosen)
    assert sorted(heat["feature"]) == sorted(f"x{j}" for j in chosen.chosen)
    assert sorted(heat["sample"]) == list(range(60))
    codes = chosen.clusters.codes[heat["sample"]]
    assert codes.tolist() == sorted(codes)
    columns = [int(name[1:]) for name in heat["feature"]]
    expected = np.clip(StandardScaler().fit_transform(X)[heat["sample"]][:, columns], -2.0, 2.0)
    np.testing.assert_allclose(levels(heat, 60, 2.0), expected.T, atol=0.01)


def test_many_samples_are_drawn_in_part():
    X = np.random.default_rng(0).standard_normal((2600, 4))
    X[:1300, 0] += 8.0
    selection = gather(MaxVariance(3).fit(X), X, n_clusters=2)
    views, heat = sample_map(selection), heat_map(selection)
    assert len(views["names"]) == 2000
    assert len(heat["sample"]) == len(set(heat["sample"])) == 1000
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = [int(views["names"][i].removeprefix("row ")) - 1 for i in heat["sample"]]
    columns = [int(name[1:]) for name in heat["feature"]]
    shown = levels(heat, 1000, 2.0)
    np.testing.assert_allclose(shown, np.clip(z[rows][:, columns].T, -2, 2), atol=0.01)


def test_distributions_are_in_the_units_of_the_table():
    X = 1000.0 + 50.0 * planted().X
    chosen = selected()
    found = distributions(chosen, np.arange(60), chosen.shown, X)
    for i, j in enumerate(chosen.shown):
        assert found["feature"][i] == f"x{j}"
        low, high = found["range"][i]
        assert X[:, j].min() <= low < high <= X[:, j].max()
        for code, counts in enumerate(found["counts"][i]):
            inside = X[chosen.clusters.codes == code, j]
            assert sum(counts) == len(inside)
            assert found["median"][i][code] == pytest.approx(np.median(inside), rel=1e-3)
    own = distributions(chosen, np.arange(60), chosen.shown)
    np.testing.assert_allclose(1000.0 + 50.0 * np.array(own["median"]), found["median"], rtol=1e-2)


def test_a_far_value_does_not_hide_the_others():
    X = planted().X.copy()
    j = np.flatnonzero(planted().informative)[0]
    X = np.vstack([X] * 5)
    X[0, j] = 1e9
    chosen = gather(MaxVariance(1).fit(X), X, n_clusters=2)
    found = distributions(chosen, np.arange(300), chosen.shown)
    assert found["range"][0][1] < 100.0
    assert np.sum(found["counts"][0]) == 300
    X[:, j] = 0.0
    X[0, j] = 1e9  # nearly all are equal
    chosen = gather(MaxVariance(1).fit(X), X, n_clusters=2)
    found = distributions(chosen, np.arange(300), chosen.shown)
    assert found["range"][0] == [0.0, 1e9]


def test_levels_become_colours_that_are_clear_at_zero():
    text = signed_levels(np.array([[-5.0, -1.0, 0.0], [0.5, 1.0, np.inf]]), 1.0)
    assert list(base64.b64decode(text)) == [0, 0, 127, 191, 254, 254]
    image = Image.open(io.BytesIO(base64.b64decode(signed_png(text, 3)))).convert("RGBA")
    colours = np.asarray(image)
    assert colours[..., 3].tolist() == [[254, 254, 0], [128, 254, 254]]
    assert colours[0, 0, 2] > colours[0, 0, 0]  # low is blue
    assert colours[1, 1, 0] > colours[1, 1, 2]  # high is red


def test_classes_have_the_colours_of_the_clusters_they_match():
    chosen = selected()
    codes = np.array([2, 0, 1])[chosen.clusters.codes]
    codes[:2] = 3  # a class without a cluster of its own
    views = sample_map(chosen, codes, ["b", "c", "a", "none"])
    assert views["classes"] == ["a", "b", "c", "none"]
    assert views["class"][:2] == [3, 3]
    assert views["class"][2:] == views["cluster"][2:]


def test_certainties_are_those_of_the_method():
    sieve = fitted()
    sieve.sample_certainty_ = np.where(np.arange(60) < 7, 0.1 + 0.05 * np.arange(60), 0.9)
    chosen = gather(sieve, planted().X)
    found = cluster_facts(chosen)
    assert found["doubtful"] == (
        "row 1 (10%), row 2 (15%), row 3 (20%), row 4 (25%), row 5 (30%) and 2 more"
    )
    for code, row in enumerate(found["rows"]):
        expected = sieve.sample_certainty_[sieve.labels_ == code].mean()
        assert row["certainty"] == pytest.approx(expected, rel=1e-3)
    assert sample_map(chosen)["certainty"][:2] == [0.1, 0.15]
    rows = feature_rows(chosen, None)
    expected = sieve.feature_certainty_[rows["index"]]
    np.testing.assert_allclose(rows["certainty"], expected, atol=0.01)
    assert feature_rows(gather(MaxVariance(3).fit(planted().X), planted().X), None)[
        "certainty"
    ] is None  # fmt: skip


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


def test_of_two_clusters_one_is_low_where_the_other_is_high():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    X = np.c_[4.0 * labels + 1000.0, rng.standard_normal(40)] + 0.1 * rng.standard_normal((40, 2))
    sieve = JASFS(2, n_features_to_select=1, init=labels, random_state=0).fit(X)
    summary = summarize_selection(gather(sieve, X, feature_names=["wing", "noise"]))
    marks = {tuple(row["marks"]) for row in summary["clusters"]["rows"]}
    assert marks == {("low wing",), ("high wing",)}
    assert "differs" not in " ".join(summary["words"])
    assert summary["distribution"]["ends"] == [["1000", "1004"]]
    page = render_selection(summary)
    assert "1 selected feature." in page
    assert ">feature selected<" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9199, "0.92"),
        (7.091, "7.09"),
        (0.0008858, "0.000886"),
        (999.6, "1000"),
        (23456.7, "23457"),
    ],
)
def test_axis_ends_are_short(value, text):
    assert readable(value) == text


def test_a_cluster_that_no_feature_tells_best_is_described():
    """The middle one of three along a line lies between the others in every feature."""
    rng = np.random.default_rng(0)
    place = np.repeat([-4.0, 0.4, 4.0], 20)
    X = place[:, None] * [1.0, -1.0, 1.0] + 0.3 * rng.standard_normal((60, 3)) + [10.0, 20.0, 5.0]
    labels = np.repeat([0, 1, 2], 20)
    sieve = JASFS(3, n_features_to_select=3, init=labels, random_state=0).fit(X)
    found = gather(sieve, X, feature_names=["wing", "beak", "song"])
    summary = summarize_selection(found)
    rows = {
        tuple(np.unique(labels[found.clusters.codes == k])): row
        for k, row in enumerate(summary["clusters"]["rows"])
    }
    middle = rows[(1,)]
    assert middle["marks"] == []
    assert {text.split()[0] for text in middle["differs"]} == {"wing", "beak", "song"}
    for text in middle["differs"]:
        name, said = text.split()
        value = np.median(X[labels == 1, ["wing", "beak", "song"].index(name)])
        assert float(said) == pytest.approx(value, rel=1e-3)
    assert all(row["differs"] == [] for key, row in rows.items() if row["marks"])
    differs = f"differs most in {', '.join(middle['differs'])}"
    assert any(f"luster {middle['name']} {differs}" in text for text in summary["words"])
    page = render_selection(summary)
    assert f'<td class="w">{differs}</td>' in page
    table = page.split('<table class="middles">')[1].split("</table>")[0]
    for name, said in zip(
        summary["distribution"]["feature"], summary["distribution"]["said"], strict=True
    ):
        cells = "".join(f'<td class="n">{text.removeprefix("median ")}</td>' for text in said)
        assert f'<tr><th scope="row">{name}</th>{cells}</tr>' in table


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
    order = [int(name[1:]) for name in found["feature"]]
    np.testing.assert_allclose(levels(found, 10, 1.0), r[np.ix_(order, order)], atol=0.005)
    places = sorted(order.index(j) for j in range(4))  # the copies, also the one turned round
    assert places == list(range(places[0], places[0] + 4))
    strengths = [abs(value) for *_, value in found["pairs"]]
    assert strengths == sorted(strengths, reverse=True)
    assert found["mean"] == pytest.approx(np.abs(r[np.triu_indices(10, 1)]).mean(), rel=1e-2)


def test_few_features_have_no_order():
    assert similar_order(np.zeros((1, 1))).tolist() == [0]
    assert similar_order(np.zeros((2, 2))).tolist() == [0, 1]


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


def test_one_feature_is_drawn_with_its_samples_apart():
    chosen = gather(MaxVariance(1).fit(planted().X), planted().X, n_clusters=2)
    view = sample_map(chosen)["selected"]
    x = planted().X[:, chosen.chosen[0]]
    assert abs(np.corrcoef(view["x"], x)[0, 1]) > 0.999
    assert view["share"] == [1.0, 0.0]
    assert (min(view["y"]), max(view["y"])) == (0, 1000)
    assert len(set(view["y"])) > 50
    page = render_selection(summarize_selection(chosen))
    assert "first axis 100%, up and down only keeps marks apart" in page


def test_features_beside_the_selected_ones_that_the_clusters_explain_as_much():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 30)
    X = rng.standard_normal((90, 8))
    X[:, :4] += 4.0 * np.eye(3)[labels] @ rng.permuted(np.tile(np.arange(3.0), (4, 1)), axis=1).T
    sieve = JASFS(3, n_features_to_select=2, init=labels, random_state=0).fit(X)
    found = gather(sieve, X, feature_names=list("abcdefgh"))
    explained = found.facts["eta_squared"]
    chosen = found.facts["selected"]
    expected = [
        found.feature_names[j]
        for j in np.argsort(-explained)
        if not chosen[j] and explained[j] >= explained[chosen].min()
    ]
    summary = summarize_selection(found)
    named = summary["beside"]["feature"] if summary["beside"] else []
    assert named == expected
    weakest = replace(found, facts=Table({**found.facts, "selected": explained <= min(explained)}))
    summary = summarize_selection(weakest)
    assert len(summary["beside"]["feature"]) == 7
    assert "Not selected, and explained as much as one that is" in render_selection(summary)
    # a selected one that chance explains sets no limit, unless there is no other
    order = np.argsort(explained)
    picked = np.isin(np.arange(8), order[[0, 5]])
    q = np.where(np.arange(8) == order[0], 0.5, 0.01)
    for marks, count in ((picked, 2), (np.arange(8) == order[0], 7)):
        facts = Table({**found.facts, "selected": marks, "q_value": q})
        summary = summarize_selection(replace(found, facts=facts))
        assert len(summary["beside"]["feature"]) == count


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
    assert sorted(images["selected"]) == np.flatnonzero(sieve.support_).tolist()
    assert images["rank"] == sieve.ranking_.tolist()
