"""Files: whole or not at all."""

import os
import stat

import pytest

from featsieve.files import whole_file, write_text


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
