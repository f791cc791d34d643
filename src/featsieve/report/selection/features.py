"""The features of a selection and what they show: clusters, distributions, pairs."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import is_dask_array, is_sparse, to_numpy
from featsieve.criteria.selected_clusters import Clusters
from featsieve.evaluation.judging import chance_agreement
from featsieve.names import listed
from featsieve.report.selection.images import signed_levels
from featsieve.report.selection.values import plain, plains, readable
from featsieve.tables import Encoding
from featsieve.tuning.selection import Selection

# So many features are listed, the best ones; a table of all is the business of ``explain``.
MOST_ROWS = 2000
# Features of the heat map, features that are named for every cluster, and pairs that are listed.
MOST_FEATURES = 60
MOST_MARKS = 3
MOST_PAIRS = 20
MOST_BESIDE = 10
# Correlated features are looked for among so many selected ones, from this correlation on.
MOST_COMPARED = 2000
LOWEST = 0.5
# Features that have a line in the matrix of correlations, and a small picture in the table.
MOST_DRAWN = 200
# Bars of a distribution, and the share of samples on either side that the outermost bars collect.
N_BINS = 32
TAIL = 0.005
# Of a sample's name "P439_pl2": P439 and pl2, and P and pl.
PARTS_OF_NAMES = (r"[^\W\d_]+\d*|\d+", r"[^\W\d_]+")
NO_WORDS: Mapping[str, Encoding] = MappingProxyType({})


def feature_rows(
    selection: Selection, frequency: np.ndarray | None, known: Mapping[str, Encoding] = NO_WORDS
) -> dict[str, Any]:
    """Return columns of facts about the best features, as lists of equal length."""
    facts, names = selection.facts, selection.feature_names
    order = np.lexsort((facts["rank"], ~facts["selected"]))[:MOST_ROWS]
    # explain names the closest feature as the selector does; the reader's names may be others
    position = {str(facts["feature"][j]): int(j) for j in selection.chosen[::-1]}
    closest = [position.get(str(name)) for name in facts["closest_selected"][order]]
    r, certainty = plains(facts["correlation"][order], 4), selection.fitted("feature_certainty_")
    called = zip(facts["reason"][order], facts["closest_selected"][order], closest, strict=True)
    reasons = [
        why if j is None else why.replace(f"with {old}", f"with {names[j]}", 1)
        for why, old, j in called
    ]
    means: list[Any] = []
    if selection.clusters is not None:
        chosen = selection.values[:, order[: min(len(selection.chosen), MOST_DRAWN)]]
        means = [plains(row, 2) for row in cluster_means(chosen, selection.clusters)]
    return {
        "total": len(names),
        "name": [names[j] for j in order],
        "index": order.tolist(),
        "selected": facts["selected"][order].tolist(),
        "rank": facts["rank"][order].tolist(),
        "frequency": None if frequency is None else plains(frequency[order]),
        "certainty": None if certainty is None else plains(certainty[order], 2),
        "cluster": [selection.best_cluster[j] for j in order],
        "side": [side(selection, j, known) for j in order],  # of that cluster
        "mean": means,  # of the first selected ones in every cluster, in standard deviations
        "separation": plains(facts["separation"][order], 4),
        "eta_squared": plains(facts["eta_squared"][order], 4),
        "q_value": plains(facts["q_value"][order], 3) if "q_value" in facts else None,
        "closest": [None if j is None else names[j] for j in closest],
        "correlation": [None if j is None else r[i] for i, j in enumerate(closest)],
        "price": plains(facts["price"][order], 4) if "price" in facts else None,
        "bought_with": facts["bought_with"][order].tolist() if "bought_with" in facts else None,
        "reason": reasons,
    }


def cluster_facts(
    selection: Selection,
    known: Mapping[str, Encoding] = NO_WORDS,
    drawn: Mapping[str, Any] | None = None,
    original: Any = None,
) -> dict[str, Any] | None:
    """Return how the clusters were found, and the features that tell each; None without any."""
    clusters = selection.clusters
    if clusters is None:
        return None
    count, certainty = selection.fitted("cluster_count_"), selection.certainty
    separation, lone = selection.facts["separation"], selection.fitted("lone_features_")
    if lone is not None and selection.owner is not None:  # columns of words
        lone = np.unique(selection.owner[lone])
    clearest = sorted(selection.chosen, key=lambda j: -abs(np.nan_to_num(separation[j])))
    doubtful = None
    if certainty is not None:  # together with less than half of their cluster, worst first
        order = np.argsort(certainty, kind="stable")
        order = order[certainty[order] < defaults.REPORT_DOUBTFUL_CERTAINTY]
        doubtful = listed(f"{selection.sample_name(i)} ({certainty[i]:.0%})" for i in order)
    rows: list[dict[str, Any]] = []
    for name, size in zip(clusters.names, clusters.sizes.tolist(), strict=True):
        marking = [j for j in clearest if selection.best_cluster[j] == name][:MOST_MARKS]
        other = not marking and len(clusters.names) == 2  # what is high in one is low in the other
        if other:
            marking = [j for j in clearest if selection.best_cluster[j]][:MOST_MARKS]
        told = [side(selection, j, known, other=other).split(" ", 1) for j in marking]
        names = [selection.feature_names[j] for j in marking]
        marks = [" = ".join([f"{a} {name}", *b]) for (a, *b), name in zip(told, names, strict=True)]
        inside = clusters.codes == len(rows)
        sure = None if certainty is None else plain(float(certainty[inside].mean()), 4)
        differs = [] if marks else _most_different(selection, len(rows), drawn)
        row = {"name": name, "size": size, "marks": marks, "differs": differs, "certainty": sure}
        rows.append(row)
    return {
        "names": clusters.names,
        "source": clusters.source,
        "number": clusters.number,
        "plausible": None if count is None else [int(end) for end in count.plausible_range],
        "runner_up": None if count is None else count.runner_up,
        "agreed": count is None or count.view is not None,
        "certainty": None if certainty is None else plain(float(np.mean(certainty)), 4),
        "lone": [] if lone is None else [selection.feature_names[j] for j in lone],
        "doubtful": doubtful,
        "follows": _followed(selection, clusters.codes, known, original),
        "rows": rows,
    }


def _followed(
    selection: Selection, labels: np.ndarray, known: Mapping[str, Encoding], original: Any
) -> dict[str, Any] | None:
    """Return what the clusters follow most: a column of words, days or two values, or names.

    That is a part of all sample names, such as the number of a plate. Where half of the columns
    have two values, none of these stands out. The answers of a questionnaire are no batches, but
    may be what another column goes along with: None is returned where the clusters follow one most.
    """
    X = selection.X if original is None else original
    names, answers = selection.feature_names, set[str]()
    columns: dict[str, Any] = {}
    if not (is_sparse(X) or is_dask_array(X)):
        X = to_numpy(X)
        eta, two = np.nan_to_num(selection.facts["eta_squared"]), selection.spreads > 0.0
        two &= ((X.min(axis=0) == X) | (X.max(axis=0) == X)).all(axis=0)
        chosen = {names.index(name) for name in known if name in names}
        if 0 < 2 * two.sum() < X.shape[1]:
            chosen.add(int(np.where(two, eta, -1.0).argmax()))
        columns = {names[j]: X[:, j] for j in chosen}
        answers = {name for name, one in known.items() if one.kind == "order"}
    candidates = [(name, column, False) for name, column in columns.items()]
    for pattern in PARTS_OF_NAMES:
        parts = [re.findall(pattern, name) for name in selection.sample_names or ()]
        if len({len(one) for one in parts}) == 1:
            candidates += [("", np.array(words), True) for words in zip(*parts, strict=True)]
    found: dict[str, Any] | None = None
    for name, column, part in candidates:
        levels, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        if 1 < len(levels) <= defaults.most_levels(len(labels)) and not (part and counts.min() < 2):
            agreement = plains(chance_agreement(labels, codes), 4)
            if found is None or agreement[0] > found["agreement"][0]:
                found = {"column": name, "levels": len(levels), "agreement": agreement}
                found["words"] = [str(level) for level in levels] if part else None
    return None if found is None or found["column"] in answers else found


def _most_different(selection: Selection, code: int, drawn: Mapping[str, Any] | None) -> list[str]:
    """Say what is in the middle of a cluster, of the features furthest from the overall mean."""
    if drawn is None or selection.clusters is None:
        return []
    columns = selection.values[:, selection.shown[:MOST_FEATURES]]
    far = np.abs(cluster_means(columns, selection.clusters)[:, code])
    order = np.argsort(-far, kind="stable")[:MOST_MARKS]
    said = [drawn["said"][k][code].removeprefix("median ") for k in order]
    return [f"{drawn['feature'][k]} {text}" for k, text in zip(order, said, strict=True)]


def side(
    selection: Selection, j: int, known: Mapping[str, Encoding], *, other: bool = False
) -> str:
    """Say how a feature is in the cluster it tells best (or in all others): high, low, a word."""
    name, separation = selection.feature_names[j], selection.facts["separation"][j]
    if selection.best_cluster[j] is None:
        return ""
    high, one = bool(separation > 0.0) != other, known.get(name)
    if one is not None and one.kind == "category" and len(one.levels) == 2:
        return f"often {one.levels[int(high)] or 'missing'}"
    level = selection.shown_name(j)
    if level != name:
        return f"{'often' if high else 'seldom'} {level.removeprefix(f'{name} = ')}"
    return "high" if high else "low"


def beside(selection: Selection) -> np.ndarray:
    """Return features that the clusters explain as much as a selected one, which are not selected.

    The first few, best first: they may say more about what the clusters are.
    """
    explained, chosen = np.nan_to_num(selection.facts["eta_squared"]), selection.facts["selected"]
    tested = "q_value" in selection.facts
    by_chance = (selection.facts["q_value"] if tested else 0.0 * explained) > defaults.QVALUE_LEVEL
    compared = [j for j in selection.shown if not by_chance[j]] or selection.shown
    least = min(explained[compared], default=np.inf)
    order = np.argsort(-explained, kind="stable")
    return order[(explained[order] >= max(least, 1e-300)) & ~chosen[order]][:MOST_BESIDE]


def distributions(
    selection: Selection,
    rows: np.ndarray,
    shown: np.ndarray,
    original: Any = None,
    known: Mapping[str, Encoding] = NO_WORDS,
) -> dict[str, Any] | None:
    """Return how some features are distributed in every cluster, in their own units."""
    clusters = selection.clusters
    if clusters is None or not len(shown):
        return None
    X = selection.X if original is None else original
    operator = as_operator(X[rows][:, shown], scale="none", center=False)
    values = to_numpy(operator.columns(np.arange(len(shown)))).astype(np.float64)
    inside = [clusters.codes[rows] == code for code in range(len(clusters.names))]
    found: list[dict[str, Any]] = []
    for j, column in zip(shown, values.T, strict=True):
        name = selection.feature_names[j]
        one, groups = known.get(name), [column[own] for own in inside]
        low, high = np.quantile(column, (TAIL, 1.0 - TAIL))
        bins, levels = N_BINS, None
        if one is not None and one.kind != "date":
            levels = [word or "missing" for word in one.levels]
            bins, low, high = len(levels), -0.5, len(levels) - 0.5
        elif not low < high:  # nearly all are equal
            low, high = column.min(), column.max()
        clipped = [np.clip(group, low, high) for group in groups]
        counts = [np.histogram(group, bins=bins, range=(low, high))[0] for group in clipped]
        medians = [np.median(group) if len(group) else np.nan for group in groups]
        ends = [low, high] if one is None else one.words(np.floor([max(low, 0.0), high]))
        short = [readable(end) for end in ends]
        found.append(
            {
                "feature": selection.shown_name(j) if one is None else name,
                "range": plains((low, high), 4),
                "median": plains(medians, 4),
                "counts": [count.tolist() for count in counts],
                "levels": levels,
                "ends": short if short[0] != short[1] else [readable(end, 6) for end in ends],
                "said": [_middle(*pair, levels, one) for pair in zip(medians, counts, strict=True)],
            }
        )
    return {key: [row[key] for row in found] for key in found[0]}


def _middle(
    median: float, counts: np.ndarray, levels: list[str] | None, one: Encoding | None
) -> str:
    """Say what is in the middle of a cluster: the median, or the most frequent word."""
    if not counts.sum():
        return "no samples"
    if levels is not None:
        return f"{counts.max() / counts.sum():.0%} {levels[int(counts.argmax())]}"
    return f"median {readable(median if one is None else one.words(np.floor([median]))[0], 4)}"


def cluster_means(columns: Any, clusters: Clusters) -> np.ndarray:
    """Return the means of standardised columns in every cluster."""
    operator = as_operator(columns, scale="std")
    members = np.equal.outer(clusters.codes, np.arange(len(clusters.names))).astype(np.float64)
    return to_numpy(operator.rmatmul(members)) / clusters.sizes


def correlated_pairs(selection: Selection) -> dict[str, Any] | None:
    """Return the strongest correlations among the selected features, and how many there are."""
    shown = selection.shown[:MOST_COMPARED]
    if len(shown) < 2:
        return None
    i, j = np.triu_indices(len(shown), 1)
    whole = correlations(selection.values[:, shown])
    r = whole[i, j]
    joined = np.flatnonzero(np.abs(r) >= LOWEST)
    strongest = joined[np.argsort(-np.abs(r[joined]), kind="stable")][:MOST_PAIRS]
    twins = np.abs(r) >= defaults.REPORT_NEAR_DUPLICATE
    names = [selection.feature_names[k] for k in shown]
    crossed = whole[:MOST_DRAWN, :MOST_DRAWN]
    order = similar_order(1.0 - np.abs(crossed))
    return {
        "of": len(selection.chosen),
        "feature": [names[k] for k in order],
        "levels": signed_levels(crossed[np.ix_(order, order)], 1.0),
        "mean": plain(np.abs(r).mean(), 3),
        "pairs": [[names[i[e]], names[j[e]], plain(r[e], 4)] for e in strongest],
        "n_pairs": len(joined),
        "n_in_duplicates": len(np.union1d(i[twins], j[twins])),
    }


def correlations(columns: Any) -> np.ndarray:
    """Return the correlations of the columns."""
    return np.clip(to_numpy(as_operator(columns, scale="unit").gram()), -1.0, 1.0)


def similar_order(distances: np.ndarray) -> np.ndarray:
    """Return an order in which neighbours are near: the leaves of average linkage."""
    if len(distances) < 3:
        return np.arange(len(distances))
    condensed = squareform(np.maximum(distances, 0.0), checks=False)
    return leaves_list(linkage(condensed, "average", optimal_ordering=True))
