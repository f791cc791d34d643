"""How much memory there is left: of the machine, of its container, of the process."""

import os
import re
from pathlib import Path

# Where nobody can tell how much memory there is.
UNKNOWN_MEMORY = 2**33


def free_memory() -> int:
    """Return how many bytes this process can still get, as far as that can be told."""
    known = [found for found in (_of_machine(), _of_group(), _of_process()) if found is not None]
    return max(0, min(known)) if known else UNKNOWN_MEMORY


def _of_machine() -> int | None:
    """Return what the machine has left; where that is not told, all that it has."""
    try:
        about = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace")
        return int(re.search(r"^MemAvailable:\s+(\d+) kB", about, re.M)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_group(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return what the container or control group has left, if it has a limit."""
    try:
        most = (folder / "memory.max").read_text(encoding="ascii").strip()
        if most == "max":
            return None
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        about = (folder / "memory.stat").read_text(encoding="ascii")
        cached = re.search(r"^inactive_file (\d+)", about, re.M)  # given back when it is needed
        return int(most) - used + (int(cached[1]) if cached else 0)
    except (OSError, ValueError):
        return None


def _of_process() -> int | None:
    """Return what the process may still ask for, if that is limited (ulimit -v)."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return most - pages * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return None
