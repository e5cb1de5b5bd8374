"""Ops of the standard that are functions: by the definition in other ops that the onnx package has.

Input: a node without a rule, and its operands. Output: the `Function` that defines it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..errors import ModelUnsupportedError
from .graph import Function, Node, parse_function
from .tensors import DTYPES

_CODES = {dtype: code for code, dtype in DTYPES.items()}


def is_expandable(node: Node, version: int) -> bool:
    """Whether the standard defines the op of `node` by other ops."""
    schema = _schema(node.op, version, node.domain)
    return schema is not None and bool(schema.has_function or schema.has_context_dependent_function)


def standard_function(
    node: Node, attributes: Mapping[str, Any], inputs: Sequence[Any], version: int
) -> Function:
    """The function that defines the op of `node`; raises `ModelUnsupportedError` where there is none."""
    schema = _schema(node.op, version, node.domain)
    if schema is None:
        raise ModelUnsupportedError(
            f"version {version} of the op set {node.domain or 'ai.onnx'!r} has no op {node.op!r}"
        )
    if schema.has_function:
        chosen = max((v for v in schema.function_opset_versions if v <= version), default=None)
        text = schema.get_function_with_opset_version(
            min(schema.function_opset_versions) if chosen is None else chosen
        )
        return _with_defaults(_parsed(text), schema)
    if schema.has_context_dependent_function and node.proto is not None:
        versions = schema.context_dependent_function_opset_versions
        chosen = max((v for v in versions if v <= version), default=min(versions))
        types = [_type(value) for value in inputs]
        text = schema.get_context_dependent_function_with_opset_version(
            chosen, _serialized(node, attributes), types
        )
        if text:
            return _with_defaults(_parsed(text), schema)
    raise ModelUnsupportedError(f"adze has no rule for the op {node.op!r}")


def _schema(op: str, version: int, domain: str) -> Any:
    import onnx.defs

    try:
        return onnx.defs.get_schema(op, version, domain)
    except Exception:  # onnx.defs.SchemaError, whose place differs between versions of onnx
        return None


@lru_cache(maxsize=256)
def _parsed(text: bytes) -> Function:
    import onnx

    proto = onnx.FunctionProto()
    proto.ParseFromString(text)
    return parse_function(proto)


def _with_defaults(function: Function, schema: Any) -> Function:
    import onnx.helper

    defaults = {
        name: onnx.helper.get_attribute_value(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.name
    }
    return Function(
        function.inputs, function.outputs, function.nodes, function.opsets, {**defaults, **function.defaults}
    )


def _serialized(node: Node, attributes: Mapping[str, Any]) -> bytes:
    """The node with its attributes filled in: in a function they may refer to those of its call."""
    import onnx
    import onnx.helper

    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    kept = [a for a in node.proto.attribute if not a.ref_attr_name]
    referred = [name for name in node.references if name in attributes]
    del proto.attribute[:]
    proto.attribute.extend(kept)
    proto.attribute.extend(onnx.helper.make_attribute(name, attributes[name]) for name in referred)
    return bytes(proto.SerializeToString())


def _type(value: Any) -> bytes:
    """The type of an operand as a serialized `TypeProto`."""
    import onnx

    proto = onnx.TypeProto()
    if value is not None and hasattr(value, "dtype"):
        tensor = proto.tensor_type
        tensor.elem_type = _CODES[value.dtype]
        tensor.shape.SetInParent()
        for n in value.shape:
            dim = tensor.shape.dim.add()
            if isinstance(n, int):
                dim.dim_value = n
    return bytes(proto.SerializeToString())
