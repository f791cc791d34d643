"""A selection that can be applied to other tables, by the names of their columns."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.counts import check_totals, normalized, row_means, row_totals, without_row_means
from featsieve.io.dataset import Dataset, dense, subset, with_filled
from featsieve.io.formats import Request
from featsieve.io.formats.common import frame_dataset, labelled_frame
from featsieve.io.guard import ColumnError
from featsieve.io.names import check_unique, find_columns
from featsieve.io.neighbours import expand, fill_from_nearest, fill_with
from featsieve.tables import Encoding
from featsieve.validation import check_finite, refuse_text

# What a model may say about how files are read, and of which type.
READING = {"transpose": bool, "drop": list, "sheet": str, "repair": dict, "encode": dict}
# Fields that are stored as one text: a stored node for each of 20,000 names would take seconds.
AS_TEXT = ("feature_names", "selected", "reading")


@dataclass(frozen=True, eq=False)
class SelectionModel:
    """A selection that can be applied to other tables, by the names of their columns.

    Parameters
    ----------
    feature_names : sequence of str
        All columns of the table that was fitted, in their order.
    selected : sequence of str
        Those that were selected, in the same order.
    selector : estimator
        The fitted selector. It was fitted to the table with its gaps filled, and standardised, if
        the fields below say so.
    fill : array-like of shape (n_features,) or None, default=None
        What to put in the place of missing values; None leaves them.
    donors : array-like of shape (n_rows, n_selected) or None, default=None
        Rows of the fitted table, the selected columns only: missing values in these are taken from
        the nearest of the rows, in place of ``fill``.
    centre, scale : array-like of shape (n_features,) or None, default=None
        What the selector's columns had been reduced by, and then divided by.
    id_name, label_name : str or None, default=None
        The columns with names of samples and with classes, as the file called them.
    batch_name : str or None, default=None
        The column with the batches that it was fitted inside of.
    layer : str or None, default=None
        The layer of AnnData files that it was fitted to.
    target : float or None, default=None
        The table held counts: rows were brought to this total, then log(1 + x) was taken.
    center_rows : bool, default=False
        Whether the mean of all columns was taken out of every row, behind the logarithms of counts.
    reading : dict or None, default=None
        Parameters of `featsieve.datasets.read_table` that other files need as well: ``transpose``,
        ``sheet``, ``repair``, ``encode``.
    method : str or None, default=None
        What the method is called, for people.

    See Also
    --------
    featsieve.save_model, featsieve.load_model : Keep it in a file.

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import load_dataset
    >>> from featsieve.io.selection_model import SelectionModel
    >>> iris = load_dataset("iris")
    >>> sieve = JASFS(n_clusters=3, n_features_to_select=2, random_state=0).fit(iris.X)
    >>> model = SelectionModel.from_selector(sieve, iris.names)
    >>> model.selected
    ('petal length (cm)', 'petal width (cm)')
    >>> import pandas
    >>> new = pandas.DataFrame({"petal width (cm)": [0.2], "day": 9, "petal length (cm)": [1.4]})
    >>> model.transform(new)
       petal length (cm)  petal width (cm)
    0                1.4               0.2
    >>> bool(model.predict(new)[0] == sieve.labels_[0])  # the cluster of the first flower
    True
    """

    feature_names: Sequence[str]
    selected: Sequence[str]
    selector: Any
    fill: Any = field(default=None, kw_only=True)
    donors: Any = field(default=None, kw_only=True)
    centre: Any = field(default=None, kw_only=True)
    scale: Any = field(default=None, kw_only=True)
    id_name: str | None = field(default=None, kw_only=True)
    label_name: str | None = field(default=None, kw_only=True)
    batch_name: str | None = field(default=None, kw_only=True)
    layer: str | None = field(default=None, kw_only=True)
    target: float | None = field(default=None, kw_only=True)
    center_rows: bool = field(default=False, kw_only=True)
    reading: Any = field(default=None, kw_only=True)
    method: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        names = tuple(str(name) for name in self.feature_names)
        selected = tuple(str(name) for name in self.selected)
        check_unique(names, fix="give every column a name of its own")
        check_unique(selected, fix="list every column once")
        find_columns(selected, names)
        for option, value in (self.reading or {}).items():
            if not isinstance(value, READING.get(option, ())):
                raise ValueError(f"reading has an unknown {option}={value!r:.200}: see read_table.")
        for name, value in {"feature_names": names, "selected": selected}.items():
            object.__setattr__(self, name, value)
        columns = len(self._owner)
        sizes = {"fill": len(names), "centre": columns, "scale": columns, "donors": len(selected)}
        for name, size in sizes.items():
            if getattr(self, name) is None:
                continue
            numbers = np.asarray(getattr(self, name), dtype=np.float64)
            rows = name == "donors"  # which may have gaps
            known = numbers[~np.isnan(numbers)] if rows else numbers
            if numbers.shape[rows:] != (size,) or not np.isfinite(known).all():
                raise ValueError(
                    f"{name} must have a finite number for each of the {size} features; got "
                    f"{numbers!r}."
                )
            object.__setattr__(self, name, numbers)

    @classmethod
    def from_selector(
        cls, selector: Any, feature_names: Sequence[str], **fields: Any
    ) -> "SelectionModel":
        """Return the model of a fitted selector, with ``fill``, ``centre``, ... as above.

        Parameters
        ----------
        selector : estimator
            With ``get_support``.
        feature_names : sequence of str
            Names of all columns that it was fitted to.
        **fields : dict
            Other parameters of the class.
        """
        support = np.asarray(selector.get_support())
        owner = column_owners(feature_names, fields.get("reading"))
        if len(owner) != len(support):
            raise ValueError(
                f"There are {len(owner)} feature_names, but the selector was fitted to "
                f"{len(support)} columns: pass the names of all columns."
            )
        chosen = [feature_names[int(j)] for j in np.unique(owner[support])]
        return cls(feature_names, chosen, selector, **fields)

    @property
    def encodings(self) -> dict[str, Encoding]:
        """How columns of words become numbers, by their names."""
        return read_encodings(self.reading)

    @property
    def _owner(self) -> np.ndarray:
        """The feature of every column that the selector was fitted to."""
        return column_owners(self.feature_names, self.reading)

    @property
    def needs_all(self) -> bool:
        """Whether the clusters of other rows take all columns of the fit, not the selected ones."""
        return self.target is not None or self.center_rows

    def transform(self, table: Any) -> Any:
        """Return the selected columns of a table, found by their names.

        Parameters
        ----------
        table : Dataset, pandas.DataFrame or polars.DataFrame
            Only the selected columns are needed, in any order. Others are ignored.

        Returns
        -------
        the same kind of table
            The selected columns, in the order of the fit and in their own units, with missing
            values filled if the model fills them.

        Raises
        ------
        ValueError
            If columns are missing; the message names them, and others with similar names.
        """
        if hasattr(table, "to_pandas"):
            return type(table)(self.transform(table.to_pandas()))
        found = self._table(table, self.selected)
        if isinstance(table, Dataset):
            return found
        if self.fill is None:
            return table.iloc[:, self._places(table, self.selected)]
        return labelled_frame(found).set_axis(table.index)

    def predict(self, table: Any, *, batch: Any = None) -> np.ndarray:
        """Return the cluster of every row, if the selector can tell the clusters of new rows.

        Parameters
        ----------
        table : Dataset, pandas.DataFrame or polars.DataFrame
            As in :meth:`transform`. A model of counts (``target``) or of centred rows
            (``center_rows``) needs all columns of the fit, for totals and means of the rows.
        batch : array-like of shape (n_rows,), optional
            Batch of every row, if the model was fitted inside of batches; by default that of a
            Dataset.

        Returns
        -------
        ndarray of shape (n_rows,)

        Raises
        ------
        TypeError
            If the selector finds no clusters that new rows could belong to.
        ValueError
            If columns are missing, or values where the model does not fill them.
        """
        predictor = _predictor(self.selector)
        if predictor is None:
            raise TypeError(
                f"{type(self.selector).__name__} does not say which cluster a new row belongs to: "
                "JASFS does. Or cluster the selected columns, for example with "
                "sklearn.cluster.KMeans."
            )
        owner = self._owner
        features = np.unique(owner[predictor.support_])
        needed = np.flatnonzero(np.isin(owner, features))
        table = table.to_pandas() if hasattr(table, "to_pandas") else table
        X = self._values(table, [self.feature_names[int(j)] for j in features])
        whole = self._values(table, self.feature_names) if self.needs_all else None
        if self.target is not None:
            totals = row_totals(whole)
            check_totals(totals)
            X, whole = (normalized(part, totals, self.target) for part in (X, whole))
        if self.center_rows:
            X = without_row_means(X, row_means(whole))
        if batch is None and isinstance(table, Dataset):
            batch = table.batch
        if self.centre is not None:
            X = dense(X) - self.centre[needed]
        if self.scale is not None:
            X = X / self.scale[needed]
        # The other columns have no weight: they may as well be zero.
        block = sp.csr_array(X)
        whole = sp.csr_array(
            (block.data, needed[block.indices], block.indptr),
            shape=(X.shape[0], len(owner)),
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return predictor.predict(whole, **({} if batch is None else {"batch": batch}))

    def _values(self, table: Any, names: Sequence[str]) -> Any:
        """Return columns of a table by name as finite numbers, words as the selector sees them."""
        known = {name: one for name, one in self.encodings.items() if name in names}
        X, owner, _ = expand(self._table(table, names).X, names, known)
        check_finite(X, owner=type(self).__name__, names=np.asarray(names)[owner])
        return X

    def _places(self, table: Any, names: Sequence[str]) -> np.ndarray:
        """Return where columns of a table are, or say which are missing."""
        if not isinstance(table, Dataset) and not hasattr(table, "iloc"):
            raise TypeError(
                "The columns are found by their names, so the table must have some: pass a data "
                "frame of pandas or polars, or a Dataset (featsieve.datasets.read_table); got "
                f"{type(table).__name__}."
            )
        present = table.names if isinstance(table, Dataset) else [str(c) for c in table.columns]
        try:
            wanted = set(names)
            check_unique(name for name in present if name in wanted)
            return find_columns(names, present)
        except ColumnError as error:
            raise type(error)(
                f"The table does not fit the model: {error}. It needs the {len(names)} "
                f"{'columns of the fit' if names is self.feature_names else 'selected columns'}, "
                "by their names."
            ) from error

    def _table(self, table: Any, names: Sequence[str]) -> Dataset:
        """Return columns of a table by name, as numbers, words as codes of the model, filled."""
        places, known = self._places(table, names), self.encodings
        own = {name: self.reading["encode"][name] for name in names if name in known}
        asked = Request(columns=names, encode=own)
        if not isinstance(table, Dataset):
            frame = table.iloc[:, places].set_axis(list(names), axis=1)
            refuse_text(frame.drop(columns=list(own)))
            found = frame_dataset(frame, asked)
        else:
            found = subset(table, places)
            if found.encodings:  # with codes of its own
                again = frame_dataset(labelled_frame(replace(found, y=None, batch=None)), asked)
                options = {**found.origin.options, **again.origin.options}
                found = replace(found, X=again.X, origin=replace(found.origin, options=options))
        how = "median" if self.donors is None else "nearest rows"
        return with_filled(found, self._filled(found.X, names), how)

    def _filled(self, X: Any, names: Sequence[str]) -> Any:
        """Return columns with their gaps filled, without changing them."""
        if self.fill is None:
            return X
        if self.donors is not None:
            X, own = np.array(dense(X)), set(self.selected)
            at = [j for j, name in enumerate(names) if name in own]
            known = [names[j] for j in at]
            donors = self.donors[:, find_columns(known, self.selected)]
            X[:, at] = fill_from_nearest(X[:, at], donors, known, self.encodings)
        return fill_with(X, self.fill[find_columns(names, self.feature_names)])

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {name: json.dumps(getattr(self, name)) for name in AS_TEXT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        for name in AS_TEXT:
            object.__setattr__(self, name, json.loads(state[name]))
        self.__post_init__()


def read_encodings(reading: Any) -> dict[str, Encoding]:
    """Return the encodings in what a model knows of files."""
    known = (reading or {}).get("encode") or {}
    return {str(name): Encoding(**about) for name, about in known.items()}


def column_owners(names: Sequence[str], reading: Any) -> np.ndarray:
    """Return the feature of every column that a selector sees: some have several."""
    known = read_encodings(reading)
    sizes = [known[name].n_columns if name in known else 1 for name in names]
    return np.repeat(np.arange(len(sizes)), sizes)


def _predictor(selector: Any) -> Any:
    """Return what predicts clusters: the selector or one inside of it; None where nothing does."""
    while selector is not None and not (
        hasattr(selector, "predict") and hasattr(selector, "coef_")
    ):
        inside = getattr(selector, "selector_", None)
        selector = inside if inside is not None else getattr(selector, "best_estimator_", None)
    return selector
