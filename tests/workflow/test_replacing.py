"""Files that are replaced together: killed at any moment, all old or all new."""

import fcntl
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from featsieve.workflow import replacing
from featsieve.workflow.replacing import READY, STALE, locked, replace_together, settle
from featsieve.workflow.staging import staged

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks of Unix")

ROOT = Path(__file__).parents[2]
OLD = {"a": "old", "b": "old", "gone": "old", "mine": "mine"}
NEW = {"a": "new", "b": "new", "c": "new", "mine": "mine"}
# Every child of one process: no import but the first has to be waited for.
KILLED = """
import os, sys
from pathlib import Path
sys.path.append("benchmarks")
import kill_hook
from featsieve.files import write_text
from featsieve.workflow.staging import staged

home, with_old = Path(sys.argv[1]), sys.argv[2] == "old"
at = 0
while True:
    at += 1
    trial = home / str(at)
    out = trial / "out"
    if with_old:
        out.mkdir(parents=True)
        for name in ("a", "b", "gone", "mine"):
            (out / name).write_text("mine" if name == "mine" else "old")
    child = os.fork()
    if child == 0:
        settings = {"folder": str(trial), "at": at, "who": "main", "whom": "self"}
        kill_hook.install({**settings, "log": str(home / f"{at}.log")})
        with staged(out, names=["a", "b", "c"], overwrite=True, stale=lambda: ["gone"]) as new:
            for name in ("a", "b", "c"):
                write_text(new / name, "new")
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
print(at)
"""


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.name[0] != "."}


@pytest.mark.parametrize("kind", ["old", "nothing"])
def test_killed_before_any_file_operation_the_old_or_the_new_is_there(tmp_path, kind):
    command = [sys.executable, "-c", KILLED, str(tmp_path), kind]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    last = int(done.stdout)
    assert last > 10
    new = NEW if kind == "old" else {"a": "new", "b": "new", "c": "new"}
    seen = []
    for at in range(1, last):
        out = tmp_path / str(at) / "out"
        settle(out)
        seen.append(content(out) if out.exists() else None)
        assert seen[-1] in ((OLD if kind == "old" else None), new)
        with staged(out, names=["a", "b", "c"], overwrite=True, stale=lambda: ["gone"]) as folder:
            for name in ("a", "b", "c"):
                (folder / name).write_text("new")
        assert content(out) == new
        assert list(out.parent.rglob(".*")) == []
    if kind == "old":
        assert OLD in seen
        assert new in seen  # among others, some files were moved by the one that was killed
    else:
        assert None in seen


def unfinished(folder, names=("a", "b"), stale=()):
    """Leave a folder as somebody leaves it who is killed after the first rename."""
    (folder / READY).mkdir(parents=True)
    for name in names:
        (folder / READY / name).write_text("new")
    (folder / READY / STALE).write_text(json.dumps(list(stale)))


def test_whoever_comes_next_finishes(tmp_path):
    out = tmp_path / "out"
    unfinished(out, stale=["gone", "../outside", "not there"])
    (tmp_path / "outside").write_text("mine")
    (out / "gone").write_text("old")
    settle(out / "a")  # a file of the result will do
    assert content(out) == {"a": "new", "b": "new"}
    assert (tmp_path / "outside").exists()
    assert READY not in os.listdir(out)
    settle(out)
    settle(tmp_path / "nowhere" / "a")


def test_results_that_stand_ready_are_results(tmp_path):
    unfinished(tmp_path)
    with pytest.raises(FileExistsError, match="holds results already"), staged(tmp_path, names="a"):
        pytest.fail("refused before")
    assert content(tmp_path) == {"a": "new", "b": "new"}


def test_what_cannot_be_finished_is_told(tmp_path):
    unfinished(tmp_path)
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match=r"/a cannot be written \(Is a directory\)"):
        settle(tmp_path)
    (tmp_path / "a").rmdir()
    settle(tmp_path)
    assert content(tmp_path) == {"a": "new", "b": "new"}


def test_one_at_a_time(tmp_path, monkeypatch):
    order = []

    def other():
        with locked(tmp_path):
            order.append("other")

    with locked(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.1)
        order.append("this")
    thread.join()
    assert order == ["this", "other"]
    monkeypatch.setattr(replacing, "PATIENCE", 0.0)
    with (
        locked(tmp_path),
        pytest.raises(OSError, match=r"Another process holds .*: wait until it has ended"),
        locked(tmp_path),
    ):
        pytest.fail("it is held")


def test_the_lock_of_somebody_who_was_killed_is_free(tmp_path):
    code = f"""
        from featsieve.workflow.replacing import locked
        with locked({str(tmp_path)!r}):
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert done.returncode == -9
    with locked(tmp_path):
        pass


def test_a_disk_without_locks_will_do(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(95, "Operation not supported")  # as some network disks do

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path):
        (tmp_path / ".new").mkdir()
        (tmp_path / ".new" / "a").write_text("new")
        replace_together(tmp_path / ".new", tmp_path)
    assert content(tmp_path) == {"a": "new"}
