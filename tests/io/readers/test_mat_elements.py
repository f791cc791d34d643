"""Elements of MATLAB files are looked through before SciPy sees them."""

import struct
import zlib

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from featsieve.datasets import read_table
from featsieve.io.readers import mat
from featsieve.io.readers.guard import TableError
from featsieve.io.readers.mat_elements import (
    DEEPEST,
    check_headers,
    check_variables,
    is_plain,
)


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
    check_variables(path, ["X", "c"])
    savemat(path, {"X": np.eye(2), "c": nested(DEEPEST + 1)}, do_compression=packed)
    with pytest.raises(TableError, match="cells inside of cells"):
        check_variables(path, ["X", "c"])
    assert read_table(path).X.shape == (2, 2)  # what is not read does no harm


@pytest.mark.parametrize("packed", [True, False])
def test_everything_that_is_saved_passes(tmp_path, packed):
    path = tmp_path / "a.mat"
    content = {
        "X": np.eye(3),
        "words": np.array(["a", "longer", "ä" * 50, ""], dtype=object),
        "letters": np.array(["ab", "cd"]),
        "flags": np.array([True, False]),
        "complex": np.array([1 + 2j]),
        "empty": np.zeros((0, 3)),
        "small": np.uint8(3),
        "cube": np.zeros((2, 3, 4), dtype=np.int16),
        "sparse": sp.csc_array(np.eye(3)),
        "no cells": np.empty((0, 0), dtype=object),
    }
    savemat(path, {**content, "struct": {"a": 1, "b": {"c": "text"}}}, do_compression=packed)
    check_headers(path)
    check_variables(path, list(content))
    assert read_table(path).X.shape == (3, 3)


def variable(kind, body, *, shape=(2, 2), name=b"X"):
    """Return a variable of a MATLAB file."""
    about = element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack("<2i", *shape))
    return element(14, about + element(1, name) + body)


def element(kind, body):
    """Return one element, padded."""
    return struct.pack("<II", kind, len(body)) + body + bytes(-len(body) % 8)


NUMBERS = element(9, np.ones(4).tobytes())
BEGIN = b"MATLAB".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
LARGE = variable(6, element(2, bytes(10**6)), shape=(1000, 1000))  # as MATLAB stores small numbers


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    "body",
    [
        LARGE,
        variable(4, b"", shape=(2**20, 1)),
        variable(4, element(2, bytes(2**20)), shape=(1, 1)),
        variable(6, element(2, bytes(2**23)), shape=(1, 1)),
        variable(5, 3 * element(2, bytes(2**19))),
        variable(1, b"", shape=(2**20, 1)),
        variable(1, element(14, b"") * 2**16, shape=(2**16, 1)),
        variable(1, variable(1, b"", shape=(2**20, 1)), shape=(1, 1)),
    ],
    ids=["bytes", "no letters", "letters", "too many", "sparse", "cells", "empty", "inner cells"],
)
def test_memory_is_counted_before_anything_is_made(tmp_path, monkeypatch, body, packed):
    path = tmp_path / "a.mat"
    again = zlib.compress(body)
    stored = struct.pack("<II", 15, len(again)) + again
    path.write_bytes(BEGIN + (stored if packed else body))
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "7M")
    monkeypatch.setattr(mat, "loadmat", None)
    with pytest.raises(
        ValueError, match=r"a\.mat .*(what it unpacks to would take|cut short or damaged)"
    ):
        read_table(path)


def test_numbers_in_bytes_are_read_where_there_is_room(tmp_path, monkeypatch):
    path = tmp_path / "a.mat"
    path.write_bytes(BEGIN + LARGE)
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "10M")
    assert read_table(path).X.nbytes == 8 * 10**6


@pytest.mark.parametrize("packed", [True, False])
def test_variables_that_are_not_read_cost_nothing(tmp_path, monkeypatch, packed):
    path = tmp_path / "a.mat"
    content = {"X": np.eye(3), "huge": np.zeros((1000, 1000)), "gnd": np.arange(3.0)}
    savemat(path, content, do_compression=packed)
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "1M")
    assert read_table(path).y.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"what it unpacks to would take 7\.63 MiB"):
        read_table(path, label_column="huge")


