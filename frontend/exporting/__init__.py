"""Exported functions: traced once, kept as adze IR in bytes, called in other programs (`jax.export`)."""
