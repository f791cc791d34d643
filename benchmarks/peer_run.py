"""The measurements of peers.py: runs inside its environment, prints every row as it comes."""

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import gmean, spearmanr

import featsieve
import peer_cases
from common import line, table
from peer_cases import COMPARISONS, Budget, Comparison, Table
from peer_measure import LONG, Call, Measured, TimeUpError, fastest, in_child, measure_once
from peer_products import METHODS, Method, seconds

# Enough below 1 that the cause is not rounding: the note must explain it.
AGREES = 0.99
LARGE = 1000  # features from which the factor of ten is wanted
WANTED = 10.0
# Resident sets are not known better than this (MiB).
NEGLIGIBLE = 1.0


@dataclass(frozen=True)
class Row:
    """One comparison on one table; None where there is no number."""

    method: str
    peer: str
    data: str
    n: int
    d: int
    iterations: int | None
    seconds_ours: float | None
    seconds_peer: float | None
    ratio: float | None
    mib_ours: float | None
    mib_peer: float | None
    mib_ratio: float | None
    spearman: float | None
    spearman_repaired: float | None
    bound: bool  # the peer was stopped: seconds_peer and ratio are lower bounds
    remark: str


@dataclass(frozen=True)
class ProductRow:
    """One method without a peer on one table: an iteration against its products."""

    method: str
    data: str
    n: int
    d: int
    seconds_iteration: float | None
    seconds_products: float | None
    ratio: float | None
    products: str


HEAD = (
    "method", "peer", "data", "n x d", "iterations", "ours, s", "peer, s", "times faster",
    "ours, MiB", "peer, MiB", "memory, peer / ours", "Spearman", "repaired",
)  # fmt: skip
PRODUCT_HEAD = (
    "method", "data", "n x d", "iteration, s", "products, s", "ratio", "the products",
)  # fmt: skip


# Measurements ------------------------------------------------------------------------------------


def prepared(arguments: argparse.Namespace) -> Iterator[Table]:
    """Yield the tables, with graph and labels made in a child (threads must not start here)."""
    for name, X, n_clusters in peer_cases.raw_tables(arguments.sets):
        yield in_child(partial(peer_cases.prepare, name, X, n_clusters), limit=600.0)


def tiny_table() -> Table:
    """Return the table of the warm-up."""
    X = np.random.default_rng(0).standard_normal((40, 24))
    return in_child(lambda: peer_cases.prepare("tiny", X, 3), limit=600.0)


def peer_rows(arguments: argparse.Namespace) -> list[Row]:
    """Measure every comparison on every table."""
    tiny = tiny_table()
    rows = []
    print("\n".join(table(HEAD, [])), flush=True)
    for data in prepared(arguments):
        for comparison in COMPARISONS:
            if not hasattr(featsieve, comparison.method):
                continue
            if arguments.methods is None or comparison.method in arguments.methods:
                rows.append(compare(comparison, data, tiny, arguments))
                print(line(cells(rows[-1])), flush=True)
    return rows


def compare(comparison: Comparison, data: Table, tiny: Table, arguments: argparse.Namespace) -> Row:
    """Measure one comparison on one table."""
    most = arguments.iterations if comparison.iterative else 1
    theirs, remark, bound = None, "", False
    try:
        theirs = measure_once(
            their_call(comparison, data, tiny, Limits(most, arguments.patience)),
            limit=arguments.limit,
        )
        iterations = theirs.value[1] if comparison.iterative else most
    except TimeUpError:
        # It did not finish two iterations: this many are what its time is a lower bound for.
        bound, iterations, remark = True, min(most, 2), f"stopped after {arguments.limit:g} s"
    except RuntimeError as error:
        iterations, remark = most, f"fails: {error}"
    ours = measure_once(our_call(comparison, data, tiny, iterations), limit=arguments.limit)
    seconds_ours, seconds_peer = repeated(
        comparison, data, tiny, iterations, (ours, theirs), arguments
    )
    if bound:
        seconds_peer = arguments.limit
    agreement = repaired = None
    if theirs is not None:
        raw = theirs.value[0]
        agreement = spearman(ours.value, comparison.scores(raw), data.varies)
        if comparison.repaired is not None:
            repaired = spearman(ours.value, comparison.repaired(raw), data.varies)
    notes = [comparison.shim, remark]
    if agreement is not None and agreement < AGREES:
        notes.append(f"ranking: {comparison.differs}")
    n, d = data.X.shape
    return Row(
        comparison.method,
        comparison.peer,
        data.name,
        n,
        d,
        iterations if comparison.iterative else None,
        seconds_ours,
        seconds_peer,
        None if seconds_peer is None else seconds_peer / seconds_ours,
        ours.peak,
        None if theirs is None else theirs.peak,
        None if theirs is None else max(theirs.peak, 0.1) / max(ours.peak, 0.1),
        agreement,
        repaired,
        bound,
        "; ".join(note for note in notes if note),
    )


