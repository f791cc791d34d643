"""What is asked of every file first, and how errors about it become one sentence."""

import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Of plans, summaries and the like.
LARGEST_TEXT = 2**26
# Letters, of what is said of a file.
LONGEST_MESSAGE = 2000
# What takes less memory than reading all of a file.
SMALLER = (
    "read fewer columns (columns of featsieve.datasets.read_table), convert it to Parquet and open "
    "it with featsieve.datasets.open_table, or, if you trust the file, set the environment "
    "variable FEATSIEVE_MAX_MEMORY to more, such as 64G."
)
NOT_FILES = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


class TableError(ValueError):
    """A file that cannot be used; the message says why, and what to do."""


class TooLargeError(TableError):
    """What a file holds would take more memory than it may."""


class ColumnError(ValueError):
    """A file that can be read, but whose columns are not what was asked for."""


class MissingColumnError(ColumnError):
    """Columns that were asked for are not there."""


def check_file(path: Path) -> None:
    """Raise unless a path leads to a regular file that may be read.

    Pipes and devices have no end: whoever opens one may wait for ever.
    """
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
        kind = next((kind for is_kind, kind in NOT_FILES.items() if is_kind(mode)), "no file")
        error_type = IsADirectoryError if stat.S_ISDIR(mode) else OSError
        raise error_type(f"{path} is {kind}: name a file.")
    if not os.access(path, os.R_OK):
        raise PermissionError(
            f"{path} cannot be read: you do not have the permission; change it with chmod."
        )


def in_bytes(size: int) -> str:
    """Return a size for people."""
    if size < 1024:
        return f"{size} bytes"
    power = min(int(math.log2(size) // 10), 6)
    return f"{size / 1024**power:.3g} {'KMGTPE'[power - 1]}iB"


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
def explain_errors(
    path: str | os.PathLike[str], *, kind: str = "", smaller: str = SMALLER
) -> Iterator[None]:
    """Turn what goes wrong in the block into one sentence with the name of the file.

    Libraries fail on broken files in ways of their own. All of it becomes a ValueError: what
    featsieve itself says as it is, and other errors with the advice to get the file again. Errors
    of columns that were asked for keep their type.
    """
    how = f"{path} cannot be read{f' as {kind}' if kind else ''}"
    try:
        yield
    except ImportError:
        raise
    except ColumnError as error:
        raise type(error)(sentence(f"{path}: {error}")) from error
    except (TooLargeError, MemoryError) as error:
        reason = str(error) or "there is not enough memory"
        raise TooLargeError(f"{how}: {reason}: {smaller}") from error
    except TableError as error:
        raise type(error)(sentence(f"{how}: {error}")) from error
    except Exception as error:
        raise ValueError(
            f"{how}: it is damaged, cut short or of a kind that is not read "
            f"({first_line(error)}); get it or save it again."
        ) from error


def first_line(error: BaseException, *, longest: int = 200) -> str:
    """Return what an error says, in one line of no great length."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].rstrip(".:") if lines else type(error).__name__
    return printable(said, longest=longest)


def sentence(text: str) -> str:
    """Return a text with a full stop, unless it ends as a question.

    Files name things as they like: commands to the terminal and long lists do not get out.
    """
    text = printable(text.rstrip("."), longest=LONGEST_MESSAGE)
    return text if text.endswith("?") else f"{text}."


def printable(text: str, *, longest: int) -> str:
    r"""Return a text of no great length, without letters that a terminal would obey."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:longest])
    return shown if len(text) <= longest else f"{shown}..."
