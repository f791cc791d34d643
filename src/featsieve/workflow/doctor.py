"""What this installation has: versions, optional parts, linear algebra, memory, accelerators."""

import importlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import featsieve
from featsieve.datasets.fetch import cache_folder
from featsieve.datasets.load import DATA_VARIABLE

CORE = ("numpy", "scipy", "scikit-learn", "joblib", "array-api-compat", "array-api-extra")
# Optional libraries: the extra of featsieve that brings them, and what they are for.
PARTS = {
    "pandas": ("data", "reading .csv and .tsv files, data frames"),
    "pyarrow": ("data", "reading .parquet files, benchmarks"),
    "h5py": ("data", "reading .h5ad files and .mat files of version 7.3"),
    "pooch": ("data", "downloading data sets"),
    "skops": ("model", "model files: featsieve select, featsieve apply"),
    "jinja2": ("report", "HTML reports"),
    "matplotlib": ("report", "figures"),
    "typer": ("cli", "this command"),
    "rich": ("cli", "this command"),
    "anndata": ("anndata", "genes of AnnData objects, writing .h5ad files"),
    "polars": (None, "polars data frames"),
    "torch": (None, "tensors, also on a GPU"),
}


def examine() -> dict[str, Any]:
    """Return what this installation has."""
    from joblib import cpu_count

    parts = [_examine_part(name, *about) for name, about in PARTS.items()]
    folder = os.environ.get(DATA_VARIABLE) or None
    try:
        cache = str(cache_folder())
    except ImportError:  # without pooch
        cache = None
    return {
        "featsieve": featsieve.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "core": {name: _version(name) for name in CORE},
        "parts": parts,
        "blas": _blas(),
        "cores": cpu_count(),
        "memory_bytes": _memory(),
        "devices": _devices(parts),
        "cache": cache,
        "data": {
            "variable": DATA_VARIABLE,
            "folder": folder,
            "exists": folder is not None and os.path.isdir(folder),
        },
    }


def _examine_part(name: str, extra: str | None, purpose: str) -> dict[str, Any]:
    """Say whether an optional library is there and can be loaded."""
    install = f"pip install 'featsieve[{extra}]'" if extra else f"pip install {name}"
    about = {"module": name, "version": None, "install": install, "purpose": purpose}
    if find_spec(name) is None:
        return about | {"status": "missing"}
    try:
        module = importlib.import_module(name)
    except Exception as error:  # a broken library can fail in any way
        return about | {"status": "broken", "reason": f"{type(error).__name__}: {error}"}
    found = _version(name) or getattr(module, "__version__", None)
    return about | {"status": "found", "version": found}


def _version(name: str) -> str | None:
    """Return the version of an installed package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _blas() -> list[str]:
    """Return the libraries of linear algebra with their threads."""
    from threadpoolctl import threadpool_info

    return sorted(
        {
            f"{library['internal_api']} {library['version'] or ''}".strip()
            + f", {library['num_threads']} thread{'s'[: library['num_threads'] != 1]}"
            for library in threadpool_info()
            if library["user_api"] == "blas"
        }
    )


def _memory() -> int | None:
    """Return the physical memory, None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _devices(parts: list[dict[str, Any]]) -> list[str]:
    """Return the accelerators that torch sees."""
    if not any(part["module"] == "torch" and part["status"] == "found" for part in parts):
        return []
    torch = importlib.import_module("torch")
    found = [
        f"cuda:{i}: {torch.cuda.get_device_name(i)}, "
        f"{torch.cuda.get_device_properties(i).total_memory / 2**30:.0f} GiB"
        for i in range(torch.cuda.device_count() if torch.cuda.is_available() else 0)
    ]
    mps = getattr(torch.backends, "mps", None)
    return [*found, "mps: Apple GPU"] if mps is not None and mps.is_available() else found
