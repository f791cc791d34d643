"""Tables of every kind that a user might pass in, drawn by hypothesis.

What is drawn is a :class:`Recipe`: small, printable, and the whole truth about the table, so that a
failure can be cooked again from its report. Most entries come from a seeded generator; hypothesis
chooses the shape, the seed, what is wrong with which columns and rows, the type and the layout.
"""

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import strategies as st

BASES = ("clusters", "noise", "counts", "binary", "zeros")
FLOATS = ("float64", "float32", "float16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FOREIGN_ORDER = (">f8", ">f4", ">i4") if sys.byteorder == "little" else ("<f8", "<f4", "<i4")
DTYPES = (*FLOATS, "longdouble", "bool", *INTEGERS, *FOREIGN_ORDER, "object", "text")
DENSE = ("C", "F", "strided", "reversed", "readonly", "frame", "list")
# Of other libraries, where they are installed: with these types.
OTHER_LIBRARIES = tuple(name for name in ("torch", "dask") if find_spec(name))
SHARED_DTYPES = ("float64", "float32", "bool", "int8", "int16", "int32", "int64", "uint8")
SPARSE = ("csr", "csc", "coo", "csr_matrix", "pieces")
# What may be done to a column. The numbers are factors.
FACTORS = (1e300, 1e160, 1e30, 1e-30, 1e-160, 1e-300)
DEFECTS = (
    "constant", "zero", "duplicate", "collinear", "negated", "offset", "single", "denormal",
    "extremes", "step",
)  # fmt: skip
NOT_FINITE = ("nan", "inf", "-inf")


@dataclass(frozen=True)
class Recipe:
    """How to make one table."""

    n_samples: int
    n_features: int
    base: str = "noise"
    seed: int = 0
    factor: float = 1.0  # of the whole table
    columns: tuple[tuple[int, str | float], ...] = ()  # (column, what is done to it)
    rows: tuple[tuple[int, str], ...] = ()  # (row, "zero" or "duplicate")
    full_range: bool = False  # integers that fill the range of their type
    dtype: str = "float64"
    layout: str = "C"
    power: int = 0  # the table is multiplied by 2 to this power in the end

    @property
    def is_well_posed(self) -> bool:
        """Whether the answer does not hang on rounding.

        Of two samples all columns are equally good; so are copies; with fewer samples than columns
        some methods have many minimisers; and nothing is left of a small column beside one of 1e30
        that is taken as it is.
        """
        ordinary = self.base in ("clusters", "noise") and self.factor == 1.0 and not self.rows
        ordinary &= all(what in ("constant", "zero") for _, what in self.columns)
        ordinary &= self.n_samples >= max(12, 2 * self.n_features)
        return ordinary and self.dtype in ("float64", FOREIGN_ORDER[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the table is a sparse matrix."""
        return self.layout in SPARSE

    def values(self) -> np.ndarray:
        """Return the entries, in the type that the table has."""
        rng = np.random.default_rng(self.seed)
        n, d = self.n_samples, self.n_features
        with np.errstate(all="ignore"):
            X = _base(self.base, n, d, rng) * self.factor
            for j, what in self.columns:
                X[:, j] = _column(X, j, what, rng)
            for i, what in self.rows:
                X[i] = 0.0 if what == "zero" else X[(i + 1) % n]
            typed = _typed(X, self.dtype, full_range=self.full_range, rng=rng)
            return np.ldexp(typed, self.power) if self.power else typed

    def build(self) -> Any:
        """Return the table."""
        X = self.values()
        return _sparse(X, self.layout) if self.is_sparse else _dense(X, self.layout)


def _base(name: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return what the table would be without its defects."""
    noise = rng.standard_normal((n, d))
    if name == "clusters":
        return noise + 6.0 * rng.standard_normal((3, d))[np.arange(n) % 3]
    if name == "counts":
        return rng.poisson(1.0, (n, d)).astype(np.float64)
    if name == "binary":
        return (noise > 0.5).astype(np.float64)
    return np.zeros((n, d)) if name == "zeros" else noise


def _column(X: np.ndarray, j: int, what: str | float, rng: np.random.Generator) -> np.ndarray:
    """Return what becomes of a column."""
    column, other = X[:, j].copy(), X[:, (j + 1) % X.shape[1]]
    if isinstance(what, float):
        return column * what
    if what in NOT_FINITE:
        column[rng.integers(len(column))] = float(what)
        return column
    largest = np.finfo(np.float64).max
    made = {
        "constant": np.full_like(column, 3.7),
        "zero": np.zeros_like(column),
        "duplicate": other,
        "collinear": 2.0 * other + X[:, 0],
        "negated": -other,
        "offset": column + 1e8,
        "single": np.where(np.arange(len(column)) == len(column) // 2, 5.0, 0.0),
        "denormal": rng.integers(-3, 4, len(column)) * 5e-324,
        "extremes": np.where(column > 0.0, largest, -largest),
        "step": np.where(np.arange(len(column)) % 2 == 0, 1.0, 1.0 + np.finfo(np.float64).eps),
    }
    return made[what]


def _typed(X: np.ndarray, dtype: str, *, full_range: bool, rng: np.random.Generator) -> np.ndarray:
    """Return the table in another type: what does not fit is cut off at the ends of its range."""
    if np.dtype(dtype if dtype != "text" else object).kind in "iu":
        limits = np.iinfo(dtype)
        if full_range:
            return rng.integers(limits.min, limits.max, X.shape, dtype=dtype, endpoint=True)
        # 63 bits of an integer do not fit a double: the largest double below the limit does
        high = np.nextafter(float(limits.max), 0.0)
        return np.clip(np.nan_to_num(3.0 * X), float(limits.min), high).astype(dtype)
    if dtype in ("object", "text"):
        made = X.astype(object)
        if dtype == "text":
            made[0, 0] = "much"
        return made
    if dtype == "bool":
        return X > 0.0
    limit = float(min(np.finfo(dtype).max, np.finfo(np.float64).max))
    return np.where(np.isfinite(X), np.clip(X, -limit, limit), X).astype(dtype)


def _dense(X: np.ndarray, layout: str) -> Any:
    """Return the array as it lies in memory, or in a data frame, or in lists."""
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
        wide[::2, 1::3] = X
        return wide[::2, 1::3]
    if layout == "reversed":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if layout == "readonly":
        X.flags.writeable = False
    elif layout == "frame":
        return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    elif layout == "list":
        return X.tolist()
    elif layout == "torch":
        import torch

        return torch.from_numpy(X)
    elif layout == "dask":
        import dask.array

        return dask.array.from_array(X, chunks=((len(X) + 1) // 2, X.shape[1]))
    return X


def _sparse(X: np.ndarray, layout: str) -> Any:
    """Return the table as a sparse matrix; some hold zeros, and entries in several pieces."""
    if layout == "csr":
        return sp.csr_array(X)
    if layout == "csc":
        return sp.csc_array(X)
    if layout == "csr_matrix":
        return sp.csr_matrix(X)
    rows, columns = (index.ravel() for index in np.indices(X.shape))  # zeros are stored, too
    if layout == "coo":
        return sp.coo_array((X.ravel(), (rows, columns)), shape=X.shape)
    # every entry as the sum of two pieces, the second of them 0, in no order
    values = np.concatenate([X.ravel(), np.zeros(X.size, dtype=X.dtype)])
    order = np.random.default_rng(0).permutation(values.size)
    order = order[np.argsort(np.tile(rows, 2)[order], kind="stable")]
    ends = np.arange(X.shape[0] + 1) * 2 * X.shape[1]
    return sp.csr_array((values[order], np.tile(columns, 2)[order], ends), shape=X.shape)


@st.composite
def well_posed(draw: st.DrawFn) -> Recipe:
    """Draw a table without ties, in any layout."""
    n = draw(st.integers(12, 25))
    d = draw(st.integers(1, n // 2))
    column = st.tuples(st.integers(0, d - 1), st.sampled_from(("constant", "zero")))
    dtype = draw(st.sampled_from(("float64", "float64", FOREIGN_ORDER[0])))
    layouts = DENSE + SPARSE + OTHER_LIBRARIES if dtype == "float64" else ("C", "F", "strided")
    return Recipe(
        n,
        d,
        base=draw(st.sampled_from(("clusters", "noise"))),
        seed=draw(st.integers(0, 999)),
        columns=tuple(draw(st.lists(column, max_size=2))),
        dtype=dtype,
        layout=draw(st.sampled_from(layouts)),
    )


def recipes() -> st.SearchStrategy[Recipe]:
    """Draw a table: one in four has nothing wrong with it."""
    return st.one_of(odd_tables(), odd_tables(), odd_tables(), well_posed())


@st.composite
def odd_tables(draw: st.DrawFn) -> Recipe:
    """Draw a table: most are small and can be fitted, each of the defects is met often enough."""
    large = draw(st.integers(0, 19)) == 19
    n = draw(st.integers(26, 60) if large else st.integers(2, 25))
    d = draw(st.integers(13, 40) if large else st.integers(1, 12))
    defect = st.sampled_from(DEFECTS) | st.sampled_from(FACTORS)
    if draw(st.integers(0, 9)) == 9:
        defect = st.sampled_from(NOT_FINITE)
    column = st.tuples(st.integers(0, d - 1), defect)
    row = st.tuples(st.integers(0, n - 1), st.sampled_from(("zero", "duplicate")))
    dtype = draw(st.sampled_from(("float64",) * 8 + DTYPES))
    holds_objects = dtype in ("object", "text")
    fits_sparse = dtype not in ("float16", "longdouble", *FOREIGN_ORDER) and not holds_objects
    layouts = DENSE * 2 + SPARSE if fits_sparse else DENSE
    if dtype in FOREIGN_ORDER:  # which pandas cannot index
        layouts = tuple(layout for layout in DENSE if layout != "frame")
    if dtype in SHARED_DTYPES:
        layouts += OTHER_LIBRARIES
    return Recipe(
        n,
        d,
        base=draw(st.sampled_from(("clusters",) * 3 + ("noise",) * 3 + BASES)),
        seed=draw(st.integers(0, 999)),
        factor=draw(st.sampled_from((1.0,) * 8 + FACTORS)),
        columns=tuple(draw(st.lists(column, max_size=4))),
        rows=tuple(draw(st.lists(row, max_size=6))),
        full_range=dtype in INTEGERS and draw(st.booleans()),
        dtype=dtype,
        layout=draw(st.sampled_from(layouts)),
    )
