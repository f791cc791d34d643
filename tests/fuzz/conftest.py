"""How many examples, and what became of them.

``make test`` looks at a few of each estimator, the same ones every time. The nightly profile
(``make fuzz``) sets ``FEATSIEVE_FUZZ_EXAMPLES``, the number for each estimator: new ones every
time, and first those that failed before (hypothesis keeps them in ``.hypothesis``). What became of
them is written to the folder ``FEATSIEVE_FUZZ_COUNTS``, one file per process.
"""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.fuzz.contract import OUTCOMES

NIGHTLY = os.environ.get("FEATSIEVE_FUZZ_EXAMPLES")
EXAMPLES = 6

settings.register_profile(
    "fuzz",
    max_examples=int(NIGHTLY or EXAMPLES),
    derandomize=not NIGHTLY,
    print_blob=bool(NIGHTLY),
    phases=set(Phase) - {Phase.explain},  # which takes minutes
    deadline=None,  # the contract has a time limit of its own
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def write_outcomes():
    """Write what became of this process's examples so far."""
    yield
    folder = os.environ.get("FEATSIEVE_FUZZ_COUNTS")
    if folder:
        counts = [[name, what, count] for (name, what), count in OUTCOMES.items()]
        Path(folder, f"{os.getpid()}.json").write_text(json.dumps(counts))
