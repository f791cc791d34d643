"""Files that are broken, or made to do harm: every one is built here, for the table and the tests.

A case says what a file is, how it is made, and what must be said about it. Bombs are small on the
disk: they repeat one compressed block.
"""

import gzip
import io
import json
import os
import pickle
import socket
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

# What a file would make if its code ran.
MARK = "mark-of-foreign-code"
MIB = 2**20
CUT = "damaged, cut short"
NOT_FREE = "are (free|allowed)"
CRASHED = "damaged, cut short or too large: the library that reads it crashed"
TOO_LONG = "reading it takes more than [0-9.]+ seconds"
SPARSE_FAULT = "its sparse table is damaged"
# inspect leaves out columns of text, select refuses them.
SELECT = ("select", "FILE", "-o", "OUT")


@dataclass(frozen=True)
class Case:
    """A hostile file.

    Attributes
    ----------
    group, what : str
        The format, and what is wrong.
    file : str
        Its name.
    build : callable
        ``build(path)`` makes it.
    says : str
        A regular expression for the sentence; "" if the table is read.
    command : tuple of str
        What is run: FILE stands for the file, OUT for a folder of results.
    slow : bool
        Whether building or reading it takes seconds: only the benchmark does.
    """

    group: str
    what: str
    file: str
    build: Callable[[Path], Any]
    says: str
    command: tuple[str, ...] = ("inspect", "FILE")
    slow: bool = False


CASES: list[Case] = []


def case(group: str, what: str, file: str, says: str, **more: Any) -> Callable[[Any], Any]:
    """Add a case whose file the decorated function makes."""

    def add(build: Callable[[Path], Any]) -> Callable[[Path], Any]:
        CASES.append(Case(group, what, file, build, says, **more))
        return build

    return add


def raw(group: str, what: str, file: str, content: Any, says: str, **more: Any) -> None:
    """Add a case of given bytes, or of those that a function returns."""

    def build(path: Path) -> None:
        path.write_bytes(content() if callable(content) else content)

    CASES.append(Case(group, what, file, build, says, **more))


class Bomb:
    """An object whose pickle makes a file."""

    def __reduce__(self) -> Any:
        return (open, (MARK, "w"))


def repeated(block: bytes, n_blocks: int) -> bytes:
    """Return a raw deflate stream of one block of bytes again and again."""
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = engine.compress(block) + engine.flush(zlib.Z_FULL_FLUSH)
    return packed * n_blocks + b"\x03\x00"


# Paths --------------------------------------------------------------------------------------------

case("path", "a folder", "table.csv", "is a folder: name a file")(lambda path: path.mkdir())
case("path", "a pipe that nobody writes to", "table.csv", "is a pipe or a device: name a file")(
    os.mkfifo
)
case("path", "a device without end", "table.csv", "is a pipe or a device")(
    lambda path: path.symlink_to("/dev/zero")
)
case("path", "a link to itself", "table.csv", "cannot be opened: Too many levels")(
    lambda path: path.symlink_to(path)
)
case("path", "a link to nothing", "table.csv", "a link to a file that is not there")(
    lambda path: path.symlink_to(path.with_name("gone"))
)
case("path", "the memory of the process", "table.csv", CUT)(
    lambda path: path.symlink_to("/proc/self/mem")
)


@case("path", "a socket", "table.csv", "is a pipe or a device")
def _socket(path: Path) -> None:
    # the name of a socket must be short, so it is bound by a relative one
    before = Path.cwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(before)


# Text ---------------------------------------------------------------------------------------------

raw("csv", "empty", "table.csv", b"", "the file is empty")
raw("csv", "nothing but line ends", "table.csv", b"\n" * 1000, "the file is empty")
raw("csv", "zero bytes", "table.csv", bytes(1000), "not a text table")
raw("csv", "zero bytes inside", "table.csv", b"a,b\n1,2\n3,\0\n", "not a text table")
raw(
    "csv",
    "zero bytes far inside",
    "table.csv",
    b"a,b\n" + b"1,2\n" * 2000 + b"3,\0\n",
    "a zero byte",
)
raw("csv", "an image", "table.csv", b"\x89PNG\r\n\x1a\n" + bytes(99), "not a text table")
raw("csv", "bytes of no encoding", "table.csv", b"gr\xf6\x81e,b\n1,2\n", "not text in UTF-8 or Win")
raw("csv", "UTF-16 without a mark", "table.csv", "a,b\n1,2\n".encode("utf-16-le"), "not a text")
raw("csv", "a mark of UTF-16 only", "table.csv", b"\xff\xfe", "the file is empty")
raw("csv", "half a letter at the end", "table.csv", b"\xff\xfea\0,\0b", "not text|cells|cut short")
raw("csv", "rows of many lengths", "table.csv", b"a,b\n1,2\n1,2,3,4\n", "in line 3, saw 4")
raw(
    "csv",
    "a quotation mark never closed",
    "table.csv",
    b'a,b\n1,"2\n3,4\n',
    "quotation mark|not num",
)
raw(
    "csv",
    "one cell of 20 MB",
    "table.csv",
    lambda: b"a,b\n1,2\n3," + b"9" * 20 * MIB,
    "has numbers except in 1 cell",
    command=SELECT,
)
raw(
    "csv",
    "the first cell of 20 MB",
    "table.csv",
    lambda: b"a" * 20 * MIB + b",b\n1,2\n",
    "no row of cells",
)
raw(
    "csv",
    "commands to the terminal",
    "table.csv",
    b"\x1b[31ma,b\nx,2\ny,3\n",
    "not numbers",
    command=SELECT,
)
raw("csv", "rows that pandas reads again and again", "table.csv", b"a,b\n1,2\r 3,4\r", "")
raw("csv", "one line of 140 MB", "table.csv", lambda: b"7" * 140 * MIB, "row of cells", slow=True)
raw(
    "csv",
    "5,000,000 columns",
    "table.csv",
    lambda: b"1," * 5_000_000 + b"1\n",
    f"{NOT_FREE}|{TOO_LONG}",
    slow=True,
)


