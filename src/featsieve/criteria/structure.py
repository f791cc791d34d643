"""Is there structure, and is it clusters: a table beside copies of itself that have none."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import is_sparse, pick_columns
from featsieve.arrays.scale import one_column_each
from featsieve.arrays.threads import one_thread
from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.valleys import valleys
from featsieve.graphs.affinity import self_tuning_graph
from featsieve.graphs.kmeans import kmeans
from featsieve.graphs.spectral_labels import SpectralClusterings
from featsieve.hypotheses.families import components, has_many_ties, two_means_share
from featsieve.hypotheses.pool import mutual_information
from featsieve.hypotheses.sparse_kmeans import sparse_weights
from featsieve.hypotheses.tables import (
    RotatedCopies,
    dense_columns,
    normal_scores,
    smoothed_scores,
    stored_entries,
)
from featsieve.hypotheses.views import View, hat_view, plain_view
from featsieve.progress import SILENT, FitProgress
from featsieve.validation import check_number, check_table, check_varying, warn

FEWEST_SAMPLES = 10
# Halves of fewer columns than this are no table.
FEWEST_SPLIT = 4
# Steps of sparse k-means: the columns hardly change after the first.
SPARSE_STEPS = 3

WHAT_TO_DO = (
    "Features are ranked all the same, but a selection means little: look at the first principal "
    "components before you speak of types. Columns that are about something else (dates, numbers "
    "of rows, settings) can hide groups: leave them out."
)


class NoStructureWarning(UserWarning):
    """The table shows no more clusters than chance: a selection from it means little."""


@dataclass(frozen=True, eq=False)
class StructureTest:
    """Whether a table has clusters, correlated columns without groups, or nothing.

    Attributes
    ----------
    verdict : {"clusters", "gradient", "nothing"}
        "clusters": there are groups beyond both kinds of copies. "gradient": beyond permuted
        columns only; columns are correlated, but the samples are no more clustered than a continuum
        with the same correlations. "nothing": chance would give as much.
    p_permuted, p_rotated : float
        Share of copies (this table counted in) that reach the value of the table. The first asks
        whether columns depend on one another, the second whether there are groups beyond that; it
        is asked (not NaN) only where they do.
    value_permuted, value_rotated : float
        By how many standard deviations groupings agree more than on the copies, for the number of
        groups where this is most. Beside permuted columns leading components may vary more; beside
        rotated samples of a narrow table, it is how far the density falls between groups. Beyond 6
        deviations nothing more is compared.
    null_permuted, null_rotated : ndarray
        The same of every copy beside the others: what chance reaches (empty where not asked).
    n_samples, n_features : int
        Rows and columns that were looked at, of those of the table (``table_shape``).
    level : float
        The verdict's level.
    """

    verdict: str
    p_permuted: float
    p_rotated: float
    value_permuted: float
    value_rotated: float
    null_permuted: np.ndarray
    null_rotated: np.ndarray
    n_samples: int
    n_features: int
    table_shape: tuple[int, int]
    level: float

    @property
    def answer(self) -> str:
        """The verdict in a few words."""
        return {"gradient": "a gradient, not groups"}.get(self.verdict, self.verdict)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return {
            "clusters": "The samples form clusters: groups of samples stand out more than in "
            f"shuffled copies of the table (p = {self.p_permuted:.2g}), and more than in copies "
            f"with the same correlations but without groups (p = {self.p_rotated:.2g}).",
            "gradient": "A gradient, not groups: columns are correlated "
            f"(p = {self.p_permuted:.2g}), but the samples are no more clustered than in copies "
            f"with the same correlations and without groups (p = {self.p_rotated:.2g}).",
            "nothing": "Nothing that chance would not give: columns are no more correlated, and "
            "groups of samples stand out no more, than in shuffled copies of the table "
            f"(p = {self.p_permuted:.2g}).",
        }[self.verdict] + self._looked_at

    @property
    def _looked_at(self) -> str:
        """What of the table was looked at, if not all, and whether that is little."""
        (n, d), few = self.table_shape, ""
        p, null = self.p_permuted, self.null_permuted
        if p <= self.level:
            p, null = self.p_rotated, self.null_rotated
        count = len(null)
        if p * (count + 1) < 1.5:  # a share of count + 1 tables
            few = f" With {count} copies, p cannot be less than {p:.2g}."
        if self.verdict == "gradient" and self.p_rotated <= 2.0 * self.level:
            few += " That is close: other random states, or more copies, may answer otherwise."
        if self.n_samples < defaults.STRUCTURE_FEW and self.verdict != "clusters":
            few += " So few rows seldom show clusters."
        parts = [f"{self.n_samples:,} of {n:,} rows"] if self.n_samples < n else []
        parts += [f"{self.n_features:,} of {d:,} columns"] if self.n_features < d else []
        return few + (f" ({' and '.join(parts)} were looked at.)" if parts else "")

    def summary(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it: what was not asked is None."""
        own = {name: np.asarray(value).tolist() for name, value in asdict(self).items()}
        own = {name: None if value != value else value for name, value in own.items()}
        return own | {"answer": self.answer, "sentence": self.sentence}

    def __repr__(self) -> str:
        return f"<StructureTest: {self.sentence}>"


