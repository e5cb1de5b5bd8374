"""Pushforwards of user-defined pullbacks: the transpose of `bwd` pushes tangents forward.

Input: a pullback `bwd(constants..., cotangents...)`, as `custom_vjp` has it, and the types of its cotangents.
Output: the function that takes the constants, then, if any of these types is dynamic, values of these types
as shape operands, then a tangent for each result of the pullback, and returns one tangent of each type.
Idea: transposing the pullback in its cotangents yields this function. A pullback without transpose rules
returns a function that says so when it runs: reverse mode never runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.errors import MissingRuleError
from ...dialects.protocols import Transposed
from ...dialects.types import TensorType, ValueType
from ..ir.construction import Activity, NewFunction, call_function, clone_operation, derived_location
from ..ir.functions import body, drop_unfinished, function, functions, split_body
from ..ir.shape_operands import set_shape_operands
from ..optimize.inline import inline_rule


def pushforward(
    module: mlir.ir.Module,
    reader: Reader,
    transpose: Callable[[str, Activity], Transposed],
    bwd: str,
    constant_count: int,
    linear: Sequence[ValueType],
) -> str:
    """The symbol of the pushforward of `bwd`, whose cotangents have the types `linear`."""
    codec = reader.codec
    source = function(module, bwd)
    _, terminator = split_body(source)
    constants = [codec.read_type(a.type) for a in body(source).arguments][:constant_count]
    tangents = [codec.read_type(v.type) for v in terminator.operands]
    shaped = [] if all(isinstance(t, TensorType) and t.is_static for t in linear) else list(linear)
    callee = _with_shape_operands(module, reader, bwd, constant_count, linear) if shaped else bwd
    location = derived_location(source.location, "transpose")
    before = functions(module).keys()
    flags = (False,) * (constant_count + len(shaped)) + (True,) * len(linear)
    try:
        transposed: Transposed | None = transpose(callee, flags)
        missing = ""
    except MissingRuleError as error:
        transposed, missing = None, error.message
        drop_unfinished(module, before)
    new = NewFunction(module, codec, f"{bwd}_forward", [*constants, *shaped, *tangents], location)
    b = new.emitter
    if transposed is None:
        arrays = [a for a in new.arguments if isinstance(codec.read_type(a.type), TensorType)]
        return new.finish(b.undefined_value(*arrays, message=missing, results=tuple(linear)))
    values = iter(call_function(b, module, transposed.symbol, new.arguments))
    results = []
    for position, (nonzero, type_) in enumerate(zip(transposed.nonzero, linear, strict=True)):
        assert isinstance(type_, TensorType)
        if nonzero:
            results.append(next(values))
        elif shaped:
            results.append(b.zeros_like(new.arguments[constant_count + position]))
        else:
            results.append(b.full(0, type_.shape, type_.dtype))
    return new.finish(results)


def _with_shape_operands(
    module: mlir.ir.Module, reader: Reader, bwd: str, constant_count: int, linear: Sequence[ValueType]
) -> str:
    """A copy of a pullback that also takes, after its constants, values with the shapes of its cotangents."""
    inline_rule(module, bwd, reader, len(linear))
    source = function(module, bwd)
    parameters = list(body(source).arguments)
    types = [reader.codec.read_type(p.type) for p in parameters]
    types[constant_count:constant_count] = linear
    new = NewFunction(module, reader.codec, f"{bwd}_shaped", types, source.location)
    own = [*new.arguments[:constant_count], *new.arguments[constant_count + len(linear) :]]
    values = dict(zip(parameters, own, strict=True))
    operations, terminator = split_body(source)
    for child in operations:
        clone_operation(child.operation, values, new.emitter.point)
    symbol = new.finish([values[v] for v in terminator.operands])
    places = [-1] * (constant_count + len(linear)) + [constant_count + i for i in range(len(linear))]
    set_shape_operands(new.operation, places)
    return symbol
