"""``featsieve select``: every format in, everything out, and nothing half-written."""

import json
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.formats.text import exact_numbers

FILES = {"features.csv", "model.skops", "report.html", "samples.csv", "summary.json"}
FAST = ("--clusters", "3", "--features", "6", "--subsamples", "0")


def names_in(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_from_a_csv_file_in_a_pipe(spawn, people, table, tmp_path):
    """As users do it: nothing but the table is known."""
    out = tmp_path / "results"
    done = spawn("select", table, "-o", out, "--id-column", "who", "--label-column", "kind")
    assert done.returncode == 0, done.stderr
    assert names_in(out) == FILES | {"selected.csv"}
    assert names_in(tmp_path) == {"people.csv", "results"}
    assert "\x1b" not in done.stdout + done.stderr  # no colours, no bars
    assert done.stderr == ""
    assert "The samples fall into 3 clusters" in done.stdout
    assert "Known classes" in done.stdout
    assert str(out / "report.html") in done.stdout
    assert f"featsieve apply {out / 'model.skops'}" in done.stdout

    selected = pd.read_csv(out / "selected.csv", **exact_numbers(pd.__version__))
    first, *chosen, last = selected
    assert (first, last) == ("who", "kind")
    assert chosen
    assert all(name.startswith("marker") for name in chosen)
    pd.testing.assert_frame_equal(selected, people[list(selected)], check_exact=True)
    features = pd.read_csv(out / "features.csv")
    assert len(features) == 50
    assert sorted(features.loc[features["selected"], "feature"]) == sorted(chosen)
    assert pd.read_csv(out / "samples.csv")["class"].tolist() == people["kind"].tolist()
    assert features["selection_frequency"].between(0, 1).all()
    assert pd.read_csv(out / "samples.csv")["sample"].tolist() == people["who"].tolist()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["reproduce"]["command"].startswith("featsieve select ")
    assert "<html" in (out / "report.html").read_text()


def test_for_machines(call, table, tmp_path):
    arguments = ("select", table, "-o", tmp_path / "out", "--drop-text", *FAST, "--json")
    code, shown, told = call(*arguments)
    assert (code, told) == (0, "")
    found = json.loads(shown)
    assert len(found["selected"]) == found["number"]["selected"] == 6
    assert len(found["clusters"]["rows"]) == 3
    assert found["method"]["name"] == "JASFS"
    assert all(os.path.isfile(path) for path in found["files"].values())
    assert found["evaluation"] is None


def test_results_are_replaced_on_request_only(call, table, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    arguments = ("select", table, "-o", out, "--drop-text", *FAST)
    code, _, told = call(*arguments, "--force")
    assert code == 2
    assert "holds mine.txt, which is not a result of this command: name another folder" in told
    (out / "mine.txt").unlink()
    assert call(*arguments)[0] == 0
    before = (out / "summary.json").read_bytes()
    code, _, told = call(*arguments, "--features", 3)
    assert code == 2
    assert "add --force" in told
    assert (out / "summary.json").read_bytes() == before
    code, _, _ = call(*arguments, "--features", 3, "--force")
    assert code == 0
    assert names_in(out) == FILES | {"selected.csv"}
    assert read_table(out / "selected.csv").X.shape == (90, 3)


def test_missing_values(call, people, tmp_path):
    people = people.drop(columns=["who", "kind"])
    people.iloc[[3, 5], 4] = np.nan
    people.iloc[7, 9] = np.nan
    people.to_csv(tmp_path / "t.csv", index=False)
    arguments = ("select", tmp_path / "t.csv", "-o", tmp_path / "out", *FAST)
    code, _, told = call(*arguments)
    assert code == 2
    assert told.count("\n") == 1
    assert f"3 missing values, in 2 columns ('{people.columns[4]}'" in told
    assert "--impute median" in told
    assert not (tmp_path / "out").exists()
    code, shown, told = call(*arguments, "--impute", "median")
    assert (code, told) == (0, "")
    assert "filled with the column's median" in " ".join(shown.split())


def test_pixels(call, tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 12))
    X[:20, :3] += 4.0
    write_table(tmp_path / "t.npz", Dataset("t", X))
    arguments = ("select", tmp_path / "t.npz", *FAST, "--clusters", 2)
    code, _, _ = call(*arguments, "-o", tmp_path / "out", "--image", "3x4")
    assert code == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["image"] is not None
    code, _, told = call(*arguments, "-o", tmp_path / "other", "--image", "4x4")
    assert code == 2
    assert "image_shape=4 x 4 makes 16 pixels, but X has 12 columns" in told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gone.csv"], "gone.csv: there is no such file"),
        (["people.docx"], "does not say how to read it"),
        (["people.csv", "--method", "jafs"], "no method 'jafs' (did you mean 'jasfs'"),
        (["people.csv", "--clusters", "91"], "from 2 to 90 (the number of rows)"),
        (["people.csv", "--features", "51"], "an integer between 1 and 50"),
        (["people.csv", "--subsamples", "1"], "at least 2"),
        (["people.csv", "--drop", "whom"], "no column 'whom' (did you mean 'who'?)"),
        (["people.csv", "-o", "/dev/null/out"], "Nothing can be written to /dev/null/out"),
    ],
)
def test_a_mistake_ends_in_one_sentence(call, table, arguments, sentence, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, shown, told = call("select", "-o", "out", "--drop-text", *arguments)
    assert (code, shown) == (2, "")
    assert sentence in told
    assert told.startswith("featsieve: ")
    assert told.count("\n") == 1
    assert names_in(tmp_path) == {"people.csv"}


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.slow
def test_stopping_leaves_nothing_behind(spawn, table, tmp_path, number, code):
    """In the middle of a fit: subsamples enough for hours."""
    out = tmp_path / "deep" / "out"
    arguments = ("select", table, "-o", out, "--drop-text", *FAST[:4], "--subsamples", 100000)
    process = spawn(*arguments, wait=False)
    try:
        while not list(tmp_path.glob("deep/.out.new")):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        time.sleep(1.0)
        process.send_signal(number)
        shown, told = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == code
    assert (shown, told) == ("", "featsieve: stopped; nothing is left half written.\n")
    assert names_in(out.parent) == set()
    assert names_in(tmp_path) == {"people.csv", "deep"}


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals of Unix")
@pytest.mark.slow
def test_a_terminal_gets_progress_and_colours(spawn, table, tmp_path):
    import pty

    master, slave = pty.openpty()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TERM": "xterm-256color", "COLUMNS": "90"}
    environment.pop("NO_COLOR", None)
    process = spawn(
        *("select", table, "-o", tmp_path / "out", "--drop-text", *FAST[:4], "--subsamples", 3),
        wait=False,
        env=environment,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(master)
    assert process.wait() == 0
    text = seen.decode()
    assert "\x1b[" in text
    assert "subsample 3 of 3" in text


def test_it_never_replaces_the_table(call, people, tmp_path):
    table = tmp_path / "features.csv"
    people.drop(columns=["who", "kind"]).to_csv(table, index=False)
    before = table.read_bytes()
    code, _, told = call("select", table, "-o", tmp_path, "--force")
    assert code == 2
    assert "would replace the table" in told
    assert table.read_bytes() == before


def test_missing_classes_do_not_stop_it(call, people, tmp_path):
    frame = people.assign(kind=people["kind"].where(people.index > 4))
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, shown, told = call(
        "select", tmp_path / "t.csv", "-o", tmp_path / "out", "--id-column", "who",
        "--label-column", "kind", "--clusters", "3", "--features", "4", "--subsamples", "0",
    )  # fmt: skip
    assert code == 0
    assert "5 labels of 90 missing" in told + shown
    assert "Known classes" not in shown
    assert pd.read_csv(tmp_path / "out" / "selected.csv")["kind"].isna().sum() == 5


@pytest.mark.slow
def test_letters_that_cannot_be_shown_are_no_reason_to_fail(spawn, people, tmp_path):
    people.rename(columns={people.columns[1]: "größe"}).to_csv(tmp_path / "t.csv", index=False)
    arguments = ("select", tmp_path / "t.csv", "--drop-text", "--clusters", "3", "--features", "50")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "OMP_NUM_THREADS": "1"}
    plain = ("--method", "maxvariance", "--subsamples", "0", "-o")
    shown = spawn(*arguments, *plain, tmp_path / "a", env=ascii_only)
    assert shown.returncode == 0, shown.stderr
    told = spawn(*arguments, "--json", *plain, tmp_path / "b", env=ascii_only)
    assert told.returncode == 0, told.stderr
    assert "gr\\u00f6\\u00dfe" in told.stdout
    assert "größe" in json.dumps(json.loads(told.stdout), ensure_ascii=False)
