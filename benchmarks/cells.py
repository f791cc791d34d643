"""Time and memory of `select_genes` on many cells: raw counts, sparse, in ten types.

Counts are Poisson, about 5 % of them above zero: gene means are log-normal, depths of cells
log-normal(0, 0.3), types are 30 to 2 % of the cells, each with 40 markers of log fold changes 1.5
to 3. The table is made first; what is measured is `select_genes` with 100 genes, in a process of
its own: processor and wall seconds, and how far its memory grows beyond the counts (which it does
not change). ARI is that of the clusters with the types, "markers" the share of markers among the
selected genes. ``--device cuda`` computes on a GPU, whose memory is the most that PyTorch has held
there; 6,000 cells before start its libraries.

Usage: python benchmarks/cells.py [--cells 50000] [--genes 20000] [--clusters 10|auto]
       [--device cuda] [--output benchmarks/results/cells.md]
"""

import json
import sys
import time

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import anndata
from common import PeakMemory, finish, in_own_process, options, table
from featsieve.anndata import select_genes

SHARES = np.array([30, 20, 14, 10, 8, 6, 4, 3, 3, 2]) / 100
MARKERS, STEP, N_SELECTED = 40, 1000, 100


def make_counts(n: int, d: int) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Return counts (single precision), types, and which genes are markers."""
    rng = np.random.default_rng(0)
    types = rng.choice(len(SHARES), n, p=SHARES)
    means = np.exp(rng.normal(-4.2, 1.5, d)).astype(np.float32)
    means = np.minimum(means, 20.0)
    markers = rng.choice(np.flatnonzero(means > 0.02), (len(SHARES), MARKERS), replace=False)
    by_type = np.tile(means, (len(SHARES), 1))
    for kind, genes in enumerate(markers):
        by_type[kind, genes] *= np.exp(rng.uniform(1.5, 3.0, MARKERS))
    depth = np.exp(rng.normal(0.0, 0.3, n))
    blocks = []
    for start in range(0, n, STEP):
        rows = slice(start, start + STEP)
        drawn = rng.poisson(by_type[types[rows]] * depth[rows, None])
        blocks.append(sp.csr_array(drawn.astype(np.float32)))
    return sp.vstack(blocks, format="csr"), types, np.isin(np.arange(d), markers)


def measure(n: int, d: int, clusters: str, device: str) -> dict[str, float]:
    """Select genes of simulated cells; runs in a process of its own."""
    X, types, markers = make_counts(n, d)
    n_clusters = clusters if clusters == "auto" else int(clusters)
    filled = X.nnz / (n * d)
    device_memory = float("nan")

    def select(counts: sp.csr_array) -> anndata.AnnData:
        cells = anndata.AnnData(sp.csr_matrix(counts))
        select_genes(cells, n_genes=N_SELECTED, n_clusters=n_clusters, device=device or None)
        return cells

    if device:
        select(X[:6000])
    wall, processor = time.perf_counter(), time.process_time()
    with PeakMemory() as memory:
        cells = select(X)
    if device:
        import torch

        device_memory = torch.cuda.max_memory_allocated() / 2**30
    labels = cells.obs["featsieve_cluster"].to_numpy()
    support = cells.var["featsieve_selected"].to_numpy()
    return {
        "filled": filled,
        "wall": time.perf_counter() - wall,
        "processor": time.process_time() - processor,
        "memory": memory.mib / 1024.0,
        "device_memory": device_memory,
        "ari": adjusted_rand_score(types, labels),
        "markers": float(markers[support].mean()),
    }


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == "measure":
        n, d, clusters, device = sys.argv[2:]
        print(json.dumps(measure(int(n), int(d), clusters, device)))
        return
    parser = options(__doc__)
    parser.add_argument("--cells", type=int, default=50_000)
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--clusters", nargs="*", default=["10", "auto"])
    parser.add_argument("--device", default="")
    arguments = parser.parse_args()
    rows = []
    for clusters in arguments.clusters:
        size = str(arguments.cells), str(arguments.genes)
        found = in_own_process(__file__, "measure", *size, clusters, arguments.device)
        numbers = [f"{found[name]:.0f}" for name in ("wall", "processor")]
        held = f"{found['device_memory']:.1f}" if arguments.device else "-"
        numbers += [
            f"{found['memory']:.1f}",
            held,
            f"{found['ari']:.2f}",
            f"{found['markers']:.0%}",
        ]
        shape = f"{arguments.cells:,} x {arguments.genes:,}, {found['filled']:.1%} above 0"
        rows.append([shape, arguments.device or "processor", clusters, *numbers])
    head = ["cells x genes", "on", "clusters", "seconds", "processor seconds"]
    lines = table([*head, "GiB beyond the counts", "GiB on the device", "ARI", "markers"], rows)
    finish(arguments.output, "Many cells", __doc__, lines)


if __name__ == "__main__":
    main()
