"""Rows and tables of peers.py: formats, summary, CSV. Standard library only."""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

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
    "method",
    "peer",
    "data",
    "n x d",
    "iterations",
    "ours, s",
    "peer, s",
    "times faster",
    "ours, MiB",
    "peer, MiB",
    "memory, peer / ours",
    "Spearman",
    "repaired",
)
PRODUCT_HEAD = (
    "method",
    "data",
    "n x d",
    "iteration, s",
    "products, s",
    "ratio",
    "the products",
)


def geometric_mean(values: Iterable[float]) -> float:
    """Return exp(mean(log(values))); nan of nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


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


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table as lines."""
    return [
        "| " + " | ".join(head) + " |",
        "|---" * len(head) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
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
        body.append([method, peer, str(len(ratios)), number(geometric_mean(ratios), 3)])
    everything = geometric_mean(row.ratio for row in large if row.ratio)
    body.append(["**all**", "", str(len(large)), f"**{number(everything, 3)}**"])
    return lines + table(("method", "peer", "tables", "times faster"), body)


def notes(rows: Sequence[Row]) -> list[str]:
    """Return the remarks, each once, as a list."""
    found: dict[tuple[str, str, str], None] = {}
    for row in rows:
        if row.remark:
            found.setdefault((row.method, row.peer, row.remark))
    return [f"- {method}, {peer}: {remark}." for method, peer, remark in found]


def write_rows(path: Path, rows: Sequence[Row | ProductRow]) -> None:
    """Write rows as CSV, one column per field."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])])
        writer.writeheader()
        for row in rows:
            kept = {key: _rounded(value) for key, value in asdict(row).items()}
            writer.writerow(kept)


def _rounded(value: object) -> object:
    """Keep so many digits that the page and the rows read again round alike."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def read_rows(path: Path, kind: type = Row) -> list:
    """Read what :func:`write_rows` wrote; an empty cell is None."""
    convert = {"n": int, "d": int, "iterations": int, "bound": lambda text: text == "True"}
    words = {"method", "peer", "data", "remark", "products"}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            kind(
                **{
                    key: text if key in words else (convert.get(key, float)(text) if text else None)
                    for key, text in line.items()
                }
            )
            for line in csv.DictReader(file)
        ]
