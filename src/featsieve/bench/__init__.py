"""Benchmarks: plans of methods, data sets and grids, run cell by cell and never twice."""

from featsieve.bench.parse import load_plan, plan_names
from featsieve.bench.plan import Plan

__all__ = ["Plan", "load_plan", "plan_names"]
