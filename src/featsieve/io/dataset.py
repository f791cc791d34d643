"""A table in memory with what is known about it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.guard import ColumnError, TableError, check_memory, first_line
from featsieve.io.names import check_unique, place_names
from featsieve.tables import Encoding

SPARSE_KINDS: dict[Any, Any] = {"csr": sp.csr_array, "csc": sp.csc_array}
BYTES_PER_NAME = 64  # of a row or column of a sparse table


@dataclass(frozen=True, eq=False)
class Origin:
    """How a table was made of a file, which is not always what the file shows.

    Attributes
    ----------
    options : dict
        Options of `read_table` that other files of this kind need as well: ``transpose``,
        ``sheet``, ``repair``, ``encode``.
    notes : tuple of str
        What was done, a sentence each.
    text : dict of str to int
        Columns of text that were left out, and how many different words each has.
    repaired : dict of str to str
        Columns of numbers written as text, and what was odd about them.
    changes : dict of str to list
        Every cell that was changed: ``row`` (number of the sample, from 1), ``column``, what it
        ``was`` and is ``now``.
    filled : dict of str to list
        Every ``column`` whose missing values were filled: what is there ``now`` (nothing where that
        differs between rows), in how many ``cells``, and ``how``.
    """

    options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    text: dict[str, int] = field(default_factory=dict)
    repaired: dict[str, str] = field(default_factory=dict)
    changes: dict[str, list[Any]] = field(default_factory=dict)
    filled: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with what is known about it.

    Attributes
    ----------
    name : str
    X : ndarray or csr_array of shape (n_samples, n_features)
        Samples are rows. Whole numbers are stored as float64.
    y : ndarray of shape (n_samples,), or None
        Classes 0, 1, ... in the order of the labels, -1 where one is missing; None where there are
        none at all.
    feature_names : list of str, or None
        None where the file has no names; ``names`` calls them x0, x1, ... then.
    informative, redundant : ndarray of shape (n_features,), dtype bool, or None
        The truth of a planted table; see `make_planted`.
    note : str
        What a reader of results must know, for example that this version has fewer features.
    checksum : str or None
        SHA-256 of the registered file that `load_dataset` read, or of the numbers that it read
        from another one; None for data that come with the library.
    sample_names : list of str, or None
    class_names : list of str, or None
        Class k of ``y`` is called ``class_names[k]``.
    dropped : tuple of str
        Columns of the file that were left out, because that was asked for or because they hold
        no numbers.
    id_name, label_name, batch_name : str or None
        What the file calls the names of the samples, the classes, and the batches.
    batch : list of str, or None
        Batch of every sample: a plate, a donor, a species.
    cells : bool
        Whether it is expression, cells x genes of an AnnData file, which may be raw counts.
    layer : str or None
        The layer of an AnnData file that it is, None for ``X``.
    flags : dict of str to bool arrays, or None
        Columns of ``var`` of an AnnData file with True or False for every feature.
    origin : Origin
        How it was made of a file: what was left out, repaired or transposed.

    Examples
    --------
    >>> from featsieve.datasets import load_dataset
    >>> iris = load_dataset("iris")
    >>> iris.X.shape, iris.n_classes, iris.feature_names[0]
    ((150, 4), 3, 'sepal length (cm)')
    """

    name: str
    X: np.ndarray | sp.csr_array
    y: np.ndarray | None = None
    feature_names: list[str] | None = None
    informative: np.ndarray | None = None
    redundant: np.ndarray | None = None
    note: str = ""
    checksum: str | None = None
    sample_names: list[str] | None = None
    class_names: list[str] | None = None
    dropped: tuple[str, ...] = ()
    id_name: str | None = None
    label_name: str | None = None
    batch: list[str] | None = None
    batch_name: str | None = None
    cells: bool = False
    layer: str | None = None
    flags: dict[str, np.ndarray] | None = None
    origin: Origin = field(default_factory=Origin)

    @property
    def names(self) -> list[str]:
        """Names of the features: ``feature_names``, or x0, x1, ... where there are none."""
        if self.feature_names is None:
            return place_names(self.X.shape[1])
        return list(self.feature_names)

    @property
    def encodings(self) -> dict[str, Encoding]:
        """How columns of words became the codes in X: see `featsieve.tables.encode`."""
        names, known = set(self.names), self.origin.options.get("encode") or {}
        return {name: Encoding(**about) for name, about in known.items() if name in names}

    @property
    def n_classes(self) -> int | None:
        """Number of classes, None where there are no labels."""
        return None if self.y is None else len(np.unique(self.y[self.y >= 0]))

    @property
    def complete_y(self) -> np.ndarray | None:
        """The classes, None where one of them is missing: they cannot judge then."""
        return None if self.y is None or np.any(self.y < 0) else self.y


