"""Where JASFS starts: coordinates, graph and first labels, for few samples and for many."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs import hat_coordinates, self_tuning_graph
from featsieve.graphs.coordinates import hat_directions
from featsieve.graphs.distances import hat_distances
from featsieve.graphs.initial_labels import authors_labels, joint_labels
from featsieve.graphs.landmarks import LandmarkGraph, choose_landmarks
from featsieve.graphs.spectral_labels import fill_empty, kmeans_labels
from featsieve.graphs.views import PLAIN, SampleView, sample_view
from featsieve.jasfs.large import LargeProblem
from featsieve.jasfs.problem import ExactProblem, Labels, Problem
from featsieve.terms import NeighbourGraph
from featsieve.validation import warn


@dataclass(frozen=True)
class Settings:
    """The parameters of the estimator that the start depends on."""

    init: Any
    labels: np.ndarray | None  # the user's, if there are any
    n_clusters: int
    n_neighbors: int
    alpha: float
    beta: float
    ridge: float
    shrinkage: float
    random_state: np.random.RandomState


@dataclass(frozen=True)
class Start:
    """A problem without sparsity, and the labels to begin with."""

    problem: Problem
    labels: Labels
    source: str
    graph: sp.csr_array | None = None  # of the samples, where it joins them directly
    n_landmarks: int = 0


def start(X: Any, operator: DataOperator, settings: Settings) -> Start:
    """Return the start of a fit, by the exact graph of the samples or by landmarks."""
    init = settings.init if isinstance(settings.init, str) else "given"
    many = operator.shape[0] > defaults.LARGEST_EXACT_GRAPH and init not in ("spectral", "best")
    if many or init == "landmarks":
        return large_start(operator, settings)
    return small_start(X, operator, settings)


def authors_start(operator: DataOperator, settings: Settings) -> tuple[np.ndarray, str]:
    """Return the first labels of the authors' program, and where they came from."""
    if settings.labels is not None:
        return settings.labels, "given"
    labels = authors_labels(
        operator,
        settings.init,
        settings.n_clusters,
        n_neighbors=settings.n_neighbors,
        random_state=settings.random_state,
    )
    return labels, "k-means" if settings.init == "k-means" else "spectral"


def small_start(X: Any, operator: DataOperator, settings: Settings) -> Start:
    """Start from the exact neighbour graph in hat coordinates."""
    c, n_neighbors = settings.n_clusters, settings.n_neighbors
    E = to_numpy(hat_coordinates(operator, shrinkage=settings.shrinkage, n_directions=2 * c))
    graph = self_tuning_graph(hat_distances(E), n_neighbors=n_neighbors)
    labels, source = settings.labels, "given"
    if labels is None:
        labels, source = joint_labels(
            X,
            operator,
            settings.init,
            hat=SampleView("hat", graph, E),
            n_clusters=c,
            n_neighbors=n_neighbors,
            random_state=settings.random_state,
        )
    if source in PLAIN:  # clusters do not show in the hat graph: take the one they show in
        graph = sample_view(X, source, n_neighbors=n_neighbors).graph
    problem = ExactProblem(
        operator,
        NeighbourGraph(graph, alpha=settings.alpha, beta=settings.beta),
        n_clusters=c,
        ridge=settings.ridge,
        coordinates=E,
    )
    if source == "spectral":
        labels, _ = problem.refine_in(labels, E)
    return Start(problem, labels, source, graph)


def large_start(operator: DataOperator, settings: Settings) -> Start:
    """Start from landmarks: linear in the number of samples."""
    c, random_state = settings.n_clusters, settings.random_state
    directions = hat_directions(operator, shrinkage=settings.shrinkage, n_directions=2 * c)
    parts = operator.parts()
    n_landmarks = max(
        min(defaults.N_LANDMARKS, operator.shape[0] // defaults.SAMPLES_PER_LANDMARK),
        defaults.LANDMARKS_PER_CLUSTER * c,
    )
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
    if settings.labels is not None:
        rows = parts.scatter(settings.labels)
        return Start(problem, rows, "given", n_landmarks=n_landmarks)
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
    if settings.init == "auto" and problem.accuracy(rows) < defaults.DOUBTFUL_ACCURACY:
        warn(
            "The clusters in which the fit starts are hardly predictable from one another. Up to "
            f"{defaults.LARGEST_EXACT_GRAPH} samples other distances would be tried now: fit a "
            "sample of the rows (JASFS().fit(X[rows])), and see whether it finds clearer ones "
            "(label_accuracy_). init='landmarks' silences this warning."
        )
    return Start(problem, rows, source, n_landmarks=n_landmarks)


def nearest_centre(part: DataOperator, directions: np.ndarray, centres: np.ndarray) -> Any:
    """Return the nearest of some centres in hat coordinates, for every row of a part."""
    half = 0.5 * np.sum(centres**2, axis=1)
    # e'c - |c|^2/2 with e = z A: one product with the table
    along = part.matmul(part.place(directions @ centres.T)) - part.place(half)[None, :]
    return part.xp.argmax(along, axis=1)
