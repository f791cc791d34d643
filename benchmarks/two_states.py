"""Times of two states of the code, side by side: this one, and another that is given as a folder.

Every fit runs in a process of its own, with the other state and then with this one, and one thread
of the BLAS library ("all threads": as many as it takes by itself, as users' fits have); shown are
processor seconds, the best of some fits after a first that loads everything (tables with many rows:
one fit). Fits are given the numbers of clusters and of features
(100; 50 of 1,000,000 x 500), but for "both automatic". The synthetic tables have clusters in a
tenth of their columns.

Usage: git worktree add ../other COMMIT
       [FEATSIEVE_DATA=folder] python benchmarks/two_states.py ../other/src [--repeat 3]
       [--tables brain "both automatic" ...] [--output benchmarks/results/two_states.md]
"""

import json
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import real_data
from common import finish, in_own_process, line, options, table
from featsieve.datasets import make_planted

THIS = str(Path(__file__).resolve().parents[1] / "src")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ALL_THREADS = ", all threads"
Case = tuple[np.ndarray, dict[str, Any]]


def real(name: str) -> Case:
    X, y = real_data.load(name)
    return X, {"n_clusters": len(np.unique(y)), "n_features_to_select": 100}


def mnist() -> Case:
    folder = real_data.folder()
    assert folder is not None
    with np.load(folder / "scale" / "mnist_70000x784.npz") as stored:
        return stored["X"].astype(np.float32), {"n_clusters": 10, "n_features_to_select": 100}


def small(**settings: Any) -> Case:
    return make_planted(1000, 500, n_informative=50, random_state=0).X, settings


def large(n: int, d: int, **settings: int) -> Case:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    means = rng.standard_normal((10, d // 10), dtype=np.float32)
    X[:, : d // 10] += means[rng.integers(10, size=n)]
    return X, settings


def cases() -> dict[str, Callable[[], Case]]:
    """Return the tables with the settings of their fits, by name."""
    found: dict[str, Callable[[], Case]] = {}
    if real_data.folder() is not None:
        for name in ("brain", "breast3", "nci", "jaffe", "lung", "ORL", "mnist"):
            found[name] = partial(real, name)
        found["MNIST, 70,000 x 784"] = mnist
    found["1000 x 500"] = partial(small, n_clusters=4, n_features_to_select=100)
    found["1000 x 500, both automatic"] = partial(small, n_clusters="auto")
    found[f"1000 x 500, both automatic{ALL_THREADS}"] = partial(small, n_clusters="auto")
    given = {"n_clusters": 10, "n_features_to_select": 50}
    found["1,000,000 x 500"] = partial(large, 1_000_000, 500, **given)
    return found


# What a process runs: nothing but the featsieve that it finds first.
FIT = """
import json, sys, time
import numpy as np
from featsieve import JASFS
path, settings, repeat = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
X, seconds = np.load(path), []
for _ in range(1 if len(X) > 10_000 else repeat + 1):
    begun = time.process_time()
    JASFS(**settings, random_state=0).fit(X)
    seconds.append(time.process_time() - begun)
print(json.dumps(min(seconds[-repeat:])))
"""


def compare(name: str, case: Callable[[], Case], other: str, repeat: int) -> list[Any]:
    """Return the row of a table."""
    X, settings = case()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "X.npy")
        np.save(path, X)
        seconds = []
        for source in (other, THIS):
            paths = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
            call = ("-c", FIT, path, json.dumps(settings), str(repeat))
            threads = {} if name.endswith(ALL_THREADS) else ONE_THREAD
            seconds.append(in_own_process(*call, variables={**threads, "PYTHONPATH": paths}))
    row = [name, *(f"{one:.2f}" for one in seconds), f"{seconds[1] / seconds[0]:.1f}"]
    print(line(row), flush=True)
    return row


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("other", help="the folder src of another state")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--tables", nargs="+", metavar="NAME")
    arguments = parser.parse_args()
    chosen = {name: case for name, case in cases().items() if name in (arguments.tables or cases())}
    other = str(Path(arguments.other).resolve())
    rows = [compare(name, case, other, arguments.repeat) for name, case in chosen.items()]
    head = ["table", "other: seconds", "this: seconds", "this / other"]
    finish(arguments.output, "Two states side by side", __doc__, table(head, rows))


if __name__ == "__main__":
    main()
