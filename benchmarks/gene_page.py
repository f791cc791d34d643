"""The tables of the page of genes.py, with their intervals."""

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
from scipy.stats import t as student

from common import table
from gene_rules import GENES, Cells

KNOWN, AUTO, RANDOM, ALL = "JASFS, c known", "JASFS, c automatic", "random genes", "all genes"
OURS = (KNOWN, AUTO)
FEW, MANY = 100, 1000  # genes of ours, and of the others, in the table of differences
CLUSTERINGS = ("k-means", "Leiden")  # the first one in the table of differences
DRAWS = 2000  # of the bootstrap
INTERVALS = f"""Differences of NMI by k-means; above zero where {FEW} genes of JASFS show the types
better. Three 95 % intervals, which cover different things. "Random states": the t interval of the
mean over random states, those of JASFS and of k-means: the luck of the algorithms alone. "Cells":
a bootstrap over cells ({DRAWS} draws) with the clusters as they are: which cells are judged.
"Halves": everything anew, from the choice of the genes on, on random halves of the cells: the mean
of the differences and the t interval of a single one, since halves spread about as much as samples
of the whole size would; and in how many JASFS is ahead or behind (halves overlap: these counts are
no test). None of them says how it would be on another tissue or from another laboratory. The last
column is the difference by Leiden."""
WITHOUT = """Mean of the sets, and mean without the one set (in brackets) that is best for JASFS:"""


