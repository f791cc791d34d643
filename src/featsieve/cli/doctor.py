"""``featsieve doctor``: what this installation has, and what it lacks."""

import importlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import featsieve
from featsieve.cli import options
from featsieve.cli.console import facts_grid, output, print_json

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
STYLES = {"found": "green", "missing": "yellow", "broken": "red"}


def doctor(as_json: options.Json = False) -> None:
    """Say which versions and optional parts are installed, and what the missing ones are for.

    Send this along when you report a problem. It holds the name of the folder for downloads and
    the one in FEATSIEVE_DATA, and nothing else about you.

    Example: `featsieve doctor`

    Example: `featsieve doctor --json`
    """
    found = examine()
    if as_json:
        print_json(found)
        return
    from rich.table import Table
    from rich.text import Text

    memory, data = found["memory_bytes"], found["data"]
    gone = " (there is no such folder)" if data["folder"] and not data["exists"] else ""
    facts = {
        "featsieve": found["featsieve"],
        "python": f"{found['python']}, {found['system']}",
        **{name: number or "unknown" for name, number in found["core"].items()},
        "linear algebra": "; ".join(found["blas"]) or "unknown",
        "cores": str(found["cores"]),
        "memory": f"{memory / 2**30:.0f} GiB" if memory else "unknown",
        "accelerators": "; ".join(found["devices"]) or "none found",
        "downloads": found["cache"] or "none without pooch",
        data["variable"]: (data["folder"] or "not set") + gone,
    }
    console = output()
    console.print(facts_grid(facts.items()))
    console.print("\nOptional parts", style="bold")
    parts = Table.grid(padding=(0, 2))
    for part in found["parts"]:
        text = f"for {part['purpose']}"
        if part["status"] == "missing":
            text += f"; to get it: {part['install']}"
        elif part["status"] == "broken":
            text += f"; {part['reason']}; install it again: {part['install']}"
        state = Text(part["version"] or part["status"], style=STYLES[part["status"]])
        parts.add_row(Text(part["module"]), state, Text(text))
    console.print(parts)


def examine() -> dict[str, Any]:
    """Return what this installation has: versions, optional parts, memory, accelerators."""
    from joblib import cpu_count
    from threadpoolctl import threadpool_info

    from featsieve.datasets.load import DATA_VARIABLE, cache_folder

    parts = [_examine_part(name, *about) for name, about in PARTS.items()]
    torch = next((part for part in parts if part["module"] == "torch"), {"status": "missing"})
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    folder = os.environ.get(DATA_VARIABLE) or None
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system says
        memory = None
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
        "blas": sorted(
            {f"{b['internal_api']} {b['version']}, {b['num_threads']} threads" for b in blas}
        ),
        "cores": cpu_count(),
        "memory_bytes": memory,
        "devices": _devices() if torch["status"] == "found" else [],
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


def _devices() -> list[str]:
    """Return the accelerators that torch sees."""
    torch = importlib.import_module("torch")
    found = [
        f"cuda:{i}: {torch.cuda.get_device_name(i)}, "
        f"{torch.cuda.get_device_properties(i).total_memory / 2**30:.0f} GiB"
        for i in range(torch.cuda.device_count() if torch.cuda.is_available() else 0)
    ]
    mps = getattr(torch.backends, "mps", None)
    return [*found, "mps: Apple GPU"] if mps is not None and mps.is_available() else found
