"""How much memory there is left: of the machine, of its control groups, of the process.

A container is a control group. Groups lie inside of groups, and the limit of any one around a
process ends it: all of them are asked, in version 1 and version 2 of the system's interface.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

# Where nobody can tell how much memory there is.
UNKNOWN_MEMORY = 2**33
MACHINE = Path("/proc/meminfo")
PROCESS = Path("/proc/self")
GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class _Names:
    """What the files of a control group are called; memory of ``files`` is given back if needed."""

    limits: tuple[str, ...]
    used: str
    files: tuple[str, ...]


# Beyond memory.high a process is slowed down until it hardly moves.
VERSION_2 = _Names(
    ("memory.max", "memory.high"), "memory.current", ("active_file", "inactive_file")
)
VERSION_1 = _Names(
    ("memory.limit_in_bytes",),
    "memory.usage_in_bytes",
    ("total_active_file", "total_inactive_file"),
)


def free_memory() -> int:
    """Return how many bytes this process can still get, as far as that can be told."""
    known = [found for found in (_of_machine(), _of_groups(), _of_process()) if found is not None]
    return max(0, min(known)) if known else UNKNOWN_MEMORY


def _of_machine(path: Path = MACHINE) -> int | None:
    """Return what the machine has left; where that is not told, all that it has."""
    try:
        about = path.read_text(encoding="ascii", errors="replace")
        return int(re.search(r"^MemAvailable:\s+(\d+) kB", about, re.M)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_groups(process: Path = PROCESS, groups: Path = GROUPS) -> int | None:
    """Return the least that any control group around this process has left, if one has a limit."""
    left = [_of_group(folder, names) for folder, names in _around(process, groups)]
    return min((found for found in left if found is not None), default=None)


def _around(process: Path, groups: Path) -> Iterator[tuple[Path, _Names]]:
    """Yield the folders of the groups that a process is in, from the innermost to the root.

    Inside of a container the names may be those of the machine, which are not there: then the root
    is the group of the container itself.
    """
    try:
        lines = (process / "cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = ["0::/"]
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, place = rest.partition(":")
        if number == "0" and not controllers:
            base, names = groups, VERSION_2
        elif "memory" in controllers.split(","):
            base, names = groups / "memory", VERSION_1
        else:
            continue
        steps = [part for part in PurePosixPath(place).parts if part not in ("/", "..")]
        for depth in range(len(steps), -1, -1):
            yield base.joinpath(*steps[:depth]), names


def _of_group(folder: Path, names: _Names) -> int | None:
    """Return what one control group has left, None where it has no limit or is not there."""
    limits = [_number(folder / name) for name in names.limits]
    most = min((limit for limit in limits if limit is not None), default=None)
    used = _number(folder / names.used)
    if most is None or used is None:
        return None
    try:
        about = (folder / "memory.stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        about = ""
    files = re.findall(rf"^(?:{'|'.join(names.files)}) (\d+)$", about, re.M)
    return most - used + min(used, sum(map(int, files)))


def _number(path: Path) -> int | None:
    """Return the number in a file, None for "max", or where there is no such file."""
    try:
        return int(path.read_text(encoding="ascii", errors="replace"))
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
