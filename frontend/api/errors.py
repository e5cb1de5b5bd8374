"""Errors under the names of `jax.errors`: each is the class that adze raises in that place."""

from .frontend import errors as _errors
from .frontend.library.names import public_names as _public_names
from .frontend.library.random.reuse import KeyReuseError as KeyReuseError
from .runtime import errors as _runtime_errors

ConcretizationTypeError = _errors.ConcretizationError
NonConcreteBooleanIndexError = _errors.UnknownIndexError
TracerArrayConversionError = _errors.ConcretizationError
TracerBoolConversionError = _errors.ConcretizationError
TracerIntegerConversionError = _errors.ConcretizationError
InconclusiveDimensionOperation = _errors.InconclusiveDimensionOperation
JAXIndexError = _errors.IndexingError
JAXTypeError = _errors.TraceError
UnexpectedTracerError = _errors.LeakedTracerError
JaxRuntimeError = _runtime_errors.FailedCallError

__all__ = _public_names(globals())
