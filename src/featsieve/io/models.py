"""Fitted models in files that hold no code: saved whole, and loaded only if all is known."""

import importlib
import io
import json
import os
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from featsieve.arrays.namespace import is_sparse
from featsieve.base import UnsupervisedSelector
from featsieve.io.dataset import checked_sparse
from featsieve.io.files import check_free, whole_file
from featsieve.io.guard import (
    MEMORY_VARIABLE,
    TooLargeError,
    check_file,
    check_memory,
    describe_limit,
    first_line,
    memory_limit,
    printable,
)
from featsieve.io.optional import load_optional
from featsieve.io.selection_model import SelectionModel

# The number of this layout: files of another one are not read.
FORMAT = 1
HEADER = "featsieve.json"
SCHEMA = "schema.json"
# Of lists and the like, for a letter of JSON.
BYTES_PER_LETTER = 24
LONGEST_WORD = 200
# bz2 may turn a few bytes into gigabytes at once.
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# skops imports every module of scikit-learn, and these with them: for nothing, and for seconds.
UNNEEDED = ("cupy", "dask", "torch")
# What a model may be made of, besides what skops trusts (numbers, arrays, the estimators of
# scikit-learn): classes of these packages, and a few more.
PACKAGES = ("criteria", "jasfs", "selectors", "solvers", "tuning")
OTHERS = {
    *("numpy.dtype", "scipy.sparse._csr.csr_array", "scipy.sparse._csc.csc_array"),
    *("sklearn.model_selection._split.KFold", "sklearn.model_selection._split.ShuffleSplit"),
    "sklearn.model_selection._split._CVIterableWrapper",
    *("featsieve.io.selection_model.SelectionModel", "featsieve.arrays.batches.Batches"),
}
# The last position in the state of numpy.random.RandomState, which numpy does not check.
STATE_LENGTH = 624


class ModelError(ValueError):
    """A model that cannot be stored, or a file that is not one."""


