"""Benchmarks on a full disk, in a folder that vanishes, and beside others in the same folder."""

import os
import shutil
import subprocess
import sys

import pytest

from featsieve.bench.progress import Progress
from featsieve.bench.run import run_plan
from featsieve.bench.store import Store
from tests.bench.test_run import parts, same_results, wait_for, write_plan
from tests.bench.test_store import CELL, row_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of Unix")

PLAN = """
title = "Small"
datasets = ["iris"]
experiments = ["default", "grid", "label-free"]
counts = [2]
kmeans_seeds = 3

[[methods]]
name = "MaxVariance"
selector = "MaxVariance"

[[methods]]
name = "NDFS"
selector = "NDFS"
grid = { alpha = [0.01, 1.0, 100.0], beta = [0.01, 1.0, 100.0] }
"""


# Another process that runs plans: one for all tests, because it takes long to start.
OTHER = """
import sys
from featsieve.bench.run import run_plan
for line in sys.stdin:
    plan, out = line.rstrip("\\n").split("\\t")
    print(run_plan(plan, out).flawless, flush=True)
"""


@pytest.fixture(scope="module")
def other_process():
    """Return a process that runs the plans whose files and folders it is told, line by line."""
    command = [sys.executable, "-c", OTHER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as process:
        yield process
        process.kill()  # its workers follow


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a plan, and the folder of its run without any disturbance."""
    folder = tmp_path_factory.mktemp("whole")
    plan = write_plan(folder, PLAN)
    run_plan(plan, folder / "out")
    return plan, folder / "out"


# In a mount namespace of its own: a disk that is too small, whose content is copied at the end.
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=$1 none "$2" || exit 99
shift
folder=$1 copy=$2
shift 2
"$@"
code=$?
cp -rp "$folder/." "$copy"
exit $code
"""


def on_a_small_disk(size, folder, copy, *command):
    """Run a command while a folder is a disk of some size, and return what it said."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    folder.mkdir()
    copy.mkdir()
    shell = ["unshare", "-m", "sh", "-c", ON_A_SMALL_DISK, "sh", size, folder, copy, *command]
    done = subprocess.run([*map(str, shell)], capture_output=True, text=True, check=False)
    if done.returncode == 99 or "unshare failed" in done.stderr:
        pytest.skip("no disk can be mounted here")
    return done


def test_a_full_disk_is_told_and_the_rest_is_run_when_there_is_room(whole, tmp_path):
    plan, undisturbed = whole
    command = [sys.executable, "-m", "featsieve", "bench", "run", plan]
    disk, copy = tmp_path / "disk", tmp_path / "copy"
    done = on_a_small_disk("160k", disk, copy, *command, "--out", disk / "out")
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"featsieve: {disk}/out/cells/")
    assert last.endswith(
        ".parquet cannot be written (No space left on device): make room, or name another place."
    )
    assert "Traceback" not in done.stderr
    before = {path.name: path.read_bytes() for path in parts(copy / "out")}
    assert 0 < len(before) < len(parts(undisturbed))
    assert list(copy.rglob(".*")) == []
    again = run_plan(plan, copy / "out")
    assert again.computed == len(parts(undisturbed)) - len(before)
    assert {name: (copy / "out" / "cells" / name).read_bytes() for name in before} == before
    same_results(copy / "out", undisturbed)


def test_a_part_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    import resource

    store = Store(tmp_path)
    store.write(CELL, [row_of()])
    (path,) = parts(tmp_path)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match=rf"{path.name} cannot be written \(File too large\)"):
            store.write(CELL, [row_of()])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


class Vandal(Progress):
    """Remove the results after some cells."""

    def __init__(self, folder, cells):
        super().__init__()
        self.folder, self.cells = folder, cells

    def advance(self, cell, **about):
        super().advance(cell, **about)
        if self.done == self.cells:
            shutil.rmtree(self.folder, ignore_errors=True)


@pytest.mark.parametrize("cells", [2, 13])
def test_results_that_vanish_are_told_and_computed_again(whole, tmp_path, cells):
    plan, undisturbed = whole
    out = tmp_path / "out"
    assert len(parts(undisturbed)) == 14
    with pytest.raises(
        OSError, match=r"gone from .*: run the same command again|cannot be written"
    ):
        run_plan(plan, out, progress=Vandal(out, cells))
    run_plan(plan, out)
    same_results(out, undisturbed)
    assert list(out.rglob(".*")) == []


class Companion(Progress):
    """Run along with another process, and read the results all the while."""

    def __init__(self, out, table):
        super().__init__()
        self.out, self.table, self.reads = out, table, 0

    def advance(self, cell, **about):
        super().advance(cell, **about)
        self.reads += Store(self.out).export_csv(self.table) > 0
        assert Store(self.out).unreadable() == {}


@pytest.mark.parametrize("other", [False, True], ids=["same-plan", "other-plan"])
def test_two_runs_in_one_folder(other_process, whole, tmp_path, other):
    plan, undisturbed = whole
    out = tmp_path / "out"
    mine = plan
    if other:
        mine = write_plan(tmp_path, PLAN.replace("kmeans_seeds = 3", "kmeans_seeds = 2"), "other")
    print(plan, out, sep="\t", file=other_process.stdin, flush=True)
    wait_for(lambda: Store(out).begun() or parts(out))
    progress = Companion(out, tmp_path / "table.csv")
    summary = run_plan(mine, out, progress=progress)
    assert other_process.stdout.readline() == "True\n"
    assert summary.flawless
    assert progress.reads > 0
    assert list(out.rglob(".*")) == []
    if other:
        run_plan(mine, tmp_path / "alone")
        assert run_plan(mine, out).computed == 0
        same_results(out, tmp_path / "alone")
    assert run_plan(plan, out).computed == 0
    same_results(out, undisturbed)


def test_workers_that_cannot_be_started_are_told(whole, tmp_path, monkeypatch):
    from joblib.externals import loky

    from featsieve.bench import pool

    def no_room(**options):  # as where /dev/shm is full, which no test may fill
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pool, "_kept", {})
    monkeypatch.setattr(loky, "ProcessPoolExecutor", no_room)
    with pytest.raises(OSError, match=r"Worker processes cannot be started \(No space left"):
        run_plan(whole[0], tmp_path / "out")
