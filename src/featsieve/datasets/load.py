"""Data sets by name: embedded, from a folder of files, or downloaded."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from featsieve.datasets.embedded import load_embedded
from featsieve.datasets.registry import DatasetInfo, dataset_info, name_key
from featsieve.io.dataset import Dataset
from featsieve.io.optional import load_optional
from featsieve.io.table import read_table, split_labels, table_format

DATA_VARIABLE = "FEATSIEVE_DATA"
CACHE_VARIABLE = "FEATSIEVE_CACHE"


def load_dataset(
    name: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str or path
        One of `dataset_names` (upper and lower case count the same), or a path to a table file,
        see `read_table`; "mine.csv#kind" is the file mine.csv whose column kind holds the classes.
    data : str or path, optional
        Folder of data files, flat or with the sub-folders ``paper``, ``skfeature``, ``more`` and
        ``scale``.
        By default the one that the environment variable FEATSIEVE_DATA names.
    download : bool, default=False
        Whether a file that is not there may be downloaded. It is kept in the folder that
        FEATSIEVE_CACHE names (by default the system's folder for caches), and later found there.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the file is nowhere; the message says where to get it.
    ValueError
        If there is no such name, or the file is not the one that was registered.

    Examples
    --------
    >>> from featsieve.datasets import load_dataset
    >>> planted = load_dataset("planted_small")
    >>> planted.X.shape, planted.n_classes, int(planted.informative.sum())
    ((80, 30), 3, 5)
    """
    folder = _data_folder(data)
    file, labels = split_labels(name)
    if isinstance(file, str | os.PathLike) and table_format(file) is not None:
        places = [Path(file)] if folder is None else [Path(file), folder / file]
        path = next((place for place in places if place.is_file()), places[0])
        table = read_table(path, label_column=labels)
        if table.y is not None and table.complete_y is None:
            raise ValueError(
                f"{path}: {int(np.sum(table.y < 0))} of {len(table.y)} labels are missing: "
                "remove these samples or give them a label."
            )
        return replace(table, checksum=numbers_checksum(table))
    entry = dataset_info(name)  # type: ignore[arg-type]  # says what is wrong with other types
    if entry.file is None:
        return replace(load_embedded(entry.name), note=entry.note)
    found = _find(folder, entry) if folder is not None else None
    if found is None:
        found = fetch(entry) if download else _cached(entry)
    if found is None:
        looked = f"in {folder}" if folder else f"anywhere, and {DATA_VARIABLE} is not set"
        offer = "Pass download=True to fetch it, or: " if entry.url and entry.sha256 else ""
        raise FileNotFoundError(
            f"Data set {entry.name} ({entry.file}) is not {looked}. {offer}{_where_to_get(entry)}"
        )
    return _checked(entry, found)


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def numbers_checksum(table: Dataset) -> str:
    """Return the SHA-256 of the numbers and classes that were read from a file."""
    X = table.X
    parts = [X.indptr, X.indices, X.data] if sp.issparse(X) else [X]
    digest = hashlib.sha256(f"{X.shape} {X.dtype}".encode())
    for part in [*parts, table.y]:
        digest.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _data_folder(data: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder of data files, None where none is named."""
    named = data if data is not None else os.environ.get(DATA_VARIABLE) or None
    if named is None:
        return None
    if not Path(named).is_dir():
        origin = "data" if data is not None else f"The environment variable {DATA_VARIABLE}"
        raise ValueError(f"{origin} names {str(named)!r}, which is not a folder.")
    return Path(named)


def _find(folder: Path, entry: DatasetInfo) -> Path | None:
    """Return the file of a data set in its group's sub-folder, or in the folder itself."""
    file = Path(str(entry.file))
    wanted = {name_key(file.name), *(name_key(alias + file.suffix) for alias in entry.aliases)}
    for place in (folder / entry.group, folder):
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if name_key(path.name) in wanted and path.is_file():
                return path
    return None


def _cached(entry: DatasetInfo) -> Path | None:
    """Return the file that was downloaded before, if any."""
    try:
        path = cache_folder() / entry.group / str(entry.file)
    except ImportError:  # without pooch nothing can have been downloaded
        return None
    return path if path.is_file() else None


def cache_folder() -> Path:
    """Return the folder of downloads: FEATSIEVE_CACHE, or the system's place for caches."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    return Path(load_optional("pooch", "The cache of downloads").os_cache("featsieve"))


def fetch(entry: DatasetInfo) -> Path:
    """Return the file of a data set from the cache, downloaded and checked if it is not there."""
    if entry.url is None or entry.file is None or entry.sha256 is None:
        reason = "has no direct download" if entry.url is None else "has no known checksum"
        raise ValueError(f"{entry.name} {reason}: it cannot be fetched. {_where_to_get(entry)}")
    pooch = load_optional("pooch", "Downloading data sets")
    folder = cache_folder() / entry.group
    try:
        path = pooch.retrieve(
            entry.url,
            known_hash=f"sha256:{entry.sha256}",
            fname=entry.file,
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=60),
        )
    except ValueError as error:  # pooch names the checksum it expected and the one it got
        raise ValueError(
            f"{entry.url} is not the file that the committed results of {entry.name} were computed "
            f"from, and was not kept: {error} To use it all the same, download it yourself and "
            f"read it with featsieve.datasets.read_table."
        ) from error
    except OSError as error:  # no network, not found, cut short, disk full
        raise OSError(
            f"{entry.name} could not be downloaded: {error}. {_where_to_get(entry)}"
        ) from error
    return Path(path)


def _where_to_get(entry: DatasetInfo) -> str:
    """Say how a file can be had by hand."""
    return (
        f"Get it from: {entry.source}. Put it into a folder, and set {DATA_VARIABLE} to that "
        "folder (or pass it as data)."
    )


def _checked(entry: DatasetInfo, path: Path) -> Dataset:
    """Return the data set in a file, if this is the file that was registered."""
    checksum = file_checksum(path)
    if entry.sha256 is not None and checksum != entry.sha256:
        raise ValueError(
            f"{path} is not the file that the committed results of {entry.name} were computed "
            f"from: its SHA-256 is {checksum}, expected {entry.sha256}. Get the registered one "
            f"from: {entry.source}. To use yours all the same: "
            "featsieve.datasets.read_table(path)."
        )
    # A file with the registered checksum is trusted: no child process.
    table = read_table(path, trusted=entry.sha256 is not None)
    found = (*table.X.shape, table.n_classes)
    expected = (entry.n_samples, entry.n_features, entry.n_classes)
    if found != expected:
        raise ValueError(
            f"{path} has (samples, features, classes) = {found}, but {entry.name} has {expected}: "
            "it is another data set. To use it all the same: featsieve.datasets.read_table(path)."
        )
    return replace(table, name=entry.name, note=entry.note, checksum=checksum)
