"""Names of `jax.custom_derivatives`."""

from __future__ import annotations

from typing import Any

from ..transforms.closure_convert import closure_convert as closure_convert
from ..transforms.closure_convert import custom_gradient as custom_gradient
from ..transforms.custom_derivatives import custom_jvp as custom_jvp
from ..transforms.custom_derivatives import custom_vjp as custom_vjp
from .core import Primitive

custom_jvp_call_p = Primitive("custom_jvp_call")
custom_vjp_call_p = Primitive("custom_vjp_call")


class SymbolicZero:
    """A tangent that is known to be zero: rules of adze get arrays of zeros."""


class CustomVJPPrimal:
    """A primal with the mark of whether it is differentiated: rules of adze get the primal."""

    value: Any
    perturbed: bool


__all__ = ["closure_convert", "custom_gradient", "custom_jvp", "custom_vjp"]
