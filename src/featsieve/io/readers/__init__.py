"""Readers of table files, one module per format: ``read(path, request)`` returns a `Content`.

They call the format's own library, and run in a child process; see `featsieve.io.child`.
"""

import importlib
from pathlib import Path
from typing import Any, NamedTuple

from featsieve.io.dataset import build_dataset, dataset_parts
from featsieve.io.request import Request


class Reader(NamedTuple):
    """Who reads a format: a module of this package, and the libraries that it calls."""

    module: str
    libraries: tuple[str, ...] = ()


TEXT = Reader("text", ("pandas",))
READERS: dict[str, Reader] = {
    ".mat": Reader("mat", ("scipy.io", "h5py")),
    ".csv": TEXT,
    ".csv.gz": TEXT,
    ".tsv": TEXT,
    ".tsv.gz": TEXT,
    ".parquet": Reader("parquet", ("pandas", "pyarrow.parquet")),
    ".npz": Reader("npz"),
    ".h5ad": Reader("h5ad", ("h5py",)),
}


def read_parts(path: Path, *, ending: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the data set in a file; called in the child."""
    module = importlib.import_module(f"{__name__}.{READERS[ending].module}")
    content = module.read(path, Request.from_parts(request))
    return dataset_parts(build_dataset(path.name[: -len(ending)], content))
