"""Folders of results: whole or not at all, and other files stay."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from featsieve.io.locks import locked
from featsieve.workflow.staging import staged
from tests.io.test_temporary import elsewhere, left_by_the_dead

A, B, C = "features.csv", "report.html", "samples.csv"


def write_and_fail(out, error, **options):
    with staged(out, **options) as folder:
        (folder / A).write_text("new")
        raise error


def test_a_new_folder_appears_at_the_end(tmp_path):
    out = tmp_path / "deep" / "out"
    with staged(out) as folder:
        (folder / A).write_text("1")
        assert not out.exists()
    assert os.listdir(out) == [A]
    assert os.listdir(out.parent) == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_nothing(tmp_path, error):
    out = tmp_path / "deep" / "deeper" / "out"
    with pytest.raises(error):
        write_and_fail(out, error)
    assert os.listdir(tmp_path) == []


def test_an_error_leaves_what_was_there(tmp_path):
    (tmp_path / A).write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_and_fail(tmp_path, KeyboardInterrupt, overwrite=True)
    assert os.listdir(tmp_path) == [A]
    assert (tmp_path / A).read_text() == "old"


def test_parents_that_others_use_meanwhile_stay(tmp_path):

    def work():
        with staged(tmp_path / "deep" / "out"):
            (tmp_path / "deep" / "mine").write_text("")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert os.listdir(tmp_path / "deep") == ["mine"]


def test_results_are_replaced_on_request_only(tmp_path):
    (tmp_path / A).write_text("old")
    (tmp_path / "mine").write_text("mine")
    with (
        pytest.raises(
            FileExistsError, match=r"holds results already \(features\.csv\): add --force"
        ),
        staged(tmp_path, names=[A, B]),
    ):
        pytest.fail("refused before any work is done")
    with staged(tmp_path, names=[A, B], overwrite=True) as folder:
        (folder / A).write_text("new")
        (folder / B).write_text("new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        A: "new",
        B: "new",
        "mine": "mine",
    }


def test_a_folder_with_other_files_can_be_used(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with staged(tmp_path, names=[A]) as folder:
        (folder / A).write_text("new")
    assert sorted(os.listdir(tmp_path)) == [A, "mine"]


def test_places_that_cannot_be_used_are_told_before(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="is a file"), staged(tmp_path / "file"):
        pytest.fail("refused before")
    with (
        pytest.raises(OSError, match=r"Nothing can be written to .*: name another folder"),
        staged(tmp_path / "file" / "out"),
    ):
        pytest.fail("refused before")
    (tmp_path / "report.html").mkdir()
    with (
        pytest.raises(FileExistsError, match="is a folder"),
        staged(tmp_path, names=["report.html"], overwrite=True),
    ):
        pytest.fail("refused before")


def test_the_present_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with staged(".") as folder:
        (folder / A).write_text("1")
    with staged("new") as folder:
        (folder / B).write_text("1")
    assert sorted(os.listdir(tmp_path)) == [A, "new"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_files_that_belong_together_are_all_moved(tmp_path, monkeypatch, number):
    names = [A, B, C]
    for name in names:
        (tmp_path / name).write_text("old")
    moved = []
    replace = Path.replace

    def interrupted(self, target):
        moved.append(target)
        os.kill(os.getpid(), number)  # somebody presses Ctrl-C between two files
        return replace(self, target)

    before = signal.signal(number, signal.default_int_handler)

    def write():
        with staged(tmp_path, names=names, overwrite=True) as folder:
            for name in names:
                (folder / name).write_text("new")
            monkeypatch.setattr(Path, "replace", interrupted)

    try:
        with pytest.raises(KeyboardInterrupt, match=r"^the results in .* are complete$"):
            write()
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert len(moved) == 3
    assert [(tmp_path / name).read_text() for name in names] == ["new"] * 3
    assert sorted(os.listdir(tmp_path)) == names


def test_ctrl_c_in_the_last_moment_of_a_new_folder(tmp_path, monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    rename, out = Path.rename, tmp_path / "deep" / "out"

    def interrupted(self, target):
        os.kill(os.getpid(), signal.SIGINT)
        return rename(self, target)

    def write():
        with staged(out, names=[A]) as folder:
            (folder / A).write_text("new")
            monkeypatch.setattr(Path, "rename", interrupted)

    try:
        with pytest.raises(KeyboardInterrupt, match="are complete"):
            write()
    finally:
        signal.signal(signal.SIGINT, before)
    assert os.listdir(out) == [A]
    assert os.listdir(out.parent) == ["out"]


def test_ctrl_c_ends_the_wait_for_others(tmp_path):
    """The results that were to replace others are gone, the others stay."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    (tmp_path / A).write_text("old")

    def write():
        with staged(tmp_path, names=[A], overwrite=True) as folder:
            (folder / A).write_text("new")
            timer.start()

    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        begun = time.monotonic()
        with locked(tmp_path), pytest.raises(KeyboardInterrupt, match=r"^$"):
            write()
        assert time.monotonic() - begun < 10.0
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert os.listdir(tmp_path) == [A]
    assert (tmp_path / A).read_text() == "old"


def test_what_others_write_in_the_meantime_is_not_replaced(tmp_path):
    for there_before in (False, True):
        out = tmp_path / str(there_before)
        if there_before:
            out.mkdir()

        def late(out=out):
            with staged(out, names=[A]) as folder:
                (folder / A).write_text("late")
                out.mkdir(exist_ok=True)
                (out / A).write_text("theirs")

        with pytest.raises(
            FileExistsError, match=r"holds results already \(features\.csv\): add --force"
        ):
            late()
        assert [(path.name, path.read_text()) for path in out.iterdir()] == [(A, "theirs")]


def test_a_folder_of_the_same_moment_is_shared(tmp_path):
    out = tmp_path / "out"
    with staged(out, names=[A]) as folder:
        (folder / A).write_text("ours")
        out.mkdir()
        (out / "mine").write_text("theirs")
    assert sorted(os.listdir(out)) == [A, "mine"]
    assert os.listdir(tmp_path) == ["out"]


def test_files_that_vanish_are_told(tmp_path):
    out = tmp_path / "out"

    def vanish():
        with staged(out, names=[A, B]) as folder:
            (folder / A).write_text("new")
            (folder / B).write_text("new")
            (folder / A).unlink()

    with pytest.raises(FileNotFoundError, match=r"out were removed .*: run the same command again"):
        vanish()
    assert os.listdir(tmp_path) == []


def test_errors_name_the_folder_that_the_user_knows(tmp_path):
    def fill():
        with staged(tmp_path / "out") as folder:
            raise OSError(f"{folder / 'a'} cannot be written")

    with pytest.raises(OSError, match=rf"^{tmp_path}/out/a cannot be written$"):
        fill()


def test_what_the_killed_have_left_is_removed(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for left in (left_by_the_dead(out), left_by_the_dead(out / "out")):
        left.mkdir()
        (left / A).write_text("half")
    theirs = elsewhere(out)
    theirs.mkdir()
    with staged(out) as folder:
        (folder / A).write_text("new")
    assert sorted(os.listdir(tmp_path)) == [theirs.name, "out"]
    assert os.listdir(out) == [A]
