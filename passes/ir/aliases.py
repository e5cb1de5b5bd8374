"""Short names of MLIR's classes for annotations, as the engines use them.

They are strings, so that naming one does not load the bindings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from iree.compiler import ir

Value: TypeAlias = "ir.Value"
Type: TypeAlias = "ir.Type"
Attribute: TypeAlias = "ir.Attribute"
Operation: TypeAlias = "ir.Operation"
Block: TypeAlias = "ir.Block"
Location: TypeAlias = "ir.Location"

Values: TypeAlias = "Sequence[ir.Value]"
ValueMap: TypeAlias = "dict[ir.Value, ir.Value]"
"""From the values of one function to those that stand for them in another."""
Tangent: TypeAlias = "ir.Value | None"
"""A tangent or a cotangent; None where it is zero."""
Tangents: TypeAlias = "Sequence[ir.Value | None]"
