"""Genes of featsieve against highly variable genes, on single cells of known type.

The pipeline is the usual one: counts divided by the total of the cell, log1p, genes seen in 2 % of
the cells; so many genes chosen; 30 principal components of these; clusters. Cells are clustered by
k-means (10 starts) with the true number of types, and by Leiden on scanpy's graph of 15 neighbours,
at the resolution that comes closest to that number: both are told it, so that they judge the genes
alone. NMI and ARI with the types, in percent, means over random states.

The rules: JASFS of featsieve with the true number of types ("c known") and with
n_clusters="auto" ("c automatic": nothing is told to the selection), four flavours of
highly variable genes of scanpy, the largest variance of the logs, SCMER, random genes (a draw per
random state), and all genes. JASFS is fitted to the logs. Its ranking is a path: the first genes of
a long fit are those of a short one, and so a fit with 300 genes gives 30 and 100 as well. Fits with
1000 take longer; three of the ten random states make them. "Seconds" are of one core, to choose 300
genes (SCMER: 100).

The types are the labels that come with the sets: cell lines, by their genotypes, in
sc_mix5_celseq2, populations that were sampled one by one in sc_pollen, and clusters that the
authors named in sc_baron_mouse1 and sc_camp. sc_pollen is stored as log10(count + 1): the counts
are 10^x - 1, rounded, and go the way of all counts (quality.py takes the logs as they are). Of a
file without counts X is taken as logs, and the flavours that ask for counts have a dash. SCMER is
measured at 100 genes only, where it is installed: among the 2000 of scanpy's seurat, scaled, with
its own search for the penalty that leaves about 100. geneBasis is written in R and is not measured.
All of our sets are development sets: constants of featsieve/defaults.py were chosen while looking
at them and others.

Usage: pip install -r requirements/genes.txt
       [FEATSIEVE_DATA=folder] python benchmarks/genes.py [--sets sc_camp ...]
       [--folder FOLDER_OF_H5AD --label-key cell_type] [--rules "scanpy seurat" ...] [--jobs 1]
       [--kept FILE.jsonl] [--output benchmarks/results/genes.md]
"""

import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import gene_rules
import real_data
from common import finish, in_parallel, options
from gene_page import ALL, FEW, KNOWN, MANY, OURS, RANDOM, Results
from gene_rules import FIXED, GENES, Cells

RULES = (*OURS, *FIXED, RANDOM, ALL)
STATES = 10
LONG_FITS = 3  # of the random states of JASFS go up to 1000 genes, the others to 300
COMPONENTS = 30
HALVES = 10
NEEDED = ("scanpy", "skmisc", "igraph")


def components(cells: Cells, genes: np.ndarray) -> np.ndarray:
    """Return the first principal components of some genes."""
    X = cells.logs[:, genes]
    n_components = min(COMPONENTS, len(genes), len(cells.types) - 1)
    few = min(X.shape) <= n_components
    X = X.toarray() if few and hasattr(X, "toarray") else X
    solver = "full" if few else "arpack"
    return PCA(n_components, svd_solver=solver, random_state=0).fit_transform(X)


def by_k_means(T: np.ndarray, n_clusters: int, state: int) -> np.ndarray:
    return KMeans(n_clusters, n_init=10, random_state=state).fit_predict(T)


def neighbours(T: np.ndarray) -> object:
    """Return an AnnData object with the graph of scanpy."""
    import scanpy

    adata = scanpy.AnnData(T)
    scanpy.pp.neighbors(adata, use_rep="X", random_state=0)
    return adata


def by_leiden(adata: object, n_clusters: int, state: int) -> np.ndarray:
    """Return the clusters at the resolution that comes closest to so many of them."""
    import scanpy

    low, high, best = np.log(0.01), np.log(50.0), None
    for _ in range(16):
        middle = (low + high) / 2.0
        scanpy.tl.leiden(
            adata,
            resolution=np.exp(middle),
            flavor="igraph",
            n_iterations=2,
            directed=False,
            random_state=state,
        )
        labels = adata.obs["leiden"].cat.codes.to_numpy()
        n_found = int(labels.max()) + 1
        if best is None or abs(n_found - n_clusters) < abs(best.max() + 1 - n_clusters):
            best = labels
        if n_found == n_clusters:
            break
        low, high = (middle, high) if n_found < n_clusters else (low, middle)
    return best


