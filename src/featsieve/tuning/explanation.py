"""Why a feature was selected or not: one row of facts for every feature."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import (
    Array,
    as_numpy,
    gathered,
    in_double,
    is_floating,
    is_sparse,
    to_numpy,
)
from featsieve.criteria.batches import within_batches_of_fit
from featsieve.criteria.qvalues import FeatureQValues, feature_qvalues
from featsieve.criteria.selected_clusters import best_first, fitted_attribute, layers
from featsieve.evaluation.checks import as_classes
from featsieve.solvers.offer import Offer
from featsieve.tables import Table
from featsieve.validation import check_number, check_table

# Dense temporaries stay near this many elements (32 MiB of float64).
BLOCK_ELEMENTS = 2**22
# Correlations that differ by less are equal: what products in this precision may leave.
ROUNDING = {"float32": 1e-4, "float64": 1e-9}
# Tables up to this many (stored) elements are looked at in double precision.
CONVERT_ELEMENTS = 2**24
ALSO = "goes with the clusters as well; fewer suffice to show them"


def explain(
    selector: Any,
    X: Any,
    *,
    labels: Any = None,
    redundant: float = 0.9,
    qvalues: bool | FeatureQValues = False,
    batch: Any = None,
) -> Any:
    """Say of every feature why it was selected or not.

    Parameters
    ----------
    selector : fitted selector of featsieve
        Of a search (LabelFreeSearchCV), the best candidate is explained.
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table that was fitted. A sparse one is not densified.
    labels : array-like of shape (n_samples,), optional
        Clusters of the samples, as integers or text; by default the ``labels_`` of the selector.
        Methods without labels need them for the columns about clusters: take those of another
        method, ``JASFS(n_clusters=...).fit(X).labels_``, or of k-means,
        ``KMeans(n_clusters=...).fit_predict(selector.transform(X))``.
    redundant : float in (0, 1], default=0.9
        Absolute correlation with a selected feature from which another one is called redundant.
    qvalues : bool or FeatureQValues, default=False
        Whether to add q-values, which costs some forty fits: True computes them
        (:func:`feature_qvalues`, ``random_state=0``), or pass what that has returned. Those that a
        selector has found itself (``n_features_to_select="significant"``) are added always.
    batch : array-like of shape (n_samples,), optional
        The batches that the selector was fitted with, if it was: clusters are told and columns
        correlate inside of them then.

    Returns
    -------
    pandas.DataFrame, or featsieve.tables.Table where pandas is not installed
        One row per feature, in the order of the columns of X, with

        - feature, index : name (x0, x1, ... if X had no names) and position in X;
        - selected, rank, score : as in ``support_``, ``ranking_`` (1 is the best), ``scores_``;
        - selection_frequency : share of the subsamples that selected it, if the selector has
          looked at subsamples; else NaN;
        - best_cluster : the cluster that the feature tells best from all other samples; -1
          (or "" if the clusters have text labels) if there are no labels, or only one, or the
          feature is constant;
        - separation : (mean inside that cluster - mean outside) / standard deviation within the
          two groups: positive if the feature is high in the cluster; infinite if it does not vary
          within them; NaN without a best cluster;
        - eta_squared : share of the feature's variance that lies between the clusters, from 0 to
          1; NaN if there are no labels, or the feature is constant;
        - q_value : false discovery rate at which the feature goes with the clusters (only where
          it was computed);
        - closest_selected, correlation : the selected feature, other than itself, that correlates
          most with it, and that (signed) correlation; "" and NaN if there is none;
        - price, bought_with : what the feature costs, and the columns that it is selected with
          (only with ``groups``, ``costs`` or ``budget``);
        - kept : whether it was to be selected in any case (only with ``keep``);
        - status : "selected", "excluded", "constant", "redundant" or "low score";
        - reason : the same in a few words, such as "redundant: r=0.97 with gene_12" or "selected:
          to be kept".

    See Also
    --------
    JASFS : Finds clusters and the features that carry them.

    Notes
    -----
    With r the correlation of a feature with the indicator of a cluster of m among n samples,

        separation = r / √(1 - r²) √(n - 2) √(n / (m (n - m))).

    The best cluster is that of the largest abs(r), hence of the largest t statistic, not of the
    largest separation: by chance a tiny cluster lies far from the others in almost any feature.
    Of two clusters, which are equally well told apart, it is the one in which the feature is high.

    "redundant" says that the selection knows the feature already, not that the method looked for
    that. Clusters that were found in the same X differ in its features by construction:
    ``separation`` and ``eta_squared`` describe them, and are no evidence that they exist; q-values
    take this into account.

    Cost: for k selected features and c clusters, products of X with k + c vectors, O(nd(k + c))
    (sparse: with the stored entries in place of nd), in blocks of bounded size.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve import MaxVariance
    >>> from featsieve.tuning import explain
    >>> X = np.array([[0, 1, 0, 7], [1, 3, 0, 7], [8, 17, 1, 7], [9, 19, 0, 7]])
    >>> selector = MaxVariance(n_features_to_select=1).fit(X)
    >>> why = explain(selector, X, labels=[0, 0, 1, 1])
    >>> why["reason"].tolist()
    ['redundant: r=1.00 with x1', 'selected', 'ranked low: rank 3', 'constant']
    >>> why.sort_values("rank")["feature"].tolist()
    ['x1', 'x0', 'x2', 'x3']
    >>> why[["feature", "best_cluster", "separation", "correlation"]].head(3).round(2)
      feature  best_cluster  separation  correlation
    0      x0             1       11.31          1.0
    1      x1             1       11.31          NaN
    2      x2             1        1.00          0.5
    """
    table = explain_features(
        selector, X, labels=labels, redundant=redundant, qvalues=qvalues, batch=batch
    )
    try:
        return table.to_pandas()
    except ImportError:
        return table


def explain_features(
    selector: Any,
    X: Any,
    *,
    labels: Any = None,
    redundant: float = 0.9,
    qvalues: Any = False,
    batch: Any = None,
) -> Table:
    """Return what `explain` does, as a Table whatever is installed."""
    check_number("redundant", redundant, low=0.0, strict=True)
    if redundant > 1.0:
        raise ValueError(f"redundant is an absolute correlation, at most 1; got {redundant!r}.")
    selector = _check_selector(selector)
    support, rank = np.array(selector.get_support()), _find(selector, "ranking_")
    table = gathered(check_table(X, owner="explain"))
    validate_data(selector, X, skip_check_array=True, reset=False)  # the columns of the fit
    n, d = table.shape
    clusters = _clusters(selector, labels, n)
    frequency = _find(selector, "selection_frequency_")
    names = np.asarray(getattr(selector, "feature_names_in_", [f"x{j}" for j in range(d)]), str)

    table = within_batches_of_fit(selector, table, batch)[0]
    n_stored = table.nnz if is_sparse(table) else n * d
    double = is_floating(table) and n_stored <= CONVERT_ELEMENTS
    operator = as_operator(in_double(table) if double else table, scale="unit")
    rounding = ROUNDING["float32" if operator.dtype == operator.xp.float32 else "float64"]
    varies = to_numpy(operator.varies)
    chosen = best_first(support & varies, rank)  # of copies the best one is named

    def selected_columns(block: slice) -> Array:
        return operator.columns(operator.place(chosen[block]))

    position, correlation, _ = _strongest(
        operator, selected_columns, len(chosen), rounding, own_features=chosen
    )
    closest = np.append(chosen, -1)[position]  # none (-1) finds the last
    closest_name = np.where(closest < 0, "", names[closest])
    best, separation, eta_squared = _separate(operator, clusters, rounding)

    tested = _qvalues(selector, X, qvalues, d, batch)
    # without q-values: the clusters explain as much of it as of half of the selected ones
    middle = np.median(eta_squared[chosen]) if len(chosen) else 0.0
    explained = (eta_squared >= middle) & (middle > 0.0)
    also = explained if tested is None else tested <= defaults.QVALUE_LEVEL
    status = np.where(np.abs(correlation) >= redundant - rounding, "redundant", "low score")
    status = np.where(varies, status, "constant")
    offer = next((s._offer for s in layers(selector) if getattr(s, "_offer", None)), None)
    if offer is not None:
        status = np.where(offer.for_sale, status, "excluded")
    status = np.where(support, "selected", status)
    reason = np.where(support & ~varies, "selected, but constant", status).tolist()
    for j, word in enumerate(reason):
        if word == "redundant":
            reason[j] = f"redundant: r={correlation[j]:.2f} with {closest_name[j]}"
        elif word == "low score":
            reason[j] = ALSO if also[j] else f"ranked low: rank {rank[j]}"
            if explained[j] and not also[j] and tested is not None:
                reason[j] = f"goes with the clusters, but perhaps by chance: q={tested[j]:.2g}"
    constrained = {} if offer is None else _constrained(offer, names)
    for j in [] if offer is None else offer.kept_columns.tolist():
        reason[j] = f"{reason[j]}: to be kept"
    return Table(
        {
            "feature": names,
            "index": np.arange(d),
            "selected": support,
            "rank": rank,
            "score": _find(selector, "scores_"),
            "selection_frequency": np.full(d, np.nan) if frequency is None else frequency,
            "best_cluster": best,
            "separation": separation,
            "eta_squared": eta_squared,
            **({} if tested is None else {"q_value": tested}),
            "closest_selected": closest_name,
            "correlation": correlation,
            **constrained,
            "status": status,
            "reason": reason,
        }
    )


def _check_selector(selector: Any) -> Any:
    """Return a fitted selector, or the best candidate of a search; refuse all else."""
    selector = getattr(selector, "best_estimator_", selector)
    if isinstance(selector, Pipeline):
        raise TypeError(
            "explain takes a selector, not the Pipeline around it, and the table that this step "
            "saw: explain(pipeline[-1], pipeline[:-1].transform(X))."
        )
    if hasattr(selector, "get_support"):
        check_is_fitted(selector)
    if _find(selector, "ranking_") is None or _find(selector, "scores_") is None:
        raise TypeError(
            "explain takes a fitted selector of featsieve, which has scores_ and ranking_ (or a "
            f"search with its best_estimator_); got {selector!r}."
        )
    return selector


def _find(selector: Any, name: str) -> Any:
    """Copy a fitted attribute of the selector, or of the one inside it; None if neither has it."""
    found = fitted_attribute(selector, name)
    return None if found is None else np.array(found)


def _constrained(offer: Offer, names: np.ndarray) -> dict[str, np.ndarray]:
    """Return the price of every feature, what it is bought with, and whether it is to be kept."""
    kept = np.isin(np.arange(len(names)), offer.kept_columns)
    found = {"kept": kept} if kept.any() else {}
    if offer.plain:
        return found
    others = np.full(len(names), "", dtype=object)
    for block in offer.blocks:
        for unit in block:
            others[unit] = [", ".join(names[unit[unit != j]]) for j in unit]
    price = np.where(offer.for_sale, offer.column_price, np.nan)
    return {"price": price, "bought_with": others.astype(str), **found}


def _qvalues(
    selector: Any, X: Any, given: bool | FeatureQValues, d: int, batch: Any
) -> np.ndarray | None:
    """Return the q-values that were passed, or that the selector has; compute them if asked."""
    if isinstance(given, bool):
        known = _find(selector, "qvalues_")
        if known is not None or not given:
            return known
        given = feature_qvalues(selector, X, batch=batch, random_state=0)
    if not isinstance(given, FeatureQValues) or given.qvalues.shape != (d,):
        raise ValueError(
            f"qvalues must be True, False, or what feature_qvalues returns for these {d} columns; "
            f"got {given!r}."
        )
    return given.qvalues


def _clusters(selector: Any, labels: Any, n_samples: int) -> np.ndarray | None:
    """Return one label per sample, as integers or text; None if there are no labels."""
    if labels is None:
        labels = _find(selector, "labels_")
        if labels is None:
            return None
        if len(labels) != n_samples:
            raise ValueError(
                f"X has {n_samples} rows but the selector was fitted on {len(labels)}: pass the "
                "table that was fitted, or the clusters of these rows as labels."
            )
    labels = as_numpy(labels)
    as_classes("labels", labels, n_samples=n_samples)  # says what is wrong with them
    values = np.asarray(labels.tolist())  # numbers or text, if an array of objects holds them
    return values if values.dtype.kind == "U" else values.astype(np.int64)


def _separate(
    operator: DataOperator, labels: np.ndarray | None, rounding: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for every feature its best cluster, the separation, and eta squared."""
    n, d = operator.shape
    if labels is None:
        return np.full(d, -1), np.full(d, np.nan), np.full(d, np.nan)
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    none = "" if names.dtype.kind == "U" else -1
    eta_squared = np.where(to_numpy(operator.varies), 0.0, np.nan)
    if len(names) == 1:
        return np.full(d, none), np.full(d, np.nan), eta_squared
    rest = n - sizes

    def indicators(block: slice) -> Array:
        # Centred, of unit norm: products with the columns are correlations.
        inside = codes[:, None] == np.arange(block.start, block.stop)
        share = sizes[block] / n
        return operator.place((inside - share) / np.sqrt(sizes[block] * (rest[block] / n)))

    best, r, between = _strongest(operator, indicators, len(names), rounding, weights=rest / n)
    # Sum over clusters of m (mean inside)^2, of columns of unit norm: r^2 (n - m) / n.
    eta_squared += between
    within = 1.0 - r**2
    perfect = within <= 2.0 * rounding
    scale = np.sqrt(max(n - 2, 1) * n / (sizes[best] * rest[best].astype(np.float64)))
    separation = np.where(perfect, np.inf, scale / np.sqrt(np.where(perfect, 1.0, within))) * r
    return np.where(best >= 0, names[best], none), separation, np.clip(eta_squared, 0.0, 1.0)


