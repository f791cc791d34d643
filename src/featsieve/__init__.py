"""featsieve: the small group of features that carries the cluster structure of a table.

>>> from featsieve import JASFS
>>> from featsieve.datasets import make_planted
>>> X = make_planted(random_state=0).X
>>> JASFS(n_clusters=4, n_features_to_select=20, random_state=0).fit_transform(X).shape
(150, 20)
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; at run time names are found when asked for
    from featsieve import anndata as anndata
    from featsieve import datasets as datasets
    from featsieve import evaluation as evaluation
    from featsieve import report as report
    from featsieve import selectors as selectors
    from featsieve import tables as tables
    from featsieve import tuning as tuning
    from featsieve import workflow as workflow
    from featsieve.io.models import load_model, save_model
    from featsieve.selectors import (
        AUFS,
        DUFS,
        IFPCA,
        JASFS,
        MCFS,
        NDFS,
        RSFS,
        RUFS,
        SKFR,
        SOGFS,
        SPEC,
        UDFS,
        UGFS,
        URAFS,
        USFS,
        LaplacianScore,
        MaxVariance,
        RandomSelector,
        SparseKMeans,
    )
    from featsieve.tuning import (
        AutoSelector,
        LabelFreeSearchCV,
        StabilitySelection,
        explain,
        structure_test,
        suggest_n_clusters,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "AUFS",
    "DUFS",
    "IFPCA",
    "JASFS",
    "MCFS",
    "NDFS",
    "RSFS",
    "RUFS",
    "SKFR",
    "SOGFS",
    "SPEC",
    "UDFS",
    "UGFS",
    "URAFS",
    "USFS",
    "AutoSelector",
    "LabelFreeSearchCV",
    "LaplacianScore",
    "MaxVariance",
    "RandomSelector",
    "SparseKMeans",
    "StabilitySelection",
    "__version__",
    "explain",
    "load_model",
    "save_model",
    "structure_test",
    "suggest_n_clusters",
]


def _find(name: str) -> Any:
    """Import a public name when it is asked for: the command line's help need not wait for all."""
    if name in __all__:
        modules = (
            import_module(f"featsieve.{home}") for home in ("selectors", "tuning", "io.models")
        )
        value = globals()[name] = next(vars(m)[name] for m in modules if name in vars(m))
        return value
    if not name.startswith("_") and find_spec(f"featsieve.{name}") is not None:
        return import_module(f"featsieve.{name}")
    raise AttributeError(f"module 'featsieve' has no attribute {name!r}")


if not TYPE_CHECKING:  # type checkers would believe that there is every name one can think of
    __getattr__ = _find


def __dir__() -> list[str]:
    """List the public names, also those not imported yet."""
    return sorted({*globals(), *__all__})
