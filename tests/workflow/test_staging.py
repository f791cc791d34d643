"""Folders of results: whole or not at all, and other files stay."""

import os
import signal
from pathlib import Path

import pytest

from featsieve.workflow.staging import staged


def write_and_fail(out, error, **options):
    with staged(out, **options) as folder:
        (folder / "a").write_text("new")
        raise error


def test_a_new_folder_appears_at_the_end(tmp_path):
    out = tmp_path / "deep" / "out"
    with staged(out) as folder:
        (folder / "a").write_text("1")
        assert not out.exists()
    assert os.listdir(out) == ["a"]
    assert os.listdir(out.parent) == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_nothing(tmp_path, error):
    out = tmp_path / "deep" / "deeper" / "out"
    with pytest.raises(error):
        write_and_fail(out, error)
    assert os.listdir(tmp_path) == []


def test_an_error_leaves_what_was_there(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_and_fail(tmp_path, KeyboardInterrupt, overwrite=True)
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_parents_that_others_use_meanwhile_stay(tmp_path):

    def work():
        with staged(tmp_path / "deep" / "out"):
            (tmp_path / "deep" / "mine").write_text("")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert os.listdir(tmp_path / "deep") == ["mine"]


def test_results_are_replaced_on_request_only(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "mine").write_text("mine")
    with (
        pytest.raises(FileExistsError, match=r"holds results already \(a\): add --force"),
        staged(tmp_path, names=["a", "b"]),
    ):
        pytest.fail("refused before any work is done")
    with staged(tmp_path, names=["a", "b"], overwrite=True) as folder:
        (folder / "a").write_text("new")
        (folder / "b").write_text("new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "new",
        "b": "new",
        "mine": "mine",
    }


def test_a_folder_with_other_files_can_be_used(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with staged(tmp_path, names=["a"]) as folder:
        (folder / "a").write_text("new")
    assert sorted(os.listdir(tmp_path)) == ["a", "mine"]


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
        (folder / "a").write_text("1")
    with staged("new") as folder:
        (folder / "b").write_text("1")
    assert sorted(os.listdir(tmp_path)) == ["a", "new"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_files_that_belong_together_are_all_moved(tmp_path, monkeypatch, number):
    names = ["a", "b", "c"]
    for name in names:
        (tmp_path / name).write_text("old")
    moved = []
    replace = Path.replace

    def interrupted(self, target):
        moved.append(target)
        os.kill(os.getpid(), number)  # somebody presses Ctrl-C between two files
        return replace(self, target)

    before = signal.getsignal(number)
    with staged(tmp_path, names=names, overwrite=True) as folder:
        for name in names:
            (folder / name).write_text("new")
        monkeypatch.setattr(Path, "replace", interrupted)
    assert len(moved) == 3
    assert [(tmp_path / name).read_text() for name in names] == ["new"] * 3
    assert signal.getsignal(number) is before
    assert sorted(os.listdir(tmp_path)) == names
