"""Benchmarks: each case measures ratios in one run and appends to a CSV."""
