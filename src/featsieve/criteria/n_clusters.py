"""How many clusters: where label hypotheses agree most, beyond what they agree by chance."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.criteria.clusterings import sample_rows
from featsieve.graphs.kmeans import kmeans
from featsieve.graphs.spectral_labels import SpectralClusterings
from featsieve.hypotheses.families import components, sparse_weights
from featsieve.hypotheses.tables import dense_columns, normal_scores, rotated
from featsieve.hypotheses.views import View, hat_view, plain_view
from featsieve.validation import check_number, check_table, check_varying

Member = Callable[[int], np.ndarray]  # the labels for the i-th number of clusters

# Families of hypotheses, and the distances in which their clusters show (featsieve.graphs.views).
VIEWS = {"hat": "hat", "mixed": "scaled", "raw": "raw", "sparse": "scaled"}


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
    excess : dict of float arrays
        For each family of hypotheses and each candidate: by how much its members agree more than
        on copies of the table without clusters, as a share of what is possible. NaN where the
        members agree too little for it to matter.
    equivalent : int array
        Candidates that do as well as the suggested one.
    """

    n_clusters: int
    view: str | None
    candidates: np.ndarray
    excess: dict[str, np.ndarray]
    equivalent: np.ndarray

    @property
    def plausible_range(self) -> tuple[int, int]:
        """Half and twice the number: no rule that we know of is more certain than that."""
        factor = defaults.COUNT_UNCERTAINTY
        return max(2, round(self.n_clusters / factor)), round(self.n_clusters * factor)

    def __repr__(self) -> str:
        return (
            f"ClusterCount(n_clusters={self.n_clusters}, plausible_range={self.plausible_range}, "
            f"equivalent={self.equivalent.tolist()}, view={self.view!r})"
        )


