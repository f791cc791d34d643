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
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from common import finish, options, write_csv

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("skfeature-chappers", "ITMO_FS")
SHOWN_VERSIONS = ("numpy", "scipy", "scikit-learn", *PACKAGES)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


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
    from featsieve.bench.environment import machine

    rows = peer_run.peer_rows(arguments)
    product_rows = peer_run.product_rows(arguments)
    versions = ", ".join(f"{name} {version(name)}" for name in SHOWN_VERSIONS)
    lines = [f"    {shown_command(arguments)}", ""]
    lines += [f"{machine()}, {arguments.threads} threads; {versions}.", ""]
    finish(arguments.output, "Peers", __doc__, lines + peer_run.page(rows, product_rows))
    if arguments.csv:
        products = arguments.csv.with_name(f"{arguments.csv.stem}_products.csv")
        for path, found in ((arguments.csv, rows), (products, product_rows)):
            if found:
                write_csv(path, [asdict(row) for row in found])


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


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--patience", type=float, default=15.0, help="seconds for iterations")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a call")
    parser.add_argument("--sets", nargs="+", help="only these tables")
    parser.add_argument("--methods", nargs="+", help="only these methods")
    parser.add_argument("--keep-env", type=Path, metavar="FOLDER")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
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
