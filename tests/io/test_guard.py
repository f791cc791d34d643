"""What is asked before a file is read."""

import pytest

from featsieve.io import guard
from featsieve.io.guard import (
    ColumnError,
    TableError,
    TooLargeError,
    check_file,
    explain_errors,
    read_small,
)


def test_files_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    # the tests may run as somebody who may read everything
    monkeypatch.setattr(guard.os, "access", lambda *_: False)
    with pytest.raises(
        PermissionError, match=r"table\.csv cannot be read: you do not have the permission"
    ):
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
        (PermissionError(13, "Permission denied"), ValueError, "Permission denied"),
        (ImportError("needs h5py"), ImportError, "needs h5py"),
        (TableError("\x1b[31m" + "x" * 9999), TableError, "?[31mxxx"),
    ],
)
def test_every_error_becomes_a_sentence(error, kind, message):
    with pytest.raises(kind) as told, explain_errors("a.csv", kind=".csv"):
        raise error
    assert type(told.value) is kind
    assert message in str(told.value)
    assert len(str(told.value)) < 2100


def test_what_to_do_about_a_file_that_is_too_large():
    ways = r"read fewer columns .*, or, if you trust the file, .*FEATSIEVE_MAX_MEMORY to more"
    for error, reason in ((TooLargeError("big"), "big"), (MemoryError(), "there is not enough")):
        with (
            pytest.raises(TooLargeError, match=rf"a cannot be read: {reason}.*: {ways}"),
            explain_errors("a"),
        ):
            raise error


def test_small_texts(tmp_path, monkeypatch):
    path = tmp_path / "plan.toml"
    path.write_text("größe")
    assert read_small(path, what="plan") == "größe"
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"plan\.toml is not a plan: it is not text in UTF-8"):
        read_small(path, what="plan")
    monkeypatch.setattr(guard, "LARGEST_TEXT", 3)
    path.write_text("1234")
    with pytest.raises(
        ValueError, match=r"plan\.toml is not a plan: it has 4 bytes, and at most 3"
    ):
        read_small(path, what="plan")
    with pytest.raises(FileNotFoundError, match=r"gone\.toml: there is no such file"):
        read_small(tmp_path / "gone.toml", what="plan")
