"""How many clusters: where halves of the columns agree, or else clusterings by a few of them."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import row_squares, to_numpy
from featsieve.arrays.scale import one_column_each
from featsieve.criteria.clusterings import sample_rows
from featsieve.graphs.affinity import modularity, self_tuning_graph
from featsieve.graphs.distances import PointDistances
from featsieve.graphs.kmeans import kmeans
from featsieve.graphs.spectral_labels import SpectralClusterings
from featsieve.graphs.views import PLAIN, leave_one_out_accuracy, sample_view
from featsieve.hypotheses.families import components, first_hypotheses
from featsieve.hypotheses.lone import lone_columns
from featsieve.hypotheses.sparse_kmeans import sparse_weights
from featsieve.hypotheses.tables import dense_columns, normal_scores, rotated
from featsieve.validation import check_number, check_table, check_varying


@dataclass(frozen=True, eq=False)
class ClusterCount:
    """A number of clusters, and how it was found.

    Attributes
    ----------
    n_clusters : int
        The suggested number; 2 if nothing speaks for another.
    view : {"hat", "raw", "scaled"} or None
        The distances in which the clusters showed (see :mod:`featsieve.graphs.views`); None where
        no number shows more than chance.
    candidates : int array
        Numbers that were tried.
    agreement : float array
        How far the clusters of two halves of the columns agree, in the hat metric (adjusted mutual
        information).
    score : float array
        What was compared: in the hat view modularity times the cube of the accuracy, else by how
        much sparse clusterings agree beyond chance, as a share of what is possible; where clusters
        lie apart (see Notes), modularity times their mean separation.
    equivalent : int array
        Candidates whose score is within a tenth of the best; all where nothing shows.
    """

    n_clusters: int
    view: str | None
    candidates: np.ndarray
    agreement: np.ndarray
    score: np.ndarray
    equivalent: np.ndarray

    @property
    def plausible_range(self) -> tuple[int, int]:
        """Half and twice the number: no rule that we know of is more certain than that."""
        factor = defaults.COUNT_UNCERTAINTY
        return max(2, round(self.n_clusters / factor)), round(self.n_clusters * factor)

    @property
    def runner_up(self) -> int | None:
        """The plausible number with the best score of the others, None where none speaks for it."""
        low, high = self.plausible_range
        others = (self.candidates >= low) & (self.candidates <= high) & (self.score > 0.0)
        others &= self.candidates != self.n_clusters
        if self.view is None or not others.any():
            return None
        return int(self.candidates[others][np.argmax(self.score[others])])

    def __repr__(self) -> str:
        return (
            f"ClusterCount(n_clusters={self.n_clusters}, plausible_range={self.plausible_range}, "
            f"equivalent={self.equivalent.tolist()}, view={self.view!r})"
        )


def suggest_n_clusters(
    X: Any, *, most: int = defaults.MAX_CLUSTERS, random_state: Any = 0
) -> ClusterCount:
    """Suggest how many clusters a table has, without labels.

    Where clusterings of random halves of the columns agree, the number is suggested whose clusters
    have the largest modularity times the cube of the accuracy with which the other samples predict
    them. Elsewhere few columns matter: the largest number on which clusterings by few telling
    columns agree, beyond copies of the table without clusters, about as well as on any.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table. Of more than 600 samples, a random 600 are looked at.
    most : int, default=60
        Largest number to try, if there are three samples for each.
    random_state : int, RandomState instance or None, default=0
        Seeds k-means, the halves and the copies.

    Returns
    -------
    ClusterCount
        ``n_clusters``, the candidates that do as well (``equivalent``), the ``plausible_range``,
        and the evidence for every candidate.

    Notes
    -----
    Halves agree on clusters in which many columns take part, as in most real tables (adjusted
    mutual information above 0.15 for some number). Where they do not, and there are many rows,
    label hypotheses of up to 5000 rows that agree beyond chance choose 300 columns: the number is
    theirs if halves of them agree. Scores are those of all columns, or of halves where these show
    clusters more clearly. A variable of few values that the clusters follow and no other column
    goes along with is left out. Accuracy is balanced (leave one out, ridge regression): modularity
    alone splits clusters further and further, and accuracy alone prefers two. In tables with at
    least two rows for each column, a larger number goes before that one if its clusters, in plain
    distances, all lie further apart than the halves of a uniform strip (``view`` is "scaled" then).

    Telling columns are those of sparse k-means, with Ward's method in place of k-means. Clusterings
    agree by the mean overlap (Jaccard index) of their clusters, matched one to one: small clusters
    count as much as large ones. The copies have rotated samples (the same covariance) and permuted
    columns. Where nothing agrees by more than 0.1 the answer is 2, and ``view`` is None. That is no
    test: see :func:`featsieve.tuning.structure_test`. Few columns do not show all clusters of many
    weak ones among thousands (single cells): where halves of the telling columns agree further on
    a larger number than on this one, and than in copies (by 0.15), that one is taken, as above.

    No rule finds the number of classes of real tables reliably: read the answer as "within a
    factor of about two". Selections suffer more from too few clusters than from too many.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.tuning import suggest_n_clusters
    >>> planted = make_planted(n_samples=120, n_features=50, n_clusters=4, random_state=0)
    >>> suggest_n_clusters(planted.X, random_state=0).n_clusters
    4
    """
    check_number("most", most, low=2, integer=True)
    X = check_table(X, owner="suggest_n_clusters")
    check_varying(X)
    return count_clusters(X, most=most, random_state=random_state)


def count_clusters(
    X: Any,
    *,
    most: int = defaults.MAX_CLUSTERS,
    random_state: Any = 0,
    codes: np.ndarray | None = None,
    variables: np.ndarray | None = None,
) -> ClusterCount:
    """Return what `suggest_n_clusters` does, of a checked table in the batches ``codes``.

    ``variables`` of several columns count as one.
    """
    random_state = check_random_state(random_state)
    given = X, codes, variables, random_state
    X, codes = _some(*given, defaults.COUNT_SAMPLES)
    numbers = candidate_numbers(X.shape[0], most)
    Z, units, kept = dense_columns(X)
    rng = np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    if not len(kept):  # nothing varies among these rows
        return _count(None, numbers, np.zeros(len(numbers)), np.zeros(len(numbers)), 0)
    labels, score = _in_hat_metric(Z, numbers, rng)
    while lone := lone_columns(as_operator(Z, scale="none"), labels, rng, codes):
        Z, units, kept = (np.delete(one, lone, axis=-1) for one in (Z, units, kept))
        labels, score = _in_hat_metric(Z, numbers, rng)
    agreement, score = _by_halves(Z, numbers, rng, score)
    if agreement.max() > defaults.CREDIBLE_EXCESS:
        chosen = int(score.argmax())
        if len(Z) >= defaults.COUNT_ROWS_PER_COLUMN * Z.shape[1]:
            apart = _clusters_apart(Z, numbers, rng, least=int(numbers[chosen]))
            if apart.any():
                return _count("scaled", numbers, agreement, apart, int(apart.argmax()))
        return _count("hat", numbers, agreement, score, chosen)
    # Many weak columns may show in more rows only: those that tell most show the number.
    if given[0].shape[0] >= 2 * defaults.COUNT_SAMPLES:
        explained = _explained(*_some(*given, defaults.N_LANDMARKS), numbers, rng)
        if explained is not None:
            telling = np.argsort(-explained[kept], kind="stable")[: defaults.SECOND_SIZES[-1]]
            agreed, rating = _by_halves(Z[:, telling], numbers, rng)
            rotation = rotated(Z[:, telling], rng)  # hypotheses of a continuum choose columns, too
            least = _by_halves(rotation, numbers, rng)[0].max() + defaults.CREDIBLE_EXCESS
            if agreed.max() > least:
                return _count("hat", numbers, agreed, rating, int(rating.argmax()))
    labels, telling = sparse_clusterings(Z, numbers, rng, codes)
    copies = (rotated(Z, rng), rng.permuted(Z, axis=0))
    by_chance = [sparse_clusterings(copy, numbers, rng, codes) for copy in copies]
    chance = np.max([_overlaps(theirs) for theirs, _ in by_chance], axis=0)
    score = (_overlaps(labels) - chance) / np.maximum(1.0 - chance, defaults.LEAST_ROOM)
    shown = score.max() > defaults.COUNT_TOLERANCE
    chosen = int(_near(score)[-1]) if shown else 0  # fewer agree as well, of merged clusters
    # Of many weak columns few do not show all clusters: do halves of the columns that the
    # clusterings chose agree on a larger number, further than on this one and than in copies?
    agreed, rating = _by_halves(Z[:, telling], numbers, rng)
    other = int(rating.argmax())
    least = agreed[other] - defaults.CREDIBLE_EXCESS
    more = other > chosen or not shown
    if (
        more
        and least > (agreed[chosen] if shown else 0.0)
        and all(
            least > _by_halves(copy[:, columns], numbers, rng)[0][other]
            for copy, (_, columns) in zip(copies, by_chance, strict=True)
        )
    ):
        return _count("hat", numbers, agreed, rating, other)
    if not shown:
        return _count(None, numbers, agreement, score, 0)
    view = _plain_view(Z, units, labels[chosen])
    return _count(view, numbers, agreement, score, chosen)


def candidate_numbers(n_samples: int, most: int = defaults.MAX_CLUSTERS) -> np.ndarray:
    """Return the numbers to try: 2, 3, ..., 10, then in steps of 15 %."""
    every, ratio = defaults.EVERY_COUNT_UP_TO, defaults.COUNT_RATIO
    most = max(2, min(most, n_samples // defaults.MIN_CLUSTER_SIZE))
    n_steps = int(np.ceil(np.log(max(most / every, 1.0)) / np.log(ratio)))
    beyond = np.round(every * ratio ** np.arange(n_steps + 1)).astype(int)
    numbers = np.union1d(np.arange(2, every + 1), beyond)
    return numbers[numbers <= most]


def _near(score: np.ndarray) -> np.ndarray:
    """Return the positions of scores that are about as good as the best."""
    best = score.max()
    return np.flatnonzero(score >= best - defaults.COUNT_TOLERANCE * abs(best))


def _count(
    view: str | None, numbers: np.ndarray, agreement: np.ndarray, score: np.ndarray, chosen: int
) -> ClusterCount:
    """Return the chosen number with its evidence."""
    equivalent = numbers if view is None else numbers[_near(score)]
    return ClusterCount(int(numbers[chosen]), view, numbers, agreement, score, equivalent)


def _some(
    X: Any,
    codes: np.ndarray | None,
    variables: np.ndarray | None,
    random_state: np.random.RandomState,
    most: int,
) -> tuple[Any, np.ndarray | None]:
    """Return some rows of a table, with one column for each variable, and their batches."""
    X, rows = sample_rows(X, random_state, most=most)
    codes = codes if codes is None or rows is None else codes[rows]
    return one_column_each(X, variables), getattr(X, "codes", codes)


# Clusterings --------------------------------------------------------------------------------------


def _explained(
    X: Any, codes: np.ndarray | None, numbers: np.ndarray, rng: np.random.Generator
) -> np.ndarray | None:
    """Return the share of every column's variance that label hypotheses explain, if credible."""
    c, operator = int(numbers[len(numbers) // 2]), as_operator(X, scale="unit")
    pool, belief = first_hypotheses(X, operator, c, rng, codes=codes)
    if not belief.credible and belief.excess() <= defaults.CREDIBLE_EXCESS:
        return None
    target = operator.place(pool.target(most=2 * c))
    return to_numpy(row_squares(operator.rmatmul(target)))


def _by_halves(
    Z: np.ndarray, numbers: np.ndarray, rng: np.random.Generator, whole: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far halves of the columns agree for every number, and the scores.

    Scores are those of all columns (which may be known), unless halves show clusters more clearly:
    where there are about as many columns as rows, the hat metric of all gives noise much weight.
    """
    if whole is None:
        whole = _in_hat_metric(Z, numbers, rng)[1]
    d = Z.shape[1]
    if d == 1:  # nothing to agree
        return np.zeros(len(numbers)), whole
    agreement, scores = [], []
    for _ in range(defaults.HAT_SPLITS):
        halves = np.array_split(rng.permutation(d), 2)
        (one, mine), (other, others) = (_in_hat_metric(Z[:, half], numbers, rng) for half in halves)
        agreement.append([adjusted_mutual_info_score(*two) for two in zip(one, other, strict=True)])
        scores += [mine, others]
    of_halves = np.mean(scores, axis=0)
    clearer = whole.max() < (1.0 - defaults.COUNT_TOLERANCE) * of_halves.max()
    return np.mean(agreement, axis=0), of_halves if clearer else whole


def _in_hat_metric(
    Z: np.ndarray, numbers: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return spectral labels for all numbers, and modularity times a power of the accuracy."""
    view = sample_view(Z, "hat", n_clusters=int(numbers[-1]))
    labels = _spectral_labels(view.graph, view.bridge, numbers, rng)
    known = [leave_one_out_accuracy(one, view.coordinates, int(one.max()) + 1) for one in labels]
    return labels, modularity(view.graph, labels) * np.array(known) ** defaults.COUNT_POWER


def _spectral_labels(
    graph: sp.csr_array, bridge: np.ndarray | None, numbers: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the spectral labels of a graph for all numbers."""
    seeds = np.random.RandomState(rng.integers(2**31))
    clusterings = SpectralClusterings(graph, int(numbers[-1]), bridge=bridge, random_state=seeds)
    return np.stack([clusterings.labels(int(c)) for c in numbers])


def _clusters_apart(
    Z: np.ndarray, numbers: np.ndarray, rng: np.random.Generator, *, least: int
) -> np.ndarray:
    """Return modularity times the mean separation, 0 for numbers with clusters that touch.

    Regression on indicators, which the accuracy of the hat metric is, cannot tell the middle one of
    three clusters on a line; and columns that say the same count as one there. So about twice the
    ``least`` may be right, but no more: repeated rows and combinations of answers lie apart as
    well, when their groups have been cut to pieces.
    """
    points = components(Z, rng, count=defaults.FEW_COMPONENTS)
    graph = self_tuning_graph(PointDistances(points), n_neighbors=5)
    labels = _spectral_labels(graph, points / np.linalg.norm(points), numbers, rng)
    nearest = [separation(points, one).min(axis=1) for one in labels]
    counts = np.array([one.min() > defaults.COUNT_STRIP_SHARE for one in nearest])
    counts &= (numbers > least) & (numbers // 2 <= least)
    apart = np.array([one.mean() for one in nearest])
    return np.where(counts, modularity(graph, labels) * apart, 0.0)


def separation(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return how far every two clusters lie apart (inf: a cluster from itself).

    The share of the variance that lies between the two, along the line through their centres, each
    sample left out of its own; both count alike, whatever their sizes. A single sample has no
    spread to be compared with: 0.
    """
    member = np.eye(int(labels.max()) + 1)[labels]
    sizes = member.sum(axis=0)[:, None]
    centres = member.T @ points / sizes
    squares = cdist(points, centres, "sqeuclidean")
    own, size = (np.arange(len(points)), labels), sizes[labels, 0]
    squares[own] *= (size / np.maximum(size - 1.0, 1.0)) ** 2  # |x - m|^2 to the mean of the others
    across = (squares - squares[own][:, None]) / 2.0  # how much nearer its own centre is
    mean = member.T @ across / sizes
    spread = np.maximum(member.T @ across**2 / sizes - mean**2, 0.0)
    between = np.maximum(mean + mean.T, 0.0) ** 2 / 4.0
    share = between / np.maximum(between + (spread + spread.T) / 2.0, 1e-300)
    single = sizes[:, 0] == 1.0
    share[single] = share[:, single] = 0.0
    np.fill_diagonal(share, np.inf)
    return share


def sparse_clusterings(
    Z: np.ndarray, numbers: np.ndarray, rng: np.random.Generator, codes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of some sparse hierarchical clusterings for all numbers, and their columns.

    Columns are chosen in turn with the clusters that they show, as in sparse k-means; Ward's method
    finds the clusters, small ones too. The last tree gives the labels for every number.
    """
    n, d = Z.shape
    trees, columns = [], []
    for A in (Z, dense_columns(normal_scores(Z, codes))[0]):
        points = components(A, rng)[:, : defaults.FEW_COMPONENTS]
        for most, count, part in zip(
            defaults.SPARSE_COLUMNS, defaults.COUNT_FIRST, (4, 2), strict=True
        ):
            size = min(most, -(-d // part))  # all columns of a narrow table would not be sparse
            count = min(count, max(2, n // defaults.MIN_CLUSTER_SIZE))
            labels = kmeans(points, count, rng)
            for _ in range(defaults.COUNT_ROUNDS):
                weights = sparse_weights(A, labels, size)
                if not weights.any():  # equal columns: none stands out
                    weights = np.ones(d)
                chosen = np.flatnonzero(weights)
                tree = linkage(A[:, chosen] * np.sqrt(weights[chosen]), "ward")
                labels = fcluster(tree, count, "maxclust") - 1
            trees.append([fcluster(tree, c, "maxclust") - 1 for c in numbers])
            columns.append(chosen)
    return np.stack(trees, axis=1), np.unique(np.concatenate(columns))


def _plain_view(Z: np.ndarray, units: np.ndarray, labels: np.ndarray) -> str:
    """Return the plain distances in which the neighbours share most labels of some clusterings."""
    tables = {"raw": Z * units, "scaled": Z}
    shown = {
        name: modularity(sample_view(tables[name], name).graph, labels).mean() for name in PLAIN
    }
    return max(shown, key=shown.__getitem__)


# Agreement ----------------------------------------------------------------------------------------


def _overlaps(labels: np.ndarray) -> np.ndarray:
    """Return the mean overlap of the clusterings (second axis) for every number (first)."""
    return np.array([np.mean([overlap(*pair) for pair in combinations(one, 2)]) for one in labels])


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Return the mean Jaccard index of the clusters of two clusterings, matched one to one."""
    c = int(other.max()) + 1
    joint = np.bincount(one * c + other, minlength=(int(one.max()) + 1) * c).reshape(-1, c)
    share = joint / (joint.sum(axis=1)[:, None] + joint.sum(axis=0) - joint)
    return float(share[linear_sum_assignment(share, maximize=True)].mean())
