"""Damaged, hostile and unsupported models: an error with the node's name, and no file outside the folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze.imports import ModelError, ModelUnsupportedError

from .models import FLOAT, graph, helper, info, mlp, model, onnx, weight


def one(op: str, inputs: str = "x", weights: Any = (), **attributes: Any) -> Any:
    node = helper.make_node(op, inputs.split(), ["y"], name="the_node", **attributes)
    return model([node], [info("x", [2, 3])], [info("y", None)], weights)


X = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("proto", "text"),
    [
        (one("Nonsense"), "node 'the_node' (Nonsense): adze has no rule for this op"),
        (one("Relu", "z"), "node 'the_node' (Relu) takes 'z', which nothing before it computes"),
        (one("Add", "x"), "node 'the_node' (Add) has 1 inputs, expected 2"),
        (one("StringNormalizer"), "no rule for this op"),
        (model([], [], [info("y", None)]), "returns 'y', which nothing computes"),
        (model([], [info("x", [1])], [info("x", [1])], opset=99), "version 99 of the op set"),
        (model([], [info("x", [1], 8)], [info("x", [1], 8)]), "elements of the type string"),
    ],
)
def test_models_that_are_refused_when_they_are_loaded(proto: Any, text: str) -> None:
    with pytest.raises(ModelError) as caught:
        adze.from_onnx(proto)
    assert text in str(caught.value)


def shape(*sizes: int) -> list[Any]:
    return [weight("s", np.int64(sizes))]


def scales(*factors: float) -> list[Any]:
    return [weight("r", np.float32([])), weight("s", np.float32(factors))]


@pytest.mark.parametrize(
    ("proto", "text"),
    [
        (one("Reshape", "x s", shape(4, 4)), "the_node"),
        (one("Expand", "x s", shape(2**40, 2, 3)), "which no array of a model has"),
        (one("ConstantOfShape", "s", shape(2**40)), "which no array of a model has"),
        (one("Tile", "x s", shape(2**30, 2**30)), "which no array of a model has"),
        (one("Resize", "x r s", scales(1e9, 1e9)), "which no array of a model has"),
        (one("Resize", "x r s", scales(3e8, 1), mode="linear"), "its weights would be an array of shape"),
        (
            one("MelWeightMatrix", "n n n h h", [weight("n", np.int64(2**20)), weight("h", np.float32(0))]),
            "which no model needs",
        ),
        (one("Split", num_outputs=2**20), "num_outputs is 1048576, and the node has 1 outputs"),
        (one("Gather", "x s", shape(7), axis=1), "out of range for an axis of 3 elements"),
        (one("Softmax", axis=5), "axis 5 is out of range for an array of 2 axes"),
        (one("Transpose", perm=[0, 0]), "the_node"),
        (one("Conv", "x x"), "expected 3 or more of both"),
        (one("Einsum", equation="ij,k"), "the_node"),
        (one("DepthToSpace", blocksize=2), "the_node"),
        (one("Slice", "x s s s s", shape(0)), "a step is 0"),
        (one("Cast"), "the attribute 'to' is missing"),
        (one("Cast", to=17), "float8e4m3fn"),
        (one("Gelu", approximate="wrong"), "expected none or tanh"),
    ],
)
def test_nodes_that_cannot_be_computed(proto: Any, text: str) -> None:
    f = adze.from_onnx(proto)
    with pytest.raises(adze.AdzeError) as caught:
        f(X)
    assert text in str(caught.value) and "the_node" in str(caught.value)


def test_inputs_that_do_not_fit() -> None:
    f = adze.from_onnx(mlp())
    for x, text in (
        (np.zeros((2, 5), np.float32), "declares ['n', 4]"),
        (np.zeros((2, 4)), "declares float32"),
    ):
        with pytest.raises(ModelError, match="the input 'x'") as caught:
            f(x)
        assert text in str(caught.value)
    with pytest.raises(ModelError, match="its inputs are x"):
        f()
    with pytest.raises(ModelError, match="the parameters lack"):
        f.apply({}, X)


def test_values_that_decide_shapes_must_be_known() -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["s"], to=7),
        helper.make_node("Reshape", ["x", "s"], ["y"], name="the_node"),
    ]
    f = adze.from_onnx(model(nodes, [info("x", [2])], [info("y", None)]))
    assert np.asarray(f(np.float32([1, 2]))).shape == (1, 2)
    with pytest.raises(ModelUnsupportedError, match="'shape' must be known while tracing"):
        adze.trace(f, adze.ShapeDtype((2,)))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no model", b"\x00" * 64, b"\xff" * 64])
def test_files_that_are_no_models(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(content)
    with pytest.raises(ModelError, match=r"x\.onnx: this is no ONNX model"):
        adze.from_onnx(tmp_path / "x.onnx")
    with pytest.raises(ModelError, match="cannot read"):
        adze.from_onnx(tmp_path / "none.onnx")


def test_files_that_are_cut_anywhere() -> None:
    data = mlp().SerializeToString()
    for end in range(0, len(data), 7):
        try:
            adze.from_onnx(data[:end])
        except ModelError:
            continue
        except Exception as error:  # any other class is a mistake of ours
            pytest.fail(f"cut at {end}: {type(error).__name__}: {error}")


def test_bytes_that_are_changed_anywhere() -> None:
    """Whatever a damaged model is, it is called, or an error of adze."""
    data, draws = mlp().SerializeToString(), np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        damaged = bytearray(data)
        damaged[draws.integers(len(damaged))] = draws.integers(256)
        try:
            adze.from_onnx(bytes(damaged))(np.ones((2, 4), np.float32))
            seen.add("called")
        except adze.AdzeError:
            seen.add("refused")
    assert seen == {"called", "refused"}


def external(tmp_path: Path, dims: list[int] | None = None, **entries: str) -> Path:
    tensor = onnx.TensorProto(name="w", data_type=FLOAT, dims=dims or [2], data_location=1)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    main = graph([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", [2])], [info("y", [2])], [tensor])
    path = tmp_path / "models" / "m.onnx"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(helper.make_model(main).SerializeToString())
    np.float32([1, 2, 3]).tofile(path.parent / "w.bin")
    np.float32([1, 2, 3]).tofile(tmp_path / "secret.bin")
    return path


def test_external_data(tmp_path: Path) -> None:
    f = adze.from_onnx(external(tmp_path, location="w.bin", offset="4", length="8"))
    assert np.asarray(f(np.float32([0, 0]))).tolist() == [2.0, 3.0]


def test_external_data_that_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "link.bin").symlink_to(tmp_path / "secret.bin")
    outside = ("../secret.bin", str(tmp_path / "secret.bin"), "", ".", "link.bin", "a/../../secret.bin")
    for location in outside:
        with pytest.raises(ModelError, match=r"initializer 'w' has its data in .*no file inside the folder"):
            adze.from_onnx(external(tmp_path, location=location))
    cases: list[tuple[dict[str, str], list[int], str]] = [
        ({"location": "none.bin"}, [2], "No such file"),
        ({"location": "w.bin", "offset": "8"}, [2], "has 12 bytes"),
        ({"location": "w.bin", "offset": "-4"}, [2], "has 12 bytes"),
        ({"location": "w.bin", "length": "4"}, [2], "declares 8 bytes"),
        ({"location": "w.bin", "offset": "x"}, [2], "at no number"),
        ({"location": "w.bin"}, [2**20, 2**15], "has 12 bytes"),
        ({"location": "w.bin"}, [2**40, 2**20], "which no array can be"),
        ({"location": "w.bin"}, [-1], "which no array can be"),
    ]
    for entries, dims, text in cases:
        with pytest.raises(ModelError) as caught:
            adze.from_onnx(external(tmp_path, dims, **entries))
        assert text in str(caught.value)
    with pytest.raises(ModelError, match="the model is not from a file"):
        adze.from_onnx(external(tmp_path, location="w.bin").read_bytes())


def test_tensors_that_declare_more_than_they_have() -> None:
    for field in ({"raw_data": b"1234"}, {"float_data": [1.0]}, {}):
        tensor = onnx.TensorProto(name="w", data_type=FLOAT, dims=[2**15, 2**15], **field)
        main = graph([], [info("x", [2])], [info("x", [2])], [tensor])
        with pytest.raises(ModelError, match="initializer 'w' declares"):
            adze.from_onnx(helper.make_model(main))


def test_a_recursive_function_ends() -> None:
    opsets = [helper.make_opsetid("own", 1)]
    function = helper.make_function(
        "own", "Again", ["a"], ["b"], [helper.make_node("Again", ["a"], ["b"], domain="own")], opsets
    )
    main = graph([helper.make_node("Again", ["x"], ["y"], domain="own")], [info("x", [2])], [info("y", [2])])
    f = adze.from_onnx(helper.make_model(main, functions=[function], opset_imports=opsets))
    with pytest.raises(ModelError, match="is one recursive"):
        f(np.zeros(2, np.float32))
