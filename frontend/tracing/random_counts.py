"""Which of JAX's two orders the numbers of a key come in: `jax_threefry_partitionable`."""

from __future__ import annotations


class RandomCounts:
    """Whether each element has a block of Threefry of its own (JAX's default), or two share one."""

    are_partitionable = True
