"""Our estimators against the implementations that can be installed from PyPI, in one run.

The script makes a throw-away environment, installs skfeature-chappers, ITMO_FS and this checkout
into it, and runs itself there. Both sides get the same standardised table, the same graph (5
neighbours, heat kernel, no self loops) where the peer takes one, the same first labels, the same
number of iterations (ended sooner where the peer needs longer than --patience) and threads. Times
are the best of three calls, or of a second of calls, in one process, the two sides in turn; calls
over 10 s are made once.
Memory is the growth of the resident set during the call, in a process of its own. A call over
--limit is stopped: its time and the ratio are lower bounds. "Spearman" correlates the scores of the
columns that vary; where it must be low, the notes say why. "repaired" is the same with the peer's
own numbers turned into a ranking as the method says.

Methods without a peer are measured against the products they cannot avoid: seconds per iteration,
divided by the seconds of the same products and solves as bare NumPy calls.

Usage: [FEATSIEVE_DATA=folder] python benchmarks/peers.py [--iterations 5] [--threads 2]
       [--sets NAME ...] [--keep-env FOLDER] [--output FILE.md] [--csv FILE.csv]
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

from peer_table import (
    HEAD,
    PRODUCT_HEAD,
    ProductRow,
    Row,
    cells,
    notes,
    product_cells,
    summary,
    table,
    write_rows,
)

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("skfeature-chappers", "ITMO_FS")
SHOWN_VERSIONS = ("numpy", "scipy", "scikit-learn", *PACKAGES)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def document(
    rows: Sequence[Row], product_rows: Sequence[ProductRow], command: str, machine: str
) -> str:
    """Return the page that is printed and kept."""
    introduction = (__doc__ or "").split("\n\nUsage")[0].split("\n", 2)[2].splitlines()
    lines = ["# Peers", "", *introduction, "", f"    {command}", "", machine, ""]
    if rows:
        lines += ["## Against other implementations", ""]
        lines += [*table(HEAD, map(cells, rows)), "", *summary(rows), ""]
        lines += ["Notes:", "", *notes(rows), ""]
    if product_rows:
        lines += ["## Against the products that cannot be avoided", ""]
        lines += table(PRODUCT_HEAD, map(product_cells, product_rows))
    return "\n".join(lines).rstrip() + "\n"


def machine_line(threads: int) -> str:
    """Return the machine and the versions, without names or paths."""
    from importlib.metadata import version

    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        model = next((x.split(":")[1].strip() for x in lines if "model name" in x), model)
    versions = ", ".join(f"{name} {version(name)}" for name in SHOWN_VERSIONS)
    return (
        f"{model}, {os.cpu_count()} cores, {threads} threads; {platform.system()}, Python "
        f"{platform.python_version()}, {versions}."
    )


def make_environment(folder: Path) -> Path:
    """Create (or reuse) the environment with the peers and this checkout; return its Python."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([*pip, *PACKAGES], check=True)
    subprocess.run([*pip, str(ROOT)], check=True)
    # The version does not change with the code: install what is here now.
    subprocess.run([*pip, "--force-reinstall", "--no-deps", str(ROOT)], check=True)
    return python


def measure_here(arguments: argparse.Namespace) -> None:
    """Measure in this process, which runs in the environment; print and write the results."""
    import peer_run  # needs NumPy, the peers and this checkout

    rows = peer_run.peer_rows(arguments)
    product_rows = peer_run.product_rows(arguments)
    page = document(rows, product_rows, shown_command(arguments), machine_line(arguments.threads))
    print(page)
    if arguments.output:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(page, encoding="utf-8")
    if arguments.csv:
        write_rows(arguments.csv, rows)
        if product_rows:
            write_rows(products_file(arguments.csv), product_rows)


def products_file(path: Path) -> Path:
    """Return the file of the second table, beside that of the first."""
    return path.with_name(f"{path.stem}_products{path.suffix}")


def shown_command(arguments: argparse.Namespace) -> str:
    """Return the command line without paths of this machine."""
    words = ["python benchmarks/peers.py"]
    words += [f"--iterations {arguments.iterations}", f"--threads {arguments.threads}"]
    words += [f"--patience {arguments.patience:g}", f"--limit {arguments.limit:g}"]
    if arguments.sets:
        words.append("--sets " + " ".join(f'"{name}"' for name in arguments.sets))
    if os.environ.get("FEATSIEVE_DATA"):
        words.insert(0, "FEATSIEVE_DATA=folder")
    return " ".join(words)


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--patience", type=float, default=15.0, help="seconds for iterations")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a call")
    parser.add_argument("--sets", nargs="+", help="only these tables")
    parser.add_argument("--methods", nargs="+", help="only these methods")
    parser.add_argument("--keep-env", type=Path, metavar="FOLDER")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main() -> None:
    arguments = parse()
    if arguments.inside:
        measure_here(arguments)
        return
    with tempfile.TemporaryDirectory() as temporary:
        python = make_environment(arguments.keep_env or Path(temporary) / "env")
        settings = dict.fromkeys(THREAD_VARIABLES, str(arguments.threads))
        command = [str(python), __file__, *sys.argv[1:], "--inside"]
        done = subprocess.run(command, env={**os.environ, **settings}, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
