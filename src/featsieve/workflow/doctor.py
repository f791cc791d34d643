"""What this installation has: versions, optional parts, linear algebra, memory, accelerators."""

import importlib
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import featsieve
from featsieve.datasets.load import DATA_VARIABLE

CORE = ("numpy", "scipy", "scikit-learn", "joblib", "array-api-compat", "array-api-extra")


@dataclass(frozen=True)
class Part:
    """An optional library."""

    module: str
    extra: str
    purpose: str

    @property
    def install(self) -> str:
        """The command that brings it."""
        return (
            f"pip install 'featsieve[{self.extra}]'" if self.extra else f"pip install {self.module}"
        )


PARTS = (
    Part("pandas", "data", "reading .csv and .tsv files, data frames"),
    Part("pyarrow", "data", "reading .parquet files, benchmarks"),
    Part("h5py", "data", "reading .h5ad files and .mat files of version 7.3"),
    Part("pooch", "data", "downloading data sets"),
    Part("skops", "model", "model files: featsieve select, featsieve apply"),
    Part("jinja2", "report", "HTML reports"),
    Part("matplotlib", "report", "figures"),
    Part("typer", "cli", "this command"),
    Part("rich", "cli", "this command"),
    Part("anndata", "anndata", "genes of AnnData objects, writing .h5ad files"),
    Part("polars", "", "polars data frames"),
    Part("torch", "", "tensors, also on a GPU"),
)


def examine() -> dict[str, Any]:
    """Return what this installation has."""
    from joblib import cpu_count

    parts = [_examine_part(part) for part in PARTS]
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
        "cache": _cache(),
        "data": _data(),
    }


def _examine_part(part: Part) -> dict[str, Any]:
    """Say whether an optional library is there and can be loaded."""
    about: dict[str, Any] = {
        "module": part.module,
        "version": None,
        "status": "missing",
        "install": part.install,
        "purpose": part.purpose,
    }
    if find_spec(part.module) is None:
        return about
    try:
        module = importlib.import_module(part.module)
    except Exception as error:  # a broken library can fail in any way
        return {**about, "status": "broken", "reason": f"{type(error).__name__}: {error}"}
    found = _version(part.module) or getattr(module, "__version__", None)
    return {**about, "status": "found", "version": found}


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


def _cache() -> str | None:
    """Return the folder of downloads; None without pooch."""
    from featsieve.datasets.fetch import cache_folder

    try:
        return str(cache_folder())
    except ImportError:
        return None


def _data() -> dict[str, Any]:
    """Return the folder of data sets that the environment names, and whether it is there."""
    named = os.environ.get(DATA_VARIABLE) or None
    return {
        "variable": DATA_VARIABLE,
        "folder": named,
        "exists": named is not None and os.path.isdir(named),
    }
