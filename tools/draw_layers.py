"""Draw the layers of the package and who imports whom, from the import graph of the code.

The layers are declared by `[tool.importlinter]` in pyproject.toml; the imports, those inside
functions included, are found by grimp, which import-linter uses too. A dot says that the package of
its row imports the package of its column; a dot left of the diagonal would be an import upwards.

Usage: python tools/draw_layers.py            writes docs/_static/layers.svg
       python tools/draw_layers.py --check    fails if that file is out of date
"""

import argparse
import ast
import tomllib
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "featsieve"
PICTURE = ROOT / "docs" / "_static" / "layers.svg"

ROW, LABEL, TEXT, TOP = 26, 120, 590, 84  # sizes in pixels
# A heading stands above the first package of each floor.
FLOORS = {
    "cli": "what people call",
    "anndata": "what is built on the estimators",
    "selectors": "the estimators",
    "criteria": "what they are judged by",
    "solvers": "the numerical core",
}


def declared_layers() -> list[str]:
    """Return the packages from the top layer to the bottom one."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    rows = next(rule["layers"] for rule in settings["contracts"] if rule["type"] == "layers")
    return [name.strip() for row in rows for name in row.split("|")]


def package_imports(layers: list[str]) -> set[tuple[str, str]]:
    """Return the pairs (importer, imported) of packages."""
    graph = grimp.build_graph("featsieve", exclude_type_checking_imports=True, cache_dir=None)
    pairs = {
        (module.split(".")[1], imported.split(".")[1])
        for module in graph.modules - {"featsieve"}
        for imported in graph.find_modules_directly_imported_by(module) - {"featsieve"}
    }
    return {pair for pair in pairs if pair[0] != pair[1] and set(pair) <= set(layers)}


def first_line(name: str) -> str:
    """Return the first line of the docstring of a package or module."""
    path = SOURCE / name / "__init__.py"
    path = path if path.exists() else SOURCE / f"{name}.py"
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.splitlines()[0].replace("``", "").replace("`", "").rstrip(".;")


def text(x: float, y: float, words: str, style: str = "") -> str:
    """Return an element of text."""
    return f'<text x="{x:g}" y="{y:g}"{style}>{escape(words)}</text>'


def draw(layers: list[str], imports: set[tuple[str, str]]) -> str:
    """Return the picture as SVG."""
    top, rows, lines = TOP, {}, []
    for name in layers:
        if name in FLOORS:
            top += ROW
            lines.append(text(8, top - 8, FLOORS[name], ' class="floor"'))
        rows[name] = top
        top += ROW
    left = LABEL + TEXT
    columns = {name: left + ROW * (index + 0.5) for index, name in enumerate(layers)}
    width, height = left + ROW * len(layers) + 60, top + 12
    for name in layers:
        y = rows[name]
        lines.append(f'<rect x="4" y="{y + 1}" width="{width - 8:g}" height="{ROW - 2}"/>')
        lines.append(text(12, y + 17, name, ' class="name"'))
        lines.append(text(LABEL, y + 17, first_line(name)))
        x = columns[name]
        turned = f' transform="rotate(-60 {x:g} {TOP - 8})"'
        lines.append(text(x, TOP - 8, name, turned))
        lines.append(f'<path d="M{x - 4:g} {y + 9}h8v8h-8z" class="self"/>')
        lines += [
            f'<circle cx="{columns[other]:g}" cy="{y + ROW / 2:g}" r="5">'
            f"<title>{name} imports {other}</title></circle>"
            for other in layers
            if (name, other) in imports
        ]
    style = (
        "text{font:13px system-ui,sans-serif;fill:#222}.name{font-weight:600}"
        ".floor{font-style:italic;fill:#666}rect{fill:#f3f5f8}circle{fill:#2f6db3}.self{fill:#999}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">\n'
        "<title>Layers of featsieve, and which package imports which</title>\n"
        f"<style>{style}</style>\n"
        f'<path d="M0 0h{width:g}v{height:g}h-{width:g}z" fill="#fff"/>\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


def main() -> None:
    """Write the picture, or compare it with the one that is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if the picture is out of date")
    check = parser.parse_args().check
    layers = declared_layers()
    picture = draw(layers, package_imports(layers))
    if check and (not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture):
        raise SystemExit(f"{PICTURE.name} is out of date: run python tools/draw_layers.py")
    if not check:
        PICTURE.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
