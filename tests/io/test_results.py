"""Folders of results: whole or not at all, and nothing else is lost."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from featsieve.io.results import (
    check_results,
    recover,
    result_folder,
    results_locked,
)

A, B = "features.csv", "report.html"
NAMES = [A, B]


def write(out, text="new", *, names=NAMES, error=None, **options):
    """Write results, and fail before the end if there is an error."""
    with result_folder(out, names=NAMES, **options) as folder:
        for name in names:
            (folder / name).write_text(text)
        if error is not None:
            raise error


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def out(tmp_path):
    """Return a folder with old results."""
    write(tmp_path / "out", "old")
    return tmp_path / "out"


def test_a_new_folder_appears_at_the_end(tmp_path):
    out = tmp_path / "deep" / "out"
    with result_folder(out, names=NAMES) as folder:
        (folder / A).write_text("1")
        assert folder.parent == out.parent
        assert folder.name.startswith(".")
        assert not out.exists()
    assert content(out) == {A: "1"}
    assert os.listdir(out.parent) == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_what_was_there(tmp_path, out, error):
    for target in (out, tmp_path / "new"):
        with pytest.raises(error, match=r"^$"):
            write(target, error=error, overwrite=True)
    assert os.listdir(tmp_path) == ["out"]
    assert content(out) == {A: "old", B: "old"}


def test_results_are_replaced_as_a_whole_and_on_request_only(tmp_path, out):
    message = r"holds results already \(features\.csv, report\.html\): add --force"
    with pytest.raises(FileExistsError, match=message):
        write(out)
    assert content(out) == {A: "old", B: "old"}
    write(out, names=[A], overwrite=True)
    assert content(out) == {A: "new"}
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    "foreign", ["mine.txt", ".hidden", "mine.tmp", ".cache.tmp/", "folder/", B + "/"]
)
def test_a_folder_with_other_files_is_refused(tmp_path, foreign):
    out = tmp_path / "out"
    out.mkdir()
    if foreign.endswith("/"):
        (out / foreign).mkdir()
    else:
        (out / foreign).write_text("mine")
    before = sorted(os.listdir(out))
    for overwrite in (False, True):
        with pytest.raises(FileExistsError, match=rf"holds {foreign.strip('/')}, which is not a"):
            write(out, overwrite=overwrite)
    assert sorted(os.listdir(out)) == before
    assert os.listdir(tmp_path) == ["out"]


def test_places_that_cannot_be_used_are_named_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for place, message in (
        (tmp_path / "file", "is a file: name a folder"),
        (
            tmp_path / "file" / "out",
            r"Nothing can be written to .*cannot be written to .*Name another folder",
        ),
        (".", "cannot be replaced as a whole: name a folder in it"),
        ("/", "holds .*, which is not a result"),
    ):
        with pytest.raises(OSError, match=message), result_folder(place, names=NAMES):
            pytest.fail("refused before")
    assert sorted(os.listdir(tmp_path)) == ["file", "here"]
    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    (tmp_path / "disk").mkdir()
    with pytest.raises(FileExistsError, match="name a folder in it"):
        check_results(tmp_path / "disk", names=NAMES)


def test_files_that_somebody_adds_meanwhile_are_kept_and_so_are_the_results(tmp_path, out):
    def write_beside_somebody():
        with result_folder(out, names=NAMES, overwrite=True) as folder:
            (folder / A).write_text("new")
            (out / "notes.md").write_text("mine")

    message = r"holds notes\.md.*The new results are in .*out-[0-9a-f]{8}\."
    with pytest.raises(FileExistsError, match=message):
        write_beside_somebody()
    assert content(out) == {A: "old", B: "old", "notes.md": "mine"}
    (kept,) = tmp_path.glob("out-*")
    assert content(kept) == {A: "new"}
    assert len(os.listdir(tmp_path)) == 2


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
def test_a_folder_that_is_replaced_hands_on_its_permissions(out):
    out.chmod(0o750)
    with result_folder(out, names=NAMES, overwrite=True) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700  # private until the end
        (folder / A).write_text("new")
    assert stat.S_IMODE(out.stat().st_mode) == 0o750


@pytest.mark.parametrize("number", [1, 2, 3])
def test_ctrl_c_at_any_rename_leaves_one_whole_result(tmp_path, out, monkeypatch, number):
    rename, renamed = Path.rename, []

    def interrupted(self, target):
        renamed.append(target)
        done = rename(self, target)
        if len(renamed) == number:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(out, overwrite=True)
    assert set(content(out).values()) == {"old" if number == 1 else "new"}
    monkeypatch.undo()
    write(out, "next", overwrite=True)
    assert os.listdir(tmp_path) == ["out"]


def test_a_second_command_is_refused(tmp_path, out):
    with result_folder(out, names=NAMES, overwrite=True) as folder:
        with pytest.raises(TimeoutError, match=r"Another command is writing to .*out: wait until"):
            write(out, overwrite=True)
        with pytest.raises(TimeoutError), results_locked(out):
            pytest.fail("the page of a report would go into another result")
        (folder / A).write_text("new")
    assert content(out) == {A: "new"}


HOLD = """
import sys, time
from featsieve.io.results import results_locked
with results_locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes of Unix")
def test_a_killed_process_holds_nothing(tmp_path):
    command = [sys.executable, "-c", HOLD, tmp_path / "out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(TimeoutError), results_locked(tmp_path / "out"):
            pytest.fail("held by another process")
        other.send_signal(signal.SIGKILL)
    with results_locked(tmp_path / "out"):
        assert os.listdir(tmp_path) == [".out.lock"]
    assert os.listdir(tmp_path) == []


# Kills: what each moment leaves on the disk ------------------------------------------------------


def left_by_a_kill(out, moment):
    """Rename and remove as a command does up to some moment."""
    new, old = out.with_name(".out.new"), out.with_name(".out.old")
    new.mkdir()
    (new / A).write_text("new")
    if moment in ("between", "after"):
        out.rename(old)
    if moment == "after":
        new.rename(out)
        (old / A).unlink()
    out.with_name(".out.lock").touch()


@pytest.mark.parametrize(
    ("moment", "text"), [("before", "old"), ("between", "old"), ("after", "new")]
)
@pytest.mark.parametrize("inside", [False, True])
def test_after_a_kill_readers_find_one_whole_result(out, moment, text, inside):
    left_by_a_kill(out, moment)
    recover(out / A if inside else out)
    assert set(content(out).values()) == {text}
    assert len(content(out)) == (1 if moment == "after" else 2)


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_after_a_kill_writers_begin_from_one_whole_result(tmp_path, out, moment):
    left_by_a_kill(out, moment)
    with pytest.raises(FileExistsError, match="holds results already"):
        write(out)
    assert os.listdir(tmp_path) == ["out"]
    left_by_a_kill(out, moment)
    write(out, "next", overwrite=True)
    assert content(out) == {A: "next", B: "next"}
    assert os.listdir(tmp_path) == ["out"]


def test_half_of_an_old_result_is_never_brought_back(tmp_path, out):
    """Not even if somebody removes the new one after a kill."""
    left_by_a_kill(out, "after")
    write(out, overwrite=True)
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
    recover(out)
    assert os.listdir(tmp_path) == []


def test_there_is_nothing_to_recover(tmp_path, monkeypatch):
    for path in (tmp_path / "gone", tmp_path / "gone" / A, "nul\0l", tmp_path):
        recover(path)
    assert os.listdir(tmp_path) == []
    (tmp_path / ".out.old").mkdir()
    monkeypatch.setitem(sys.modules, "filelock", None)
    recover(tmp_path / "out")  # what opens it says that it is not there
    assert os.listdir(tmp_path) == [".out.old"]


# Kill before each file operation in turn, then look.
KILLED = """
import os, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
import kill_hook
from featsieve.io.results import recover, result_folder
home, out = Path(sys.argv[1]), Path(sys.argv[1], "trial", "out")
def write(text, names):
    with result_folder(out, names=["a", "b", "c"], overwrite=True) as folder:
        for name in names:
            (folder / name).write_text(text)
out.parent.mkdir()
write("old", "ab")
for at in range(1, 100):
    if (child := os.fork()) == 0:
        kill_hook.install({"folder": str(out.parent), "at": at, "who": "main",
                                "whom": "self", "log": str(home / f"{at}.log")})
        write("new", "abc")
        os._exit(0)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    recover(out)
    found = {path.name: path.read_text() for path in out.iterdir()}
    assert found in (dict.fromkeys("ab", "old"), dict.fromkeys("abc", "new")), found
    write("old", "ab")
    assert os.listdir(out.parent) == ["out"]
    if not killed:
        break
print(at)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes of Unix")
def test_a_kill_before_any_file_operation(tmp_path):
    scripts = Path(__file__).parents[2] / "benchmarks"
    command = [sys.executable, "-c", KILLED, tmp_path, scripts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10
