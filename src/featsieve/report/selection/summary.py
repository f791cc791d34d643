"""Everything that a report of a selection shows, as a plain dictionary."""

import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from featsieve.criteria.structure import StructureTest
from featsieve.evaluation import Stability
from featsieve.evaluation.checks import as_classes
from featsieve.names import counted
from featsieve.report.selection import facts, features, images, samples
from featsieve.report.selection.words import answer, caveats, summary_sentences
from featsieve.tuning.selection import Selection, check_shape, gather, named_as_pixels

FORMAT = 8
# What ``about`` may hold that has a place of its own; everything else is listed as it is.
KNOWN = (
    "title", "file", "command", "seconds", "dropped", "standardized", "original", "seed",
    "n_clusters", "notes", "label_column", "libraries", "encodings",
)  # fmt: skip


def summarize_selection(
    selector: Any,
    X: Any = None,
    *,
    feature_names: Any = None,
    sample_names: Any = None,
    frequency: Any = None,
    stability: Stability | None = None,
    structure: StructureTest | None = None,
    y: Any = None,
    batch: Any = None,
    image_shape: Any = None,
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Put everything together that a report of a selection shows.

    Parameters
    ----------
    selector : fitted selector of featsieve
        Also StabilitySelection and AutoSelector. Or the ``found`` of a `SelectionRun`, which has
        the table and its names.
    X : array-like, data frame or scipy.sparse matrix of shape (n_samples, n_features)
        The table that was fitted. A sparse one is not densified.
    feature_names, sample_names : sequence of str, optional
        Names of all columns and rows; by default those of a data frame.
    frequency : array-like of shape (n_features,), optional
        Share of subsamples that selected each feature; by default that of StabilitySelection.
    stability : Stability, optional
        From ``featsieve.evaluation.selection_stability``; by default that of StabilitySelection.
    structure : StructureTest, optional
        From ``featsieve.structure_test``; by default that of the fit, or tested now.
    y : array-like of shape (n_samples,), optional
        True classes, as names or numbers. They judge the selection and colour a picture; nothing
        is chosen by them.
    batch : array-like of shape (n_samples,), optional
        The batches that the selector was fitted with, if it was. Distributions are those of the
        table as it is given, everything else is shown inside of the batches.
    image_shape : tuple of two int, optional
        Rows and columns of the image whose pixels (row by row) the features are.
    about : mapping, optional
        What only the caller knows: "title" of the report, "file" the table came from, "command"
        that made the selection, "seconds" the fit took, columns "dropped" beforehand (names),
        whether columns were "standardized" beforehand, the "original" table then (its units are
        those of the distributions), "encodings" of the columns whose words are codes in it,
        "seed", "n_clusters" to show for a method that finds none, "label_column" that holds y,
        names of "libraries" to list beside featsieve's own, and "notes" (sentences) for the
        reader. Anything else is listed under its own name.

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
    if isinstance(selector, Selection):
        selection = selector
    else:
        names = {"feature_names": feature_names, "sample_names": sample_names}
        selection = gather(selector, X, n_clusters=about.get("n_clusters"), batch=batch, **names)
    shape = check_shape(image_shape, selection.X.shape[1])
    selection = named_as_pixels(selection, shape)
    codes = None if y is None else as_classes("y", y, n_samples=selection.X.shape[0])
    classes = None if y is None else [str(value) for value in np.unique(y).tolist()]
    curve, rows = facts.criterion_curve(selection), samples.drawn_samples(selection.X.shape[0])
    known, tested = about.get("encodings") or {}, structure or selection.structure
    details = about.get("original"), known
    drawn, beside = (
        features.distributions(selection, rows, some, *details)
        for some in (selection.shown[: features.MOST_FEATURES], features.beside(selection))
    )
    n_features = counted(len(selection.feature_names), "feature")
    method = type(selection.selector).__name__
    title = f"{len(selection.chosen):,} of {n_features}, selected by {method}"
    more = {str(key): value for key, value in about.items() if key not in KNOWN}
    summary: dict[str, Any] = {
        "format": FORMAT,
        "title": str(about.get("title") or title),
        "table": facts.table_facts(selection, about),
        "method": facts.method_facts(selection, about),
        "number": facts.number_facts(selection, curve),
        "clusters": features.cluster_facts(selection, known, drawn, about.get("original")),
        "structure": None if tested is None else tested.summary(),
        "stability": facts.stability_facts(selection, stability),
        "selected": [selection.feature_names[j] for j in selection.chosen],
        "features": features.feature_rows(selection, _frequency(selection, frequency), known),
        "curve": curve,
        "path": facts.selection_path(selection),
        "map": samples.sample_map(selection, codes, classes),
        "heatmap": samples.heat_map(selection),
        "distribution": drawn,
        "beside": beside and {key: beside[key] for key in ("feature", "said")},
        "redundancy": features.correlated_pairs(selection),
        "image": None if shape is None else images.pixel_images(selection, shape),
        "evaluation": None
        if codes is None or classes is None
        else facts.class_facts(selection, codes, classes, about.get("label_column")),
        "reproduce": {
            "command": about.get("command") and str(about["command"]),
            "versions": versions(about.get("libraries") or ()),
            "more": json.loads(json.dumps(more, default=str)),
        },
    }
    return summary | {
        "answer": answer(summary),
        "words": summary_sentences(summary),
        "caveats": caveats(summary, about.get("notes") or ()),
    }


def versions(more: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of Python, featsieve and what it computes with."""
    import featsieve

    found = {"featsieve": featsieve.__version__, "python": platform.python_version()}
    return found | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", *more)}


def _frequency(selection: Selection, given: Any) -> np.ndarray | None:
    """Return the selection frequencies, if there are any."""
    shares = selection.fitted("selection_frequency_") if given is None else given
    if shares is None:
        return None
    shares, n_features = np.asarray(shares, dtype=np.float64), len(selection.feature_names)
    if shares.shape != (n_features,) or not ((shares >= 0.0) & (shares <= 1.0)).all():
        raise ValueError(
            f"frequency must hold one share between 0 and 1 for each of the {n_features} features; "
            f"got an array of shape {shares.shape}."
        )
    return shares
