"""Small valid files of every format, and ways to damage them.

Many formats pack what they hold: a byte changed in a compressed part is found out by its checksum,
and tells nothing about the reader. So the content is damaged, too, and packed again as it was.
"""

import functools
import gzip
import io
import json
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.io import savemat

from featsieve import LaplacianScore, save_model
from featsieve.bench.plan import shipped_text
from featsieve.datasets import Dataset, write_table
from featsieve.io.selection_model import SelectionModel

X = np.round(np.random.default_rng(0).normal(size=(6, 4)), 2)
X[X < -0.5] = 0.0
NAMES = ["age", "größe", "b", "d"]
TABLE = Dataset(
    "toy",
    X,
    np.array([0, 1, 0, 1, 2, 2]),
    feature_names=NAMES,
    sample_names=[f"s{i}" for i in range(6)],
    class_names=["x", "y", "z"],
    id_name="who",
    label_name="kind",
)
ODD = [0, 1, 0x7F, 0x80, 0xFF, ord(","), ord('"'), ord("\n"), ord("["), ord("9")]


def _hdf5_mat(path: Path) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        file["fea"] = X.T
        file["fea"].attrs["MATLAB_class"] = np.bytes_("double")
        file["gnd"] = TABLE.y[None, :].astype(float)
        group = file.create_group("extra")
        group.attrs["MATLAB_sparse"] = 6
        columns = sp.csc_array(X)
        for name, part in (("data", "data"), ("ir", "indices"), ("jc", "indptr")):
            group[name] = getattr(columns, part)
    content = bytearray(path.read_bytes())
    content[:20] = b"MATLAB 7.3 MAT-file\0"
    path.write_bytes(content)


def _npy(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, X)


def _model(path: Path) -> None:
    fitted = LaplacianScore(2).fit(X)
    save_model(SelectionModel.from_selector(fitted, NAMES, fill=np.zeros(4)), path)


def _sparse(path: Path) -> None:
    write_table(path, Dataset("toy", sp.csr_array(X), TABLE.y, feature_names=NAMES))


def _mat(path: Path, **how: Any) -> None:
    content = {"fea": X, "gnd": TABLE.y, "feature_names": np.array(NAMES, dtype=object)}
    if how.get("format") == "4":
        del content["feature_names"]
    savemat(path, content, **how)


MAKERS: dict[str, Callable[[Path], Any]] = {
    "toy.csv": lambda path: write_table(path, TABLE),
    "toy.tsv": lambda path: write_table(path, TABLE),
    "utf16.csv": lambda path: path.write_text("a;b\n1,5;2\n3;4,25\n", encoding="utf-16"),
    "toy.csv.gz": lambda path: write_table(path, TABLE),
    "toy.npz": lambda path: write_table(path, TABLE),
    "sparse.npz": _sparse,
    "toy.mat": lambda path: _mat(path, do_compression=False),
    "packed.mat": lambda path: _mat(path, do_compression=True),
    "four.mat": lambda path: _mat(path, format="4"),
    "hdf5.mat": _hdf5_mat,
    "toy.parquet": lambda path: write_table(path, TABLE),
    "toy.h5ad": lambda path: write_table(path, TABLE),
    "sparse.h5ad": _sparse,
    "toy.npy": _npy,
    "toy.skops": _model,
    "toy.toml": lambda path: path.write_text(shipped_text("paper"), encoding="utf-8"),
    "summary.json": lambda path: path.write_text(json.dumps({"format": 1, "rows": [1, 2]})),
}


@functools.cache
def valid(name: str) -> bytes:
    """Return a valid file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        MAKERS[name](path)
        return path.read_bytes()


@st.composite
def damaged(draw: Any, content: bytes) -> bytes:
    """Draw some bytes with one to four things wrong."""
    for _ in range(draw(st.integers(1, 4))):
        content = _one_fault(draw, content)
    return content


def _one_fault(draw: Any, content: bytes) -> bytes:
    """Return bytes with one thing wrong."""
    place = draw(st.integers(0, max(0, len(content) - 1)))
    length = draw(st.sampled_from([1, 2, 4, 8, 16, 100]))
    part = content[place : place + length]
    kind = draw(st.sampled_from(["flip", "set", "cut", "drop", "twice", "move", "number"]))
    if kind == "flip":
        byte = bytes([content[place] ^ (1 << draw(st.integers(0, 7)))]) if content else b"\0"
        return content[:place] + byte + content[place + 1 :]
    if kind == "set":
        byte = bytes([draw(st.sampled_from(ODD))])
        return content[:place] + byte * min(length, 8) + content[place + min(length, 8) :]
    if kind == "cut":
        return content[:place]
    if kind == "drop":
        return content[:place] + content[place + length :]
    if kind == "twice":
        return content[:place] + part * draw(st.integers(2, 50)) + content[place + length :]
    if kind == "number":  # as sizes and offsets are stored
        size = draw(st.sampled_from([2, 4, 8]))
        value = draw(st.sampled_from([0, 1, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**62, -1]))
        number = (value % 2 ** (8 * size)).to_bytes(size, "little")
        return content[:place] + number + content[place + size :]
    target = draw(st.integers(0, max(0, len(content) - 1)))
    return content[:target] + part + content[target + length :]


@st.composite
def damaged_files(draw: Any, name: str) -> bytes:
    """Draw a damaged file: outside, or inside of what is packed."""
    content = valid(name)
    if draw(st.booleans()):
        return draw(damaged(content))
    if name.endswith(".gz"):
        return gzip.compress(draw(damaged(gzip.decompress(content))), mtime=0)
    if name.endswith((".npz", ".skops")):
        return draw(_damaged_archive(content))
    if name == "packed.mat":
        return draw(_damaged_elements(content))
    return draw(damaged(content))


@st.composite
def _damaged_archive(draw: Any, content: bytes) -> bytes:
    """Draw an archive with a damaged part, and checksums that fit."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chosen = draw(st.sampled_from(sorted(parts)))
    what = draw(st.sampled_from(["damage", "damage", "damage", "remove", "exchange"]))
    if what == "remove":
        del parts[chosen]
    elif what == "exchange":
        parts[chosen] = parts[draw(st.sampled_from(sorted(parts)))]
    else:
        parts[chosen] = draw(damaged(parts[chosen]))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


@st.composite
def _damaged_elements(draw: Any, content: bytes) -> bytes:
    """Draw a MATLAB file with a damaged variable, packed as it was: tag, size, deflated bytes."""
    start, parts, place = content[:128], [], 128
    while place < len(content):
        (size,) = struct.unpack("<I", content[place + 4 : place + 8])
        parts.append(zlib.decompress(content[place + 8 : place + 8 + size]))
        place += 8 + size
    chosen = draw(st.integers(0, len(parts) - 1))
    parts[chosen] = draw(damaged(parts[chosen]))
    again = [zlib.compress(part) for part in parts]
    return start + b"".join(struct.pack("<II", 15, len(part)) + part for part in again)