@case("csv", "1,000,000 columns", "table.csv", "", slow=True)
def _wide(path: Path) -> None:
    header = ",".join(f"g{j}" for j in range(1_000_000))
    rows = [",".join(str(j % 7 + i) for j in range(1_000_000)) for i in range(3)]
    path.write_text("\n".join([header, *rows]))


def short_rows(n_columns: int, n_rows: int) -> bytes:
    """Return a table whose rows end after the first cell: pandas fills them up."""
    return ",".join(f"g{j}" for j in range(n_columns)).encode() + b"\n" + b"1\n" * n_rows


raw("csv", "100,000 columns, of which 100,000 rows have one (1 MB)", "table.csv",
    lambda: short_rows(100_000, 100_000), NOT_FREE)  # fmt: skip
raw("csv.gz", "100,000 columns, of which 100,000 rows have one", "table.csv.gz",
    lambda: gzip.compress(short_rows(100_000, 100_000)), NOT_FREE)  # fmt: skip
raw("csv.gz", "not compressed", "table.csv.gz", b"a,b\n1,2\n", CUT)
raw("csv.gz", "cut short", "table.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 999)[:-20], CUT)
raw("csv.gz", "wrong checksum", "table.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-8] + bytes(8), CUT)
raw(
    "csv.gz", "expands to 8 GiB of rows", "table.csv.gz",
    lambda: gzip.compress(b"0,0\n" * (2 * MIB)) * 1024, NOT_FREE,
)  # fmt: skip
raw(
    "csv.gz", "expands to one line of 8 GiB", "table.csv.gz",
    lambda: gzip.compress(b"0" * 8 * MIB) * 1024, NOT_FREE, slow=True,
)  # fmt: skip
raw("csv.gz", "8 GiB of line ends", "table.csv.gz", lambda: gzip.compress(b"\n" * 8 * MIB) * 1024,
    TOO_LONG)  # fmt: skip


# NumPy --------------------------------------------------------------------------------------------


def npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """Return a file of NumPy with any text as its header."""
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + body


def described(shape: Any, kind: str = "<f8") -> str:
    """Return a usual header."""
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"


def archive(parts: dict[str, bytes], path: Path, compression: int = zipfile.ZIP_DEFLATED) -> None:
    """Write a zip archive."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in parts.items():
            file.writestr(name, content)


def stored(value: Any, **more: Any) -> bytes:
    """Return an array as NumPy stores it."""
    buffer = io.BytesIO()
    np.save(buffer, value, **more)
    return buffer.getvalue()


GOOD = stored(np.arange(12.0).reshape(4, 3))
CODE = f"__import__('os').system('touch {MARK}')"
ARCHIVES: dict[str, tuple[dict[str, bytes], str]] = {
    "pickled objects": ({"X.npy": stored(np.array([[Bomb()]]))}, "holds Python objects"),
    "pickled labels": ({"X.npy": GOOD, "y.npy": stored(np.array([Bomb()] * 4))}, "Python objects"),
    "a bare pickle inside": ({"X.npy": pickle.dumps(Bomb())}, "is not an array of NumPy"),
    "a header with code": ({"X.npy": npy(CODE)}, CUT),
    "a header with code as its shape": ({"X.npy": npy(described(CODE))}, CUT),
    "a header of 5,000 brackets": ({"X.npy": npy("(" * 5000)}, CUT),
    "a shape of 10^15": ({"X.npy": npy(described((10**9, 10**6)))}, NOT_FREE),
    "a shape below 0": ({"X.npy": npy(described((-4, 3)), bytes(96))}, CUT),
    "numbers are missing": ({"X.npy": GOOD[:-8]}, CUT),
    "complex numbers": ({"X.npy": stored(np.ones((3, 2), complex))}, "must hold real numbers"),
    "dates": ({"X.npy": stored(np.zeros((3, 2), "M8[D]"))}, "must hold real numbers"),
    "three dimensions": ({"X.npy": stored(np.zeros((2, 2, 2)))}, "two dimensions"),
    "names that lead outside": (
        {"../escaped.npy": GOOD, "/tmp/escaped.npy": GOOD, "X.npy": GOOD}, "",
    ),
    "nothing inside": ({}, "not an archive|holds: nothing"),
}  # fmt: skip
for _what, (_parts, _says) in ARCHIVES.items():
    case("npz", _what, "table.npz", _says)(lambda path, parts=_parts: archive(parts, path))


@case("npz", "packed with bz2", "table.npz", "")
def _bz2(path: Path) -> None:
    archive({"X.npy": GOOD}, path, zipfile.ZIP_BZIP2)


@case("npz", "a zip bomb of 4 GiB", "table.npz", NOT_FREE, slow=True)
def _bomb(path: Path) -> None:
    block, n_blocks = bytes(8 * MIB), 500
    start = npy(described((n_blocks * MIB // 64, 64)))
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = engine.compress(start) + engine.flush(zlib.Z_FULL_FLUSH) + repeated(block, n_blocks)
    deflated_part(path, "X.npy", body, len(start) + n_blocks * len(block))


def deflated_part(
    path: Path, name: str, body: bytes, size: int, others: dict[str, bytes] | None = None
) -> None:
    """Write an archive with a part that is deflated already, and says that it has this size."""
    archive(others or {}, path)
    about = (20, 0, 8, 0, 0, 0, len(body), size, len(name), 0)
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", *about) + name.encode()
    whole = path.read_bytes()  # parts, their list, and where it begins
    count, length, start = struct.unpack("<HLL", whole[-12:-2])
    listed = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *about, 0, 0, 0, 0, start)
    listed = whole[start : start + length] + listed + name.encode()
    numbers = (0, 0, count + 1, count + 1, len(listed), start + len(local) + len(body), 0)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", *numbers)
    path.write_bytes(whole[:start] + local + body + listed + end)


@case("npz", "a part that says it has 4 GiB", "table.npz", CUT)
def _lying(path: Path) -> None:
    deflated_part(path, "X.npy", zlib.compress(GOOD)[2:-4], 2**32 - 2)


SPARSE = {
    "data": np.ones(3), "indices": np.array([0, 1, 2]), "indptr": np.array([0, 1, 3]),
    "shape": np.array([2, 3]),
}  # fmt: skip
SPARSE_FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "an index outside": ({"indices": np.array([0, 1, 10**6])}, SPARSE_FAULT),
    "an index below 0": ({"indices": np.array([0, -5, 2])}, SPARSE_FAULT),
    "lines that begin outside": ({"indptr": np.array([0, 1, 999])}, SPARSE_FAULT),
    "lines that go back": ({"indptr": np.array([0, 9, 3])}, SPARSE_FAULT),
    "10^12 columns": ({"shape": np.array([2, 10**12])}, NOT_FREE),
    "10^12 rows": ({"shape": np.array([10**12, 3])}, SPARSE_FAULT),
    "a shape of three": ({"shape": np.array([2, 3, 4])}, SPARSE_FAULT),
    "a shape of text": ({"shape": np.array(["a", "b"])}, SPARSE_FAULT),
    "indices of text": ({"indices": np.array(["a", "b", "c"])}, "not whole numbers"),
    "an unknown layout": ({"format": np.array("dia")}, "layout 'dia' is not read"),
}
for _what, (_change, _says) in SPARSE_FAULTS.items():
    case("npz (sparse)", _what, "table.npz", _says)(
        lambda path, change=_change: np.savez(path, **{**SPARSE, **change})
    )
raw("npz", "cut short", "table.npz", b"PK\x03\x04" + bytes(50), "or cut short")
raw("npz", "text", "table.npz", b"a,b\n1,2\n", "not an archive of NumPy")


# Plans --------------------------------------------------------------------------------------------

PLAN = ("bench", "run", "FILE", "--out", "OUT")
raw("plan", "lists without end", "plan.toml", b"a = " + b"[" * 99_999, "without end", command=PLAN)
raw("plan", "not UTF-8", "plan.toml", b"title = '\xff'", "not text in UTF-8", command=PLAN)
raw("plan", "an unknown selector", "plan.toml", b"datasets=['iris']\nexperiments=['default']\n"
    b"counts=[2]\n[[methods]]\nname='os.system'\n", "no selector 'os.system'",
    command=PLAN)  # fmt: skip
raw("summary", "deep JSON", "summary.json", b"[" * 99_999, "not a summary",
    command=("report", "FILE"))  # fmt: skip
raw("summary", "not a selection", "summary.json", json.dumps([1]).encode(), "no format number",
    command=("report", "FILE"))  # fmt: skip
