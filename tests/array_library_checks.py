"""What every array library must do, whatever its device.

A check takes a selector and a :class:`Library`, and raises AssertionError where it fails. Nothing
in here needs pytest or a library that is not installed.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import featsieve
from featsieve import (
    JASFS,
    MCFS,
    AutoSelector,
    LabelFreeSearchCV,
    LaplacianScore,
    MaxVariance,
    StabilitySelection,
)
from featsieve.arrays.namespace import device_of, namespace_of, to_numpy
from featsieve.datasets import Planted, make_planted


def quick(name: str, **settings: Any) -> Any:
    """Return a selector that fits fast, with a seed and a number of clusters if it takes them."""
    kind = getattr(featsieve, name)
    usual = {"n_clusters": 3, "n_features_to_select": 8, "random_state": 0}
    usual |= {"max_iter": 5, "n_steps": 50}
    takes = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in {**usual, **settings}.items() if key in takes})


SELECTORS = {name: quick(name) for name in featsieve.selectors.__all__}
# Other branches of the same selectors, and what surrounds them.
VARIANTS = {
    "JASFS, auto": JASFS("auto", random_state=0),
    "JASFS, paper": quick("JASFS", solver="paper"),
    "JASFS, k-means": quick("JASFS", init="k-means"),
    "JASFS, one hypothesis": quick("JASFS", n_hypotheses=1),
    "JASFS, refined": quick("JASFS", refine_labels=True),
    "MCFS, auto": MCFS("auto", n_features_to_select=8),
    "MaxVariance, auto": MaxVariance("auto"),
    "SPEC, leading": quick("SPEC", criterion="leading"),
    "SPEC, plain": quick("SPEC", criterion="plain"),
    "UGFS, raw": quick("UGFS", scale="raw"),
    "USFS, raw": quick("USFS", scale="raw"),
    "AutoSelector": AutoSelector(LaplacianScore(), sizes=[4, 8]),
    "StabilitySelection": StabilitySelection(LaplacianScore(8), n_subsamples=3, random_state=0),
    "LabelFreeSearchCV": LabelFreeSearchCV(LaplacianScore(8), {"n_neighbors": [3, 5]}),
}
# The path of JASFS for many samples, in small: module-level limits that lead into its branches.
PARTS = "featsieve.arrays.row_parts"
LARGE_STEP, FORWARD = "featsieve.jasfs.problem", "featsieve.solvers.forward_forms"
MANY = {"featsieve.defaults.LARGEST_EXACT_GRAPH": 10, "featsieve.defaults.N_LANDMARKS": 150}
CUT = {f"{PARTS}.HOST_ELEMENTS": 1, f"{PARTS}.DEVICE_ELEMENTS": 1, f"{PARTS}.FEWEST_ROWS": 70}
NO_GRAM = {
    f"{LARGE_STEP}.LARGEST_GRAM": 10,
    f"{FORWARD}.LARGEST_GRAM": 10,
    f"{FORWARD}.LARGEST_REREAD": 10,
    f"{FORWARD}.FEW_SAMPLES": 10,
}
LANDMARKS = {
    "hypotheses": (None, MANY),
    "spectral": ("spectral", MANY),
    "k-means, in parts": ("k-means", MANY | CUT),
    "given, in parts": ("given", MANY | CUT),
    "no Gram matrix, in parts": (None, MANY | CUT | NO_GRAM),
}
# scikit-learn indexes the table by itself there, as NumPy and torch can be indexed.
ONLY_TORCH = ("LabelFreeSearchCV",)


@dataclass(frozen=True)
class Library:
    """An array library, a device and a precision.

    ``sent`` is a context manager for a block of code: it yields the list of the sizes of the arrays
    that go to NumPy there.
    """

    name: str
    convert: Callable[[np.ndarray], Any]
    sent: Callable[[], Any]
    single: bool = False


def libraries() -> dict[str, Library]:
    """Return the libraries, devices and precisions that are there to be checked."""
    found = []
    if find_spec("array_api_strict"):
        found.append(strict_library())
    if find_spec("torch"):
        found += torch_libraries()
    if find_spec("cupy"):
        found += cupy_libraries()
    return {library.name: library for library in found}


def strict_library() -> Library:
    """Return array-api-strict with a device that NumPy cannot look into."""
    import array_api_strict

    device = array_api_strict.Device("device1")

    def convert(X: np.ndarray) -> Any:
        return array_api_strict.asarray(X, device=device)

    kind = type(convert(np.zeros(1)))
    ways = ("__dlpack__", "to_device", "__array__", "__buffer__")
    return Library("strict", convert, sent=lambda: recorded(kind, ways, lambda a: a.size))


def torch_libraries() -> list[Library]:
    """Return torch on the CPU and, if there is one, on a CUDA device."""
    import torch

    ways = ("numpy", "tolist", "__array__", "__dlpack__", "cpu")
    found = []
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        for single in (False, True):
            dtype = torch.float32 if single else torch.float64

            def convert(X: np.ndarray, device: str = device, dtype: Any = dtype) -> Any:
                return torch.tensor(X, dtype=dtype, device=device)

            found.append(
                Library(
                    f"torch-{device}-float{32 if single else 64}",
                    convert,
                    sent=lambda: recorded(torch.Tensor, ways, torch.numel),
                    single=single,
                )
            )
    return found


def cupy_libraries() -> list[Library]:
    """Return CuPy, if it has a device; its arrays never turn into NumPy's unasked."""
    import cupy

    if cupy.cuda.runtime.getDeviceCount() == 0:
        return []

    def library(dtype: Any, *, single: bool) -> Library:
        return Library(
            f"cupy-float{32 if single else 64}",
            lambda X: cupy.asarray(X, dtype=dtype),
            sent=lambda: nothing_recorded(),
            single=single,
        )

    return [library(cupy.float64, single=False), library(cupy.float32, single=True)]