class Limits:
    """A fresh budget for every call."""

    def __init__(self, most: int, seconds: float = math.inf) -> None:
        self.most, self.seconds = most, seconds

    def budget(self) -> Budget:
        """Start the clock."""
        return Budget(self.most, self.seconds)


def their_call(comparison: Comparison, data: Table, tiny: Table, limits: Limits) -> Call:
    """Return the peer's call; its value is (what it returned, iterations made)."""

    def run() -> tuple[np.ndarray, int]:
        budget = limits.budget()
        return comparison.theirs(data, budget), budget.done

    return Call(run, lambda: comparison.theirs(tiny, Budget(2)))


def our_call(comparison: Comparison, data: Table, tiny: Table, iterations: int) -> Call:
    """Return our call; its value is the scores."""
    return Call(lambda: comparison.ours(data, iterations), lambda: comparison.ours(tiny, 2))


def repeated(
    comparison: Comparison,
    data: Table,
    tiny: Table,
    iterations: int,
    first: tuple[Measured, Measured | None],
    arguments: argparse.Namespace,
) -> tuple[float, float | None]:
    """Return the best times of ours and theirs; runs that took long are not repeated."""
    ours, theirs = first
    best = [ours.seconds, None if theirs is None else theirs.seconds]
    calls = {
        0: our_call(comparison, data, tiny, iterations),
        1: their_call(comparison, data, tiny, Limits(iterations)),
    }
    short = [i for i, seconds in enumerate(best) if seconds is not None and seconds < LONG]
    if short:
        times = fastest(
            [calls[i] for i in short], repeat=arguments.repeat, limit=100 * arguments.limit
        )
        for i, seconds in zip(short, times, strict=True):
            best[i] = seconds
    assert best[0] is not None
    return best[0], best[1]


def spearman(ours: np.ndarray, theirs: np.ndarray, varies: np.ndarray) -> float | None:
    """Return the rank correlation over the columns that vary; None where a score is missing."""
    found = float(spearmanr(ours[varies], theirs[varies]).statistic)
    return found if math.isfinite(found) else None


def product_rows(arguments: argparse.Namespace) -> list[ProductRow]:
    """Measure the iterations of every method against their products, on every table."""
    rows = []
    print("\n".join(["", *table(PRODUCT_HEAD, [])]), flush=True)
    for data in prepared(arguments):
        for method in METHODS:
            if not hasattr(featsieve, method.name):
                continue
            if arguments.methods is None or method.name in arguments.methods:
                rows.append(against_products(method, data, arguments))
                print(line(product_cells(rows[-1])), flush=True)
    return rows


def against_products(method: Method, data: Table, arguments: argparse.Namespace) -> ProductRow:
    """Measure one method on one table: medians, in one child."""

    def work() -> tuple[float, float, str]:
        works, text = method.products(data)
        seconds(works, 1)
        iterations = method.iterations(data, 2 + 2 * arguments.iterations)
        products = seconds(works, 2 * arguments.iterations)
        iterations += method.iterations(data, 2 + 2 * arguments.iterations)
        products += seconds(works, 2 * arguments.iterations)
        return float(np.median(iterations)), float(np.median(products)), text

    n, d = data.X.shape
    try:
        iteration, products, text = in_child(work, limit=5 * arguments.limit)
    except (TimeUpError, RuntimeError) as error:
        return ProductRow(method.name, data.name, n, d, None, None, None, f"fails: {error}")
    ratio = iteration / products
    return ProductRow(method.name, data.name, n, d, iteration, products, ratio, text)


