"""Downloads, each checked before it gets its final name, and kept."""

import os
from pathlib import Path

from featsieve.datasets.registry import DatasetInfo
from featsieve.io.guard import in_bytes
from featsieve.io.optional import load_optional

CACHE_VARIABLE = "FEATSIEVE_CACHE"
# Many times the size of any registered file.
LARGEST_DOWNLOAD = 2**30


class _TooLongError(Exception):
    """A download does not end."""


class _Limit:
    """Counts a download as a progress bar does, and ends one that is longer than any data set."""

    def __init__(self, entry: DatasetInfo) -> None:
        self.total = 0
        self._count = 0
        self._entry = entry

    def update(self, count: int) -> None:
        """Count some bytes that have come."""
        self._count += count
        if self._count > LARGEST_DOWNLOAD:
            raise _TooLongError(
                f"{self._entry.url} sends more than {in_bytes(LARGEST_DOWNLOAD)}, which "
                f"{self._entry.name} is not: nothing of it was kept."
            )

    def reset(self) -> None:
        """Begin again, as pooch does when all has come."""
        self._count = 0

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def cache_folder() -> Path:
    """Return the folder of downloads: FEATSIEVE_CACHE, or the system's place for caches."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    return Path(load_optional("pooch", "The cache of downloads").os_cache("featsieve"))


def fetch(entry: DatasetInfo) -> Path:
    """Return the file of a data set from the cache, downloading it if it is not there.

    The file appears in the cache under its name only when it is complete and its checksum is the
    registered one.
    """
    if entry.url is None or entry.file is None or entry.sha256 is None:
        reason = "has no direct download" if entry.url is None else "has no known checksum"
        raise ValueError(
            f"{entry.name} {reason}, so it cannot be downloaded for you. Get it from: "
            f"{entry.source}. Put it into a folder and set FEATSIEVE_DATA to that folder."
        )
    pooch = load_optional("pooch", "Downloading data sets")
    folder = cache_folder() / entry.group
    by_hand = (
        f"Get it by hand from: {entry.source}. Put it into a folder and set FEATSIEVE_DATA to that "
        "folder."
    )
    try:
        path = pooch.retrieve(
            entry.url,
            known_hash=f"sha256:{entry.sha256}",
            fname=entry.file,
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=60, progressbar=_Limit(entry)),
        )
    except _TooLongError as error:
        raise OSError(f"{error} {by_hand}") from None
    except ValueError as error:  # pooch names the checksum it expected and the one it got
        raise ValueError(
            f"{entry.url} is not the file that the committed results of {entry.name} were computed "
            f"from, and was not kept: {error} To use it all the same, download it yourself and "
            f"read it with featsieve.datasets.read_table."
        ) from error
    except OSError as error:  # no network, not found, cut short, disk full
        raise OSError(f"{entry.name} could not be downloaded: {error}. {by_hand}") from error
    return Path(path)
