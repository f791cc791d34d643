"""Print pip constraints that hold every direct dependency at its lower bound.

    python tools/oldest.py [EXTRA ...] > constraints.txt

The bounds are read from ``pyproject.toml``, so the oldest versions that are tested are always
the oldest versions that are promised.
"""

import re
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def direct_dependencies(extras: tuple[str, ...], *, project: Path = PROJECT) -> list[Requirement]:
    """Return what the library and some of its extras ask for; extras may name other extras."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    waiting, seen, found = list(extras), set(), list(table["dependencies"])
    while waiting:
        extra = waiting.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for line in table["optional-dependencies"][extra]:
            requirement = Requirement(line)
            if canonicalize_name(requirement.name) == table["name"]:
                waiting.extend(requirement.extras)
            else:
                found.append(line)
    return [Requirement(line) for line in found]


def lower_bound(requirement: Requirement) -> Version:
    """Return the version after ``>=``; every dependency must have one."""
    bounds = [Version(part.version) for part in requirement.specifier if part.operator == ">="]
    if len(bounds) != 1:
        raise ValueError(f"{requirement} needs one lower bound, as in '{requirement.name}>=1.2'.")
    return bounds[0]


def oldest(extras: tuple[str, ...], *, project: Path = PROJECT) -> list[str]:
    """Return one line ``name==version`` for every direct dependency, sorted by name."""
    bounds: dict[str, Version] = {}
    for requirement in direct_dependencies(extras, project=project):
        name = canonicalize_name(requirement.name)
        bound = lower_bound(requirement)
        if bounds.setdefault(name, bound) != bound:
            raise ValueError(
                f"{name} has two lower bounds, {bounds[name]} and {bound}; write the same in both."
            )
    return [f"{name}=={bound}" for name, bound in sorted(bounds.items())]


if __name__ == "__main__":
    extras = re.split(r"[,\s]+", ",".join(sys.argv[1:])) if sys.argv[1:] else []
    print("\n".join(oldest(tuple(extras))))
