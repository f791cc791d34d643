"""The demo, as a user runs it."""

import re
import subprocess
import sys


def test_the_demo_prints_and_writes_its_report(tmp_path):
    command = [sys.executable, "-m", "featsieve.demo", "-o", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert report in done.stdout
    rows = re.findall(r"^\| \d.*? \| (\d+) \| (\d+) \| (\d+) \| ", report, re.MULTILINE)
    assert len(rows) == 6
    for informative, found, published in rows:
        assert int(found) >= 0.9 * int(informative)
        assert int(found) >= int(published)
    assert "JASFS's own clusters" in report
    automatic = re.findall(
        r"^\| planted \d \| 4 \| (\d+) \| (\d+) \| (\d+) \|", report, re.MULTILINE
    )
    assert len(automatic) == 3
    for clusters, features, informative in automatic:
        assert 2 <= int(clusters) <= 8  # within a factor of two
        assert int(informative) >= 0.8 * int(features)
    assert "none: it warns" in report