def _strongest(
    operator: DataOperator,
    vectors: Callable[[slice], Array],
    n_vectors: int,
    rounding: float,
    *,
    own_features: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the vector that correlates most with each feature (-1: none), r, and sum_v w_v r_v^2.

    Of equal correlations a positive one wins, then the first: rounding does not decide.
    ``own_features`` are the vectors' own, with which they are not compared.
    """
    d = operator.shape[1]
    varies = to_numpy(operator.varies)
    weights = np.ones(n_vectors) if weights is None else weights
    best_key, position = np.full(d, -1.0), np.full(d, -1)
    value, total = np.full(d, np.nan), np.zeros(d)
    step = max(1, BLOCK_ELEMENTS // sum(operator.shape))
    for start in range(0, n_vectors, step):
        block = slice(start, min(start + step, n_vectors))
        r = to_numpy(operator.rmatmul(vectors(block)))
        total += r**2 @ weights[block]
        key = np.abs(r) + 2.0 * rounding * (r > rounding)
        if own_features is not None:
            key[own_features[block], np.arange(r.shape[1])] = -1.0
        largest = key.max(axis=1)
        rows = np.flatnonzero(varies & (largest > best_key + rounding))
        first = (key[rows] >= largest[rows, None] - rounding).argmax(axis=1)
        best_key[rows], position[rows] = largest[rows], start + first
        value[rows] = np.clip(r[rows, first], -1.0, 1.0)
    return position, value, total
