"""Derivatives checked against differences, under the names of `jax.test_util`."""

from .frontend.library.names import public_names as _public_names
from .frontend.transforms.derivative_checks import check_jvp as check_jvp
from .frontend.transforms.derivative_checks import check_vjp as check_vjp
from .frontend.transforms.jacobians import check_grads as check_grads

__all__ = _public_names(globals())
