"""Batches in adze and JAX on the CPU: many small products by vmap, and one gradient per example.

python benchmarks/vmap.py --rounds 12
"""

import sys
from typing import Any

import numpy as np
from loops import Function, report


def vmap_of(grad: Any) -> Any:
    """The `vmap` of the library that `grad` belongs to."""
    if grad.__module__.startswith("jax"):
        import jax

        return jax.vmap
    import adze

    return adze.vmap


def small_products(xp: Any, lax: Any, grad: Any) -> Function:
    """512 products of 16 x 16 matrices."""
    return vmap_of(grad)(lambda a, b: a @ b)


def shared_product(xp: Any, lax: Any, grad: Any) -> Function:
    """256 products of 16 x 64 matrices with one shared 64 x 64 matrix."""
    return vmap_of(grad)(lambda a, b: a @ b, in_axes=(0, None))


def example_gradients(xp: Any, lax: Any, grad: Any) -> Function:
    """The norms of the gradients of 128 examples in a small net."""

    def loss(first: Any, second: Any, x: Any) -> Any:
        return xp.sum((xp.tanh(x @ first) @ second) ** 2)

    def norm(first: Any, second: Any, x: Any) -> Any:
        a, b = grad(loss, argnums=(0, 1))(first, second, x)
        return xp.sqrt(xp.sum(a * a) + xp.sum(b * b))

    return vmap_of(grad)(norm, in_axes=(None, None, 0))


def cases() -> dict[str, tuple[Function, tuple[np.ndarray, ...]]]:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) / 4).astype(np.float32)

    return {
        "512 products 16 x 16": (small_products, (normal(512, 16, 16), normal(512, 16, 16))),
        "256 times 16 x 64, shared 64 x 64": (shared_product, (normal(256, 16, 64), normal(64, 64))),
        "128 gradients, 32-64-8": (example_gradients, (normal(32, 64), normal(64, 8), normal(128, 32))),
    }


if __name__ == "__main__":
    sys.exit(report("batches beside JAX", cases()))
