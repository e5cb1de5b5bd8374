"""Checkpoint policies that users write as functions of primitives, as JAX takes them.

Input: a function that was traced, while its frame is open, and a policy. Output: names for the values that
the policy saves, which the linearize engine keeps (`save_only_these_names`). Idea: the policy is asked once
for each equation, as `make_jaxpr` would show it: of a loop or a jitted function, for all of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.builder.emitter import Reader
from ...dialects.ops.custom_rules.checkpoints import CheckpointName
from ...dialects.types import INEXACT, TensorType
from ..tracing.frames import Frame, Tracer
from ..tracing.specs import ShapeDtype
from .equations import primitive_of


def name_saved_values(frame: Frame, policy: Callable[..., Any], label: str, results: Sequence[Any]) -> None:
    """Give what ops of `frame` make a name, where `policy(primitive, *types, **attributes)` saves it.

    Later ops use the named values, and so do the traced `results` of the function.
    """
    named: dict[Any, Any] = {}
    codec = frame.program.codec
    reader = Reader(codec)
    for operation in list(frame.block.operations):
        application = reader.read(operation.operation, lambda value: value)
        if application is None or application.op.is_constant or application.op is CheckpointName:
            continue
        primitive, operands, attributes = primitive_of(application)
        types = [codec.read_type(v.type) for v in operands]
        avals = [ShapeDtype(t.static_shape, t.dtype) for t in types if isinstance(t, TensorType)]
        if not policy(primitive, *avals, **attributes):
            continue
        for result in operation.operation.results:
            kind = codec.read_type(result.type)
            if isinstance(kind, TensorType) and kind.dtype in INEXACT:
                frame.emitter.location = operation.location
                (value,) = frame.emitter.apply(CheckpointName, (result,), {"label": label})
                naming = value.owner.operation
                naming.move_after(operation.operation)
                result.replace_all_uses_except(value, naming)
                named[result] = value
                for kept in (frame.varying, frame.layouts):
                    if result in kept:
                        kept[value] = kept[result]
    for leaf in results:
        if isinstance(leaf, Tracer) and leaf.value in named:
            leaf.value = named[leaf.value]