def bootstrap_nmi(types: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return NMI in percent for every row of weights: how often each cell was drawn."""
    n_types, n_labels = types.max() + 1, labels.max() + 1
    pairs = np.eye(n_types * n_labels)[types * n_labels + labels]
    joint = (weights @ pairs).reshape(-1, n_types, n_labels) / len(types)

    def entropy(p: np.ndarray) -> np.ndarray:
        p = p.reshape(len(p), -1)
        return -np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=1)

    one, other = entropy(joint.sum(axis=2)), entropy(joint.sum(axis=1))
    return 200.0 * (one + other - entropy(joint)) / (one + other)


def interval(values: Sequence[float], single: bool = False) -> tuple[float, float]:
    """Return the 95 % t interval of the mean, or of a single value."""
    values = np.asarray(values)
    spread = values.std(ddof=1) / (1.0 if single else np.sqrt(len(values)))
    reach = student.ppf(0.975, len(values) - 1) * spread
    return values.mean() - reach, values.mean() + reach


def brief(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 10.0 else f"{seconds:.2f}"


def signed(value: float) -> str:
    return f"{round(float(value), 1) + 0.0:+.1f}"  # -0.0 + 0.0 is 0.0


def bounds(pair: Iterable[float]) -> str:
    low, high = pair
    return f"[{signed(low)}, {signed(high)}]"


class Results:
    """All scores, and the page that shows them."""

    def __init__(self, sets: dict[str, Cells], rules: list[str], rivals: list[str]) -> None:
        self.sets = sets
        self.rules = rules
        self.rivals = rivals
        self.rows: list[dict] = []
        self.halves: dict[tuple[str, int], dict[str, float]] = {}  # by set and draw
        self.seconds: dict[tuple[str, str], list[float]] = {}
        self.clusters: dict[str, list[int]] = {name: [] for name in sets}
        self.total = dict.fromkeys((*rules, "halves"), 0.0)

    def add(self, name: str, rule: str, answer: dict) -> None:
        """Take in the scores of a rule on a set."""
        self.rows += [{"set": name, "rule": rule, **row} for row in answer["rows"]]
        self.total[rule] += answer["total"]
        if answer["seconds"] is not None:
            self.seconds.setdefault((rule, name), []).append(answer["seconds"])
        if rule == AUTO:
            self.clusters[name].append(answer["clusters"])

    def add_half(self, name: str, draw: int, answer: dict) -> None:
        """Take in scores on a half of a set."""
        self.halves.setdefault((name, draw), {}).update(answer["scores"])
        self.total["halves"] += answer["total"]

    def plain_rows(self) -> list[dict]:
        """Return the scores without the clusters behind them."""
        return [
            {key: round(value, 2) if key in ("nmi", "ari") else value for key, value in row.items()}
            for row in ({k: v for k, v in row.items() if k != "labels"} for row in self.rows)
        ]

    def page(self) -> list[str]:
        """Return the lines of the page."""
        lines = []
        for by in CLUSTERINGS:
            title = f"## {by}: NMI/ARI, mean of {len(self.sets)} sets"
            lines += [title, "", *self.mean_table(by), ""]
        lines += [f"## {FEW} genes of JASFS against {MANY} of the others", "", INTERVALS, ""]
        lines += [*self.difference_table(), "", WITHOUT, "", *self.summary_table(), ""]
        lines += ["## Set by set: NMI", ""]
        for name, cells in self.sets.items():
            n, d = cells.logs.shape
            about = f"{n} cells, {d} genes, {cells.n_types} types"
            if self.clusters[name]:
                found = " or ".join(map(str, sorted(set(self.clusters[name]))))
                about += f'; n_clusters="auto" finds {found}'
            lines += [f"### {name}", "", f"{about}.", "", *self.set_table(name), ""]
        return [*lines, self.closing()]

    def mean_table(self, by: str) -> list[str]:
        """Return NMI and ARI of all rules, the mean of the sets."""
        rows = []
        for rule in self.rules:
            taken = [np.mean(self.seconds[rule, s]) for s in self.sets if (rule, s) in self.seconds]
            shown = brief(np.mean(taken)) if taken else ""
            rows.append([rule, *self.cells(rule, list(self.sets), by, ("nmi", "ari")), shown])
        return table(["rule", *(f"{count} genes" for count in GENES), "seconds"], rows)

    def set_table(self, name: str) -> list[str]:
        """Return NMI of all rules on one set, by both ways to cluster."""
        head = ["rule", *(f"{by}, {count}" for by in CLUSTERINGS for count in GENES)]
        rows = []
        for rule in self.rules:
            pair = [self.cells(rule, [name], by, ("nmi",)) for by in CLUSTERINGS]
            rows.append([rule, *pair[0], *pair[1]])
        return table(head, rows)

    def cells(self, rule: str, sets: list[str], by: str, kinds: tuple[str, ...]) -> list[str]:
        """Return the scores of a rule at every number of genes, means of some sets."""
        shown = []
        for count in GENES[:1] if rule == ALL else GENES:
            values = [
                np.mean([self.mean(rule, count, w, of=s, by=by) for s in sets]) for w in kinds
            ]
            known = not np.isnan(values).any()
            shown.append("/".join(f"{value:.1f}" for value in values) if known else "-")
        return shown + [""] * (len(GENES) - len(shown))

    def mean(self, rule: str, count: int, what: str, *, of: str, by: str) -> float:
        """Return the mean over random states, NaN where there is none."""
        rows = self.pick(rule, count, of=of, by=by)
        return float(np.mean([row[what] for row in rows])) if rows else np.nan

    def pick(self, rule: str, count: int, *, of: str, by: str) -> list[dict]:
        """Return the rows of a rule on a set, one per random state."""
        count = 0 if rule == ALL else count
        wanted = {"set": of, "rule": rule, "genes": count, "clustering": by}
        return [row for row in self.rows if wanted.items() <= row.items()]

    def difference_table(self) -> list[str]:
        """Return how far few genes of ours are ahead of many of every other rule, set by set."""
        head = ["set", "c", "against", "difference", "random states", "cells", "halves"]
        rows = []
        for name in self.sets:
            for ours, word in zip(OURS, ("known", "automatic"), strict=True):
                for rule in self.rivals:
                    values = self.differences(ours, rule, name)
                    if len(values) > 1:
                        reach = bounds(interval(values)), bounds(self.over_cells(ours, rule, name))
                        start = [name, word, rule, signed(np.mean(values)), *reach]
                        leiden = signed(
                            self.mean(ours, FEW, "nmi", of=name, by="Leiden")
                            - self.mean(rule, MANY, "nmi", of=name, by="Leiden")
                        )
                        rows.append([*start, *self.on_halves(ours, rule, name), leiden])
        return table([*head, "ahead", "behind", "Leiden"], rows)

    def differences(self, ours: str, rule: str, name: str) -> list[float]:
        """Return few genes of ours less many of another rule, for every random state."""
        return [few["nmi"] - many["nmi"] for few, many in self.pairs(ours, rule, name)]

    def pairs(self, ours: str, rule: str, name: str) -> list[tuple[dict, dict]]:
        """Return the rows of few genes of ours and of many of another rule, state by state."""
        few = self.pick(ours, FEW, of=name, by=CLUSTERINGS[0])
        many = {row["state"]: row for row in self.pick(rule, MANY, of=name, by=CLUSTERINGS[0])}
        return [(row, many[row["state"]]) for row in few if row["state"] in many]

    def over_cells(self, ours: str, rule: str, name: str) -> np.ndarray:
        """Return the bootstrap interval of the mean difference, over cells."""
        types = self.sets[name].types
        share = np.full(len(types), 1.0 / len(types))
        weights = np.random.default_rng(0).multinomial(len(types), share, size=DRAWS)
        drawn = [
            bootstrap_nmi(types, np.array(few["labels"]), weights)
            - bootstrap_nmi(types, np.array(many["labels"]), weights)
            for few, many in self.pairs(ours, rule, name)
        ]
        return np.quantile(np.mean(drawn, axis=0), [0.025, 0.975])

    def on_halves(self, ours: str, rule: str, name: str) -> list[str]:
        """Return mean and interval on halves of the cells, and how often ours is ahead, behind."""
        anew = [
            round(scores[ours] - scores[rule], 6)
            for (of, _), scores in self.halves.items()
            if of == name and {ours, rule} <= scores.keys()
        ]
        if len(anew) < 2:
            return ["", "", ""]
        reach = bounds(interval(anew, single=True))
        signs = np.sign(anew)
        return [f"{signed(np.mean(anew))} {reach}", str(sum(signs > 0)), str(sum(signs < 0))]

    def summary_table(self) -> list[str]:
        """Return the mean difference to every rule, and what is left without our best set."""
        rows = []
        for rule in self.rivals:
            row = [rule]
            for ours in OURS:
                means = {
                    s: np.mean(self.differences(ours, rule, s))
                    for s in self.sets
                    if self.differences(ours, rule, s)
                }
                best = max(means, key=means.get, default=None)
                rest = [value for name, value in means.items() if name != best]
                row.append(signed(np.mean(list(means.values()))) if means else "-")
                row.append(f"{signed(np.mean(rest))} ({best})" if rest else "-")
            rows.append(row)
        parts = [f"{word}{end}" for word in ("c known", "c automatic") for end in ("", ", without")]
        return table(["against", *parts], rows)

    def closing(self) -> str:
        """Return what was run, and for how long."""
        shown = ["scanpy", "scikit-learn", *(["scmer"] if find_spec("scmer") else [])]
        versions = ", ".join(f"{name} {version(name)}" for name in shown)
        minutes = {part: seconds / 60.0 for part, seconds in self.total.items()}
        text = f"{sum(minutes.values()):.0f} minutes of one core; {versions}."
        panels = sorted({row["chosen"] for row in self.rows if row["rule"] == "SCMER"})
        if panels:
            kept = ", ".join(map(str, panels))
            return f"{text} SCMER kept {kept} genes; {minutes['SCMER']:.0f} minutes are its own."
        return f"{text} SCMER was not run."
