"""Reports: what was found, as a page that anybody can open."""

from featsieve.report.selection.page import render_selection, write_selection_report
from featsieve.report.selection.summary import summarize_selection

__all__ = ["render_selection", "summarize_selection", "write_selection_report"]
