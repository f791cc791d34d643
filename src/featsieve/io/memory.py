"""How much memory the content of a file may take."""

import os
import re
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
    """Return how many bytes the machine, and the container around this process, have left."""
    found = []
    available = re.search(r"^MemAvailable:\s+(\d+) kB", _text("proc/meminfo"), re.M)
    if available is not None:
        found.append(int(available[1]) * 1024)
    elif "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):  # all that it has
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    most, taken = (_text(f"sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    if most.isdecimal() and taken.isdecimal():
        # copies of files are given up if needed
        copies = re.search(r"^inactive_file (\d+)$", _text("sys/fs/cgroup/memory.stat"), re.M)
        found.append(int(most) - int(taken) + (int(copies[1]) if copies else 0))
    return max(0, min(found, default=UNKNOWN_MEMORY))


def _text(name: str) -> str:
    """Return what the system says in a file; nothing where it does not."""
    try:
        return (SYSTEM / name).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
