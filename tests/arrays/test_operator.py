"""Every product of a dense operator against the explicit Z = (X - mean)/scale in plain NumPy."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from featsieve.arrays import DenseOperator, SparseOperator, as_operator, operator

DTYPES = ("float64", "float32", "float16", "int64", "uint8", "bool")
SCALES = ("unit", "sqrt", "none")
WHOLE = {"int64": (-9, 10), "uint8": (0, 256), "bool": (0, 2)}

# Name -> (the operator's answer, the same from Z).
PRODUCTS = {
    "matmul": (lambda A, W, R, J: A.matmul(W), lambda Z, W, R, J: Z @ W),
    "matmul, live rows named": (
        lambda A, W, R, J: A.matmul(W, live=A.xp.nonzero(A.xp.any(W != 0, axis=1))[0]),
        lambda Z, W, R, J: Z @ W,
    ),
    "rmatmul": (lambda A, W, R, J: A.rmatmul(R), lambda Z, W, R, J: Z.T @ R),
    "columns": (lambda A, W, R, J: A.columns(J), lambda Z, W, R, J: Z[:, J]),
    "columns_gram": (lambda A, W, R, J: A.columns_gram(J), lambda Z, W, R, J: Z[:, J].T @ Z[:, J]),
    "columns_matmul": (
        lambda A, W, R, J: A.columns_matmul(J, A.xp.take(W, J, axis=0)),
        lambda Z, W, R, J: Z[:, J] @ W[J],
    ),
    "columns_rmatmul": (
        lambda A, W, R, J: A.columns_rmatmul(J, R),
        lambda Z, W, R, J: Z[:, J].T @ R,
    ),
    "rows": (lambda A, W, R, J: A.rows(1, A.shape[0]), lambda Z, W, R, J: Z[1:]),
    "row_blocks": (
        lambda A, W, R, J: A.xp.concat(list(A.row_blocks()), axis=0),
        lambda Z, W, R, J: Z,
    ),
    "gram": (lambda A, W, R, J: A.gram(), lambda Z, W, R, J: Z.T @ Z),
    "sample_gram": (lambda A, W, R, J: A.sample_gram(), lambda Z, W, R, J: Z @ Z.T),
    "column_norms": (lambda A, W, R, J: A.column_norms(), lambda Z, W, R, J: (Z**2).sum(axis=0)),
    "row_norms": (lambda A, W, R, J: A.row_norms(), lambda Z, W, R, J: (Z**2).sum(axis=1)),
    "lipschitz": (
        lambda A, W, R, J: np.asarray(A.lipschitz()),
        lambda Z, W, R, J: largest_eigenvalue(Z),
    ),
}


def explicit(X, *, scale):
    """Return Z by the definition: centred, divided by its norm, or by the root of its norm."""
    X = np.asarray(X, dtype=np.float64)
    varies = np.ptp(X, axis=0) > 0
    Z = np.where(varies, X - X.mean(axis=0), 0.0)
    if scale != "none":
        length = np.where(varies, np.sqrt(np.sum(Z**2, axis=0)), 1.0)
        Z /= length if scale == "unit" else np.sqrt(length)
    return Z


def largest_eigenvalue(Z):
    """Return ||Z||_2^2."""
    return np.linalg.eigvalsh(Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z)[-1]


def arguments(shape, *, seed=0, alive=1.0):
    """Return W (a share of its rows alive), R, and one or more column indices in any order."""
    rng = np.random.default_rng(seed)
    n, d = shape
    W = rng.standard_normal((d, 3)) * (rng.random(d) < alive)[:, None]
    indices = rng.integers(0, d, rng.integers(1, d + 2))
    return W, rng.standard_normal((n, 2)), indices


def assert_product(name, A, Z, args, *, tolerance):
    """Compare one product; the tolerance is relative to the norms of the factors."""
    ours, theirs = PRODUCTS[name]
    got, expected = np.asarray(ours(A, *args)), theirs(Z, *args)
    assert got.shape == np.shape(expected)
    assert got.dtype == np.float64
    size = np.linalg.norm(Z)
    if name in ("gram", "sample_gram", "column_norms", "row_norms", "lipschitz"):
        size = size**2
    elif name == "rmatmul":
        size *= np.linalg.norm(args[1])
    elif name.startswith("matmul"):
        size *= np.linalg.norm(args[0])
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * size)


def assert_products(A, Z, *, tolerance):
    args = arguments(Z.shape, alive=0.2)
    for name in PRODUCTS:
        assert_product(name, A, Z, args, tolerance=tolerance)


def tolerance_of(X):
    return 1e-5 if X.dtype in (np.float16, np.float32) else 1e-11


def random_table(rng, shape, *, dtype="float64"):
    """Return a table with columns of unlike spread and offset, some of them constant."""
    d = shape[1]
    if dtype in WHOLE:
        X = rng.integers(*WHOLE[dtype], shape).astype(dtype)
    else:
        spread, offset = 10.0 ** rng.integers(-1, 2, d), rng.integers(-3, 4, d)
        X = (spread * (rng.standard_normal(shape) + offset)).astype(dtype)
    constant = rng.random(d) < 0.2
    X[:, constant] = X[0, constant]
    return X


@st.composite
def tables(draw):
    n, d = draw(st.integers(3, 25)), draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random_table(rng, (n, d), dtype=draw(st.sampled_from(DTYPES)))
    return np.asarray(X, order=draw(st.sampled_from("CF")))


@pytest.mark.parametrize("product", PRODUCTS)
@settings(max_examples=40, deadline=None)
@given(
    X=tables(),
    scale=st.sampled_from(SCALES),
    alive=st.sampled_from([0.0, 0.1, 1.0]),
    seed=st.integers(0, 99),
)
def test_product_equals_that_of_the_explicit_table(product, X, scale, alive, seed):
    args = arguments(X.shape, seed=seed, alive=alive)
    A, Z = as_operator(X, scale=scale), explicit(X, scale=scale)
    assert_product(product, A, Z, args, tolerance=tolerance_of(X))


@settings(max_examples=30, deadline=None)
@given(X=tables(), scale=st.sampled_from(SCALES), elements=st.integers(1, 60))
def test_blockwise_conversion_and_small_blocks_change_nothing(X, scale, elements):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operator, "CONVERT_ELEMENTS", 0)
        patch.setattr(operator, "BLOCK_ELEMENTS", elements)
        A = as_operator(X, scale=scale)
        assert all(block.size <= max(elements, X.shape[1]) for block in A.row_blocks())
        assert_products(A, explicit(X, scale=scale), tolerance=tolerance_of(X))


@pytest.mark.parametrize("dtype", WHOLE)
def test_large_whole_number_tables_are_not_copied(dtype, monkeypatch):
    monkeypatch.setattr(operator, "CONVERT_ELEMENTS", 0)
    X = random_table(np.random.default_rng(0), (9, 5), dtype=dtype)
    assert np.shares_memory(DenseOperator(X)._X, X)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floating_tables_are_not_copied(dtype, order):
    X = np.asarray(random_table(np.random.default_rng(0), (9, 5), dtype=dtype), order=order)
    assert np.shares_memory(DenseOperator(X)._X, X)


def test_half_precision_does_not_overflow():
    X = np.array([[60000.0, 1.0], [-60000.0, 2.0], [30000.0, 4.0]], dtype=np.float16)
    assert_products(as_operator(X), explicit(X, scale="none"), tolerance=1e-6)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("value", [0.0, 0.1, -1e8 / 3, 1e-150])
def test_constant_columns_become_zero_columns(value, scale):
    X = np.random.default_rng(0).standard_normal((1000, 4))
    X[:, [0, 2]] = value
    A = as_operator(X, scale=scale)
    constant = np.array([True, False, True, False])
    np.testing.assert_array_equal(A.varies, ~constant)
    np.testing.assert_array_equal(A.inverse_scale == 0, constant)
    np.testing.assert_array_equal(A.column_norms()[constant], 0.0)
    np.testing.assert_array_equal(A.rows(0, 1000)[:, constant], 0.0)
    np.testing.assert_array_equal(A.rmatmul(X)[constant], 0.0)


@pytest.mark.parametrize("shape", [(20, 8), (8, 20), (510, 505)])
@pytest.mark.parametrize("scale", SCALES)
def test_a_table_of_constant_columns_is_zero(scale, shape):
    X = np.broadcast_to(np.arange(shape[1]) / 7.0, shape)
    A = as_operator(X, scale=scale)
    assert A.lipschitz() == 0.0
    np.testing.assert_array_equal(A.matmul(np.ones((shape[1], 2))), 0.0)


def test_unit_scale_gives_unit_columns_whatever_their_units():
    X = random_table(np.random.default_rng(1), (40, 30))
    A = as_operator(X * np.logspace(-9, 9, 30), scale="unit")
    np.testing.assert_allclose(A.column_norms()[A.varies], 1.0, rtol=1e-12)


def test_without_centring_only_the_scale_is_applied():
    X = random_table(np.random.default_rng(3), (12, 9))
    X = X[:, np.ptp(X, axis=0) > 0]
    assert_products(DenseOperator(X, center=False), X, tolerance=1e-13)
    variance = X.var(axis=0)
    length = np.sqrt(12 * variance)
    A = DenseOperator(X, scale="unit", center=False)
    assert_products(A, X / length, tolerance=1e-13)


# The last digit of X is 1e-8 (float64) or 1e-4 (float32) of a standard deviation here.
@pytest.mark.parametrize(
    ("dtype", "offset", "tolerance"), [("float64", 1e8, 3e-7), ("float32", 1e3, 2e-6)]
)
@pytest.mark.parametrize("scale", SCALES)
def test_columns_far_from_zero_keep_accuracy(dtype, offset, tolerance, scale):
    rng = np.random.default_rng(4)
    X = (rng.standard_normal((60, 15)) + offset * rng.choice([-1, 1], 15)).astype(dtype)
    X[:, 0] -= X[0, 0]  # one column near zero stays exact beside them
    exact = X.astype(np.longdouble)
    Z = explicit(exact - exact.mean(axis=0), scale=scale)
    A = as_operator(X, scale=scale)
    assert_products(A, Z, tolerance=tolerance)
    mean = exact.mean(axis=0).astype(np.float64)
    np.testing.assert_allclose(A.original_mean, mean, rtol=1e-14, atol=1e-14 * offset)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_table_is_never_written_to(dtype, far, order, monkeypatch):
    if far:  # every column counts as far from zero and is centred explicitly
        monkeypatch.setattr(operator, "LARGEST_OFFSET", {"float32": 0.0, "float64": 0.0})
    X = random_table(np.random.default_rng(5), (14, 10), dtype=dtype)
    X = np.asarray(X, order=order)
    before = X.copy()
    X.flags.writeable = False
    A = as_operator(X, scale="unit")
    assert_products(A, explicit(X, scale="unit"), tolerance=tolerance_of(X))
    np.testing.assert_array_equal(X, before)


def test_views_with_any_strides_are_read_in_place():
    whole = random_table(np.random.default_rng(6), (40, 33))
    view = whole[::-2, 1::3]
    assert_products(as_operator(view), explicit(view.copy(), scale="none"), tolerance=1e-12)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(18, 7), (7, 18)])
def test_strict_arrays_give_the_numbers_of_numpy(shape, dtype, scale):
    X = random_table(np.random.default_rng(7), shape, dtype=dtype)
    ours, theirs = (
        as_operator(array_api_strict.asarray(X), scale=scale),
        as_operator(X, scale=scale),
    )
    args = arguments(shape)
    strict_args = [array_api_strict.asarray(argument) for argument in args]
    for name, (product, _) in PRODUCTS.items():
        got = product(ours, *strict_args)
        expected = product(theirs, *args)
        if name != "lipschitz":
            assert isinstance(got, type(strict_args[0]))
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_strict_arrays_go_through_the_blockwise_and_the_far_offset_paths(dtype, monkeypatch):
    monkeypatch.setattr(operator, "CONVERT_ELEMENTS", 0)
    monkeypatch.setattr(operator, "BLOCK_ELEMENTS", 20)
    monkeypatch.setattr(operator, "LARGEST_OFFSET", {"float64": 0.1})
    X = random_table(np.random.default_rng(8), (11, 6), dtype=dtype)
    A, Z = as_operator(array_api_strict.asarray(X)), explicit(X, scale="none")
    args = arguments(X.shape)
    strict_args = [array_api_strict.asarray(argument) for argument in args]
    for name, (product, theirs) in PRODUCTS.items():
        got = np.asarray(product(A, *strict_args))
        np.testing.assert_allclose(got, theirs(Z, *args), rtol=1e-9, atol=1e-9, err_msg=name)


# Beyond 500 x 500 it comes from a power iteration.
@pytest.mark.parametrize(
    ("shape", "scale"),
    [((40, 25), "unit"), ((25, 40), "none"), ((510, 501), "none"), ((501, 510), "unit")],
)
@pytest.mark.parametrize("spectrum", ["noise", "spiked", "low rank"])
def test_lipschitz_bounds_the_curvature_from_just_above(spectrum, shape, scale):
    rng = np.random.default_rng(9)
    n, d = shape
    X = rng.standard_normal(shape)
    if spectrum == "spiked":
        X += 3.0 * rng.standard_normal((n, 1)) * rng.standard_normal(d)
    elif spectrum == "low rank":
        X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d))
    true = largest_eigenvalue(explicit(X, scale=scale))
    estimate = as_operator(X, scale=scale).lipschitz()
    assert isinstance(estimate, float)
    assert true * (1 - 1e-9) <= estimate <= 1.05 * true


def test_strict_arrays_reach_the_power_iteration():
    X = np.random.default_rng(10).standard_normal((503, 501))
    strict = as_operator(array_api_strict.asarray(X)).lipschitz()
    assert strict == pytest.approx(as_operator(X).lipschitz(), rel=1e-9)


def test_the_gram_matrix_is_computed_once():
    A = as_operator(random_table(np.random.default_rng(11), (12, 5)))
    assert A.gram() is A.gram()
    assert A.row_norms() is A.row_norms()


def test_as_operator_chooses_by_the_kind_of_table():
    assert isinstance(as_operator(np.eye(3)), DenseOperator)
    assert isinstance(as_operator(csr_array(np.eye(3))), SparseOperator)


def test_an_unknown_scale_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'unit', 'std', 'sqrt', 'none'.*'standard'"):
        as_operator(np.eye(3), scale="standard")


@pytest.mark.parametrize("gap", [1.02, 1.05, 1.1])
def test_lipschitz_sees_one_eigenvalue_above_a_flat_spectrum(gap):
    A = np.random.default_rng(0).standard_normal((510, 510))
    U, s, Vt = np.linalg.svd(A - A.mean(axis=0))
    s[:] = 1.0
    s[0], s[-1] = gap**0.5, 0.0
    bound = as_operator((U * s) @ Vt).lipschitz()
    assert gap * (1 - 1e-9) <= bound <= 1.05 * gap


def test_extended_precision_becomes_double():
    X = np.random.default_rng(0).standard_normal((5, 3)).astype(np.longdouble)
    assert as_operator(X).dtype == np.float64


def test_means_a_hundred_million_deviations_away_cost_no_digits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 40)) + 1e8
    exact = X - 1e8
    Z = exact - exact.mean(axis=0)
    W = rng.standard_normal((40, 3))
    np.testing.assert_allclose(as_operator(X).matmul(W), Z @ W, rtol=0, atol=1e-12)


# Centring and scaling apart, and products with weights and with graphs ---------------------------

LAYOUTS = [(scale, center) for scale in ("unit", "std", "none") for center in (True, False)]

# Name -> (the operator's answer, the same from Z), given weights p of the samples, e of the
# columns, and a symmetric sparse matrix A.
FORMS = {
    "weighted_gram": (lambda Z, p, e, A: Z.weighted_gram(p), lambda Z, p, e, A: (Z.T * p) @ Z),
    "weighted_gram, no weights": (
        lambda Z, p, e, A: Z.weighted_gram(None),
        lambda Z, p, e, A: Z.T @ Z,
    ),
    "sample_gram": (lambda Z, p, e, A: Z.sample_gram(e), lambda Z, p, e, A: (Z * e) @ Z.T),
    "sample_gram, no weights": (
        lambda Z, p, e, A: Z.sample_gram(),
        lambda Z, p, e, A: Z @ Z.T,
    ),
    "column_forms": (
        lambda Z, p, e, A: Z.column_forms(A),
        lambda Z, p, e, A: np.array([z @ A.toarray() @ z for z in Z.T]),
    ),
    "column_forms, a diagonal": (
        lambda Z, p, e, A: Z.column_forms(p),
        lambda Z, p, e, A: p @ Z**2,
    ),
    "graph_forms": (
        lambda Z, p, e, A: Z.xp.stack(Z.graph_forms(A, p)),
        lambda Z, p, e, A: np.stack([p @ Z, p @ Z**2, np.sum(Z * (A @ Z), axis=0)]),
    ),
    "quadratic": (lambda Z, p, e, A: Z.quadratic(A), lambda Z, p, e, A: Z.T @ A.toarray() @ Z),
}


def explicit_layout(X, *, scale, center):
    """Return Z by the definition: the scale is that of the centred column in either case."""
    X = np.asarray(X, dtype=np.float64)
    varies = np.ptp(X, axis=0) > 0
    length = np.where(varies & (scale != "none"), X.std(axis=0), 1.0)
    if scale == "unit":
        length = np.where(varies, np.sqrt(len(X)) * length, 1.0)
    return np.where(varies, (X - X.mean(axis=0) if center else X) / length, 0.0)


def weights_and_graph(shape, *, seed=0):
    """Return weights of samples and columns, some of them zero, and a signed symmetric matrix."""
    rng = np.random.default_rng(seed)
    n, d = shape
    p, e = (rng.random(size) * (rng.random(size) < 0.8) for size in (n, d))
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3)
    return p, e, csr_array(A + A.T)


def assert_forms(operator, Z, args, *, tolerance, names=FORMS):
    """Compare with the explicit products; the tolerance is relative to ||Z||^2."""
    for name in names:
        ours, theirs = FORMS[name]
        got, expected = np.asarray(ours(operator, *args)), theirs(Z, *args)
        assert got.shape == expected.shape
        assert got.dtype == np.float64
        size = np.linalg.norm(Z) ** 2 * max(1.0, float(np.abs(args[2].toarray()).max()))
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * size, err_msg=name)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("scale", "center"), LAYOUTS)
@settings(max_examples=15)
@given(X=tables(), seed=st.integers(0, 99))
def test_weighted_products_equal_those_of_the_explicit_table(form, scale, center, X, seed):
    args = weights_and_graph(X.shape, seed=seed)
    A, Z = (
        as_operator(X, scale=scale, center=center),
        explicit_layout(X, scale=scale, center=center),
    )
    assert_forms(A, Z, args, tolerance=tolerance_of(X), names=[form])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("share", [0.0, 2.0])  # every graph is full, none is
@settings(max_examples=15)
@given(X=tables(), seed=st.integers(0, 99))
def test_graph_forms_of_full_and_of_sparse_graphs(order, share, X, seed):
    X = np.array(X, order=order)
    args = weights_and_graph(X.shape, seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operator, "FULL_SHARE", share)
        A = as_operator(X, scale="std")
        Z = explicit_layout(X, scale="std", center=True)
        assert_forms(A, Z, args, tolerance=tolerance_of(X), names=["graph_forms"])


@pytest.mark.parametrize("center", [True, False])
@settings(max_examples=25)
@given(X=tables(), elements=st.integers(1, 60))
def test_weighted_products_do_not_depend_on_the_size_of_the_blocks(center, X, elements):
    args = weights_and_graph(X.shape)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BLOCK", "CACHE"):
            patch.setattr(operator, f"{name}_ELEMENTS", elements)
        for name in ("CONVERT", "KEEP"):
            patch.setattr(operator, f"{name}_ELEMENTS", 0)
        A = as_operator(X, scale="std", center=center)
        limit = max(elements, X.shape[0])
        assert all(block.size <= limit for _, block in A._column_blocks())
        Z = explicit_layout(X, scale="std", center=center)
        assert_forms(A, Z, args, tolerance=tolerance_of(X))


@pytest.mark.parametrize("blocks", ["one block", "many blocks"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(18, 7), (7, 18)])
@pytest.mark.parametrize(("scale", "center"), LAYOUTS)
def test_strict_arrays_give_the_weighted_products_of_numpy(
    scale, center, shape, dtype, blocks, monkeypatch
):
    if blocks == "many blocks":
        monkeypatch.setattr(operator, "KEEP_ELEMENTS", 0)
        monkeypatch.setattr(operator, "BLOCK_ELEMENTS", 30)
    X = random_table(np.random.default_rng(7), shape, dtype=dtype)
    p, e, graph = weights_and_graph(shape)
    ours = as_operator(array_api_strict.asarray(X), scale=scale, center=center)
    theirs = as_operator(X, scale=scale, center=center)
    strict = (array_api_strict.asarray(p), array_api_strict.asarray(e), graph)
    for name, (product, _) in FORMS.items():
        got, expected = product(ours, *strict), product(theirs, p, e, graph)
        assert isinstance(got, type(strict[0]))
        atol = 1e-6 * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(np.asarray(got), expected, rtol=0, atol=atol, err_msg=name)


# As in test_columns_far_from_zero_keep_accuracy: what is left of X's own digits.
@pytest.mark.parametrize(
    ("dtype", "offset", "tolerance"), [("float64", 1e8, 1e-13), ("float32", 1e3, 2e-6)]
)
@pytest.mark.parametrize("scale", ["unit", "std", "none"])
@pytest.mark.parametrize("kept", [True, False])
def test_weighted_products_of_columns_far_from_zero_keep_accuracy(
    kept, scale, dtype, offset, tolerance, monkeypatch
):
    if not kept:
        monkeypatch.setattr(operator, "KEEP_ELEMENTS", 0)
        monkeypatch.setattr(operator, "BLOCK_ELEMENTS", 100)
    rng = np.random.default_rng(4)
    X = (rng.standard_normal((60, 15)) + offset * rng.choice([-1, 1], 15)).astype(dtype)
    near = (X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)).astype(np.float64)
    Z = explicit_layout(near, scale=scale, center=True)
    assert_forms(as_operator(X, scale=scale), Z, weights_and_graph(X.shape), tolerance=tolerance)


@pytest.mark.parametrize("center", [True, False])
def test_std_scale_gives_columns_of_unit_variance_whatever_their_units(center):
    X = np.random.default_rng(1).standard_normal((40, 30)) * np.logspace(-9, 9, 30) + 1.0
    Z = as_operator(X, scale="std", center=center).rows(0, 40)
    np.testing.assert_allclose(Z.std(axis=0), 1.0, rtol=1e-6)
    assert np.allclose(Z.mean(axis=0), 0.0, atol=1e-6) == center


@pytest.mark.parametrize("scale", ["unit", "std", "none"])
def test_without_centring_the_mean_is_zero_and_norms_are_those_of_the_table(scale):
    X = random_table(np.random.default_rng(3), (12, 9))
    A = as_operator(X, scale=scale, center=False)
    Z = explicit_layout(X, scale=scale, center=False)
    np.testing.assert_array_equal(A.original_mean, 0.0)
    np.testing.assert_allclose(A.column_norms(), (Z**2).sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(A.varies, np.ptp(X, axis=0) > 0)
    assert_products(A, Z, tolerance=1e-12)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e8 / 3])
def test_constant_columns_have_zero_forms(value, center):
    X = np.random.default_rng(0).standard_normal((50, 4))
    X[:, [0, 2]] = value
    A = as_operator(X, scale="std", center=center)
    p, _, graph = weights_and_graph(X.shape)
    np.testing.assert_array_equal(A.column_forms(graph)[[0, 2]], 0.0)
    for square in (A.weighted_gram(p), A.quadratic(graph)):
        np.testing.assert_array_equal(square[[0, 2]], 0.0)
        np.testing.assert_array_equal(square[:, [0, 2]], 0.0)


def test_weighted_products_are_symmetric_to_the_last_bit():
    A = as_operator(random_table(np.random.default_rng(2), (30, 20)), scale="std")
    p, e, graph = weights_and_graph((30, 20))
    for square in (A.weighted_gram(p), A.sample_gram(e), A.quadratic(graph)):
        np.testing.assert_array_equal(square, square.T)


def test_a_sample_of_zero_weight_is_left_out():
    X = random_table(np.random.default_rng(5), (20, 6))
    A = as_operator(X, scale="std")
    p = np.ones(20)
    p[[3, 11]] = 0.0
    Z = np.delete(A.rows(0, 20), [3, 11], axis=0)
    np.testing.assert_allclose(A.weighted_gram(p), Z.T @ Z, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_weighted_products_write_to_nothing_they_are_given(dtype):
    X = random_table(np.random.default_rng(6), (14, 10), dtype=dtype)
    args = weights_and_graph(X.shape)
    for array in (X, *args[:2], args[2].data, args[2].indices, args[2].indptr):
        array.flags.writeable = False
    Z = explicit_layout(X, scale="std", center=True)
    assert_forms(as_operator(X, scale="std"), Z, args, tolerance=tolerance_of(X))


@pytest.mark.parametrize("container", [np.asarray, csr_array, array_api_strict.asarray])
@pytest.mark.parametrize("scale", ["unit", "std", "none"])
def test_any_operator_can_be_centred(scale, container):
    X = random_table(np.random.default_rng(8), (15, 6))
    A = as_operator(container(X), scale=scale, center=False)
    centred = A.centred()
    assert centred.centred() is centred
    assert type(centred) is type(A)
    expected = explicit_layout(X, scale=scale, center=True)
    np.testing.assert_allclose(np.asarray(centred.rows(0, 15)), expected, atol=1e-12)
    unchanged = explicit_layout(X, scale=scale, center=False)
    np.testing.assert_allclose(np.asarray(A.rows(0, 15)), unchanged, atol=1e-12)


@pytest.mark.parametrize("n_elements", [1, 40, 10**6])
def test_products_of_rows_of_a_large_table_are_made_in_pieces(n_elements, monkeypatch):
    X = np.random.default_rng(0).standard_normal((9, 20)) + 3.0
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    monkeypatch.setattr(operator, "KEEP_ELEMENTS", 0)
    table = as_operator(X, scale="std")
    monkeypatch.setattr(DenseOperator, "block_elements", n_elements)
    np.testing.assert_allclose(table.row_products(2, 8), Z[2:8] @ Z.T, atol=1e-12)
