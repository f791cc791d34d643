"""Locks of folders: one at a time, Ctrl-C ends the wait, and disks without locks will do."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import pytest

from featsieve.io import locks
from featsieve.io.locks import LOCK, locked
from tests.users import needs_two_users, plain_environment

fcntl = pytest.importorskip("fcntl")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks of Unix")


def one_after_the_other(folder):
    """Return in which order two threads did their work in a folder."""
    order = []

    def other():
        with locked(folder):
            order.append("other")

    with locked(folder):
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.1)
        order.append("this")
    thread.join()
    return order


def held(folder, seconds=30):
    """Start a process that holds a folder until it is killed."""
    code = f"""
        import time
        from featsieve.io.locks import locked
        with locked({str(folder)!r}):
            print("held", flush=True)
            time.sleep({seconds})
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    return holder


def test_one_at_a_time(tmp_path, monkeypatch):
    assert one_after_the_other(tmp_path) == ["this", "other"]
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(locks, "PATIENCE", 0.0)
    with (
        locked(tmp_path),
        pytest.raises(TimeoutError, match=r"Another process holds .*: wait until it has ended"),
        locked(tmp_path),
    ):
        pytest.fail("it is held")
    assert os.listdir(tmp_path) == []


def test_many_at_a_time(tmp_path):
    """The file of the lock is removed and made again under everybody's hands."""
    inside, most, n = 0, 0, 0

    def work():
        nonlocal inside, most, n
        for _ in range(20):
            with locked(tmp_path):
                inside += 1
                most = max(most, inside)
                time.sleep(0.0002)
                n += 1
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, n) == (1, 80)
    assert os.listdir(tmp_path) == []


def test_the_lock_of_somebody_who_was_killed_is_free_and_its_file_goes(tmp_path):
    holder = held(tmp_path)
    holder.kill()
    holder.communicate()
    assert os.listdir(tmp_path) == [LOCK]
    with locked(tmp_path):
        pass
    assert os.listdir(tmp_path) == []


def test_ctrl_c_ends_the_wait_at_once(tmp_path):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    holder = held(tmp_path)
    try:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt), locked(tmp_path):
            pytest.fail("it is held")
        assert time.monotonic() - begun < 10.0
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
        holder.kill()
        holder.communicate()


def test_ctrl_c_while_the_lock_is_taken_gives_it_back(tmp_path, monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    flock = fcntl.flock

    def interrupted(*arguments):
        flock(*arguments)
        os.kill(os.getpid(), signal.SIGINT)

    try:
        monkeypatch.setattr(fcntl, "flock", interrupted)
        with pytest.raises(KeyboardInterrupt), locked(tmp_path):
            pytest.fail("interrupted before")
        monkeypatch.setattr(fcntl, "flock", flock)
        assert os.listdir(tmp_path) == []
        with locked(tmp_path):
            pass
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_file_is_open_for_writing_as_network_disks_want(tmp_path, monkeypatch):
    flock, modes = fcntl.flock, []

    def emulated(handle, what):  # as NFS does it: a lock of bytes, refused to readers
        modes.append(fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE)
        return flock(handle, what)

    monkeypatch.setattr(fcntl, "flock", emulated)
    with locked(tmp_path):
        assert modes == [os.O_RDWR]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EBADF, errno.ENOTSUP])
def test_a_disk_without_locks_is_told_and_will_do(tmp_path, monkeypatch, number):
    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    done = False
    with (
        pytest.warns(UserWarning, match=rf"cannot be locked \({os.strerror(number)}\): let no two"),
        locked(tmp_path),
    ):
        done = True
    assert done
    assert os.listdir(tmp_path) == []


def test_no_links_are_followed(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / LOCK).symlink_to(tmp_path / "precious")
    with pytest.warns(UserWarning, match="cannot be locked"), locked(folder):
        pass
    assert not (tmp_path / "precious").exists()


def test_without_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError), locked(tmp_path / "nowhere"):
        pytest.fail("there is none")


def test_on_windows(tmp_path, monkeypatch):
    """With a lock of Unix under the name of that of Windows, which says that it is held by 13."""
    flock, mode = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB

    def locking(handle, how, size):
        assert (how, size) == (2, 1)
        try:
            flock(handle, mode)
        except OSError as error:
            raise PermissionError(errno.EACCES, "Permission denied") from error

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))
    assert one_after_the_other(tmp_path) == ["this", "other"]


def test_on_systems_without_any_locks(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    with (
        pytest.warns(UserWarning, match=r"cannot be locked \(Function not implemented\)"),
        locked(tmp_path),
    ):
        pass


UNPRIVILEGED = """
import fcntl, os, sys, warnings
warnings.simplefilter("error")
from featsieve.io.locks import locked
folder, other = sys.argv[1:]
os.setgid(65534), os.setuid(65534)
with locked(folder):  # nothing can be written to it: nothing to keep others from
    pass
import featsieve.io.locks
featsieve.io.locks.PATIENCE = 0.0
try:
    with locked(other):
        print("wrong")
except TimeoutError:
    print("held")
"""


@needs_two_users
def test_what_other_users_hold(public_path):
    """The file of the lock is theirs, and cannot be opened for writing."""
    shared = public_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with locked(shared):
        assert (shared / LOCK).stat().st_mode & 0o002 == 0
        done = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, public_path, shared],
            env=plain_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.stdout, done.returncode) == ("held\n", 0), done.stderr


ON_A_NETWORK_DISK = """
import errno, fcntl, os, sys
import featsieve.io.locks
from featsieve.io.locks import locked
def refuse(handle, what):  # as NFS refuses to lock what is open for reading only
    assert fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    raise OSError(errno.EBADF, os.strerror(errno.EBADF))
fcntl.flock = refuse
featsieve.io.locks.PATIENCE = 0.0
os.setgid(65534), os.setuid(65534)
try:
    with locked(sys.argv[1]):
        print("wrong")
except TimeoutError:
    print("held")
"""


@needs_two_users
def test_what_other_users_hold_on_a_network_disk(public_path):
    public_path.chmod(0o777)
    with locked(public_path):
        command = [sys.executable, "-c", ON_A_NETWORK_DISK, public_path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("held\n", 0), done.stderr
        assert os.listdir(public_path) == [LOCK]  # who holds it still does


def test_the_file_of_somebody_else_stays_where_there_are_no_locks(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    (tmp_path / LOCK).touch()
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.warns(UserWarning, match="cannot be locked"), locked(tmp_path):
        pass
    assert os.listdir(tmp_path) == [LOCK]


IN_TIME = """
import os, sys, warnings
warnings.simplefilter("ignore")
import featsieve.validation  # while it may still be read
from featsieve.io.locks import locked
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
with locked(sys.argv[1]):
    print("inside")
"""


@pytest.mark.parametrize("mode", [0o666, 0o444])
def test_a_pipe_in_the_place_of_the_lock_holds_nobody_up(public_path, mode):
    public_path.chmod(0o777)
    os.mkfifo(public_path / LOCK)
    (public_path / LOCK).chmod(mode)  # one that cannot be written is opened for reading
    command = [sys.executable, "-c", IN_TIME, public_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30.0)
    assert done.stdout == "inside\n", done.stderr
    with (
        pytest.warns(UserWarning, match=rf"cannot be locked \({LOCK} is no regular file\)"),
        locked(public_path),
    ):
        pass
    assert os.listdir(public_path) == [LOCK]
