"""What is asked before a file is read."""

import os

import numpy as np
import pytest

from featsieve.datasets import read_table
from featsieve.io.names import ColumnError
from featsieve.io.readers import guard
from featsieve.io.readers.guard import (
    TableError,
    TooLargeError,
    check_file,
    check_memory,
    first_line,
    memory_limit,
    parse_size,
    read_small,
    reasons,
)


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5.2G", "G", "8 GB or so"])
def test_sizes_that_are_none(text):
    with pytest.raises(ValueError, match=r"FEATSIEVE_MAX_MEMORY must be a size such as 8G"):
        parse_size(text)


def test_the_variable_is_the_limit(monkeypatch, tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, X=np.zeros((1000, 10)))
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "50K")
    assert memory_limit() == 51200
    with pytest.raises(TooLargeError, match=r"table\.npz cannot be read as .*50 KiB that are "
                       r"allowed \(FEATSIEVE_MAX_MEMORY\).*set the environment"):  # fmt: skip
        read_table(path)
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "1G")
    assert read_table(path).X.shape == (1000, 10)


def test_a_small_file_is_read_whatever_the_system_says(monkeypatch, tmp_path):
    monkeypatch.delenv("FEATSIEVE_MAX_MEMORY", raising=False)
    monkeypatch.setattr(guard, "free_memory", lambda: 0)
    (tmp_path / "toy.csv").write_text("a,b\n1,2\n3,4\n")
    assert read_table(tmp_path / "toy.csv", columns=["b"]).X.tolist() == [[2], [4]]


def test_free_memory_is_that_of_the_machine(monkeypatch):
    monkeypatch.delenv("FEATSIEVE_MAX_MEMORY", raising=False)
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < memory_limit() <= total
    with pytest.raises(TooLargeError, match="are free"):
        check_memory(100 * total)


def test_files_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    # the tests may run as somebody who may read everything
    monkeypatch.setattr(guard.os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"table\.csv may not be read by you"):
        check_file(path)


def test_names_that_no_file_can_have(tmp_path):
    with pytest.raises(OSError, match="cannot be opened: File name too long"):
        check_file(tmp_path / ("a" * 300))
    with pytest.raises(OSError, match=r"cannot be opened: .*null"):
        check_file(tmp_path / "a\0b")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (TableError("it is old."), TableError, "a.csv cannot be read as .csv: it is old."),
        (ColumnError("no b?"), ColumnError, "a.csv: no b?"),
        (KeyError("x"), ValueError, "damaged, cut short or of a kind that is not read ('x')"),
        (MemoryError(), TooLargeError, "there is not enough memory"),
        (RecursionError(), ValueError, "(RecursionError)"),
        (UnicodeDecodeError("utf-8", b"a", 0, 1, "no"), ValueError, "damaged"),
        (PermissionError(13, "Permission denied"), PermissionError, "Permission denied."),
        (ImportError("needs h5py"), ImportError, "needs h5py"),
        (TableError("\x1b[31m" + "x" * 9999), TableError, "?[31mxxx"),
    ],
)
def test_every_error_becomes_a_sentence(error, kind, message):
    with pytest.raises(kind) as told, reasons("a.csv", kind=".csv"):
        raise error
    assert type(told.value) is kind
    assert message in str(told.value)
    assert len(str(told.value)) < 2100


def test_what_to_do_about_a_file_that_is_too_large():
    trust = r"if you trust the file, set the environment variable FEATSIEVE_MAX_MEMORY to more"
    for smaller, ways in (("", trust), ("cut it", f"cut it, or, {trust}")):
        with (
            pytest.raises(TooLargeError, match=rf"a cannot be read: big: {ways}, such as 64G\.$"),
            reasons("a", smaller=smaller),
        ):
            raise TooLargeError("big")
    with (
        pytest.raises(TooLargeError, match=r"not enough memory: cut it\.$"),
        reasons("a", smaller="cut it"),
    ):
        raise MemoryError


def test_the_first_line_of_an_error():
    assert first_line(ValueError("\n  one:\ntwo")) == "one"
    assert first_line(ValueError()) == "ValueError"
    assert first_line(ValueError("x" * 999)) == "x" * 200 + "..."


def test_small_texts(tmp_path, monkeypatch):
    path = tmp_path / "plan.toml"
    path.write_text("größe")
    assert read_small(path, what="plan") == "größe"
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"plan\.toml is no plan: it is not text in UTF-8"):
        read_small(path, what="plan")
    monkeypatch.setattr(guard, "LARGEST_TEXT", 3)
    path.write_text("1234")
    with pytest.raises(ValueError, match=r"plan\.toml is no plan: it has 4 bytes, and at most 3"):
        read_small(path, what="plan")
    with pytest.raises(FileNotFoundError, match=r"gone\.toml: there is no such file"):
        read_small(tmp_path / "gone.toml", what="plan")


def test_a_wrong_limit_is_not_the_fault_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "fine.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "lots")
    with pytest.raises(ValueError, match=r"^FEATSIEVE_MAX_MEMORY must be a size such as 8G"):
        read_table(path)
