"""`adze.export`: functions that are traced once and called elsewhere, also from bytes."""

from __future__ import annotations

import collections
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import export
from adze.runtime.errors import ArtifactError


def written(exported: export.Exported, vjp_order: int = 0) -> export.Exported:
    """What is read again of an exported function."""
    return export.deserialize(exported.serialize(vjp_order))


def test_an_exported_function_is_called_alone_and_in_other_programs() -> None:
    cubed = export.export(adze.jit(lambda x: {"y": 7 * x**3}))(adze.ShapeDtype((2,)))
    for each in (cubed, written(cubed)):
        assert repr(each.in_avals) == "(ShapedArray(float32[2]),)" and each.platforms == ("cpu",)
        assert each.call(np.float32([1, 2]))["y"].tolist() == [7, 56]
        composed = adze.jit(lambda x, call=each.call: call(x + 1)["y"].sum())
        assert composed(np.float32([0, 1])).item() == 63
        batched = adze.vmap(each.call)(np.float32([[1, 2], [2, 1]]))
        assert batched["y"].tolist() == [[7, 56], [56, 7]]
        assert "stablehlo.multiply" in each.mlir_module() and each.mlir_module_serialized[:2] == b"ML"


def test_derivatives_are_those_that_were_asked_for() -> None:
    exported = export.export(adze.jit(lambda x: 7 * x * x * x))(1.0)
    assert adze.grad(adze.grad(exported.call))(2.0).item() == 84
    twice = written(exported, vjp_order=2).call
    assert adze.grad(twice)(2.0).item() == 84 and adze.grad(adze.grad(twice))(2.0).item() == 84
    with pytest.raises(ValueError, match="No VJP is available"):
        adze.grad(adze.grad(adze.grad(twice)))(2.0)
    with pytest.raises(ValueError, match="No VJP is available"):
        written(exported).vjp()


def test_a_custom_rule_is_kept() -> None:
    @adze.custom_vjp
    def same(x: Any) -> Any:
        return x

    same.defvjp(lambda x: (x, None), lambda _, ct: (ct * 10,))
    exported = written(export.export(adze.jit(same))(adze.ShapeDtype(())), vjp_order=1)
    assert adze.grad(exported.call)(3.0).item() == 10


def test_integers_beside_floats_have_no_derivative() -> None:
    exported = export.export(adze.jit(lambda k, x: (x * k, k)))(np.int32(1), np.float32(1))
    assert adze.grad(lambda x: exported.call(np.int32(3), x)[0])(np.float32(2)).item() == 3
    assert [aval.dtype.name for aval in exported.vjp().in_avals] == ["int32", "float32", "float32", "bool"]


def test_one_export_serves_all_sizes_of_its_symbolic_dimensions() -> None:
    a, b = export.symbolic_shape("a, b")
    exported = export.export(adze.jit(lambda x: anp.concatenate([x, x * x], axis=1)))(adze.ShapeDtype((a, b)))
    assert repr(exported.out_avals) == "(ShapedArray(float32[a,2*b]),)" and exported.uses_global_constants
    again = written(exported, vjp_order=1)
    assert (
        repr(again.in_avals) == repr(exported.in_avals) and repr(again.vjp().out_avals[0].shape) == "(a, b)"
    )
    for shape in ((2, 3), (1, 1)):
        x = np.full(shape, 2, np.float32)
        assert again.call(x).shape == (shape[0], 2 * shape[1])
        assert (adze.grad(lambda x: again.call(x).sum())(x) == 5).all()
    in_one_of_sizes = adze.trace(lambda x: again.call(x)[:, 0], adze.ShapeDtype(("n", 4)))
    assert in_one_of_sizes.lower().compile()(np.ones((3, 4), np.float32)).shape == (3,)


