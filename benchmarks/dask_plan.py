"""Print the plan of a fit of JASFS on many machines: bytes moved, time, what breaks first.

    python benchmarks/dask_plan.py [--rows 1e9] [--columns 1e4] [--machines 100] ...

Nothing is measured here: it is arithmetic from the assumptions that it prints first. Every one of
them is an option. The steps are those of ``init="landmarks"``; the table is read from the disks of
the machines in every pass ("read") unless it fits into their memory.
"""

import argparse
from dataclasses import dataclass

from featsieve.arrays.dask import FAN_IN, KEPT_SHARE
from featsieve.defaults import (
    LARGEST_EXACT_DIRECTIONS,
    N_DIRECTIONS,
    N_LANDMARKS,
    ROWS_PER_LANDMARK,
    SUBSPACE_STEPS,
)

GB = 1e9


@dataclass(frozen=True)
class Cluster:
    """What the machines can do."""

    machines: int
    memory: float  # bytes, each
    disk: float  # bytes per second, each
    network: float  # bytes per second, each
    flops: float  # per second, each
    task: float  # seconds of the scheduler per task


@dataclass(frozen=True)
class Fit:
    """What is fitted."""

    rows: float
    columns: float
    itemsize: int
    clusters: int
    features: int  # selected
    directions: int
    landmarks: int
    neighbours: int
    chunk: float  # bytes
    iterations: int
    batches: int  # of moves, per iteration

    @property
    def table(self) -> float:
        """Bytes of the table."""
        return self.rows * self.columns * self.itemsize

    @property
    def chunks(self) -> float:
        """Number of chunks."""
        return -(-self.table // self.chunk)


@dataclass(frozen=True)
class Step:
    """One kind of pass.

    ``shared`` bytes go to every machine; ``result`` bytes of every chunk are added in a tree, and
    may have to cross the network once; ``gathered`` bytes come to the client from all chunks.
    """

    name: str
    passes: int
    reads: bool  # whether the table is read
    flops: float
    shared: float
    result: float
    gathered: float = 0.0


def steps(fit: Fit) -> list[Step]:
    """Return the passes of a fit, in their order."""
    n, d, c, k = fit.rows, fit.columns, fit.clusters, fit.features
    r, m, s = fit.directions, fit.landmarks, fit.neighbours
    q = r + 20
    sample = ROWS_PER_LANDMARK * m
    directions = Step(
        "directions Z'(ZQ)", SUBSPACE_STEPS, True, 4 * n * d * q, 8 * d * q, 8 * d * q
    )
    if d <= LARGEST_EXACT_DIRECTIONS:
        directions = Step("Gram matrix", 1, True, n * d * d, 0.0, 8 * d * d)
    return [
        Step("means, spreads, finite", 1, True, 4 * n * d, 0.0, 24 * d),
        directions,
        Step("sample for landmarks", 1, True, 2 * sample * d * r, 8 * d * r, 0.0, 8 * sample * r),
        Step("nearest landmarks", 1, True, 2 * n * r * (d + m), 8 * d * r + 4 * m * r, 0.0),
        Step("graph of landmarks", 3, False, n * s * s, 0.0, 8 * m * s * 20),
        Step("sums Z'F", fit.iterations + 1, True, 2 * n * d * c, 0.0, 8 * d * c),
        Step("selected columns", fit.iterations, True, n * k, 0.0, 0.0),
        Step(
            "moves of samples",
            3 * fit.iterations * fit.batches,
            False,
            2 * n * (k * c + s * c),
            8 * (k + m) * c,
            8 * (k + m) * c,
        ),
        Step("labels to the client", 1, False, 0.0, 0.0, 0.0, 8 * n),
    ]


def seconds(step: Step, fit: Fit, cluster: Cluster) -> dict[str, float]:
    """Return the seconds of one pass by what they are spent on."""
    in_memory = fit.table <= 0.5 * cluster.machines * cluster.memory
    read = 0.0 if in_memory or not step.reads else fit.table / cluster.machines / cluster.disk
    between = (moved_bytes(step, fit, cluster) - step.gathered) / cluster.machines
    sums = FAN_IN / (FAN_IN - 1) if step.result else 1.0
    return {
        "disk": read,
        "compute": step.flops / cluster.machines / cluster.flops,
        "network": (between + step.gathered) / cluster.network,
        "scheduler": fit.chunks * sums * cluster.task,
    }


def moved_bytes(step: Step, fit: Fit, cluster: Cluster) -> float:
    """Return the bytes that cross the network in one pass."""
    return cluster.machines * step.shared + fit.chunks * step.result + step.gathered


def as_time(value: float) -> str:
    """Return seconds as a short text."""
    if value < 120.0:
        return f"{value:.1f} s"
    return f"{value / 60.0:.0f} min" if value < 7200.0 else f"{value / 3600.0:.1f} h"


def amount(value: float) -> str:
    """Return bytes as a short text."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value:.0f} B"


def report(fit: Fit, cluster: Cluster) -> str:
    """Return the plan as Markdown."""
    lines = [
        f"Table: {fit.rows:g} x {fit.columns:g}, {fit.itemsize} bytes an entry = "
        f"{amount(fit.table)} in {fit.chunks:g} chunks of {amount(fit.chunk)}; "
        f"{amount(fit.table / cluster.machines)} on each of {cluster.machines} machines.",
        f"Each machine: {amount(cluster.memory)} of memory, disk {amount(cluster.disk)}/s, network "
        f"{amount(cluster.network)}/s, {cluster.flops / 1e9:g} Gflop/s; the scheduler takes "
        f"{1e3 * cluster.task:g} ms a task.",
        f"Fit: {fit.clusters} clusters, {fit.features} features, {fit.landmarks} landmarks, "
        f"{fit.iterations} iterations of {fit.batches} batches of moves.",
        "",
        "| step | passes | reads the table | moved per pass | disk | compute | network | "
        "scheduler | all passes |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    total, by_kind, read, moved_in_all = 0.0, {}, 0.0, 0.0
    for step in steps(fit):
        spent = seconds(step, fit, cluster)
        # Disk, processors and scheduler work at the same time: the slowest one decides.
        slowest = max(spent["disk"], spent["compute"], spent["scheduler"]) + spent["network"]
        for kind, value in spent.items():
            by_kind[kind] = by_kind.get(kind, 0.0) + step.passes * value
        total += step.passes * slowest
        read += step.passes * step.reads * fit.table
        moved = moved_bytes(step, fit, cluster)
        moved_in_all += step.passes * moved
        cells = [step.name, str(step.passes), "yes" if step.reads else "no", amount(moved)]
        cells += [as_time(spent[kind]) for kind in ("disk", "compute", "network", "scheduler")]
        lines.append("| " + " | ".join([*cells, as_time(step.passes * slowest)]) + " |")
    state = fit.rows * (fit.neighbours * 8 + 8 + 8 + 12)
    kept = fit.rows * fit.features * 4
    lines += [
        "",
        f"In all: {as_time(total)}; {amount(read)} read from the disks, {amount(moved_in_all)} "
        "moved over the network. Were nothing done at the same time: "
        + ", ".join(f"{kind} {as_time(value)}" for kind, value in by_kind.items())
        + ".",
        f"Kept on the workers: {amount(state)} for links, labels and gains "
        f"({amount(state / cluster.machines)} a machine), and {amount(kept)} for the selected "
        f"columns ({amount(kept / cluster.machines)} a machine; only up to {KEPT_SHARE:.0%} of the "
        "memory).",
        f"On the client: {amount(8 * fit.rows)} for the labels, {amount(8 * fit.columns**2)} for a "
        f"Gram matrix of all columns (made for up to {LARGEST_EXACT_DIRECTIONS} columns only), "
        f"{amount(8 * fit.columns * (fit.directions + 20))} for the directions.",
        "",
        "What breaks first, with more rows:",
    ]
    limits = {
        "the client: labels beyond a quarter of its memory": 0.25 * cluster.memory / 8,
        "the workers: what is kept per row beyond half of their memory": (
            0.5 * cluster.machines * cluster.memory / (state / fit.rows)
        ),
        "the scheduler: an hour of its time for the moves alone": (
            3600.0
            / (cluster.task * FAN_IN / (FAN_IN - 1) * 3 * fit.iterations * fit.batches)
            * fit.chunk
            / (fit.columns * fit.itemsize)
        ),
        "the table leaves the memory of the machines, and is read from disk": (
            0.5 * cluster.machines * cluster.memory / (fit.columns * fit.itemsize)
        ),
    }
    for name, rows in sorted(limits.items(), key=lambda item: item[1]):
        lines.append(f"- {rows:.1e} rows: {name}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    numbers = {
        "rows": 1e9, "columns": 1e4, "itemsize": 4, "clusters": 10, "features": 100,
        "directions": N_DIRECTIONS, "landmarks": N_LANDMARKS, "neighbours": 5,
        "iterations": 5, "batches": 13, "chunk-gb": 2.0, "machines": 100, "memory-gb": 256.0,
        "disk-gb": 2.0, "network-gbit": 10.0, "gflops": 1000.0, "task-ms": 1.0,
    }  # fmt: skip
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"[{value:g}]")
    given = parser.parse_args()
    fit = Fit(
        given.rows, given.columns, given.itemsize, given.clusters, given.features,
        given.directions, given.landmarks, given.neighbours, given.chunk_gb * GB,
        given.iterations, given.batches,
    )  # fmt: skip
    cluster = Cluster(
        given.machines, given.memory_gb * GB, given.disk_gb * GB, given.network_gbit * GB / 8.0,
        given.gflops * GB, given.task_ms / 1e3,
    )  # fmt: skip
    print(report(fit, cluster))


if __name__ == "__main__":
    main()
