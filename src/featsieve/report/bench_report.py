"""From the rows of a benchmark to a page on disk."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from featsieve.report.bench_page import bench_page
from featsieve.report.bench_summary import summarise_bench
from featsieve.report.render import render_html, render_markdown, write_text

if TYPE_CHECKING:
    import pandas as pd


def write_bench_report(
    rows: "pd.DataFrame",
    output: str | os.PathLike[str],
    *,
    markdown: str | os.PathLike[str] | None = None,
    title: str = "",
) -> None:
    """Write the report of a benchmark as one self-contained HTML page.

    Parameters
    ----------
    rows : DataFrame
        Columns of ``featsieve.bench.cells.SCHEMA``, as ``Store.read`` gives them.
    output : str or path
        The HTML file; replaced as a whole.
    markdown : str or path, default=None
        Where to write the same as Markdown, without figures.
    title : str, default=""
        By default made of the plan's name.

    Raises
    ------
    ValueError
        If there are no rows.
    ImportError
        If jinja2 or matplotlib is missing.
    """
    page = bench_page(summarise_bench(rows), title=title)
    write_text(Path(output), render_html(page))
    if markdown is not None:
        write_text(Path(markdown), render_markdown(page))