def suggest_n_clusters(
    X: Any, *, most: int = defaults.CLUSTER_NUMBERS[-1], random_state: Any = 0
) -> ClusterCount:
    """Suggest how many clusters a table has, without labels.

    The samples are clustered in many ways (families of label hypotheses: different metrics, halves
    of the columns, chosen columns) for every candidate. With the right number the clusterings
    agree: with fewer they merge different clusters, with more they split them at random. Agreement
    counts as far as it exceeds that on copies of the table without clusters: with permuted
    columns, and with rotated samples (the same correlations). Of the numbers that come within 0.1
    of the best the largest is suggested, since nested clusters agree at several.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table. Of more than 600 samples, a random 600 are looked at.
    most : int, default=40
        Largest number to try, if there are three samples for each. Candidates are 2 to 10, 12, 15,
        20, 30 and 40.
    random_state : int, RandomState instance or None, default=0
        Seeds k-means, the copies and the halves.

    Returns
    -------
    ClusterCount
        ``n_clusters``, the candidates that do as well (``equivalent``), the ``plausible_range``,
        and the evidence for every candidate.

    Notes
    -----
    The agreement of two clusterings is the mean overlap (Jaccard index) of their clusters, matched
    one to one: small clusters count as much as large ones. The family of the hat metric decides
    where its excess is at least half of the largest: it sees clusters in which many columns take
    part, as in most real tables. Where no number exceeds chance by more than 0.1 the answer is 2,
    and ``view`` is None. That is no test: see :func:`featsieve.tuning.structure_score`.

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
    random_state = check_random_state(random_state)
    X, _ = sample_rows(X, random_state, most=defaults.COUNT_SAMPLES)
    Z, units = dense_columns(X)
    if len(Z) < 2 * defaults.MIN_CLUSTER_SIZE or Z.shape[1] < 2:  # permuted, a column is the same
        return _count(np.array([2]), dict.fromkeys(VIEWS, np.zeros(1)))
    numbers = candidate_numbers(X.shape[0], most)
    rng = np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    own = Hypotheses(Z, units, numbers, rng)
    nulls = [
        [Hypotheses(copy(), units, numbers, rng) for _ in range(defaults.COUNT_COPIES)]
        for copy in (lambda: rng.permuted(Z, axis=0), lambda: rotated(Z, rng))
    ]
    plain = [name for name in VIEWS if name != "hat"]
    excess = _excess(own, nulls, plain)
    best = np.nanmax(list(excess.values()))
    excess |= _excess(own, nulls, ["hat"], least=defaults.HAT_SHARE_OF_BEST * best)
    return _count(numbers, excess)


def candidate_numbers(n_samples: int, most: int) -> np.ndarray:
    """Return the numbers to try: at least three samples for each cluster."""
    numbers = np.array(defaults.CLUSTER_NUMBERS)
    return numbers[numbers <= max(2, min(most, n_samples // defaults.MIN_CLUSTER_SIZE))]


def _count(numbers: np.ndarray, excess: dict[str, np.ndarray]) -> ClusterCount:
    """Return the largest of the numbers that come near the largest excess."""
    known = {name: np.nan_to_num(values, nan=-1.0) for name, values in excess.items()}
    plain = np.max([values for name, values in known.items() if name != "hat"], axis=0)
    by_hat = known["hat"].max() >= defaults.HAT_SHARE_OF_BEST * plain.max()
    deciding = known["hat"] if by_hat else plain
    best, tolerance = float(deciding.max()), defaults.COUNT_TOLERANCE
    if best <= tolerance:
        return ClusterCount(2, None, numbers, excess, numbers[deciding >= best - tolerance])
    equivalent = np.flatnonzero(deciding >= best - tolerance)
    chosen = int(equivalent[-1])
    family = "hat" if by_hat else max(VIEWS, key=lambda name: known[name][chosen])
    return ClusterCount(int(numbers[chosen]), VIEWS[family], numbers, excess, numbers[equivalent])


def _excess(
    own: "Hypotheses", nulls: list[list["Hypotheses"]], names: list[str], *, least: float = -1.0
) -> dict[str, np.ndarray]:
    """Return the excess agreement of some families for every number (NaN where it cannot matter).

    Chance only takes away: where the agreement itself does not come near the largest excess that
    was found, or is not even the ``least`` that counts, the copies are not looked at.
    """
    most = np.array([[own.agreement(name, i) for i in range(own.count)] for name in names])
    found = np.full_like(most, np.nan)
    while True:
        best = np.max(found, initial=-1.0, where=~np.isnan(found))
        near = most >= max(least, best - defaults.COUNT_TOLERANCE)
        open_ = np.where(near & np.isnan(found), most, -np.inf)
        family, i = divmod(int(open_.argmax()), own.count)
        if open_[family, i] == -np.inf:
            return dict(zip(names, found, strict=True))
        name = names[family]
        chance = max(np.mean([copy.agreement(name, i) for copy in copies]) for copies in nulls)
        room = max(1.0 - chance, defaults.LEAST_ROOM)
        found[family, i] = (most[family, i] - chance) / room


# Hypotheses for all numbers -----------------------------------------------------------------------


class Hypotheses:
    """Families of clusterings of a table, made for those numbers that are asked for."""

    def __init__(
        self, Z: np.ndarray, units: np.ndarray, numbers: np.ndarray, rng: np.random.Generator
    ) -> None:
        self.Z, self.units, self.numbers, self.count = Z, units, numbers.tolist(), len(numbers)
        self.rng = rng
        self.known: dict[tuple[str, int], float] = {}

    def agreement(self, family: str, i: int) -> float:
        """Return how far the members of a family agree on the i-th number of clusters."""
        if (family, i) not in self.known:
            labels = [member(i) for member in getattr(self, family)]
            pairs = [overlap(*pair) for pair in combinations(labels, 2)]
            self.known[family, i] = float(np.mean(pairs)) if pairs else 1.0
        return self.known[family, i]

    @cached_property
    def hat(self) -> list[Member]:
        """The hat metric of all columns, of random halves, and of ranks."""
        parts = [(self.Z, 5)]
        for _ in range(defaults.HAT_SPLITS if self.Z.shape[1] > 1 else 0):
            halves = np.array_split(self.rng.permutation(self.Z.shape[1]), 2)
            parts += [(self.Z[:, half], k) for half, k in zip(halves, (5, 10), strict=True)]
        parts.append((self.ranks, 10))
        views = [(hat_view(as_operator(A, scale="unit"), self.numbers[-1]), k) for A, k in parts]
        return [member for view, k in views for member in self.cuts(view, k)]

    @cached_property
    def mixed(self) -> list[Member]:
        """Neighbours in the hat metric and in plain distances, and k-means; also of ranks."""
        found = [self.hat[0]]
        for points in self.few[:2]:
            found += [*self.cuts(plain_view(points), 10), partial(self.centres, points)]
        return found

    @cached_property
    def raw(self) -> list[Member]:
        """Neighbours in principal components of the columns as they are, and k-means on these."""
        points = (self.many[2], self.few[2])
        found = [member for A in points for member in self.cuts(plain_view(A), 5, 10)]
        return [*found, partial(self.centres, self.few[2])]

    @cached_property
    def sparse(self) -> list[Member]:
        """Sparse k-means on columns of unit variance and on ranks."""
        tables = zip((self.Z, self.ranks), self.few[:2], strict=True)
        d = self.Z.shape[1]  # of a narrow table a quarter and a half: all columns are not sparse
        sizes = [min(k, -(-d // s)) for k, s in zip(defaults.SPARSE_COLUMNS, (4, 2), strict=True)]
        return [self.chain(A, B, k) for A, B in tables for k in sizes]

    @cached_property
    def ranks(self) -> np.ndarray:
        """Normal scores of the ranks, columns of unit variance."""
        return dense_columns(normal_scores(self.Z))[0]

    @cached_property
    def many(self) -> list[np.ndarray]:
        """Principal components of columns of unit variance, of ranks, of columns as they are."""
        tables = (self.Z, self.ranks, self.Z * self.units)
        return [components(A, self.rng) for A in tables]

    @property
    def few(self) -> list[np.ndarray]:
        """The leading ones of these."""
        return [points[:, : defaults.FEW_COMPONENTS] for points in self.many]

    def cuts(self, view: View, *neighbours: int) -> list[Member]:
        """Return the spectral clusterings of a view, of one decomposition each."""
        found = view.clusterings(self.numbers[-1], self.rng, *neighbours)
        return [partial(self.labels, one) for one in found]

    def centres(self, points: np.ndarray, i: int) -> np.ndarray:
        """Return k-means clusters for the i-th number."""
        return kmeans(points, self.numbers[i], self.rng, n_starts=defaults.COUNT_STARTS)

    def labels(self, clusterings: SpectralClusterings, i: int) -> np.ndarray:
        """Return the labels for the i-th number."""
        return clusterings.labels(self.numbers[i])

    def chain(self, Z: np.ndarray, points: np.ndarray, n_columns: int) -> Member:
        """Return sparse k-means that starts, for each number, from the columns of the last."""
        found: list[np.ndarray] = []

        def member(i: int) -> np.ndarray:
            nonlocal points
            for c in self.numbers[len(found) : i + 1]:
                labels = kmeans(points, c, self.rng, n_starts=defaults.COUNT_STARTS)
                weights = sparse_weights(Z, labels, n_columns)
                chosen = np.flatnonzero(weights)
                if len(chosen):
                    points = Z[:, chosen] * np.sqrt(weights[chosen])
                    labels = kmeans(points, c, self.rng, n_starts=defaults.COUNT_STARTS)
                found.append(labels)
            return found[i]

        return member


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Return the mean Jaccard index of the clusters of two clusterings, matched one to one."""
    c = int(other.max()) + 1
    joint = np.bincount(one * c + other, minlength=(int(one.max()) + 1) * c).reshape(-1, c)
    share = joint / (joint.sum(axis=1)[:, None] + joint.sum(axis=0) - joint)
    return float(share[linear_sum_assignment(share, maximize=True)].mean())
