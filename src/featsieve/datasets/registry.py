"""What is known about each named data set; the entries are in ``registry.toml``.

A checksum is that of the file the committed results were computed from. A file that differs is
refused, wherever it comes from: its results could not be compared.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePath

from featsieve.names import did_you_mean

GROUPS = ("paper", "skfeature", "more", "scale", "embedded")


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a named data set.

    Attributes
    ----------
    name : str
    group : str
        "paper" (the eight of the JASFS paper), "skfeature" (the scikit-feature collection),
        "more" (other kinds of tables), "scale" (large ones) or "embedded" (no file needed).
    n_samples, n_features, n_classes : int
    licence : str
        That of the repository which carries the file, not necessarily of the data.
    source : str
        Where to get it, in words.
    url : str or None
        Direct download; None where there is none.
    file : str or None
        Name of the file; None for embedded data.
    sha256 : str or None
        Checksum of the file; None where none is known, then nothing is downloaded.
    note : str
        What a reader of results must know.
    aliases : tuple of str
        Other names of the same data.

    Examples
    --------
    >>> from featsieve.datasets import dataset_info
    >>> dataset_info("orl").file, dataset_info("orl").n_classes
    ('ORL.mat', 40)
    """

    name: str
    group: str
    n_samples: int
    n_features: int
    n_classes: int
    licence: str
    source: str
    url: str | None = None
    file: str | None = None
    sha256: str | None = None
    note: str = ""
    aliases: tuple[str, ...] = ()


@cache
def registry() -> dict[str, DatasetInfo]:
    """Return every entry by its name, in the order of the file."""
    text = (files("featsieve.datasets") / "registry.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    collections = content.pop("collections")
    entries = {}
    for row in content["datasets"]:
        common = collections.get(row.pop("collection", ""), {})
        row = {**common, **row}
        n_samples, n_features = row.pop("shape")
        row["aliases"] = tuple(row.get("aliases", ()))
        for key in {"url", "source"} & row.keys():
            row[key] = row[key].format(file=row.get("file"))
        entry = DatasetInfo(n_samples=n_samples, n_features=n_features, **row)
        entries[entry.name] = entry
    return entries


def name_key(name: str) -> str:
    """Return a name as it is compared: without case, and with - and _ alike."""
    return name.lower().replace("-", "_")


def dataset_names(group: str | None = None) -> list[str]:
    """Return the names that `load_dataset` knows.

    Parameters
    ----------
    group : {"paper", "skfeature", "more", "scale", "embedded"}, optional
        Only those of one group.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from featsieve.datasets import dataset_names
    >>> dataset_names("paper")
    ['brain', 'breast3', 'jaffe', 'lung', 'mnist', 'nci', 'ORL', 'palm']
    """
    if group is not None and group not in GROUPS:
        raise ValueError(f"group must be one of {', '.join(GROUPS)}; got {group!r}.")
    return [name for name, entry in registry().items() if group in (None, entry.group)]


def dataset_info(name: str) -> DatasetInfo:
    """Return what is known about a named data set.

    Parameters
    ----------
    name : str
        One of `dataset_names`; upper and lower case, ``-`` and ``_`` count the same.

    Returns
    -------
    DatasetInfo

    Examples
    --------
    >>> from featsieve.datasets import dataset_info
    >>> dataset_info("prostate_ge").name
    'Prostate-GE'
    """
    if not isinstance(name, str | PurePath):
        raise TypeError(f"The name of a data set must be a str; got {type(name).__name__}.")
    known = {name_key(entry.name): entry for entry in registry().values()}
    known |= {name_key(alias): entry for entry in registry().values() for alias in entry.aliases}
    key = name_key(str(name))
    if key not in known:
        raise ValueError(
            f"There is no data set called {str(name)!r}{did_you_mean(key, list(known))}. See "
            "featsieve.datasets.dataset_names(). A path to a .mat, .csv, .tsv, .parquet, .npz or "
            ".h5ad file is read as it is."
        )
    return known[key]


def development_note() -> str:
    """Say which data sets were looked at while the library was developed, for pages of results."""
    paper, skfeature, more, scale = (
        ", ".join(name for name in dataset_names(group) if registry()[name].sha256)
        for group in GROUPS[:-1]
    )
    return (
        f"Development sets: the paper's eight ({paper}), twelve of scikit-feature ({skfeature}), "
        f"21 others ({more}), parts of two large ones ({scale}), wine and planted tables were "
        "looked at while the library was developed; scores on them say little about unseen tables."
    )
