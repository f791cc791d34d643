"""Hostile files of MATLAB, Parquet and AnnData; see `hostile_cases`."""

import base64
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from scipy.io import savemat

import anndata
from hostile_cases import (
    CRASHED,
    CUT,
    MIB,
    NOT_FREE,
    SELECT,
    SPARSE_FAULT,
    TOO_LONG,
    case,
    raw,
    repeated,
)

ELSEWHERE = "its part 'X(/data)?' lies in another file"

# MATLAB -------------------------------------------------------------------------------------------

MATRIX, COMPRESSED, CELL, FUNCTION, OPAQUE = 14, 15, 1, 16, 17
HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"


def element(kind: int, body: bytes) -> bytes:
    """Return one element, padded."""
    return struct.pack("<II", kind, len(body)) + body + bytes(-len(body) % 8)


def variable(name: bytes, kind: int, body: bytes, dims: tuple[int, int] = (1, 1)) -> bytes:
    """Return a variable: flags, dimensions, name, and what follows."""
    about = element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack("<2i", *dims))
    return element(MATRIX, about + element(1, name) + body)


def numbers(name: bytes = b"X", dims: tuple[int, int] = (4, 3)) -> bytes:
    """Return a variable of numbers."""
    return variable(name, 6, element(9, np.arange(12.0).tobytes()), dims)


def deep(depth: int) -> bytes:
    """Return cells inside of cells."""
    inner = numbers(b"", (1, 1))
    heads, size = [], len(inner)
    for i in range(depth):
        name = element(1, b"gnd" if i == depth - 1 else b"")
        head = element(6, struct.pack("<II", CELL, 0)) + element(5, struct.pack("<2i", 1, 1)) + name
        size += len(head)
        heads.append(struct.pack("<II", MATRIX, size) + head)
        size += 8
    return b"".join(reversed(heads)) + inner


def packed(body: bytes) -> bytes:
    """Return a compressed element."""
    return struct.pack("<II", COMPRESSED, len(body)) + body


def giant() -> bytes:
    """Return a variable of 4 GiB, deflated."""
    about = element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<2i", 2**16, 8000))
    start = about + element(1, b"other") + struct.pack("<II", 9, 500 * 8 * MIB)
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = struct.pack("<II", MATRIX, len(start) + 500 * 8 * MIB) + start
    body = engine.compress(head) + engine.flush(zlib.Z_FULL_FLUSH)
    return body + repeated(bytes(8 * MIB), 500)


NESTED = element(MATRIX, numbers(b"")[8:])
raw("mat", "cells inside of cells, 100,000 deep (20 KB)", "table.mat",
    lambda: HEADER + numbers() + packed(zlib.compress(deep(100_000))),
    CRASHED)  # fmt: skip
raw("mat", "a function handle as the table", "table.mat",
    HEADER + variable(b"X", FUNCTION, NESTED), "is a MatlabFunction")  # fmt: skip
raw("mat", "a function handle beside the table", "table.mat",
    HEADER + variable(b"run", FUNCTION, NESTED) + numbers(), "")  # fmt: skip
raw("mat", "an object of a class of MATLAB", "table.mat",
    HEADER + variable(b"X", OPAQUE, NESTED), f"is a Matlab|{CUT}|no variable")  # fmt: skip
raw("mat", "4 GiB in 4 MB", "table.mat",
    lambda: HEADER + packed(b"\x78\xda" + repeated(bytes(8 * MIB), 512)),
    f"{NOT_FREE}|{CUT}|no variable", slow=True)  # fmt: skip
raw("mat", "a size beyond the end", "table.mat",
    HEADER + struct.pack("<II", MATRIX, 2**32 - 1) + numbers()[8:], "")  # fmt: skip
raw("mat", "other dimensions than numbers", "table.mat",
    HEADER + numbers(dims=(2**30, 2**30)), CUT)  # fmt: skip
raw("mat", "numbers of 8 bytes stored as zeros of one (5 GiB in 600 KB)", "table.mat",
    lambda: HEADER + packed(zlib.compress(
        variable(b"X", 6, element(2, bytes(600 * MIB)), (600 * 1024, 1024)))),
    NOT_FREE, slow=True)  # fmt: skip