def as_table(X: Any) -> np.ndarray | sp.csr_array:
    """Return a numeric table of two dimensions: sparse as CSR, whole numbers as float64."""
    sparse = sp.issparse(X)
    if not sparse:
        X = np.asarray(X)
    if X.ndim != 2:
        raise TableError(
            f"the table must have two dimensions, samples x features; it has shape {X.shape}"
        )
    if 0 in X.shape:
        raise TableError(f"the table is empty: its shape is {X.shape}")
    if X.dtype.kind not in "fiub":
        raise TableError(f"the table must hold real numbers; its type is {X.dtype}")
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if sparse:  # of which a file can say any shape
        check_memory(BYTES_PER_NAME * sum(X.shape), what=f"a table of shape {X.shape}")
    X = X.astype(dtype, copy=False)
    return sp.csr_array(X) if sparse else X


def compressed_table(kind: Any, parts: Sequence[Any], shape: Any) -> Any:
    """Return a sparse table of (data, indices, starts), checked: SciPy's routines trust these."""
    try:
        data, indices, starts = (np.asarray(part) for part in parts)
        if indices.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
            raise ValueError("indices are not whole numbers")
        n, d = (int(size) for size in np.ravel(np.asarray(shape)))
        matrix = kind((data, indices, starts), shape=(n, d))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        reason = f"its sparse table is damaged ({first_line(error)})"
        raise TableError(f"{reason}: get it or save it again") from error
    return matrix


def checked_sparse(values: Any) -> Any:
    """Return what a library has built from a file: sparse tables checked, all else as it is."""
    kind = SPARSE_KINDS.get(getattr(values, "format", None)) if sp.issparse(values) else None
    if kind is None:
        return values
    return compressed_table(kind, (values.data, values.indices, values.indptr), values.shape)


def encode_classes(labels: Any) -> tuple[np.ndarray, list[str]]:
    """Return labels as 0, 1, ... in their order (-1: missing), and the text of every class."""
    labels = np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels)
    if labels.ndim == 2 and 1 not in labels.shape:
        raise TableError(
            f"the labels must be one column, one label per sample; they have shape {labels.shape}"
        )
    missing = np.array([label is None or label != label for label in labels.flat], dtype=bool)
    known = labels.ravel()[~missing].tolist()
    if any(isinstance(label, str) for label in known):  # then all are taken as text
        known = [str(label) for label in known]
    classes = sorted(set(known))
    places = {label: k for k, label in enumerate(classes)}
    codes = np.full(labels.size, -1)
    codes[~missing] = [places[label] for label in known]
    if all(isinstance(v, float) and v.is_integer() and abs(v) < 2**53 for v in classes):
        classes = [int(label) for label in classes]  # MATLAB's whole numbers are fractions
    return codes, [str(label) for label in classes]


def make_dataset(
    X: Any, *, labels: Any = None, batch: list[Any] | None = None, **fields: Any
) -> Dataset:
    """Return the data set, still without a name, that the content of a file makes; checked."""
    X = as_table(X)
    y, classes = (None, None) if labels is None else encode_classes(labels)
    if batch is not None:
        gaps = [one is None or one != one or not str(one).strip() for one in batch]
        if any(gaps):
            raise ColumnError(
                f"the batch of {sum(gaps)} of {len(batch)} samples is missing (the first is row "
                f"{gaps.index(True) + 1:,}): name it, or leave these samples out"
            )
        batch = [str(one) for one in batch]
    absent = ("label_name", y), ("id_name", fields.get("sample_names"))
    fields |= {name: None for name, values in absent if values is None}
    made = Dataset(name="", X=X, y=y, class_names=classes, batch=batch, **fields)
    check_unique(made.feature_names or ())
    return check_lengths(made)


