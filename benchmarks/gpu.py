"""JASFS on a CUDA device: the tests of other array libraries, and timings against the processor.

First the tests of tests/test_array_libraries.py run on the device. Then a table of 1,000,000 x
2,000 float32 (10 clusters, which show in 50 columns) is made on the device, and fitted with
everything at its default but the number of features. "alternation" is the part in which labels and
features are found in turn. Its matrix products are those that torch's profiler sees on the device
(matrix-matrix and matrix-vector kernels); the ratio is the time on the clock to theirs. The same
fit with NumPy on the processor of the same machine gives the last column.

Usage: python benchmarks/gpu.py [--rows 1000000] [--columns 2000] [--repeat 3] [--no-tests]
       [--no-cpu] [--output benchmarks/results/gpu]
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

import featsieve.jasfs.estimator as jasfs_module
from common import finish, options, table
from featsieve import JASFS

N_CLUSTERS = 10
N_INFORMATIVE = 50
# The steps of a fit: where the function that makes it is looked up.
STEPS = {
    "operator (column statistics)": (jasfs_module, "as_operator"),
    "label hypotheses": (jasfs_module, "find_labels"),
    "alternation": (jasfs_module, "solve_joint"),
    "ranking (path of 300 features)": (jasfs_module, "rank"),
}
TESTS = Path(__file__).parent.parent / "tests" / "test_array_libraries.py"
PRODUCT_KERNELS = ("gemm", "gemv", "cutlass", "splitKreduce")


def make_table(n: int, d: int, device: str) -> Any:
    """Return the table, made on the device."""
    generator = torch.Generator(device=device).manual_seed(0)
    X = torch.randn(n, d, generator=generator, device=device)
    labels = torch.randint(N_CLUSTERS, (n,), generator=generator, device=device)
    centres = torch.randn(N_CLUSTERS, N_INFORMATIVE, generator=generator, device=device)
    for first in range(0, n, 100_000):
        rows = slice(first, first + 100_000)
        X[rows, :N_INFORMATIVE] += centres[labels[rows]]
    return X


def synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds(work: Callable[[], Any], repeat: int = 1) -> float:
    """Return the best time of some runs."""
    best = np.inf
    for _ in range(repeat):
        synchronise()
        begun = time.perf_counter()
        work()
        synchronise()
        best = min(best, time.perf_counter() - begun)
    return best


@contextmanager
def timed_steps(times: dict[str, float]) -> Iterator[None]:
    """Time the steps of a fit."""

    def timing(step: str, function: Callable) -> Callable:
        def call(*args: Any, **settings: Any) -> Any:
            synchronise()
            begun = time.perf_counter()
            result = function(*args, **settings)
            synchronise()
            times[step] = times.get(step, 0.0) + time.perf_counter() - begun
            return result

        return call

    with ExitStack() as stack:
        for step, (module, name) in STEPS.items():
            timed = timing(step, getattr(module, name))
            stack.enter_context(patch.object(module, name, timed))
        yield


@contextmanager
def profiled_alternation(found: dict[str, float]) -> Iterator[None]:
    """Sum what the device does during the alternation: its products, and everything."""
    original = jasfs_module.solve_joint

    def call(*args: Any, **settings: Any) -> Any:
        synchronise()
        with profile(activities=[ProfilerActivity.CUDA]) as watched:
            result = original(*args, **settings)
            synchronise()
        for event in watched.key_averages():
            time_on_device = event.self_device_time_total / 1e6
            found["device"] = found.get("device", 0.0) + time_on_device
            if any(kernel in event.key for kernel in PRODUCT_KERNELS):
                found["products"] = found.get("products", 0.0) + time_on_device
        return result

    with patch.object(jasfs_module, "solve_joint", call):
        yield


def fit(X: Any) -> JASFS:
    return JASFS(N_CLUSTERS, n_features_to_select=N_INFORMATIVE, random_state=0).fit(X)


def run_tests(tests: Path = TESTS) -> str:
    """Return the last line of the tests of array libraries on this machine; end if one fails."""
    # The suite's own settings need its tools, which a machine with a device may not have.
    plain = ["--noconftest", "-o", "addopts=", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plain, str(tests)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0:
        print("\n".join(lines[-60:]), flush=True)
        raise SystemExit(f"The tests of array libraries failed: {(lines or ['no output'])[-1]}")
    return lines[-1]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=2_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--no-cpu", action="store_true")
    arguments = parser.parse_args()
    n, d, device = arguments.rows, arguments.columns, arguments.device
    name = torch.cuda.get_device_name() if device == "cuda" else "processor"
    rows: list[tuple[str, float, str]] = []

    def report(what: str, value: float, note: str = "") -> None:
        rows.append((what, value, note))
        print(f"{what}: {value:.4g} {note}", flush=True)

    tested = "" if arguments.no_tests else run_tests()
    print(tested)
    X = make_table(n, d, device)
    W = torch.randn(d, N_CLUSTERS, device=device)
    R = torch.randn(n, N_CLUSTERS, device=device)
    fit(X)  # libraries load, kernels are chosen
    report("X @ W, seconds", seconds(lambda: X @ W, 5), f"{N_CLUSTERS} columns")
    report("X.T @ R, seconds", seconds(lambda: X.T @ R, 5), f"{N_CLUSTERS} columns")
    whole = seconds(lambda: fit(X), arguments.repeat)
    report("whole fit, seconds", whole, f"best of {arguments.repeat}")
    times: dict[str, float] = {}
    with timed_steps(times):
        sieve = fit(X)
    for step in STEPS:
        report(f"of it: {step}, seconds", times[step], f"{100 * times[step] / whole:.0f} %")
    found = np.flatnonzero(sieve.support_)
    report("informative columns found", int(np.sum(found < N_INFORMATIVE)), f"of {N_INFORMATIVE}")
    report("rounds of the alternation", sieve.n_iter_)
    if device == "cuda":
        busy: dict[str, float] = {}
        with profiled_alternation(busy):
            fit(X)
        alternation = times["alternation"]
        report("alternation: products on the device, seconds", busy["products"])
        report("alternation: the device at work, seconds", busy["device"])
        report("alternation / its products", alternation / busy["products"])
        report("memory of the device, GiB", torch.cuda.max_memory_allocated() / 2**30)
    if not arguments.no_cpu:
        on_host = X.cpu().numpy()
        begun = time.perf_counter()
        again = fit(on_host)
        on_processor = time.perf_counter() - begun
        report("whole fit with NumPy, seconds", on_processor, f"{os.cpu_count()} cores")
        report("processor / device", on_processor / whole)
        same = np.mean(again.support_ == sieve.support_)
        report("features on which both agree, share", float(same))
        report("labels on which both agree, share", float(np.mean(again.labels_ == sieve.labels_)))
    text = [f"{n:,} x {d:,} float32, {name}, torch {torch.__version__}. Tests: {tested}", ""]
    head = ["what", "value", "note"]
    text += table(head, ([what, f"{value:.4g}", note] for what, value, note in rows))
    named = [dict(zip(head, row, strict=True)) for row in rows]
    finish(arguments.output, "JASFS on a device", __doc__, text, named)


if __name__ == "__main__":
    main()
