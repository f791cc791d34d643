"""The data sets of a plan: sizes and checksums of those that are there, one line for others."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from featsieve.datasets import load_dataset
from featsieve.datasets.registry import registry


@dataclass(frozen=True)
class Tables:
    """What a run must know about its data sets."""

    shapes: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    checksums: dict[str, str | None] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, float]:
        """Entries of each table."""
        return {name: float(shape[0] * shape[1]) for name, shape in self.shapes.items()}


def load_tables(
    names: Sequence[str],
    *,
    data: str | os.PathLike[str] | None = None,
    download: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Tables:
    """Look at data sets, and say in one line each which of them are left out."""
    found = Tables()
    for name in names:
        try:
            table = load_dataset(name, data=data, download=download)
        except (OSError, ValueError, ImportError) as error:
            found.left_out[name] = _why(name, error)
        else:
            if table.n_classes is None:
                found.left_out[name] = (
                    "it has no classes to compare with; name their column in the plan: "
                    f'{{ file = "{name}", labels = "COLUMN" }}'
                )
            else:
                found.shapes[name] = (*table.X.shape, table.n_classes)
                found.checksums[name] = table.checksum
        if name in found.left_out:
            say(f"{name} is left out: {found.left_out[name]}.")
    if not found.shapes:
        raise FileNotFoundError(_none_of(found.left_out, download=download))
    return found


def _why(name: str, error: Exception) -> str:
    """Return the reason in one short line."""
    entry = registry().get(name)
    if isinstance(error, FileNotFoundError) and entry is not None:
        return f"{entry.file} is not there; get it from {entry.source}"
    return str(error).split(". ")[0].rstrip(".")


def _none_of(left_out: dict[str, str], *, download: bool) -> str:
    """Return what to do if no data set is there."""
    if len(left_out) == 1:
        ((name, reason),) = left_out.items()
        start = f"The data set {name} could not be loaded: {reason}."
    else:
        start = f"None of the {len(left_out)} data sets could be loaded ({', '.join(left_out)})."
    entries = [registry().get(name) for name in left_out]
    can_fetch = any(entry is not None and entry.url and entry.sha256 for entry in entries)
    return f"{start} Put the files into a folder and name it with --data, or set FEATSIEVE_DATA" + (
        "; or add --download." if can_fetch and not download else "."
    )
