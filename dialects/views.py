"""OpView classes of the dialect, derived from the declarations and registered with the MLIR bindings.

Once `register` has run, walking a block yields the class of each adze op, with an accessor for every
operand (`op.x`), attribute (`op.axes`, as the Python value) and size, and with its `declaration`. A name
that the bindings use themselves (`sort.operands`) keeps their meaning; `operand` and `attribute` reach all.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, Final

from . import mlir
from .codec import Codec
from .dialect import OPS
from .op import DIALECT, Attribute, Op

# Two first traces may run at once, and MLIR refuses a second registration.
_registering: Final = threading.Lock()


def register() -> Any:
    """Register the dialect and its op classes, once a process; the class of the dialect."""
    with _registering:
        return _registered()


@cache
def _registered() -> Any:
    extension = mlir.extension
    dialect = type("AdzeDialect", (mlir.ir.Dialect,), {"DIALECT_NAMESPACE": DIALECT})
    extension.register_dialect(dialect)
    for op in OPS:
        extension.register_operation(dialect)(_view_class(op))
    return dialect


@cache
def _base_class() -> Any:
    """What all views have; made late, since its base class lives in the bindings."""

    class View(mlir.ir.OpView):  # type: ignore[misc]  # the bindings carry no types
        _ODS_REGIONS = (0, True)
        declaration: type[Op]

        def operand(self, name: str) -> Any:
            """The operand `name`; for a variadic one, the tuple of all its values."""
            fixed = [o.name for o in self.declaration.operands if not o.variadic]
            values = tuple(self.operation.operands)
            if name in fixed:
                return values[fixed.index(name)]
            return values[len(fixed) : len(values) - self._dynamic_sizes()]

        def attribute(self, name: str) -> Any:
            """The Python value of attribute `name`, None standing for a dynamic size."""
            declared = self.declaration.attributes[name]
            return self._read(declared, name)

        def _read(self, declared: Attribute, name: str) -> Any:
            return Codec(self.operation.context).read(declared, self.operation.attributes[name])

        def _dynamic_sizes(self) -> int:
            kinds = self.declaration.attributes.items()
            return sum(self._read(a, name).count(None) for name, a in kinds if a.kind == "sizes")

    return View


def _view_class(op: type[Op]) -> Any:
    """The OpView class of one declared op."""
    base = _base_class()
    members: dict[str, Any] = {
        "OPERATION_NAME": f"{DIALECT}.{op.name}",
        "__doc__": op.__doc__,
        "declaration": op,
    }
    members.update({o.name: _accessor("operand", o.name) for o in op.operands})
    members.update({name: _accessor("attribute", name) for name in op.attributes})
    taken = set(dir(base)) - {"__doc__"}
    return type(
        op.__name__, (base,), {k: v for k, v in members.items() if k not in taken or k == "declaration"}
    )


def _accessor(method: str, name: str) -> property:
    """A property that calls `method` with `name`."""

    def get(self: Any) -> Any:
        return getattr(self, method)(name)

    return property(get)
