"""``featsieve doctor``: what this installation has, and what it lacks."""

import importlib
import os
import platform
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import featsieve
from featsieve.cli import options
from featsieve.cli.console import output, print_json, text_grid

CORE = ("numpy", "scipy", "scikit-learn", "joblib", "array-api-compat")
# Optional libraries: the extra of featsieve that brings them, and what they are for.
PARTS = {
    "pandas": ("data", "reading .csv and .tsv files, data frames"),
    "pyarrow": ("data", "reading .parquet files"),
    "python_calamine": ("excel", "reading .xlsx, .xls, .xlsb and .ods files"),
    "h5py": ("data", "reading .mat files of version 7.3"),
    "pooch": ("data", "downloading data sets"),
    "skops": ("model", "model files: featsieve select, featsieve apply"),
    "jinja2": ("report", "HTML reports"),
    "matplotlib": ("report", "figures"),
    "typer": ("cli", "this command"),
    "rich": ("cli", "this command"),
    "filelock": ("cli", "writing results: featsieve select, featsieve report"),
    "anndata": ("anndata", "AnnData objects and .h5ad files"),
    "polars": (None, "polars data frames"),
    "torch": (None, "tensors, also on a GPU"),
}


def doctor(as_json: options.Json = False) -> None:
    """Say which versions and optional parts are installed, and what the missing ones are for.

    Send this along when you report a problem. It holds the name of the folder for downloads and
    the one in FEATSIEVE_DATA, and nothing else about you.

    Example: `featsieve doctor`

    Example: `featsieve doctor --json`
    """
    facts, parts = examine(), [examine_part(name, *about) for name, about in PARTS.items()]
    if as_json:
        print_json({**facts, "parts": parts})
        return
    console = output()
    console.print(text_grid(list(facts.items())))
    console.print("\nOptional parts", style="bold")
    rows = []
    for part in parts:
        fix = "" if part["status"] == "found" else f"; {part['reason']}: {part['install']}"
        state = part["version"] or part["status"]
        rows.append((part["module"], state, f"for {part['purpose']}{fix}"))
    console.print(text_grid(rows))


def examine() -> dict[str, str]:
    """Return versions, linear algebra and folders, each as a text."""
    from featsieve.bench.environment import blas, machine
    from featsieve.datasets.load import DATA_VARIABLE, cache_folder

    folder = os.environ.get(DATA_VARIABLE, "not set")
    gone = "" if folder == "not set" or os.path.isdir(folder) else " (there is no such folder)"
    return {
        "featsieve": featsieve.__version__,
        "python": platform.python_version(),
        "machine": machine(),
        **{name: version(name) for name in CORE},
        "linear algebra": blas(),
        "downloads": str(cache_folder()) if find_spec("pooch") else "none without pooch",
        DATA_VARIABLE: folder + gone,
    }


def examine_part(name: str, extra: str | None, purpose: str) -> dict[str, Any]:
    """Say whether an optional library is there and can be loaded."""
    install = f"pip install 'featsieve[{extra}]'" if extra else f"pip install {name}"
    about = {"module": name, "version": None, "install": install, "purpose": purpose}
    if find_spec(name) is None:
        return about | {"status": "missing", "reason": "to get it"}
    try:
        importlib.import_module(name)
        return about | {"version": version(name.replace("_", "-")), "status": "found"}
    except Exception as error:  # a broken library can fail in any way
        reason = f"{type(error).__name__}: {error}; install it again"
        return about | {"status": "broken", "reason": reason}
