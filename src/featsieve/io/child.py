"""Run a function on an untrusted file in a child process with limits of memory and time.

The format's own library reads the file there. Whatever it does with a broken or hostile file
(crash, never end, ask for all memory), this process gets a value or one error. The value comes back
as JSON and raw arrays, never as pickle: a hijacked child can say what is wrong, but run nothing.
"""

import errno
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.dataset import compressed_table
from featsieve.io.guard import (
    ColumnError,
    MissingColumnError,
    TableError,
    TooLargeError,
    describe_limit,
    memory_limit,
    system_number,
)

SECONDS_VARIABLE = "FEATSIEVE_MAX_SECONDS"
# A small file takes about one second to read, start of the process included; text of 1 MB, a tenth.
SECONDS = 60.0
SECONDS_PER_MIB = 2.0
# False in the child itself, and where every file is trusted: the function is called right here.
isolated = True

# Of stacks of threads and of modules that are imported late, which are not the file's doing.
MARGIN = 2**27
# Where nobody can tell how much a process has already.
USUAL_START = 2**28
# What libraries of C say if there is no memory.
FULL = re.compile("out of memory|memory allocation failed|bad_alloc|malloc of size")
ARRAY, SPARSE = "\0array", "\0sparse"  # keys of arrays and sparse tables among the values
# Errors that come back as what they are; others are what a library says about the file.
KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (MissingColumnError, ColumnError, TooLargeError, TableError, ImportError)
}


def run_in_child(
    function: str, path: Path, *, imports: Sequence[str] = (), **arguments: Any
) -> Any:
    """Return what ``function`` ("module:name") returns for a file, in a child with ``imports``."""
    if not isolated:
        return _resolve(function)(Path(path), **arguments)
    limit, seconds = memory_limit(), time_limit(path)
    request = {
        "function": function,
        "path": os.fspath(Path(path).absolute()),
        "arguments": arguments,
        "imports": list(imports),
        "memory": limit,
        "seconds": seconds,
    }
    # in memory where the system has such files: the disk may be full
    memory = hasattr(os, "memfd_create")
    with os.fdopen(os.memfd_create("answer"), "rb") if memory else tempfile.TemporaryFile() as file:
        code = _call(json.dumps(request).encode(), file, seconds)
        if code != 0:
            raise _death(code, limit, seconds)
        file.seek(0)
        answer = unpack(file)
    if "error" not in answer:
        return answer["value"]
    kind, message = str(answer["error"]), str(answer["message"])
    raise too_large(limit) if kind == "MemoryError" else KINDS.get(kind, RuntimeError)(message)


def time_limit(path: Path) -> float:
    """Return how many seconds a file may take: FEATSIEVE_MAX_SECONDS, or more for larger files."""
    named = os.environ.get(SECONDS_VARIABLE, "").strip()
    if named:
        if named.replace(".", "", 1).isdecimal() and float(named) > 0:
            return float(named)
        raise ValueError(f"{SECONDS_VARIABLE} must be a number above 0; got {named!r}.")
    size = path.stat().st_size if path.is_file() else 0
    return SECONDS + SECONDS_PER_MIB * size / 2**20