def judge(cells: Cells, genes: np.ndarray, states: range) -> list[dict]:
    """Return the scores of some genes for every random state and both ways to cluster."""
    T = components(cells, genes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries among themselves
        graph = neighbours(T)
        return [
            {
                "state": state,
                "clustering": name,
                "nmi": 100.0 * normalized_mutual_info_score(cells.types, labels),
                "ari": 100.0 * adjusted_rand_score(cells.types, labels),
                "labels": [int(label) for label in labels],
            }
            for state in states
            for name, labels in (
                ("k-means", by_k_means(T, cells.n_types, state)),
                ("Leiden", by_leiden(graph, cells.n_types, state)),
            )
        ]


def cases_of(rule: str) -> list[tuple[str, int, int]]:
    """Return rule, random state (-1: all of them, for one selection) and most genes."""
    if rule not in (*OURS, RANDOM):
        return [(rule, -1, max(GENES))]
    short = 300 if rule in OURS else max(GENES)
    return [(rule, state, max(GENES) if state < LONG_FITS else short) for state in range(STATES)]


def evaluate(source: str, label_key: str, rule: str, state: int, most: int) -> dict:
    """Return the scores of one rule at all numbers of genes up to the most."""
    begun = time.process_time()
    cells = gene_rules.load(source, label_key)
    n_genes = cells.logs.shape[1]
    counts = [count for count in GENES if count <= most and count < n_genes]
    states = range(STATES) if state < 0 else range(state, state + 1)
    seconds = found = None
    chosen = {}
    if rule in OURS:
        start = time.process_time()
        n_clusters = cells.n_types if rule == KNOWN else "auto"
        sieve = gene_rules.by_jasfs(cells, n_clusters, max(counts), state)
        seconds = time.process_time() - start if max(counts) == 300 else None
        found = int(sieve.n_clusters_)
        order = np.argsort(sieve.ranking_)
        chosen = {count: order[:count] for count in counts}
    elif rule == RANDOM:
        order = np.random.default_rng(state).permutation(n_genes)
        chosen = {count: order[:count] for count in counts}
    elif rule == ALL:
        chosen = {n_genes: np.arange(n_genes)}
    else:
        for count in counts:
            start = time.process_time()
            genes = FIXED[rule](cells, count)
            if genes is not None:
                chosen[count] = genes
                if count == (FEW if rule == "SCMER" else 300):
                    seconds = time.process_time() - start
    rows = [
        {"genes": 0 if rule == ALL else count, "chosen": len(genes), **row}
        for count, genes in chosen.items()
        for row in judge(cells, genes, states)
    ]
    total = time.process_time() - begun
    return {"rows": rows, "seconds": seconds, "clusters": found, "total": total}


def judge_half(source: str, label_key: str, rules: tuple[str, ...], draw: int) -> dict:
    """Return NMI by k-means on a random half of the cells, everything done anew."""
    begun = time.process_time()
    cells = gene_rules.load(source, label_key).half(draw)
    scores = {}
    for rule in rules:
        if rule in OURS:
            n_clusters = cells.n_types if rule == KNOWN else "auto"
            sieve = gene_rules.by_jasfs(cells, n_clusters, FEW, draw)
            genes = np.flatnonzero(sieve.get_support())
        elif rule == ALL:
            genes = np.arange(cells.logs.shape[1])
        else:
            genes = FIXED[rule](cells, MANY)
        if genes is not None:
            labels = by_k_means(components(cells, genes), cells.n_types, draw)
            scores[rule] = 100.0 * normalized_mutual_info_score(cells.types, labels)
    return {"scores": scores, "total": time.process_time() - begun}


def missing() -> str | None:
    """Return why nothing can be measured, None if all is there."""
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        return f"{', '.join(absent)} not installed: pip install -r requirements/genes.txt"
    return None


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="*", default=gene_rules.SETS, choices=gene_rules.SETS)
    parser.add_argument("--folder", type=Path, help="a folder of .h5ad files to look at as well")
    parser.add_argument("--label-key", default="cell_type", help="column of their obs: the types")
    parser.add_argument("--rules", nargs="+", default=RULES, choices=RULES, metavar="RULE")
    parser.add_argument("--halves", type=int, default=HALVES, help="how many halves; 0: none")
    parser.add_argument("--kept", type=Path, help="results so far, to take a stopped run up")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    sources = list(arguments.sets) if real_data.folder() is not None else []
    if arguments.folder is not None:
        sources += sorted(map(str, arguments.folder.glob("*.h5ad")))
    reason = missing()
    if not sources:
        reason = "neither FEATSIEVE_DATA nor --folder names a folder with single cells"
    if reason is not None:
        print(f"genes.py: skipped, {reason}.")
        return
    rules = [rule for rule in RULES if rule in arguments.rules]
    rivals = [rule for rule in rules if rule in (*FIXED, ALL) and rule != "SCMER"]
    shared = {"jobs": arguments.jobs, "kept": arguments.kept}
    cases = [
        (source, arguments.label_key, *case)
        for source in sources
        for rule in rules
        for case in cases_of(rule)
    ]
    answers = in_parallel(evaluate, cases, **shared)
    half_cases = [
        (source, arguments.label_key, some, draw)
        for source in sources
        for some in (*((rule,) for rule in OURS if rule in rules), tuple(rivals))
        for draw in range(arguments.halves)
    ]
    half_answers = in_parallel(judge_half, half_cases, **shared)

    sets = {Path(source).stem: gene_rules.load(source, arguments.label_key) for source in sources}
    results = Results(sets, rules, rivals)
    for (source, _, rule, *_), answer in zip(cases, answers, strict=True):
        results.add(Path(source).stem, rule, answer)
    for (source, *_, draw), answer in zip(half_cases, half_answers, strict=True):
        results.add_half(Path(source).stem, draw, answer)
    finish(arguments.output, "Gene panels", __doc__, results.page(), results.plain_rows())


if __name__ == "__main__":
    main()
