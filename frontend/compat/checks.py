"""Names of `jax.test_util`."""

from ..transforms.jacobians import check_grads as check_grads

__all__ = ["check_grads"]
