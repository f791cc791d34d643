"""Processes as others know them who share a folder with them: whether one still runs."""

import hashlib
import os
import platform
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# Another one on every machine, and after every start of it.
BOOT = Path("/proc/sys/kernel/random/boot_id")


class Process(NamedTuple):
    """A process, of any machine."""

    machine: str
    number: int
    start: int

    def __str__(self) -> str:
        """Return a word that can be part of a file's name."""
        return f"{self.machine}-{self.number}-{self.start}"

    @classmethod
    def parse(cls, word: str) -> "Process | None":
        """Return the process that a word stands for; None if it stands for none."""
        found = re.fullmatch(r"([0-9a-f]{8})-(\d+)-(\d+)", word, re.ASCII)
        return cls(found[1], int(found[2]), int(found[3])) if found else None

    def is_alive(self) -> bool | None:
        """Tell whether it still runs; None where nobody can tell, as of another machine."""
        if self == this_process():
            return True
        if os.name != "posix" or self.machine != this_machine():
            return None
        return is_alive(self.number, start=self.start)


def this_process() -> Process:
    """Return this process."""
    number = os.getpid()
    return Process(this_machine(), number, _start_and_state(number)[0])


def this_machine() -> str:
    """Return a word for the machine, or for the container if it counts processes for itself.

    Machines of the same name ("localhost") are told apart by when they were started, where the
    system says so. After a restart the machine is therefore another one.
    """
    counted = started = ""
    with suppress(OSError):
        counted = os.readlink("/proc/self/ns/pid")
    with suppress(OSError):
        started = BOOT.read_text(errors="replace")
    name = f"{platform.node()} {counted} {started}".encode("utf-8", "surrogateescape")
    return hashlib.sha256(name).hexdigest()[:8]


def is_alive(number: int, *, start: int = 0) -> bool:
    """Tell whether a process of this machine still runs."""
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    started, state = _start_and_state(number)
    if state == "Z":  # killed, but its parent has not looked yet
        return False
    return start in (0, started) or started == 0


def _start_and_state(number: int) -> tuple[int, str]:
    """Return when a process started and what it does; zero and nothing where nobody can tell."""
    try:  # the numbers follow the name in brackets
        about = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0, ""
    return int(about[19]), about[0]
