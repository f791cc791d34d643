"""Tests that run something as another user: only root can do that."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

NOBODY = 65534
PROBE = f"""
import os, sys
import featsieve.io.files
os.setgid({NOBODY}), os.setuid({NOBODY})
os.listdir(sys.argv[1])
"""


def plain_environment():
    """Return the variables without those of coverage, whose files are another user's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}


def possible():
    """Say whether we may become another user, who may look into a temporary folder."""
    if os.name != "posix" or os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        command = [sys.executable, "-c", PROBE, folder]
        done = subprocess.run(command, env=plain_environment(), capture_output=True, check=False)
    return done.returncode == 0


needs_two_users = pytest.mark.skipif(
    not possible(), reason="needs root, and a temporary folder that others may see"
)
