"""Errors of tracing and of the array namespace."""

from __future__ import annotations

from ..dialects.errors import AdzeError


class TraceError(AdzeError):
    """The traced function did something that a traced program cannot do."""


class ConcretizationError(TraceError):
    """A Python value (`bool`, `int`, an array, ...) was asked of a value that is only known at run time."""


class LeakedTracerError(TraceError):
    """A traced value was used after its trace had ended."""


class ArgumentError(AdzeError):
    """A function was called with an argument that it does not take."""


class ShapeError(AdzeError):
    """Shapes, axes or an equation string do not fit together."""


class DtypeError(AdzeError):
    """A dtype does not fit the operation."""


class OutOfRangeError(DtypeError, ArgumentError, OverflowError):
    """A Python number cannot be represented in the dtype that it should take."""


class UnsupportedError(AdzeError):
    """Something of NumPy or of the array API that adze does not have."""