raw("mat", "numbers stored in a way that nobody knows", "table.mat",
    HEADER + variable(b"X", 6, element(1000, bytes(32)), (2, 2)), "cut short")  # fmt: skip
raw("mat", "2^30 cells that are not there", "table.mat",
    HEADER + numbers() + variable(b"gnd", CELL, b"", (2**30, 1)), NOT_FREE)  # fmt: skip
raw("mat", "2^30 letters that are not there", "table.mat",
    HEADER + numbers() + variable(b"gnd", 4, element(1, b""), (2**30, 1)),
    f"{CUT}|{NOT_FREE}")  # fmt: skip
raw("mat", "4 GiB beside the table", "table.mat",
    lambda: HEADER + numbers() + packed(b"\x78\xda" + giant()), "")  # fmt: skip
raw("mat", "cut short", "table.mat", (HEADER + numbers())[:-40], "cut short")
raw("mat", "the header only", "table.mat", HEADER, "file holds: nothing")
raw("mat", "version 4 with a giant shape", "table.mat",
    struct.pack("<5i", 0, 2**30, 2**30, 0, 2) + b"X\0" + bytes(64), "damaged")  # fmt: skip


@case("mat", "a struct as the table", "table.mat", "must hold real numbers")
def _struct(path: Path) -> None:
    savemat(path, {"X": {"a": np.eye(3)}})


@case("mat", "a sparse table with an index outside", "table.mat", SPARSE_FAULT)
def _mat_sparse(path: Path) -> None:
    savemat(path, {"X": sp.csc_array(np.eye(50))}, do_compression=False)
    rows = np.arange(50, dtype="<i4")
    path.write_bytes(path.read_bytes().replace(rows.tobytes(), (rows * 10**7).tobytes(), 1))


