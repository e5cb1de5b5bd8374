"""`from_onnx`: an ONNX model as an ordinary function of adze ops.

Input: a path, bytes or a `ModelProto`. Output: a function of the model's inputs, whose weights are a tree of
parameters. Nothing of a model is run as code: every op is one of the table's rules, or a function of them.
"""

from __future__ import annotations

import inspect
import keyword
import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....dialects.errors import AdzeError
from ...tracing.interpreter import as_value
from ...tracing.specs import ShapeDtype
from ..errors import ModelError, ModelUnsupportedError
from .calls import constant
from .checks import check_model, static_names
from .evaluation import Evaluation
from .graph import Model, Value, parse_model
from .tensors import Tensors


def from_onnx(model: Any, *, trainable: bool = True) -> OnnxFunction:
    """An ONNX model as a function: called with its inputs, in order or by name, it returns its outputs.

    `model` is the path of a file, its bytes, or an `onnx.ModelProto`. Weights of floats are in `parameters`,
    a dict by their names, and `apply(parameters, *inputs)` takes others in their place: differentiate that to
    train. With `trainable=False` they are constants, and what depends on them alone is computed once. One
    output is an array, several are a tuple. `specs` are the shapes and dtypes that the model declares.

    Needs the package onnx (`pip install adze-compiler[onnx]`). Raises `ModelError` for a file that is no ONNX
    model, is damaged, or has its data outside its folder, and `ModelUnsupportedError` (a `ModelError`) for an
    op or an element type that adze has not; both name the node.
    """
    proto, folder, name = _proto(model)
    parsed = parse_model(proto, Tensors(folder))
    check_model(parsed)
    return OnnxFunction(parsed, name, trainable)


class OnnxFunction:
    """A model as a function; see `from_onnx`."""

    takes_declared_dtypes = True
    """Arguments of other dtypes than those of `specs` are refused."""

    def __init__(self, model: Model, name: str, trainable: bool) -> None:
        self._model = model
        graph = model.graph
        self.inputs: tuple[Value, ...] = tuple(v for v in graph.inputs if v.name not in graph.initializers)
        self.outputs: tuple[Value, ...] = graph.outputs
        arrays = {key: constant(array) for key, array in graph.initializers.items()}
        fixed = static_names(model)
        is_parameter = {
            key: trainable and key not in fixed and (a.dtype.kind in "fc" or a.dtype.name == "bfloat16")
            for key, a in arrays.items()
        }
        self.parameters: dict[str, Any] = {key: a for key, a in arrays.items() if is_parameter[key]}
        self._constants = {key: a for key, a in arrays.items() if not is_parameter[key]}
        self.argument_names = _identifiers([v.name for v in self.inputs])
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"The ONNX model {graph.name!r} of {model.producer or 'an unknown producer'}."
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in self.argument_names])

    @property
    def specs(self) -> dict[str, ShapeDtype]:
        """Shape and dtype of each argument, as the model declares them; named dimensions have names."""
        return {n: _spec(v) for n, v in zip(self.argument_names, self.inputs, strict=True)}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The outputs for these inputs, with the model's own weights."""
        return self.apply(self.parameters, *args, **kwargs)

    def apply(self, parameters: Mapping[str, Any], /, *args: Any, **kwargs: Any) -> Any:
        """The outputs for these inputs, with weights in place of the model's own."""
        if parameters is not self.parameters and parameters.keys() != self.parameters.keys():
            missing = sorted(self.parameters.keys() - parameters.keys())
            more = sorted(parameters.keys() - self.parameters.keys())
            raise ModelError(f"{self.__name__}: the parameters lack {missing} and have {more} besides")
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            names = ", ".join(self.argument_names)
            raise ModelError(f"{self.__name__}: {error}: its inputs are {names}") from None
        given = {
            value.name: _checked(value, bound.arguments[name])
            for name, value in zip(self.argument_names, self.inputs, strict=True)
        }
        results = Evaluation(self._model, self._constants).run({**parameters, **given})
        values = [_result(value, result) for value, result in zip(self.outputs, results, strict=True)]
        return values[0] if len(values) == 1 else tuple(values)

    def __repr__(self) -> str:
        arguments = ", ".join(
            f"{n}: {_text(v)}" for n, v in zip(self.argument_names, self.inputs, strict=True)
        )
        return f"OnnxFunction({self.__name__}({arguments}), {len(self.parameters)} parameters)"


