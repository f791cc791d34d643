"""Processes of tests that start sooner: skops imports all of scikit-learn, and with it torch."""

import os

# Python imports it whenever it starts.
WITHOUT_TORCH = """
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name=name)


sys.meta_path.insert(0, Hidden())
"""


def light_environment(folder):
    """Return the variables of a process that finds no torch; a file of it goes into the folder."""
    (folder / "sitecustomize.py").write_text(WITHOUT_TORCH)
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
