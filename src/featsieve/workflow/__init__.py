"""From a file to a selection, its report and its use on other rows: what the command line does.

Nothing here prints.

>>> from featsieve.datasets import make_planted
>>> from featsieve.workflow import select_features
>>> planted = make_planted(90, 40, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
>>> select_features(planted.X, n_subsamples=0).n_clusters
3
"""

from featsieve.workflow.outputs import save_run
from featsieve.workflow.panel import save_panel
from featsieve.workflow.select import SelectionRun, select_features

__all__ = [
    "SelectionRun",
    "save_panel",
    "save_run",
    "select_features",
]
