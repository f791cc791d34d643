"""``featsieve report``: of a selection, and of nothing (of a benchmark: test_bench.py)."""

FAST = ("--clusters", "3", "--features", "4", "--subsamples", "0", "--drop-text")


def test_of_a_selection(call, people, tmp_path):
    people.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    call("select", tmp_path / "t.csv", "-o", out, *FAST)
    page = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    assert call("report", out) == (0, f"Wrote {out / 'report.html'}\n", "")
    assert (out / "report.html").read_bytes() == page
    other = tmp_path / "new" / "page.html"
    assert call("report", out, "-o", other)[0] == 0
    assert other.read_bytes() == page
    model = (out / "model.skops").read_bytes()
    code, _, told = call("report", out, "-o", out / "model.skops")
    assert code == 2
    assert "-o FILE.html" in told
    assert (out / "model.skops").read_bytes() == model


def test_of_nothing(call, tmp_path):
    code, shown, told = call("report", tmp_path)
    assert (code, shown) == (2, "")
    assert f"{tmp_path} holds no results" in told
