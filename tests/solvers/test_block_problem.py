"""When the iterations over blocks end."""

import numpy as np
import pytest

from featsieve.solvers import Status
from featsieve.solvers.block_problem import BlockProblem
from featsieve.solvers.label_support import SupportProblem, SupportState

CASES = pytest.mark.parametrize(
    ("history", "tol", "ends"),
    [((1.0,), 1e-5, False), ((1.0, 0.9), 1e-5, False), ((1.0, 1.0 - 1e-6), 1e-5, True),
     ((1e-9, 5e-10), 1e-5, False)],
)  # fmt: skip


@CASES
def test_they_end_where_the_objective_stands_still(history, tol, ends):
    assert (BlockProblem().status(None, history, tol) is Status.CONVERGED) == ends


def support_state(n_features):
    empty, F = np.zeros((3, 2)), np.eye(3, 2)
    return SupportState(F, empty, F[0], np.arange(n_features), empty)


@CASES
def test_labels_and_features_end_relatively_or_by_rounding(history, tol, ends):
    problem = SupportProblem(None, None, 1.0)
    assert (problem.status(support_state(1), history, tol) is Status.CONVERGED) == ends
    assert problem.status(support_state(1), [3e-18, -2e-18], tol) is Status.CONVERGED
    assert problem.status(support_state(1), [1.0, 1.0], 0.0) is Status.CONVERGED
    assert problem.status(support_state(0), [2.0, 1.0], tol) is Status.STATIONARY
