"""What several methods made of one table: their selections, and how far these agree."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.evaluation import Stability
from featsieve.tables import Table
from featsieve.workflow.judge import Agreement
from featsieve.workflow.prepare import Prepared

ALL_FEATURES = "all features"


@dataclass(frozen=True, eq=False)
class Entry:
    """What one method made of the table."""

    method: str
    support: np.ndarray | None
    seconds: float
    stability: Stability | None = None
    reason: str = ""
    agreement: Agreement | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one table.

    Attributes
    ----------
    prepared : Prepared
    entries : tuple of Entry
        In the order that was asked for.
    n_clusters, n_features : int
        For all methods alike.
    n_subsamples : int
    notes : tuple of str
        What a user should know, a sentence each.
    all_features : Agreement or None
        How well k-means on all columns finds the known classes, to compare with.
    """

    prepared: Prepared
    entries: tuple[Entry, ...]
    n_clusters: int
    n_features: int
    n_subsamples: int
    notes: tuple[str, ...] = ()
    all_features: Agreement | None = None

    @property
    def agreement(self) -> np.ndarray:
        """Jaccard index of every pair of methods: shared features over all that either selects.

        NaN for methods that failed.
        """
        m = len(self.entries)
        jaccard = np.full((m, m), np.nan)
        for i, one in enumerate(self.entries):
            for j, other in enumerate(self.entries):
                if one.support is not None and other.support is not None:
                    both = np.sum(one.support & other.support)
                    jaccard[i, j] = both / np.sum(one.support | other.support)
        return jaccard

    @property
    def by_chance(self) -> float:
        """About the Jaccard index of two random selections of as many features."""
        d = len(self.prepared.feature_names)
        shared = self.n_features**2 / d
        return shared / (2 * self.n_features - shared)

    def table(self) -> Table:
        """Return one row per method, with its agreement with every other one.

        Where classes are known, the last row is for all features, to compare with.
        """
        stable = [entry.stability for entry in self.entries]
        columns: dict[str, Any] = {
            "method": [entry.method for entry in self.entries],
            "status": ["failed" if entry.support is None else "done" for entry in self.entries],
            "seconds": [entry.seconds for entry in self.entries],
            "n_features": [0 if e.support is None else int(e.support.sum()) for e in self.entries],
            "stability": [np.nan if s is None else s.value for s in stable],
            "stability_low": [np.nan if s is None else s.interval[0] for s in stable],
            "stability_high": [np.nan if s is None else s.interval[1] for s in stable],
        }
        if self.all_features is not None:
            judged = [entry.agreement for entry in self.entries]
            columns["accuracy"] = [np.nan if a is None else a.accuracy for a in judged]
            columns["nmi"] = [np.nan if a is None else a.nmi for a in judged]
        jaccard = self.agreement
        for i, entry in enumerate(self.entries):
            columns[f"jaccard_{entry.method}"] = jaccard[:, i]
        columns["selected"] = [";".join(self.selected(entry)) for entry in self.entries]
        columns["reason"] = [entry.reason for entry in self.entries]
        if self.all_features is not None:
            reference = dict.fromkeys(columns, "") | {
                "method": ALL_FEATURES,
                "status": "reference",
                "n_features": len(self.prepared.feature_names),
                **vars(self.all_features),
            }
            for name, values in columns.items():
                empty = np.nan if np.asarray(values).dtype.kind == "f" else ""
                columns[name] = [*values, reference[name] if reference[name] != "" else empty]
        return Table(columns)

    def selected(self, entry: Entry) -> list[str]:
        """Return the names of the features that a method selected, in the order of the columns."""
        names = self.prepared.feature_names
        return [] if entry.support is None else [names[j] for j in np.flatnonzero(entry.support)]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        methods = []
        for entry in self.entries:
            about: dict[str, Any] = {"method": entry.method, "seconds": entry.seconds}
            if entry.support is None:
                methods.append({**about, "status": "failed", "reason": entry.reason})
                continue
            about |= {"status": "done", "stability": None}
            about["selected"] = self.selected(entry)
            about["classes"] = None if entry.agreement is None else {**vars(entry.agreement)}
            if entry.stability is not None:
                value, interval = entry.stability.value, entry.stability.interval
                about["stability"] = {"value": _plain([value])[0], "interval": _plain(interval)}
            methods.append(about)
        return {
            "table": self.prepared.table.name,
            "n_samples": int(self.prepared.X.shape[0]),
            "n_features": int(self.prepared.X.shape[1]),
            "n_selected": self.n_features,
            "n_clusters": self.n_clusters,
            "n_subsamples": self.n_subsamples,
            "methods": methods,
            "all_features": None if self.all_features is None else {**vars(self.all_features)},
            "jaccard": [_plain(row) for row in self.agreement],
            "jaccard_by_chance": self.by_chance,
            "notes": list(self.notes),
        }


def _plain(values: Any) -> list[float | None]:
    """Return numbers for JSON, which has no NaN."""
    return [None if np.isnan(value) else float(value) for value in values]
