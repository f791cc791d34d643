"""Run a function on an untrusted file in a child process with limits of memory and time.

The format's own library reads the file there. Whatever it does with a broken or hostile file
(crash, never end, ask for all memory), this process gets a value or one error. The value comes back
as JSON and raw arrays, never as pickle: a hijacked child can say what is wrong, but run nothing.
"""

import importlib
import json
import math
import mmap
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from featsieve.io.guard import TableError, TooLargeError
from featsieve.io.memory import describe_limit, memory_limit

SECONDS_VARIABLE = "FEATSIEVE_MAX_SECONDS"
# A small file takes about one second to read, start of the process included; text of 1 MB, a tenth.
SECONDS = 60.0
SECONDS_PER_MIB = 2.0
# False in the child itself, and where every file is trusted: the function is called right here.
isolated = True

ARRAY = "\0array"  # key of an array among the values
ALIGNED = 64  # bytes at whose multiples arrays begin
PLAIN = "biufUSMm"  # kinds of arrays whose bytes are their values
# Errors of Python that come back as what they are; others become LibraryError.
BUILTIN = {
    kind.__name__: kind
    for kind in (ValueError, TypeError, ImportError, ModuleNotFoundError, MemoryError, OSError)
}


class LibraryError(Exception):
    """What the library that reads a file has to say about it."""


class CrashError(TableError):
    """The process that read a file did not end well."""


def run_in_child(
    function: str, path: Path, *, imports: Sequence[str] = (), **arguments: Any
) -> Any:
    """Return what ``function`` ("module:name") returns for a file, called in a child.

    Arguments and value consist of dicts, lists, text, numbers, None and (the value) NumPy arrays.
    ``imports`` are libraries that the function needs, which do not count as memory of the file.
    """
    if not isolated:
        return resolve(function)(Path(path), **arguments)
    limit, seconds = memory_limit(), time_limit(path)
    request = {
        "function": function,
        "path": os.fspath(Path(path).absolute()),
        "arguments": arguments,
        "imports": list(imports),
        "memory": limit,
        "seconds": seconds,
    }
    with _anonymous_file() as file:
        code = _call(json.dumps(request).encode(), file, seconds)
        size = file.seek(0, os.SEEK_END)
        if code != 0 or size == 0:
            raise _death(code, limit, seconds)
        answer = unpack(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY))
    if "error" in answer:
        raise _error(answer["error"], limit)
    return answer["value"]


def time_limit(path: Path) -> float:
    """Return how many seconds a file may take: FEATSIEVE_MAX_SECONDS, or more for larger files."""
    named = os.environ.get(SECONDS_VARIABLE, "").strip()
    if named:
        with suppress(ValueError):
            if 0 < float(named) < math.inf:
                return float(named)
        raise ValueError(f"{SECONDS_VARIABLE} must be a number above 0; got {named!r}.")
    size = path.stat().st_size if path.is_file() else 0
    return SECONDS + SECONDS_PER_MIB * size / 2**20


def resolve(function: str) -> Any:
    """Return a function by the name of its module and its own."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def _anonymous_file() -> BinaryIO:
    """Return a file without a name: in memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("featsieve"), "w+b")
    return tempfile.TemporaryFile()


