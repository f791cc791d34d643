"""From a summary to an interactive page: what its template shows, and the data of its script."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from featsieve import defaults
from featsieve.io.files import write_text
from featsieve.report.page import template_environment, template_text
from featsieve.report.selection.charts import charts, objective_note
from featsieve.report.selection.drawing import N_COLOURS, key_mark, markers
from featsieve.report.selection.evaluation import best_cells, is_meaningless
from featsieve.report.selection.pictures import (
    graph_picture,
    map_markers,
    pixel_pictures,
    sample_views,
)
from featsieve.report.selection.summary import FORMAT, summarize_selection
from featsieve.report.selection.table import table_columns, table_note, table_rows
from featsieve.report.selection.values import readable


def write_selection_report(
    selector: Any, X: Any, path: str | os.PathLike[str], **details: Any
) -> None:
    """Write the report of a selection as one interactive HTML page that needs no network.

    Parameters
    ----------
    selector : fitted selector of featsieve
    X : array-like, data frame or scipy.sparse matrix of shape (n_samples, n_features)
        The table that was fitted.
    path : str or path
        The HTML file; written whole or not at all.
    **details
        Names of features and samples, true classes, the shape of images and what else is known:
        the keyword arguments of `summarize_selection`.

    Raises
    ------
    ImportError
        If jinja2 is missing.
    ValueError, TypeError
        As `summarize_selection`.

    See Also
    --------
    summarize_selection : The same as a plain dictionary.
    render_selection : Makes the page from that.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.report import write_selection_report
    >>> X = make_planted(n_samples=60, n_features=30, n_informative=6, random_state=0).X
    >>> sieve = JASFS(4, n_features_to_select=6, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_selection_report(sieve, X, Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    write_text(path, render_selection(summarize_selection(selector, X, **details)))


def render_selection(summary: Mapping[str, Any]) -> str:
    """Return the page of a selection: one self-contained HTML document.

    Parameters
    ----------
    summary : mapping
        From `summarize_selection`, also after a round trip through JSON.

    Returns
    -------
    str
        Style, script, data and pictures are inside; nothing is loaded from elsewhere. Tables,
        texts and pictures are there without JavaScript, too; the script adds sorting, searching
        and reading off.

    Raises
    ------
    ImportError
        If jinja2 is missing.
    ValueError
        If the summary was written by a version with another format.

    Examples
    --------
    >>> import json
    >>> from featsieve import LaplacianScore
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.report import render_selection, summarize_selection
    >>> X = make_planted(n_samples=60, n_features=30, n_informative=6, random_state=0).X
    >>> summary = summarize_selection(LaplacianScore(6).fit(X), X)
    >>> render_selection(summary) == render_selection(json.loads(json.dumps(summary)))
    True
    """
    found = summary.get("format") if isinstance(summary, Mapping) else None
    if found != FORMAT:
        raise ValueError(
            f"This version of featsieve renders summaries of format {FORMAT}; got format "
            f"{found!r}. Make the summary again with summarize_selection."
        )
    environment = template_environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    from markupsafe import Markup

    environment.filters |= {"readable": readable, "setting": setting_text}
    parts = page_parts(summary)
    script = template_text("selection.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    page = environment.get_template("selection.html.j2").render(
        **parts,
        css=Markup(template_text("selection.css")),
        script=Markup(script),
        script_hash=digest,
        json=Markup(script_safe(parts["data"])),
    )
    return page + "\n"


def page_parts(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template shows beside the summary, and the data for its interaction."""
    drawn, views, graph = charts(summary), sample_views(summary), graph_picture(summary)
    columns = table_columns(summary)
    rows = table_rows(summary, columns)
    others = [row for row in rows if not row["selected"]]
    names = summary["clusters"]["names"] if summary["clusters"] else []
    judged, image, samples = summary["evaluation"], summary["image"], summary["map"]
    return {
        "summary": summary,
        "charts": drawn,
        "columns": columns,
        "rows": [row for row in rows if row["selected"]],
        "n_more": len(others),
        "table_note": table_note(summary),
        "views": views,
        "keys": [{"name": name, "mark": key_mark(group)} for group, name in enumerate(names)],
        "n_colours": N_COLOURS,
        "graph": graph,
        "near": defaults.REPORT_NEAR_DUPLICATE,
        "pixels": pixel_pictures(summary),
        "objective_note": objective_note(summary),
        "best_scores": best_cells(judged, ("accuracy", "nmi", "ari")) if judged else (),
        "meaningless": bool(judged) and is_meaningless(judged),
        "data": {
            "file": _file_name(summary["title"]),
            "charts": {chart.name: chart.points for chart in drawn},
            "columns": [{k: c[k] for k in ("kind", "style", "full")} for c in columns],
            "rows": [[row["group"], *(cell["text"] for cell in row["cells"])] for row in others],
            "clusters": names,
            "markers": map_markers(summary),
            "keys": markers(),
            "colours": N_COLOURS,
            "map": samples
            and {key: samples[key] for key in ("names", "cluster", "class", "classes")}
            | {
                "rows": None if len(samples["rows"]) == samples["of"] else samples["rows"],
                "views": {view["name"]: {"x": view["x"], "y": view["y"]} for view in views},
            },
            "graph": graph and {key: graph[key] for key in ("x", "y", "text", "edges")},
            "pixels": image and {key: image[key] for key in ("shape", "selected", "rank")},
        },
    }


def setting_text(value: Any) -> str:
    """Write a setting."""
    if isinstance(value, list):
        return ", ".join(map(setting_text, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {setting_text(entry)}" for key, entry in value.items()) or "none"
    return "none" if value is None else str(value)


def script_safe(data: Any) -> str:
    r"""Return data as JSON that cannot end the element around it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _file_name(title: str) -> str:
    """Return a title as the beginning of a file's name."""
    letters = "".join(letter if letter.isalnum() else "-" for letter in title.lower())
    return "-".join(part for part in letters.split("-") if part)[:60] or "selection"
