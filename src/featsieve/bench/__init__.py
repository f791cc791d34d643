"""Benchmarks: plans of methods, data sets and grids, run cell by cell and never twice."""

from featsieve.bench.parse import load_plan, plan_names
from featsieve.bench.plan import Plan
from featsieve.bench.results import load_results

__all__ = ["Plan", "load_plan", "load_results", "plan_names"]
