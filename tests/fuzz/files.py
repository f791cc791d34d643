"""Small valid files of every format, and ways to damage them.

A byte changed in a compressed part is found out by its checksum, and tells nothing about the
reader. So the content of archives is damaged, too, and packed again.
"""

import functools
import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.io import savemat

from featsieve import LaplacianScore, save_model
from featsieve.bench.parse import shipped_text
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
SPARSE = Dataset("toy", sp.csr_array(X), TABLE.y, feature_names=NAMES)
NUMBERS = [0, 1, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**64 - 1]
# Single bytes, and numbers as sizes and offsets are stored.
PATCHES = [bytes([byte]) for byte in (0, 1, 0x7F, 0x80, 0xFF, *b',"\n[9')]
PATCHES += [number.to_bytes(8, "little")[:size] for number in NUMBERS for size in (2, 4, 8)]


def _hdf5_mat(path: Path) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        file["fea"] = X.T
        file["fea"].attrs["MATLAB_class"] = np.bytes_("double")
        file["gnd"] = TABLE.y[None, :].astype(float)
    content = bytearray(path.read_bytes())
    content[:20] = b"MATLAB 7.3 MAT-file\0"
    path.write_bytes(content)


def _model(path: Path) -> None:
    fitted = LaplacianScore(2).fit(X)
    save_model(SelectionModel.from_selector(fitted, NAMES, fill=np.zeros(4)), path)


MAKERS: dict[str, Callable[[Path], Any]] = {
    "toy.csv": lambda path: write_table(path, TABLE),
    "utf16.csv": lambda path: path.write_text("a;b\n1,5;2\n3;4,25\n", encoding="utf-16"),
    "toy.csv.gz": lambda path: write_table(path, TABLE),
    "toy.npz": lambda path: write_table(path, TABLE),
    "sparse.npz": lambda path: write_table(path, SPARSE),
    "toy.mat": lambda path: savemat(path, {"fea": X, "gnd": TABLE.y}),
    "hdf5.mat": _hdf5_mat,
    "toy.parquet": lambda path: write_table(path, TABLE),
    "toy.h5ad": lambda path: write_table(path, TABLE),
    "sparse.h5ad": lambda path: write_table(path, SPARSE),
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
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw some bytes with one to four faults."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(0, len(content) - 1)))
        kind = draw(st.sampled_from(["overwrite", "repeat or drop", "cut"]))
        if kind == "overwrite":
            part = draw(st.sampled_from(PATCHES))
            stop = start + len(part)
        elif kind == "cut":
            part, stop = b"", len(content)
        else:
            stop = start + draw(st.sampled_from([1, 2, 4, 8, 16, 100]))
            part = content[start:stop] * draw(st.sampled_from([0, 2, 50]))
        content = content[:start] + part + content[stop:]
    return content


@st.composite
def damaged_files(draw: st.DrawFn, name: str) -> bytes:
    """Draw a damaged file: outside, or inside of an archive."""
    content = valid(name)
    packed = name.endswith((".gz", ".npz", ".skops"))
    if not packed or draw(st.booleans()):
        return draw(damaged(content))
    if name.endswith(".gz"):
        return gzip.compress(draw(damaged(gzip.decompress(content))), mtime=0)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    chosen = draw(st.sampled_from(sorted(parts)))
    if draw(st.integers(0, 3)) == 0:
        del parts[chosen]
    else:
        parts[chosen] = draw(damaged(parts[chosen]))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for part, text in parts.items():
            archive.writestr(part, text)
    return buffer.getvalue()
