"""The first bytes of a file, which tell its kind whatever its name says."""

from pathlib import Path

from featsieve.io.readers.guard import TableError

HDF5 = b"\x89HDF\r\n\x1a\n"
PARQUET = b"PAR1"
ZIP = b"PK\x03\x04"
HDF5_PLACES = (0, 512, 1024, 2048)  # behind a block of the user
KINDS = {
    HDF5: "HDF5 (.h5ad, .mat)",
    PARQUET: "Parquet",
    ZIP: "a zip archive (.npz, .xlsx)",
    b"\x1f\x8b": "compressed (.gz)",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"%PDF": "a PDF",
    b"MATLAB": "a MATLAB file (.mat)",
    b"\x93NUMPY": "an array of NumPy (.npy)",
}
TEXT_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
WRONG_NAME = "does its name end as it should?"


def first_bytes(path: Path, count: int = 4096) -> bytes:
    """Return the first bytes of a file."""
    with path.open("rb") as file:
        return file.read(count)


def kind_of(start: bytes) -> str | None:
    """Return what a file is by its first bytes, None where they do not tell."""
    return next((kind for mark, kind in KINDS.items() if start.startswith(mark)), None)


def check_text(start: bytes) -> None:
    """Raise if a file that begins like this cannot be a text table.

    "PAR1" may also be the name of a column: only files with bytes that no text has are refused.
    """
    if start.startswith(TEXT_MARKS) or (b"\0" not in start and start[:1] < b"\x80"):
        return
    kind = kind_of(start)
    if kind is not None or b"\0" in start:
        raise TableError(f"it is not a text table{_but(start)}: {WRONG_NAME}")


def check_hdf5(path: Path) -> None:
    """Raise if a file does not begin as HDF5 does."""
    start = first_bytes(path)
    if not any(start[place:].startswith(HDF5) for place in HDF5_PLACES):
        raise TableError(f"it is not an HDF5 file{_but(start)}: {WRONG_NAME}")


def check_parquet(path: Path) -> None:
    """Raise if a file does not begin as Parquet does."""
    start = first_bytes(path)
    if not start.startswith((PARQUET, b"PARE")):  # the second: encrypted
        raise TableError(f"it is not a Parquet file{_but(start)}: {WRONG_NAME}")


def check_npz(path: Path) -> None:
    """Raise if a file is neither an archive of arrays nor a single one."""
    start = first_bytes(path)
    if not start.startswith((ZIP, b"\x93NUMPY")):
        raise TableError(f"it is not an archive of NumPy{_but(start)}: {WRONG_NAME}")


def check_mat(path: Path) -> None:
    """Raise if a file is none of MATLAB: those of all versions have zero bytes near the start."""
    start = first_bytes(path)
    kind = kind_of(start)
    if b"\0" not in start[:128] or (kind is not None and "MATLAB" not in kind):
        raise TableError(f"it is not a MATLAB file{_but(start)}: {WRONG_NAME}")


def _but(start: bytes) -> str:
    """Return what a file is instead, for a sentence, if that can be told."""
    kind = kind_of(start)
    return "" if kind is None else f" but {kind}"
