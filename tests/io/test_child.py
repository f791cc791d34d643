"""Functions on untrusted files run in a child process with limits, and come back as one value."""

import io
from pathlib import Path

import numpy as np
import pytest

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io import child
from featsieve.io.child import pack, run_in_child, time_limit, unpack
from featsieve.io.guard import MissingColumnError, TableError, TooLargeError

# What the child does with a file, by the name of the function.
FUNCTIONS = """
import ctypes, os, sys, time
import numpy as np
from featsieve.io.guard import MissingColumnError

def value(path, *, size):
    print("noise")
    os.write(1, b"more noise")
    return {"X": np.asfortranarray(np.arange(size * 2.0).reshape(size, 2)), "names": ["ä", "b"],
            "text": np.array(["a", "bc"]), "none": None, "empty": np.zeros((0, 3)),
            "path": str(path), "number": np.int64(3)}

def column(path): raise MissingColumnError("there is no column 'a'")
def strange(path): raise LookupError("what is this")
def missing(path): open("/no/such/file")
def unknown(path): raise ImportError("install it")
def crash(path): ctypes.string_at(0)
def memory(path): return np.ones(2**28).sum()
def answer(path): return np.broadcast_to(np.ones(1), 2**28)
def hang(path): time.sleep(60)
def busy(path):
    while True: pass
def leave(path): os._exit(3)
def modules(path): return list(sys.modules)
def unsent(path): return {"X": object()}
def folder(path): return [os.getcwd() in sys.path, sys.path[0]]
"""


@pytest.fixture(autouse=True)
def functions(tmp_path, monkeypatch):
    """Let the child find functions that do what libraries do with hostile files."""
    monkeypatch.setattr(child, "isolated", True)
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "fake_readers.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))


def call(name, **arguments):
    return run_in_child(f"fake_readers:{name}", Path("table.csv"), **arguments)


def test_a_value_comes_back():
    found = call("value", size=1000)
    X = found.pop("X")
    assert X.flags.f_contiguous
    assert X.flags.writeable
    np.testing.assert_array_equal(X, np.arange(2000.0).reshape(1000, 2))
    assert found.pop("text").tolist() == ["a", "bc"]
    assert found.pop("empty").shape == (0, 3)
    assert found.pop("path") == str(Path("table.csv").absolute())
    assert found == {"names": ["ä", "b"], "none": None, "number": 3}


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("column", MissingColumnError, "no column 'a'"),
        ("strange", RuntimeError, "what is this"),
        ("missing", RuntimeError, "No such file"),
        ("unknown", ImportError, "install it"),
        ("crash", TableError, "damaged, cut short or too large: .* crashed .exit status -11"),
        ("leave", TableError, "crashed .exit status 3"),
        ("unsent", RuntimeError, "object is not sent"),
    ],
)
def test_errors_keep_their_kind(name, kind, says):
    with pytest.raises(kind, match=says):
        call(name)


@pytest.mark.parametrize("name", ["memory", "answer"])
def test_memory_is_limited(name, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "500M")
    with pytest.raises(TooLargeError, match=r"than the 500 MiB that are allowed .FEATSIEVE_MAX_ME"):
        call(name)


@pytest.mark.parametrize("name", ["hang", "busy"])
def test_time_is_limited(name, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_MAX_SECONDS", "0.5")
    with pytest.raises(
        TableError, match=r"more than 0\.5 seconds: .* FEATSIEVE_MAX_SECONDS to more"
    ):
        call(name)


def test_larger_files_get_more_time(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_bytes(bytes(2**20))
    assert time_limit(path) == child.SECONDS + child.SECONDS_PER_MIB
    for wrong in ("-1", "soon", "inf"):
        monkeypatch.setenv("FEATSIEVE_MAX_SECONDS", wrong)
        with pytest.raises(ValueError, match="FEATSIEVE_MAX_SECONDS must be a number above 0"):
            time_limit(path)


def test_modules_of_the_current_folder_are_not_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "pandas.py").write_text("open('mark', 'w')")
    inside, _ = call("folder", imports=["pandas"])
    assert not inside
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("program", ["/no/such/python", "/bin/false"])
def test_a_child_that_does_not_start_is_not_blamed_on_the_file(tmp_path, monkeypatch, program):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    monkeypatch.setattr(child.sys, "executable", program)
    with pytest.raises(ImportError, match="process that reads files"):
        read_table(tmp_path / "table.csv")
    assert read_table(tmp_path / "table.csv", trusted=True).X.tolist() == [[1, 2], [3, 4]]


def test_a_mistake_in_the_time_limit_is_not_blamed_on_the_file(tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    monkeypatch.setenv("FEATSIEVE_MAX_SECONDS", "abc")
    with pytest.raises(ValueError, match=r"^FEATSIEVE_MAX_SECONDS must be"):
        read_table(tmp_path / "table.csv")


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet", ".npz", ".mat", ".h5ad"])
def test_a_file_of_every_format_comes_through_unchanged(tmp_path, ending):
    X = np.random.default_rng(0).normal(size=(7, 3))
    table = Dataset("table", X, feature_names=["a", "b", "ü"])
    write_table(tmp_path / f"table{ending}", table)
    found = read_table(tmp_path / f"table{ending}")
    np.testing.assert_array_equal(found.X, X)
    assert list(found.names) == ["a", "b", "ü"]


def test_an_interrupted_parent_ends_its_child(monkeypatch):
    processes = []
    start = child.subprocess.Popen

    def interrupted(*arguments, **more):
        processes.append(start(*arguments, **more))
        processes[0].communicate = lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)
        return processes[0]

    monkeypatch.setattr(child.subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        call("hang")
    assert processes[0].poll() is not None
    processes[0].stdin.close()


@pytest.mark.parametrize("lost", [0, 10, 400, 1000])
def test_a_damaged_answer_is_refused(lost):
    content = io.BytesIO()
    pack({"X": np.ones(100)}, content)
    assert unpack(io.BytesIO(content.getvalue()))["X"].sum() == 100
    with pytest.raises(TableError, match="damaged answer"):
        unpack(io.BytesIO(content.getvalue()[:lost]))


def test_objects_are_not_unpickled():
    content = io.BytesIO()
    np.savez(content, value=np.array([{}], dtype=object))
    content.seek(0)
    with pytest.raises(TableError, match="damaged answer"):
        unpack(content)


def test_the_child_imports_no_estimators():
    """Its start is what reading an honest file costs more."""
    found = call("modules", imports=["featsieve.io.formats.text"])
    assert not {"sklearn", "joblib", "pandas", "dask", "torch"} & set(found)
