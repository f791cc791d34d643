"""What halving and doubling every constant of featsieve/defaults.py does to answers.

One constant is changed at a time, before the package looks at it. Whole numbers are rounded down,
to 1 at least; of several numbers all are changed; of shares of 0.5 and more what is left to 1, of
ratios of less than 2 what exceeds 1. What is looked at: planted tables and null tables of moderate
size, and sheets of mixed columns, in the parts below. A cell says which parts give other answers:

- columns: the share of the selected columns that are others, in the mean of all selections, and
  the share of planted columns among the selected ones, before and after, if that changes;
- clusters: the mean adjusted Rand index between the clusters before and after;
- numbers: how many of the numbers of clusters and of features (also of significant ones) change;
- verdicts: null tables that are called clusters, and tables with clusters that are, before and
  after;
- sentences: how many of the facts and notes about tables change.

"Same": every answer is what it was, bit by bit. "Not felt": nothing here reads the constant, which
is about larger tables, pictures or reports of benchmarks. Of the parts that read a constant those
are run that can feel it most: the verdicts for constants of the structure test, sheets for those of
the workflow, and so on. Constants of the label hypotheses have
pages of their own, on real tables, too (hypotheses.md, hypotheses_others.md), as have those of the
number of clusters (calibration_clusters_constants.md).

Usage: python benchmarks/constants.py [--constants QVALUE_SHARE ...] [--parts structure ...]
       [--jobs 2] [--kept rows.jsonl] [--output benchmarks/results/constants.md]
"""

import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

# Nothing else of featsieve here: constants are changed before anything has looked at them.
from common import finish, in_own_process, in_parallel, options, table
from featsieve import defaults
from hypotheses import AS_IT_IS, ONE_THREAD, section

# Numbers of clusters start at 2, 19 copies are the fewest for p = 0.05, a width is no share.
ODD: dict[str, tuple] = {
    "STRUCTURE_NUMBERS": ((2, 4), (4, 8, 16)),
    "VALLEY_NUMBERS": ((2, 3), (4, 6, 8, 12)),
    "VALLEY_WIDTH": (0.3, 1.2),
    "COUNT_FIRST": ((2, 10), (10, 40)),
    "STRUCTURE_TABLES": (19, 39),
    "SMALLEST_CLUSTER": (1, 4),
}
# Which parts are run for the constants of a section.
SECTIONS = {
    "criteria": ("automatic", "tuned", "significant"),
    "evaluation": ("sheets",),
    "graphs": ("automatic", "given", "many_rows"),
    "jasfs": ("given", "many_rows"),
    "selectors": ("methods",),
    "solvers": ("methods", "given"),
    "workflow": ("sheets",),
    "report": ("sheets",),
    "bench": (),
}
# Constants of "criteria" that others feel.
OF_VERDICTS = ("STRUCTURE_", "VALLEY_", "CLOSE_", "CLEARLY_", "LEAST_SPREAD", "DISTINCT_")
OF_VERDICTS += ("SMOOTHED_", "SKEW_")
OF_SHEETS = ("DONOR_", "SELECTED_", "COUNT_UNCERTAINTY", "STRUCTURE_FEW")
OF_MANY_ROWS = ("N_CELLS", "ROWS_PER_CELL")
OF_OTHERS = ("LEAST_SHARE", "AUFS_SMALLEST_SIGMA", "SMALL_RIDGE", "N_BOUNDS", "LABEL_SOFTENING")
OF_OTHERS += ("TRANSPOSED_RATIO",)
SECTION_OF = {name: part for part in SECTIONS for name in section(part)}
Answers = list[tuple[str, Any]]


def parts_for(name: str) -> tuple[str, ...]:
    """Return the parts that a constant is looked at in."""
    for what, own in (
        (OF_SHEETS, "sheets"),
        (OF_VERDICTS, "structure"),
        (OF_MANY_ROWS, "many_rows"),
        (OF_OTHERS, "others"),
    ):
        if name.startswith(what):
            return (own,)
    return SECTIONS[SECTION_OF[name]]


