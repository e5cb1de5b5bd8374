"""Names of `jax.custom_derivatives`."""

from __future__ import annotations

from ..transforms.closure_convert import closure_convert as closure_convert
from ..transforms.closure_convert import custom_gradient as custom_gradient
from ..transforms.custom_derivatives import custom_jvp as custom_jvp
from ..transforms.custom_derivatives import custom_vjp as custom_vjp
from ..transforms.symbolic_zeros import CustomVJPPrimal as CustomVJPPrimal
from ..transforms.symbolic_zeros import SymbolicZero as SymbolicZero
from ..transforms.symbolic_zeros import custom_vjp_primal_tree_values as custom_vjp_primal_tree_values
from ..transforms.symbolic_zeros import zero_from_primal as zero_from_primal
from .core import Primitive

custom_jvp_call_p = Primitive("custom_jvp_call")
custom_vjp_call_p = Primitive("custom_vjp_call")

__all__ = ["closure_convert", "custom_gradient", "custom_jvp", "custom_vjp"]
