"""The child process that reads an untrusted file; see `featsieve.io.child`, which starts it."""

import errno
import importlib
import json
import os
import re
import signal
import sys
import warnings
from contextlib import suppress
from pathlib import Path

from featsieve.io import child
from featsieve.io.memory import memory_limit

# Of stacks of threads and of modules that are imported late, which are not the file's doing.
MARGIN = 2**25
# Where nobody can tell how much a process has already.
USUAL_START = 2**28
# What libraries of C say if there is no memory.
FULL = re.compile("memory allocation failed|bad_alloc|malloc of size")


def main() -> None:
    """Call the function that the standard input names, and write its answer to the output."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    output.write(child.STARTED)
    output.flush()
    request = json.load(sys.stdin.buffer)
    child.isolated = False
    warnings.simplefilter("ignore")
    for name in request["imports"]:
        with suppress(ImportError):  # whoever needs it says what to install
            importlib.import_module(name)
    function = child.resolve(request["function"])
    limit_process(request["memory"], request["seconds"])
    try:
        answer = {"value": function(Path(request["path"]), **request["arguments"])}
        child.pack(answer, output, most=memory_limit() + MARGIN)
        return
    except Exception as error:
        # Without the frames of the error, what they hold is free again.
        about = describe_error(error)
    output.seek(len(child.STARTED))
    output.truncate()
    child.pack(about, output, most=sys.maxsize)


def describe_error(error: Exception) -> dict[str, str]:
    """Return what the parent must know to raise an error again."""
    message = str(error)
    full = isinstance(error, OSError) and error.errno in (errno.ENOMEM, errno.EFBIG, errno.ENOSPC)
    if full or isinstance(error, MemoryError) or FULL.search(message):
        return {"error": "MemoryError", "message": ""}
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__name__ in child.KINDS]
    name = kinds[0] if kinds else ""
    return {"error": name, "message": message[:10_000] or type(error).__name__}


def limit_process(memory: int, seconds: float) -> None:
    """Limit the memory, the time and the size of files of this process, where the system can."""
    with suppress(ImportError):
        import resource

        limits = {
            resource.RLIMIT_DATA: _data_size() + memory + MARGIN,
            resource.RLIMIT_FSIZE: memory + MARGIN,
            resource.RLIMIT_CPU: int(seconds) + 1,
            resource.RLIMIT_CORE: 0,
        }
        for kind, size in limits.items():
            _, hard = resource.getrlimit(kind)
            most = size if hard == resource.RLIM_INFINITY else min(size, hard)
            with suppress(ValueError, OSError, OverflowError):
                resource.setrlimit(kind, (most, hard))


def _data_size() -> int:
    """Return how many bytes of data this process has."""
    try:
        about = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(re.search(r"VmData:\s+(\d+) kB", about)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        return USUAL_START


if __name__ == "__main__":
    main()
