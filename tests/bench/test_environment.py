"""What rows say about where they come from: enough to judge timings, nothing private."""

import getpass
import json
import os
import platform
import socket
from pathlib import Path

import numpy as np

import featsieve
from featsieve.bench.environment import (
    BUT,
    NOT_COMPUTING,
    computes,
    machine,
    source_hash,
    versions,
    without_words,
)


def test_versions_and_machine_are_described():
    found = json.loads(versions())
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["featsieve"] == featsieve.__version__
    assert found["source"] == source_hash()
    assert platform.system() in machine()


def test_nothing_private_is_told():
    text = machine() + versions()
    assert os.sep + "home" not in text
    assert str(Path.cwd()) not in text
    assert socket.gethostname() not in text
    assert f" {getpass.getuser()} " not in f" {text} "


def test_what_can_change_a_score_is_in_the_hash_of_the_source():
    package = Path(featsieve.__file__).parent
    assert all((package / name).exists() for name in (*NOT_COMPUTING, *BUT))
    files = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    inside = {name for name in files if computes(name)}
    assert {name.split("/")[0] for name in inside if "/" in name} == {
        *("arrays", "bench", "criteria", "datasets", "evaluation", "graphs", "hypotheses", "io"),
        *("jasfs", "selectors", "solvers", "terms", "tuning"),
    }
    bench = {name for name in inside if name.startswith("bench/")}
    assert bench == {"bench/cells.py", "bench/methods.py", "bench/worker.py"}
    assert {"base.py", "choices.py", "constraints.py", "defaults.py", "validation.py"} < inside
    assert {name for name in inside if name.startswith("io/")} == set(BUT)


def test_words_are_not_in_the_hash_of_the_source():
    code = 'def f(x):\n    return x  # the same\n\n\nTEXT = """\n# kept\n"""\n'
    said = '"""What is here."""\n# A note.\n' + code.replace(
        "\n    return", '\n    """Return\n\n    what is given.\n    """\n    return'
    )
    assert without_words(said) == without_words(code)
    assert without_words(code.replace("return x ", "return -x ")) != without_words(code)
    assert without_words('def f(): """Words."""\n') == "def f():"
    assert without_words("# why\na = 1\n", python=False) == "a = 1"