def changed(value: Any, factor: float) -> Any:
    """Return half or double of a constant, by the rules above."""
    if isinstance(value, tuple):
        if max(value) < 1.0 and max(value) >= 0.5:
            return tuple(1.0 - (1.0 - one) * factor for one in value)
        return tuple(changed(one, factor) for one in value)
    if isinstance(value, int):
        return max(1, int(value * factor))
    if 0.5 < value < 1.0:
        return max(0.0, 1.0 - (1.0 - value) * factor)
    return 1.0 + (value - 1.0) * factor if 1.0 < value < 2.0 else value * factor


# What is looked at: each part is a function of a random state -----------------------------------


def fitted(sieve: Any, made: Any) -> Answers:
    """Return the selected columns of a fit beside the planted ones, and its clusters."""
    sieve.fit(made.X)
    found: Answers = [("columns", [sieve.support_.tolist(), made.informative.tolist()])]
    if hasattr(sieve, "labels_"):
        found.append(("clusters", sieve.labels_.tolist()))
    return found


def planted(kind: str = "iid15", **shape: Any) -> Any:
    """Return a planted table of the catalogue, or of a shape."""
    from featsieve.datasets import make_catalogue_table, make_planted

    if not shape:
        return make_catalogue_table(kind, random_state=7)
    return make_planted(**{"n_clusters": 3, "random_state": 7, **shape})


def automatic(state: int) -> Answers:
    """Return what JASFS finds with both numbers automatic."""
    from featsieve import JASFS

    shapes = ((150, 60, 12), (60, 300, 20), (650, 12, 5))
    tables = [planted(n_samples=n, n_features=d, n_informative=m) for n, d, m in shapes]
    found: Answers = []
    for made in [*tables, planted("rare")]:
        sieve = JASFS("auto", random_state=state)
        found += fitted(sieve, made)
        numbers = (sieve.n_clusters_, int(sieve.support_.sum()))
        found += [("numbers", number) for number in numbers]
    return found


def given(state: int) -> Answers:
    """Return what JASFS finds with given numbers: with hypotheses, one start, and as the paper."""
    from featsieve import JASFS

    found: Answers = []
    for made in (planted(), planted("binary")):
        for settings in ({}, {"n_hypotheses": 1}, {"refine_labels": True}, {"solver": "paper"}):
            c, k = int(made.labels.max()) + 1, int(made.informative.sum())
            number = {} if "solver" in settings else {"n_features_to_select": k}
            found += fitted(JASFS(c, random_state=state, **number, **settings), made)
    return found


def many_rows(state: int) -> Answers:
    """Return what JASFS finds in a table of more rows than a graph of all has."""
    from featsieve import JASFS

    made = planted(n_samples=12_000, n_features=40, n_informative=10)
    found = fitted(JASFS(3, n_features_to_select=10, random_state=state), made)
    sieve = JASFS("auto", random_state=state)
    return [*found, *fitted(sieve, made), ("numbers", sieve.n_clusters_)]


def methods(state: int) -> Answers:
    """Return what every other method selects of planted tables, with their defaults otherwise."""
    import featsieve
    from common import selector

    others = set(featsieve.__all__) & set(dir(featsieve.selectors)) - {"JASFS", "RandomSelector"}
    found: Answers = []
    for made in (planted("iid40"), planted(n_samples=120, n_features=30, n_informative=8)):
        c, k = int(made.labels.max()) + 1, int(made.informative.sum())
        for name in sorted(others):
            sieve = selector(name, c, k)
            if "random_state" in sieve.get_params():
                sieve.set_params(random_state=state)
            found += fitted(sieve, made)
    return found


