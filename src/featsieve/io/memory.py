"""How much memory the content of a file may take."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from featsieve.io.guard import TooLargeError, in_bytes

MEMORY_VARIABLE = "FEATSIEVE_MAX_MEMORY"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# Where nobody can tell how much memory there is.
UNKNOWN_MEMORY = 2**33
SYSTEM = Path("/")


def memory_limit() -> int:
    """Return how many bytes a file's content may take: FEATSIEVE_MAX_MEMORY, or what is free."""
    named = os.environ.get(MEMORY_VARIABLE, "").strip()
    return free_memory() if not named else parse_size(named)


def parse_size(text: str) -> int:
    """Return a number of bytes, written with or without a unit."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    if found is None:
        raise ValueError(
            f"{MEMORY_VARIABLE} must be a size such as 8G or 500M (K, M, G, T); got {text!r}."
        )
    return int(float(found[1]) * UNITS[found[2]])


def describe_limit(limit: int) -> str:
    """Say how much memory there is, and who says so."""
    named = os.environ.get(MEMORY_VARIABLE, "").strip()
    reason = f"are allowed ({MEMORY_VARIABLE})" if named else "are free"
    return f"the {in_bytes(limit)} that {reason}"


def check_memory(needed: int, *, what: str = "the table", limit: int | None = None) -> None:
    """Raise if something takes more memory than it may; ``limit`` is `memory_limit` by default."""
    limit = memory_limit() if limit is None else limit
    if needed > limit:
        told = f"{what} would take {in_bytes(needed)} of memory"
        raise TooLargeError(f"{told}, more than {describe_limit(limit)}")


def free_memory() -> int:
    """Return how many bytes this process can still get, as far as that can be told."""
    return max(0, min([*_of_machine(), *_of_groups()], default=UNKNOWN_MEMORY))


def _of_machine() -> Iterator[int]:
    """Yield what the machine has left; where that is not told, all that it has."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _text("proc/meminfo"), re.M)
    if found is not None:
        yield int(found[1]) * 1024
    elif "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_groups() -> Iterator[int]:
    """Yield what every control group around this process (a container is one) has left."""
    found = re.search(r"^0::/(.*)$", _text("proc/self/cgroup"), re.M)
    steps = found[1].split("/") if found else []
    for depth in range(len(steps) + 1):  # from the root, which a container may call its own
        folder = "/".join(("sys/fs/cgroup", *steps[:depth]))
        most, taken = _text(f"{folder}/memory.max"), _text(f"{folder}/memory.current")
        if most.strip().isdecimal() and taken.strip().isdecimal():
            # copies of files are given up if needed
            copies = re.search(r"^inactive_file (\d+)$", _text(f"{folder}/memory.stat"), re.M)
            yield int(most) - int(taken) + (int(copies[1]) if copies else 0)


def _text(name: str) -> str:
    """Return what the system says in a file; nothing where it does not."""
    try:
        return (SYSTEM / name).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
