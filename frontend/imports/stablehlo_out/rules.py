"""What a rule of the export sees of one application of an adze op.

Input: an op of the simplified IR. Output: `Application`, and the type of rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ....dialects.dataclass import dataclass
from ....dialects.types import TensorType
from ..errors import ModelUnsupportedError
from .writer import Ref, Writer


@dataclass(frozen=True, slots=True)
class Application:
    """An op: its operands as they were written, the types of its results, its attributes.

    `signature(symbol)` is the types of the results of another function of the module.
    """

    name: str
    operands: tuple[Ref, ...]
    results: tuple[TensorType, ...]
    attributes: Mapping[str, Any]
    signature: Callable[[str], tuple[TensorType, ...]]
    where: str

    def error(self, problem: str, hint: str | None = None) -> ModelUnsupportedError:
        """An error about this op."""
        return ModelUnsupportedError(f"to_stablehlo: {self.name}: {problem}", where=self.where, hint=hint)


Rule: TypeAlias = Callable[[Writer, Application], list[Ref]]
