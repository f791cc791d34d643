"""Heaps of words in HDF5 files that have no end (found by fuzzing)."""

import time

import h5py
import numpy as np
import pytest

from featsieve.datasets import read_table
from featsieve.io.readers import h5_heaps
from featsieve.io.readers.guard import TableError
from featsieve.io.readers.h5_heaps import MARK, check_heaps

WORDS = [f"gene {j}" * (1 + j % 7) for j in range(400)]


def write(path, *, width=8, userblock=0):
    """Write words into a heap; ``width`` is that of stored lengths."""
    plist = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    plist.set_sizes(8, width)
    plist.set_userblock(userblock)
    name = str(path).encode()
    with h5py.File(h5py.h5f.create(name, h5py.h5f.ACC_TRUNC, fcpl=plist)) as file:
        file["X"] = np.eye(4)
        file.create_dataset("words", data=WORDS, dtype=h5py.string_dtype())
        file.create_group("var").attrs["_index"] = "gene"
        file.create_dataset("var/gene", data=list("abcd"), dtype=h5py.string_dtype())
    return path


def entries(content, width):
    """Return the places of the entries of the first heap."""
    place = content.index(MARK)
    end = place + int.from_bytes(content[place + 8 : place + 8 + width], "little")
    place, found = place + 16, []
    while place < end:
        found.append(place)
        number = int.from_bytes(content[place : place + 2], "little")
        size = int.from_bytes(content[place + 8 : place + 8 + width], "little")
        place += size if number == 0 else 16 + size + -size % 8
    return found


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("userblock", [0, 512])
@pytest.mark.parametrize("block", [2**23, 1000])
def test_what_h5py_writes_passes(tmp_path, monkeypatch, width, userblock, block):
    monkeypatch.setattr(h5_heaps, "BLOCK", block)
    path = write(tmp_path / "a.h5ad", width=width, userblock=userblock)
    assert MARK in path.read_bytes()
    with h5py.File(path) as file:
        check_heaps(path, file)
        assert file["words"].asstr()[:].tolist() == WORDS
    assert read_table(path).feature_names == list("abcd")


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize(
    ("number", "size"),
    [(0, 0), (3, -16), (3, -1), (0, 10**6)],
    ids=["none", "none, as it is counted", "too large", "free space too large"],
)
def test_an_entry_that_has_no_end(tmp_path, width, number, size):
    path = write(tmp_path / "a.h5ad", width=width)
    content = bytearray(path.read_bytes())
    place = entries(content, width)[2]
    content[place : place + 2] = number.to_bytes(2, "little")
    content[place + 8 : place + 8 + width] = (size % 2 ** (8 * width)).to_bytes(width, "little")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.h5ad .*a heap of its words is damaged"):
        read_table(path)  # which HDF5 would not come back from


def test_the_last_entry_and_bytes_that_look_like_a_heap(tmp_path, monkeypatch):
    path = write(tmp_path / "a.h5ad")
    content = bytearray(path.read_bytes())
    content += MARK + (10**9).to_bytes(8, "little")  # no heap of this file: it would end outside
    path.write_bytes(content)
    assert read_table(path).X.shape == (4, 4)
    place = entries(content, 8)[-1]
    content[place + 8 : place + 16] = bytes(8)
    path.write_bytes(content)
    monkeypatch.setattr(h5_heaps, "BLOCK", 100)
    with h5py.File(path) as file, pytest.raises(TableError, match="a heap of its words"):
        check_heaps(path, file)


@pytest.mark.parametrize("kind", ["heaps inside of heaps", "marks alone"])
def test_heaps_that_overlap(tmp_path, kind):
    size = 2**20
    content = bytearray(MARK * (size // len(MARK)))
    if kind == "heaps inside of heaps":  # every one ends where the file does, or nearly
        sizes = np.arange(size, 4096, -32, dtype="<u8")
        content[: 16 * len(sizes)] = b"".join(MARK + one.tobytes() for one in sizes)
        content[16 * len(sizes) :] = bytes(size - 16 * len(sizes))
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = np.eye(2)
        file["other"] = np.frombuffer(bytes(content), np.uint8)
    begun = time.process_time()
    with pytest.raises(ValueError, match=r"a\.h5ad .*heaps of its words overlap"):
        read_table(path)
    assert time.process_time() - begun < 1


def test_a_large_file_is_not_looked_through(tmp_path, monkeypatch):
    path = write(tmp_path / "a.h5ad")
    assert path.stat().st_size < 2**20
    with path.open("r+b") as file:
        file.truncate(2**36)  # 64 GiB, of which nothing is on the disk
    begun = time.process_time()
    with h5py.File(path) as file:
        assert check_heaps(path, file) is None
    assert read_table(path).feature_names == list("abcd")
    assert time.process_time() - begun < 2
    monkeypatch.setattr(h5_heaps, "LARGEST_FILE", 0)
    whole = write(tmp_path / "b.h5ad")
    with h5py.File(whole) as file:
        assert check_heaps(whole, file) is None


def test_a_heap_larger_than_the_memory(tmp_path, monkeypatch):
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = np.eye(2)
        file.create_dataset("words", data=["a" * 10**6], dtype=h5py.string_dtype())
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "500K")
    with pytest.raises(ValueError, match=r"a\.h5ad .*a heap of its words would take"):
        read_table(path)