def _call(request: bytes, output: BinaryIO, seconds: float) -> int:
    """Run the child, whose standard output is a file, and return its exit status."""
    # -P: a module that lies in the current folder is not one that is meant
    here = {"", os.getcwd()}
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(place for place in sys.path if place not in here),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "featsieve.io.reader_process"],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    try:
        process.communicate(request, timeout=seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:  # also if the user interrupts
        if process.poll() is None:
            process.kill()
            process.wait()
            process.returncode = -signal.SIGXCPU if hasattr(signal, "SIGXCPU") else 1
    return process.returncode


def _death(code: int, limit: int, seconds: float) -> Exception:
    """Return the error for a child that ended without an answer."""
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"exit status {code}"
    if name == "SIGXCPU":
        return CrashError(
            f"reading it takes more than {seconds:g} seconds: it is damaged, cut short or made to "
            f"keep its reader busy; if you trust the file, set the environment variable "
            f"{SECONDS_VARIABLE} to more"
        )
    if name == "SIGKILL":  # by the system, which has no memory left
        return too_large(limit)
    return CrashError(
        f"it is damaged, cut short or too large: the library that reads it crashed ({name}); get "
        "it or save it again"
    )


def too_large(limit: int) -> TooLargeError:
    """Return the error for a file that takes too much memory."""
    return TooLargeError(f"reading it takes more memory than {describe_limit(limit)}")


def _error(about: dict[str, Any], limit: int) -> Exception:
    """Return the error that a child describes."""
    module, name = str(about["module"]), str(about["name"])
    arguments = [about["code"], about["message"]] if about.get("code") else [about["message"]]
    if name == "MemoryError":
        return too_large(limit)
    kind: Any = BUILTIN.get(name) if module == "builtins" else None
    if module.startswith("featsieve."):
        kind = getattr(importlib.import_module(module), name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = LibraryError
    return kind(*arguments)


# Values ------------------------------------------------------------------------------------------


def pack(value: Any, descriptor: int, *, most: int) -> None:
    """Write a value to an open file: the size of its description, the description, arrays."""
    arrays: list[np.ndarray] = []
    start = 0

    def describe(part: Any) -> Any:
        nonlocal start
        if isinstance(part, np.generic):
            return part.item()
        if not isinstance(part, np.ndarray) or part.dtype.kind not in PLAIN:
            raise TypeError(f"{type(part).__name__} is not sent")
        order = "F" if part.flags.f_contiguous and not part.flags.c_contiguous else "C"
        arrays.append(part.T if order == "F" else np.ascontiguousarray(part))
        place, start = start, start + _aligned(part.nbytes)
        return {ARRAY: [part.dtype.str, list(part.shape), order, place]}

    text = json.dumps(value, default=describe).encode()
    if len(text) + start > most:
        raise MemoryError
    header = len(text).to_bytes(8, "little") + text
    _write(descriptor, header.ljust(_aligned(len(header)), b"\0"))
    for array in arrays:
        if array.nbytes:
            _write(descriptor, array.reshape(-1).view(np.uint8))
            _write(descriptor, bytes(-array.nbytes % ALIGNED))


def _write(descriptor: int, content: Any) -> None:
    """Write bytes; the system takes no more than some of them at a time."""
    left = memoryview(content)
    while len(left):
        left = left[os.write(descriptor, left[: 2**30]) :]


def _aligned(size: int) -> int:
    """Return where the next array begins."""
    return -(-size // ALIGNED) * ALIGNED


def unpack(content: mmap.mmap | bytes) -> Any:
    """Return a value from its description; its arrays share memory with the content."""
    whole = memoryview(content)
    size = int.from_bytes(whole[:8], "little")
    if not 0 < size <= len(whole) - 8:
        raise CrashError("its reader gave a damaged answer")
    first = _aligned(8 + size)

    def restore(part: dict[str, Any]) -> Any:
        if ARRAY not in part:
            return part
        kind, shape, order, place = part[ARRAY]
        dtype = np.dtype(str(kind))
        count = int(np.prod([int(length) for length in shape], dtype=object))
        end = first + int(place) + count * dtype.itemsize
        if dtype.kind not in PLAIN or min(shape, default=0) < 0 or place < 0 or end > len(whole):
            raise ValueError("an array outside of the answer")
        flat = np.frombuffer(whole, dtype=dtype, count=count, offset=first + place if count else 0)
        return flat.reshape(shape, order="F" if order == "F" else "C")

    try:
        return json.loads(bytes(whole[8 : 8 + size]), object_hook=restore)
    except (ValueError, TypeError, RecursionError) as error:
        raise CrashError("its reader gave a damaged answer") from error