# Tables ------------------------------------------------------------------------------------------


def number(value: float | None, digits: int = 3) -> str:
    """Return a positive number with so many significant digits, without an exponent."""
    if value is None:
        return "-"
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:.{min(decimals, 6)}f}"


def cells(row: Row) -> list[str]:
    """Return a row of the table of peers."""
    more = "> " if row.bound else ""
    memory = (row.mib_ours, row.mib_peer)
    known = None not in memory and max(memory) >= NEGLIGIBLE  # type: ignore[type-var]
    return [
        row.method,
        row.peer,
        row.data,
        f"{row.n} x {row.d}",
        "-" if row.iterations is None else str(row.iterations),
        number(row.seconds_ours),
        more + number(row.seconds_peer),
        more + number(row.ratio, 2),
        megabytes(row.mib_ours),
        megabytes(row.mib_peer),
        number(row.mib_ratio, 2) if known else "-",
        row.remark if row.spearman is None else f"{row.spearman:.3f}",
        "" if row.spearman_repaired is None else f"{row.spearman_repaired:.3f}",
    ]


def megabytes(value: float | None) -> str:
    """Return a peak memory, with what cannot be resolved as "< 1"."""
    if value is None:
        return "-"
    return f"< {NEGLIGIBLE:g}" if value < NEGLIGIBLE else f"{value:.0f}"


def product_cells(row: ProductRow) -> list[str]:
    """Return a row of the table of products."""
    return [
        row.method,
        row.data,
        f"{row.n} x {row.d}",
        number(row.seconds_iteration),
        number(row.seconds_products),
        number(row.ratio, 2),
        row.products,
    ]


def summary(rows: Sequence[Row]) -> list[str]:
    """Return the lines that compare the rows with the targets."""
    compared = [row for row in rows if row.ratio is not None]
    large = [row for row in compared if row.d >= LARGE]
    slower = [row for row in compared if row.ratio is not None and row.ratio < 1.0]
    lines = [
        f"Comparisons with a time on both sides: {len(compared)} of {len(rows)}; slower than the "
        f"peer: {len(slower)}"
        + "".join(f"; {row.method} against {row.peer} on {row.data}" for row in slower)
        + ".",
        "",
        f"Times faster, geometric mean over tables with at least {LARGE} features (wanted: "
        f"{WANTED:g}; times of stopped peers are lower bounds):",
        "",
    ]
    pairs = list(dict.fromkeys((row.method, row.peer) for row in large))
    body = []
    for method, peer in pairs:
        ratios = [r.ratio for r in large if (r.method, r.peer) == (method, peer) and r.ratio]
        body.append([method, peer, str(len(ratios)), number(gmean(ratios), 3)])
    everything = gmean([row.ratio for row in large if row.ratio])
    body.append(["**all**", "", str(len(large)), f"**{number(everything, 3)}**"])
    return lines + table(("method", "peer", "tables", "times faster"), body)


def notes(rows: Sequence[Row]) -> list[str]:
    """Return the remarks, each once, as a list."""
    found: dict[tuple[str, str, str], None] = {}
    for row in rows:
        if row.remark:
            found.setdefault((row.method, row.peer, row.remark))
    return [f"- {method}, {peer}: {remark}." for method, peer, remark in found]


def page(rows: Sequence[Row], product_rows: Sequence[ProductRow]) -> list[str]:
    """Return the lines of both tables, with a summary and notes."""
    lines = []
    if rows:
        lines += ["## Against other implementations", ""]
        lines += [*table(HEAD, map(cells, rows)), "", *summary(rows), ""]
        lines += ["Notes:", "", *notes(rows), ""]
    if product_rows:
        lines += ["## Against the products that cannot be avoided", ""]
        lines += table(PRODUCT_HEAD, map(product_cells, product_rows))
    return lines
