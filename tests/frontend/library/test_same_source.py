"""Programs of one source for JAX and adze: initializers, segments, trees as vectors, primitives as
objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze

from ...same_source import Case, SameSource

KEY = np.array([1, 2], np.uint32)
DATA = np.arange(12, dtype=np.float32).reshape(6, 2) - 5
IDS = np.array([0, 2, -1, 2, 7, 0])
TREE = {"a": np.float32([[1, 2], [3, 4]]), "b": [np.float64(5), np.int32([6, 7])]}


def initializer(name: str, *args: Any, shape: tuple[int, ...] = (6, 4), **keywords: Any) -> Case:
    return lambda lib: getattr(lib.nn.initializers, name)(*args, **keywords)(KEY, shape, np.float32)


def segments(name: str, data: Any) -> Case:
    def case(lib: Any) -> Any:
        function = getattr(lib.ops, f"segment_{name}")
        return function(data, IDS, num_segments=4), lib.vmap(lambda d: function(d, IDS, 3))(
            np.stack([data] * 2)
        )

    return case


def raveled(lib: Any) -> Any:
    flat, unravel = lib.flatten_util.ravel_pytree(TREE)
    return flat, unravel(flat * 2), lib.flatten_util.ravel_pytree(())[0]


def of_primitives(lib: Any) -> Any:
    x, y = lib.numpy.asarray(DATA), lib.numpy.asarray(DATA[::-1] + 0.5)
    return lib.lax.add_p.bind(x, y), lib.lax.tanh_p.bind(x), lib.lax.atan2_p.bind(x, y)


def of_stax(lib: Any) -> Any:
    stax = lib.example_libraries.stax
    init, apply = stax.serial(
        stax.Conv(4, (3, 3), (2, 2), padding="SAME"),
        stax.BatchNorm(),
        stax.Relu,
        stax.MaxPool((2, 2)),
        stax.AvgPool((2, 2), padding="SAME"),
        stax.FanOut(2),
        stax.parallel(stax.Conv(3, (3, 3), padding="SAME"), stax.Identity),
        stax.FanInConcat(),
        stax.shape_dependent(lambda shape: stax.SumPool((1, 2))),
        stax.ConvTranspose(2, (2, 2), (2, 2)),
        stax.Flatten,
        stax.Dense(5),
        stax.Gelu,
        stax.LogSoftmax,
    )
    shape, params = init(KEY, (2, 8, 8, 3))
    images = np.linspace(-1, 1, 2 * 8 * 8 * 3, dtype=np.float32).reshape(2, 8, 8, 3)
    return np.asarray(shape), apply(params, images)


def of_optimizers(lib: Any) -> Any:
    """Some steps of each optimizer on one problem."""
    optimizers = lib.example_libraries.optimizers
    start = {"w": np.float32([1, -2, 3]), "b": np.float32([[0.5]])}
    makers = [
        optimizers.sgd(optimizers.exponential_decay(0.1, 2, 0.5)),
        optimizers.momentum(optimizers.inverse_time_decay(0.1, 2, 0.5, staircase=True), 0.9),
        optimizers.nesterov(optimizers.polynomial_decay(0.1, 3, 0.01), 0.9),
        optimizers.adagrad(optimizers.piecewise_constant(np.array([1, 2]), np.float32([0.3, 0.2, 0.1]))),
        *(getattr(optimizers, name)(0.1) for name in ("rmsprop", "rmsprop_momentum", "adam", "adamax")),
    ]
    results = []
    for init, update, get_params in makers:
        state = init(start)
        for i in range(4):
            gradients = lib.grad(lambda p: (p["w"] ** 4).sum() + (p["b"] ** 2).sum())(get_params(state))
            state = update(i, optimizers.clip_grads(gradients, 50.0), state)
        results.append(get_params(state))
    return results, optimizers.l2_norm(start)


CASES: dict[str, Case] = {
    **{
        f"{rule}_{kind}": initializer(f"{rule}_{kind}")
        for rule in ("glorot", "he", "lecun")
        for kind in ("uniform", "normal")
    },
    "fans of windows": initializer("he_normal", shape=(3, 3, 4, 5)),
    "fans of batches": initializer("lecun_normal", batch_axis=0, shape=(2, 4, 5)),
    "geometric mean": initializer("variance_scaling", 2.0, "fan_geo_avg", "normal"),
    "uniform": initializer("uniform", 0.5),
    "normal": initializer("normal"),
    "truncated normal": initializer("truncated_normal", 0.1, lower=-1.0, upper=1.5),
    "orthogonal": initializer("orthogonal", 2.0),
    "orthogonal rows": initializer("orthogonal", shape=(3, 5)),
    "delta orthogonal": initializer("delta_orthogonal", shape=(3, 3, 4, 5)),
    "constant": initializer("constant", 7),
    **{f"segment_{name}": segments(name, DATA) for name in ("sum", "prod", "max", "min")},
    "segments of integers": segments("max", DATA.astype(np.int32)),
    "gradient of segments": lambda lib: lib.grad(lambda d: (lib.ops.segment_sum(d, IDS, 4) ** 3).sum())(DATA),
    "ravel_pytree": raveled,
    "primitives": of_primitives,
    "stax": of_stax,
    "optimizers": of_optimizers,
}
ORACLE = SameSource(Path(__file__).with_name("test_same_source.npz"), CASES, single=("stax", "optimizers"))


@pytest.mark.oracle
def test_values_are_those_of_jax() -> None:
    ORACLE.check_all(scale=4.0)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_the_frozen_value_is_that_of_jax(name: str) -> None:
    ORACLE.check_fresh(name)


def test_zeros_and_ones_take_the_place_of_initializers() -> None:
    initializers = adze.nn.initializers
    assert initializers.zeros(KEY, (2,)).tolist() == [0, 0]
    assert initializers.ones(KEY, (2,), np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="has no fans"):
        initializers.he_normal()(KEY, (3,))
    with pytest.raises(ValueError, match="mode is 'fan'"):
        initializers.variance_scaling(1.0, "fan", "normal")


def test_segments_without_a_number_are_counted() -> None:
    assert adze.ops.segment_sum(np.float32([1, 2, 3]), np.array([0, 0, 2])).tolist() == [3, 0, 3]
    with pytest.raises(adze.AdzeError, match="num_segments, which states the count"):
        adze.jit(adze.ops.segment_sum)(np.float32([1]), np.array([0]))
    with pytest.raises(ValueError, match="do not fit data"):
        adze.ops.segment_sum(np.float32([1]), np.array([0, 1]))


def test_settings_of_jax() -> None:
    adze.config.update("jax_enable_x64", True)
    assert adze.config.jax_enable_x64 is True
    with pytest.raises(NotImplementedError, match="adze narrows no dtype"):
        adze.config.update("jax_enable_x64", False)
    with pytest.raises(ValueError, match="has no setting 'jax_foo'"):
        adze.config.update("jax_foo", 1)
    with adze.enable_x64(), adze.default_matmul_precision("float32"):
        assert adze.numpy.ones(2).tolist() == [1, 1]
    seen: list[Any] = []

    @adze.jit
    def f(x: Any) -> Any:
        seen.append(x)
        return x + 1 if x > 0 else x

    with adze.disable_jit():
        assert float(f(np.float32(2))) == 3
    assert isinstance(seen[0], np.float32)
    with pytest.raises(adze.AdzeError):
        f(np.float32(2))


def test_questions_about_values_and_devices() -> None:
    x = np.ones((2, 3), np.float32)
    assert str(adze.typeof(x)) == "f32[2,3]" and adze.typeof(x).size == 6
    assert adze.typeof(x) == adze.ShapeDtypeStruct((2, 3), np.float32)
    text, shape = adze.make_jaxpr(lambda v: v * 2, return_shape=True)(x)
    assert "mul" in str(text) and shape == text.out_avals[0] == adze.typeof(x)
    assert isinstance(adze.device_get({"a": adze.numpy.ones(2)})["a"], np.ndarray)
    assert adze.block_until_ready([1]) == [1] and adze.process_count() == adze.device_count() == 1
    with adze.named_scope("layer"):
        assert adze.named_call(len, name="count")([1]) == 1
    assert "numpy" in (adze.print_environment_info(return_string=True) or "")


def test_dtypes_and_errors_have_their_jax_names() -> None:
    assert adze.dtypes.canonicalize_dtype("float64") == np.float64
    assert adze.dtypes.scalar_type_of(np.int8(1)) is int and adze.dtypes.itemsize_bits("bfloat16") == 16
    with pytest.raises(adze.errors.TracerBoolConversionError):
        adze.jit(lambda x: 1 if x > 0 else 0)(1.0)
    leaked: list[Any] = []
    adze.jit(lambda x: leaked.append(x) or x)(1.0)
    with pytest.raises(adze.errors.UnexpectedTracerError):
        leaked[0] + 1
    assert isinstance(np.ones(2), adze.typing.ArrayLike)
