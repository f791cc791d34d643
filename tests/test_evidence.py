"""Which files decide the rows of a step, and rows that other machines have."""

import importlib.util
import json
import platform
import subprocess
import sys
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
    # hypotheses imports quality, and that a part of the package that decides no score
    assert {"benchmarks/quality.py", "src/featsieve/report/figures.py"} < found
    assert "src/featsieve/criteria/structure.py" not in found  # in the hash of the package
    assert "benchmarks/genes.py" not in found
    assert not any(name.startswith("src/featsieve/cli") for name in found)


def test_parts_of_the_package_are_followed(evidence):
    files = evidence.imported(ROOT / "benchmarks" / "honest_tuning.py")
    found = {path.relative_to(evidence.PACKAGE).as_posix() for path in files if "src" in path.parts}
    assert {"report/bench/scores.py", "report/bench/published.toml", "bench/results.py"} < found
    assert "io/files.py" in found  # by results.py
    assert not any(name.startswith(("cli/", "criteria/")) for name in found)


def test_a_script_that_runs_the_command_line_stands_or_falls_with_all(evidence):
    files = evidence.imported(ROOT / "benchmarks" / "newcomers.py")
    assert {*evidence.PACKAGE.rglob("*.py"), *evidence.PACKAGE.rglob("*.j2")} < files
    assert not any(path.suffix == ".pyc" for path in files)


def test_what_a_script_reads_decides_its_page(evidence, tmp_path, monkeypatch):
    read = tmp_path / "paper.parquet"
    (name,) = evidence.INPUTS["honest_tuning"]
    assert (name.name, name.parent) == (read.name, ROOT / "docs" / "results")
    monkeypatch.setitem(evidence.INPUTS, "honest_tuning", [read])
    missing, other = evidence.state("honest_tuning"), evidence.state("methods")
    read.write_bytes(b"")
    assert evidence.state("honest_tuning") == missing
    read.write_bytes(b"rows")
    assert evidence.state("honest_tuning") != missing
    assert evidence.state("methods") == other


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


def test_own_rows_stay_and_unreadable_lines_go(evidence, tmp_path):
    kept, other = tmp_path / "here" / "state", tmp_path / "there"
    texts = {kept: b'["a", 1]\n["b", 1]\n["c", ', other / "state": b'["b", 2]\n\xff\n5\n["d", 2]'}
    for folder, text in texts.items():
        folder.mkdir(parents=True)
        (folder / "planted.jsonl").write_bytes(text)
    evidence.take("planted", kept, [])  # of a run that was killed: the next row has its own line
    assert (kept / "planted.jsonl").read_bytes() == b'["a", 1]\n["b", 1]\n'
    evidence.take("planted", kept, [other])
    assert (kept / "planted.jsonl").read_bytes() == b'["a", 1]\n["b", 1]\n["d", 2]\n'
    assert [path.name for path in kept.iterdir()] == ["planted.jsonl"]


def test_a_kill_loses_no_row(evidence, tmp_path, monkeypatch):
    kept, other = tmp_path / "here" / "state", tmp_path / "there"
    for folder, key in ((kept, "a"), (other / "state", "b")):
        folder.mkdir(parents=True)
        (folder / "planted.jsonl").write_text(json.dumps([key, 1]) + "\n")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(evidence.os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        evidence.take("planted", kept, [other])
    assert (kept / "planted.jsonl").read_text() == '["a", 1]\n'


def test_a_page_is_made_again_where_a_step_before_it_makes_its_input(
    evidence, tmp_path, monkeypatch
):
    read = tmp_path / "read"
    read.write_text("old")
    codes = {"plan paper": f"open({str(read)!r}, 'w').write('new')", "honest_tuning": ""}
    monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path))
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    states = {"honest_tuning": lambda: (read.read_text(), "page")}
    monkeypatch.setattr(evidence, "state", lambda step: states.get(step, lambda: ("s", "page"))())
    monkeypatch.setattr(
        evidence, "commands", lambda step, *_: [[sys.executable, "-c", codes[step]]]
    )
    _, old = evidence.place("honest_tuning", check=False)
    old.parent.mkdir(parents=True)
    old.touch()
    assert evidence.main(["--steps", *codes]) == 0
    _, new = evidence.place("honest_tuning", check=False)
    assert new != old
    assert new.exists()


def test_pages_are_compared_without_times_and_machines(evidence):
    page = "Scores.\n\n| set | ACC | seconds |\n|---|---|---|\n| iris | {} | {} |\n\n{} minutes.\n"
    page += "\n## Where this comes from\n\n| machine | {} |\n"
    own = evidence.without_times(page.format(0.9, 1.2, 3, "one"))
    assert own == evidence.without_times(page.format(0.9, 4.5, 6, "two"))
    assert own != evidence.without_times(page.format(0.8, 1.2, 3, "one"))
    inside = "| method | ACC |\n|---|---|\n| NDFS | {} ({} s) |\n| seconds | {} |\n"
    first, second = inside.format(0.9, 1.2, 3), inside.format(0.9, 45, 6.5)
    assert evidence.without_times(first) == evidence.without_times(second)
    assert evidence.without_times(first) != evidence.without_times(inside.format(0.8, 1.2, 3))
    costs = "| set | cost, in fits |\n|---|---|\n| iris | {} |\n"
    assert evidence.without_times(costs.format(1)) == evidence.without_times(costs.format(2))


def test_the_kernels_do_not_depend_on_the_processor(evidence):
    code = "import json, numpy as np; from threadpoolctl import threadpool_info as info; "
    code += "np.linalg.inv(np.eye(2)); found = np.show_config(mode='dicts')['SIMD Extensions']; "
    code += "print(json.dumps([found.get('found', []), [(i.get('architecture'), "
    code += "i['num_threads']) for i in info() if i['internal_api'] == 'openblas']]))"
    ran = subprocess.run(
        [sys.executable, "-c", code], env=evidence.one_kernel(), capture_output=True, check=True
    )
    features, libraries = json.loads(ran.stdout)
    assert not [name for name in features if name.startswith("AVX512") or name == "X86_V4"]
    assert {threads for _, threads in libraries} <= {1}
    if platform.machine() in ("x86_64", "AMD64"):
        assert {architecture for architecture, _ in libraries} <= {"Haswell"}
