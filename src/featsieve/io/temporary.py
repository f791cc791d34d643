"""Hidden names under which files are written, and what the killed have left under such names.

A name tells which process of which machine writes under it, and ends with a word drawn at random:
two threads, or two machines that share a disk, never write under the same one. What a process of
another machine has left stays: nobody here can tell whether it still runs.
"""

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from featsieve.io.processes import Process, this_process

END = ".tmp"
# Letters of the name that are kept: file systems take 255 bytes, and a letter has up to four.
LONGEST = 50


def temporary_name(path: Path, *, token: str | None = None) -> Path:
    """Return a hidden name beside a path to write under, another one each time."""
    word = f"{this_process()}-{token or secrets.token_hex(4)}"
    return path.with_name(f"{_beginning(path)}{word}{END}")


def maker_of(temporary: Path) -> Process | None:
    """Return the process that writes under a hidden name; None if it is no such name."""
    word = temporary.name.removesuffix(END).rpartition(".")[2]
    return Process.parse(word.rpartition("-")[0]) if temporary.name.endswith(END) else None


def is_left(temporary: Path) -> bool:
    """Tell whether the process that wrote under a hidden name is known to be no more."""
    maker = maker_of(temporary)
    return maker is not None and maker.is_alive() is False


def clean_up(path: Path) -> None:
    """Remove what processes that are no more have left beside a path, under its hidden names."""
    beginning = _beginning(path)
    with suppress(OSError):  # nobody needs the room so badly
        for name in os.listdir(path.parent):
            left = path.with_name(name)
            if name.rpartition(".")[0].rpartition(".")[0] + "." != beginning or not is_left(left):
                continue
            remove(left)


def remove(left: Path) -> None:
    """Remove a file, a link or a folder with all that is in it."""
    if left.is_dir() and not left.is_symlink():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


def _beginning(path: Path) -> str:
    """Return how the hidden names beside a path begin."""
    return f".{path.name[:LONGEST]}."
