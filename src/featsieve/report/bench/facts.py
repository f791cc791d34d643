"""What took part in a benchmark: data sets, methods, versions, and what went wrong."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from featsieve.datasets import dataset_info
from featsieve.report.bench.published import NAMES, load_published, published_name
from featsieve.report.bench.scores import params_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class DatasetFact:
    """A data set as it was used.

    ``published`` is the shape that the paper gives, if it does; ``note`` is what a reader of
    results must know about these data.
    """

    name: str
    n_samples: int
    n_columns: int
    n_classes: int
    published: tuple[int, int, int] | None
    note: str = ""

    @property
    def comparable(self) -> bool:
        """Whether the paper has results for these data, as far as is known."""
        return self.published is not None and not self.differs and not self.note

    @property
    def differs(self) -> bool:
        """Whether the paper used another shape."""
        shape = (self.n_samples, self.n_columns, self.n_classes)
        return self.published is not None and self.published != shape


@dataclass(frozen=True)
class MethodFact:
    """A method of the plan; ``published`` is its name in the paper's tables, if it is there."""

    name: str
    selector: str
    control: bool
    published: str | None


@dataclass(frozen=True)
class Failure:
    """Cells of one method on one data set that ended the same way."""

    dataset: str
    method: str
    experiment: str
    status: str
    reason: str
    n_cells: int


def datasets_of(rows: "pd.DataFrame") -> tuple[DatasetFact, ...]:
    """Collect the data sets: the paper's in its order, then the others by name."""
    paper = load_published()
    # A cell that failed before its data were there has no shape.
    best = rows.sort_values("n_samples", kind="stable").groupby("dataset").last()
    facts = [
        DatasetFact(
            str(name),
            int(row.n_samples),
            int(row.n_columns),
            int(row.n_classes),
            paper.shapes.get(str(name)),
            _note(str(name)),
        )
        for name, row in best.iterrows()
    ]
    known = {name: place for place, name in enumerate(paper.datasets)}
    return tuple(sorted(facts, key=lambda fact: (known.get(fact.name, len(known)), fact.name)))


def _note(name: str) -> str:
    """Look up what the registry says about a data set; nothing about a file of the user's."""
    try:
        return dataset_info(name).note
    except ValueError:
        return ""


def methods_of(rows: "pd.DataFrame") -> tuple[MethodFact, ...]:
    """Collect the methods: controls first, then the paper's in its order, then the others."""
    facts = []
    for name, group in rows.groupby("method"):
        params = [params_of(text) for text in group["params"]]
        selector = str(group["selector"].iloc[0])
        solver = {"solver": "paper"} if any(p.get("solver") == "paper" for p in params) else {}
        control = bool(group["control"].any())
        facts.append(MethodFact(str(name), selector, control, published_name(selector, solver)))
    places = {selector: place for place, selector in enumerate(NAMES)}

    def place(fact: MethodFact) -> tuple[bool, int, bool, str]:
        # JASFS last: what the comparison is about. Its published form stands before ours.
        last = len(places) + 1 if fact.selector == "JASFS" else len(places)
        known = places.get(fact.selector, last) if fact.selector != "JASFS" else last
        return (not fact.control, known, fact.published is None, fact.name)

    return tuple(sorted(facts, key=place))


def failures_of(rows: "pd.DataFrame") -> tuple[Failure, ...]:
    """Count what did not end well, by reason."""
    bad = rows[rows["status"] != "done"]
    keys = ["dataset", "method", "experiment", "status", "reason"]
    counted = bad.groupby(keys, dropna=False)["cell"].nunique()
    return tuple(
        Failure(dataset, method, experiment, status, str(reason), int(count))
        for (dataset, method, experiment, status, reason), count in counted.items()
    )


def versions_of(column: Any) -> dict[str, tuple[str, ...]]:
    """Collect the versions of every package that took part."""
    found: dict[str, set[str]] = {}
    for text in set(column.astype(str)) - {"", "nan"}:
        for name, version in json.loads(text).items():
            found.setdefault(name, set()).add(str(version))
    return {name: tuple(sorted(found[name])) for name in sorted(found)}