def others(state: int) -> Answers:
    """Return what settings find that are no defaults, and what is said of a transposed table."""
    import numpy as np

    from featsieve import AUFS, NDFS, UGFS, SparseKMeans
    from featsieve.datasets import Dataset
    from featsieve.workflow.inspect import inspect_table

    found: Answers = []
    for made in (planted("iid40"), planted(n_samples=120, n_features=30, n_informative=8)):
        c, k = int(made.labels.max()) + 1, int(made.informative.sum())
        found += fitted(AUFS(c, random_state=state), made)
        found += fitted(AUFS(c, n_features_to_select=k, sigma=1e-9, random_state=state), made)
        found += fitted(
            NDFS(c, n_features_to_select=k, orthogonality=10.0, random_state=state), made
        )
        found += fitted(SparseKMeans(c, random_state=state), made)
        made = replace(made, X=made.X.astype(np.float32))
        for method in (AUFS, UGFS):
            found += fitted(method(c, n_features_to_select=k, ridge=7e-4, random_state=state), made)
    levels = np.random.default_rng(7).uniform(0.0, 10.0, 30)
    turned = Dataset("t", (made.X + levels).T.astype(np.float64))
    look = inspect_table(turned, random_state=state)
    return [*found, *(("sentences", note["text"]) for note in look["notes"])]


def tuned(state: int) -> Answers:
    """Return the numbers and settings that criteria without labels choose for other methods."""
    from featsieve import MCFS, AutoSelector, LabelFreeSearchCV, LaplacianScore

    found: Answers = []
    for made in (planted("iid40"), planted(n_samples=120, n_features=30, n_informative=8)):
        for method in (LaplacianScore(), MCFS()):
            sieve = AutoSelector(method)
            found += fitted(sieve, made)
            found.append(("numbers", int(sieve.support_.sum())))
        method = MCFS(n_features_to_select=10)
        search = LabelFreeSearchCV(method, {"n_neighbors": [3, 5, 10]}).fit(made.X)
        found += fitted(search.best_estimator_, made)
    return found


def significant(state: int) -> Answers:
    """Return how many columns go with the clusters at the usual level, planted and others."""
    from featsieve import JASFS
    from featsieve.tuning import feature_qvalues

    made = planted(n_samples=120, n_features=60, n_informative=12)
    sieve = JASFS(3, n_features_to_select=15, random_state=state)
    called = feature_qvalues(sieve, made.X, random_state=state).significant()
    truth = made.informative.tolist()
    return [("columns", [called.tolist(), truth]), ("numbers", int(called.sum()))]


def structure(state: int) -> Answers:
    """Return the verdicts about correlated tables without groups, and about tables with some."""
    import numpy as np

    import calibration as own
    from featsieve.tuning import structure_test

    kinds: list[tuple] = [("alarms", kind, (60, 60)) for kind in own.CORRELATED]
    kinds += [("alarms", kind, (150, 6)) for kind in own.EVEN]
    kinds += [("seen", kind, None) for kind in own.NARROW]
    kinds += [("seen", kind, "planted") for kind in ("iid15", "blocks2", "binary")]
    kinds += [("seen", own.PLAIN[i], "plain") for i in (0, 1, 3, 4, 5)]
    found: Answers = []
    for what, kind, form in kinds:
        rng = np.random.default_rng([state, *str((kind, form)).encode()])
        if what == "alarms":
            X = own.null_table(kind, *form, rng)
        elif form is None:
            X = own.narrow_table(kind, rng)
        else:
            X = planted(kind).X if form == "planted" else own.plain_table(*kind, rng)
        found.append((what, structure_test(X, random_state=state).verdict == "clusters"))
    return found


