"""The contracts of rules: what the rules of ops receive, and what they return.

A rule is a function of values. It takes a `Builder` to make new values with, and never learns what the values
are: SSA values where IR is made, tracers or arrays in the frontend. Its attributes come as keywords, or as
one record where the op declares that. `op.py` lists the rules of an op and says what engines ask of each.

| alias        | what it is                                                                                  |
|--------------|---------------------------------------------------------------------------------------------|
| `Value`      | an array or a size; a rule only passes it on to its builder                                 |
| `Values`     | a sequence of them                                                                          |
| `Size`       | an entry of a shape: an int where it is static, else a `Value` of type `size`               |
| `Shape`      | one `Size` for each axis                                                                    |
| `Tangent`    | the tangent of one value, of its shape and dtype; None where it is zero                     |
| `Tangents`   | what `jvp` returns: one `Tangent` for each result, or the only one by itself                |
| `Cotangents` | what `transpose` returns: a cotangent for each operand, None for one that is not linear,    |
|              | or the only one by itself                                                                   |
| `Batched`    | what `batch` returns: the results, and for each of them whether it has the batch as axis 0  |
| `Linear`     | a linear operand of `transpose`: it has a type and sizes, but no value to compute with      |
| `OneTangent` | the tangents where only the first operand can carry one: as the rule is called, it does     |
| `OneLinear`  | the operands of a transpose that can only be linear in the first                            |

Errors: a rule raises `MissingRuleError` for an application that it does not cover, and `infer` and `evaluate`
raise as `op.py` says. A builder that is given a `Linear` operand as if it had a value refuses it, so that the
user is told that the op is not linear in its operands together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from .builder import core
from .generated import builder
from .op import Linear
from .types import Shape, Size, Value

Application: TypeAlias = core.Application
Builder: TypeAlias = builder.Builder[Value]

Values: TypeAlias = Sequence[Value]
Tangent: TypeAlias = Value | None
Tangents: TypeAlias = Tangent | Sequence[Tangent]
Cotangents: TypeAlias = Tangent | Sequence[Tangent]
Batched: TypeAlias = tuple[Values, Sequence[bool]]
OneTangent: TypeAlias = tuple[Value, *tuple[None, ...]]
OneLinear: TypeAlias = tuple[Linear, *tuple[Value, ...]]
Partial: TypeAlias = Callable[..., Value]
"""A partial derivative of an elementwise op: `(b, result, *operands)` -> the factor of its tangent."""

__all__ = [
    "Application",
    "Batched",
    "Builder",
    "Cotangents",
    "Linear",
    "OneLinear",
    "OneTangent",
    "Partial",
    "Shape",
    "Size",
    "Tangent",
    "Tangents",
    "Value",
    "Values",
]
