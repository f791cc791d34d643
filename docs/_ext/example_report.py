"""A report of a selection to look at, written into the built pages: pixels of the digits."""

from pathlib import Path
from typing import Any

FILE = "example_report.html"


def write_example(app: Any, error: Exception | None) -> None:
    """Fit the digits, with a few subsamples, and write the report beside the pages."""
    if error is not None or app.builder.format != "html":
        return
    from sklearn.datasets import load_digits

    from featsieve import JASFS, StabilitySelection
    from featsieve.report import write_selection_report

    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    selector = JASFS(n_clusters=10, random_state=0).fit(X)
    again = JASFS(n_clusters=10, n_features_to_select=selector.n_features_selected_)
    stable = StabilitySelection(again, n_subsamples=10, random_state=0).fit(X)
    names = [f"row {j // 8}, column {j % 8}" for j in range(64)]
    write_selection_report(
        selector,
        X,
        Path(app.outdir) / FILE,
        feature_names=names,
        frequency=stable.selection_frequency_,
        y=y,
        image_shape=(8, 8),
        about={"title": "Pixels of handwritten digits"},
    )


def setup(app: Any) -> dict[str, bool]:
    """Ask for it when all pages are there."""
    app.connect("build-finished", write_example)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
