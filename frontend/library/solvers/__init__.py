"""Iterative solvers of linear systems, of minima and of differential equations."""
