"""A table with what is known about it."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.guard import TableError
from featsieve.io.memory import check_memory
from featsieve.io.names import check_unique, place_names
from featsieve.io.sparse import compressed_table

# For what a row or column is called, and where it begins.
BYTES_PER_NAME = 64


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
        SHA-256 of the file that `load_dataset` read; None for data that come with the library.
    sample_names : list of str, or None
    class_names : list of str, or None
        Class k of ``y`` is called ``class_names[k]``.
    dropped : tuple of str
        Columns of the file that were left out, because that was asked for or because they hold
        no numbers.
    id_name, label_name : str or None
        What the file calls the names of the samples, and the classes.
    identifying : tuple of str
        Those among ``dropped`` that have another text in every row: they may name the samples.
    unread : tuple of str
        Columns of a text or Parquet file that were not asked for, where ``columns`` were.

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
    identifying: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the features: ``feature_names``, or x0, x1, ... where there are none."""
        if self.feature_names is None:
            return place_names(self.X.shape[1])
        return list(self.feature_names)

    @property
    def n_classes(self) -> int | None:
        """Number of classes, None where there are no labels."""
        return None if self.y is None else len(np.unique(self.y[self.y >= 0]))

    @property
    def complete_y(self) -> np.ndarray | None:
        """The classes, None where one of them is missing: they cannot judge then."""
        return None if self.y is None or np.any(self.y < 0) else self.y


@dataclass(frozen=True, eq=False)
class Content:
    """What a reader found in a file: table, labels as they are, names of columns and rows."""

    X: Any
    labels: Any = None
    feature_names: list[str] | None = None
    sample_names: list[str] | None = None
    dropped: tuple[str, ...] = ()
    id_name: str | None = None
    label_name: str | None = None
    identifying: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


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


def encode_labels(labels: Any) -> np.ndarray:
    """Return labels as files hold them, of any kind, as 0, 1, ... in their sorted order.

    Also a row, a sparse column, or fractions: a file is read whatever its labels look like.
    """
    return encode_classes(labels)[0]


def encode_classes(labels: Any) -> tuple[np.ndarray, list[str]]:
    """Return labels as 0, 1, ... in their order (-1: missing), and the text of every class."""
    labels = np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels)
    if labels.ndim == 2 and 1 not in labels.shape:
        raise TableError(
            f"the labels must be one column, one label per sample; they have shape {labels.shape}"
        )
    labels = labels.ravel()
    missing = labels != labels  # NaN
    if labels.dtype == object:
        missing = np.array([label is None or label != label for label in labels], dtype=bool)
    known = labels[~missing]
    codes = np.full(len(labels), -1)
    if known.dtype == object:
        found = known.tolist()
        if any(isinstance(label, str) for label in found):  # then all are taken as text
            words = [str(label) for label in found]
            names = sorted(set(words))
            order = {name: k for k, name in enumerate(names)}
            codes[~missing] = [order[word] for word in words]
            return codes, names
        known = np.array(found)
    classes, codes[~missing] = np.unique(known, return_inverse=True)
    if classes.dtype.kind == "f" and np.all(np.abs(classes) < 2**53) and np.all(classes % 1 == 0):
        classes = classes.astype(np.int64)  # MATLAB's whole numbers are fractions
    return codes, [str(label) for label in classes.tolist()]


def build_dataset(name: str, content: Content) -> Dataset:
    """Return the data set that a file's content makes, checked."""
    X = as_table(content.X)
    y, classes = (None, None) if content.labels is None else encode_classes(content.labels)
    if y is not None and len(y) != X.shape[0]:
        hint = "; samples must be rows: store its transpose" if len(y) == X.shape[1] else ""
        raise TableError(f"there are {len(y)} labels for {X.shape[0]} samples{hint}")
    names = content.feature_names
    if names is not None:
        if len(names) != X.shape[1]:
            raise TableError(f"there are {len(names)} feature names for {X.shape[1]} features")
        check_unique(names)
    samples = content.sample_names
    if samples is not None and len(samples) != X.shape[0]:
        raise TableError(f"there are {len(samples)} names of samples for {X.shape[0]} samples")
    return Dataset(
        name=name,
        X=X,
        y=y,
        feature_names=names,
        sample_names=samples,
        class_names=classes,
        dropped=content.dropped,
        id_name=content.id_name if samples is not None else None,
        label_name=content.label_name if y is not None else None,
        identifying=content.identifying,
        unread=content.unread,
    )


def dataset_parts(table: Dataset) -> dict[str, Any]:
    """Return a data set as plain values and arrays, for another process."""
    parts = {field.name: getattr(table, field.name) for field in fields(table)}
    if sp.issparse(table.X):
        stored = (table.X.data, table.X.indices, table.X.indptr)
        parts["X"] = [*stored, list(table.X.shape)]
    return parts


def dataset_from_parts(parts: dict[str, Any]) -> Dataset:
    """Return the data set that another process has sent, checked: it may have been hijacked."""
    X = parts["X"]
    X = as_table(X if isinstance(X, np.ndarray) else compressed_table(sp.csr_array, X[:3], X[3]))
    y = parts["y"]
    if y is not None and (y.dtype.kind != "i" or y.shape != X.shape[:1]):
        raise TableError("its reader gave a damaged answer")
    for name, length in (("feature_names", X.shape[1]), ("sample_names", X.shape[0])):
        if parts[name] is not None and len(parts[name]) != length:
            raise TableError("its reader gave a damaged answer")
    words = {name: tuple(map(str, parts[name])) for name in ("dropped", "identifying", "unread")}
    return Dataset(**{**parts, **words, "X": X})
