"""A catalogue of planted tables of many kinds, so that figures of methods compare.

Unless its kind says otherwise a table has 150 rows, 300 columns of standard normal noise and four
balanced clusters; 15 columns are shifted by cluster means drawn from N(0, 1.5²). The positions of
the columns are random.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from featsieve.datasets.synthetic import Planted

Noise = Callable[[np.ndarray, np.random.RandomState], None]
FIRST_SPOILT = 150  # the first column of heavy tails


@dataclass(frozen=True)
class Kind:
    """What differs from a plain table: its size, the signal, the noise, the units."""

    n_samples: int = 150
    n_features: int = 300
    n_informative: int = 15
    sizes: tuple[float, ...] = (1, 1, 1, 1)  # of the clusters, in proportion
    signal: float = 1.5
    spoil: Noise | None = None  # changes columns of noise in place
    units: bool = False
    binary: bool = False


def _blocks(count: int) -> Noise:
    """Return noise in which ``count`` blocks of 15 columns have a factor each in common."""

    def spoil(X: np.ndarray, rng: np.random.RandomState) -> None:
        for start in range(50, 50 + 15 * count, 15):
            factor = rng.standard_normal((len(X), 1))
            X[:, start : start + 15] *= np.sqrt(0.2)
            X[:, start : start + 15] += np.sqrt(0.8) * factor

    return spoil


def _autoregressive(X: np.ndarray, rng: np.random.RandomState) -> None:
    """Make every column from the 17th on .9 times its left neighbour plus noise."""
    for j in range(16, X.shape[1]):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]


def _student(X: np.ndarray, rng: np.random.RandomState) -> None:
    """Give half of the columns the tails of t with 1.5 degrees of freedom."""
    X[:, FIRST_SPOILT:] = rng.standard_t(1.5, X[:, FIRST_SPOILT:].shape)


def _lognormal(X: np.ndarray, rng: np.random.RandomState) -> None:
    """Make half of the columns log-normal."""
    X[:, FIRST_SPOILT:] = np.exp(1.5 * X[:, FIRST_SPOILT:])


KINDS = {
    "iid15": Kind(),
    "iid40": Kind(n_informative=40),
    "blocks5": Kind(spoil=_blocks(5)),
    "blocks2": Kind(spoil=_blocks(2)),
    "ar1": Kind(spoil=_autoregressive),
    "t1.5": Kind(spoil=_student),
    "lognormal": Kind(spoil=_lognormal),
    "units15": Kind(units=True),
    "units40": Kind(n_informative=40, units=True),
    "binary": Kind(binary=True),
    "rare": Kind(n_samples=300, sizes=(0.5, 0.3, 0.17, 0.03), signal=2.0),
    "tall": Kind(n_samples=600, n_features=60, n_informative=8, signal=1.2),
    "wide20of1000": Kind(n_features=1000, n_informative=20, signal=2.0),
    "60x2000": Kind(n_samples=60, n_features=2000, sizes=(1, 1, 1), signal=2.5),
}


def planted_kinds() -> list[str]:
    """Return the kinds of tables that `make_catalogue_table` knows.

    Returns
    -------
    list of str
        ``iid15`` and ``iid40`` (that many informative columns); ``blocks2`` and ``blocks5``
        (blocks of 15 correlated columns of noise), ``ar1`` (every column correlates with its
        neighbour), ``t1.5`` and ``lognormal`` (half of the columns have heavy tails), ``units15``
        and ``units40`` (columns in units between 1/1000 and 1000), ``binary`` (0/1, with one-hot
        groups among the noise), ``rare`` (a cluster of 3 %), ``tall`` (600 x 60),
        ``wide20of1000``, ``60x2000``.

    Examples
    --------
    >>> from featsieve.datasets import planted_kinds
    >>> len(planted_kinds()), planted_kinds()[:3]
    (14, ['iid15', 'iid40', 'blocks5'])
    """
    return list(KINDS)


def make_catalogue_table(
    kind: str, *, random_state: int | np.random.RandomState | None = None
) -> Planted:
    """Make a planted table of a kind on which methods are compared.

    Parameters
    ----------
    kind : str
        One of `planted_kinds`.
    random_state : int, RandomState or None

    Returns
    -------
    Planted
        The table with its truth.

    See Also
    --------
    make_planted : Tables of any size.

    Examples
    --------
    >>> from featsieve.datasets import make_catalogue_table
    >>> planted = make_catalogue_table("rare", random_state=0)
    >>> planted.X.shape, int(planted.informative.sum()), np.bincount(planted.labels)
    ((300, 300), 15, array([150,  90,  51,   9]))
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    rng, made = check_random_state(random_state), KINDS[kind]
    n, d, m, c = made.n_samples, made.n_features, made.n_informative, len(made.sizes)
    ends = np.cumsum(made.sizes) / np.sum(made.sizes) * n
    labels = rng.permutation(np.searchsorted(np.round(ends), np.arange(n), side="right"))
    if made.binary:
        X = _binary(labels, d, m, rng)
    else:
        X = rng.standard_normal((n, d))
        if made.spoil is not None:
            made.spoil(X, rng)
        X[:, :m] += (made.signal * rng.standard_normal((c, m)))[labels]
    if made.units:
        X *= 10.0 ** rng.uniform(-3.0, 3.0, d)
    order = rng.permutation(d)
    return Planted(X[:, order], labels, order < m, np.zeros(d, dtype=bool))