def check_lengths(table: Dataset) -> Dataset:
    """Return a data set, or say what there is more or less of than rows or columns."""
    n, d = table.X.shape
    samples = {"labels": table.y, "names of samples": table.sample_names, "batches": table.batch}
    features = {"feature names": table.feature_names, **(table.flags or {})}
    for length, whose, parts in ((n, "samples", samples), (d, "features", features)):
        for what, values in parts.items():
            if values is not None and len(values) != length:
                there = f"there are {len(values)} {what} for {length} {whose}"
                raise TableError(f"{there}: one each is needed, and samples must be rows")
    return table


def subset(table: Dataset, indices: Any) -> Dataset:
    """Return the same samples with some of the features."""
    chosen = np.asarray(indices, dtype=np.intp)
    names = table.names
    return replace(
        table,
        X=table.X[:, chosen],
        feature_names=[names[j] for j in chosen],
        informative=None if table.informative is None else table.informative[chosen],
        redundant=None if table.redundant is None else table.redundant[chosen],
        flags=table.flags and {name: mask[chosen] for name, mask in table.flags.items()},
    )


def count_where(X: Any, test: Any) -> np.ndarray:
    """Return how many values of every column pass a test that zero fails, such as `numpy.isnan`."""
    if hasattr(X, "tocoo"):
        stored = X.tocoo()
        return np.bincount(stored.col[test(stored.data)], minlength=X.shape[1])
    return np.count_nonzero(test(X), axis=0)


# What is known of the filled cells of a column.
FILLED = ("column", "now", "cells", "how")


def with_filled(table: Dataset, X: Any, how: str) -> Dataset:
    """Return a table whose gaps were filled in X; a median of words is the most frequent one."""
    earlier = table.origin.filled
    rows = list(zip(*(earlier[key] for key in FILLED), strict=True)) if earlier else []
    names, known = table.names, table.encodings
    parts = [part.tocsc() if hasattr(part, "tocsc") else part for part in (table.X, X)]
    for j in np.flatnonzero(count_where(table.X, np.isnan)).tolist():
        before, after = (dense(part[:, [j]]).ravel() for part in parts)
        gaps = np.isnan(before) & ~np.isnan(after)
        if not gaps.any() or gaps.all():  # empty columns are left out
            continue
        values, one = np.unique(after[gaps]), known.get(names[j])
        words = values.tolist() if one is None else one.words(values)
        by_word = how == "median" and one is not None and one.kind == "category"
        said = "most frequent word" if by_word else how
        rows.append((names[j], words[0] if len(words) == 1 else "", int(gaps.sum()), said))
    filled = dict(zip(FILLED, map(list, zip(*rows, strict=True)), strict=False))
    return replace(table, X=X, origin=replace(table.origin, filled=filled))


def dense(X: Any) -> np.ndarray:
    """Return a table with its zeros."""
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def dataset_from_parts(parts: dict[str, Any]) -> Dataset:
    """Return the data set that another process has sent, checked: it may have been hijacked."""
    origin = Origin(**{**parts["origin"], "notes": tuple(map(str, parts["origin"]["notes"]))})
    made = {"X": as_table(parts["X"]), "dropped": tuple(map(str, parts["dropped"]))}
    arrays = [("i", parts["y"]), *(("b", mask) for mask in (parts["flags"] or {}).values())]
    for kind, values in arrays:
        if values is not None and (values.dtype.kind != kind or values.ndim != 1):
            raise TableError("the process that read it returned a damaged answer")
    return check_lengths(Dataset(**{**parts, **made, "origin": origin}))
