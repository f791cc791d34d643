"""From a file to a selection, its report and its use on other rows: what the command line does.

Nothing here prints. Functions take a table of any kind (a file, a data frame, an array), and
return an object that says what was done and how far it can be trusted.

>>> from featsieve.datasets import make_planted
>>> from featsieve.workflow import select_features
>>> planted = make_planted(90, 40, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
>>> select_features(planted.X, n_subsamples=0).n_clusters
3
"""

from featsieve.workflow.apply import Applied, apply_model
from featsieve.workflow.compare import Comparison, compare_methods
from featsieve.workflow.inspect import Inspection, inspect_table
from featsieve.workflow.outputs import save_run
from featsieve.workflow.select import SelectionRun, select_features

__all__ = [
    "Applied",
    "Comparison",
    "Inspection",
    "SelectionRun",
    "apply_model",
    "compare_methods",
    "inspect_table",
    "save_run",
    "select_features",
]
