"""Two small ONNX models with random weights, node by node: a residual network and a transformer block.

Input: sizes. Output: `onnx.ModelProto`s with named batch dimensions, as exporters of PyTorch write them.
"""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 21


class Writer:
    """Nodes and weights of a graph, in order; the name of a value is that of its node."""

    def __init__(self, seed: int) -> None:
        self.draws = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, op: str, name: str, inputs: Sequence[str], **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, [*inputs], [name], name=name, **attributes))
        return name

    def weight(self, name: str, array: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def normal(self, name: str, *shape: int) -> str:
        scale = np.sqrt(2 / np.prod(shape[1:] if len(shape) > 2 else shape[:1]))
        return self.weight(name, (self.draws.standard_normal(shape) * scale).astype(np.float32))

    def vector(self, name: str, size: int, value: float) -> str:
        return self.weight(name, np.full(size, value, np.float32))

    def model(self, name: str, x: Sequence[str | int], y: Sequence[str | int]) -> onnx.ModelProto:
        """The model from an input `x` to the output of the last node."""
        result = self.nodes[-1].output[0]
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, y)],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.checker.check_model(model)
        return model


def resnet(channels: Sequence[int] = (16, 32, 64), size: int = 32, classes: int = 10) -> onnx.ModelProto:
    """Convolutions and batch normalizations, a residual block for each entry of `channels`, a head."""
    w = Writer(seed=0)
    x = _convolution(w, "stem", "x", 3, channels[0], 1)
    x = w.node("Relu", "stem.relu", [x])
    before = channels[0]
    for i, after in enumerate(channels):
        x = _block(w, f"block{i}", x, before, after, 1 if i == 0 else 2)
        before = after
    x = w.node("GlobalAveragePool", "pool", [x])
    x = w.node("Flatten", "flat", [x], axis=1)
    names = [x, w.normal("head.weight", before, classes), w.vector("head.bias", classes, 0.0)]
    w.node("Gemm", "logits", names)
    return w.model("resnet", ["batch", 3, size, size], ["batch", classes])


def _convolution(w: Writer, name: str, x: str, before: int, after: int, stride: int, kernel: int = 3) -> str:
    pad = kernel // 2
    x = w.node(
        "Conv",
        f"{name}.conv",
        [x, w.normal(f"{name}.weight", after, before, kernel, kernel)],
        kernel_shape=[kernel, kernel],
        pads=[pad] * 4,
        strides=[stride, stride],
    )
    values = {"scale": 1.0, "bias": 0.0, "mean": 0.0, "var": 1.0}
    statistics = [w.vector(f"{name}.{kind}", after, value) for kind, value in values.items()]
    return w.node("BatchNormalization", f"{name}.norm", [x, *statistics])


def _block(w: Writer, name: str, x: str, before: int, after: int, stride: int) -> str:
    y = _convolution(w, f"{name}.first", x, before, after, stride)
    y = w.node("Relu", f"{name}.relu", [y])
    y = _convolution(w, f"{name}.second", y, after, after, 1)
    if stride != 1 or before != after:
        x = _convolution(w, f"{name}.short", x, before, after, stride, kernel=1)
    return w.node("Relu", f"{name}.out", [w.node("Add", f"{name}.sum", [x, y])])


def transformer(width: int = 64, heads: int = 4, length: int = 32, hidden: int = 256) -> onnx.ModelProto:
    """A block of attention and of a feed-forward network, each behind a layer normalization, with residuals.

    Shapes of heads are computed in the graph, from the shape of the input, as exporters write them.
    """
    w = Writer(seed=1)
    y = _normalized(w, "norm1", "x", width)
    query, key, value = (_heads(w, name, y, width, heads) for name in ("query", "key", "value"))
    turned = w.node("Transpose", "keys", [key], perm=[0, 1, 3, 2])
    scores = w.node("MatMul", "scores", [query, turned])
    scale = w.weight("scale", np.float32(np.sqrt(width // heads)))
    share = w.node("Softmax", "share", [w.node("Div", "scaled", [scores, scale])], axis=-1)
    mixed = w.node("Transpose", "mixed", [w.node("MatMul", "mix", [share, value])], perm=[0, 2, 1, 3])
    shape = w.node("Shape", "shape", ["x"])
    joined = w.node("Reshape", "joined", [mixed, shape])
    x = w.node("Add", "residual1", ["x", _linear(w, "project", joined, width, width)])
    y = _linear(w, "up", _normalized(w, "norm2", x, width), width, hidden)
    y = _linear(w, "down", w.node("Gelu", "gelu", [y]), hidden, width)
    w.node("Add", "y", [x, y])
    return w.model("transformer", ["batch", length, width], ["batch", length, width])


def _normalized(w: Writer, name: str, x: str, width: int) -> str:
    scale, bias = w.vector(f"{name}.scale", width, 1.0), w.vector(f"{name}.bias", width, 0.0)
    return w.node("LayerNormalization", name, [x, scale, bias], axis=-1)


def _linear(w: Writer, name: str, x: str, before: int, after: int) -> str:
    product = w.node("MatMul", f"{name}.product", [x, w.normal(f"{name}.weight", before, after)])
    return w.node("Add", name, [product, w.vector(f"{name}.bias", after, 0.0)])


def _heads(w: Writer, name: str, x: str, width: int, heads: int) -> str:
    shape = w.weight(f"{name}.shape", np.array([0, 0, heads, width // heads], np.int64))
    split = w.node("Reshape", f"{name}.split", [_linear(w, name, x, width, width), shape])
    return w.node("Transpose", f"{name}.heads", [split], perm=[0, 2, 1, 3])
