"""Where and with what a cell was run: the machine and the versions, as text for its rows.

Neither holds a host name, a user or a path: results are meant to be shown to others.
"""

import ast
import hashlib
import json
import platform
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

import joblib
from threadpoolctl import threadpool_info

import featsieve

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Parts of the library that decide no score: they arrange and describe. What a plan asks for is in
# the identity of its cells, and the numbers of a table from a file are, too; registered files are
# known by their checksums, and what reads their numbers (BUT) decides.
NOT_COMPUTING = (
    *("__main__.py", "docstrings.py", "names.py", "progress.py"),
    *("anndata/", "cli/", "io/", "report/", "workflow/", "bench/__init__.py", "bench/plans/"),
    *(f"bench/{name}.py" for name in ("environment", "parse", "plan", "pool")),
    *(f"bench/{name}.py" for name in ("results", "run", "store")),
)
BUT = ("io/dataset.py", "io/formats/variables.py")


@cache
def machine() -> str:
    """Describe this computer in one line."""
    described = Path("/proc/cpuinfo")  # on Linux, as its maker names it
    text = described.read_text(errors="replace") if described.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    name = found.group(1) if found else platform.processor() or platform.machine()
    # two numbers of the release: the rest can hold names people chose
    release = re.match(r"\d+(\.\d+)?", platform.release())
    system = f"{platform.system()} {release.group() if release else ''}".strip()
    return f"{' '.join(name.split())}, cores: {joblib.cpu_count()}, {system}"


def versions() -> str:
    """Return the versions of everything that computes, as JSON."""
    about = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "joblib")}
    about |= {"python": platform.python_version(), "featsieve": featsieve.__version__}
    return json.dumps(about | {"source": source_hash(), "blas": blas()}, sort_keys=True)


def computes(name: str) -> bool:
    """Say whether a file of the library, named from its folder, can change a score."""
    return name in BUT or not name.startswith(NOT_COMPUTING)


@cache
def source_hash() -> str:
    """Return a hash of the library's files that can change a score."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.toml")]):
        name = path.relative_to(folder).as_posix()
        if computes(name):
            text = path.read_text(encoding="utf-8")
            content = without_words(text, python=path.suffix == ".py").encode()
            digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def without_words(text: str, *, python: bool = True) -> str:
    """Return code without comments on lines of their own, docstrings and empty lines.

    What was chosen is not what was said about it.
    """
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)) if python else ():
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            said = node.body[0]
            lines[said.lineno - 1] = lines[said.lineno - 1][: said.col_offset]
            for number in range(said.lineno, said.end_lineno or 0):
                lines[number] = ""
    kept = (line.rstrip() for line in lines if line.strip() and line.lstrip()[0] != "#")
    return "\n".join(kept)


def blas() -> str:
    """Name the linear algebra libraries in use; not cached: limits on threads come and go."""
    seen = {
        f"{library['internal_api']} {library['version'] or ''}".strip()
        + f", {library['num_threads']} thread{'s' if library['num_threads'] > 1 else ''}"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return "; ".join(sorted(seen)) or "unknown"