def _binary(labels: np.ndarray, d: int, m: int, rng: np.random.RandomState) -> np.ndarray:
    """Return columns 0/1 of rates .05 to .5, m of .1 or .8 by cluster, ten one-hot groups of 5."""
    n, c = len(labels), labels.max() + 1
    X = rng.random_sample((n, d)) < rng.uniform(0.05, 0.5, d)
    high = rng.random_sample((c, m)) < 0.5
    alike = np.flatnonzero(high.all(axis=0) | ~high.any(axis=0))
    high[rng.randint(c, size=len(alike)), alike] ^= True
    X[:, :m] = rng.random_sample((n, m)) < np.where(high, 0.8, 0.1)[labels]
    for start in range(50, 100, 5):
        X[:, start : start + 5] = np.eye(5, dtype=bool)[rng.randint(5, size=n)]
    return X.astype(np.float64)


def make_cells(
    n_cells: int = 2000,
    n_genes: int = 10_000,
    *,
    fold_changes: tuple[float, float] = (1.2, 3.0),
    n_markers: int = 40,
    smallest_marker_mean: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Planted:
    """Simulate the counts of single cells of seven types.

    Counts are negative binomial: gene means log-normal(-1.6, 1.6), dispersions gamma(2), depths of
    the cells log-normal(0, 0.4). The types have shares of 30 to 3 %, and markers of their own,
    which only they express more.

    Parameters
    ----------
    n_cells, n_genes : int
        Shape of the table.
    fold_changes : tuple of float, default=(1.2, 3.0)
        Range of the (natural) log fold changes of the markers, which are uniform in it.
    n_markers : int, default=40
        Markers of each type.
    smallest_marker_mean : float, default=0.0
        Markers are genes of at least this mean. Genes of which a cell has a count in a hundred
        cannot be told from noise, even where the types are known.
    random_state : int, RandomState or None

    Returns
    -------
    Planted
        ``X`` holds the raw counts, ``informative`` the markers.

    Examples
    --------
    >>> from featsieve.datasets import make_cells
    >>> cells = make_cells(300, 500, n_markers=10, random_state=0)
    >>> cells.X.shape, int(cells.informative.sum()), sorted(set(cells.labels.tolist()))
    ((300, 500), 70, [0, 1, 2, 3, 4, 5, 6])
    """
    rng = check_random_state(random_state)
    share = np.array([0.30, 0.25, 0.18, 0.12, 0.08, 0.04, 0.03])
    means = np.exp(rng.normal(-1.6, 1.6, n_genes))
    shape = rng.gamma(2.0, size=n_genes)
    expressed = np.flatnonzero(means >= smallest_marker_mean)
    if len(share) * n_markers > len(expressed):
        raise ValueError(
            f"{len(share)} types of {n_markers} markers need {len(share) * n_markers} genes; only "
            f"{len(expressed)} of {n_genes} have a mean of at least {smallest_marker_mean}."
        )
    labels = rng.choice(len(share), n_cells, p=share)
    markers = rng.choice(expressed, (len(share), n_markers), replace=False)
    of_type = np.tile(means, (len(share), 1))
    for mean, own in zip(of_type, markers, strict=True):
        mean[own] *= np.exp(rng.uniform(*fold_changes, n_markers))
    depth = np.exp(rng.normal(0.0, 0.4, (n_cells, 1)))
    X = rng.poisson(rng.gamma(shape, of_type[labels] * depth / shape)).astype(np.float64)
    informative = np.zeros(n_genes, dtype=bool)
    informative[markers.ravel()] = True
    return Planted(X, labels, informative, np.zeros(n_genes, dtype=bool))