@contextmanager
def recorded(kind: type, ways: tuple[str, ...], size: Callable[[Any], int]) -> Iterator[list[int]]:
    """Record the sizes of the arrays that leave a library by one of its methods."""
    sizes: list[int] = []
    originals = {way: getattr(kind, way) for way in ways if hasattr(kind, way)}

    def watched(original: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            sizes.append(int(size(self)))
            return original(self, *args, **kwargs)

        return method

    own = [way for way in originals if way in vars(kind)]
    for way, original in originals.items():
        setattr(kind, way, watched(original))
    try:
        yield sizes
    finally:
        for way, original in originals.items():
            if way in own:
                setattr(kind, way, original)
            else:
                delattr(kind, way)


@contextmanager
def nothing_recorded() -> Iterator[list[int]]:
    """Stand in where the methods of a library cannot be watched."""
    yield []


def planted(n_samples: int, n_features: int) -> Planted:
    """Return a table whose clusters every selector finds."""
    return make_planted(
        n_samples, n_features, n_informative=8, n_clusters=3, signal=6.0, random_state=0
    )


def fitted(selector: Any, X: Any) -> Any:
    """Return a fitted clone; too few iterations are no matter here."""
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        return clone(selector).fit(X)


def selection_of(selector: Any) -> np.ndarray:
    """Return the support of a selector, or of the best one of a search."""
    return getattr(selector, "best_estimator_", selector).get_support()


def check_same_selection(
    selector: Any, library: Library, X: np.ndarray, *, reference: Any = None, scores: bool = True
) -> Any:
    """Check that a selector finds what it finds in NumPy's float64; return it, fitted."""
    reference = fitted(selector, X) if reference is None else reference
    found = fitted(selector, library.convert(X))
    assert np.array_equal(selection_of(found), selection_of(reference))
    for name, value in vars(found).items():
        if name.endswith("_") and hasattr(value, "shape"):
            assert isinstance(value, (np.ndarray, np.generic)) or name == "affinity_", name
    if scores and hasattr(found, "scores_"):
        scale = float(np.abs(reference.scores_).max())
        tolerance = (2e-2 if library.single else 1e-7) * scale
        np.testing.assert_allclose(found.scores_, reference.scores_, rtol=0.0, atol=tolerance)
    return found


def check_same_landmarks(
    init: str | None, library: Library, made: Planted, *, reference: Any
) -> None:
    """Check that JASFS through landmarks finds what it finds in NumPy's float64."""
    found = fitted(landmark_sieve(init, made, library.convert), library.convert(made.X))
    assert found.init_["family"] == reference.init_["family"]
    assert found.n_landmarks_ == reference.n_landmarks_
    assert (found.n_landmarks_ == 150) is (init != "given")
    np.testing.assert_array_equal(found.support_, reference.support_)
    np.testing.assert_array_equal(found.labels_, reference.labels_)
    scale = float(np.abs(reference.coef_).max())
    tolerance = (1e-3 if library.single else 1e-8) * scale
    np.testing.assert_allclose(found.coef_, reference.coef_, rtol=0.0, atol=tolerance)


def landmark_sieve(init: str | None, made: Planted, convert: Callable[[np.ndarray], Any]) -> Any:
    """Return JASFS for a table; "given" labels are the true ones with every seventh wrong."""
    labels = np.where(np.arange(len(made.labels)) % 7 == 0, 0, made.labels)
    return quick("JASFS", init=convert(labels) if init == "given" else init)


def check_results_stay(selector: Any, library: Library, X: np.ndarray) -> None:
    """Check that what a fitted selector makes of an array is of its library, and on its device."""
    table = library.convert(X)
    support = selection_of(selector)
    kept = selector.transform(table)
    assert_beside(kept, table)
    assert kept.dtype == table.dtype
    np.testing.assert_array_equal(to_numpy(kept), to_numpy(table)[:, support])
    if hasattr(selector, "inverse_transform"):
        back = selector.inverse_transform(kept)
        assert_beside(back, table)
        np.testing.assert_array_equal(to_numpy(back), np.where(support, to_numpy(table), 0.0))
    if hasattr(selector, "predict"):
        clusters = selector.predict(table)
        assert_beside(clusters, table)
        assert (to_numpy(clusters) == selector.predict(to_numpy(table))).all()


def check_stays_on_device(selector: Any, library: Library, X: np.ndarray) -> None:
    """Check that a fit sends no array as large as the table to NumPy."""
    table = library.convert(X)
    with library.sent() as sizes:
        fitted(selector, table)
    assert max(sizes, default=0) < X.size, f"{max(sizes)} of {X.size} elements"


def assert_beside(array: Any, table: Any) -> None:
    """Assert that an array is of the table's library, and on its device."""
    assert type(array) is type(table)
    assert namespace_of(array) is namespace_of(table)
    assert device_of(array) == device_of(table)
