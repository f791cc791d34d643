"""What is asked of every file first, the memory that it may take, and errors in one sentence."""

import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from featsieve.io.results import recover

# Of plans, summaries and the like.
LARGEST_TEXT = 2**26
# Letters, of what is said of a file.
LONGEST_MESSAGE = 2000
# What takes less memory than reading all of a file.
SMALLER = (
    "read fewer columns (columns of featsieve.datasets.read_table), convert it to Parquet and open "
    "it with Dask (docs/guide/dask.md), or, if you trust the file, set the environment variable "
    "FEATSIEVE_MAX_MEMORY to more, such as 64G."
)
MEMORY_VARIABLE = "FEATSIEVE_MAX_MEMORY"
# Where nobody can tell how much memory there is.
UNKNOWN_MEMORY = 2**33
SYSTEM = Path("/")


class TableError(ValueError):
    """A file that cannot be used; the message says why, and what to do."""


class TooLargeError(TableError):
    """What a file holds would take more memory than it may."""


class ColumnError(ValueError):
    """A file that can be read, but whose columns are not what was asked for."""


class MissingColumnError(ColumnError):
    """Columns that were asked for are not there."""


def check_file(path: Path) -> None:
    """Raise unless a path leads to a regular file: pipes and devices have no end."""
    recover(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        broken = path.is_symlink()
        reason = "it is a link to a file that is not there" if broken else "there is no such file"
        raise FileNotFoundError(f"{path}: {reason}.") from None
    except (OSError, ValueError) as error:  # a loop of links, a name that no file can have
        reason = getattr(error, "strerror", None) or str(error)
        raise OSError(f"{path!s:.1000} cannot be opened: {reason}.") from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise OSError(f"{path} is {kind}: name a file.")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{path} cannot be read: you do not have the permission.")


def in_bytes(size: int) -> str:
    """Return a size for people."""
    if size < 1024:
        return f"{size} bytes"
    power = min(int(math.log2(size) // 10), 6)
    return f"{size / 1024**power:.3g} {'KMGTPE'[power - 1]}iB"


def memory_limit() -> int:
    """Return how many bytes a file's content may take: FEATSIEVE_MAX_MEMORY, or what is free."""
    named = os.environ.get(MEMORY_VARIABLE, "").strip().upper()
    if not named:
        return free_memory()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", named)
    if found is None:
        raise ValueError(
            f"{MEMORY_VARIABLE} must be a size such as 8G or 500M (K, M, G, T); got {named!r}."
        )
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2] or " "))


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
    available = system_number(r"^MemAvailable:\s+(\d+) kB", "proc/meminfo")
    free = UNKNOWN_MEMORY if available is None else 1024 * available
    if available is None and "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):  # all it has
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    group = "sys/fs/cgroup/memory"
    most, taken = (system_number(r"^(\d+)$", f"{group}.{name}") for name in ("max", "current"))
    if most is not None and taken is not None:
        # copies of files are given up if needed
        copies = system_number(r"^inactive_file (\d+)$", f"{group}.stat")
        free = min(free, most - taken + (copies or 0))
    return max(0, free)


def system_number(pattern: str, name: str) -> int | None:
    """Return a number that the system says in a file; None where it does not."""
    try:
        text = (SYSTEM / name).read_text(encoding="ascii", errors="replace")
        found = re.search(pattern, text, re.M)
        return int(found[1]) if found else None
    except (OSError, ValueError):
        return None


def read_small(path: str | os.PathLike[str], *, what: str) -> str:
    """Return a text file that should be small, such as a plan; ``what`` it is, for a message."""
    path = Path(path)
    check_file(path)
    size = path.stat().st_size
    if size > LARGEST_TEXT:
        raise ValueError(
            f"{path} is not a {what}: it has {in_bytes(size)}, and at most "
            f"{in_bytes(LARGEST_TEXT)} are read."
        )
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not a {what}: it is not text in UTF-8 (byte {error.start}); save it as "
            "UTF-8."
        ) from error


@contextmanager
def explain_errors(path: str | os.PathLike[str], *, kind: str = "") -> Iterator[None]:
    """Turn whatever goes wrong in the block into one sentence with the name of the file."""
    how = f"{path} cannot be read{f' as {kind}' if kind else ''}"
    try:
        yield
    except ImportError:
        raise
    except ColumnError as error:
        raise type(error)(sentence(f"{path}: {error}")) from error
    except (TooLargeError, MemoryError) as error:
        reason = str(error) or "there is not enough memory"
        raise TooLargeError(f"{how}: {reason}: {SMALLER}") from error
    except TableError as error:
        raise type(error)(sentence(f"{how}: {error}")) from error
    except Exception as error:
        raise ValueError(
            f"{how}: it is damaged, cut short or of a kind that is not read "
            f"({first_line(error)}); get it or save it again."
        ) from error


def first_line(error: BaseException) -> str:
    """Return what an error says, in one line of no great length."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return printable(lines[0].rstrip(".:") if lines else type(error).__name__, longest=200)


def sentence(text: str) -> str:
    """Return a text of no great length with a full stop, unless it ends as a question."""
    text = printable(text.rstrip("."), longest=LONGEST_MESSAGE)
    return text if text.endswith("?") else f"{text}."


def printable(text: str, *, longest: int) -> str:
    """Return a text of no great length, without letters that a terminal would obey."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:longest])
    return shown if len(text) <= longest else f"{shown}..."
