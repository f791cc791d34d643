"""Threads that do not fight: fits on a quiet machine, beside one busy process, and one per core.

Small matrix products are kept to one thread (`featsieve.arrays.threads`), and hypotheses of larger
tables take one thread each. "free" is the same fit with the limit switched off: as many threads as
the BLAS library likes. Seconds are medians; "one per core" is the time of the slowest of as many
processes as there are cores, all fitting at once.

Usage: [FEATSIEVE_DATA=folder] python benchmarks/threads.py [--repeats 5] [--output FILE]
"""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

import real_data
from common import finish, line, options
from featsieve import JASFS, base
from featsieve.arrays import threads

FITS = {
    "paper's solver": {"solver": "paper", "sparsity": 1e-3},
    "default": {"n_features_to_select": 10},
}
BUSY = "import numpy as np\nA = np.ones((800, 800))\nwhile True: A @ A"


def tables() -> dict[str, tuple[np.ndarray, int]]:
    """Return the tables with their numbers of clusters."""
    found = {
        "breast cancer": (load_breast_cancer().data, 2),
        "digits": (load_digits().data, 10),
    }
    if real_data.folder() is not None:
        found = {"jaffe": (real_data.load("jaffe")[0], 10), **found}
    return found


def seconds(name: str, fit: str, *, repeats: int, free: bool) -> float:
    """Return the median time of a fit; ``free`` lets the BLAS library take its threads."""
    X, n_clusters = tables()[name]
    if free:
        base.LARGEST_UNTHREADED = threads.LARGEST_UNTHREADED = 0
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        JASFS(n_clusters, random_state=0, **FITS[fit]).fit(X)
        found.append(time.perf_counter() - start)
    return float(np.median(found))


@contextmanager
def busy(count: int) -> Any:
    """Keep some processes busy with matrix products of one thread."""
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    workers = [subprocess.Popen([sys.executable, "-c", BUSY], env=alone) for _ in range(count)]
    try:
        time.sleep(1.0)
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def in_processes(count: int, *arguments: str) -> float:
    """Return the largest time of a fit in some processes at once."""
    command = [sys.executable, __file__, "--one", *arguments]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return max(float(process.communicate()[0].split()[-1]) for process in started)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--one", nargs=3, metavar=("TABLE", "FIT", "FREE"))
    arguments = parser.parse_args()
    if arguments.one:
        name, fit, free = arguments.one
        print(seconds(name, fit, repeats=arguments.repeats, free=free == "free"))
        return
    cores = os.cpu_count() or 1
    lines = [
        "| table | shape | fit | threads | quiet, s | beside one busy process, s | "
        f"{cores} processes at once, s |",
        "|---" * 7 + "|",
    ]
    for name, (X, _) in tables().items():
        for fit in FITS:
            for free in ("kept", "free"):
                given = (name, fit, free, "--repeats", str(arguments.repeats))
                quiet = in_processes(1, *given)
                with busy(1):
                    beside = in_processes(1, *given)
                together = in_processes(cores, *given)
                shape = f"{X.shape[0]} x {X.shape[1]}"
                times = [f"{value:.3f}" for value in (quiet, beside, together)]
                lines.append(line([name, shape, fit, free, *times]))
    finish(arguments.output, "Threads", __doc__, lines)


if __name__ == "__main__":
    main()
