"""The features of a selection: their facts, the clusters they mark, and how far they repeat."""

from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.criteria.selected_clusters import Clusters
from featsieve.report.selection.inputs import Selection
from featsieve.report.selection.values import plain, plains

# So many features are listed, the best ones; a table of all is the business of ``explain``.
MOST_ROWS = 2000
# Features of the heat map, and features that are named for every cluster.
MOST_FEATURES = 60
MOST_MARKS = 3
# Correlated features are looked for among so many selected ones.
MOST_COMPARED = 2000
# Features and pairs that are drawn, and the correlation from which on features are joined.
MOST_NODES = 80
MOST_EDGES = 500
LOWEST = 0.5
# The graph: whole numbers up to this, the steps of its layout, and lonely features in a row.
RESOLUTION = 1000
STEPS = 300
IN_A_ROW = 10


def feature_rows(selection: Selection, frequency: np.ndarray | None) -> dict[str, Any]:
    """Return columns of facts about the best features, as lists of equal length."""
    facts = selection.facts
    order = np.lexsort((facts["rank"], ~facts["selected"]))[:MOST_ROWS]
    names = selection.feature_names
    # explain names the closest feature as the selector does; the reader's names may be others
    own = facts["feature"]
    position = {str(own[j]): int(j) for j in selection.chosen[::-1]}
    closest = [position.get(str(name)) for name in facts["closest_selected"][order]]
    return {
        "total": len(names),
        "name": [names[j] for j in order],
        "index": order.tolist(),
        "selected": facts["selected"][order].tolist(),
        "rank": facts["rank"][order].tolist(),
        "score": plains(facts["score"][order]),
        "frequency": None if frequency is None else plains(frequency[order]),
        "cluster": best_clusters(selection, order),
        "separation": plains(facts["separation"][order], 4),
        "eta_squared": plains(facts["eta_squared"][order], 4),
        "closest": [None if j is None else names[j] for j in closest],
        "correlation": [
            None if j is None else plain(r, 4)
            for j, r in zip(closest, facts["correlation"][order], strict=True)
        ],
        "status": facts["status"][order].tolist(),
    }


def best_clusters(selection: Selection, features: np.ndarray) -> list[str | None]:
    """Return the cluster that each feature tells best; None where nothing is known."""
    facts = selection.facts
    known = np.isfinite(facts["eta_squared"][features]) & ~np.isnan(facts["separation"][features])
    names = facts["best_cluster"][features].tolist()
    return [str(name) if there else None for name, there in zip(names, known, strict=True)]


def cluster_rows(selection: Selection) -> list[dict[str, Any]]:
    """Return a row for every cluster."""
    clusters, facts = selection.clusters, selection.facts
    if clusters is None:
        return []
    separation = facts["separation"][selection.chosen]
    best = np.array(best_clusters(selection, selection.chosen), dtype=object)
    clearest_first = np.argsort(-np.abs(separation), kind="stable")
    rows = []
    for name, size in zip(clusters.names, clusters.sizes.tolist(), strict=True):
        marking = [i for i in clearest_first if best[i] == name][:MOST_MARKS]
        marks = [
            {
                "feature": selection.feature_names[selection.chosen[i]],
                "direction": "high" if separation[i] > 0.0 else "low",
                "separation": plain(separation[i], 4),
            }
            for i in marking
        ]
        rows.append({"name": name, "size": size, "marks": marks})
    return rows


def heat_map(selection: Selection) -> dict[str, Any] | None:
    """Return the mean of every selected feature in every cluster, in standard deviations."""
    clusters, facts = selection.clusters, selection.facts
    if clusters is None:
        return None
    shown = selection.chosen[selection.varies[selection.chosen]][:MOST_FEATURES]
    if not len(shown):
        return None
    means = cluster_means(selection.X[:, shown], clusters)
    best = best_clusters(selection, shown)
    column = [0 if name is None else clusters.names.index(name) for name in best]
    separation = np.nan_to_num(facts["separation"][shown], nan=0.0)
    order = np.lexsort((-separation, column))
    return {
        "feature": [selection.feature_names[shown[i]] for i in order],
        "cluster": [best[i] for i in order],
        "mean": [plains(means[i], 3) for i in order],
        "of": len(selection.chosen),
    }


