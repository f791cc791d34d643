"""The names of the package: all there, and none imported before it is asked for."""

import os
import subprocess
import sys

import pytest

import featsieve
from featsieve import selectors, tuning

# scikit-learn itself imports pandas and rich where they are installed.
OPTIONAL = (
    "anndata", "dask", "h5py", "jinja2", "matplotlib", "polars", "pooch", "skops", "torch", "typer",
)  # fmt: skip


# Modules that `from featsieve import JASFS` loads besides those of scikit-learn's own selectors,
# a measure of the time it takes that does not depend on the machine (benchmarks/start_up.py).
MOST_MODULES = 260


def test_every_public_name_is_what_its_home_has():
    for name in featsieve.__all__:
        found = getattr(featsieve, name)
        home = next((home for home in (selectors, tuning) if hasattr(home, name)), None)
        assert home is None or found is getattr(home, name)
    assert set(selectors.__all__) <= set(featsieve.__all__)
    assert set(featsieve.__all__) <= set(dir(featsieve))


def test_modules_are_found_by_their_names():
    assert featsieve.selectors is selectors
    assert callable(featsieve.anndata.select_genes)
    assert callable(featsieve.workflow.select_features)
    assert callable(featsieve.tables.Table)
    assert callable(featsieve.report.write_selection_report)


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'JASF'"):
        featsieve.JASF  # noqa: B018
    with pytest.raises(ImportError, match="JASF"):
        from featsieve import JASF  # noqa: F401


def run_code(program, **options):
    """Return what a program prints in a process of its own."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def test_importing_the_package_imports_no_library():
    program = "import featsieve, sys\nprint({'sklearn', 'scipy', 'numpy'} & set(sys.modules))"
    assert run_code(program).strip() == "set()"


def test_importing_a_selector_adds_little_to_scikit_learn():
    program = (
        "import sys\nfrom sklearn.feature_selection import SelectKBest\nbefore = set(sys.modules)\n"
        "from featsieve import JASFS\nprint(len(set(sys.modules) - before))\n"
        f"from featsieve import *\nprint(set({OPTIONAL!r}) & set(sys.modules))"
    )
    n_modules, optional = run_code(program).splitlines()
    assert 0 < int(n_modules) <= MOST_MODULES
    assert optional == "set()"


def test_models_are_read_and_written_without_libraries_that_are_slow_to_import(tmp_path):
    """skops looks through scikit-learn, whose bridges to array libraries would import those."""
    slow = ("cupy", "dask", "torch")
    for name in slow:
        (tmp_path / f"{name}.py").write_text("found = True\n")
    program = (
        "import sys\nfrom featsieve import MaxVariance, load_model, save_model\n"
        f"save_model(MaxVariance(1).fit([[1.0, 2.0], [3.0, 5.0]]), {str(tmp_path / 'm')!r})\n"
        f"load_model({str(tmp_path / 'm')!r})\n"
        f"print([name for name in {slow!r} if name in sys.modules])\n"
        "import cupy, dask, torch\nprint(cupy.found, dask.found, torch.found)\n"  # later on
    )
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    assert run_code(program, env=environment).splitlines() == ["[]", "True True True"]