def save_model(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted model to a file, whole or not at all.

    The file is a zip archive in the format of skops: numbers and the names of types, no code, and
    a note of the version that wrote it.

    Parameters
    ----------
    model : estimator
        A fitted selector or meta-estimator of featsieve, a scikit-learn Pipeline of one behind
        usual steps such as SimpleImputer, or a SelectionModel.
    path : str or path
        By convention it ends with ``.skops``. Its folder is made if needed.
    overwrite : bool, default=False
        Whether a file that is there is replaced.

    Raises
    ------
    FileExistsError
        If the file is there and ``overwrite`` is False.
    ModelError
        If the model is not fitted, or holds something that is not stored, such as a function; the
        message says where.

    See Also
    --------
    load_model : The way back.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from featsieve import JASFS, load_model, save_model
    >>> from featsieve.datasets import load_dataset
    >>> X = load_dataset("wine").X
    >>> sieve = JASFS(n_clusters=3, n_features_to_select=4, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.skops")
    ...     save_model(sieve, path)
    ...     again = load_model(path)
    >>> bool((again.transform(X) == sieve.transform(X)).all())
    True
    """
    from featsieve import __version__

    skops_io = load_skops("Saving a model")
    check_free(Path(path), overwrite=overwrite)
    try:
        _check_fitted(model)
        content = skops_io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    except Exception as error:  # skops names what it cannot store in ways of its own
        reason = str(error).rstrip(".") or type(error).__name__
        raise ModelError(f"{type(model).__name__} cannot be saved: {reason}.") from error
    _, refused = unknown_types(skops_io, content)
    if refused:
        raise ModelError(
            f"{type(model).__name__} cannot be saved: it holds {', '.join(refused)}, and models "
            "are stored without code. Set the parameter that holds it to something else before "
            "saving (set_params), None for a callback."
        )
    header = {"format": FORMAT, "featsieve": __version__, "model": type(model).__name__}
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(HEADER, json.dumps(header))
    with whole_file(path) as unfinished:
        unfinished.write_bytes(buffer.getvalue())


def unknown_types(skops_io: Any, content: bytes) -> tuple[list[str], list[str]]:
    """Return the types that skops does not trust: those that models are made of, and the others."""
    found = skops_io.get_untrusted_types(data=content)
    known = [name for name in found if name in OTHERS or _is_ours(name)]
    return known, [printable(name, longest=LONGEST_WORD) for name in found if name not in known]


def _is_ours(name: str) -> bool:
    """Say whether a name is that of a class which one of the packages of estimators defines."""
    module, _, kind = name.rpartition(".")
    if not re.fullmatch(rf"featsieve\.({'|'.join(PACKAGES)})(\.\w+)+", module):
        return False
    found = getattr(importlib.import_module(module), kind, None)
    return isinstance(found, type) and f"{found.__module__}.{found.__qualname__}" == name


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save_model` wrote.

    The file is looked through first. It may hold nothing but numbers, text, estimators of
    scikit-learn that skops trusts, and classes of featsieve's estimators; anything else is refused
    by name, before anything of it is imported or built. So a file from a stranger can give a wrong
    answer, but cannot run a program.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator or SelectionModel

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelError
        If the file is not a model, is damaged, was written by a version of another format, or
        holds something that is not in the list.

    See Also
    --------
    save_model : With an example of both.
    """
    skops_io = load_skops("Loading a model")
    path = Path(path)
    check_file(path)
    size = path.stat().st_size
    limit = memory_limit()
    try:
        check_memory(size, limit=limit)
        content = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if HEADER not in archive.namelist():
                raise ModelError(
                    f"{path} was not written by featsieve: save models with featsieve.save_model."
                )
            _check_memory(archive, size, limit)
            header = json.loads(archive.read(HEADER))
            if header["format"] != FORMAT:
                raise ModelError(
                    f"{path} has format {header['format']!r:.200} of featsieve "
                    f"{header['featsieve']!r:.200}, and this version reads format {FORMAT}: use "
                    "the one that wrote it, or fit and save the model again."
                )
        known, refused = unknown_types(skops_io, content)
        if refused:
            raise ModelError(
                f"{path} holds {', '.join(refused)}, which models of featsieve are not made of: "
                "nothing of it was loaded. Do not use the file unless you know who wrote it; "
                "models are saved with featsieve.save_model."
            )
        with warnings.catch_warnings():  # damage can look like an array of Python 2
            warnings.filterwarnings("ignore", message="Reading `.npy`", category=UserWarning)
            model = skops_io.loads(content, trusted=known)
        check_content(model)
        return model
    except (ModelError, Warning):
        raise
    except (TooLargeError, MemoryError) as error:
        raise ModelError(
            f"{path} would unpack to more than {describe_limit(limit)}: do not use it unless you "
            "know who wrote it; if you do, and a model should be as large as that, set the "
            f"environment variable {MEMORY_VARIABLE} to more, such as 64G."
        ) from error
    except Exception as error:  # zipfile, json, skops and numpy fail in ways of their own
        raise ModelError(
            f"{path} is not a model of featsieve, or it is damaged ({first_line(error)}): save it "
            "again."
        ) from error


def load_skops(purpose: str) -> Any:
    """Return ``skops.io``, or say which extra brings it."""
    hidden = [name for name in UNNEEDED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: not found
    try:
        return load_optional("skops.io", purpose, extra="model")
    finally:
        for name in hidden:
            sys.modules.pop(name)


def _check_memory(archive: zipfile.ZipFile, size: int, limit: int) -> None:
    """Raise if a model takes more memory than it may: skops keeps all parts while it builds it."""
    if any(part.compress_type not in COMPRESSIONS for part in archive.infolist()):
        raise ValueError("a part of it is compressed in an unusual way")
    needed = size
    for part in archive.infolist():
        is_json = part.filename in (HEADER, SCHEMA)
        needed += (2 + BYTES_PER_LETTER * is_json) * part.file_size
        check_memory(needed, limit=limit)
        with archive.open(part) as file:
            if file.read(4) == b"PK\x03\x04":  # a sparse matrix is an archive of its own
                file.seek(0)
                with zipfile.ZipFile(file) as inner:
                    _check_memory(inner, needed, limit)


def check_content(model: Any) -> None:
    """Raise unless the parts of a loaded model fit together: known types can hold any numbers."""
    _check_fitted(model)
    for part in _parts(model):
        if is_sparse(part):
            checked_sparse(part)
        elif isinstance(part, np.random.RandomState):
            place = part.get_state(legacy=False)["state"]["pos"]
            if not 0 <= place <= STATE_LENGTH:
                raise ValueError(f"its random state stands at {place} of {STATE_LENGTH}")
        elif isinstance(part, UnsupervisedSelector) and hasattr(part, "support_"):
            support, n = part.support_, getattr(part, "n_features_in_", None)
            known = isinstance(support, np.ndarray) and support.dtype == bool
            if not known or support.shape != (n,):
                kind = type(part).__name__
                raise ValueError(f"support_ of {kind} is not that of a fit to {n!r:.200} features")
        elif isinstance(part, SelectionModel):
            about = {"reading": part.reading}
            again = SelectionModel.from_selector(part.selector, part.feature_names, **about)
            if again.selected != part.selected:
                raise ValueError("the columns that it names as selected are not its selector's")


def _parts(part: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Yield all that a model holds, the inner ones first, each object once."""
    seen = set() if seen is None else seen
    if id(part) in seen:
        return
    seen.add(id(part))
    inside: Any = ()
    if isinstance(part, dict):
        inside = part.values()
    elif isinstance(part, list | tuple):
        inside = part
    elif type(part).__module__.partition(".")[0] in ("featsieve", "sklearn"):
        inside = vars(part).values() if hasattr(part, "__dict__") else ()
    for value in inside:
        yield from _parts(value, seen)
    yield part


def _check_fitted(model: Any) -> None:
    """Raise unless something is a fitted selector, pipeline or selection model."""
    if isinstance(model, type) or not hasattr(model, "transform"):
        raise ValueError("it is no fitted selector, pipeline or selection model")
    if hasattr(model, "fit"):  # a SelectionModel has been fitted
        check_is_fitted(model)
