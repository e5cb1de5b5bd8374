"""Programs of several functions over one state: weights, optimiser state and steps in the artifact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import Program, ShapeDtype
from adze import numpy as xp
from adze.frontend.staging.derived import Derivation

RNG = np.random.default_rng(3)
X = RNG.normal(size=(4, 3)).astype(np.float32)
Y = RNG.normal(size=(4, 2)).astype(np.float32)
STATE = {
    "params": {"w": RNG.normal(size=(3, 2)).astype(np.float32), "b": np.zeros(2, np.float32)},
    "steps": np.uint32(4),
    "rates": [np.float32(0.1), np.asarray([True, False])],
}
BATCH = ShapeDtype((4, 3)), ShapeDtype((4, 2))


def predict(state: Any, x: Any) -> Any:
    mask = xp.where(state["rates"][1], np.float32(1), np.float32(0.5))
    return (x @ state["params"]["w"] + state["params"]["b"]) * mask


def step(state: Any, x: Any, y: Any) -> Any:
    def loss(params: Any) -> Any:
        return ((predict({**state, "params": params}, x) - y) ** 2).mean()

    value, gradient = adze.value_and_grad(loss)(state["params"])
    rate = state["rates"][0]
    params = adze.tree.map(lambda p, g: p - rate * g, state["params"], gradient)
    return {**state, "params": params, "steps": state["steps"] + np.uint32(1)}, value


def training(state: Any, **options: Any) -> Program:
    program = Program(state, **options)
    program.reads(BATCH[0])(predict)
    program.updates(*BATCH)(step)
    return program


@pytest.fixture(scope="module", params=[False, True], ids=["inside", "outside"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    return training(STATE, outside=request.param).save(folder / "train.vmfb")


@pytest.mark.one_in(2)
def test_a_step_trains_inside_the_program(saved: Path) -> None:
    program = adze.load(saved)
    expected = STATE
    for _ in range(3):
        value = program["step"](X, Y)
        expected, reference = step(expected, X, Y)
        np.testing.assert_allclose(value, reference, rtol=1e-5)
    np.testing.assert_allclose(program["predict"](X), predict(expected, X), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(program(X), predict(expected, X), rtol=1e-5, atol=1e-6)
    state = program.state
    assert sorted(state) == ["params.b", "params.w", "steps"]
    assert state["steps"].dtype == np.uint32 and state["steps"].item() == 7
    program.set_state({**state, "steps": np.uint32(0), "params.w": STATE["params"]["w"]})
    assert program.state["steps"].item() == 0
    other = adze.load(saved)
    assert other.state["steps"].item() == 4, "each loaded program has a state of its own"


def test_the_manifest_names_what_is_kept(saved: Path) -> None:
    parameters = adze.load(saved).manifest.parameters
    assert parameters is not None
    is_outside = parameters.file is not None
    assert [(str(h.spec), h.is_mutable, h.is_parameter) for h in parameters.held] == [
        ("params.b: f32[2]", True, is_outside),
        ("params.w: f32[3,2]", True, is_outside),
        ("rates.0: f32[]", False, is_outside),
        ("rates.1: i1[2]", False, is_outside),
        ("steps: ui32[]", True, is_outside),
    ]
    assert adze.load(saved).functions == ["predict", "step"]


def test_equal_programs_are_equal_bytes(saved: Path, tmp_path: Path) -> None:
    is_outside = saved.with_suffix(".safetensors").exists()
    again = training(STATE, outside=is_outside).save(tmp_path / saved.name)
    assert again.read_bytes() == saved.read_bytes()
    if is_outside:
        weights = [path.with_suffix(".safetensors").read_bytes() for path in (saved, again)]
        assert weights[0] == weights[1]


def test_other_weights_are_swapped_in_at_load(tmp_path: Path) -> None:
    tensors = pytest.importorskip("safetensors.numpy")
    path = training(STATE, outside=True).save(tmp_path / "train.vmfb")
    arrays = tensors.load_file(tmp_path / "train.safetensors")
    assert sorted(arrays) == ["params.b", "params.w", "rates.0", "rates.1", "steps"]
    arrays["params.b"] = np.asarray([3, -3], np.float32)
    tensors.save_file({**arrays, "unused": X}, tmp_path / "other.safetensors")
    changed = {**STATE, "params": {**STATE["params"], "b": arrays["params.b"]}}
    for parameters in (tmp_path / "other.safetensors", arrays):
        loaded = adze.load(path, parameters=parameters)
        np.testing.assert_allclose(loaded["predict"](X), predict(changed, X), rtol=1e-5)
        loaded["step"](X, Y)
    assert np.array_equal(tensors.load_file(tmp_path / "other.safetensors")["params.b"], [3, -3])

    for wrong, message in (
        ({"params.w": arrays["params.w"].T}, r"'params.w' is f32\[2,3\], and the program needs f32\[3,2\]"),
        (
            {"params.w": arrays["params.w"].astype("f8")},
            r"'params.w' is f64\[3,2\], and the program needs",
        ),
        ({"params.w": arrays["params.w"].view("i4")}, r"'params.w' is i32\[3,2\], and the program needs f32"),
    ):
        tensors.save_file({**arrays, **wrong}, tmp_path / "wrong.safetensors")
        for parameters in (tmp_path / "wrong.safetensors", {**arrays, **wrong}):
            with pytest.raises(adze.AdzeError, match=message):
                adze.load(path, parameters=parameters)
    del arrays["steps"]
    tensors.save_file(arrays, tmp_path / "wrong.safetensors")
    with pytest.raises(adze.AdzeError, match=r"there is no array 'steps', which is steps: ui32\[\]"):
        adze.load(path, parameters=tmp_path / "wrong.safetensors")
    (tmp_path / "wrong.safetensors").write_bytes((tmp_path / "train.safetensors").read_bytes()[:-1])
    for name, message in (
        ("wrong.safetensors", "no .safetensors file, or a damaged one: '.*' is not whole"),
        ("train.vmfb", "parameters are read from .safetensors and .irpa files"),
        ("nowhere.safetensors", "there is no file '.*nowhere.safetensors'"),
    ):
        with pytest.raises(adze.AdzeError, match=message):
            adze.load(path, parameters=tmp_path / name)
    (tmp_path / "train.safetensors").unlink()
    with pytest.raises(
        adze.AdzeError, match=r"there is no file '.*train.safetensors', which has the parameters"
    ):
        adze.load(path)


def test_state_that_a_function_sets(tmp_path: Path) -> None:
    program = Program({"w": ShapeDtype((2,)), "n": ShapeDtype((), "int8")})

    @program.sets(ShapeDtype(()))
    def init(scale: Any) -> Any:
        return {"w": xp.ones(2, "float32") * scale, "n": np.int8(0)}

    @program.updates()
    def grow(state: Any) -> Any:
        return {"w": state["w"] * 2, "n": state["n"] + np.int8(1)}, ()

    @program.reads(name="look")
    def read(state: Any) -> Any:
        return state

    loaded = adze.load(program.save(tmp_path / "grow.vmfb"))
    assert loaded.functions == ["init", "grow", "look"]
    for call in (loaded["look"], loaded["grow"], lambda: loaded.state):
        with pytest.raises(adze.AdzeError, match="the arrays of the program have no values yet"):
            call()
    assert loaded["init"](3.0) is None or loaded["init"](3.0) == ()
    loaded["grow"]()
    loaded["grow"]()
    assert np.array_equal(loaded["look"]()["w"], [12, 12]) and loaded["look"]()["n"].item() == 2
    loaded["init"](scale=1.0)
    assert np.array_equal(loaded.state["w"], [1, 1])
    with pytest.raises(adze.AdzeError, match="the state is n, w: no w was given"):
        loaded.set_state({"n": 1})
    with pytest.raises(adze.AdzeError, match="dim"):
        loaded.set_state({"n": np.int8(1), "w": X})
    assert np.array_equal(loaded.state["w"], [1, 1])


def test_a_bundle_shares_its_weights(tmp_path: Path) -> None:
    weights = RNG.normal(size=(256, 1024)).astype(np.float32)

    def f(x: Any) -> Any:
        return xp.tanh(x @ weights).sum()

    bundle = Program().add(f, ShapeDtype((256,)))
    bundle.derive("f", Derivation("vjp"), "vjp").derive("f", Derivation(batch=3), "batched")
    path = bundle.save(tmp_path / "f.vmfb", keep_ir=True)
    assert path.stat().st_size < 2.5 * weights.nbytes, "the module and the kept IR have the weights once each"
    loaded = adze.load(path)
    x = RNG.normal(size=(3, 256)).astype(np.float32) / 16
    np.testing.assert_allclose(loaded["f.batched"](x), [f(row) for row in x], rtol=1e-4)
    value, (gradient,) = loaded["f.vjp"](x[0], cotangents=2.0)
    np.testing.assert_allclose(value, f(x[0]), rtol=1e-4)
    np.testing.assert_allclose(gradient, 2 * np.asarray(adze.grad(f)(x[0])), rtol=1e-4, atol=1e-3)
    assert (
        str(loaded.manifest.function("f.batched").signature) == "f.batched(x: f32[3,256]) -> (result: f32[3])"
    )


def fails(build: Any) -> str:
    with pytest.raises(adze.AdzeError) as caught:
        build()
    return caught.value.message


def test_mistakes_are_named() -> None:
    def wrong(result: Any) -> Program:
        program = Program(STATE)
        program.updates(name="go")(lambda state: result(state))
        return program

    assert fails(lambda: Program().trace()) == "the program has no functions"
    assert fails(lambda: Program({"a.b": X, "a": {"b": X}})) == "two arrays of the state are called 'a.b'"
    assert fails(lambda: Program({"a": "text"})).startswith("the state of a program: 'a' is str ('text')")
    assert fails(lambda: Program(np.ones(2, complex))) == (
        "state of the state is complex128, which a program cannot keep"
    )
    assert fails(lambda: Program(ShapeDtype(("n",)))) == (
        "state of the state is f32[n]: what a program keeps has a static shape"
    )
    assert fails(lambda: training(STATE).reads(name="step")(predict)) == (
        "the program has a function 'step' already"
    )
    assert fails(lambda: Program().updates(name="go")(step)) == (
        "go updates the state, and the program has none"
    )
    assert fails(lambda: wrong(lambda s: s).trace()) == (
        "go updates the state: expected a pair (new state, results), got dict"
    )
    assert fails(lambda: wrong(lambda s: (X, ())).trace()).startswith("go returns the state *, expected {")
    for value, shown in ((X, "f32[4,3]"), (np.float64(1), "f64[]"), (0.1, "f64[]")):
        message = fails(
            lambda value=value: wrong(lambda s: ({**s, "rates": [value, s["rates"][1]]}, ())).trace()
        )
        assert message == f"go returns {shown} for rates.0 of the state, expected f32[]"
    nothing = Program(STATE)
    nothing.reads(name="go")(lambda state: None)
    assert fails(nothing.trace).startswith("go returns nothing")
    assert fails(lambda: training(STATE).derive("step", Derivation("vjp"), "vjp")).startswith(
        "step takes the state"
    )


@pytest.mark.thorough
def test_every_dtype_can_be_kept(tmp_path: Path) -> None:
    from adze.dialects.types import ANY

    arrays = {d.name: np.ones((2, 3)).astype(d) for d in sorted(ANY, key=str) if d != np.complex128}
    for outside in (False, True):
        program = Program(arrays, outside=outside)

        @program.updates()
        def double(state: Any) -> Any:
            return {name: x + x if x.dtype != bool else ~x for name, x in state.items()}, ()

        loaded = adze.load(program.save(tmp_path / "all.vmfb"))
        loaded["double"]()
        for name, value in loaded.state.items():
            assert value.dtype == arrays[name].dtype
            expected = arrays[name] + arrays[name] if name != "bool" else ~arrays[name]
            assert np.array_equal(np.asarray(value), expected), name