def _proto(model: Any) -> tuple[Any, Path | None, str]:
    """The protobuf, the folder of its file and a name for the function."""
    try:
        import onnx
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        raise ModelUnsupportedError(
            "ONNX models need the package onnx, which is not installed",
            hint="pip install 'adze-compiler[onnx]'",
        ) from None
    if isinstance(model, onnx.ModelProto):
        return model, None, _identifier(model.graph.name or "model")
    if isinstance(model, (bytes, bytearray)):
        return _parsed(onnx, bytes(model), "the bytes"), None, "model"
    if not isinstance(model, (str, os.PathLike)):
        raise ModelError(f"from_onnx takes a path, bytes or an onnx.ModelProto, not {type(model).__name__}")
    path = Path(model)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    return _parsed(onnx, data, str(path)), path.parent, _identifier(path.stem)


def _parsed(onnx: Any, data: bytes, what: str) -> Any:
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except Exception as error:  # google.protobuf.message.DecodeError
        raise ModelError(
            f"{what}: this is no ONNX model, or a damaged one: {error}", hint="export the model again"
        ) from None
    if not proto.HasField("graph"):
        raise ModelError(f"{what}: this is no ONNX model, or a damaged one: it has no graph")
    return proto


def _identifier(text: str) -> str:
    name = re.sub(r"\W", "_", unicodedata.normalize("NFKC", text))
    name = name if f"_{name}".isidentifier() else re.sub(r"\W", "_", name, flags=re.ASCII)
    name = name if name.isidentifier() else f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def _identifiers(names: list[str]) -> tuple[str, ...]:
    """Names of Python for names of a model, which differ."""
    result: list[str] = []
    for text in names:
        name = first = _identifier(text)
        count = 2
        while name in result:
            name, count = f"{first}_{count}", count + 1
        result.append(name)
    return tuple(result)


def _spec(value: Value) -> ShapeDtype:
    if value.kind != "tensor" or value.dtype is None:
        raise ModelUnsupportedError(f"the input {value.name!r} is a {value.kind}, and adze has arrays alone")
    if value.shape is None:
        raise ModelUnsupportedError(
            f"the model does not say how many axes its input {value.name!r} has",
            hint=f"state its shape: --in '{_identifier(value.name)}=f32[...]', or trace it with specs",
        )
    return ShapeDtype([_identifier(n) if isinstance(n, str) else n for n in value.shape], value.dtype)


def _text(value: Value) -> str:
    try:
        return str(_spec(value))
    except AdzeError:
        return value.kind


def _checked(value: Value, argument: Any) -> Any:
    """An input as an array, of the dtype that the model declares and of sizes that fit."""
    if value.kind != "tensor":
        return argument if argument is None or isinstance(argument, list) else as_value(argument)
    array = as_value(argument)
    if value.dtype is not None and array.dtype != value.dtype:
        if getattr(array, "weak_type", False):
            array = as_value(argument, value.dtype)
        else:
            raise ModelError(
                f"the input {value.name!r} has the dtype {array.dtype.name}, and the model declares "
                f"{value.dtype.name}"
            )
    wanted = value.shape
    if wanted is None:
        return array
    fits = len(wanted) == array.ndim and all(
        not (isinstance(n, int) and isinstance(m, int)) or n == m
        for n, m in zip(wanted, array.shape, strict=True)
    )
    if not fits:
        raise ModelError(
            f"the input {value.name!r} has the shape {list(array.shape)}, and the model declares "
            f"{list(wanted)}"
        )
    return array


def _result(value: Value, result: Any) -> Any:
    if isinstance(result, list) or result is None:
        return result
    return result.traced() if hasattr(result, "traced") else result
