"""The primitives under JAX's names and calling conventions: `adze.lax`."""
