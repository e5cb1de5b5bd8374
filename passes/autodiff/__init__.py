"""Differentiation: jvp, linearize, transpose."""
