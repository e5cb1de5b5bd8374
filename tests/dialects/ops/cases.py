"""The format of the table of op cases: rows, cases, operands, and the domains their values come from.

A row is one op with several cases; a case is one application: operand shapes, values, attributes. Every
case is instantiated for each dtype of its row (where an operand or attribute says `T`), with static
dimensions and again with dynamic ones. The table itself is `tests/op_cases.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from adze.dialects.dialect import BY_NAME
from adze.dialects.op import Op
from adze.dialects.types import ANY, SIZE, TensorType, ValueType, dtype_name

from .domains import DOMAINS

Domain = Callable[[np.random.Generator, tuple[int, ...], np.dtype], np.ndarray]


class _RowDtype:
    """The type of `T`."""

    def __repr__(self) -> str:
        return "T"


T: Final = _RowDtype()
"""Stands for the dtype under test, in `array(dtype=T)` (the default) and in attributes."""


@dataclass(frozen=True)
class Array:
    """One array operand. `fixed` axes stay static in the dynamic variant."""

    shape: tuple[int, ...]
    domain: str | Domain
    dtype: np.dtype | _RowDtype
    fixed: tuple[int, ...] = ()

    def values(self, rng: np.random.Generator, dtype: np.dtype) -> np.ndarray:
        make = DOMAINS[self.domain] if isinstance(self.domain, str) else self.domain
        result = np.asarray(make(rng, self.shape, dtype))
        assert result.shape == self.shape and result.dtype == dtype, (result.dtype, result.shape, self)
        return result


@dataclass(frozen=True)
class Size:
    """One size operand (MLIR `index`)."""

    value: int


def array(*shape: int, domain: str | Domain = "special", dtype: Any = T, fixed: Sequence[int] = ()) -> Array:
    """An array operand whose values come from `domain` (a name of `domains.DOMAINS`, or a function)."""
    return Array(shape, domain, dtype if dtype is T else np.dtype(dtype), tuple(fixed))


def given(values: Any, dtype: Any = T, fixed: Sequence[int] = ()) -> Array:
    """An array operand with exactly these values."""
    stated = np.asarray(values)

    def domain(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return stated.astype(dtype)

    return array(*stated.shape, domain=domain, dtype=dtype, fixed=fixed)


def size(value: int) -> Size:
    """A size operand."""
    return Size(value)


@dataclass(frozen=True)
class Callee:
    """A private function of the module: argument types, the body in terms of a builder, and in NumPy."""

    types: tuple[TensorType, ...]
    body: Callable[..., tuple[Any, ...]]
    evaluate: Callable[..., tuple[np.ndarray, ...]]


@dataclass(frozen=True)
class Case:
    """One application. `static_only` says why there is no variant with dynamic dimensions.

    In the dynamic variant each integer of a `sizes` attribute becomes a size value, except at the
    positions that `fixed_sizes` names for it. `functions` are the other functions of the module that the
    attributes name: from a symbol to a function of a builder and of values of the types it states.
    """

    operands: tuple[Array | Size, ...]
    attributes: Mapping[str, Any]
    static_only: str = ""
    fixed_sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    dtypes: frozenset[np.dtype] | None = None
    functions: Mapping[str, Callee] = field(default_factory=dict)


def case(
    *operands: Array | Size,
    static_only: str = "",
    fixed_sizes: Mapping[str, tuple[int, ...]] | None = None,
    only: Iterable[np.dtype] | None = None,
    functions: Mapping[str, Callee] | None = None,
    **attributes: Any,
) -> Case:
    """One application of the row's op; `only` restricts the case to some of the row's dtypes."""
    dtypes = None if only is None else frozenset(only)
    return Case(operands, attributes, static_only, fixed_sizes or {}, dtypes, functions or {})


@dataclass(frozen=True)
class Row:
    """One op with its cases. `tolerance` names an entry of the table of tolerances."""

    op: str
    cases: tuple[Case, ...]
    dtypes: tuple[np.dtype, ...]
    tolerance: str


def row(op: str, *cases: Case, dtypes: Iterable[np.dtype] | None = None, tolerance: str = "exact") -> Row:
    """The row of one op; without `dtypes`, all that the declaration allows for its `T` operands."""
    allowed = _declared(BY_NAME[op], cases) if dtypes is None and op in BY_NAME else dtypes
    return Row(op, cases, tuple(sorted(allowed or (), key=dtype_name)), tolerance)


def _declared(op: type[Op], cases: Sequence[Case]) -> frozenset[np.dtype]:
    """The dtypes that every operand marked `T` may have."""
    allowed = ANY
    for each in cases:
        for position, operand in enumerate(each.operands):
            if isinstance(operand, Array) and operand.dtype is T:
                allowed &= op.operands[min(position, len(op.operands) - 1)].dtypes or ANY
    return allowed


ONE_OF_EACH_KIND: Final = frozenset(map(np.dtype, (np.bool_, np.int32, np.float32, np.complex64)))


def elementwise(*domains: str | Domain, dtypes: Sequence[Any] = (), **attributes: Any) -> tuple[Case, ...]:
    """The cases of an elementwise op with one operand for each domain.

    Many values and the empty array for every dtype; 0-d, a kernel of its own, for one dtype of each kind.
    """
    kinds = dtypes or (T,) * len(domains)

    def of(*shape: int, only: Iterable[np.dtype] | None = None) -> Case:
        operands = (array(*shape, domain=d, dtype=k) for d, k in zip(domains, kinds, strict=True))
        return case(*operands, only=only, **attributes)

    return of(2, 60), of(0, 3), of(only=ONE_OF_EACH_KIND)


@dataclass(frozen=True)
class Instance:
    """A case with its dtype chosen and its values drawn."""

    row: Row
    case: Case
    dtype: np.dtype | None
    dynamic: bool
    arguments: tuple[np.ndarray | int, ...]
    attributes: Mapping[str, Any]

    @property
    def op(self) -> type[Op]:
        return BY_NAME[self.row.op]

    @property
    def types(self) -> tuple[ValueType, ...]:
        """The operand types: `?` where this is the dynamic variant."""
        return tuple(
            SIZE if isinstance(o, Size) else TensorType(self._shape(o), a.dtype)
            for o, a in zip(self.case.operands, self.arguments, strict=True)
        )

    def _shape(self, operand: Array) -> tuple[int | None, ...]:
        if not self.dynamic:
            return operand.shape
        return tuple(n if axis in operand.fixed else None for axis, n in enumerate(operand.shape))

    def is_dynamic_size(self, attribute: str, position: int) -> bool:
        """Whether this entry of a `sizes` attribute is a size value in this variant."""
        return self.dynamic and position not in self.case.fixed_sizes.get(attribute, ())

    def __str__(self) -> str:
        operands = ", ".join(map(str, self.types))
        attributes = ", ".join(f"{name}={value}" for name, value in self.attributes.items())
        return f"{self.row.op}({', '.join(filter(None, (operands, attributes)))})"


def instances(row: Row) -> Iterator[Instance]:
    """Every case of the row, for each dtype, static and dynamic."""
    for number, each in enumerate(row.cases):
        for dtype in row.dtypes if _uses_row_dtype(each) else (None,):
            if each.dtypes is not None and dtype not in each.dtypes:
                continue
            rng = np.random.default_rng(zlib.crc32(f"{row.op} {number} {dtype}".encode()))
            arguments = tuple(_argument(o, rng, dtype) for o in each.operands)
            attributes = {n: dtype if v is T else v for n, v in each.attributes.items()}
            for dynamic in (False,) if each.static_only or not _has_dimensions(row, each) else (False, True):
                yield Instance(row, each, dtype, dynamic, arguments, attributes)


def _uses_row_dtype(each: Case) -> bool:
    values = [o.dtype for o in each.operands if isinstance(o, Array)]
    return any(v is T for v in (*values, *each.attributes.values()))


def _argument(operand: Array | Size, rng: np.random.Generator, dtype: np.dtype | None) -> np.ndarray | int:
    if isinstance(operand, Size):
        return operand.value
    chosen = dtype if operand.dtype is T else operand.dtype
    assert isinstance(chosen, np.dtype)
    return operand.values(rng, chosen)


def _has_dimensions(row: Row, each: Case) -> bool:
    """Whether the dynamic variant differs from the static one."""
    kinds = BY_NAME[row.op].attributes
    sized = any(kinds[name].kind == "sizes" and value for name, value in each.attributes.items())
    return sized or any(isinstance(o, Size) or o.shape for o in each.operands)
