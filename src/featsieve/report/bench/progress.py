"""How much of a plan has been run, and which searches are not complete."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from featsieve.bench.cells import DEPENDENT
from featsieve.report.bench.scores import Key

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Progress:
    """What of a plan is there.

    Attributes
    ----------
    planned : int or None
        Cells of the plan; None: not known.
    ended : int
        Cells with rows, whatever their status.
    done : int
        Cells with a result.
    unfinished : tuple of (data set, method)
        Whose grids are not complete: the best of a part says nothing about the best of all.
    """

    planned: int | None
    ended: int
    done: int
    unfinished: tuple[Key, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.planned is None or self.ended >= self.planned

    def unfinished_words(self) -> str:
        """List the unfinished searches by data set.

        Examples
        --------
        >>> from featsieve.report.bench.progress import Progress
        >>> progress = Progress(9, 7, 7, (("iris", "NDFS"), ("iris", "UDFS"), ("wine", "NDFS")))
        >>> progress.unfinished_words()
        'NDFS, UDFS on iris; NDFS on wine'
        """
        names: dict[str, list[str]] = {}
        for dataset, method in self.unfinished:
            names.setdefault(dataset, []).append(method)
        return "; ".join(f"{', '.join(methods)} on {name}" for name, methods in names.items())


def progress_of(
    rows: "pd.DataFrame", planned: Collection[str] | Mapping[str, Any] | None = None
) -> Progress:
    """Compare what is there with what was planned.

    Parameters
    ----------
    rows : DataFrame
    planned : collection of str, or mapping, default=None
        Identities of all planned cells. A mapping may say what each of them is ("dataset",
        "method", "experiment"). Without that a missing cell may belong to any search: only those
        with cells that are made after a whole grid (label-free, curve) count as complete then.

    Returns
    -------
    Progress
    """
    there = set(rows["cell"])
    done = int(rows.loc[rows["status"] == "done", "cell"].nunique())
    if planned is None:
        return Progress(None, len(there), done)
    missing = sorted(set(planned) - there)
    unfinished: set[Key] = set()
    if missing and isinstance(planned, Mapping) and all("method" in planned[m] for m in missing):
        about = [planned[cell] for cell in missing]
        unfinished = {(a["dataset"], a["method"]) for a in about if a["experiment"] == "grid"}
    elif missing:
        unfinished = _keys(rows, ("grid",)) - _keys(rows, DEPENDENT)
    return Progress(len(set(planned) | there), len(there), done, tuple(sorted(unfinished)))


def _keys(rows: "pd.DataFrame", experiments: tuple[str, ...]) -> set[Key]:
    """Pairs of data set and method with rows of an experiment."""
    own = rows[rows["experiment"].isin(experiments)]
    return set(zip(own["dataset"], own["method"], strict=True))
