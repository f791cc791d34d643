"""What an iteration of a method cannot avoid, as bare NumPy calls, and the methods' own iterations.

Z is the standardised table (n x d), E the diagonal weights of the features, c the number of
clusters. The forms are those of the smaller matrix: n x n where d > n, d x d otherwise.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import featsieve
from peer_cases import Table

Work = Callable[[], object]


def given_labels(table: Table) -> dict[str, Any]:
    """Start from the table's labels."""
    return {"init": table.labels, "random_state": 0}


@dataclass(frozen=True)
class Method:
    """An estimator, and the products of one of its iterations for either shape of the table."""

    name: str
    wide: Callable[[Table], list[Work]]
    tall: Callable[[Table], list[Work]]
    wide_text: str
    tall_text: str
    settings: Callable[[Table], dict[str, Any]] = given_labels
    steps: Callable[[Any], int] = lambda state: 1  # that the last iteration consisted of
    most: int = 100  # iterations that are measured

    def products(self, table: Table) -> tuple[list[Work], str]:
        """Return the products for a table, and their names."""
        is_wide = table.X.shape[1] > table.X.shape[0]
        works = (self.wide if is_wide else self.tall)(table)
        return works, self.wide_text if is_wide else self.tall_text

    def iterations(self, table: Table, count: int) -> list[float]:
        """Return the seconds of every iteration of a fit but the first."""
        stamps: list[float] = []
        steps: list[int] = []

        def record(iteration: int, value: float, state: Any) -> None:
            stamps.append(time.perf_counter())
            steps.append(self.steps(state))

        sieve = getattr(featsieve, self.name)(
            table.n_clusters,
            max_iter=min(count, self.most),
            tol=0.0,
            callback=record,
            **self.settings(table),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sieve.fit(table.X)
        return list(np.diff(stamps) / np.array(steps[1:]))


def given_labels_and_size(table: Table) -> dict[str, Any]:
    """Start from the table's labels; the size of the group decides the work."""
    return {**given_labels(table), "n_features_to_select": table.n_selected}


def sample_ridge(table: Table, *, times: int = 1) -> list[Work]:
    """Z E Z' (n x n), one solve with it, Z'V."""
    Z, c, n, d = _sizes(table)
    rng = np.random.default_rng(0)
    root, V, shift = np.sqrt(rng.random(d)), rng.standard_normal((n, c)), n * np.eye(n)
    block = np.empty_like(Z)

    def gram() -> np.ndarray:
        np.multiply(Z, root, out=block)
        return block @ block.T

    return times * [lambda: np.linalg.solve(gram() + shift, V), lambda: Z.T @ V]


def gram_ridge(table: Table, *, times: int = 1) -> list[Work]:
    """One solve with Z'Z (formed once) plus a diagonal, Z'T, ZW."""
    Z, c, n, d = _sizes(table)
    rng = np.random.default_rng(0)
    gram, right = Z.T @ Z + n * np.eye(d), rng.standard_normal((d, c))
    target = rng.standard_normal((n, c))
    return times * [lambda: np.linalg.solve(gram, right), lambda: Z.T @ target, lambda: Z @ right]


def weighted_gram_ridge(table: Table, *, times: int) -> list[Work]:
    """Z'PZ with new weights of the samples, one solve with it, Z'PT, ZW."""
    Z, c, n, d = _sizes(table)
    rng = np.random.default_rng(0)
    root, right = np.sqrt(rng.random(n))[:, None], rng.standard_normal((d, c))
    target, shift = rng.standard_normal((n, c)), n * np.eye(d)
    block = np.empty_like(Z)

    def gram() -> np.ndarray:
        np.multiply(Z, root, out=block)
        return block.T @ block

    solve: Work = lambda: np.linalg.solve(gram() + shift, right)  # noqa: E731
    return times * [solve, lambda: Z.T @ target, lambda: Z @ right]


def both_ways(table: Table) -> list[Work]:
    """ZW and Z'T."""
    Z, c, n, d = _sizes(table)
    rng = np.random.default_rng(1)
    W, T = rng.standard_normal((d, c)), rng.standard_normal((n, c))
    return [lambda: Z @ W, lambda: Z.T @ T]


def label_graph(table: Table, *, times: int) -> list[Work]:
    """S = exp(FF') of all pairs of samples, SF, S'F."""
    _, c, n, _ = _sizes(table)
    F = np.random.default_rng(2).standard_normal((n, c)) / n

    def work() -> np.ndarray:
        S = np.exp(F @ F.T)
        return S @ F + S.T @ F

    return times * [work]


def sample_projection(table: Table) -> list[Work]:
    """ZEZ' and its inverse (n x n), then a product each way for every wanted eigenvector."""
    Z, c, n, d = _sizes(table)
    rng = np.random.default_rng(4)
    root, shift = np.sqrt(rng.random(d)), n * np.eye(n)
    block, v, u = np.empty_like(Z), rng.standard_normal((d, 1)), rng.standard_normal((n, 1))

    def core() -> np.ndarray:
        np.multiply(Z, root, out=block)
        return np.linalg.inv(block @ block.T + shift)

    return [core, *((c + 1) * [lambda: Z @ v, lambda: Z.T @ u])]


def gram_projection(table: Table) -> list[Work]:
    """Invert a d x d matrix, then multiply with it for every wanted eigenvector."""
    Z, c, n, d = _sizes(table)
    gram, v = Z.T @ Z + n * np.eye(d), np.random.default_rng(5).standard_normal((d, 1))
    return [lambda: np.linalg.inv(gram), *((c + 1) * [lambda: gram @ v])]


def forward_path(table: Table) -> list[Work]:
    """Z'F, then a product of the table with one column for every feature that is selected."""
    Z, c, n, _ = _sizes(table)
    F = np.random.default_rng(3).standard_normal((n, c))
    column = F[:, :1].copy()
    return [lambda: Z.T @ F, *(table.n_selected * [lambda: Z.T @ column])]


def _sizes(table: Table) -> tuple[np.ndarray, int, int, int]:
    """Return Z, c, n, d."""
    return (table.X, table.n_clusters, *table.X.shape)


def seconds(works: list[Work], repeat: int) -> list[float]:
    """Return the time of all products together, several times."""
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        for work in works:
            work()
        found.append(time.perf_counter() - start)
    return found


SAMPLE, GRAM = "ZEZ', n x n solve, Z'V", "d x d solve, Z'T, ZW"
RIDGE = {"wide": sample_ridge, "tall": gram_ridge, "wide_text": SAMPLE, "tall_text": GRAM}
PROJECTION = {
    "wide": sample_projection,
    "tall": gram_projection,
    "wide_text": "ZEZ', n x n inverse, Zv and Z'u for c + 1 eigenvectors",
    "tall_text": "d x d inverse, a product with it for c + 1 eigenvectors",
}
# How often the default update of a method solves its regression, and renews its graph.
RUFS_PASSES = 3
URAFS_PASSES, URAFS_GRAPHS = 2, 3

METHODS = (
    Method("NDFS", **RIDGE),
    Method("RSFS", **RIDGE),
    Method(
        "RUFS",
        wide=lambda table: sample_ridge(table, times=RUFS_PASSES) + both_ways(table),
        tall=lambda table: weighted_gram_ridge(table, times=RUFS_PASSES) + both_ways(table),
        wide_text=f"{RUFS_PASSES} times ({SAMPLE}), ZF', G'Z",
        tall_text=f"{RUFS_PASSES} times (Z'PZ, {GRAM}), ZF', G'Z",
    ),
    Method(
        "URAFS",
        wide=lambda t: sample_ridge(t, times=URAFS_PASSES) + label_graph(t, times=URAFS_GRAPHS),
        tall=lambda t: gram_ridge(t, times=URAFS_PASSES) + label_graph(t, times=URAFS_GRAPHS),
        wide_text=f"{URAFS_PASSES} times ({SAMPLE}), {URAFS_GRAPHS} times (S = exp(FF'), SF, S'F)",
        tall_text=f"{URAFS_PASSES} times ({GRAM}), {URAFS_GRAPHS} times (S = exp(FF'), SF, S'F)",
    ),
    Method(
        "USFS",
        wide=lambda table: sample_ridge(table) + both_ways(table),
        tall=lambda table: gram_ridge(table) + both_ways(table),
        wide_text=f"{SAMPLE}, Z'Y, ZM'",
        tall_text=f"{GRAM}, Z'Y, ZM'",
    ),
    Method("UDFS", **PROJECTION, settings=lambda table: {}),
    Method(
        "SOGFS",
        **PROJECTION,
        settings=lambda table: {"n_components": table.n_clusters, "max_inner_iter": 10},
        steps=lambda state: len(state.inner[-1]),
        most=3,
    ),
    Method(
        "AUFS",
        wide=forward_path,
        tall=forward_path,
        wide_text="Z'F, Z'z for every selected feature",
        tall_text="Z'F, Z'z for every selected feature",
        settings=given_labels_and_size,
    ),
    Method(
        "UGFS",
        wide=forward_path,
        tall=forward_path,
        wide_text="Z'F, Z'z for every selected feature",
        tall_text="Z'F, Z'z for every selected feature",
        settings=given_labels_and_size,
    ),
)
