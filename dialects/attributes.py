"""The static attributes of an op: how each is declared, and all of them as one record.

An op with a few attributes declares them by name (`attributes = {"axis": integer("...")}`), and its rules
take them as keywords. An op with many declares a class of them, a `Record`, and its rules take one instance.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import FrozenInstanceError
from functools import wraps
from typing import Any, ClassVar, Final, Self, TypeVar, dataclass_transform

import numpy as np

from .dataclass import dataclass
from .errors import SizeError, TypeCheckError
from .symbolic_sizes import NamedSize
from .types import Dimension

Rule = TypeVar("Rule", bound=Callable[..., object])

_NUMBERS: Final[dict[str, Callable[[Any], Iterable[Any]]]] = {
    "int": lambda value: (value,),
    "ints": lambda value: value,
    "sizes": lambda value: value,
    "pairs": itertools.chain.from_iterable,
}
"""The numbers in an attribute's value, by kind. The least of 64 bits is left out: it means a dynamic size."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One static attribute. `kind` says how it is written in IR and what Python value it is.

    | kind      | Python value                       | MLIR attribute             |
    |-----------|------------------------------------|----------------------------|
    | int       | int                                | i64 integer                |
    | ints      | tuple of int                       | dense i64 array            |
    | pairs     | tuple of tuples of int             | array of dense i64 arrays  |
    | sizes     | tuple of int or size values        | dense i64 array; `?`: index operand |
    | bool      | bool                               | bool                       |
    | float     | float                              | f64 float                  |
    | choice    | str, one of `choices`              | string                     |
    | text      | str                                | string                     |
    | dtype     | numpy.dtype                        | type                       |
    | types     | tuple of TensorType                | array of types             |
    | elements  | numpy.ndarray, neither bf16 nor complex (`types.storage`) | dense elements |
    | symbol    | str, the name of a function        | flat symbol reference      |
    | symbols   | tuple of str                       | array of symbol references |
    """

    kind: str
    doc: str = ""
    choices: tuple[str, ...] = ()

    def check(self, op: str, name: str, value: object) -> None:
        """Raise `TypeCheckError` when `value` is not a value of this kind."""
        if self.kind == "choice" and value not in self.choices:
            raise TypeCheckError(f"{op}: attribute '{name}' is {value!r}, expected one of {self.choices}")
        numbers = _NUMBERS.get(self.kind)
        if numbers is not None:
            for n in numbers(value):
                if isinstance(n, int) and not -(1 << 63) < n < 1 << 63:
                    raise SizeError(f"{op}: {n} in '{name}' does not fit in 64 bits")


def ints(doc: str = "") -> Attribute:
    return Attribute("ints", doc)


def integer(doc: str = "") -> Attribute:
    return Attribute("int", doc)


def pairs(doc: str = "") -> Attribute:
    return Attribute("pairs", doc)


def sizes(doc: str = "") -> Attribute:
    return Attribute("sizes", doc)


def boolean(doc: str = "") -> Attribute:
    return Attribute("bool", doc)


def choice(*choices: str, doc: str = "") -> Attribute:
    return Attribute("choice", doc, choices)


def text(doc: str = "") -> Attribute:
    return Attribute("text", doc)


def dtype_attribute(doc: str = "") -> Attribute:
    return Attribute("dtype", doc)


def elements(doc: str = "") -> Attribute:
    return Attribute("elements", doc)


def symbol(doc: str = "") -> Attribute:
    return Attribute("symbol", doc)


def stated_sizes(values: Sequence[object]) -> tuple[Dimension, ...]:
    """The shape that a `sizes` attribute states: its integers and names, None for each size value."""
    return tuple(_dimension(v) for v in values)


def _dimension(value: object) -> Dimension:
    if isinstance(value, (int, np.integer)):
        return int(value)
    return value if isinstance(value, NamedSize) else None


def stated(attribute: Attribute) -> Any:
    """Declare a field of a record: `window_strides: tuple[int, ...] = stated(ints("..."))`."""
    return attribute


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(stated,))
class Record:
    """The attributes of one application of an op, frozen.

    A subclass states a field for each attribute, in the order of the declaration. The entries of one of kind
    `sizes` are of another type in each rule, so that a record with one is generic: they are `Dimension` in
    `infer`, `int` in `evaluate`, and `Size` elsewhere.
    """

    declared: ClassVar[Mapping[str, Attribute]] = {}

    def __init_subclass__(cls) -> None:
        # No dataclass: the functions that it writes for each class took a tenth of the time of an import.
        super().__init_subclass__()
        fields = {name: value for name, value in vars(cls).items() if isinstance(value, Attribute)}
        for name in fields:
            delattr(cls, name)
        cls.declared = {**cls.declared, **fields}

    def __init__(self, **attributes: object) -> None:
        if attributes.keys() != self.declared.keys():
            raise TypeError(
                f"{type(self).__name__} takes {', '.join(self.declared)}, and got {', '.join(attributes)}"
            )
        self.__dict__.update(attributes)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.keywords.items())
        return f"{type(self).__qualname__}({fields})"

    @classmethod
    def of(cls, attributes: Mapping[str, object]) -> Self:
        """The record of the attributes of an application; it has the fields that they name."""
        record = object.__new__(cls)
        record.__dict__.update(attributes)
        return record

    def replaced(self, **attributes: object) -> Self:
        """The same record with other values of some fields."""
        return type(self)(**{**self.keywords, **attributes})

    @property
    def keywords(self) -> dict[str, Any]:
        """The fields by name, as a builder's method takes them."""
        return {name: getattr(self, name) for name in self.declared}


def taking_record(rule: Rule, record: type[Record]) -> Callable[..., object]:
    """A rule that takes its attributes as one record, as its callers see it: they pass keywords."""

    @wraps(rule)
    def with_keywords(*arguments: object, **attributes: object) -> object:
        return rule(*arguments, attributes=record.of(attributes))

    return with_keywords
