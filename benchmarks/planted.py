"""How many planted features are found, by start and by method, on tables with known truth.

Every table is standard normal noise with cluster means of two noise deviations in the informative
columns. "units" multiplies every column by a random unit between 1/1000 and 1000, which takes from
the methods the hint that informative columns vary more. Printed is the mean number found over six
tables when as many features are selected as are informative; `accuracy` is JASFS's own
`label_accuracy_`, a number without labels that says whether to believe it.

Usage: python benchmarks/planted.py [--output FILE]
"""

import numpy as np

from common import finish, line, options, table
from featsieve import JASFS
from featsieve.datasets import make_planted

# samples, features, informative, clusters, random units
CASES = (
    (150, 1000, 20, 4, False),
    (150, 1000, 60, 4, False),
    (150, 1000, 60, 4, True),
    (150, 300, 60, 4, True),
    (60, 2000, 15, 3, False),
    (60, 2000, 60, 3, False),
    (1000, 300, 20, 4, True),
)
SETTINGS = {
    "joint": {},
    'joint, init="spectral"': {"init": "spectral"},
    'joint, init="best"': {"init": "best"},
    "published algorithm": {"solver": "paper"},
}
SEEDS = range(6)


def main() -> None:
    arguments = options(__doc__).parse_args()
    head = ["samples x features", "informative", "units", *SETTINGS, "max variance", "accuracy"]
    rows = []
    for n, d, k, c, units in CASES:
        found: dict[str, list[int]] = {name: [] for name in (*SETTINGS, "max variance")}
        accuracy = []
        for seed in SEEDS:
            planted = make_planted(n, d, n_informative=k, n_clusters=c, random_state=seed)
            X = planted.X
            if units:
                X = X * 10.0 ** np.random.default_rng(seed).uniform(-3, 3, d)
            for name, settings in SETTINGS.items():
                sieve = JASFS(c, n_features_to_select=k, random_state=0, **settings).fit(X)
                found[name].append(int((sieve.support_ & planted.informative).sum()))
                if name == "joint":
                    accuracy.append(sieve.label_accuracy_)
            widest = np.argsort(-X.var(axis=0))[:k]
            found["max variance"].append(int(planted.informative[widest].sum()))
        cells = [f"{n} x {d}, {c} clusters", str(k), "random" if units else "one"]
        cells += [f"{np.mean(counts):.1f}" for counts in found.values()]
        cells.append(f"{np.mean(accuracy):.2f}")
        rows.append(cells)
        print(line(cells), flush=True)
    finish(arguments.output, "Planted features", __doc__, table(head, rows))


if __name__ == "__main__":
    main()
