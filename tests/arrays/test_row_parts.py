import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.arrays import as_operator
from featsieve.arrays.row_parts import RowParts

N, D = 60, 7


def tables():
    rng = np.random.default_rng(0)
    plain = rng.standard_normal((N, D))
    counts = rng.poisson(0.4, (N, D))
    return {
        "float64": plain,
        "float32": plain.astype(np.float32),
        "columns": np.asfortranarray(plain),
        "far from zero": plain + 1e6,  # the operator stores it centred
        "uint8": counts.astype(np.uint8),
        "sparse": sp.csr_array(counts.astype(float)),
        "sparse far": sp.csr_array(plain + 1e6),
    }


def part_product(part, W):
    return part.matmul(W)


def part_sums(part, block, R):
    rows = slice(part.first_row, part.first_row + part.shape[0])
    return part.rmatmul(R[rows]), float(block.sum()), part.shape[0]


@pytest.mark.parametrize("scale", ["none", "unit", "std"])
@pytest.mark.parametrize("name", tables())
def test_products_of_parts_add_up_to_those_of_the_table(name, scale):
    operator = as_operator(tables()[name], scale=scale)
    parts = RowParts(operator, n_rows=17)
    rng = np.random.default_rng(1)
    W, R = rng.standard_normal((D, 3)), rng.standard_normal((N, 2))
    assert parts.bounds == [(0, 17), (17, 34), (34, 51), (51, 60)]
    blocks = parts.map(part_product, shared=(W,))
    single = operator.dtype == np.float32
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if single else {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(parts.gather(blocks), operator.matmul(W), **tolerance)
    share, total, n_rows = parts.total(part_sums, blocks, shared=(R,))
    np.testing.assert_allclose(share, operator.rmatmul(R), **tolerance)
    assert total == pytest.approx(operator.matmul(W).sum(), abs=1e-3 if single else 1e-8)
    assert n_rows == N


@pytest.mark.parametrize("name", tables())
def test_a_part_has_the_means_of_the_whole_table(name):
    operator = as_operator(tables()[name], scale="unit")
    whole = operator.columns(np.arange(D))
    part = operator.part(10, 30)
    np.testing.assert_allclose(part.columns(np.arange(D)), whole[10:30], atol=1e-6)
    np.testing.assert_allclose(part.part(5, 8).rows(0, 3), whole[15:18], atol=1e-6)
    assert part.part(5, 8).first_row == 15
    rows = np.array([3, 19, 4])
    np.testing.assert_allclose(part.at_rows(rows).rows(0, 3), whole[10:30][rows], atol=1e-6)


def test_what_the_table_has_computed_is_not_taken_for_the_part():
    X = tables()["float64"]
    operator = as_operator(X)
    operator.gram(), operator.row_norms(), operator.sample_gram()
    part, rows = operator.part(0, 20), (X - X.mean(axis=0))[:20]
    np.testing.assert_allclose(part.gram(), rows.T @ rows)
    np.testing.assert_allclose(part.row_norms(), (rows**2).sum(axis=1))
    np.testing.assert_allclose(part.sample_gram(), rows @ rows.T)
