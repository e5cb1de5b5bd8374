"""A StableHLO program as plain data: functions of regions of operations, with every attribute a Python value.

Input: nothing; `reading.py` fills these classes. Output: what the rules of the families interpret.

Idea: values are numbered within the whole program, so a region names what it captures from outside as it
names its own values, and an environment is a dict from numbers to values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import TensorType
from ..errors import ModelError


class StableHLOError(ModelError):
    """A StableHLO program is damaged, or says something that adze has no ops for."""


@dataclass(frozen=True, slots=True)
class TokenType:
    """The type of a token, which orders effects; its value is None."""


@dataclass(frozen=True, slots=True)
class TupleType:
    """The type of a tuple of values."""

    items: tuple[ProgramType, ...]


ProgramType: TypeAlias = "TensorType | TokenType | TupleType"
TOKEN: Final = TokenType()


@dataclass(frozen=True, slots=True)
class Operation:
    """One op: its name (`stablehlo.add`), the numbers of its operands and results, attributes, regions."""

    name: str
    operands: tuple[int, ...]
    operand_types: tuple[ProgramType, ...]
    results: tuple[int, ...]
    result_types: tuple[ProgramType, ...]
    attributes: Mapping[str, Any]
    regions: tuple[Region, ...]
    where: str

    def error(self, problem: str, hint: str | None = None) -> StableHLOError:
        """An error about this op, with its name and place."""
        return StableHLOError(f"{self.name}: {problem}", where=self.where, hint=hint)


@dataclass(frozen=True, slots=True)
class Region:
    """One block: arguments, operations, and the numbers of what it returns."""

    arguments: tuple[int, ...]
    argument_types: tuple[ProgramType, ...]
    operations: tuple[Operation, ...]
    results: tuple[int, ...]

    def producer(self, value: int) -> Operation | None:
        """The operation of this region whose only result is `value`."""
        for operation in self.operations:
            if operation.results == (value,):
                return operation
        return None


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the module."""

    name: str
    body: Region
    result_types: tuple[ProgramType, ...]
    argument_names: tuple[str, ...]
    is_public: bool


@dataclass(frozen=True, slots=True)
class Ranks:
    """For how many ranks a module says that it is."""

    replicas: int = 1
    partitions: int = 1


@dataclass(frozen=True, slots=True)
class Program:
    """All functions of a module, the one that it is called by, its ranks, and whether an `rng` is in it."""

    functions: Mapping[str, Function]
    main: Function
    ranks: Ranks = Ranks()
    draws: bool = False


def constant_of(operation: Operation | None) -> np.ndarray | None:
    """The array that a constant op states, None for any other op."""
    if operation is None or operation.name != "stablehlo.constant":
        return None
    value = operation.attributes.get("value")
    return value if isinstance(value, np.ndarray) else None


def static_shape(type_: TensorType) -> tuple[int, ...]:
    """The sizes of a type without dynamic ones."""
    return tuple(n for n in type_.shape if isinstance(n, int))


def tensors(operation: Operation, types: Sequence[ProgramType]) -> tuple[TensorType, ...]:
    """These types, all of arrays; else the error of `operation`."""
    if not all(isinstance(t, TensorType) for t in types):
        raise operation.error("expected arrays, got tokens or tuples")
    return tuple(t for t in types if isinstance(t, TensorType))
