"""Everything that a report of a selection shows, as a plain dictionary."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from featsieve.evaluation import Stability
from featsieve.report.selection.caveats import caveats
from featsieve.report.selection.evaluation import evaluation
from featsieve.report.selection.facts import (
    cluster_facts,
    criterion_curve,
    method_facts,
    number_facts,
    objective_steps,
    selection_path,
    stability_facts,
    structure_facts,
    table_facts,
)
from featsieve.report.selection.features import (
    cluster_rows,
    feature_rows,
    heat_map,
    redundancy_graph,
)
from featsieve.report.selection.inputs import Selection, check_classes, check_shape, gather
from featsieve.report.selection.values import counted, json_safe
from featsieve.report.selection.views import pixel_images, sample_map
from featsieve.report.selection.words import summary_sentences

FORMAT = 1
# What ``about`` may hold that has a place of its own; everything else is listed as it is.
KNOWN = (
    "title", "file", "command", "seconds", "settings", "dropped", "filled", "standardized",
    "versions", "seed", "n_clusters", "notes",
)  # fmt: skip


def summarize_selection(
    selector: Any,
    X: Any,
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
) -> dict[str, Any]:
    """Put everything together that a report of a selection shows.

    Parameters
    ----------
    selector : fitted selector of featsieve
        Also StabilitySelection and AutoSelector.
    X : array-like, data frame or scipy.sparse matrix of shape (n_samples, n_features)
        The table that was fitted. A sparse one is not densified.
    feature_names, sample_names : sequence of str, optional
        Names of all columns and rows; by default those of a data frame.
    frequency : array-like of shape (n_features,), optional
        Share of subsamples that selected each feature; by default that of StabilitySelection.
    stability : Stability, optional
        From ``featsieve.evaluation.selection_stability``; by default that of StabilitySelection.
    structure : float, optional
        From ``featsieve.structure_score``; measured on at most 1000 samples if not given.
    y : array-like of shape (n_samples,), optional
        True classes. They judge the selection and colour a picture; nothing is chosen by them.
    class_names : sequence of str, optional
        Names of the classes 0, 1, ... of y.
    image_shape : tuple of two int or "guess", optional
        Rows and columns of the image whose pixels (row by row) the features are; "guess": a square
        if the number of features allows it.
    about : mapping, optional
        What only the caller knows: "title" of the report, "file" the table came from, "command" and
        "settings" that made the selection, "seconds" the fit took, columns "dropped" beforehand
        (names), missing values "filled" (a number, counts by column name, or a sentence), whether
        columns were "standardized" beforehand, "versions" of software (by name), "seed",
        "n_clusters" to show for a method that finds none, and "notes" (sentences) for the reader.
        Anything else is listed under its own name.

    Returns
    -------
    dict
        Holds only what JSON can hold, with its format number under "format". Parts that do not
        exist for this selection are None.

    Raises
    ------
    TypeError
        If the selector is none of featsieve, or not fitted (NotFittedError).
    ValueError
        If names, classes, frequencies or the image do not fit the table.

    See Also
    --------
    write_selection_report : Makes a page of it.

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.report import summarize_selection
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = JASFS(n_clusters=4, n_features_to_select=10, random_state=0).fit(planted.X)
    >>> summary = summarize_selection(sieve, planted.X, y=planted.labels)
    >>> summary["number"]["selected"], len(summary["clusters"]["rows"])
    (10, 4)
    >>> summary["evaluation"]["rows"][0]["accuracy"]
    1.0
    """
    about = dict(about or {})
    shape = check_shape(image_shape, np.shape(X)[1])
    selection = gather(
        selector,
        X,
        feature_names=feature_names,
        sample_names=sample_names,
        n_clusters=about.get("n_clusters"),
        pixels=shape,
    )
    n, d = selection.X.shape
    codes, classes = check_classes(y, class_names, n)
    shares = _frequency(selection, frequency, d)
    curve = criterion_curve(selection)
    clusters = cluster_facts(selection)
    summary: dict[str, Any] = {
        "format": FORMAT,
        "title": str(about.get("title") or _title(selection)),
        "table": table_facts(selection, about),
        "method": method_facts(selection, about),
        "number": number_facts(selection, curve),
        "clusters": clusters and clusters | {"rows": cluster_rows(selection)},
        "structure": structure_facts(selection, structure),
        "stability": stability_facts(selection, stability),
        "selected": [selection.feature_names[j] for j in selection.chosen],
        "features": feature_rows(selection, shares),
        "curve": curve,
        "path": selection_path(selection),
        "objective": objective_steps(selection),
        "map": sample_map(selection, codes, classes),
        "heatmap": heat_map(selection),
        "redundancy": redundancy_graph(selection),
        "image": None if shape is None else pixel_images(selection, shape),
        "evaluation": None
        if codes is None or classes is None
        else evaluation(selection, codes, classes),
        "reproduce": {
            "command": about.get("command") and str(about["command"]),
            "versions": json_safe(about.get("versions") or versions()),
            "more": {str(k): json_safe(v) for k, v in about.items() if k not in KNOWN},
        },
    }
    return summary | {
        "words": summary_sentences(summary),
        "caveats": caveats(summary, about.get("notes") or ()),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python, featsieve and what it computes with."""
    import platform

    import scipy
    import sklearn

    import featsieve

    return {
        "featsieve": featsieve.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _title(selection: Selection) -> str:
    """Return a title for a report without one."""
    n_features = counted(len(selection.feature_names), "feature")
    name = type(selection.selector).__name__
    return f"{len(selection.chosen):,} of {n_features}, selected by {name}"


def _frequency(selection: Selection, given: Any, n_features: int) -> np.ndarray | None:
    """Return the selection frequencies, if there are any."""
    shares = selection.fitted("selection_frequency_") if given is None else given
    if shares is None:
        return None
    shares = np.asarray(shares, dtype=np.float64)
    if shares.shape != (n_features,) or not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise ValueError(
            f"frequency must hold one share between 0 and 1 for each of the {n_features} features; "
            f"got an array of shape {shares.shape}."
        )
    return shares