@pytest.mark.parametrize(
    "body",
    [
        variable(6, NUMBERS, shape=(3, 2)),
        variable(6, NUMBERS, shape=(-2, -2)),
        variable(6, NUMBERS + NUMBERS),  # SciPy would go on with the second where cells follow
        variable(6, b""),
        variable(1, NUMBERS, shape=(1, 1)),
        variable(1, variable(6, NUMBERS) + bytes(8), shape=(1, 1)),
        variable(6, NUMBERS, name=b"n" * 5000),
        element(14, struct.pack("<IIII", 6, 4, 6, 0) + bytes(100)),
        element(14, struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<II", 5 << 16, 0) * 9),
        variable(6, struct.pack("<II", 9, 10**6)),
        struct.pack("<I", 14),
    ],
)
def test_elements_that_do_not_fit(tmp_path, body):
    path = tmp_path / "a.mat"
    path.write_bytes(BEGIN + body)
    with pytest.raises(ValueError, match=r"a\.mat .*cut short or damaged"):
        read_table(path)


@pytest.mark.parametrize("kind", [0, 8, 14, 15, 19, 1000, 65535])
@pytest.mark.parametrize("of", ["numbers", "letters", "sparse"])
def test_values_stored_in_an_unknown_way(tmp_path, kind, of):
    """SciPy looks up the kind in a list without asking how long it is (found by fuzzing)."""
    path = tmp_path / "a.mat"
    body = element(kind, np.ones(4).tobytes())
    about = {"numbers": (6, body), "letters": (4, body), "sparse": (5, body * 3)}[of]
    path.write_bytes(BEGIN + variable(6, NUMBERS) + variable(*about, name=b"gnd"))
    with pytest.raises(TableError, match="cut short or damaged"):
        check_variables(path, ["gnd"])
    with pytest.raises(ValueError, match=r"a\.mat .*cut short or damaged"):
        read_table(path)


def test_cells_hold_numbers_or_words(tmp_path):
    path = tmp_path / "a.mat"
    cells = np.empty((2, 1), dtype=object)
    cells[:, 0] = [{"a": 1}, "x"]
    savemat(path, {"X": np.eye(2), "gnd": cells})
    with pytest.raises(ValueError, match="'gnd' holds cells that are neither numbers nor words"):
        read_table(path)


def test_big_endian_files_pass(tmp_path):
    path = tmp_path / "a.mat"
    part = struct.pack(">II", 14, 56) + struct.pack(">IIII", 6, 8, 6, 0)
    part += struct.pack(">IIii", 5, 8, 1, 1) + struct.pack(">HHI", 1, 1, ord("X") << 24)
    part += struct.pack(">IId", 9, 8, 2.5)
    path.write_bytes(b"MATLAB".ljust(124) + struct.pack(">H", 0x0100) + b"MI" + part)
    check_variables(path, ["X"])
    assert read_table(path).X.tolist() == [[2.5]]


def test_what_unpacks_to_too_much(tmp_path, monkeypatch):
    path = tmp_path / "a.mat"
    savemat(path, {"X": np.zeros((1000, 1000))}, do_compression=True)
    assert path.stat().st_size < 20_000
    check_variables(path, ["X"])
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "1M")
    with pytest.raises(
        TableError, match=r"what it unpacks to would take 7.* 1 MiB that are allowed"
    ):
        check_variables(path, ["X"])


@pytest.mark.parametrize("lost", [1, 9, 40, 100])
def test_a_packed_file_cut_short(tmp_path, lost):
    path = tmp_path / "a.mat"
    savemat(path, {"X": np.random.default_rng(0).random((9, 9))}, do_compression=True)
    body = path.read_bytes()[136:]
    whole = zlib.decompress(body)
    again = zlib.compress(whole[:-lost])
    path.write_bytes(path.read_bytes()[:128] + struct.pack("<II", 15, len(again)) + again)
    with pytest.raises(TableError, match="cut short or damaged"):
        check_variables(path, ["X"])


def test_numbers_of_unknown_machines_are_refused(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"X": np.eye(3)}, format="4")
    assert is_plain(path)
    assert read_table(path).X.shape == (3, 3)
    content = path.read_bytes()
    path.write_bytes(struct.pack("<i", 2000) + content[4:])  # VAX
    with pytest.raises(ValueError, match=r"a\.mat cannot be read .*byte ordering 'VAX"):
        read_table(path)
