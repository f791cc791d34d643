"""Parts of docstrings that many estimators share, written once.

:func:`fill_doc` replaces a line ``%(name)s`` of a docstring by the entry of that name, and
``%(one, two)s`` by two of them. The lines that follow belong to the last entry: they say what is
special about a method.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

PLACEHOLDER = re.compile(r"^( *)%\((\w+(?:, \w+)*)\)s$", re.MULTILINE)

# Entries of numpydoc sections. {default} is the default value in the signature.
PARAMETERS = """
n_clusters : int or "auto", default={default}
    Number of clusters c, the columns of the label matrix. "auto" estimates it.
n_features_to_select : int, float or "auto", default={default}
    How many features to select: a count, a fraction of the features, or "auto": as many as are
    needed to show the pseudo-labels (see ``path_``).
init : {{"spectral", "k-means"}}, labels or callable, default={default}
    First pseudo-labels: spectral clustering of the graph, k-means on the columns, an array of
    labels, or ``init(X, n_clusters, random_state)``.
affinity : {{"heat", "binary"}} or array-like of shape (n_samples, n_samples), default={default}
    Weights of the graph's edges: exp(-||x_i - x_j||²/(2t²)) with t the mean distance between
    samples, or 1; or a symmetric, non-negative affinity matrix to use as it is.
n_neighbors : int, default={default}
    Neighbours of a sample in the graph, or all others if there are fewer.
scale : {{"unit", "none", "raw", "sqrt"}}, default={default}
    Columns: centred with unit variance, centred only, or as they are; "sqrt" is half way from
    "none" to "unit".
max_iter : int, default={default}
    Most iterations.
tol : float, default={default}
    Relative change of the objective that ends them.
callback : callable or None, default={default}
    ``callback(iteration, objective, state)`` after every iteration; return True to stop.
verbose : int, default={default}
    Whether to print progress: 1 prints the steps of the fit and, at most once a second, its
    iterations; 2 prints every iteration.
random_state : int, RandomState instance or None, default={default}
    Seeds the k-means runs of the first labels.
keep : names, positions or mask, default={default}
    Columns that are selected in any case. They come first and count, the others complement them. A
    name may be a pattern such as ``"HLA-*"`` (``*``, ``?``, ``[...]`` as in file names).
exclude : names, positions or mask, default={default}
    Columns, or patterns, that are never selected. They still take part in finding clusters: leave
    them out of X if they should not.
groups : mapping or list, default={default}
    Columns that are selected together or not at all, and count as one feature: ``{{"name":
    columns}}``, or a group (or None) for every column. The 0/1 indicators of a category
    (:func:`featsieve.tables.encode`) have the weight of one column then.
costs : mapping or sequence of floats, default={default}
    Prices: one for every column, or by name or position (others cost 1). A group costs what is
    given under its name, else what its columns cost together, or 1.
budget : float, default={default}
    What the selected features may cost together, in place of their number.
"""

ATTRIBUTES = """
coef_ : ndarray of shape (`n_features_in_`, n_clusters)
    W, in the units of X.
intercept_ : ndarray of shape (n_clusters,)
    b: F is approximated by ``X @ coef_ + intercept_``.
labels_ : ndarray of shape (n_samples,)
    Pseudo-label of every sample.
scores_ : ndarray of shape (`n_features_in_`,)
    Length of the feature's row of W (for the scaled columns); 0 for columns that do not vary.
ranking_ : ndarray of shape (`n_features_in_`,)
    Rank of every feature, 1 is the best.
support_ : ndarray of shape (`n_features_in_`,), dtype bool
    The selected features.
n_features_selected_ : int
    Their number.
objective_ : ndarray of shape (`n_iter_`,)
    The objective after every iteration (with ||w|| smoothed to sqrt(||w||² + 2.2e-16)).
n_iter_ : int
    Number of iterations.
status_ : Status
    How the solver ended; ``status_.value`` explains it.
beta_ : float
    The β that was used.
eigengap_ : float
    Smallest relative distance of the eigenvalues inside W from those outside; there is a warning
    where it vanishes.
n_clusters_ : int
    The number of clusters that was used; ``cluster_count_`` says how "auto" found it.
path_ : RankedPath
    With "auto": the ``order`` of the features, best first, and the ``curve`` of the criterion over
    their number.
equivalent_range_ : tuple of int
    With "auto": the smallest and the largest number that are nearly as good as the one chosen.
