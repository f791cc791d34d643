"""``featsieve doctor``: what this installation has, and what it lacks."""

from typing import Any

from featsieve.cli import options
from featsieve.cli.console import facts_grid, output, print_json

STYLES = {"found": "green", "missing": "yellow", "broken": "red"}


def doctor(as_json: options.Json = False) -> None:
    """Say which versions and optional parts are installed, and what the missing ones are for.

    Send this along when you report a problem. It holds the name of the folder for downloads and
    the one in FEATSIEVE_DATA, and nothing else about you.

    Example: `featsieve doctor`

    Example: `featsieve doctor --json`
    """
    from featsieve.workflow.doctor import examine

    found = examine()
    if as_json:
        print_json(found)
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    """Print what was found."""
    from rich.table import Table
    from rich.text import Text

    console = output()
    console.print(facts_grid(_facts(found)))
    console.print("\nOptional parts", style="bold")
    parts = Table.grid(padding=(0, 2))
    for part in found["parts"]:
        state = part["version"] or part["status"]
        text = f"for {part['purpose']}"
        if part["status"] == "missing":
            text += f"; to get it: {part['install']}"
        elif part["status"] == "broken":
            text += f"; {part['reason']}; install it again: {part['install']}"
        parts.add_row(Text(part["module"]), Text(state, style=STYLES[part["status"]]), Text(text))
    console.print(parts)


def _facts(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return pairs of a word and what there is to say."""
    memory = found["memory_bytes"]
    data = found["data"]
    folder = data["folder"] or "not set"
    if data["folder"] and not data["exists"]:
        folder += " (there is no such folder)"
    return [
        ("featsieve", found["featsieve"]),
        ("python", f"{found['python']}, {found['system']}"),
        *((name, version or "unknown") for name, version in found["core"].items()),
        ("linear algebra", "; ".join(found["blas"]) or "unknown"),
        ("cores", str(found["cores"])),
        ("memory", f"{memory / 2**30:.0f} GiB" if memory else "unknown"),
        ("accelerators", "; ".join(found["devices"]) or "none found"),
        ("downloads", found["cache"] or "none without pooch"),
        (data["variable"], folder),
    ]
