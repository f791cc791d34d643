"""Files that are replaced together: killed at any moment, all old or all new."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from featsieve import load_model, save_model
from featsieve.datasets import open_table, read_table
from featsieve.io import replacing
from featsieve.io.locks import LOCK, locked
from featsieve.io.replacing import READY, RESULTS, STALE, finish, replace_together, settle, settled
from featsieve.selectors.max_variance import MaxVariance
from featsieve.workflow.staging import staged
from tests.users import needs_two_users, plain_environment

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks of Unix")

ROOT = Path(__file__).parents[1]
A, B, C, GONE = "features.csv", "report.html", "samples.csv", "selected.csv"
OLD = {A: "old", B: "old", GONE: "old", "mine": "mine"}
NEW = {A: "new", B: "new", C: "new", "mine": "mine"}
# Every child of one process: no import but the first has to be waited for.
KILLED = """
import os, sys
from pathlib import Path
sys.path.append("benchmarks")
import kill_hook
from featsieve.io.files import write_text
from featsieve.workflow.staging import staged

home, with_old = Path(sys.argv[1]), sys.argv[2] == "old"
A, B, C, GONE = sys.argv[3:]
at = 0
while True:
    at += 1
    trial = home / str(at)
    out = trial / "out"
    if with_old:
        out.mkdir(parents=True)
        for name in (A, B, GONE, "mine"):
            (out / name).write_text("mine" if name == "mine" else "old")
    child = os.fork()
    if child == 0:
        settings = {"folder": str(trial), "at": at, "who": "main", "whom": "self"}
        kill_hook.install({**settings, "log": str(home / f"{at}.log")})
        with staged(out, names=[A, B, C], overwrite=True, stale=lambda: [GONE]) as new:
            for name in (A, B, C):
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
    command = [sys.executable, "-c", KILLED, str(tmp_path), kind, A, B, C, GONE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    last = int(done.stdout)
    assert last > 10
    new = NEW if kind == "old" else {A: "new", B: "new", C: "new"}
    seen = []
    for at in range(1, last):
        out = tmp_path / str(at) / "out"
        settle(out)
        seen.append(content(out) if out.exists() else None)
        assert seen[-1] in ((OLD if kind == "old" else None), new)
        with staged(out, names=[A, B, C], overwrite=True, stale=lambda: [GONE]) as folder:
            for name in (A, B, C):
                (folder / name).write_text("new")
        assert content(out) == new
        assert list(out.parent.rglob(".*")) == []
    if kind == "old":
        assert OLD in seen
        assert new in seen  # among others, some files were moved by the one that was killed
    else:
        assert None in seen


def unfinished(folder, names=(A, B), stale=()):
    """Leave a folder as somebody leaves it who is killed after the first rename."""
    (folder / READY).mkdir(parents=True)
    for name in names:
        (folder / READY / name).write_text("new")
    (folder / READY / STALE).write_text(json.dumps(list(stale)))


def test_whoever_comes_next_finishes(tmp_path):
    out = tmp_path / "out"
    unfinished(out, stale=[GONE, "model.skops"])  # one of them is not there
    (out / GONE).write_text("old")
    settle(out / A)  # a file of the result will do
    assert content(out) == {A: "new", B: "new"}
    assert READY not in os.listdir(out)
    settle(out)
    settle(tmp_path / "nowhere" / A)
    (out / READY).mkdir()  # killed before the last step
    settle(out)
    assert READY not in os.listdir(out)


def test_all_results_are_known():
    from featsieve.demo import FILES
    from featsieve.io.table import READERS as ENDINGS
    from featsieve.workflow.outputs import file_names

    names = {name for ending in ENDINGS for name in file_names(ending=ending).values()}
    assert names | set(FILES) == RESULTS


def test_only_results_are_replaced_together(tmp_path):
    (tmp_path / ".new").mkdir()
    (tmp_path / ".new" / "thesis.docx").touch()
    for stale in ([], ["thesis.docx"]):
        with pytest.raises(ValueError, match=r"thesis\.docx is no result: add it to"):
            replace_together(tmp_path / ".new", tmp_path, stale=stale)
    assert os.listdir(tmp_path) == [".new"]


def plant(folder, kind):
    """Leave what an archive of a stranger may hold."""
    ready = folder / READY
    unfinished(folder, names=[A])
    if kind == "other names":
        (ready / "notes.txt").write_text("theirs")
    elif kind == "a list of other names":
        (ready / STALE).write_text('["thesis.docx"]')
    elif kind == "a list of paths":
        (ready / STALE).write_text('["../outside"]')
    elif kind == "a list of no names":
        (ready / STALE).write_text('[["thesis.docx"]]')
    elif kind == "no list":
        (ready / STALE).unlink()
    elif kind == "a damaged list":
        (ready / STALE).write_text("[")
    elif kind == "a nested list":
        (ready / STALE).write_text("[" * 100_000)
    elif kind == "links":
        (ready / B).symlink_to(folder / "thesis.docx")
    elif kind == "folders":
        (ready / B).mkdir()


PLANTED = (
    "other names",
    "a list of other names",
    "a list of paths",
    "a list of no names",
    "no list",
    "a damaged list",
    "a nested list",
    "links",
    "folders",
)
MINE = {"thesis.docx": "years of work", "notes.txt": "mine", A: "a,b\n1,2\n3,4\n5,6\n"}


@pytest.mark.parametrize("kind", PLANTED)
def test_what_strangers_have_planted_changes_no_file(tmp_path, kind):
    folder = tmp_path / "folder"
    plant(folder, kind)
    for name, text in MINE.items():
        (folder / name).write_text(text)
    (tmp_path / "outside").write_text("mine")
    with (
        pytest.raises(FileExistsError, match=r"was not left by featsieve: look at .* remove it"),
        staged(folder, names=[B], overwrite=True),
    ):
        pytest.fail("refused before")
    assert content(folder) == MINE
    assert (tmp_path / "outside").exists()
    assert (folder / READY / A).read_text() == "new"


@pytest.mark.parametrize("name", [A, "data.csv"])
@pytest.mark.parametrize("kind", PLANTED)
def test_readers_change_nothing(tmp_path, kind, name):
    plant(tmp_path, kind)
    for other, text in {**MINE, "data.csv": MINE[A]}.items():
        (tmp_path / other).write_text(text)
    (tmp_path / READY / A).write_text("a,b,c\n1,2,3\n3,4,5\n5,6,7\n")
    before = {path: path.lstat() for path in tmp_path.rglob("*")}
    width = read_table(tmp_path / name).X.shape[1]
    lists = "a list of other names", "a list of paths", "a list of no names"
    lists += "a damaged list", "a nested list"  # a reader removes nothing, and need not look
    assert width == (3 if name == A and kind in lists else 2)
    after = {path: path.lstat() for path in tmp_path.rglob("*")}
    assert {path: about.st_ino for path, about in before.items()} == {
        path: about.st_ino for path, about in after.items()
    }


def test_a_link_in_the_place_of_an_old_file_stays(tmp_path):
    (tmp_path / "far").write_text("mine")
    unfinished(tmp_path / "out", stale=[GONE])
    (tmp_path / "out" / GONE).symlink_to(tmp_path / "far")
    settle(tmp_path / "out")
    assert (tmp_path / "out" / GONE).is_symlink()


def test_a_reader_waits_for_somebody_who_moves_files_just_now(tmp_path):
    unfinished(tmp_path)
    (tmp_path / A).write_text("old")

    def late():
        with locked(tmp_path):
            begun.set()
            time.sleep(0.1)
            finish(tmp_path)

    begun = threading.Event()
    thread = threading.Thread(target=late)
    thread.start()
    begun.wait()
    assert settled(tmp_path / A) == tmp_path / A
    assert (tmp_path / A).read_text() == "new"
    thread.join()


def test_a_reader_does_not_wait_for_the_dead(tmp_path, monkeypatch):
    monkeypatch.setattr(replacing, "PATIENCE", 0.05)
    unfinished(tmp_path)
    (tmp_path / LOCK).touch()
    assert settled(tmp_path / A) == tmp_path / READY / A


def test_results_that_stand_ready_are_results(tmp_path):
    unfinished(tmp_path)
    with pytest.raises(FileExistsError, match="holds results already"), staged(tmp_path, names=[A]):
        pytest.fail("refused before")
    assert content(tmp_path) == {A: "new", B: "new"}


def test_what_cannot_be_finished_is_told(tmp_path):
    unfinished(tmp_path)
    (tmp_path / A).mkdir()
    with pytest.raises(OSError, match=rf"/{A} cannot be written \(Is a directory\)"):
        settle(tmp_path)
    (tmp_path / A).rmdir()
    settle(tmp_path)
    assert content(tmp_path) == {A: "new", B: "new"}


@pytest.fixture
def replaced(tmp_path):
    """Return a folder whose results somebody was killed while replacing: 2 columns, then 3."""
    import numpy as np
    import pandas as pd

    unfinished(tmp_path, names=())
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
    assert READY in os.listdir(replaced)  # where they stand: a reader changes nothing
    assert {name: read(replaced) for name, read in READERS.items()} == dict.fromkeys(READERS, 3)
    settle(replaced)
    assert {name: read(replaced) for name, read in READERS.items()} == dict.fromkeys(READERS, 3)


READ = """
import fcntl, os, sys
from pathlib import Path
from featsieve.io.replacing import settled
if sys.argv[2] == "other":
    os.setgid(65534), os.setuid(65534)
print(*(settled(Path(sys.argv[1]) / name).read_text() for name in sys.argv[3:]))
"""


@needs_two_users
def test_whoever_may_only_read_reads_what_stands_ready(public_path):
    unfinished(public_path, names=[A])
    for name, text in ((A, "old"), (B, "moved")):
        (public_path / name).write_text(text)
    command = [sys.executable, "-c", READ, public_path]
    for user in ("other", "same"):
        done = subprocess.run(
            [*command, user, A, B],
            env=plain_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.returncode) == ("new moved\n", 0), done.stderr
        assert READY in os.listdir(public_path)


def test_a_link_is_not_followed(tmp_path):
    """Whoever could place one would have the user's files moved."""
    home, shared = tmp_path / "home", tmp_path / "shared"
    home.mkdir()
    shared.mkdir()
    (home / "precious").touch()
    (shared / READY).symlink_to(home)
    settle(shared)
    assert settled(shared / A) == shared / A
    assert os.listdir(home) == ["precious"]


@needs_two_users
def test_in_a_folder_for_all_only_ones_own_results_are_finished(tmp_path):
    tmp_path.chmod(0o1777)  # as /tmp
    unfinished(tmp_path, names=[A])
    (tmp_path / A).write_text("mine")
    os.chown(tmp_path / READY, 65534, 65534)
    settle(tmp_path)
    assert content(tmp_path) == {A: "mine"}
    assert settled(tmp_path / A) == tmp_path / A
    os.chown(tmp_path / READY, 0, 0)
    settle(tmp_path)
    assert content(tmp_path) == {A: "new"}


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="asks /proc")
def test_everything_is_on_the_disk_before_it_is_relied_on(tmp_path, monkeypatch):
    """No crash of the machine can be tested: the order of what is forced to the disk can."""
    new, log = tmp_path / ".new", []
    new.mkdir()
    for name in (A, B):
        (new / name).write_text("new")
    (tmp_path / GONE).touch()
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
    replace_together(new, tmp_path, stale=[GONE])
    ready = log.index("rename .new")
    assert {f"fsync {name}" for name in (STALE, A, B)} < set(log[:ready])
    assert log[ready - 1 : ready + 2] == ["fsync .new", "rename .new", f"fsync {tmp_path.name}"]
    gone = log.index(f"unlink {GONE}")
    assert log[gone:] == [
        f"unlink {GONE}",
        f"fsync {tmp_path.name}",
        f"unlink {STALE}",
        f"fsync {tmp_path.name}",
    ]


def test_files_keep_their_permissions(tmp_path):
    (tmp_path / A).touch(mode=0o600)
    (tmp_path / ".new").mkdir()
    for name in (A, B):
        (tmp_path / ".new" / name).write_text("new")
    usual = (tmp_path / ".new" / B).stat().st_mode & 0o777
    replace_together(tmp_path / ".new", tmp_path)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        A: 0o600,
        B: usual,
    }
