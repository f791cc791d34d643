"""Which files decide the rows of a step, and rows that other machines have."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def evidence():
    spec = importlib.util.spec_from_file_location("evidence", ROOT / "benchmarks" / "evidence.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_script_stands_or_falls_with_what_it_imports(evidence):
    files = evidence.imported(ROOT / "benchmarks" / "calibration_clusters.py")
    found = {path.relative_to(ROOT).as_posix() for path in files}
    assert {"benchmarks/calibration_clusters.py", "benchmarks/hypotheses.py"} < found
    assert {"benchmarks/common.py", "src/featsieve/io/counts.py"} < found
    assert "benchmarks/genes.py" not in found
    assert not any(name.startswith("src/featsieve/cli") for name in found)


def test_rows_of_a_plan_stay_where_only_its_page_changes(evidence):
    rows, page = evidence.state("plan planted")
    assert rows != page
    assert rows == evidence.state("plan open")[0]
    assert evidence.state("planted")[0] not in (rows, evidence.state("quality")[0])


def test_rows_of_other_machines_are_added_once(evidence, tmp_path):
    kept, other = tmp_path / "here" / "state", tmp_path / "there"
    for folder, keys in ((kept, "ab"), (other / "state", "bc")):
        folder.mkdir(parents=True)
        lines = [json.dumps([key, 1]) + "\n" for key in keys]
        (folder / "planted.jsonl").write_text("".join(lines))
    for _ in range(2):
        evidence.take("planted", kept, [other])
        lines = (kept / "planted.jsonl").read_text().splitlines()
        assert [json.loads(line)[0] for line in lines] == ["a", "b", "c"]
    (other / "state" / "plan_open").mkdir()
    run, *_ = evidence.commands("plan open", kept, tmp_path, 1, [other])
    assert run[-2:] == ["--rows", str(other / "state" / "plan_open")]
