"""Tests of mutants: every one in a process of its own, against the tests that run its line."""

import gc
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from mutants import Mutant

SOLVERS = Path("src/featsieve/solvers")
TESTS = ("tests/solvers", str(SOLVERS))
# A test may take so many times the seconds that it takes without the change, and so many more.
PATIENCE, GRACE = 5.0, 3.0
MEMORY = 6 * 2**30
KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"


class OneModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import one module from a given source."""

    def __init__(self, mutant: Mutant) -> None:
        self.name = f"featsieve.solvers.{mutant.module}"
        self.path = str(SOLVERS / f"{mutant.module}.py")
        self.source = mutant.source

    def find_spec(self, name: str, *_: Any) -> Any:
        """Return a specification for the one module."""
        if name != self.name:
            return None
        return importlib.util.spec_from_loader(name, self, origin=self.path)

    def exec_module(self, module: Any) -> None:
        """Run the source."""
        module.__file__ = os.path.abspath(self.path)
        exec(compile(self.source, module.__file__, "exec"), module.__dict__)


class Chosen:
    """A plugin of pytest: some tests only, the fastest first, without shrinking of examples."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def pytest_collection(self) -> None:
        """Set hypothesis up, after the tests' own settings and before they are used."""
        from hypothesis import HealthCheck, Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutation", settings(), phases=phases, suppress_health_check=list(HealthCheck)
        )
        settings.load_profile("mutation")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Give every test a limit of processor time: the signal ends the process."""
        signal.setitimer(signal.ITIMER_PROF, PATIENCE * self.seconds[nodeid] + GRACE)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """End with the first failure."""
        if report.failed:
            os._exit(1)

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Keep the tests that were chosen."""
        chosen = [item for item in items if item.nodeid in self.seconds]
        items[:] = sorted(chosen, key=lambda item: self.seconds[item.nodeid])


class Watch:
    """A plugin of pytest: note which test runs which lines, and for how long."""

    def __init__(self) -> None:
        import coverage

        self.coverage = coverage.Coverage(
            data_file=None, config_file=False, include=[str(SOLVERS / "*")]
        )
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_collection(self) -> None:
        """Begin before the modules are imported."""
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note the test."""
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note its time."""
        self.seconds[report.nodeid] += report.duration

    def found(self) -> dict[str, Any]:
        """Return the seconds of all tests, and the tests of every line of every module."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {
            Path(file).stem: {
                line: [test for test in tests if test]
                for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        return {"seconds": self.seconds, "lines": lines}


def pytest_in_child(files: Iterable[str], plugin: object) -> int:
    """Run tests with fresh modules of featsieve, everything else imported already."""
    import pytest

    for name in [name for name in sys.modules if name.partition(".")[0] == "featsieve"]:
        del sys.modules[name]
    left_out = ("-p", "no:cacheprovider", "-p", "no:unraisableexception")
    options = ("-x", "-q", "--assert=plain", "--tb=no", *left_out)
    return int(pytest.main([*options, *files], plugins=[plugin]))


def fork(mutant: Mutant, seconds: dict[str, float]) -> int:
    """Start the tests of one mutant; return the process."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        sys.meta_path.insert(0, OneModule(mutant))
        code = pytest_in_child({test.split("::")[0] for test in seconds}, Chosen(seconds))
    finally:
        os._exit(code)


def watch() -> dict[str, Any]:
    """Run all tests once, unchanged; return what they execute."""
    with tempfile.NamedTemporaryFile() as file:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                plugin = Watch()
                code = pytest_in_child(TESTS, plugin)
                Path(file.name).write_text(json.dumps(plugin.found()))
            finally:
                os._exit(code)
        if os.waitpid(child, 0)[1]:
            raise SystemExit("the tests fail without any change")
        return json.loads(Path(file.name).read_text())


def tests_of(mutant: Mutant, watched: dict[str, Any], *, most: float) -> dict[str, float]:
    """Return the tests that can see a change, with their seconds: the fastest, if not all."""
    lines = {int(line): tests for line, tests in watched["lines"][mutant.module].items()}
    places = [range(mutant.line, mutant.last_line + 1)]
    if mutant.scope:
        places.append(range(mutant.scope[0], mutant.scope[1] + 1))
    if mutant.name:  # a constant: where it is used
        text = (SOLVERS / f"{mutant.module}.py").read_text().splitlines()
        places.append([i for i, line in enumerate(text, 1) if mutant.name in line])
    for place in (*places, lines):
        found = {test for line in place for test in lines.get(line, [])}
        if found:
            seconds = watched["seconds"]
            ranked = sorted(found, key=lambda test: (seconds[test], test))
            spent = accumulate(seconds[test] for test in ranked)
            affordable = zip(ranked, spent, strict=True)
            return {
                test: seconds[test]
                for test, total in affordable
                if total <= most or test == ranked[0]
            }
    return {}


def run_all(
    todo: list[Mutant], watched: dict[str, Any], *, jobs: int, most: float
) -> Iterator[tuple]:
    """Yield every mutant with its outcome."""
    running: dict[int, tuple[Mutant, float]] = {}
    todo = todo[::-1]
    while todo or running:
        while todo and len(running) < jobs:
            mutant = todo.pop()
            seconds = tests_of(mutant, watched, most=most)
            if not seconds:
                yield mutant, SURVIVED
                continue
            wall = 10.0 * (PATIENCE * sum(seconds.values()) + GRACE)  # one that waits for ever
            running[fork(mutant, seconds)] = mutant, time.monotonic() + wall
        time.sleep(0.02)
        for child, (mutant, deadline) in list(running.items()):
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended and time.monotonic() < deadline:
                continue
            if not ended:
                os.kill(child, signal.SIGKILL)
                status = os.waitpid(child, 0)[1]
            del running[child]
            if os.WIFSIGNALED(status):
                yield mutant, TIMED_OUT
            else:
                yield mutant, KILLED if os.waitstatus_to_exitcode(status) else SURVIVED


def import_libraries() -> None:
    """Import what all tests need, once, before the processes are made."""
    import pytest

    for name in ("hypothesis", "sklearn.neighbors", "featsieve.solvers"):
        importlib.import_module(name)
    pytest.main(["-q", "--collect-only", "tests/solvers/__init__.py"])  # the parts of pytest
    gc.collect()
    gc.freeze()
