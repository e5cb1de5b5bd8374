"""Names of `jax.debug` that only JAX has."""

__all__: list[str] = []
