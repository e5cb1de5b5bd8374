"""Errors of tracing and of the library.

Each derives from `AdzeError` and from the built-in class that NumPy (or JAX, where NumPy has no such
mistake) raises, so that `except ValueError` of a program written for either works.
"""

from __future__ import annotations

from ..dialects.errors import AdzeError


class TraceError(AdzeError, TypeError):
    """The traced function did something that a traced program cannot do."""


class ConcretizationError(TraceError):
    """A Python value (`bool`, `int`, an array, ...) was asked of a value that is only known at run time."""


class InconclusiveDimensionOperation(ConcretizationError):
    """A comparison of dynamic sizes has not one answer for all sizes of arguments (JAX's name)."""


class LeakedTracerError(TraceError):
    """A traced value was used after its trace had ended."""


class MissingMethodError(AdzeError, AttributeError):
    """Arrays have no such method or attribute, and something else does what it does in other libraries."""


class ArgumentError(AdzeError, ValueError):
    """A function was called with an argument that it does not take."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a type that the function does not take."""


class ZeroStepError(ArgumentError, ZeroDivisionError):
    """The step of a range is zero."""


class AxisNameError(ArgumentError, NameError):
    """No enclosing `vmap` has bound the axis name."""


class OutArgumentError(ArgumentTypeError, NotImplementedError):
    """An `out` of NumPy: arrays are immutable."""


class IndexingError(ArgumentError, IndexError, TypeError):
    """An index is of a kind that arrays do not take: an IndexError in NumPy, a TypeError in JAX."""


class UnknownIndexError(IndexingError, ConcretizationError):
    """How many elements an index selects is only known at run time: a mask, or a bound of a slice."""


class UndefinedRuleError(TraceError, AttributeError):
    """A function with rules of its own is differentiated before it has them."""


class CotangentError(TraceError, ValueError):
    """The backward rule of a function returns a cotangent of another type than its argument has."""


class ShapeError(AdzeError, ValueError, TypeError):
    """Shapes, axes or an equation string do not fit together: a ValueError in NumPy, a TypeError in JAX."""


class AxisError(ShapeError, IndexError):
    """An axis is out of range: the two built-in classes that `numpy.exceptions.AxisError` has."""


class IndexBoundsError(ShapeError, IndexError):
    """An index does not fit the array: it is known while tracing and lies outside, or is of another shape."""


class DtypeError(AdzeError, TypeError):
    """A dtype does not fit the operation."""


class OutOfRangeError(DtypeError, ArgumentError, OverflowError):
    """A Python number cannot be represented in the dtype that it should take."""


class UnsupportedError(AdzeError, NotImplementedError, TypeError):
    """Something of NumPy or of the array API that adze lacks; TypeError is what NumPy's protocols raise."""


class ShardingError(AdzeError, ValueError):
    """A mesh, a specification or a collective does not fit what it is used for."""


class DeletedArrayError(AdzeError, RuntimeError):
    """An array was used after it had been donated to a call, or deleted."""


class CallbackError(AdzeError, RuntimeError, ValueError):
    """A Python function that a program calls returned something else than it was to return."""
