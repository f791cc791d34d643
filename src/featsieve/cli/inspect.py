"""``featsieve inspect``: a fast look at a table before anything heavy."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from featsieve.cli import options
from featsieve.cli.console import facts_grid, output, print_json, progress_bar, read_input
from featsieve.cli.stopping import stoppable

if TYPE_CHECKING:
    from featsieve.workflow import Inspection

MOST_NAMES = 6  # columns that a line names


def inspect(
    table: options.TableFile,
    drop: options.Drop = None,
    header: options.Header = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    no_structure: Annotated[
        bool, typer.Option("--no-structure", help="Do not look for clusters, which takes longest.")
    ] = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Look at a table: its shape, its gaps, odd columns, and whether it has clusters at all.

    Nothing is written. At the end stands the command that selects features of this table, with the
    options it needs.

    The structure score compares the clusters with those of the same table after every column is
    shuffled: noise stays near 0. Large tables are sampled for it, and it is said so.

    Example: `featsieve inspect genes.csv`

    Example: `featsieve inspect cells.h5ad --label-column cell_type --json`
    """
    with stoppable() as stop:
        from featsieve.workflow.inspect import inspect_table

        with progress_bar(stop, quiet=as_json) as progress:
            data = read_input(
                table,
                progress,
                label_column=label_column,
                id_column=id_column,
                drop=drop,
                drop_text=True,
                header=header,
            )
            look = inspect_table(
                data,
                asked=drop or (),
                structure=not no_structure,
                random_state=seed,
                progress=progress,
            )
    roles: list[str] = []
    for option, value in (("--id-column", id_column), ("--label-column", label_column)):
        roles += [option, value] if value is not None else []
    for name in drop or ():
        roles += ["--drop", name]
    command = shlex.join(
        ["featsieve", "select", str(table), "-o", f"{data.name}-selected", *roles, *look.options]
    )
    if as_json:
        print_json({**look.as_dict(), "file": str(table), "next": command})
        return
    from rich.text import Text

    console = output()
    console.print(Text(str(table), style="bold"), soft_wrap=True)
    console.print(facts_grid(lines(look), style="bold"))
    console.print("\nNext", style="bold")
    console.print(Text(command), soft_wrap=True)


def lines(look: "Inspection") -> list[tuple[str, str]]:
    """Return what was seen as pairs of a word and a sentence."""
    from featsieve.workflow.messages import count_of
    from featsieve.workflow.prepare import count_repeated

    table = look.table
    n, d = table.X.shape
    kind = "sparse " if hasattr(table.X, "nnz") else ""
    total = n * d
    found = [
        ("shape", f"{n:,} rows (samples), {d:,} columns (features)"),
        ("memory", f"{_size(look.n_bytes)} ({kind}{table.X.dtype}), {look.zeros:.1%} zeros"),
        ("missing", _counted(look.missing, total) or "none"),
    ]
    if look.infinite:
        found.append(("infinite", str(_counted(look.infinite, total))))
    if look.text:
        found.append(
            (
                "text",
                f"{_listed(look.text)}: leave it out (--drop-text), or name it as --id-column or "
                "--label-column",
            )
        )
    if look.names_samples is not None:
        name = look.names_samples
        found.append(("", f"{name!r} differs in every row: --id-column keeps it as sample names"))
    if table.y is not None and table.class_names is not None:
        label = f"{table.label_name!r}: " if table.label_name else ""
        names = _listed(table.class_names)
        found.append(("classes", f"{label}{names} (never used to select)"))
    if table.sample_names is not None:
        repeated = count_repeated(table)
        more = f" ({count_of(repeated, 'row')} with the name of another one)" if repeated else ""
        found.append(("sample names", f"{table.sample_names[0]!r}, ...{more}"))
    found.append(("constant", _listed(look.constant) or "none"))
    copies = sum(len(group) - 1 for group in look.duplicates)
    groups = "; ".join(" = ".join(group[:MOST_NAMES]) for group in look.duplicates[:3])
    more = "; ..." if len(look.duplicates) > 3 else ""
    found.append(("copies", f"{copies:,} of other columns ({groups}{more})" if copies else "none"))
    if look.row_numbers:
        listed = _listed(look.row_numbers)
        found.append(("row numbers", f"{listed}: looks like a row number, not a feature"))
    return [*found, *_structure(look)]


def _structure(look: "Inspection") -> list[tuple[str, str]]:
    """Return what there is to say about clusters."""
    from featsieve.workflow.messages import structure_verdict

    seen = look.structure
    if seen is None:
        return [("structure", f"not looked for: {look.why_not}")]
    n = look.table.X.shape[0]
    low, high = seen.plausible_range
    part = ""
    if seen.n_samples < n or seen.sampled_columns:
        part = f"; from {seen.n_samples:,} of the rows and {seen.n_features:,} of the columns"
    words = structure_verdict(seen.score, seen.noise, certain=seen.certain)
    told = [("structure", f"{seen.score:.2f} (noise reaches {seen.noise:.2f}{part}): {words}")]
    if seen.sampled_columns and seen.score < seen.noise and not seen.certain:
        told.append(("", "clusters that few columns carry can be missed in a sample of columns"))
    return [*told, ("clusters", f"{seen.n_clusters} suggested, {low} to {high} are plausible")]


def _counted(counts: dict[str, int], total: int) -> str:
    """Return how many values, what share, and in which columns."""
    if not counts:
        return ""
    number = sum(counts.values())
    listed = [f"{name} ({count:,})" for name, count in list(counts.items())[:MOST_NAMES]]
    more = "" if len(counts) <= MOST_NAMES else f" and {len(counts) - MOST_NAMES:,} more"
    columns = f"{len(counts):,} column{'s'[: len(counts) != 1]}"
    return f"{number:,} values ({number / total:.1%}) in {columns}: {', '.join(listed)}{more}"


def _listed(names: "tuple[str, ...] | list[str]") -> str:
    """Return a count and the first names."""
    if not names:
        return ""
    more = "" if len(names) <= MOST_NAMES else ", ..."
    return f"{len(names):,} ({', '.join(names[:MOST_NAMES])}{more})"


def _size(n_bytes: int) -> str:
    """Return an amount of memory as people say it."""
    amount = float(n_bytes)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