def hdf5(group: str, what: str, says: str, file: str = "table.h5ad") -> Callable[[Any], Any]:
    """Add a case of an HDF5 file, open to be written into."""

    def add(fill: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def build(path: Path) -> None:
            with h5py.File(path, "w") as stored:
                fill(stored)
                if file.endswith(".h5ad"):
                    honest_names(stored)

        case(group, what, file, says)(build)
        return fill

    return add


def honest_names(stored: Any, n: int = 4, d: int = 3) -> None:
    """Write names of cells and genes where there are none."""
    for part, letters in (("obs", "stuv"[:n]), ("var", "abcd"[:d])):
        if part not in stored:
            anndata.io.write_elem(stored, part, pd.DataFrame(index=list(letters)))


def secret(stored: Any) -> str:
    """Write another file beside the one that is made, and return its name."""
    path = Path(stored.filename).with_name("secret.h5")
    with h5py.File(path, "w") as file:
        file["X"] = np.full((4, 3), 42.0)
    return path.name


@hdf5("mat (7.3)", "a table in another file", ELSEWHERE, "table.mat")
def _mat_link(stored: Any) -> None:
    stored["X"] = h5py.ExternalLink(secret(stored), "X")


@hdf5("mat (7.3)", "a word of 1 MB in 10,000 cells", "not an array of numbers", "table.mat")
def _mat_words(stored: Any) -> None:
    letters = np.full((MIB, 1), ord("a"), dtype=np.uint16)
    word = stored.create_dataset("#refs#/word", data=letters, compression="gzip")
    stored["X"] = np.ones((2, 10_000))
    stored["Y"] = np.full((1, 10_000), word.ref, dtype=h5py.ref_dtype)


@hdf5("mat (7.3)", "10^15 numbers that were never written", NOT_FREE, "table.mat")
def _mat_giant(stored: Any) -> None:
    stored.create_dataset("X", (10**9, 10**6), "f8", chunks=(10, 10))


# AnnData ------------------------------------------------------------------------------------------


@hdf5("h5ad", "no table inside", "no table X; the file holds: obs, var")
def _nothing(stored: Any) -> None:
    """Leave it empty."""


@hdf5("h5ad", "a table in another file", ELSEWHERE)
def _link(stored: Any) -> None:
    stored["X"] = h5py.ExternalLink(secret(stored), "X")


@hdf5("h5ad", "a table behind a group of another file", ELSEWHERE)
def _group_link(stored: Any) -> None:
    group = stored.create_group("X")
    group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
    group.attrs["shape"] = (4, 3)
    group["indptr"] = np.zeros(5, dtype=int)
    group["data"] = h5py.ExternalLink(secret(stored), "X")
    group["indices"] = np.zeros(0, dtype=int)


@hdf5("h5ad", "a table that is the bytes of another file", ELSEWHERE)
def _external(stored: Any) -> None:
    secret(stored)
    stored.create_dataset("X", (4, 3), "u1", external=[("secret.h5", 0, 12)])


@hdf5("h5ad", "a table that is a mosaic of other files", ELSEWHERE)
def _virtual(stored: Any) -> None:
    layout = h5py.VirtualLayout(shape=(4, 3), dtype="f8")
    layout[:] = h5py.VirtualSource(secret(stored), "X", shape=(4, 3))
    stored.create_virtual_dataset("X", layout)


@hdf5("h5ad", "10^15 numbers that were never written", NOT_FREE)
def _giant(stored: Any) -> None:
    stored.create_dataset("X", (10**9, 10**6), "f4", chunks=(10, 10))


@hdf5("h5ad", "one chunk of 4 GiB for six numbers", "")
def _chunk(stored: Any) -> None:
    stored.create_dataset("X", (2, 3), "f8", chunks=(2**14, 2**15 - 8), maxshape=(None, None))
    honest_names(stored, n=2)


@case("h5ad", "60,000 heaps of words inside of each other", "table.h5ad", "")
def _heaps(path: Path) -> None:
    sizes = np.arange(2 * MIB, 2 * MIB - 32 * 60_000, -32, dtype="<u8")
    heaps = b"".join(b"GCOL\x01\0\0\0" + size.tobytes() for size in sizes)
    with h5py.File(path, "w") as file:
        file["X"] = np.ones((4, 3))
        file["heaps"] = np.frombuffer(heaps.ljust(2 * MIB, b"\0"), np.uint8)
        honest_names(file)


@case("h5ad", "words in a heap that has no end", "table.h5ad", TOO_LONG)
def _heap(path: Path) -> None:
    with h5py.File(path, "w") as stored:
        stored["X"] = np.ones((4, 3))
        honest_names(stored)
    content = bytearray(path.read_bytes())
    first = content.index(b"GCOL") + 16
    content[first : first + 16] = bytes(16)  # an entry of nothing, and of no size
    path.write_bytes(content)


@hdf5("h5ad", "groups inside of themselves", CUT)
def _cycle(stored: Any) -> None:
    group = stored.create_group("X")
    group["X"] = group


@hdf5("h5ad", "a table of text", "must hold real numbers")
def _words(stored: Any) -> None:
    stored["X"] = np.array([["a", "b"]], dtype=object)


@hdf5("h5ad", "fewer genes in var than in X", "2 feature names for 3 features")
def _few(stored: Any) -> None:
    stored["X"] = np.ones((4, 3))
    honest_names(stored, d=2)


@hdf5("h5ad", "names of genes in two dimensions", CUT)
def _square(stored: Any) -> None:
    stored["X"] = np.ones((4, 3))
    honest_names(stored)
    name = stored["var"].attrs["_index"]
    del stored["var"][name]
    stored["var"][name] = np.ones((3, 3))


CSR: dict[str, tuple[dict[str, Any], str]] = {
    "an index outside": ({"indices": [0, 1, 99]}, SPARSE_FAULT),
    "lines that go back": ({"indptr": [0, 2, 1, 3]}, SPARSE_FAULT),
    "lines that begin at -5": ({"indptr": [-5, 1, 2, 3]}, SPARSE_FAULT),
    "lines that end outside": ({"indptr": [0, 1, 2, 2**40]}, SPARSE_FAULT),
    "too few lines": ({"indptr": [0, 3]}, SPARSE_FAULT),
    "10^12 columns": ({"shape": (3, 10**12)}, NOT_FREE),
    "no shape": ({"shape": None}, CUT),
    "an unknown layout": ({"kind": "coo_matrix"}, CUT),
    "no values": ({"data": None}, CUT),
}


def csr(stored: Any, change: dict[str, Any]) -> None:
    """Write compressed rows with a fault."""
    parts: dict[str, Any] = {
        "data": [1.0, 2.0, 3.0], "indices": [0, 1, 2], "indptr": [0, 1, 2, 3],
        "shape": (3, 4), "kind": "csr_matrix",
    }  # fmt: skip
    parts |= change
    group = stored.create_group("X")
    group.attrs.update({"encoding-type": parts["kind"], "encoding-version": "0.1.0"})
    if parts["shape"] is not None:
        group.attrs["shape"] = parts["shape"]
    for name in ("data", "indices", "indptr"):
        if parts[name] is not None:
            group[name] = np.array(parts[name])


for _what, (_change, _says) in CSR.items():
    hdf5("h5ad (sparse)", _what, _says)(lambda stored, change=_change: csr(stored, change))
raw("h5ad", "cut short", "table.h5ad", b"\x89HDF\r\n\x1a\n" + bytes(200), CUT)
raw("h5ad", "text", "table.h5ad", b"a,b\n1,2\n", CUT)


# Parquet ------------------------------------------------------------------------------------------


@case("parquet", "lists and structs in cells", "table.parquet", "columns that are not numbers",
      command=SELECT)  # fmt: skip
def _nested(path: Path) -> None:
    cells = {"lists": [[1], [2, 3]], "structs": [{"a": 1}, {"a": 2}], "x": [1.0, 2.0]}
    pq.write_table(pa.table(cells), path)


@case("parquet", "lists in cells, left out", "table.parquet", "")
def _dropped(path: Path) -> None:
    pq.write_table(pa.table({"lists": [[1], [2]], "x": [1.0, 2.0], "y": [2.0, 1.0]}), path)


@case("parquet", "268 million rows in a few KB", "table.parquet", NOT_FREE)
def _rows(path: Path) -> None:
    flags = pa.nulls(2**26, pa.bool_())
    with pq.ParquetWriter(path, pa.schema([("x", pa.bool_())])) as writer:
        for _ in range(4):
            writer.write_table(pa.table({"x": flags}), row_group_size=2**26)


@case("parquet", "a text of 1 MB in 100,000 rows", "table.parquet", NOT_FREE, command=SELECT)
def _word(path: Path) -> None:
    words = pa.DictionaryArray.from_arrays(np.zeros(100_000, dtype=np.int32), ["w" * MIB])
    table = pa.table({"word": words, "x": np.arange(100_000.0)})
    pq.write_table(table, path, store_schema=False)


@case("parquet", "notes for pandas that are none", "table.parquet", CUT)
def _notes(path: Path) -> None:
    schema = pa.schema([("x", pa.float64())], metadata={b"pandas": b"[1, 2"})
    pq.write_table(pa.table({"x": [1.0, 2.0]}, schema=schema), path)


@case("parquet", "two columns of one name", "table.parquet", "several columns have the same name")
def _twice(path: Path) -> None:
    pq.write_table(pa.table([[1.0], [2.0]], names=["x", "x"]), path)


raw("parquet", "cut short", "table.parquet", b"PAR1" + bytes(100), CUT)
raw("parquet", "a footer of 4 GiB", "table.parquet", b"PAR1\xff\xff\xff\xffPAR1", CUT)
raw("parquet", "empty", "table.parquet", b"", CUT)
# What it says about a column makes pyarrow end the process (found by fuzzing).
ABORTS = (
    "c-jka3^EjD5VaAt(Gg_>GT21fWEdD2n1Gm#kpT=o*h6Rr2M8tLKtKbB1G+|07D*dZ1_`#}<c!qZL{Sz7Q7#K63C2"
    "VqtqP=*7{u5lWh8af7-U4bBvsiMB!P0GKtZu2u_QGPPZ^*+45Ca7HkxdbY7A^Z6OmOW!Bu8qQ7LwWQH)KE14uDwC"
    "=?_X6_%!!=q48w=q45w<(Dgzr4|)u=I1FGnduqm8A|E^{Q~mNMj#FV1`PlU;Uu^"
)
raw("parquet", "a column that makes pyarrow end the process", "table.parquet",
    zlib.decompress(base64.b85decode(ABORTS)), CUT)  # fmt: skip
