"""Families of label hypotheses, and how far each is believed.

The members of a family look at the same table in about the same way. A family is believed as far
as its members agree beyond what they agree on tables without clusters: permuted columns, and
rotated samples. No constant says what a good clustering is.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.extmath import randomized_svd

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import Array, pick_columns, take_rows, to_numpy
from featsieve.arrays.scale import ColumnScale
from featsieve.arrays.threads import run_all
from featsieve.graphs.kmeans import kmeans
from featsieve.hypotheses.pool import Pool, agreement
from featsieve.hypotheses.sparse_kmeans import sparse_kmeans
from featsieve.hypotheses.tables import (
    BLOCK_ELEMENTS,
    dense_columns,
    normal_scores,
    permuted,
    rotated,
)
from featsieve.hypotheses.views import (
    HatMetrics,
    Neighbourhood,
    View,
    hat_view,
    neighbourhoods,
    plain_view,
    product,
    wide_gram,
)

Labels = list[np.ndarray]


@dataclass
class Belief:
    """The families that were looked at: how far their members agree, on the table and by chance."""

    family: list[str] = field(default_factory=list)
    n_members: list[int] = field(default_factory=list)
    agreement: list[float] = field(default_factory=list)
    permuted: list[float] = field(default_factory=list)
    rotated: list[float] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)

    @property
    def credible(self) -> bool:
        """Whether the hat family alone is believed."""
        return len(self.family) == 1

    def excess(self) -> float:
        """Return by how much the members of a family agree beyond chance, at most."""
        chance = np.nanmax([self.permuted, self.rotated], axis=0)
        return float(np.max(np.array(self.agreement) - chance))

    def add(self, name: str, members: Labels, *, by_chance: tuple[float, float]) -> None:
        """Add a family, with the agreement on permuted and on rotated copies (NaN: not made)."""
        own, chance = agreement(members), float(np.nanmax([*by_chance, 0.0]))
        self.family.append(name)
        self.n_members.append(len(members))
        self.agreement.append(own)
        self.permuted.append(by_chance[0])
        self.rotated.append(by_chance[1])
        room = max(1.0 - chance, defaults.LEAST_ROOM)
        self.weight.append(max(0.0, (own - chance) / room))


def hat_hypotheses(
    X: Any,
    operator: DataOperator,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_splits: int = defaults.HAT_SPLITS,
    n_neighbors: int = 5,
    shrinkage: float = 1.0,
    views: list[View] | None = None,
    codes: np.ndarray | None = None,
    n_jobs: int = 1,
) -> tuple[Labels, Belief]:
    """Return the hat family of a table; its weight is one if it is credible.

    ``operator`` is the table X with its columns scaled. Where X is some rows of a table with
    many, ``views`` are the hat views of these rows that all of them determine. ``codes`` are the
    batches that X was corrected for.
    """
    c, k, scale = n_clusters, n_neighbors, operator.scale
    hats = HatFamily(c, k, shrinkage)
    beside = partial(run_all, n_jobs=n_jobs, on_host=operator.on_host)
    ranks, chance, *splits = rng.spawn(3 + n_splits)  # of splits, the first is of all columns

    def by_ranks() -> Labels:
        if views is not None or operator.shape[0] > defaults.CUT_LANDMARKS:
            return []  # of some rows they say little, of many they cost more than they are worth
        table = as_operator(normal_scores(X, codes), scale=scale.by("unit"))
        return hat_view(table, c, shrinkage=shrinkage).cuts_of_some(c, ranks, neighbourhoods(k)[1])

    def by_chance() -> Labels:
        n, enough = operator.shape[0], defaults.CHANCE_SAMPLES
        rows = np.sort(chance.choice(n, enough, replace=False)) if n > enough else None
        shuffled = permuted(X if rows is None else take_rows(X, rows), chance, scale.variables)
        tasks = hats.tasks(shuffled, as_operator(shuffled, scale=scale), chance.spawn(2))
        return [one for labels in beside(tasks) for one in labels]

    tasks = hats.tasks(X, operator, splits) if views is None else hats.view_tasks(views, splits[0])
    of_ranks, on_permuted, *found = beside([by_ranks, by_chance, *tasks])
    hat = [one for labels in found for one in labels]
    belief = Belief()
    belief.add("hat", hat, by_chance=(agreement(on_permuted), np.nan))
    if belief.weight[0] > defaults.CREDIBLE_EXCESS:
        belief.weight[0] = 1.0
    return [*hat, *of_ranks], belief


def first_hypotheses(
    X: Any,
    operator: DataOperator,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_neighbors: int = 5,
    codes: np.ndarray | None = None,
    n_jobs: int = 1,
    **settings: Any,
) -> tuple[Pool, Belief]:
    """Return the hypotheses of a table: the hat family if it is credible, else all families.

    Parameters and further settings are those of :func:`hat_hypotheses`.
    """
    c, scale = n_clusters, operator.scale
    usual: dict[str, Any] = {"n_neighbors": n_neighbors, "codes": codes, "n_jobs": n_jobs}
    members, belief = hat_hypotheses(X, operator, c, rng, **usual, **settings)
    if belief.weight[0] == 1.0:
        return Pool.of(members, c), belief
    pool = [(belief.weight[0], members)]
    table, units, kept = dense_columns(X, scale.variables)
    own, by_permuted, by_rotated = rng.spawn(3)
    look = partial(
        plain_families,
        units=units,
        scale=scale.at(kept),
        codes=getattr(X, "codes", codes),
        n_clusters=c,
        n_neighbors=n_neighbors,
    )
    plain, permuted_plain, rotated_plain = run_all(
        [
            lambda: look(table, own),
            lambda: look(permuted(table, by_permuted, scale.at(kept).variables), by_permuted),
            lambda: look(rotated(table, by_rotated), by_rotated),
        ],
        n_jobs=n_jobs,
    )
    for name, labels in plain.items():
        belief.add(
            name,
            labels,
            by_chance=(agreement(permuted_plain[name]), agreement(rotated_plain[name])),
        )
        pool.append((belief.weight[-1], labels))
    total = sum(belief.weight)
    if total == 0.0:  # nothing agrees beyond chance: the hat family, for what it is worth
        belief.weight[0] = total = 1.0
        pool = [(1.0, members)]
    belief.weight = [weight / total for weight in belief.weight]
    labels = [one for weight, family in pool if weight > 0.0 for one in family]
    weights = [weight / len(f) for weight, f in pool if weight > 0.0 for _ in f]
    return Pool.of(labels, n_clusters, weights=weights), belief


@dataclass(frozen=True)
class HatFamily:
    """Clusters in the hat metric of all columns, and of random halves of them."""

    n_clusters: int
    n_neighbors: int
    shrinkage: float

    def tasks(
        self,
        X: Any,
        operator: DataOperator,
        rngs: list[np.random.Generator],
    ) -> list[Callable[[], Labels]]:
        """Return what finds the labels of all columns, and of two halves for each further rng."""
        whole, *splits = rngs
        metrics = HatMetrics.of(
            operator, self.n_clusters, whole, n_splits=len(splits), shrinkage=self.shrinkage
        )
        if metrics is not None:
            return self.view_tasks(metrics.views(partial(product, operator)), whole)
        gram = wide_gram(operator)
        varying = np.flatnonzero(to_numpy(operator.varies))
        look = partial(self.halves, X, operator.scale, varying, gram)
        halved = [partial(look, rng) for rng in splits if len(varying) > 1]
        few, _ = neighbourhoods(self.n_neighbors)
        return [partial(self.cuts, operator, few, gram, whole), *halved]

    def view_tasks(self, views: list[View], rng: np.random.Generator) -> list[Callable[[], Labels]]:
        """Return what finds the labels of views: of all columns, then of two halves each."""
        c, both = self.n_clusters, neighbourhoods(self.n_neighbors)
        neighbours = [both[0], *(both * (len(views) // 2))]
        return [
            partial(view.cuts, c, own, one)
            for view, own, one in zip(views, rng.spawn(len(views)), neighbours, strict=True)
        ]

    def halves(
        self,
        X: Any,
        scale: ColumnScale,
        varying: np.ndarray,
        gram: Any,
        rng: np.random.Generator,
    ) -> Labels:
        """Return the labels of two random halves of the columns that vary."""
        both, found, rest = neighbourhoods(self.n_neighbors), [], gram
        parts = scale.halves(varying, rng, len(varying) // 2)
        for half, neighbours in zip(map(np.sort, parts), both, strict=True):
            part = as_operator(pick_columns(X, half), scale=scale.at(half))
            own = rest
            if gram is not None and rest is gram:  # K of one half is K less that of the other
                own = part.sample_gram()
                rest = gram - own
            found += self.cuts(part, neighbours, own, rng)
        return found

    def cuts(
        self, operator: DataOperator, neighbours: Neighbourhood, gram: Any, rng: np.random.Generator
    ) -> Labels:
        """Return the clusters of the hat metric of a table, whose Gram matrix may be known."""
        view = hat_view(operator, self.n_clusters, shrinkage=self.shrinkage, gram=gram)
        return view.cuts(self.n_clusters, rng, neighbours)


def plain_families(
    Z: np.ndarray,
    rng: np.random.Generator,
    *,
    units: np.ndarray,
    scale: ColumnScale,
    codes: np.ndarray | None,
    n_clusters: int,
    n_neighbors: int,
) -> dict[str, Labels]:
    """Return the families of plain distances, few components and chosen columns of a table.

    ``Z`` has standardised columns, ``units`` are their deviations in the table as it was given,
    ``codes`` the batches of its rows.
    """
    c, (small, large) = n_clusters, neighbourhoods(n_neighbors)
    R = dense_columns(normal_scores(Z, codes), scale.variables)[0]
    many = [components(A, rng) for A in (Z, R, Z * units)]
    of_Z, of_R, of_raw = few = [points[:, : defaults.FEW_COMPONENTS] for points in many]

    def cuts(points: np.ndarray, *neighbours: Neighbourhood) -> Labels:
        return plain_view(points).cuts(c, rng, *neighbours)

    found: dict[str, Labels] = {}
    found["graph"] = [one for A in (*many[:2], of_Z, of_R) for one in cuts(A, large)]
    found["raw"] = [one for A in (many[2], of_raw) for one in cuts(A, large, small)]
    found["raw"].append(kmeans(of_raw, c, rng))
    found["k-means"] = [kmeans(points, c, rng) for points in (of_Z, of_R, of_Z[:, :10])]
    found["sparse"] = [
        sparse_kmeans(A, points, c, k, rng)
        for A, points in zip((Z, R), few[:2], strict=True)
        for k in defaults.SPARSE_COLUMNS
    ]
    found["modes"] = []
    tied = has_many_ties(Z)
    tied &= 2 * np.count_nonzero(tied) < len(tied)  # where most are (answers), none stands out
    for share in (two_means_share(Z), -np.mean(Z**4, axis=0)):
        order = np.argsort(np.where(tied, np.inf, -share), kind="stable")
        for count in defaults.MODE_COLUMNS:
            chosen = Z[:, order[:count]]
            points = components(chosen, rng)[:, :10]
            found["modes"] += [
                kmeans(chosen, c, rng),
                sparse_kmeans(chosen, points, c, max(1, chosen.shape[1] // 3), rng),
                *cuts(points, large),
            ]
    return found


def components(
    A: np.ndarray, rng: np.random.Generator, *, count: int = defaults.N_COMPONENTS
) -> np.ndarray:
    """Return the leading principal components of centred columns, not scaled."""
    n, d = A.shape
    if min(n, d) > 4 * count:
        U, s, _ = randomized_svd(A, count, n_iter=4, random_state=int(rng.integers(2**31)))
        return (U * s).astype(np.float64)
    if n <= d:
        energy, U = np.linalg.eigh((A @ A.T).astype(np.float64))
        chosen = slice(None, -min(count, n) - 1, -1)
        return U[:, chosen] * np.sqrt(np.maximum(energy[chosen], 0.0))
    V = np.linalg.eigh((A.T @ A).astype(np.float64))[1]
    return A @ V[:, : -min(count, d) - 1 : -1]


def two_means_share(Z: np.ndarray) -> np.ndarray:
    """Return the share of every column's variance that its best cut into two explains.

    Parts hold at least 2 % of the samples, so that an outlier is no mode.
    """
    n = len(Z)
    share = np.empty(Z.shape[1])
    fewest = max(2, round(defaults.SMALLEST_MODE * n))
    count = np.arange(1, n)[fewest - 1 : n - fewest, None]
    for start in range(0, Z.shape[1], step := max(1, BLOCK_ELEMENTS // n)):
        block = np.sort(Z[:, start : start + step].astype(np.float64), axis=0)
        sums = np.cumsum(block, axis=0)
        left = sums[fewest - 1 : n - fewest]
        between = (left - count / n * sums[-1]) ** 2 * n / (count * (n - count))
        total = np.sum(block**2, axis=0) - sums[-1] ** 2 / n
        most = between.max(axis=0, initial=0.0)
        share[start : start + step] = most / np.maximum(total, 1e-300)
    return share


def has_many_ties(Z: np.ndarray) -> np.ndarray:
    """Return which columns have so few different values that they fall into parts by themselves.

    A gene that is zero in most samples does, and no other gene need go along with it.
    """
    values = np.sort(Z, axis=0)
    n_distinct = 1 + np.count_nonzero(np.diff(values, axis=0), axis=0)
    return np.asarray(n_distinct <= defaults.DISTINCT_SHARE * len(Z))


def second_sizes(n_columns: int) -> list[int]:
    """Return the numbers of selected columns that the second stage looks at."""
    sizes: tuple[int, ...] = defaults.SECOND_SIZES
    if n_columns <= defaults.NARROW_SECOND:
        sizes = tuple(max(2, round(n_columns / part)) for part in (8, 3))
    return sorted({min(size, n_columns) for size in sizes})


def second_hypotheses(
    columns: Callable[[int], Array],
    n_columns: int,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_neighbors: int = 5,
    shrinkage: float = 1.0,
    n_jobs: int = 1,
    on_host: bool = True,
) -> Pool:
    """Return hypotheses that look at the selected columns alone.

    ``columns(k)`` are the first k selected columns, scaled; ``n_columns`` is that of the table.
    """
    c, both = n_clusters, neighbourhoods(n_neighbors)

    def look(size: int, rng: np.random.Generator) -> Labels:
        chosen = columns(size)
        table = as_operator(chosen, scale="none")
        gram = wide_gram(table)
        found = plain_view(chosen).cuts_of_some(c, rng, both[1])
        for factor in defaults.SECOND_SHRINKAGE:
            view = hat_view(table, c, shrinkage=factor * shrinkage, gram=gram)
            found += view.cuts_of_some(c, rng, *both)
        return [*found, kmeans(to_numpy(chosen), c, rng)]

    sizes = second_sizes(n_columns)
    tasks = [partial(look, *pair) for pair in zip(sizes, rng.spawn(len(sizes)), strict=True)]
    found = run_all(tasks, n_jobs=n_jobs, on_host=on_host)
    return Pool.of([one for labels in found for one in labels], n_clusters)


def table_labels(X: Any, n_clusters: int, *, random_state: np.random.RandomState) -> np.ndarray:
    """Return the consensus of the first hypotheses of a table (of not too many rows)."""
    rng = np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    pool, _ = first_hypotheses(X, as_operator(X, scale="unit"), n_clusters, rng)
    return pool.consensus(rng)
