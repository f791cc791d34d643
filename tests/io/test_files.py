"""Files: whole or not at all."""

import errno
import os
import re
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from featsieve.io.files import check_free, explain_write_errors, whole_file, write_text

needs_posix = pytest.mark.skipif(os.name != "posix", reason="files of Unix")


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "new" / "page.html"
    write_text(path, "first\r\n")
    write_text(str(path), "größer\n")
    assert path.read_bytes() == "größer\n".encode()
    with whole_file(path) as unfinished:
        assert unfinished.parent == path.parent
        assert unfinished.name.startswith(".")
        unfinished.write_bytes(b"abc")
        assert path.read_bytes() == "größer\n".encode()
    assert path.read_bytes() == b"abc"
    assert os.listdir(path.parent) == ["page.html"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_interruption_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "table.bin"
    path.write_bytes(b"old")

    def write():
        with whole_file(path) as unfinished:
            unfinished.write_bytes(b"half of the n")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["table.bin"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "far" / "page.txt")
    for text in ("first", "second"):
        write_text(tmp_path / "link.txt", text)
        assert (tmp_path / "link.txt").is_symlink()
        assert (tmp_path / "far" / "page.txt").read_text() == text
    assert sorted(os.listdir(tmp_path / "far")) == ["page.txt"]


def test_two_threads_write_the_same_file(tmp_path):
    """Each under a name of its own: the last one wins, and nothing is mixed or lost."""
    path = tmp_path / "page.html"
    both = threading.Barrier(2, timeout=30.0)

    def write(letter):
        with whole_file(path) as unfinished, unfinished.open("w") as file:
            file.write(letter)
            both.wait()
            file.write(letter)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "ab"))
    assert path.read_text() in ("aa", "bb")
    assert os.listdir(tmp_path) == ["page.html"]


@needs_posix
@pytest.mark.parametrize("mode", [0o600, 0o444])
def test_a_file_that_is_replaced_hands_on_its_permissions(tmp_path, mode):
    path = tmp_path / "private.csv"
    path.write_text("old")
    path.chmod(mode)
    with whole_file(path) as unfinished:
        unfinished.write_text("new")
        # not even for a moment can others read it
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "a.csv cannot be written (No space left on device): make room, or name"),
        (errno.EACCES, "a.csv cannot be written (Permission denied): name another place."),
    ],
)
def test_errors_of_the_system_name_the_file(number, sentence):
    for filename in (None, "a.csv", ".a.csv.7.tmp", b".a.csv.7.tmp"):
        with (
            pytest.raises(OSError, match=re.escape(sentence)) as caught,
            explain_write_errors(Path("a.csv"), Path(".a.csv.7.tmp")),
        ):
            raise OSError(number, "words of a library", filename)
        assert caught.value.errno == number
    for other in (OSError(number, "not found", "source.csv"), OSError("Something else.")):
        with pytest.raises(OSError) as caught, explain_write_errors(Path("a.csv")):  # noqa: PT011
            raise other
        assert caught.value is other


def test_what_is_there_is_replaced_on_request_only(tmp_path):
    page = tmp_path / "page.html"
    check_free(page)
    page.write_text("precious")
    with pytest.raises(FileExistsError, match=r"page\.html is there already: add --force"):
        check_free(page)
    check_free(page, overwrite=True)


@needs_posix
def test_pipes_and_devices_are_refused_and_stay(tmp_path):
    """As root, a renamed file would take the place of /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/null", "/dev/stdout"):
        with pytest.raises(ValueError, match="is a stream, a pipe or a device: name a file"):
            write_text(path, "abc")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]
