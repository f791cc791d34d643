"""Commands that are started, and killed at a moment or before a file operation."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import kill_hook
from featsieve.bench.run import run_plan  # noqa: F401 (so that no fork has to import it)
from featsieve.cli import main as featsieve


class Runner:
    """Start commands, and kill them."""

    def __init__(self, home: Path, *, warm: bool) -> None:
        self.home, self.warm, self.log = home, warm, home / "operations.log"
        hooks = home / "hooks"
        hooks.mkdir(parents=True)
        shutil.copy(kill_hook.__file__, hooks / "sitecustomize.py")
        paths = [str(hooks), os.environ.get("PYTHONPATH", "")]
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.variables = {
            **os.environ,
            **threads,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }

    def run(
        self,
        command: list[str],
        *,
        watch: Path | None = None,
        at: int = 0,
        who: str = "main",
        whom: str = "group",
        after: float | None = None,
    ) -> tuple[int, str]:
        """Run a command to its end or to its kill; return its status and what it told."""
        self.log.unlink(missing_ok=True)
        settings = {"folder": str(watch), "at": at, "who": who, "whom": whom, "log": str(self.log)}
        about = {} if watch is None else {kill_hook.VARIABLE: json.dumps(settings)}
        told = self.home / "told.txt"
        with told.open("w") as output:
            if self.warm:
                status = self._forked(command, settings if watch else None, output.fileno())
            else:
                process = subprocess.Popen(
                    [sys.executable, "-m", "featsieve", *command],
                    env=self.variables | about,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
                status = _wait(process, after)
        return status, told.read_text()

    def _forked(self, command: list[str], settings: dict[str, Any] | None, output: int) -> int:
        """Run a command in a copy of this process, which has imported everything already."""
        child = os.fork()
        if child == 0:
            os.setsid()
            os.environ.update(self.variables)
            os.dup2(output, 1)
            os.dup2(output, 2)
            if settings is not None:
                os.environ[kill_hook.VARIABLE] = json.dumps(settings)  # for the workers
                kill_hook.install(settings)
            status = 70
            try:
                featsieve(command)
            except SystemExit as end:
                status = int(end.code or 0)
            except BaseException:
                traceback.print_exc()
            finally:  # it must never go on as its parent
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        _wait_for_group(child)
        return status

    def warm_up(self, command: list[str]) -> None:
        """Run a command in this process: what it imports need not be imported after a fork."""
        if self.warm:
            with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
                featsieve(command)

    def operations(self, kind: str) -> int:
        """Count the file operations of one kind of process in the last run."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return sum(line.startswith(kind) for line in lines)


def _wait(process: "subprocess.Popen[bytes]", after: float | None) -> int:
    """Wait for the end of a process, which is killed with its group after some seconds."""
    try:
        return process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()
    finally:
        _wait_for_group(process.pid)


def _wait_for_group(number: int) -> None:
    """Wait until all processes of a group have gone, killed or by themselves."""
    limit = time.monotonic() + 60.0
    while time.monotonic() < limit:
        try:
            os.killpg(number, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.01)
    raise RuntimeError("a process that was killed lives on")
