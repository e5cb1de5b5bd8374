"""A module of JAX that holds other modules only."""

__all__: list[str] = []
