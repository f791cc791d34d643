"""Benchmarks: plans of methods, data sets and grids, run cell by cell and never twice."""

from featsieve.bench.cells import Cell
from featsieve.bench.parse import load_plan, plan_names
from featsieve.bench.plan import Method, Plan

__all__ = ["Cell", "Method", "Plan", "load_plan", "plan_names"]
