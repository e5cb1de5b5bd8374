"""The adze dialect as the MLIR bindings know it: a namespace without op classes.

Passes read ops through `builder.emitter.Reader`, by the declarations. The bindings only need the dialect, so
that the conversion can state that all of it is illegal.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, Final

from . import mlir
from .op import DIALECT

# Two first lowerings may run at once, and MLIR refuses a second registration.
_registering: Final = threading.Lock()


def registered_dialect() -> Any:
    """The class of the dialect, registered once a process."""
    with _registering:
        return _registered()


@cache
def _registered() -> Any:
    dialect = type("AdzeDialect", (mlir.ir.Dialect,), {"DIALECT_NAMESPACE": DIALECT})
    mlir.extension.register_dialect(dialect)
    return dialect
