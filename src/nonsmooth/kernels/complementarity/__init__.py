"""Complementarity problems: standard, horizontal, and all solutions of small ones."""
