"""How the paper turns selected columns into numbers: k-means from random starts, averaged."""

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from featsieve.evaluation.metrics import clustering_accuracy, normalized_mutual_information


def paper_protocol(X: Any, y_true: Any, *, n_seeds: int = 10) -> tuple[float, float]:
    """Return mean accuracy and NMI of ``n_seeds`` single k-means runs from random centres.

    The number of classes is given to k-means; the seeds 0, 1, ... are the same for every method.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.evaluation import paper_protocol
    >>> X = np.repeat([[0.0], [10.0]], 5, axis=0)
    >>> paper_protocol(X, X[:, 0] > 0, n_seeds=3)
    (1.0, 1.0)
    """
    X = np.asarray(X, dtype=np.float64)
    n_classes = len(np.unique(y_true))
    results = []
    for seed in range(n_seeds):
        model = KMeans(n_classes, init="random", n_init=1, random_state=seed)
        labels = model.fit(X).labels_
        accuracy = clustering_accuracy(y_true, labels)
        results.append((accuracy, normalized_mutual_information(y_true, labels)))
    accuracy, nmi = np.mean(results, axis=0)
    return float(accuracy), float(nmi)
