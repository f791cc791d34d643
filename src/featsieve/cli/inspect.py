"""``featsieve inspect``: a fast look at a table before anything heavy."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featsieve.cli import options
from featsieve.cli.console import facts_grid, output, print_json, progress_bar

if TYPE_CHECKING:
    from featsieve.workflow import Inspection

MOST_COPIES = 3  # groups of equal columns that are named


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
    from featsieve.datasets import read_table
    from featsieve.workflow.inspect import inspect_table

    roles: dict[str, Any] = {"id_column": id_column, "label_column": label_column}
    with progress_bar(quiet=as_json) as progress:
        progress(f"reading {table.name}", 0, 1)
        data = read_table(table, drop=drop or (), drop_text=True, header=header, **roles)
        look = inspect_table(
            data,
            asked=drop or (),
            structure=not no_structure,
            random_state=seed,
            progress=progress,
        )
    command = ["featsieve", "select", str(table), "-o", f"{data.name}-selected"]
    for option, names in (
        ("--id-column", [id_column]),
        ("--label-column", [label_column]),
        ("--drop", drop or []),
    ):
        command += [word for name in names if name is not None for word in (option, name)]
    next_command = shlex.join([*command, *look.options])
    if as_json:
        print_json({**look.as_dict(), "file": str(table), "next": next_command})
        return
    from rich.text import Text

    console = output()
    console.print(Text(str(table), style="bold"), soft_wrap=True)
    console.print(facts_grid(_facts(look), style="bold"))
    console.print("\nNext", style="bold")
    console.print(Text(next_command), soft_wrap=True)


def _facts(look: "Inspection") -> Iterator[tuple[str, str]]:
    """Yield what was seen as pairs of a word and a sentence."""
    from rich.filesize import decimal

    from featsieve.workflow.messages import count_of, list_columns, list_counts, structure_verdict
    from featsieve.workflow.prepare import count_repeated

    table = look.table
    n, d = table.X.shape
    kind = "sparse " if hasattr(table.X, "nnz") else ""
    yield "shape", f"{n:,} rows (samples), {d:,} columns (features)"
    yield "memory", f"{decimal(look.n_bytes)} ({kind}{table.X.dtype}), {look.zeros:.1%} zeros"
    yield "missing", list_counts(look.missing, "value") if look.missing else "none"
    if look.infinite:
        yield "infinite", list_counts(look.infinite, "value")
    if look.text:
        way_out = "leave it out (--drop-text), or name it as --id-column or --label-column"
        yield "text", f"{list_columns(look.text)}: {way_out}"
    if look.names_samples is not None:
        yield (
            "",
            f"{look.names_samples!r} differs in every row: --id-column keeps it as sample names",
        )
    if table.y is not None and table.class_names is not None:
        label = f"{table.label_name!r}: " if table.label_name else ""
        names = ", ".join(table.class_names[:6]) + (", ..." if len(table.class_names) > 6 else "")
        yield "classes", f"{label}{len(table.class_names):,} ({names}) (never used to select)"
    if table.sample_names is not None:
        repeated = count_repeated(table)
        more = f" ({count_of(repeated, 'row')} with the name of another one)" if repeated else ""
        yield "sample names", f"{table.sample_names[0]!r}, ...{more}"
    yield "constant", list_columns(look.constant) if look.constant else "none"
    groups = [" = ".join(group[:6]) for group in look.duplicates[:MOST_COPIES]]
    groups += ["..."] if len(look.duplicates) > MOST_COPIES else []
    copies = sum(len(group) - 1 for group in look.duplicates)
    yield "copies", f"{copies:,} of other columns ({'; '.join(groups)})" if copies else "none"
    if look.row_numbers:
        listed = list_columns(look.row_numbers)
        yield "row numbers", f"{listed}: looks like a row number, not a feature"
    seen = look.structure
    if seen is None:
        yield "structure", f"not looked for: {look.why_not}"
        return
    part = ""
    if seen.n_samples < n or seen.sampled_columns:
        part = f"; from {seen.n_samples:,} of the rows and {seen.n_features:,} of the columns"
    verdict = structure_verdict(seen.score, seen.noise, certain=seen.certain)
    yield "structure", f"{seen.score:.2f} (noise reaches {seen.noise:.2f}{part}): {verdict}"
    if seen.sampled_columns and seen.score < seen.noise and not seen.certain:
        yield "", "clusters that few columns carry can be missed in a sample of columns"
    low, high = seen.plausible_range
    yield "clusters", f"{seen.n_clusters} suggested, {low} to {high} are plausible"
