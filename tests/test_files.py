"""Files: whole or not at all."""

import errno
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from featsieve.files import told_of, whole_file, write_text


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "new" / "page.html"
    write_text(path, "first\r\n")
    write_text(str(path), "größer\n")
    assert path.read_bytes() == "größer\n".encode()
    assert [entry.name for entry in path.parent.iterdir()] == ["page.html"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
def test_others_may_read_it_as_any_file_of_its_owner(tmp_path):
    (tmp_path / "plain").write_text("")
    write_text(tmp_path / "ours", "")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "ours")}
    assert len(modes) == 1


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "new \udc80")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_folder_in_the_way_stays(tmp_path):
    (tmp_path / "page.html").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_text(tmp_path / "page.html", "new")
    assert os.listdir(tmp_path) == ["page.html"]


def test_any_writer_can_write_under_the_hidden_name(tmp_path):
    path = tmp_path / "new" / "table.bin"
    with whole_file(path) as unfinished:
        assert unfinished.parent == path.parent
        assert unfinished.name.startswith(".")
        unfinished.write_bytes(b"abc")
        assert not path.exists()
    assert path.read_bytes() == b"abc"
    assert os.listdir(path.parent) == ["table.bin"]


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


def test_a_writer_that_writes_nothing(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "table.bin"):
        pass
    assert os.listdir(tmp_path) == []


def test_what_is_no_file_is_written_directly_and_stays(tmp_path):
    """As root, a renamed file would take the place of /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "abc")
        assert os.read(reader, 10) == b"abc"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "far" / "page.txt")
    for text in ("first", "second"):
        write_text(tmp_path / "link.txt", text)
        assert (tmp_path / "link.txt").is_symlink()
        assert (tmp_path / "far" / "page.txt").read_text() == text
    assert sorted(os.listdir(tmp_path / "far")) == ["page.txt"]


def test_what_the_killed_have_left_is_removed_and_what_the_living_write_is_not(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    (tmp_path / f".page.html.{int(ended.stdout)}.tmp").write_text("half")
    others = [f".page.html.{os.getppid()}.tmp", ".page.html.mine.tmp", ".other.html.1.tmp"]
    for name in others:
        (tmp_path / name).write_text("half")
    write_text(tmp_path / "page.html", "new")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "page.html"])


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
            told_of(Path("a.csv"), Path(".a.csv.7.tmp")),
        ):
            raise OSError(number, "words of a library", filename)
        assert caught.value.errno == number


def test_errors_about_other_things_stay_as_they_are():
    other = OSError(errno.ENOENT, "No such file or directory", "source.csv")
    sentence = OSError("Something else.")
    for error in (other, sentence):
        with pytest.raises(OSError) as caught, told_of(Path("a.csv")):  # noqa: PT011 (the same one)
            raise error
        assert caught.value is error
