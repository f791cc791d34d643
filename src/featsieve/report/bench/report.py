"""From the rows of a benchmark to a page on disk."""

import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from featsieve.io.files import whole_file, write_text
from featsieve.report.bench.page import bench_page
from featsieve.report.bench.summary import summarise_bench
from featsieve.report.render import render_html, render_markdown

if TYPE_CHECKING:
    import pandas as pd


def write_bench_report(
    rows: "pd.DataFrame",
    output: str | os.PathLike[str],
    *,
    markdown: str | os.PathLike[str] | None = None,
    title: str = "",
    planned: Collection[str] | Mapping[str, Any] | None = None,
) -> None:
    """Write the report of a benchmark as one self-contained HTML page.

    Parameters
    ----------
    rows : DataFrame
        Columns of ``featsieve.bench.cells.SCHEMA``, as ``Store.read`` gives them.
    output : str or path
        The HTML file; replaced as a whole.
    markdown : str or path, default=None
        Where to write the same as Markdown, without figures and without what is folded away.
    title : str, default=""
        By default made of the plan's name.
    planned : collection of str, or mapping, default=None
        Identities of all planned cells, so that the page of an unfinished run says so. A mapping
        may say what each cell is ("dataset", "method", "experiment"); then exactly the methods
        whose grids are not complete are left out of the oracle track.

    Raises
    ------
    ValueError
        If there are no rows.
    ImportError
        If jinja2 or matplotlib is missing.
    """
    page = bench_page(summarise_bench(rows, planned=planned), title=title)
    text = render_html(page)
    if markdown is None:
        write_text(output, text)
        return
    with whole_file(markdown) as unfinished:  # none of the two if one cannot be written
        unfinished.write_text(render_markdown(page), encoding="utf-8")
        write_text(output, text)
