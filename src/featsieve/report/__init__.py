"""Reports: what was found, as a page that anybody can open."""

from typing import TYPE_CHECKING, Any

from featsieve.report.selection.page import render_selection, write_selection_report
from featsieve.report.selection.summary import summarize_selection

if TYPE_CHECKING:
    from featsieve.report.bench.page import write_bench_report

__all__ = [
    "render_selection",
    "summarize_selection",
    "write_bench_report",
    "write_selection_report",
]


def __getattr__(name: str) -> Any:
    """Import the pages of benchmarks when they are asked for: a selection needs none of them."""
    if name == "write_bench_report":
        from featsieve.report.bench.page import write_bench_report

        return write_bench_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
