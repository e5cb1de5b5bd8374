"""Sparse arrays by coordinates, and the functions of `jax.experimental.sparse`."""
