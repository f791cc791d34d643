"""Streams: added to, whatever they lead to, and never replaced."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from featsieve.io.files import check_free, write_text
from featsieve.io.streams import is_stream

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="streams of Unix")

WRITE = """
import sys
from pathlib import Path
from featsieve.io.files import check_free, whole_file, write_text
path = Path(sys.argv[1])
print("said before")
check_free(path)
write_text(path, "text\\n")
with whole_file(path) as unfinished:
    unfinished.write_bytes(b"bytes\\n")
print("said after")
"""
SAID = "said before\ntext\nbytes\nsaid after\n"
NAMES = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link.csv"]


@pytest.mark.parametrize("mode", ["a", "w"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_the_shell_writes_to_is_added_to(tmp_path, name, mode):
    """``featsieve ... -o /dev/stdout >> precious.csv``."""
    if not os.path.lexists(os.path.dirname(name) or "/"):
        pytest.skip(f"no {name}")
    if name == "link.csv":
        (tmp_path / name).symlink_to("/dev/stdout")
        name = tmp_path / name
    precious = tmp_path / "precious.csv"
    precious.write_text("years of work\n")
    number = precious.stat().st_ino
    with precious.open(mode) as file:
        done = subprocess.run(
            [sys.executable, "-c", WRITE, name], stdout=file, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 0, done.stderr
    assert precious.read_text() == ("years of work\n" if mode == "a" else "") + SAID
    assert precious.stat().st_ino == number
    assert {path.name for path in tmp_path.iterdir()} <= {"precious.csv", "link.csv"}


def test_a_pipe_is_written_to():
    done = subprocess.run(
        [sys.executable, "-c", WRITE, "/dev/stdout"], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == (SAID, 0), done.stderr


def test_without_any_output():
    code = "from featsieve.io.files import write_text; write_text('/dev/null', 'abc')"
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-c", code]
    done = subprocess.run(shell, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def test_devices():
    write_text("/dev/null", "abc")
    assert not Path("/dev/null").is_file()
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match=r"/dev/full cannot be written \(No space left on device"):
            write_text("/dev/full", "abc")


def test_what_is_no_stream(tmp_path):
    (tmp_path / "dev").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "link").symlink_to("far/file")
    for name in ("dev/stdout", "loop", "link", "nowhere/file"):
        assert not is_stream(tmp_path / name)
    for name in ("/dev/stdout", "/dev/fd/2", "/dev/../dev/null"):
        assert is_stream(name)
        check_free(Path(name))
    assert not is_stream("/dev/shm/table.csv")
    assert not is_stream("/device/table.csv")