def cluster_means(columns: Any, clusters: Clusters) -> np.ndarray:
    """Return the means of standardised columns in every cluster."""
    operator = as_operator(columns, scale="std")
    members = np.equal.outer(clusters.codes, np.arange(len(clusters.names))).astype(np.float64)
    return to_numpy(operator.rmatmul(members)) / clusters.sizes


def redundancy_graph(selection: Selection) -> dict[str, Any] | None:
    """Return the correlations of the selected features, with places for a picture."""
    shown = selection.chosen[selection.varies[selection.chosen]][:MOST_COMPARED]
    if len(shown) < 2:
        return None
    r = correlations(selection.X[:, shown])
    i, j = np.triu_indices(len(shown), 1)
    strength = np.abs(r[i, j])
    names = [selection.feature_names[k] for k in shown]
    twins = np.flatnonzero(strength >= defaults.REPORT_NEAR_DUPLICATE)
    twins = twins[np.argsort(-strength[twins], kind="stable")]
    drawn = min(len(shown), MOST_NODES)
    joined = np.flatnonzero((strength >= LOWEST) & (j < drawn))
    joined = joined[np.argsort(-strength[joined], kind="stable")]
    x, y = places(r[:drawn, :drawn])
    return {
        "name": names[:drawn],
        "rank": selection.facts["rank"][shown[:drawn]].tolist(),
        "cluster": best_clusters(selection, shown[:drawn]),
        "x": x.tolist(),
        "y": y.tolist(),
        "edges": [[int(i[e]), int(j[e]), plain(r[i[e], j[e]], 3)] for e in joined[:MOST_EDGES]],
        "left_out": max(0, len(joined) - MOST_EDGES),
        "of": len(selection.chosen),
        "mean": plain(strength.mean(), 3),
        "duplicates": [[names[i[e]], names[j[e]], plain(r[i[e], j[e]], 4)] for e in twins[:20]],
        "n_duplicates": len(twins),
        "n_in_duplicates": len(np.union1d(i[twins], j[twins])),
    }


def correlations(columns: Any) -> np.ndarray:
    """Return the correlations of the columns."""
    return np.clip(to_numpy(as_operator(columns, scale="unit").gram()), -1.0, 1.0)


def places(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers x and y for the features: the correlated ones close to each other."""
    strength = np.where(np.abs(r) >= LOWEST, np.abs(r), 0.0)
    np.fill_diagonal(strength, 0.0)
    joined = strength.any(axis=0)
    alone = np.flatnonzero(~joined)
    place = np.zeros((len(r), 2))
    n_rows = -(-len(alone) // IN_A_ROW)
    # rows of lonely features need so much of the height, with a gap above them
    height = min(0.15 * n_rows + 0.05, 0.7) if n_rows else 0.0
    if joined.any():
        place[joined] = _layout(strength[np.ix_(joined, joined)])
        place[joined, 1] *= 1.0 - height
    else:
        height = 1.0
    for row, part in enumerate(np.array_split(alone, n_rows) if n_rows else ()):
        place[part, 0] = (np.arange(len(part)) + 0.5) / len(part)
        place[part, 1] = 1.0 if n_rows == 1 else 1.0 - (height - 0.1) * (1.0 - row / (n_rows - 1))
    x, y = np.rint(RESOLUTION * place).astype(int).T
    return x, y


def _layout(strength: np.ndarray) -> np.ndarray:
    """Return places of joined features in the unit square.

    All push each other away, joined ones pull (more, the stronger they correlate), and everything
    is drawn to the middle, in steps that become shorter.
    """
    place = np.random.default_rng(0).standard_normal((len(strength), 2))
    ideal = 1.0 / np.sqrt(len(place))
    for step in range(STEPS):
        apart = place[:, None, :] - place[None, :, :]
        length = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        np.fill_diagonal(length, 1.0)
        push = ideal**2 / length - strength * length**2 / ideal
        force = (apart / length[:, :, None] * push[:, :, None]).sum(axis=1) - place
        size = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-9)
        place += force / size * np.minimum(size, 0.2 * (1.0 - step / STEPS))
    low, spread = place.min(axis=0), np.maximum(np.ptp(place, axis=0), 1e-9)
    return (place - low) / spread
