"""Functions with derivatives of their own, under the names of `jax.custom_derivatives`."""

from .frontend.library.names import public_names as _public_names
from .frontend.transforms.closure_convert import closure_convert as closure_convert
from .frontend.transforms.closure_convert import custom_gradient as custom_gradient
from .frontend.transforms.custom_derivatives import custom_jvp as custom_jvp
from .frontend.transforms.custom_derivatives import custom_vjp as custom_vjp
from .frontend.transforms.symbolic_zeros import CustomVJPPrimal as CustomVJPPrimal
from .frontend.transforms.symbolic_zeros import SymbolicZero as SymbolicZero
from .frontend.transforms.symbolic_zeros import custom_vjp_primal_tree_values as custom_vjp_primal_tree_values
from .frontend.transforms.symbolic_zeros import zero_from_primal as zero_from_primal

__all__ = _public_names(globals())
