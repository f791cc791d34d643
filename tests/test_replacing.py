"""Files that are replaced together: killed at any moment, all old or all new."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from featsieve import load_model, save_model
from featsieve.datasets import open_table, read_table
from featsieve.replacing import READY, STALE, replace_together, settle, settled
from featsieve.selectors.max_variance import MaxVariance
from featsieve.workflow.staging import staged

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks of Unix")

ROOT = Path(__file__).parents[1]
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


@pytest.fixture
def replaced(tmp_path):
    """Return a folder whose results somebody was killed while replacing: 2 columns, then 3."""
    import numpy as np
    import pandas as pd

    (tmp_path / READY).mkdir()
    for folder, k in ((tmp_path, 2), (tmp_path / READY, 3)):
        table = pd.DataFrame(np.random.default_rng(0).normal(size=(9, k)), columns=[*"abc"[:k]])
        table.to_csv(folder / "selected.csv", index=False)
        table.to_parquet(folder / "selected.parquet")
        save_model(MaxVariance(n_features_to_select=1).fit(table), folder / "model.skops")
    return tmp_path


READERS = {
    "read_table": lambda folder: read_table(folder / "selected.csv").X.shape[1],
    "open_table": lambda folder: open_table(folder / "selected.parquet").shape[1],
    "load_model": lambda folder: load_model(folder / "model.skops").n_features_in_,
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_see_the_new_results_as_a_whole(replaced, reader):
    assert READERS[reader](replaced) == 3
    assert READY not in os.listdir(replaced)
    assert {name: read(replaced) for name, read in READERS.items()} == dict.fromkeys(READERS, 3)


READ = """
import fcntl, os, sys
from pathlib import Path
from featsieve.replacing import settled
if sys.argv[2] == "other":
    os.setgid(65534), os.setuid(65534)
print(settled(Path(sys.argv[1]) / "a").read_text(), settled(Path(sys.argv[1]) / "b").read_text())
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs two users")
def test_whoever_may_only_read_reads_what_stands_ready(tmp_path):
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    unfinished(tmp_path, names=["a"])
    for name, text in (("a", "old"), ("b", "moved")):
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-c", READ, tmp_path]
    for user in ("other", "same"):
        done = subprocess.run([*command, user], capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("new moved\n", 0), done.stderr
        assert (READY in os.listdir(tmp_path)) is (user == "other")


def test_a_link_is_not_followed(tmp_path):
    """Whoever could place one would have the user's files moved."""
    home, shared = tmp_path / "home", tmp_path / "shared"
    home.mkdir()
    shared.mkdir()
    (home / "precious").touch()
    (shared / READY).symlink_to(home)
    settle(shared)
    assert settled(shared / "a") == shared / "a"
    assert os.listdir(home) == ["precious"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs two users")
def test_in_a_folder_for_all_only_ones_own_results_are_finished(tmp_path):
    tmp_path.chmod(0o1777)  # as /tmp
    unfinished(tmp_path, names=["a"])
    (tmp_path / "a").write_text("mine")
    os.chown(tmp_path / READY, 65534, 65534)
    settle(tmp_path)
    assert content(tmp_path) == {"a": "mine"}
    os.chown(tmp_path / READY, 0, 0)
    settle(tmp_path)
    assert content(tmp_path) == {"a": "new"}


def test_everything_is_on_the_disk_before_it_is_relied_on(tmp_path, monkeypatch):
    """No crash of the machine can be tested: the order of what is forced to the disk can."""
    new, log = tmp_path / ".new", []
    new.mkdir()
    for name in ("a", "b"):
        (new / name).write_text("new")
    (tmp_path / "gone").touch()
    fsync, rename, unlink = os.fsync, Path.rename, Path.unlink

    def spy_fsync(handle):
        log.append(f"fsync {os.path.basename(os.readlink(f'/proc/self/fd/{handle}'))}")
        return fsync(handle)

    def spy_rename(self, target):
        log.append(f"rename {self.name}")
        return rename(self, target)

    def spy_unlink(self, **options):
        log.append(f"unlink {self.name}")
        return unlink(self, **options)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(Path, "rename", spy_rename)
    monkeypatch.setattr(Path, "unlink", spy_unlink)
    replace_together(new, tmp_path, stale=["gone"])
    ready = log.index("rename .new")
    assert {f"fsync {name}" for name in (STALE, "a", "b")} < set(log[:ready])
    assert log[ready - 1 : ready + 2] == ["fsync .new", "rename .new", f"fsync {tmp_path.name}"]
    gone = log.index("unlink gone")
    assert log[gone:] == [
        "unlink gone",
        f"fsync {tmp_path.name}",
        f"unlink {STALE}",
        f"fsync {tmp_path.name}",
    ]


def test_files_keep_their_permissions(tmp_path):
    (tmp_path / "a").touch(mode=0o600)
    (tmp_path / ".new").mkdir()
    for name in ("a", "b"):
        (tmp_path / ".new" / name).write_text("new")
    usual = (tmp_path / ".new" / "b").stat().st_mode & 0o777
    replace_together(tmp_path / ".new", tmp_path)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "a": 0o600,
        "b": usual,
    }