def structure_test(
    X: Any,
    *,
    n_tables: int = defaults.STRUCTURE_TABLES,
    level: float = defaults.STRUCTURE_LEVEL,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> StructureTest:
    """Test whether a table has clusters, correlated columns without groups, or nothing.

    The samples are grouped in several ways (neighbour graphs, k-means, sparse k-means; on all
    columns, on halves of them, on those that tell these groups best apart, and on those whose
    values fall most clearly into two parts) into 2, 4 and 8.
    Groups that are there are found by all of them. How far they agree is compared with two kinds
    of copies:

    - every column permuted by itself: the same columns, independent (the variance of the leading
      principal components counts here, too);
    - samples rotated: the same columns with the same correlations, but a continuum. How far the
      density falls between k-means clusters, of 2, 3, 4 or 6, counts here, too (not in tables
      that were corrected for batches); in tables of up to 20 columns, where groupings of a
      continuum often agree as well, nothing else.

    What is far beyond all copies by the first of these comparisons needs no other.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table, also a torch, CuPy or Dask array; at least 10 rows and two columns that vary. Of
        more than 300 rows a random 300 are looked at, and of these 1.5 million entries at most: a
        random choice of the columns (of sparse tables those with the most entries). Rows that are
        repeated in a table without other ties count once, if at least half of the rows differ.
    n_tables : int, default=19
        Copies of each kind: 19 are the fewest that can be significant at 0.05. Where at most 3 of
        them (p <= 0.2) reach the table, and it is not far beyond all, 80 more are drawn, and the
        answer is that of 99; other numbers in the same way.
    level : float, default=0.05
        Level of both tests.
    random_state : int, RandomState instance or None, default=0
        Seeds the copies, k-means and the choice of rows.
    n_jobs : int, optional
        Processes that copies are looked at in; as in scikit-learn.
    verbose : int, default=0
        Whether to print progress.

    Returns
    -------
    StructureTest
        ``verdict``, ``sentence``, both p-values, and the values of the copies.

    Notes
    -----
    Values are ranks of the columns (normal scores), so that units and tails do not matter; only
    which columns fall into two parts is found from their own values, one column at a time. Copies
    have the same columns, so that this choice favours none of them. Ranks close the gaps inside of
    columns: where narrow tables are rotated, scores are those of a smoothed distribution.

    The rotation is that of Langsrud (2005) with the question of SigClust (Liu et al. 2008): a thin
    decomposition U S V' of the table, U replaced by the Q factor of a random matrix: Gaussian, but
    for tables that are spread more evenly than that along leading directions, or whose rows are
    far out in many columns at once. Columns with ties get their own values back, and the leading
    directions are strengthened by what the correlations lose by that.

    A curved gradient (an arch, a ring) is called clusters: no test of this kind tells bends from
    groups. Clusters that are faint, or few rows in few columns, may be called a gradient or
    nothing: docs/inference.md has the rates.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.tuning import structure_test
    >>> planted = make_planted(n_samples=120, n_features=50, n_clusters=4, random_state=0)
    >>> structure_test(planted.X).verdict
    'clusters'
    >>> rng = np.random.default_rng(2)
    >>> structure_test(rng.standard_normal((120, 50))).verdict
    'nothing'
    """
    check_number("n_tables", n_tables, low=1, integer=True)
    check_number("level", level, low=0.0, strict=True, below=1.0)
    if (n_tables + 1) * level < 1.0 - 1e-9:
        raise ValueError(
            f"With {n_tables} copies no p-value is below {1 / (n_tables + 1):.2g}: a test at level "
            f"{level:g} needs n_tables={ceil(1 / level - 1e-9) - 1} at least."
        )
    X = check_table(X, owner="structure_test")
    check_varying(X)
    progress = FitProgress("structure_test", verbose)
    found = find_structure(X, n_tables, level, random_state, n_jobs=n_jobs, progress=progress)
    if found is None:
        raise ValueError(
            f"structure_test needs at least {FEWEST_SAMPLES} rows and two columns that vary (in "
            f"the {defaults.STRUCTURE_SAMPLES} rows that it looks at, of more); X has "
            f"{X.shape[0]} rows and {X.shape[1]} columns: fewer cannot show clusters beyond chance."
        )
    return found


def find_structure(
    X: Any,
    n_tables: int = defaults.STRUCTURE_TABLES,
    level: float = defaults.STRUCTURE_LEVEL,
    random_state: Any = 0,
    *,
    codes: np.ndarray | None = None,
    variables: np.ndarray | None = None,
    n_jobs: int | None = None,
    progress: FitProgress = SILENT,
) -> StructureTest | None:
    """Return what :func:`structure_test` does, of a checked table; None where it is too small.

    ``codes`` are the batches that it was corrected for; ``variables`` of several columns count as
    one.
    """
    shape, random_state = X.shape, check_random_state(random_state)
    X, rows = sample_rows(X, random_state, most=defaults.STRUCTURE_SAMPLES)
    columns, X = X, one_column_each(X, variables)
    shape = (shape[0], X.shape[1])
    rng = np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    codes = getattr(X, "codes", codes if codes is None or rows is None else codes[rows])
    scores, modal, values = scores_of(X, rng, codes)
    if scores.shape[0] < FEWEST_SAMPLES or scores.shape[1] < 2:
        return None

    def beyond(
        table: np.ndarray,
        draw: Callable[[np.random.Generator], np.ndarray],
        measures: Sequence[Callable[..., np.ndarray]],
        what: str,
    ) -> np.ndarray:
        """Return by how much a table, and each of its copies, is beyond all others.

        Measures are taken one after the other, until the table is clearly beyond its copies; where
        it is not, but near to it, more copies decide.
        """

        def of_copies(measure: Callable[..., np.ndarray], count: int) -> list[np.ndarray]:
            """Measure the first or the last copies that there are: the same for all measures."""
            own = deepcopy(rngs[:n_tables] if count == n_tables else rngs[n_tables:])
            with one_thread():
                tasks = (delayed(measure)(draw(one), rng=one) for one in own)
                # not every backend can count: only where somebody looks
                kind = "generator" if progress.verbose else "list"
                found = Parallel(n_jobs, return_as=kind)(tasks)
                return [*progress.counted(found, count, what="copies")]

        progress.step(f"{n_tables} copies {what}, of {table.shape[0]} x {table.shape[1]}")
        rngs = rng.spawn(n_tables)
        values = np.empty((1 + n_tables, 0))
        for measure in measures:
            with one_thread():
                own = measure(table, rng=rng)
            values = np.hstack([values, [own, *of_copies(measure, n_tables)]])
            found = beyond_others(values)
            if found[0] > max(defaults.CLEARLY_BEYOND, found[1:].max()):
                return found
        if share_beyond(found) <= defaults.CLOSE_LEVELS * level:
            n_more = (defaults.STRUCTURE_MORE - 1) * (n_tables + 1)
            progress.step(f"{n_more} more, since that is close")
            rngs += rng.spawn(n_more)
            more = np.hstack([of_copies(measure, n_more) for measure in measures])
            found = beyond_others(np.vstack([values, more]))
        return found

    def shuffle(rng: np.random.Generator) -> np.ndarray:
        """Permute every column inside of the batches: corrected rows of a batch are no others'."""
        found = np.empty_like(scores)
        for own in [slice(None)] if codes is None else map(codes.__eq__, np.unique(codes)):
            found[own] = rng.permuted(scores[own], axis=0)
        return found

    most = max(2, len(scores) // defaults.STRUCTURE_GROUP)
    numbers = [c for c in defaults.STRUCTURE_NUMBERS if c <= most]
    first = numbers[len(numbers) // 2]  # 4, which most clear groups show in
    others = [c for c in numbers if c != first]
    groupings = [partial(agreements, numbers=[first])]
    groupings += [partial(agreements, numbers=others)] if others else []
    groupings.append(partial(agreements_in_parts, numbers=numbers, modal=modal))
    permuted = beyond(scores, shuffle, [energies, *groupings], "with permuted columns")
    rotated = np.array([np.nan])  # a continuum of independent columns is nothing to ask about
    p_permuted, p_rotated = share_beyond(permuted), np.nan
    verdict = "nothing"
    if p_permuted <= level:
        if variables is not None and X is not columns:
            X = one_column_each(columns, variables, categories_apart(columns, variables, rng))
            scores, modal, values = scores_of(X, rng, codes)
            groupings[-1] = partial(agreements_in_parts, numbers=numbers, modal=modal)
        narrow = codes is None and scores.shape[1] <= defaults.STRUCTURE_NARROW
        table = smoothed_scores(values) if narrow else scores
        copies = RotatedCopies(table, rng)
        groups_apart = partial(valleys, leading=copies.leading, parallel=copies.parallel)
        # components show groups beside factors that move many columns, groupings those of few
        measures = [] if codes is not None else [groups_apart]
        measures += [] if narrow else groupings
        rotated = beyond(table, copies.draw, measures, "with the same correlations")
        p_rotated = share_beyond(rotated)
        verdict = "clusters" if p_rotated <= level else "gradient"
    return StructureTest(
        verdict=verdict,
        p_permuted=p_permuted,
        p_rotated=p_rotated,
        value_permuted=float(permuted[0]),
        value_rotated=float(rotated[0]),
        null_permuted=permuted[1:],
        null_rotated=rotated[1:],
        n_samples=scores.shape[0],
        n_features=scores.shape[1],
        table_shape=shape,
        level=level,
    )


def categories_apart(X: Any, variables: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return components of the rows by variables of one column, or by all where there are none."""
    _, owner, counts = np.unique(variables, return_inverse=True, return_counts=True)
    single = np.flatnonzero(counts[owner] == 1)
    table = X if len(single) < 2 else pick_columns(X, single)
    scores = dense_columns(normal_scores(dense_columns(table)[0]))[0]
    return components(scores, rng, count=defaults.STRUCTURE_COMPONENTS)


def share_beyond(values: np.ndarray) -> float:
    """Return the share of tables that reach the first, itself counted in: its p-value."""
    return float(np.mean(values >= values[0]))


def scores_of(
    X: Any, rng: np.random.Generator, codes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return normal scores, of unit variance, of the columns that vary (some of very many).

    With them come the positions of those without many ties, by how clearly their values fall into
    two parts (a column of few values does so by itself), and the values.
    """
    n, d = X.shape
    most = max(2, defaults.STRUCTURE_ENTRIES // n)
    if d > most:
        columns = rng.permutation(d)
        if is_sparse(X):  # those with the most entries: others can tell no group
            columns = columns[np.argsort(-stored_entries(X)[columns], kind="stable")]
        X = pick_columns(X, np.sort(columns[:most]))
    values = dense_columns(X)[0]
    scores, _, kept = dense_columns(normal_scores(values, codes))  # ranks may vary in no batch
    values = values[:, kept]
    rows = np.sort(np.unique(scores, axis=0, return_index=True)[1])
    if codes is None and len(scores) / 2 <= len(rows) < len(scores):
        once = np.sort(scores[rows], axis=0)
        if (np.diff(once, axis=0) > 0.0).all(axis=0).any():  # no two rows agree by chance
            values = dense_columns(values[rows])[0]  # twins would be groups of two
            scores = dense_columns(normal_scores(values))[0]
    order = rng.permutation(values.shape[1])  # equal ones go by chance
    order = order[~has_many_ties(scores)[order]]
    modal = order[np.argsort(-two_means_share(values[:, order]), kind="stable")]
    return scores, modal, values


def beyond_others(values: np.ndarray) -> np.ndarray:
    """Return the largest of some statistics of every table, in deviations beyond the others.

    The table and its copies are treated alike, each beside all others: where they are exchangeable
    ranks of the result have exact p-values. Statistics that vary less than ``LEAST_SPREAD`` are not
    blown up: one copy that differs a little would be beyond everything.
    """
    n = len(values)
    mean = (values.sum(axis=0) - values) / (n - 1)
    square = ((values**2).sum(axis=0) - values**2) / (n - 1)
    deviation = np.maximum(np.sqrt(np.maximum(square - mean**2, 0.0)), defaults.LEAST_SPREAD)
    return np.asarray(((values - mean) / deviation).max(axis=1))


def agreements(R: np.ndarray, rng: np.random.Generator, *, numbers: Sequence[int]) -> np.ndarray:
    """Return how far groupings of the samples agree, for each number of groups.

    The mean mutual information of groupings of the whole table, of the hat metrics of two halves of
    the columns, and of those columns that have most of their variance between the former groups.
    """
    d = R.shape[1]
    points = components(R, rng, count=defaults.FEW_COMPONENTS)
    few = points[:, : defaults.STRUCTURE_COMPONENTS]
    tables = [R]
    if d >= FEWEST_SPLIT:
        tables += [R[:, np.sort(half)] for half in np.array_split(rng.permutation(d), 2)]
    hats = [hat_view(as_operator(one, scale="unit"), numbers[-1]) for one in tables]
    cuts = [clusterings(view, numbers[-1], rng) for view in (plain_view(points), *hats)]
    n_telling = min(d, max(4, min(defaults.SECOND_SIZES[0], d // 8)))
    found: list[float] = []
    for c in numbers:
        first = [cut.labels(c) for cut in cuts]
        apart, first = first[2:], first[:2]
        first.append(kmeans(few, c, rng))
        first.append(sparse(R, first[-1], c, defaults.SPARSE_COLUMNS[0], rng))
        shown = sum(sparse_weights(R, labels, d) for labels in first)  # between the clusters
        telling = np.argpartition(-shown, n_telling - 1)[:n_telling]
        found += [agreement_of(one) for one in (first, apart) if one]
        found += agreements_by(R[:, telling], [c], rng)
    return np.array(found)


def agreements_in_parts(
    R: np.ndarray, rng: np.random.Generator, *, numbers: Sequence[int], modal: np.ndarray
) -> np.ndarray:
    """Return how far groupings by the first of the columns ``modal`` agree.

    These were chosen by what no copy changes, the values of each column by itself: they are the
    same in all copies. Sizes make one statistic: several would dilute the others.
    """
    sizes = sorted({min(count, len(modal) // 2) for count in defaults.MODE_COLUMNS} - {0, 1})
    found = [agreements_by(R[:, modal[:size]], numbers, rng) for size in sizes]
    return np.mean(found, axis=0) if found else np.empty(0)


def agreements_by(R: np.ndarray, numbers: Sequence[int], rng: np.random.Generator) -> list[float]:
    """Return how far groupings by a few columns agree, for each number of groups."""
    points = components(R, rng, count=defaults.STRUCTURE_COMPONENTS)
    cut = clusterings(plain_view(points), numbers[-1], rng)
    found = []
    for c in numbers:
        labels = [cut.labels(c), kmeans(points, c, rng)]
        labels.append(sparse(R, labels[-1], c, R.shape[1] // 3, rng))
        found.append(agreement_of(labels))
    return found


def energies(R: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return shares of variance of one and of a few components; logarithms of any vary alike."""
    few = components(R, rng, count=defaults.FEW_COMPONENTS)[:, : defaults.STRUCTURE_COMPONENTS]
    energy = np.log(np.cumsum(np.sum(few**2, axis=0)) / R.size)
    return np.array([energy[0], energy[-1]])


def clusterings(view: View, most: int, rng: np.random.Generator) -> SpectralClusterings:
    """Return the spectral clusterings of a view, for up to ``most`` clusters."""
    links = max(2, min(10, len(view.distances.rounding) // 3))
    graph = self_tuning_graph(view.distances, n_neighbors=links)
    seeds = np.random.RandomState(int(rng.integers(2**31)))
    return SpectralClusterings(graph, most, random_state=seeds)


def sparse(
    Z: np.ndarray, labels: np.ndarray, n_clusters: int, n_columns: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the labels of a few steps of sparse k-means from given ones, on few columns."""
    d = Z.shape[1]
    n_columns = max(2, min(n_columns, d // 3))
    for _ in range(SPARSE_STEPS if n_columns < d else 0):
        weights = sparse_weights(Z, labels, n_columns)
        chosen = np.flatnonzero(weights)
        if len(chosen) == 0:
            break
        points = Z[:, chosen] * np.sqrt(weights[chosen])
        labels = kmeans(points, n_clusters, rng, n_starts=1, starts=[labels])
    return labels


def agreement_of(labels: list[np.ndarray]) -> float:
    """Return the mean mutual information of two of some groupings."""
    return float(np.mean([mutual_information(*pair) for pair in combinations(labels, 2)]))


_TESTING = ContextVar("featsieve_testing", default=True)


@contextmanager
def untested() -> Iterator[None]:
    """Fit without a test of structure: one of many fits, of which another one has it."""
    token = _TESTING.set(False)
    try:
        yield
    finally:
        _TESTING.reset(token)


def is_testing() -> bool:
    """Say whether a fit with automatic numbers is to test for structure."""
    return _TESTING.get()


def warn_without_structure(X: Any, **settings: Any) -> StructureTest | None:
    """Test a checked table, and warn where it has no clusters.

    None where it is too small, or somebody else tests (:func:`untested`).
    """
    if not is_testing():
        return None
    found = find_structure(X, **settings)
    words = (
        f"There are fewer than {FEWEST_SAMPLES} rows, or than two columns that vary: too few to "
        "test for clusters."
    )
    if found is None or found.verdict != "clusters":
        words = words if found is None else found.sentence
        warn(f"{words} {WHAT_TO_DO}", NoStructureWarning)
    return found
