"""Whether a process of which only the number is known still runs."""

import os
import time
from pathlib import Path

# Clocks of files and processes differ by a little.
SLACK = 2.0


def is_alive(number: int, *, since: float) -> bool:
    """Tell whether the process that had a number at some time still runs (on this machine).

    Parameters
    ----------
    number : int
    since : float
        Seconds since the epoch. A process that started later is another one with the same number,
        where the system tells when it started.

    Returns
    -------
    bool
        True where nobody can tell.

    Examples
    --------
    >>> import os, time
    >>> from featsieve.processes import is_alive
    >>> is_alive(os.getpid(), since=time.time()), is_alive(os.getpid(), since=0.0)
    (True, False)
    """
    if os.name != "posix":
        return True
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:  # the numbers follow the name in brackets
        about = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return True
    if about[0] == "Z":  # killed, but its parent has not looked yet
        return False
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(about[19]) / os.sysconf("SC_CLK_TCK")
    return time.time() - age <= since + SLACK
