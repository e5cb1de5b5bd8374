"""Loops of adze as kernels: one dispatch runs all iterations, where the host would launch each on its own."""
