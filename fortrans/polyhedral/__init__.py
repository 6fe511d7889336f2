"""Quasi-affine maps and dependence verdicts (issue C)."""