def test_dimensions_that_are_expressions_are_solved() -> None:
    half = export.export(adze.jit(lambda x: x[: x.shape[0] // 2]))
    exported = half(adze.ShapeDtype(export.symbolic_shape("2*d + 1, d"), np.int32))
    assert repr(exported.out_avals[0].shape) == "(d, d)"
    assert exported.call(np.ones((5, 2), np.int32)).shape == (2, 2)
    with pytest.raises(ValueError, match="dimension '2\\*d \\+ 1': axis 1 of 'x' is 3, axis 0 of 'x' is 5"):
        exported.call(np.ones((5, 3), np.int32))
    with pytest.raises(ValueError, match="d >= 1 does not hold for d = 0"):
        exported.call(np.ones((1, 0), np.int32))
    with pytest.raises(ValueError, match="cannot solve for the sizes d"):
        half(adze.ShapeDtype(export.symbolic_shape("d*d"), np.int32))


def test_constraints_decide_and_are_checked() -> None:
    head = export.export(adze.jit(lambda x: x[: x.shape[1], :16]))
    a, b = export.symbolic_shape("a, b", constraints=("a >= b", "b >= 16"))
    exported = written(head(adze.ShapeDtype((a, b))))
    assert repr(exported.out_avals[0].shape) == "(b, 16)"
    assert exported.call(np.ones((20, 18), np.float32)).shape == (18, 16)
    with pytest.raises(ValueError, match="a >= b does not hold for a = 17, b = 18"):
        exported.call(np.ones((17, 18), np.float32))
    a, b = export.symbolic_shape("a, b")
    with pytest.raises(adze.errors.InconclusiveDimensionOperation, match="'a \\+ 1 >= b' is not known"):
        export.export(adze.jit(lambda x: 0 if x.shape[0] + 1 >= x.shape[1] else 1))(adze.ShapeDtype((a, b)))


def test_symbolic_dimensions_compute_and_compare() -> None:
    a, b, *_ = export.symbolic_shape("a, b, c, d", constraints=("a*b == c + d", "a >= 8"))
    assert repr((2 * b * a, a * b * b, a + b, a // 4, a**2)) == (
        "(2*d + 2*c, b*d + b*c, b + a, floordiv(a, 4), a^2)"
    )
    assert a >= 8 and a + b > 8 and b + b == 2 * b and a != 8 and (3 * a) % 3 == 0
    with pytest.raises(TypeError, match="'a >= b' is not known for all sizes"):
        assert a >= b
    other, with_scope = export.symbolic_shape("a")[0], export.symbolic_shape("e", scope=a.scope)[0]
    assert repr(a + with_scope) == "e + a"
    with pytest.raises(ValueError, match="are of different scopes"):
        a + other
    for text in ("a >", "a + b == c", "1 >= 2"):
        with pytest.raises(ValueError, match=r"constraint|cannot read"):
            export.SymbolicScope(text)


def test_specs_of_arguments_from_texts() -> None:
    args = {"x": np.ones((3, 4), np.int32), "y": np.ones(3, np.float32)}
    specs = export.symbolic_args_specs((args,), "n, ...")
    assert specs[0]["x"].shape[0] == specs[0]["y"].shape[0] and repr(specs[0]["x"].shape) == "(n, 4)"
    (specs,) = export.symbolic_args_specs((args,), ({"x": "(_, 2*m)", "y": None},))
    assert repr((specs["x"].shape, specs["y"].shape)) == "((3, 2*m), (3,))"
    with pytest.raises(ValueError, match="it has 1 dimensions, the shape 2"):
        export.symbolic_args_specs((args,), "n")


def test_platforms_are_checked() -> None:
    assert export.default_export_platform() == "cpu"
    with pytest.raises(ValueError, match="lowered for platforms \\('tpu',\\) but it is used on \\('cpu',\\)"):
        export.export(adze.jit(anp.cos), platforms=["tpu"])(1.0).call(1.0)
    unsafe = export.export(
        adze.jit(anp.cos), platforms=["tpu"], disabled_checks=[export.DisabledSafetyCheck.platform()]
    )
    assert written(unsafe(1.0)).call(0.0).item() == 1
    with pytest.raises(ValueError, match="expected a sequence of cpu"):
        export.export(adze.jit(anp.cos), platforms=["abacus"])


class Pair(NamedTuple):
    """Two arrays."""

    left: Any
    right: Any


class Scaled:
    """An array and its scale, which is static."""

    def __init__(self, array: Any, scale: int) -> None:
        self.array, self.scale = array, scale


def test_trees_of_registered_classes_are_written() -> None:
    adze.tree_util.register_pytree_node(Scaled, lambda s: ((s.array,), s.scale), lambda k, xs: Scaled(*xs, k))
    exported = export.export(adze.jit(lambda p, *, k: Scaled(p.left + p.right["w"] * k.array, k.scale)))(
        Pair(np.ones(2), collections.OrderedDict(w=np.ones(2))), k=Scaled(np.ones(2), 3)
    )
    with pytest.raises(ValueError, match="nodes of Pair: no serialization is registered"):
        exported.serialize()
    export.register_namedtuple_serialization(Pair, serialized_name="test.Pair")
    export.register_pytree_node_serialization(
        Scaled,
        serialized_name="test.Scaled",
        serialize_auxdata=lambda scale: bytes([scale]),
        deserialize_auxdata=lambda data: data[0],
    )
    result = written(exported).call(
        Pair(np.ones(2), collections.OrderedDict(w=np.ones(2))), k=Scaled(np.full(2, 5.0), 3)
    )
    assert isinstance(result, Scaled) and result.scale == 3 and result.array.tolist() == [6, 6]
    with pytest.raises(ValueError, match="duplicate serialization registration"):
        export.register_namedtuple_serialization(Pair, serialized_name="another")
    with pytest.raises(TypeError, match="was exported for arguments"):
        exported.call(np.ones(2))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda b: b[:100], "not a program built by adze"),
        (lambda b: b[:50] + bytes([b[50] ^ 1]) + b[51:], "do not match its checksum"),
        (lambda b: b"", "is empty"),
    ],
)
def test_damaged_bytes_are_refused(change: Callable[[bytes], bytes], problem: str) -> None:
    content = bytes(export.export(adze.jit(anp.sin))(1.0).serialize())
    with pytest.raises(ArtifactError, match=problem):
        export.deserialize(change(content))


def test_another_process_calls_it(tmp_path: Path) -> None:
    file = tmp_path / "f.bin"
    n = export.symbolic_shape("n")
    file.write_bytes(export.export(adze.jit(lambda x: x.sum() / x.shape[0]))(adze.ShapeDtype(n)).serialize())
    code = f"import adze.export, numpy as np; f = adze.export.deserialize(open({str(file)!r}, 'rb').read()); "
    code += "print(f.call(np.float32([1, 2, 6])))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "3.0"


def test_what_cannot_be_exported() -> None:
    with pytest.raises(ValueError, match="export takes a function that jit returned"):
        export.export(anp.sin)
    with pytest.raises(NotImplementedError, match="calls Python functions of this process"):
        export.export(adze.jit(lambda x: adze.debug.print("{}", x)))(1.0)


def test_a_divided_export_names_its_devices() -> None:
    mesh = adze.sharding.AbstractMesh((4,), ("a",))
    spec = adze.ShapeDtype((8,), sharding=adze.sharding.NamedSharding(mesh, adze.P("a")))
    exported = written(export.export(adze.jit(lambda x: x * 2))(spec))
    (sharding,) = exported.in_shardings_jax(mesh)
    assert exported.nr_devices == 4 and sharding is not None and sharding.spec == adze.P("a")
    with pytest.raises(ValueError, match="lowered for 4 devices and is called in a context with 1"):
        exported.call(np.ones(8, np.float32))


def test_a_file_has_no_argument_whose_size_is_an_expression(tmp_path: Path) -> None:
    traced = adze.trace(lambda x: x, adze.ShapeDtype(export.symbolic_shape("2*d")))
    compiled = traced.lower().compile()
    assert compiled(np.ones(4, np.float32)).shape == (4,)
    with pytest.raises(NotImplementedError, match=r"takes x: f32\[2\*d\]: no file of a program"):
        compiled.save(tmp_path / "f.vmfb")
