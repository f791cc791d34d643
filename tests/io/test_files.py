"""Files: whole or not at all."""

import errno
import os
import re
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from featsieve.io.files import (
    check_free,
    folder_to_disk,
    told_of,
    tree_to_disk,
    whole_file,
    write_text,
)
from featsieve.io.temporary import temporary_name
from tests.io.test_temporary import elsewhere, left_by_the_dead
from tests.users import needs_two_users, plain_environment


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
    page = tmp_path / "page.html"
    left_by_the_dead(page).write_text("half")
    others = [temporary_name(page), elsewhere(page), left_by_the_dead(tmp_path / "other.html")]
    for path in others:
        path.write_text("half")
    write_text(page, "new")
    assert sorted(tmp_path.iterdir()) == sorted([*others, page])


def test_two_threads_write_the_same_file(tmp_path):
    """Each under a name of its own: the last one wins, and nothing is mixed or lost."""
    path = tmp_path / "page.html"

    def write(letter, other):
        with whole_file(path) as unfinished, unfinished.open("w") as file:
            file.write(letter)
            both.wait()
            file.write(letter)
        return path.read_text()

    both = threading.Barrier(2, timeout=30.0)
    with ThreadPoolExecutor(2) as pool:
        seen = [*pool.map(write, "ab", "ba")]
    assert set(seen) <= {"aa", "bb"}
    assert path.read_text() in ("aa", "bb")
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
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


@needs_two_users
def test_a_file_that_is_replaced_stays_its_owners(tmp_path):
    path = tmp_path / "theirs.csv"
    path.touch(mode=0o600)
    os.chown(path, 65534, 65534)
    write_text(path, "new")
    about = path.stat()
    assert (about.st_uid, about.st_gid, stat.S_IMODE(about.st_mode)) == (65534, 65534, 0o600)


NOT_IN_THE_GROUP = """
import os, sys
from pathlib import Path
from featsieve.io.files import write_text
os.setgroups([])
os.setgid(65533), os.setuid(65533)
for name in ("theirs", "ours"):
    write_text(Path(sys.argv[1]) / name, "new")
"""


@needs_two_users
def test_what_a_group_might_do_is_not_for_another_one(public_path):
    shared = public_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    for name, group in (("theirs", 65534), ("ours", 65533)):
        (shared / name).touch()
        os.chown(shared / name, 65534, group)
        (shared / name).chmod(0o664)
    command = [sys.executable, "-c", NOT_IN_THE_GROUP, shared]
    subprocess.run(command, env=plain_environment(), check=True)
    abouts = [(shared / name).stat() for name in ("theirs", "ours")]
    assert [about.st_uid for about in abouts] == [65533, 65533]
    assert [stat.S_IMODE(about.st_mode) for about in abouts] == [0o604, 0o664]


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


def test_what_is_there_is_replaced_on_request_only(tmp_path, capfd):
    page = tmp_path / "page.html"
    check_free(page)
    page.write_text("precious")
    with pytest.raises(FileExistsError, match=r"page\.html is there already: add --force"):
        check_free(page)
    check_free(page, overwrite=True)
    for stream in ("/dev/null", "/dev/stdout"):  # the latter is a file here
        check_free(Path(stream))


def refuse(number):
    def call(*arguments, **options):
        raise OSError(number, os.strerror(number), arguments[0])

    return call


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
def test_a_disk_that_knows_no_permissions_will_do(tmp_path, monkeypatch):
    write_text(tmp_path / "page.html", "old")
    monkeypatch.setattr(os, "chmod", refuse(errno.ENOTSUP))
    monkeypatch.setattr(os, "chown", refuse(errno.ENOTSUP))
    write_text(tmp_path / "page.html", "new")
    assert (tmp_path / "page.html").read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="folders of Unix")
def test_a_disk_that_forces_no_folders_will_do_and_files_are_forced(tmp_path, monkeypatch):
    fsync = os.fsync

    def fail_for(is_kind):
        def call(handle):
            if is_kind(os.fstat(handle).st_mode):
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            return fsync(handle)

        monkeypatch.setattr(os, "fsync", call)

    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").touch()
    fail_for(stat.S_ISDIR)
    folder_to_disk(tmp_path)
    tree_to_disk(tmp_path)
    fail_for(stat.S_ISREG)
    with pytest.raises(OSError, match="Invalid argument"):
        tree_to_disk(tmp_path)
    with pytest.raises(OSError, match=r"page\.html cannot be written \(Invalid argument\)"):
        write_text(tmp_path / "page.html", "new")
