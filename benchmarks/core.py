"""Speed and memory of JASFS against the products it cannot avoid, measured in one run.

"products" replays, as bare NumPy calls on an explicitly centred table, what the fit has to do to
the table: the column means, the sample norms (step size of the paper's solver), its matrix products
with their real shapes, the Gram matrix and its eigenvectors, and (joint solver) the products of the
neighbour search. The first labels (neighbour graph, spectral clustering, scikit-learn's k-means)
are left out of the ratio of the paper's solver, which is given them; the joint solver is measured
whole. What to select is given (100 features; lambda = 1e-3 for the paper's solver): finding it is
measured by label_free.py. Peak memory is what the fit allocates beside X (tracemalloc), in
multiples of its bytes.

Usage: [FEATSIEVE_DATA=folder] python benchmarks/core.py [--repeat 3] [--output FILE]
"""

import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

import real_data
from common import finish, line, options, table
from featsieve import JASFS
from featsieve.arrays import DenseOperator
from featsieve.datasets import make_planted

REAL = ("brain", "breast3", "nci", "jaffe", "lung", "ORL", "mnist")


def tables(n: int, d: int) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield (name, X, number of clusters): the real ones if there are any, and a synthetic one."""
    if real_data.folder() is not None:
        for name in REAL:
            X, y = real_data.load(name)
            yield name, X, len(np.unique(y))
    yield "synthetic", make_planted(n, d, n_informative=d // 10, random_state=0).X, 4


@contextmanager
def recorded(calls: list[tuple]) -> Iterator[None]:
    """Log every product with the table as (kind, shape)."""
    names = ("_dot", "_tdot", "_dot_columns", "weighted_gram", "sample_gram")
    originals = {name: getattr(DenseOperator, name) for name in names}

    def logging(name: str) -> Callable:
        def call(self, *args):  # type: ignore[no-untyped-def]
            shapes = tuple(np.shape(argument) for argument in args)
            calls.append((name, self.shape, shapes))
            return originals[name](self, *args)

        return call

    with patch.multiple(DenseOperator, **{name: logging(name) for name in names}):
        yield


def replay(Z: np.ndarray, calls: list[tuple], *, joint: bool) -> float:
    """Return the seconds of the same products as bare NumPy calls."""
    n, d = Z.shape
    rng = np.random.default_rng(0)
    arguments = [[rng.standard_normal(shape) for shape in shapes] for _, _, shapes in calls]
    directions = min(n, d) if n <= d else min(d, 100)
    E = rng.standard_normal((n, directions))
    start = time.perf_counter()
    Z.mean(axis=0)
    if not joint:
        np.einsum("ij,ij->i", Z, Z)
    for (kind, shape, _), arrays in zip(calls, arguments, strict=True):
        A = Z[: shape[0], : shape[1]]  # halves of the columns, selected ones, some of the rows
        if kind == "_dot":
            A @ arrays[0]
        elif kind == "_tdot":
            A.T @ arrays[0]
        elif kind == "_dot_columns":
            A[:, : len(arrays[0])] @ arrays[1]
        elif kind == "weighted_gram":
            np.linalg.eigh(A.T @ A) if joint else A.T @ A
        else:
            np.linalg.eigh(A @ A.T) if joint else A @ A.T
    if joint:
        for first in range(0, n, 1000):
            E[first : first + 1000] @ E.T
    return time.perf_counter() - start


def best_of(repeat: int, run: Callable[[], float]) -> float:
    return min(run() for _ in range(repeat))


def number(X: np.ndarray) -> int:
    """Return the number of features to select."""
    return min(100, X.shape[1])


def measure(X: np.ndarray, n_clusters: int, solver: str, repeat: int) -> dict[str, float]:
    """Return seconds of the fit, of its first labels, of its products; and its peak memory."""

    def timed(run: Callable[[], object]) -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    result = {}
    given = {"sparsity": 1e-3} if solver == "paper" else {"n_features_to_select": number(X)}
    settings: dict = {"solver": solver, "random_state": 0, **given}
    whole = JASFS(n_clusters, **settings).fit(X)  # warm up, and the labels of the first start
    result["fit"] = best_of(repeat, lambda: timed(lambda: JASFS(n_clusters, **settings).fit(X)))
    if solver == "paper":
        settings["init"] = whole.labels_
        result["alternation"] = best_of(
            repeat, lambda: timed(lambda: JASFS(n_clusters, **settings).fit(X))
        )
        result["first labels"] = max(result["fit"] - result["alternation"], 0.0)
    else:
        result["alternation"] = result["fit"]
    calls: list[tuple] = []
    with recorded(calls):
        JASFS(n_clusters, **settings).fit(X)
    Z = X - X.mean(axis=0)
    result["products"] = best_of(repeat, lambda: replay(Z, calls, joint=solver == "joint"))
    tracemalloc.start()
    JASFS(n_clusters, solver=solver, random_state=0, **given).fit(X)
    result["memory"] = tracemalloc.get_traced_memory()[1] / X.nbytes
    tracemalloc.stop()
    return result


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--synthetic", type=int, nargs=2, default=(20_000, 500), metavar=("N", "D"))
    arguments = parser.parse_args()
    head = ["table", "shape", "solver", "whole fit, s", "without first labels, s", "products, s"]
    head += ["ratio", "peak memory / bytes of X"]
    rows = []
    for name, X, n_clusters in tables(*arguments.synthetic):
        for solver in ("joint", "paper"):
            found = measure(X, n_clusters, solver, arguments.repeat)
            cells = [name, f"{X.shape[0]} x {X.shape[1]}", solver]
            cells += [f"{found[part]:.3f}" for part in ("fit", "alternation", "products")]
            cells.append(f"{found['alternation'] / found['products']:.2f}")
            rows.append([*cells, f"{found['memory']:.2f}"])
            print(line(rows[-1]), flush=True)
    finish(arguments.output, "Speed and memory", __doc__, table(head, rows))


if __name__ == "__main__":
    main()
