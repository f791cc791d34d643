"""The measurements of peers.py: runs inside its environment, prints every row as it comes."""

import argparse
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.stats import spearmanr

import featsieve
import peer_cases
from peer_cases import COMPARISONS, Budget, Comparison, Table
from peer_measure import LONG, Call, Measured, TimeUpError, fastest, in_child, measure_once
from peer_products import METHODS, Method, seconds
from peer_table import HEAD, PRODUCT_HEAD, ProductRow, Row, cells, product_cells, table

# Enough below 1 that the cause is not rounding: the note must explain it.
AGREES = 0.99


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
                print("| " + " | ".join(cells(rows[-1])) + " |", flush=True)
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
                print("| " + " | ".join(product_cells(rows[-1])) + " |", flush=True)
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
