import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import MaxVariance
from featsieve.report.selection import redundancy as selection_redundancy
from featsieve.report.selection.inputs import gather
from featsieve.report.selection.redundancy import correlations, places, redundancy_graph
from tests.report.selection.cases import planted


def table():
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


def test_edges_join_what_correlates():
    selection = gather(MaxVariance(10).fit(table()), table(), n_clusters=2)
    graph = redundancy_graph(selection)
    r = np.corrcoef(table().T)
    index = [int(name[1:]) for name in graph["name"]]
    found = {frozenset((index[i], index[j])): value for i, j, value in graph["edges"]}
    expected = {frozenset((a, b)) for a in range(10) for b in range(a) if abs(r[a, b]) >= 0.5}
    assert set(found) == expected
    for (a, b), value in ((tuple(pair), value) for pair, value in found.items()):
        assert value == pytest.approx(r[a, b], abs=1e-3)
    strengths = [abs(value) for *_, value in graph["edges"]]
    assert strengths == sorted(strengths, reverse=True)
    assert graph["mean"] == pytest.approx(np.abs(r[np.triu_indices(10, 1)]).mean(), rel=1e-2)


def test_near_duplicates_are_counted():
    graph = redundancy_graph(gather(MaxVariance(10).fit(table()), table(), n_clusters=2))
    assert graph["n_duplicates"] == len(graph["duplicates"]) == 6
    assert graph["n_in_duplicates"] == 4
    assert any(r < 0 for *_, r in graph["duplicates"])


def test_only_so_much_is_drawn(monkeypatch):
    monkeypatch.setattr(selection_redundancy, "MOST_NODES", 3)
    monkeypatch.setattr(selection_redundancy, "MOST_EDGES", 1)
    X = table()[:, :4]
    graph = redundancy_graph(gather(MaxVariance(4).fit(X), X, n_clusters=2))
    assert len(graph["x"]) == len(graph["y"]) == len(graph["name"]) == 3
    assert len(graph["edges"]) == 1
    assert graph["of"] == 4
    assert graph["left_out"] == 2
    assert graph["n_duplicates"] == 6  # counted among all selected ones


def test_copies_and_single_features():
    X = np.repeat(planted().X[:, :1], 4, axis=1)
    graph = redundancy_graph(gather(MaxVariance(4).fit(X), X, n_clusters=2))
    assert graph["mean"] == 1.0
    assert len(set(zip(graph["x"], graph["y"], strict=True))) == 4  # copies part
    assert redundancy_graph(gather(MaxVariance(1).fit(X), X, n_clusters=2)) is None


def test_correlated_features_are_close_and_lonely_ones_stand_aside():
    r = np.eye(25)
    r[:3, :3] = 0.95
    r[3:6, 3:6] = 0.95
    np.fill_diagonal(r, 1.0)
    x, y = places(r)
    points = np.column_stack([x, y]).astype(float)
    assert ((points >= 0) & (points <= 1000)).all()
    inner = max(np.ptp(points[:3], axis=0).max(), np.ptp(points[3:6], axis=0).max())
    between = np.linalg.norm(points[:3].mean(axis=0) - points[3:6].mean(axis=0))
    assert between > inner
    assert y[6:].min() > y[:6].max()
    assert len({tuple(point) for point in points}) == 25


@pytest.mark.parametrize("k", [2, 3, 80])
def test_features_that_nothing_joins_fill_rows(k):
    x, y = places(np.eye(k))
    assert len({*zip(x.tolist(), y.tolist(), strict=True)}) == k
    assert y.max() == 1000
