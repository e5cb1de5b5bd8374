"""JAX's classes of types that libraries define (`jax.experimental.hijax`): declared, not used.

Input: subclasses, as flax.nnx defines them when it is imported. Output: the classes; an error where a program
makes a value of such a type. Idea: values of adze are arrays. A library that offers both runs with arrays.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import UnsupportedError
from ..tracing.locations import user_location_text
from .core import OfJaxprs

_HINT = "keep arrays in a pytree, or in a reference (jax.new_ref)"


class HiType:
    """The type of values that are no arrays."""


class MutableHiType(HiType):
    """The type of values that are no arrays and change."""


class AbstractRef(OfJaxprs):
    """The type of a reference in JAX's IR."""


class AvalQDD(OfJaxprs):
    """A type, with what is known of a value that changes."""


class AvalMutableQDD(OfJaxprs):
    """A type, with what changes of a value while a function is traced."""


class HiPrimitive:
    """An op on values of such types; a subclass may be made, `bind` raises `UnsupportedError`."""

    multiple_results = False

    def __init__(self, name: str) -> None:
        self.name = name

    def bind(self, *args: Any, **params: Any) -> NoReturn:
        """An error: adze has no values of such types."""
        raise UnsupportedError(
            f"{self.name} is an op on a type that a library defines (hijax): values of adze are arrays",
            where=user_location_text(),
            hint=_HINT,
        )

    def __repr__(self) -> str:
        return self.name


class aval_method:  # a decorator, named as JAX has it
    """A method of traced values, in the class of their type."""

    def __init__(self, fun: Any) -> None:
        self.fun = fun


class aval_property:  # a decorator, named as JAX has it
    """A property of traced values, in the class of their type."""

    def __init__(self, fget: Any) -> None:
        self.fget = fget


class _EffectTypes:
    def add_type(self, kind: type) -> None:
        """Nothing: control flow of adze takes ops with any effects."""


control_flow_allowed_effects = _EffectTypes()


def register_hitype(val_cls: type, typeof_fn: Any) -> None:
    """Nothing: no trace of adze takes values of this class."""


def is_undefined_primal(x: Any) -> bool:
    """Whether `x` stands for the argument of a linear op: adze's rules have no such values."""
    return False


__all__: list[str] = []
