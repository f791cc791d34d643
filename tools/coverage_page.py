"""Print which share of the lines of every package the last coverage run has executed.

    coverage json -o coverage.json
    python tools/coverage_page.py coverage.json [--output benchmarks/results/coverage.md]

Ends with status 1 where less than ``LEAST`` percent of all lines were executed.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path, PurePosixPath

LEAST = 95.0
PACKAGE = "featsieve"


def package_of(file: str) -> str:
    """Return the package of a file, as dots: one level below the library."""
    parts = PurePosixPath(file.replace("\\", "/")).parts
    inside = parts[parts.index(PACKAGE) :]
    return ".".join(inside[:2]) if len(inside) > 2 else PACKAGE


def page(report: dict) -> tuple[str, float]:
    """Return the table as Markdown, and the share of all lines in percent."""
    lines: dict[str, Counter] = defaultdict(Counter)
    missing = []
    for file, found in sorted(report["files"].items()):
        summary = found["summary"]
        for package in (package_of(file), "all"):
            lines[package]["lines"] += summary["num_statements"]
            lines[package]["executed"] += summary["covered_lines"]
        if found["missing_lines"]:
            name = file.replace("\\", "/").rpartition(f"{PACKAGE}/")[2]
            missing.append((name, found["missing_lines"]))
    text = ["| package | lines | executed | |", "|---|---:|---:|---:|"]
    for package in sorted(lines, key=lambda name: (name == "all", name)):
        count, done = lines[package]["lines"], lines[package]["executed"]
        text.append(f"| {package} | {count} | {done} | {100.0 * done / max(count, 1):.1f} % |")
    text += ["", "Lines that no test reaches:", ""]
    text += [f"- `{name}`: {ranges(numbers)}" for name, numbers in missing]
    total = lines["all"]
    return "\n".join(text), 100.0 * total["executed"] / max(total["lines"], 1)


def ranges(numbers: list[int]) -> str:
    """Return line numbers, those that follow each other as first-last.

    >>> ranges([1, 2, 3, 7, 9, 10])
    '1-3, 7, 9-10'
    """
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def main() -> int:
    """Print the page; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, help="what `coverage json` wrote")
    parser.add_argument("--output", type=Path, default=None, help="a Markdown file")
    arguments = parser.parse_args()
    text, share = page(json.loads(arguments.report.read_text(encoding="utf-8")))
    head = [
        "# Coverage",
        "",
        "Lines of the library that the test suite executes, those that run in processes of their "
        f"own included (`make coverage`), on Python {sys.version_info.major}."
        f"{sys.version_info.minor}.",
        "",
    ]
    text = "\n".join([*head, text])
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text + "\n", encoding="utf-8")
    return 0 if share >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
