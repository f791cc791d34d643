"""The demo in a terminal: short tables, and the pixels as a picture of characters."""

from typing import Any

from featsieve.demo.digits import Digits
from featsieve.report.page import Table

# Shades of a pixel from the first rank to the last.
SHADES = "█▓▒░"


def print_table(console: Any, table: Table) -> None:
    """Print a table of the page."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    shown = RichTable(
        title=table.caption,
        title_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        padding=0,
    )
    for i, name in enumerate(table.head):
        shown.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    for row in table.rows:
        cells = [
            f"[bold green]{entry.text}[/]" if entry.best else entry.text for entry in row.entries
        ]
        notes = [
            f"{cell} ({entry.note})" if entry.note else cell
            for cell, entry in zip(cells, row.entries, strict=True)
        ]
        shown.add_row(row.header, *notes)
    console.print(shown)


def print_pixels(console: Any, digits: Digits) -> None:
    """Print which pixels were selected: the darker, the better."""
    chosen = digits.sieve.n_features_selected_
    console.print(f"[bold]{chosen} of {digits.X.shape[1]} pixels[/] carry the clusters of digits:")
    for row in pixel_lines(digits):
        console.print("   " + row, highlight=False)


def pixel_lines(digits: Digits) -> list[str]:
    """Return one line of characters per row of pixels; a dot is a pixel that was left out."""
    last = digits.sieve.n_features_selected_

    def pixel(rank: int) -> str:
        return "· " if rank == 0 else 2 * SHADES[(rank - 1) * len(SHADES) // last]

    return ["".join(pixel(int(rank)) for rank in row) for row in digits.ranks]
