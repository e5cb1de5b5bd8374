"""What JAX calls experimental: `adze.experimental.ode`."""

from . import ode as ode

__all__ = ["ode"]
