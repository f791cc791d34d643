"""Elements of MATLAB files are looked through before SciPy sees them."""

import struct
import zlib

import numpy as np
import pytest
from scipy.io import savemat

from featsieve.datasets import read_table
from featsieve.datasets.readers.guard import TableError
from featsieve.datasets.readers.mat_elements import DEEPEST, check_elements, is_plain


def nested(depth):
    """Return cells inside of cells."""
    value = np.ones((1, 1))
    for _ in range(depth):
        cell = np.empty((1, 1), dtype=object)
        cell[0, 0] = value
        value = cell
    return value


@pytest.mark.parametrize("packed", [True, False])
def test_depth(tmp_path, packed):
    path = tmp_path / "a.mat"
    savemat(path, {"X": np.eye(2), "c": nested(DEEPEST)}, do_compression=packed)
    check_elements(path)
    savemat(path, {"X": np.eye(2), "c": nested(DEEPEST + 1)}, do_compression=packed)
    with pytest.raises(TableError, match="cells inside of cells"):
        check_elements(path)


@pytest.mark.parametrize("packed", [True, False])
def test_everything_that_is_saved_passes(tmp_path, packed):
    path = tmp_path / "a.mat"
    content = {
        "X": np.eye(3),
        "words": np.array(["a", "longer", "ä" * 50], dtype=object),
        "struct": {"a": 1, "b": {"c": "text"}},
        "flags": np.array([True, False]),
        "complex": np.array([1 + 2j]),
        "empty": np.zeros((0, 3)),
        "small": np.uint8(3),
    }
    savemat(path, content, do_compression=packed)
    check_elements(path)
    assert read_table(path).X.shape == (3, 3)


def test_big_endian_files_pass(tmp_path):
    path = tmp_path / "a.mat"
    part = struct.pack(">II", 14, 56) + struct.pack(">IIII", 6, 8, 6, 0)
    part += struct.pack(">IIii", 5, 8, 1, 1) + struct.pack(">HHI", 1, 1, ord("X") << 24)
    part += struct.pack(">IId", 9, 8, 2.5)
    path.write_bytes(b"MATLAB".ljust(124) + struct.pack(">H", 0x0100) + b"MI" + part)
    check_elements(path)
    assert read_table(path).X.tolist() == [[2.5]]


def test_what_unpacks_to_too_much(tmp_path, monkeypatch):
    path = tmp_path / "a.mat"
    savemat(path, {"X": np.zeros((1000, 1000))}, do_compression=True)
    assert path.stat().st_size < 20_000
    check_elements(path)
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "1M")
    with pytest.raises(
        TableError, match=r"what it unpacks to would take 1.* and 1 MiB are allowed"
    ):
        check_elements(path)


@pytest.mark.parametrize("lost", [1, 9, 40, 100])
def test_a_packed_file_cut_short(tmp_path, lost):
    path = tmp_path / "a.mat"
    savemat(path, {"X": np.random.default_rng(0).random((9, 9))}, do_compression=True)
    body = path.read_bytes()[136:]
    whole = zlib.decompress(body)
    again = zlib.compress(whole[:-lost])
    path.write_bytes(path.read_bytes()[:128] + struct.pack("<II", 15, len(again)) + again)
    with pytest.raises(TableError, match="cut short or damaged"):
        check_elements(path)


def test_numbers_of_unknown_machines_are_refused(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"X": np.eye(3)}, format="4")
    assert is_plain(path)
    assert read_table(path).X.shape == (3, 3)
    content = path.read_bytes()
    path.write_bytes(struct.pack("<i", 2000) + content[4:])  # VAX
    with pytest.raises(ValueError, match=r"a\.mat cannot be read .*byte ordering 'VAX"):
        read_table(path)
