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
    """What of a plan is there."""

    planned: int | None
    ended: int
    done: int
    unfinished: tuple[Key, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.planned is None or self.ended >= self.planned

    def unfinished_words(self) -> str:
        """List the unfinished searches by data set."""
        names: dict[str, list[str]] = {}
        for dataset, method in self.unfinished:
            names.setdefault(dataset, []).append(method)
        return "; ".join(f"{', '.join(methods)} on {name}" for name, methods in names.items())


def progress_of(
    rows: "pd.DataFrame", planned: Collection[str] | Mapping[str, Any] | None = None
) -> Progress:
    """Compare what is there with what was planned."""
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
