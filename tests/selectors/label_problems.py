"""Problems of the label-regression methods, as their tests need them."""

from dataclasses import fields

import numpy as np
import pytest

from featsieve.arrays import as_operator
from featsieve.arrays.derived import ShiftedTable, shifted_to_zero
from featsieve.graphs.affinity import (
    laplacian,
    normalised_laplacian,
    row_normalised_laplacian,
    sample_graph,
)
from featsieve.selectors.ndfs import NDFSProblem
from featsieve.selectors.rsfs import RSFSProblem
from featsieve.selectors.rufs import RUFSProblem
from featsieve.selectors.urafs import URAFSProblem, centred_frame
from featsieve.selectors.usfs import USFSProblem
from featsieve.solvers.block_problem import solve
from featsieve.solvers.nonnegative_labels import first_label_matrix
from featsieve.terms import indicator, normalised_indicator

FORMS = ("gram", "sample")
SHAPES = pytest.mark.parametrize("shape", [(40, 12), (15, 50)], ids=["tall", "wide"])
NAMES = ("NDFS", "RSFS", "RUFS", "URAFS", "USFS")
KINDS = {
    "NDFS": NDFSProblem,
    "RSFS": RSFSProblem,
    "RUFS": RUFSProblem,
    "URAFS": URAFSProblem,
    "USFS": USFSProblem,
}
NUMBERS = {
    "NDFS": {"alpha": 1.0, "beta": 1.0, "orthogonality": 1e8},
    "RSFS": {"alpha": 1.0, "beta": 1.0, "nu": 0.2, "orthogonality": 1e8},
    "RUFS": {"nu": 1.0, "alpha": 1.0, "beta": 1.0, "orthogonality": 1e7},
    "URAFS": {"alpha": 0.3, "beta": 0.1, "sparsity": 2.0},
    "USFS": {"alpha": 1.0, "beta": 1.0, "gamma": 1.0},
}  # fmt: skip
LAPLACIANS = {"NDFS": normalised_laplacian, "RSFS": row_normalised_laplacian, "RUFS": laplacian}

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make_problem(name, X, *, kind=None, scale="std", center=True, k=5, **more):
    """Return the problem of a method on a table, with the graph of k neighbours."""
    kind = kind or KINDS[name]
    operator = as_operator(X, scale=scale, center=center)
    shifted = more.pop("shifted", True)
    if name in LAPLACIANS and "laplacian" not in more:
        more["laplacian"] = LAPLACIANS[name](sample_graph(operator, "heat", n_neighbors=k))
    if name == "RUFS":
        plain = ShiftedTable(operator, np.zeros(operator.shape[1]))
        more["table"] = shifted_to_zero(operator, X) if shifted else plain
    assert set(more) <= {field.name for field in fields(kind)}
    return kind(operator=operator, **NUMBERS[name] | more)


def random_labels(rng, n, c):
    return rng.permutation(np.concatenate([np.arange(c), rng.integers(0, c, n - c)]))


def label_matrix(name, problem, labels, c):
    """Return the label matrix from which an estimator starts by default."""
    if name == "URAFS":
        return centred_frame(normalised_indicator(labels, c))
    if name == "USFS":
        return 0.9 * indicator(labels, c) + 0.1 / c
    return first_label_matrix(labels, c, orthogonality=problem.orthogonality)


def iterate(problem, start, n_iter):
    """Run n_iter iterations from a state or label matrix; return the solution and all states."""
    states = []
    if isinstance(start, np.ndarray):
        start = problem.start(start)
    solution = solve(
        problem,
        start,
        max_iter=n_iter,
        tol=-np.inf,
        callback=lambda i, value, state: states.append(state),
    )
    return solution, states