def sheets(state: int) -> Answers:
    """Return what `inspect` and `select` find and say of sheets of mixed columns."""
    import numpy as np
    import pandas as pd

    from featsieve.datasets import read_table
    from featsieve.report.selection.words import caveats, summary_sentences
    from featsieve.workflow.inspect import inspect_table
    from featsieve.workflow.outputs import summarize
    from featsieve.workflow.select import select_features

    rng = np.random.default_rng(7)
    made = planted(n_samples=140, n_features=14, n_informative=6)
    sheet = pd.DataFrame(made.X, columns=[f"m{j}" for j in range(14)])
    sheet["m3"] *= 50.0
    sheet["copy"] = sheet["m5"] + 0.01 * rng.standard_normal(140)
    sheet["region"] = rng.choice(["north", "south", "west"], 140)
    sheet["segment"] = np.array(["a", "b", "c"])[made.labels]
    sheet["number"] = np.arange(140)
    light = planted(n_samples=90, n_features=30, n_informative=8)
    lit = pd.DataFrame(light.X + 0.9 * rng.standard_normal((90, 1)))
    gaps = sheet.drop(columns=["region", "number"]).mask(rng.random((140, 16)) < 0.05)
    gaps["segment"] = sheet["segment"]
    asked: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
        (sheet, {"encode": True}, {"exclude": ["number"], "qvalues": False, "n_subsamples": 2}),
        (gaps, {"label_column": "segment"}, {"impute": "nearest", "n_subsamples": 0}),
        (lit.add_prefix("v"), {}, {"method": "laplacianscore"}),
        (lit.T.add_prefix("s"), {}, {"n_subsamples": 0}),
    ]
    found: Answers = []
    for frame, how_read, how in asked:
        with tempfile.TemporaryDirectory() as folder:
            frame.to_csv(path := Path(folder) / "sheet.csv", index=False)
            read = read_table(path, **how_read)
        look = inspect_table(read, random_state=state)
        found += [("sentences", note["text"]) for note in look["notes"]]
        run = select_features(read, random_state=state, **how)
        chosen = [name in run.selected for name in read.names]
        found += [("columns", [chosen, None]), ("clusters", run.labels.tolist())]
        found += [("numbers", run.n_clusters), ("numbers", len(run.selected))]
        found.append(("sentences", sorted(map(str, run.notes))))
        found.append(("sentences", sorted(map(str, run.features["reason"]))))
        summary = summarize(run)
        said = [*summary_sentences(summary), *(one["text"] for one in caveats(summary))]
        found += [("sentences", text) for text in said]
    return found


PARTS: dict[str, Callable[[int], Answers]] = {
    function.__name__: function
    for function in (
        *(automatic, given, many_rows, methods, others, tuned, significant, structure, sheets),
    )
}


# One process: a changed constant, some parts ------------------------------------------------------


class Recorded(ModuleType):
    """The module of the constants, which remembers those that were looked at."""

    def __getattribute__(self, name: str) -> Any:
        """Return an attribute, and remember it."""
        if name.isupper():
            READ.add(name)
        return super().__getattribute__(name)


READ: set[str] = set()


def measure(part: str, state: int, constants: dict[str, Any]) -> dict[str, Any]:
    """Return the answers of a part with some constants changed, and which constants it looks at."""
    for name, value in constants.items():
        setattr(defaults, name, tuple(value) if isinstance(value, list) else value)
    defaults.__class__ = Recorded
    warnings.simplefilter("ignore")
    try:
        found = PARTS[part](state)
    except Exception as error:
        found = [("sentences", f"fails: {error}")]
    return {"answers": found, "read": sorted(READ)}


def in_process(case: str) -> dict[str, Any]:
    """Measure a case (JSON) in a process of its own, with its constants."""
    return in_own_process(str(Path(__file__).resolve()), "--one", case, variables=ONE_THREAD)


# All of them --------------------------------------------------------------------------------------


def compare(usual: Answers, now: Answers) -> list[str]:
    """Return in words what differs between the answers of a part."""
    from sklearn.metrics import adjusted_rand_score

    if now and str(now[0][1]).startswith("fails"):
        return [str(now[0][1])]
    words, kinds = [], dict.fromkeys(kind for kind, _ in [*usual, *now])
    for kind in kinds:
        was, new = ([a for k, a in answers if k == kind] for answers in (usual, now))
        if was == new:
            continue
        if kind == "columns":
            others = [
                1.0 - sum(a and b for a, b in zip(x, y, strict=True)) / max(sum(x), sum(y), 1)
                for (x, _), (y, _) in zip(was, new, strict=True)
            ]
            text = f"{percent(others)} % other columns"
            recall = [percent(map(found, one)) for one in (was, new)]
            words.append(text + f", planted {recall[0]} -> {recall[1]} %" * (len(set(recall)) > 1))
        elif kind == "clusters":
            same = [adjusted_rand_score(x, y) for x, y in zip(was, new, strict=True)]
            words.append(f"clusters {sum(same) / len(same):.2f}")
        elif kind in ("alarms", "seen"):
            words.append(f"{kind} {sum(was)} -> {sum(new)} of {len(was)}")
        elif kind == "sentences":
            gone, come = (
                Counter(map(str, a)) - Counter(map(str, b)) for a, b in ((was, new), (new, was))
            )
            words.append(f"{max(gone.total(), come.total())} of {len(was)} {kind}")
        else:
            n = sum(a != b for a, b in zip(was, new, strict=True))
            words.append(f"{n} of {len(was)} {kind}")
    return words