structure_ : StructureTest or None
    With "auto": whether there are clusters; None for fewer than 10 rows or two columns.
batches_ : Batches
    Of a fit with ``batch``: means and deviations of the selected columns in every batch.
batch_report_ : BatchReport
    Of a fit with ``batch`` that finds clusters: how far the batches tell them, with and without
    the correction; ``batch_report_.sentence`` says it.
n_features_in_ : int
    Number of features seen in ``fit``.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features seen in ``fit``; only if X had string column names.
"""

# Entries under other names, where the usual one would say something else.
VARIANTS = {
    "spectral_neighbors": """\
n_neighbors : int, default={default}
    Neighbours of a sample in the graph of ``init="spectral"``; nothing else uses it.""",
    "first_weights": """\
init : {{"roughness", "identity"}}, default={default}
    First weights of the rows in a search for W. "identity" is published, and leaves the first step
    undecided for d > n: the result then depends on the order of the columns. "roughness" starts
    with weights that grow with x_j'Lx_j, in favour of smooth columns.""",
    "rising_orthogonality": """\
orthogonality : float or sequence of floats, default={default}
    Weight of the penalty ||F'F - I||²/2. A rising sequence is run through, every value from where
    the one before it ended: F moves while it is small.""",
    "path_length": """\
path_length : int, default={default}
    Length of ``path_`` (at least the number of selected features).""",
    "last_callback": """\
callback : callable or None, default={default}
    ``callback(iteration, objective, state)`` after every iteration at the last value of
    ``orthogonality``; return True to stop.""",
    "sparse_coef_": """\
coef_ : ndarray of shape (`n_features_in_`, n_clusters)
    W, in the units of X; zero for features that are not selected.""",
    "label_matrix_": """\
label_matrix_ : ndarray of shape (n_samples, n_clusters)
    F. Its columns are those of ``coef_``; a sample's label is its largest entry, numbered in
    ``labels_`` by first sample unless ``init`` gave labels.""",
    "selected_first": """\
ranking_ : ndarray of shape (`n_features_in_`,)
    Rank of every feature, 1 is the best; the selected ones come first.""",
    "example": """\
>>> from featsieve import {name}
>>> from featsieve.datasets import make_planted
>>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
>>> sieve = {name}({settings}).fit(planted.X)
>>> int((sieve.support_ & planted.informative).sum())
10""",
}
# The settings of the example: those that an estimator has (unless its n_clusters is None).
SETTINGS = {"n_clusters": 4, "n_features_to_select": 10, "random_state": 0}

# Entries that usually come together.
GROUPS = {
    "constraints": ("keep", "exclude", "groups", "costs", "budget"),
    "selection": ("ranking_", "support_", "n_features_selected_"),
    "outcome": ("n_iter_", "status_"),
    "automatic": ("path_", "equivalent_range_", "structure_"),
    "input": ("batches_", "batch_report_", "n_features_in_", "feature_names_in_"),
}


def _split(text: str) -> dict[str, str]:
    """Return the entries of a section by name."""
    entries = re.split(r"\n(?=\w)", text.strip())
    return {entry.partition(" :")[0]: entry for entry in entries}


ENTRIES = {**_split(PARAMETERS), **_split(ATTRIBUTES), **VARIANTS}


def fill_doc(thing: Documented) -> Documented:
    """Fill the placeholders in the docstring of a class or function; use it as a decorator."""
    if thing.__doc__ is None:  # python -OO
        return thing
    parameters = inspect.signature(thing).parameters
    settings = [
        f"{name}={value}"
        for name, value in SETTINGS.items()
        if name in parameters and (name, parameters[name].default) != ("n_clusters", None)
    ]

    def entry(key: str) -> str:
        name = ENTRIES[key].partition(" :")[0]
        default = parameters[name].default if name in parameters else None
        shown = f'"{default}"' if isinstance(default, str) else re.sub("e-0", "e-", repr(default))
        return ENTRIES[key].format(default=shown, name=thing.__name__, settings=", ".join(settings))

    def indented(match: re.Match[str]) -> str:
        indent, names = match.groups()
        each = (one for name in names.split(", ") for one in GROUPS.get(name, (name,)))
        lines = "\n".join(map(entry, each)).splitlines()
        return "\n".join(indent + line for line in lines)

    thing.__doc__ = PLACEHOLDER.sub(indented, thing.__doc__)
    return thing
