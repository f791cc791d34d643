"""From a fitted selector to an interactive page on disk."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from importlib import resources
from typing import Any

from featsieve.evaluation import Stability
from featsieve.io.files import write_text
from featsieve.report.selection.page import number_note, page_parts
from featsieve.report.selection.summary import FORMAT, summarize_selection
from featsieve.report.selection.table import table_note


def write_selection_report(
    selector: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    feature_names: Any = None,
    sample_names: Any = None,
    frequency: Any = None,
    stability: Stability | None = None,
    structure: float | None = None,
    y: Any = None,
    class_names: Any = None,
    image_shape: Any = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write the report of a selection as one interactive HTML page that needs no network.

    Parameters
    ----------
    selector : fitted selector of featsieve
    X : array-like, data frame or scipy.sparse matrix of shape (n_samples, n_features)
        The table that was fitted.
    path : str or path
        The HTML file; written whole or not at all.
    feature_names, sample_names, frequency, stability, structure, y, class_names
        See `summarize_selection`.
    image_shape, about
        See `summarize_selection`.

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
    summary = summarize_selection(
        selector,
        X,
        feature_names=feature_names,
        sample_names=sample_names,
        frequency=frequency,
        stability=stability,
        structure=structure,
        y=y,
        class_names=class_names,
        image_shape=image_shape,
        about=about,
    )
    write_text(path, render_selection(summary))


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
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("Reports need jinja2: pip install 'featsieve[report]'.") from error
    from markupsafe import Markup

    folder = resources.files("featsieve.report").joinpath("templates")

    def read(name: str) -> str:
        return folder.joinpath(name).read_text("utf-8")

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    parts = page_parts(summary)
    script = read("selection.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    template = environment.get_template("selection.html.j2")
    return (
        template.render(
            **parts,
            table_note=table_note(summary),
            number_note=number_note(summary),
            css=Markup(read("selection.css")),
            script=Markup(script),
            script_hash=digest,
            json=Markup(script_safe(parts["data"])),
        )
        + "\n"
    )


def script_safe(data: Any) -> str:
    r"""Return data as JSON that cannot end the element around it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
