"""The page of `make coverage`: what it counts, and where it fails."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "tools" / "coverage_page.py"


def found(lines, missing):
    """Return what coverage says of a file."""
    summary = {"num_statements": lines, "covered_lines": lines - len(missing)}
    return {"summary": summary, "missing_lines": missing}


@pytest.mark.parametrize(("missing", "status", "share"), [(5, 0, "95.0 %"), (6, 1, "94.0 %")])
def test_lines_are_added_up_by_package(tmp_path, missing, status, share):
    files = {
        "src/featsieve/base.py": found(40, []),
        "src/featsieve/graphs/knn.py": found(20, []),
        "src/featsieve/report/selection/map.py": found(40, [1, 2, 3, 7, 9, 10][:missing]),
    }
    report = tmp_path / "coverage.json"
    report.write_text(json.dumps({"files": files}))
    command = [sys.executable, SCRIPT, report, "--output", tmp_path / "page.md"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stderr
    page = (tmp_path / "page.md").read_text()
    assert page == ended.stdout
    assert "on Python {}.{}.\n".format(*sys.version_info) in page
    assert "| featsieve | 40 | 40 | 100.0 % |" in page
    assert "| featsieve.graphs | 20 | 20 | 100.0 % |" in page
    assert f"| all | 100 | {100 - missing} | {share} |" in page
    lines = "1-3, 7, 9" if missing == 5 else "1-3, 7, 9-10"
    assert f"- `report/selection/map.py`: {lines}\n" in page
