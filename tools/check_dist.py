"""Build sdist and wheel, and try them where nothing else is installed.

    python tools/check_dist.py

What is checked: the metadata; that the wheel holds the package and nothing else; that the wheel
made from the sdist is the one made from the sources; that in an environment with the core
dependencies alone every public name is there, a fit runs, and the tests of the core pass from the
unpacked sdist; that the types are seen by a strict checker; that the wheel with ``[cli]`` selects
features of a file. The archives are left in ``dist``.
"""

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
# What a wheel may hold besides modules.
DATA = {".typed", ".toml", ".css", ".js", ".j2"}
TEST_TOOLS = ("pytest", "hypothesis", "array-api-strict", "mypy", "scipy-stubs")
# Tests that need nothing but these besides the core.
CORE_TESTS = (
    "tests/test_package.py",
    "tests/jasfs/test_paper.py",
    "tests/solvers/test_homotopy_iht.py",
    "tests/solvers/test_forward_selection.py",
    "tests/terms",
)
# The optional libraries must be neither needed nor found.
FIRST_FIT = """
import importlib.util, sys
import featsieve
assert "site-packages" in featsieve.__file__, featsieve.__file__
for name in featsieve.__all__:
    getattr(featsieve, name)
from featsieve import JASFS
from featsieve.datasets import make_planted
made = make_planted(random_state=0)
model = JASFS(n_clusters=4, n_features_to_select=20, random_state=0).fit(made.X)
assert model.transform(made.X).shape == (150, 20)
assert made.informative[model.support_].mean() > 0.8
optional = ("pandas", "pyarrow", "h5py", "skops", "matplotlib", "dask", "typer", "jinja2", "torch")
assert not [name for name in optional if importlib.util.find_spec(name)]
try:
    featsieve.save_model(model, "model.skops")
except ImportError as error:
    assert "featsieve[model]" in str(error), error
print("core:", len(featsieve.__all__), "public names, a fit, no optional library")
"""
WRITE_TABLE = """
import pandas
from featsieve.datasets import make_planted
table = pandas.DataFrame(make_planted(random_state=0).X).add_prefix("f")
table.to_csv("t.csv", index=False)
"""


def call(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder; show what it said only if it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Return sdist and wheel; the wheel is made from the sdist, and is that of the sources."""
    for old in DIST.glob("featsieve-*"):
        old.unlink()
    call(sys.executable, "-m", "build", "--outdir", DIST, ROOT, folder=folder)
    call(
        sys.executable, "-m", "build", "--wheel", "--outdir", folder / "direct", ROOT, folder=folder
    )
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    (direct,) = (folder / "direct").glob("*.whl")
    if contents(wheel) != contents(direct):
        sys.exit("The wheel from the sdist is not the wheel from the sources.")
    call(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel, folder=folder)
    for archive in (sdist, wheel):
        print(f"{archive.name}: {archive.stat().st_size / 1024:.0f} KiB")
    return sdist, wheel


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def check_contents(wheel: Path) -> None:
    """Fail where the wheel lacks a file of the package or holds one that is none of it."""
    found = set(contents(wheel))
    sources = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "featsieve").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    package = {name for name in found if not name.split("/")[0].endswith(".dist-info")}
    if package != sources:
        sys.exit(f"In the wheel or the sources only: {sorted(package ^ sources)}")
    strange = {name for name in package if Path(name).suffix not in DATA | {".py"}}
    if strange:
        sys.exit(f"The wheel should not hold {sorted(strange)}")
    if "featsieve/py.typed" not in package:
        sys.exit("The wheel lacks py.typed: no type checker would look at it.")
    print(f"wheel: {len(package)} files, all of the package and nothing else")


def environment(folder: Path, *requirements: str | Path) -> Path:
    """Return the python of a new environment that holds these."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    call(python, "-m", "pip", "install", "--no-compile", *requirements, folder=folder)
    call(python, "-m", "pip", "check", folder=folder)
    return python


def main() -> None:
    """Build, install, try."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdist, wheel = build(folder)
        check_contents(wheel)

        python = environment(folder / "core", wheel)
        print(call(python, "-c", FIRST_FIT, folder=folder).strip())
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        call(python, "-m", "pip", "install", *TEST_TOOLS, folder=folder)
        unpacked = folder / sdist.name.removesuffix(".tar.gz")
        print(call(python, "-m", "pytest", "-q", *CORE_TESTS, folder=unpacked).splitlines()[-1])
        print(call(python, ROOT / "tools" / "public_types.py", folder=folder).splitlines()[0])

        python = environment(folder / "command", f"{wheel}[cli]")
        call(python, "-c", WRITE_TABLE, folder=folder)
        command = python.with_name("featsieve")
        options = ("--clusters", "4", "--features", "20", "-o", "out")
        call(command, "select", "t.csv", *options, folder=folder)
        call(command, "apply", "out/model.skops", "t.csv", "-o", "again.csv", folder=folder)
        if (folder / "again.csv").read_text() != (folder / "out" / "selected.csv").read_text():
            sys.exit("featsieve apply does not give back what featsieve select selected.")
        written = ", ".join(sorted(path.name for path in (folder / "out").iterdir()))
        print(f"command: {call(command, '--version', folder=folder).strip()}, wrote {written}")


if __name__ == "__main__":
    main()