def _resolve(function: str) -> Any:
    """Return a function by the name of its module and its own."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def _call(request: bytes, output: IO[bytes], seconds: float) -> int | None:
    """Run the child, whose standard output is a file; return its exit status, None if too slow."""
    # -P: a module that lies in the current folder is not one that is meant, but for this package
    places = [place for place in sys.path if place not in ("", os.getcwd())]
    places.append(os.fspath(Path(__file__).absolute().parents[2]))
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    own = {"PYTHONPATH": os.pathsep.join(places), **dict.fromkeys(threads, "1")}
    try:
        return subprocess.run(  # which kills the child if the user interrupts
            [sys.executable, "-P", "-c", "from featsieve.io.child import main; main()"],
            input=request,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **own},
            timeout=seconds,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise ImportError(f"The process that reads files cannot be started: {error}.") from error


def _death(code: int | None, limit: int, seconds: float) -> Exception:
    """Return the error for a child that ended without an answer."""
    if code is None or -code == getattr(signal, "SIGXCPU", None):
        return TableError(
            f"reading it takes more than {seconds:g} seconds: it is damaged, cut short or made to "
            f"take for ever; if you trust the file, set the environment variable "
            f"{SECONDS_VARIABLE} to more"
        )
    if -code == getattr(signal, "SIGKILL", None):  # by the system, which has no memory left
        return too_large(limit)
    if code == 1:  # which the child itself never returns
        return ImportError(
            f"The process that reads files does not start: {sys.executable} must be a Python that "
            "can import featsieve."
        )
    return TableError(
        "it is damaged, cut short or too large: the library that reads it crashed (exit status "
        f"{code}); get it or save it again"
    )


def too_large(limit: int) -> TooLargeError:
    """Return the error for a file that takes too much memory."""
    return TooLargeError(f"reading it takes more memory than {describe_limit(limit)}")


def pack(value: Any, file: IO[bytes], *, most: int = sys.maxsize) -> None:
    """Write a value to a file: an archive of NumPy with its description and its arrays."""
    arrays: dict[str, Any] = {}

    def describe(part: Any) -> Any:
        if isinstance(part, np.generic):
            return part.item()
        if isinstance(part, sp.csr_array):
            return {SPARSE: [part.data, part.indices, part.indptr, part.shape]}
        if not isinstance(part, np.ndarray) or part.dtype.hasobject:
            raise TypeError(f"{type(part).__name__} is not sent")
        arrays[name := f"array{len(arrays)}"] = part
        return {ARRAY: name}

    text = json.dumps(value, default=describe).encode()
    if len(text) + sum(array.nbytes for array in arrays.values()) > most:
        raise MemoryError
    np.savez(file, value=np.frombuffer(text, dtype=np.uint8), **arrays)
    file.flush()


def unpack(file: IO[bytes]) -> Any:
    """Return a value from its description."""
    try:
        with np.load(file, allow_pickle=False) as archive:

            def restore(part: dict[str, Any]) -> Any:
                if SPARSE in part:
                    return compressed_table(sp.csr_array, part[SPARSE][:3], part[SPARSE][3])
                return archive[part[ARRAY]] if ARRAY in part else part

            return json.loads(archive["value"].tobytes(), object_hook=restore)
    except Exception as error:  # zipfile, json and numpy fail in ways of their own
        raise TableError("the process that read it returned a damaged answer") from error


# The child ----------------------------------------------------------------------------------------


def main() -> None:
    """Call the function that the standard input names, and write its answer: the child itself."""
    global isolated
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    request = json.load(sys.stdin.buffer)
    isolated = False
    warnings.simplefilter("ignore")
    for name in request["imports"]:
        with suppress(ImportError):  # whoever needs it says what to install
            importlib.import_module(name)
    function = _resolve(request["function"])
    _limit_process(request["memory"], request["seconds"])
    try:
        answer = {"value": function(Path(request["path"]), **request["arguments"])}
        pack(answer, output, most=request["memory"] + MARGIN)
        return
    except Exception as error:
        # Without the frames of the error, what they hold is free again.
        about = _describe_error(error)
    output.seek(0)
    output.truncate()
    pack(about, output)


def _describe_error(error: Exception) -> dict[str, str]:
    """Return what the parent must know to raise an error again."""
    message = str(error)
    full = isinstance(error, OSError) and error.errno in (errno.ENOMEM, errno.EFBIG, errno.ENOSPC)
    if full or isinstance(error, MemoryError) or FULL.search(message):
        return {"error": "MemoryError", "message": ""}
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__name__ in KINDS]
    name = kinds[0] if kinds else ""
    return {"error": name, "message": message[:10_000] or type(error).__name__}


def _limit_process(memory: int, seconds: float) -> None:
    """Limit the memory, the time and the size of files of this process, where the system can."""
    with suppress(ImportError):
        import resource

        data = system_number(r"^VmData:\s+(\d+) kB", "proc/self/status")
        limits = {
            resource.RLIMIT_DATA: (1024 * data if data else USUAL_START) + memory + MARGIN,
            resource.RLIMIT_FSIZE: memory + MARGIN,
            resource.RLIMIT_CPU: int(seconds) + 1,
            resource.RLIMIT_CORE: 0,
        }
        for kind, size in limits.items():
            _, hard = resource.getrlimit(kind)
            most = size if hard == resource.RLIM_INFINITY else min(size, hard)
            with suppress(ValueError, OSError, OverflowError):
                resource.setrlimit(kind, (most, hard))
