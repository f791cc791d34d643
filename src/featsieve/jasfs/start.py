"""Where JASFS starts: coordinates, graph and first labels, for few samples and for many."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs import hat_coordinates, self_tuning_graph
from featsieve.graphs.coordinates import hat_directions
from featsieve.graphs.knn import hat_distances
from featsieve.graphs.landmarks import N_LANDMARKS, LandmarkGraph, choose_landmarks
from featsieve.graphs.pseudo_labels import joint_labels
from featsieve.graphs.spectral_labels import fill_empty, kmeans_labels
from featsieve.graphs.views import DOUBTFUL, PLAIN, SampleView, sample_view
from featsieve.jasfs.joint import JointProblem, Problem, refine_labels
from featsieve.jasfs.large import LargeProblem
from featsieve.terms import NeighbourGraph
from featsieve.validation import warn

# Above this many samples init="auto" takes landmarks: the exact graph costs O(n^2).
LARGEST_EXACT = 20_000
# Landmarks are fewer than samples by this factor, or more.
SAMPLES_PER_LANDMARK = 10


@dataclass(frozen=True)
class Settings:
    """The parameters of the estimator that the start depends on."""

    init: Any
    n_clusters: int
    n_neighbors: int
    alpha: float
    beta: float
    ridge: float
    shrinkage: float
    w_step: str


@dataclass(frozen=True)
class Start:
    """A problem without sparsity, and the labels to begin with."""

    problem: Problem
    labels: Any
    source: str
    graph: sp.csr_array | None
    n_landmarks: int


def start(
    X: Any,
    operator: DataOperator,
    settings: Settings,
    *,
    labels: np.ndarray | None,
    random_state: np.random.RandomState,
) -> Start:
    """Return the start of a fit; ``labels`` are the user's, if there are any."""
    init, n = settings.init, operator.shape[0]
    exact = isinstance(init, str) and init in ("spectral", "best")
    many = isinstance(init, str) and init == "landmarks"
    if many or (n > LARGEST_EXACT and not exact):
        return large_start(operator, settings, labels=labels, random_state=random_state)
    return small_start(X, operator, settings, labels=labels, random_state=random_state)


def small_start(
    X: Any,
    operator: DataOperator,
    settings: Settings,
    *,
    labels: np.ndarray | None,
    random_state: np.random.RandomState,
) -> Start:
    """Start from the exact neighbour graph in hat coordinates."""
    c, n_neighbors = settings.n_clusters, settings.n_neighbors
    E = to_numpy(hat_coordinates(operator, shrinkage=settings.shrinkage, n_directions=2 * c))
    graph = self_tuning_graph(hat_distances(E), len(E), n_neighbors=n_neighbors)
    source = "given"
    if labels is None:
        labels, source = joint_labels(
            X,
            operator,
            settings.init,
            hat=SampleView("hat", graph, E),
            n_clusters=c,
            n_neighbors=n_neighbors,
            random_state=random_state,
        )
    if source in PLAIN:  # clusters do not show in the hat graph: take the one they show in
        graph = sample_view(X, source, n_neighbors=n_neighbors).graph
    problem = JointProblem(
        operator,
        NeighbourGraph(graph, alpha=settings.alpha, beta=settings.beta),
        n_clusters=c,
        ridge=settings.ridge,
        w_step=settings.w_step,
        coordinates=E,
    )
    if source == "spectral":
        labels, _ = refine_labels(problem, labels, E)
    return Start(problem, labels, source, graph, 0)


def large_start(
    operator: DataOperator,
    settings: Settings,
    *,
    labels: np.ndarray | None,
    random_state: np.random.RandomState,
) -> Start:
    """Start from landmarks: linear in the number of samples."""
    if settings.w_step != "forward":
        raise ValueError(
            f"w_step={settings.w_step!r} needs the exact graph of the samples, and there are "
            f"{operator.shape[0]} of them: set w_step='forward', or init='spectral'."
        )
    c = settings.n_clusters
    directions = hat_directions(operator, shrinkage=settings.shrinkage, n_directions=2 * c)
    parts = operator.parts()
    n_landmarks = max(min(N_LANDMARKS, operator.shape[0] // SAMPLES_PER_LANDMARK), 10 * c)
    landmarks = choose_landmarks(
        operator, directions, n_landmarks=n_landmarks, random_state=random_state
    )
    graph = LandmarkGraph(parts, landmarks, n_neighbors=settings.n_neighbors)
    problem = LargeProblem(
        operator,
        graph,
        n_clusters=c,
        ridge=settings.ridge,
        alpha=settings.alpha,
        beta=settings.beta,
    )
    problem.columns()  # now: the rounds to come work on it
    n_landmarks = graph.n_landmarks
    if labels is not None:
        return Start(problem, parts.scatter(labels), "given", None, n_landmarks)
    if settings.init == "k-means":
        source = "k-means"
        found = kmeans_labels(landmarks.sample_coordinates, c, random_state=random_state)
        centres = np.stack(
            [landmarks.sample_coordinates[found == k].mean(axis=0) for k in range(c)]
        )
        rows = parts.map(nearest_centre, shared=(directions, centres))
    else:
        source = "landmarks"
        rows = graph.labels(c, random_state=random_state)
    if problem.cluster_sizes(rows).min() == 0:  # a cluster to which no sample has come
        rows = parts.scatter(fill_empty(problem.host_labels(rows), c))
    if settings.init == "auto" and problem.accuracy(rows) < DOUBTFUL:
        warn(
            "The clusters in which the fit starts are hardly predictable from one another. Up to "
            f"{LARGEST_EXACT} samples other distances would be tried now: fit a sample of the rows "
            "(JASFS().fit(X[rows])), and see whether it finds clearer ones (label_accuracy_). "
            "init='landmarks' silences this warning."
        )
    return Start(problem, rows, source, None, n_landmarks)


def nearest_centre(part: DataOperator, directions: np.ndarray, centres: np.ndarray) -> Any:
    """Return the nearest of some centres in hat coordinates, for every row of a part."""
    half = 0.5 * np.sum(centres**2, axis=1)
    # e'c - |c|^2/2 with e = z A: one product with the table
    along = part.matmul(part.place(directions @ centres.T)) - part.place(half)[None, :]
    return part.xp.argmax(along, axis=1)
