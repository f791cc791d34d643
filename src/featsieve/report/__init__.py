"""Reports: what was found, as a page that anybody can open."""

from featsieve.report.bench_report import write_bench_report

__all__ = ["write_bench_report"]
