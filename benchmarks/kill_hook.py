"""Kill this process, or its whole group, just before its k-th file operation in some folder.

Copied to a folder of ``PYTHONPATH`` as sitecustomize.py it works in every Python process that is
started, the workers of a benchmark included. What is to happen stands in the variable `VARIABLE`
as JSON:

- "folder": operations below it count: opening for writing, renaming, removing, making folders
- "at": the number of the operation, from 1; 0: never
- "after": seconds of a process's life after which it kills; optional
- "who": "main" or "worker", the kind of process that kills
- "whom": "group" or "self", who is killed
- "log": a file that gets kind and name of every operation, and is asked whether one has killed
"""

import json
import os
import signal
import sys
import threading
from typing import Any

VARIABLE = "FEATSIEVE_KILL"
CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
KILLED = "killed"


def install(about: dict[str, Any], *, kind: str = "main") -> None:
    """Watch the file operations of this process."""
    folder, log = os.path.join(os.path.realpath(about["folder"]), ""), about["log"]
    seen, busy = 0, False
    if kind == about["who"] and about.get("after") is not None:
        timer = threading.Timer(about["after"], _kill, (about, "a timer"))
        timer.daemon = True
        timer.start()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen, busy
        if busy or not _changes(event, arguments, folder):
            return
        seen, busy = seen + 1, True
        try:
            if kind == about["who"] and seen == about["at"]:
                _kill(about, event)
            _note(log, f"{kind} {event}")
        finally:
            busy = False

    sys.addaudithook(watch)


def _kill(about: dict[str, Any], event: str) -> None:
    """Kill, unless somebody was killed before."""
    if not _already(about["log"]):
        _note(about["log"], f"{KILLED} before {event}")
        os.kill(0 if about["whom"] == "group" else os.getpid(), signal.SIGKILL)


def _changes(event: str, arguments: tuple[Any, ...], folder: str) -> bool:
    """Tell whether an event is a change below the folder that is about to happen."""
    if event == "open":
        path, _, flags = arguments
        if not isinstance(flags, int) or not flags & WRITES:
            return False
    elif event in CHANGES:
        path = arguments[0]
    else:
        return False
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    name = os.fsdecode(path)
    # relative to an open folder: the way in which whole folders are removed
    relative = event in ("os.remove", "os.rmdir") and arguments[-1] not in (-1, None)
    return relative or os.path.abspath(name).startswith(folder)


def _note(log: str, text: str) -> None:
    """Append a line, in one piece."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, f"{text}\n".encode())
    finally:
        os.close(handle)


def _already(log: str) -> bool:
    """Tell whether somebody was killed before: once is enough."""
    try:
        with open(log) as file:
            return KILLED in file.read()
    except FileNotFoundError:
        return False


if VARIABLE in os.environ and __name__ == "sitecustomize":
    _worker = any("loky" in word for word in sys.orig_argv)
    install(json.loads(os.environ[VARIABLE]), kind="worker" if _worker else "main")