def found(selection: list) -> float | None:
    """Return which share of the planted columns is selected, if that is known."""
    chosen, truth = selection
    return sum(a and b for a, b in zip(chosen, truth, strict=True)) / sum(truth) if truth else None


def percent(shares: Any) -> str:
    """Return a mean of shares in per cent."""
    known = [share for share in shares if share is not None]
    return f"{100.0 * sum(known) / max(len(known), 1):.0f}"


def shown(value: Any) -> str:
    """Return a constant as it is read."""
    return ", ".join(map(shown, value)) if isinstance(value, tuple) else f"{value:.6g}"


def main() -> None:
    parser = options(__doc__)
    names = [name for name in SECTION_OF if not isinstance(getattr(defaults, name), dict)]
    parser.add_argument("--constants", nargs="+", default=names, choices=names, metavar="CONSTANT")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="file of results, to stop and go on")
    parser.add_argument("--one", type=json.loads, help="a case, in JSON: what a process measures")
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(measure(**arguments.one)))
        return

    def run(cases: list[tuple[str, int, dict[str, Any]]]) -> list[dict[str, Any]]:
        keys = ("part", "state", "constants")
        texts = [(json.dumps(dict(zip(keys, case, strict=True))),) for case in cases]
        return in_parallel(in_process, texts, jobs=arguments.jobs, kept=arguments.kept)

    parts = arguments.parts
    states = dict(
        zip(
            ((p, s) for p in parts for s in (0, 1, 2)),
            run([(part, state, {}) for part in parts for state in (0, 1, 2)]),
            strict=True,
        )
    )
    usual = {part: states[part, 0] for part in parts}
    values = {
        name: ODD.get(name) or tuple(changed(getattr(defaults, name), f) for f in (0.5, 2.0))
        for name in arguments.constants
    }
    felt = {
        name: [part for part in parts_for(name) if part in parts and name in usual[part]["read"]]
        for name in values
    }
    cases = [
        (part, 0, {name: value})
        for name, own in values.items()
        for value in own
        if value != getattr(defaults, name)
        for part in felt[name]
    ]
    results = dict(zip(map(repr, cases), run(cases), strict=True))

    def cell(answers: dict[str, Any]) -> str:
        texts = [
            f"{part}: {', '.join(words)}"
            for part, one in answers.items()
            if (words := compare(usual[part]["answers"], one["answers"]))
        ]
        return "; ".join(texts) or "same"

    rows = [
        [
            AS_IT_IS,
            "",
            "",
            f"random state 1: {cell({p: states[p, 1] for p in parts})}",
            f"random state 2: {cell({p: states[p, 2] for p in parts})}",
        ]
    ]
    for name, own in values.items():
        cells = []
        for value in own:
            if not felt[name] or value == getattr(defaults, name):
                cells.append("not felt" if not felt[name] else "no such value")
                continue
            answers = {part: results[repr((part, 0, {name: value}))] for part in felt[name]}
            cells.append(f"{shown(value)}: {cell(answers)}")
        rows.append([name, shown(getattr(defaults, name)), ", ".join(felt[name]), *cells])
    lines = table(["constant", "value", "looked at in", "half", "double"], rows)
    finish(arguments.output, "Half and double of every constant", __doc__, lines)


if __name__ == "__main__":
    main()
