"""Hidden names: nobody else's, and what is left under them is removed if its maker is dead."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from featsieve.io.processes import Process, this_machine, this_process
from featsieve.io.temporary import clean_up, is_left, maker_of, temporary_name

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of Unix")

DEAD = "import sys; from pathlib import Path; from featsieve.io.temporary import temporary_name; "


def left_by_the_dead(path):
    """Return the hidden name under which a process wrote that is no more."""
    ask = "print(temporary_name(Path(sys.argv[1])))"
    ended = subprocess.run([sys.executable, "-c", DEAD + ask, path], capture_output=True, text=True)
    return Path(ended.stdout.strip())


def elsewhere(path):
    """Return a hidden name of another machine, where the number is that of a dead process here."""
    process = maker_of(left_by_the_dead(path))._replace(machine="00000000")
    return path.with_name(f".{path.name}.{process}-01234567.tmp")


def test_every_name_is_another_one(tmp_path):
    names = {temporary_name(tmp_path / "a.csv") for _ in range(100)}
    assert len(names) == 100
    assert {maker_of(name) for name in names} == {this_process()}
    kept = {temporary_name(tmp_path / "a.csv", token="01234567") for _ in range(2)}
    assert len(kept) == 1


@pytest.mark.parametrize("name", ["a", "ü" * 127, "\U0001f600" * 63, "x" * 255])
def test_the_longest_names_can_be_hidden(tmp_path, name):
    temporary = temporary_name(tmp_path / name)
    temporary.touch()  # file systems take 255 bytes
    assert maker_of(temporary) == this_process()
    clean_up(tmp_path / name)
    assert temporary.exists()


def test_only_what_is_known_to_be_dead_is_removed(tmp_path):
    page = tmp_path / "page.html"
    dead = left_by_the_dead(page)
    dead.mkdir()
    (dead / "half").touch()
    again = dead.with_name(dead.name.replace(dead.name[-12:-4], "76543210"))
    again.touch()
    link = dead.with_name(dead.name.replace(dead.name[-12:-4], "00000000"))
    link.symlink_to(tmp_path)
    kept = [
        temporary_name(page),  # ours
        elsewhere(page),  # nobody here can tell
        left_by_the_dead(tmp_path / "other.html"),
        left_by_the_dead(tmp_path / "page.html.html"),
        left_by_the_dead(tmp_path / "html"),
        tmp_path / f".page.html.{os.getpid()}.tmp",
        tmp_path / ".page.html.mine.tmp",
        tmp_path / "page.html",
    ]
    for path in kept:
        path.touch()
    assert [is_left(path) for path in (dead, again, link)] == [True] * 3
    clean_up(page)
    assert sorted(tmp_path.iterdir()) == sorted(kept)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="asks /proc")
def test_a_number_that_was_used_again_is_another_process(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        before = Process(this_machine(), child.pid, 1)
        assert is_left(tmp_path / f".a.{before}-01234567.tmp")
        assert not is_left(tmp_path / f".a.{before._replace(start=0)}-01234567.tmp")
    finally:
        child.communicate(b"\n")
