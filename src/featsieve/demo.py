"""``make demo``: the main job on embedded data, printed and written to demo-report/report.md.

Two tables with known truth: planted clusters (which features were planted?) and scikit-learn's
digits (which pixels, and do the clusters match the digits?). Labels are used to judge only.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from featsieve import JASFS, structure_score
from featsieve.datasets import make_planted
from featsieve.evaluation import ClusteringScores, paper_protocol
from featsieve.tuning import NoStructureWarning
from featsieve.tuning.structure import NO_STRUCTURE

SEEDS = range(3)


def planted_section() -> list[str]:
    """Count how many planted features are found, and cluster before and after."""
    lines = [
        "## Planted clusters: 150 samples, 1000 features, 4 clusters",
        "",
        "Every column is standard normal noise; the informative ones have cluster means of",
        "standard deviation 2. As many features are selected as are informative; no labels are",
        "used. In the second half every column is in a random unit between 1/1000 and 1000.",
        "",
        "| table | informative | found by JASFS | by the published algorithm | by largest variance "
        "| k-means ACC, all features | selected features |",
        "|---|---|---|---|---|---|---|",
    ]
    example = ""
    for n_informative, units in ((20, False), (60, True)):
        for seed in SEEDS:
            planted = make_planted(n_informative=n_informative, random_state=seed)
            X = planted.X
            if units:
                X = X * 10.0 ** np.random.default_rng(seed).uniform(-3, 3, X.shape[1])
            joint, paper = (
                JASFS(4, n_features_to_select=n_informative, solver=solver, random_state=0).fit(X)
                for solver in ("joint", "paper")
            )
            widest = np.argsort(-X.var(axis=0))[:n_informative]
            found = [planted.informative[sieve.support_].sum() for sieve in (joint, paper)]
            found.append(planted.informative[widest].sum())
            # judged on columns of unit variance, so that units do not decide what k-means sees
            Z = X / X.std(axis=0)
            before = paper_protocol(Z, planted.labels).accuracy.mean()
            after = paper_protocol(Z[:, joint.support_], planted.labels).accuracy.mean()
            name = f"{seed}, random units" if units else str(seed)
            cells = [name, str(n_informative), *map(str, found), f"{before:.2f}", f"{after:.2f}"]
            lines.append("| " + " | ".join(cells) + " |")
            if not example:
                chosen = ", ".join(str(j) for j in joint.get_support(indices=True))
                example = f"Selected columns of table 0: {chosen}."
    return [*lines, "", example, ""]


def nothing_given_section() -> list[str]:
    """Let everything be found: clusters, features, and that noise has none of them."""
    lines = [
        "## Nothing given: how many clusters, how many features, is there anything",
        "",
        'JASFS(n_clusters="auto") finds both numbers. The structure score compares its clusters',
        "with those of permuted columns; below 0.05 there is nothing to select for.",
        "",
        "| table | clusters: true | found | features | of them informative | equally good | "
        "structure score |",
        "|---|---|---|---|---|---|---|",
    ]
    tables = [(f"planted {seed}", make_planted(random_state=seed)) for seed in SEEDS]
    for name, planted in tables:
        sieve = JASFS("auto", random_state=0).fit(planted.X)
        low, high = sieve.equivalent_range_
        cells = [name, "4", str(sieve.n_clusters_), str(sieve.n_features_selected_)]
        cells += [str(planted.informative[sieve.support_].sum()), f"{low} to {high}"]
        cells.append(f"{structure_score(planted.X, sieve.labels_):.2f}")
        lines.append("| " + " | ".join(cells) + " |")
    noise = np.random.default_rng(0).standard_normal((150, 1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoStructureWarning)  # it is said in the table
        sieve = JASFS("auto", random_state=0).fit(noise)
        score = structure_score(noise, sieve.labels_)
    warned = "none: it warns" if score < NO_STRUCTURE else "?"
    lines.append(
        f"| noise | none | {sieve.n_clusters_} | {sieve.n_features_selected_} | {warned} | "
        f"| {score:.2f} |"
    )
    return [*lines, ""]


def digits_section() -> list[str]:
    """Select pixels of the digits, draw them, and cluster before and after."""
    X, y = load_digits(return_X_y=True)
    start = time.perf_counter()
    sieve = JASFS(10, random_state=0).fit(X)
    seconds = time.perf_counter() - start
    lines = [
        "## Digits: 1797 images of 8 x 8 pixels",
        "",
        f"JASFS chose {sieve.n_features_selected_} of 64 pixels by itself in {seconds:.1f} s "
        f"({sieve.status_.value}).",
        "Rank of the pixels, best first; dots are pixels it leaves out:",
        "",
        "```text",
    ]
    for row in np.where(sieve.support_, sieve.ranking_, 0).reshape(8, 8):
        lines.append(" ".join(f"{rank:2d}" if rank else " ." for rank in row))
    lines += ["```", "", "| clustering | features | ACC | NMI |", "|---|---|---|---|"]
    own = ClusteringScores.of_labels(y, sieve.labels_)
    lines.append(f"| k-means, all pixels | 64 | {_two(paper_protocol(X, y))} |")
    for k in (30, 20, 10):
        columns = X[:, sieve.path_.order[:k]]
        lines.append(f"| k-means, best pixels | {k} | {_two(paper_protocol(columns, y))} |")
    lines.append(f"| JASFS's own clusters | {sieve.n_features_selected_} | {_two(own)} |")
    return [*lines, ""]


def _two(scores: ClusteringScores) -> str:
    return " | ".join(f"{value:.2f}" for value in scores.mean()[:2])


def main(argv: list[str] | None = None) -> int:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="python -m featsieve.demo", description=__doc__)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("demo-report"), help="folder of the report"
    )
    folder = parser.parse_args(argv).output
    lines = ["# featsieve demo", "", *planted_section(), *nothing_given_section()]
    lines += digits_section()
    text = "\n".join(lines)
    print(text)
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.md"
    report.write_text(text, encoding="utf-8")
    print(f"Report: {report}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
