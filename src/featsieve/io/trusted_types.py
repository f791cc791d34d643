"""What a stored model may be made of. Anything else in a file is refused before it is looked up.

A file of skops is a tree of nodes. Every node names a type and the loader that builds it. Here
stands, for every loader, the complete list of types that it may build. Loaders of functions,
methods and partial calls are not in it, so that nothing in a file can call anything.
"""

from collections.abc import Iterator
from typing import Any

SELECTORS = {
    "featsieve.selectors.aufs.AUFS",
    "featsieve.jasfs.estimator.JASFS",
    "featsieve.selectors.laplacian_score.LaplacianScore",
    "featsieve.selectors.max_variance.MaxVariance",
    "featsieve.selectors.mcfs.MCFS",
    "featsieve.selectors.ndfs.NDFS",
    "featsieve.selectors.random_selector.RandomSelector",
    "featsieve.selectors.rsfs.RSFS",
    "featsieve.selectors.rufs.RUFS",
    "featsieve.selectors.sogfs.SOGFS",
    "featsieve.selectors.spec.SPEC",
    "featsieve.selectors.udfs.UDFS",
    "featsieve.selectors.ugfs.UGFS",
    "featsieve.selectors.urafs.URAFS",
    "featsieve.selectors.usfs.USFS",
    "featsieve.tuning.auto_selector.AutoSelector",
    "featsieve.tuning.search.LabelFreeSearchCV",
    "featsieve.tuning.stability_selection.StabilitySelection",
}
# What selectors keep from a fit.
PARTS = {
    "featsieve.io.selection_model.SelectionModel",
    "featsieve.solvers.forward_selection.SelectionPath",
    "featsieve.criteria.automatic.RankedPath",
    "featsieve.criteria.measures.LabelAgreement",
    "featsieve.criteria.measures.Modularity",
    "featsieve.criteria.curve.CriterionCurve",
    "featsieve.criteria.n_clusters.ClusterCount",
    "featsieve.tuning.search.LabelFreeScorer",
}
# Steps before a selector that hold numbers only, and folds of a search.
SCIKIT_LEARN = {
    "sklearn.decomposition._pca.PCA",
    "sklearn.decomposition._truncated_svd.TruncatedSVD",
    "sklearn.feature_extraction.text.TfidfTransformer",
    "sklearn.feature_selection._variance_threshold.VarianceThreshold",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split._CVIterableWrapper",
    "sklearn.model_selection._split.LeaveOneOut",
    "sklearn.model_selection._split.ShuffleSplit",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.Normalizer",
    "sklearn.preprocessing._data.PowerTransformer",
    "sklearn.preprocessing._data.QuantileTransformer",
    "sklearn.preprocessing._data.RobustScaler",
    "sklearn.preprocessing._data.StandardScaler",
}
NUMBERS = {
    *(f"numpy.{name}" for name in ("bool", "bool_", "str_", "intp", "uint8", "int8", "int16")),
    *(f"numpy.{name}" for name in ("int32", "int64", "uint32", "uint64", "float32", "float64")),
}
SPARSE = {
    f"scipy.sparse._{layout}.{layout}_{kind}"
    for layout in ("csr", "csc")
    for kind in ("array", "matrix")
}

# Which types each loader of skops may build.
ALLOWED: dict[str, set[str]] = {
    "ConstructorFromReduceNode": {"featsieve.solvers.protocol.Status"},
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {"builtins.dict"},
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "MaskedArrayNode": {"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"},
    "NdArrayNode": {"numpy.ndarray", *NUMBERS},
    "ObjectNode": SELECTORS | PARTS | SCIKIT_LEARN,
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "SparseMatrixNode": SPARSE,
    "TupleNode": {"builtins.tuple"},
    "TypeNode": {"builtins.bool", "builtins.float", "builtins.int", "builtins.str", *NUMBERS},
}

# What loaders that are not in the list stand for.
WORDS = {
    "FunctionNode": "the function",
    "MethodNode": "a method of",
    "OperatorFuncNode": "the function",
    "PartialNode": "a function,",
    "TypeNode": "the class or function",
}


def trusted_names() -> list[str]:
    """Return the names of all types that a stored model may hold."""
    return sorted(set().union(*ALLOWED.values()))


def untrusted_parts(schema: Any) -> Iterator[tuple[str, str]]:
    """Yield where and what, for every part of a model's description that is not in the list.

    Nothing is imported or built. The place is a chain of attributes, such as "selector.callback".
    """
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, list):
            waiting += [(place, item) for item in part]
        if not isinstance(part, dict):
            continue
        if "__loader__" in part or "__class__" in part or "__module__" in part:
            loader = part.get("__loader__")
            name = f"{part.get('__module__')}.{part.get('__class__')}"
            if not isinstance(loader, str) or name not in ALLOWED.get(loader, ()):
                yield place, f"{WORDS.get(str(loader), 'an object of type')} {name}"
                continue
        # Attributes of objects are in dictionaries: only their keys belong to the place.
        inside = part.get("__loader__") == "DictNode" and isinstance(part.get("content"), dict)
        for key, value in part.items():
            if inside and key == "content":
                waiting += [(f"{place}.{k}".strip("."), child) for k, child in value.items()]
            else:
                waiting.append((place, value))
