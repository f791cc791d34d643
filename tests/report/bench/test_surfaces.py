# ruff: noqa: RUF001 - Greek letters are meant
import itertools
import json

import numpy as np
import pytest

from featsieve.report.bench.surfaces import surfaces, tick
from tests.report.synthetic_rows import frame, row


def grid(params, acc, **given):
    return row(method=given.pop("method", "JASFS"), selector="JASFS", params=json.dumps(params),
               acc_mean=acc, nmi_mean=acc / 2, **given)  # fmt: skip


def test_joint_solver_over_alpha_and_beta_at_the_best_number_of_features():
    values = (1e-2, 1.0, 1e2)
    rng = np.random.default_rng(0)
    truth = {
        (a, b, k): rng.random() for a, b, k in itertools.product(values, values, (50, 100, 200))
    }
    rows = frame([grid({"alpha": a, "beta": b}, v, n_features=k) for (a, b, k), v in truth.items()])
    (surface,) = surfaces(rows)
    best = max(truth, key=truth.__getitem__)[2]
    assert (surface.x, surface.y) == ("α", "β")
    assert surface.fixed == f"number of features = {best}"
    expected = [[truth[a, b, best] for a in values] for b in values]
    np.testing.assert_allclose(surface.scores["acc"], expected)


def test_a_default_that_is_not_named_is_a_value_like_others():
    # JASFS has alpha=0.3 by default; rows name only what differs.
    rows = frame(
        [grid({}, 0.1, n_features=5), grid({"alpha": 3.0}, 0.2, n_features=5),
         grid({}, 0.3, n_features=9), grid({"alpha": 3.0}, 0.4, n_features=9)]
    )  # fmt: skip
    (surface,) = surfaces(rows)
    assert (surface.x, surface.y) == ("number of features", "α")
    assert surface.scores["acc"].index.tolist() == [0.3, 3.0]
    np.testing.assert_allclose(surface.scores["acc"], [[0.1, 0.3], [0.2, 0.4]])


def test_seeds_are_averaged_and_gaps_stay_empty():
    points = [((1.0, 1.0), 0), ((1.0, 1.0), 1), ((1.0, 2.0), 0), ((2.0, 1.0), 0)]
    rows = frame(
        [grid({"alpha": a, "beta": b}, 0.2 + 0.2 * seed, seed=seed) for (a, b), seed in points]
    )
    (surface,) = surfaces(rows)
    np.testing.assert_allclose(surface.scores["acc"], [[0.3, 0.2], [0.2, np.nan]])


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-6, "1e-6"), (0.01, "1e-2"), (0.3, "0.3"), (1.0, "1"), (100.0, "100"), (1e6, "1e6"),
     (2.5e-3, "2.5e-3"), (0, "0")],
)  # fmt: skip
def test_values_are_written_briefly(value, text):
    assert tick(value) == text
