"""`adze.lax` beside `jax.lax`: one call, two modules, the same results; every name is called.

Each row is a function of the module. What adze returns eagerly must be what JAX returns (values, shapes,
dtypes), and the row must trace to the same types. That compiled ops agree is `tests/dialects/ops`' business.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.lax
import jax.numpy as jnp
import numpy as np
import pytest

import adze
import adze.lax
from adze.frontend.library.lax.attributed_primitives import FUNCTIONS
from adze.frontend.library.lax.primitives import PRIMITIVES
from adze.frontend.library.lax.routine_primitives import NAMED_AXES

from ....selection import quick_first

RANDOM = np.random.default_rng(3)
F = RANDOM.normal(size=(3, 4)).astype(np.float32)
G = RANDOM.normal(size=(3, 4)).astype(np.float32)
P = np.abs(F) + np.float32(0.1)
U = np.clip(F / 4, -0.9, 0.9)
C = (F + 1j * G).astype(np.complex64)
I = RANDOM.integers(-9, 9, size=(3, 4)).astype(np.int32)  # noqa: E741
J = RANDOM.integers(1, 5, size=(3, 4)).astype(np.int32)
B = F > 0
IMAGE = RANDOM.normal(size=(2, 6, 5, 4)).astype(np.float32)
KERNEL = RANDOM.normal(size=(3, 2, 4, 8)).astype(np.float32)
NHWC = ("NHWC", "HWIO", "NHWC")

Row = Callable[[Any], Any]
UNARY = {
    "neg abs sign floor ceil sin cos tan atan sinh cosh tanh asinh exp expm1 erf erfc logistic exp2 cbrt": F,
    "sqrt rsqrt log log1p lgamma digamma": P,
    "asin acos atanh erf_inv": U,
    "is_finite square reciprocal round": F,
    "population_count clz bitwise_not": I,
    "real imag conj": C,
}
BINARY = {
    "add sub mul div rem atan2 max min nextafter complex eq ne lt le gt ge": (F, G),
    "pow": (P, G),
    "bitwise_and bitwise_or bitwise_xor": (I, J),
    "shift_left shift_right_logical shift_right_arithmetic": (I, J),
}


def unary_row(name: str, x: Any) -> Row:
    return lambda lax: getattr(lax, name)(x)


def binary_row(name: str, x: Any, y: Any) -> Row:
    return lambda lax: getattr(lax, name)(x, y)


def gather_row(**options: Any) -> Row:
    def call(lax: Any) -> Any:
        numbers = lax.GatherDimensionNumbers(
            offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,)
        )
        return lax.gather(F, np.array([[2], [0], [1]], np.int32), numbers, (1, 4), **options)

    return call


def scatter_row(name: str) -> Row:
    def call(lax: Any) -> Any:
        numbers = lax.ScatterDimensionNumbers(
            update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
        )
        return getattr(lax, name)(F, np.array([[2], [0]], np.int32), G[:2], numbers)

    return call


OTHER: dict[str, Row] = {
    "round to even": lambda lax: (
        lax.round(F * 2, lax.RoundingMethod.TO_NEAREST_EVEN)
        if hasattr(lax, "RoundingMethod")
        else lax.round(F * 2, "to_nearest_even")
    ),
    "acosh": lambda lax: lax.acosh(P + 1),
    "integer_pow": lambda lax: (lax.integer_pow(F, 3), lax.integer_pow(F, -2), lax.integer_pow(F, 0)),
    "select": lambda lax: (lax.select(B, F, G), lax.select(J - 1, F, G), lax.select(np.uint8(2), F, G)),
    "select_n": lambda lax: (lax.select_n(B, F, G), lax.select_n(J - 1, F, G, F + G, F - G)),
    "clamp": lambda lax: (lax.clamp(np.float32(-0.5), F, np.float32(0.5)), lax.clamp(-P, F, P)),
    "convert_element_type": lambda lax: (
        lax.convert_element_type(F * 3, np.int32),
        lax.convert_element_type(I, np.float32),
        lax.convert_element_type(B, np.int8),
    ),
    "bitcast_convert_type": lambda lax: lax.bitcast_convert_type(F, np.int32),
    "scalars": lambda lax: (lax.add(F, 1.0), lax.mul(2, I), lax.max(F, 0.0), lax.pow(P, 2.0), lax.lt(F, 0.0)),
    "full": lambda lax: (lax.full((2, 3), 1.5), lax.full((2,), 7, np.int8), lax.full_like(F, 2)),
    "full_like": lambda lax: lax.full_like(I, 2, dtype=np.float32, shape=(5,)),
    "iota": lambda lax: (lax.iota(np.int32, 5), lax.broadcasted_iota(np.float32, (2, 3), 1)),
    "broadcast": lambda lax: lax.broadcast(F, (2, 5)),
    "broadcast_in_dim": lambda lax: lax.broadcast_in_dim(F[0], (4, 2), (0,)),
    "reshape": lambda lax: (lax.reshape(F, (2, 6)), lax.reshape(F, (12,), dimensions=(1, 0))),
    "collapse": lambda lax: (lax.collapse(IMAGE, 1, 3), lax.collapse(IMAGE, 2)),
    "expand_dims": lambda lax: lax.expand_dims(F, (0, 2)),
    "squeeze": lambda lax: lax.squeeze(F[None, :, None], (0, 2)),
    "transpose": lambda lax: lax.transpose(IMAGE, (3, 1, 0, 2)),
    "rev": lambda lax: lax.rev(F, (1,)),
    "concatenate": lambda lax: lax.concatenate([F, G, F], 1),
    "pad": lambda lax: lax.pad(F, np.float32(9), ((1, 2, 1), (-1, 0, 0))),
    "slice": lambda lax: (lax.slice(F, (0, 1), (3, 4), (2, 1)), lax.slice(F, (1, 1), (3, 3))),
    "slice_in_dim": lambda lax: lax.slice_in_dim(F, 1, None, 2, axis=1),
    "dynamic_slice": lambda lax: (
        lax.dynamic_slice(F, (1, 2), (2, 2)),
        lax.dynamic_slice(F, (9, -9), (1, 2)),
    ),
    "dynamic_slice from the end": lambda lax: (
        lax.dynamic_slice(F, (-2, -1), (2, 1)),
        lax.dynamic_slice(F, (np.int8(-99), np.int8(-3)), (2, 2)),
        lax.dynamic_slice(F, (0, 2), (2, 2), allow_negative_indices=False),
        lax.dynamic_index_in_dim(F, -1, 1),
        lax.dynamic_update_slice(F, G[:1, :2], (-1, -3)),
        lax.dynamic_update_index_in_dim(F, G[0], -1, 0),
    ),
    "dynamic_update_slice": lambda lax: lax.dynamic_update_slice(F, G[:1, :2], (2, 1)),
    "dynamic_slice_in_dim": lambda lax: lax.dynamic_slice_in_dim(F, 1, 2, axis=1),
    "dynamic_index_in_dim": lambda lax: (
        lax.dynamic_index_in_dim(F, 2, 1),
        lax.dynamic_index_in_dim(F, 1, 0, keepdims=False),
    ),
    "dynamic_update_slice_in_dim": lambda lax: lax.dynamic_update_slice_in_dim(F, G[:, :2], 1, 1),
    "dynamic_update_index_in_dim": lambda lax: lax.dynamic_update_index_in_dim(F, G[0], 2, 0),
    "gather": gather_row(),
    "gather clip": gather_row(mode="clip"),
    **{
        name: scatter_row(name)
        for name in ("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max")
    },
    "scatter_sub": scatter_row("scatter_sub"),
    "scatter_apply": lambda lax: lax.scatter_apply(
        F[0],
        np.array([[2], [0], [2], [9]], np.int32),
        lambda x: x * 3 + 1,
        lax.ScatterDimensionNumbers((), (0,), (0,)),
        update_shape=(4,),
    ),
    "index_take": lambda lax: (
        lax.index_take(F, (jnp.array([2, 0]), jnp.array([1, -1])), (0, 1)),
        lax.index_take(F, (jnp.array([5, -1, 2]),), (1,)),
    ),
    "optimization_barrier": lambda lax: lax.optimization_barrier((F, [I])),
    "tile": lambda lax: lax.tile(F, (2, 3)),
    "stack": lambda lax: (lax.stack([F, G]), lax.stack([F, G], axis=-1), *lax.unstack(F, axis=1)),
    "shapes": lambda lax: (
        lax.full(lax.broadcast_shapes((3, 1), (4,)), 1.0),
        lax.broadcast_to_rank(F, 4),
        np.asarray(lax.padtype_to_pads((7, 5), (3, 2), (2, 1), "SAME")),
    ),
    "fft": lambda lax: (
        lax.fft(C, "FFT", (3, 4)),
        lax.fft(C, lax.FftType.IFFT, (4,)),
        lax.fft(F, lax.FftType.RFFT, (3, 4)),
        lax.fft(C[:, :3], "irfft", (5,)),
    ),
    "reduce_xor": lambda lax: (lax.reduce_xor(I, (0,)), lax.reduce_xor(J, (1, 0)), lax.reduce_xor(B, (1,))),
    "axes of size 1": lambda lax: (lax.add(F, G[:1]), lax.pow(P[:, :1], G[:1]), lax.lt(F[0, 0], G)),
    "mul to a dtype": lambda lax: lax.mul(F.astype(np.float16), G.astype(np.float16), out_dtype=np.float32),
    "complex of real": lambda lax: (lax.conj(F), lax.exp2(C)),
    "reductions": lambda lax: [
        getattr(lax, f"reduce_{kind}")(x, (1,))
        for kind, x in (("sum", F), ("prod", F), ("max", F), ("min", F), ("and", B), ("or", B))
    ],
    "argmax": lambda lax: (lax.argmax(F, 1, np.int32), lax.argmin(F, 0, np.int32)),
    "cumulative": lambda lax: (
        lax.cumsum(F, 0),
        lax.cumprod(F, 1),
        lax.cummax(F, 1),
        lax.cummin(F, 0, reverse=True),
        lax.cumlogsumexp(F * 100, 1),
        lax.cumlogsumexp(F, 0, reverse=True),
    ),
    "dot": lambda lax: (lax.dot(F, G.T), lax.dot(F[0], G[0]), lax.dot(F, G[0])),
    "dot dtype": lambda lax: (
        lax.dot(F, G.T, precision="highest"),
        lax.dot(I.astype(np.int8), J.astype(np.int8).T, preferred_element_type=np.int32),
        lax.dot(F, G, dimension_numbers=(((1,), (1,)), ((), ()))),
    ),
    "dot_general": lambda lax: lax.dot_general(IMAGE, IMAGE, (((3,), (3,)), ((0, 1), (0, 1)))),
    "dot_general dtype": lambda lax: lax.dot_general(
        F.astype(np.float16),
        G.astype(np.float16),
        (((1,), (1,)), ((), ())),
        preferred_element_type=np.float32,
    ),
    "conv": lambda lax: lax.conv(IMAGE.transpose(0, 3, 1, 2), KERNEL.transpose(3, 2, 0, 1), (1, 2), "SAME"),
    "conv_general_dilated": lambda lax: lax.conv_general_dilated(
        IMAGE, KERNEL, (2, 1), ((1, 2), (0, 1)), rhs_dilation=(1, 2), dimension_numbers=NHWC
    ),
    "conv dtype": lambda lax: (
        lax.conv(
            IMAGE.transpose(0, 3, 1, 2).astype(np.float16),
            KERNEL.transpose(3, 2, 0, 1).astype(np.float16),
            (1, 2),
            "SAME",
            preferred_element_type=np.float32,
        ),
        lax.conv_with_general_padding(
            IMAGE.transpose(0, 3, 1, 2),
            KERNEL.transpose(3, 2, 0, 1),
            (1, 1),
            ((2, 1), (0, 3)),
            (1, 2),
            (2, 1),
            precision="highest",
        ),
    ),
    "conv transposed": lambda lax: lax.conv_general_dilated(
        IMAGE, KERNEL, (1, 1), ((2, 2), (1, 1)), lhs_dilation=(2, 2), dimension_numbers=NHWC
    ),
    "conv groups": lambda lax: lax.conv_general_dilated(
        IMAGE, KERNEL[:, :, :2], (1, 1), "SAME", dimension_numbers=NHWC, feature_group_count=2
    ),
    "conv_dimension_numbers": lambda lax: list(
        vars_of(lax.conv_dimension_numbers((2, 6, 5, 4), (3, 2, 4, 8), NHWC))
    ),
    "sort": lambda lax: (lax.sort(F, 0), *lax.sort((J, F), 1, num_keys=2), *lax.sort([J, I], num_keys=1)),
    "top_k": lambda lax: (*lax.top_k(F, 2), *lax.top_k(F, 2, axis=0)),
    "stop_gradient": lambda lax: lax.stop_gradient(F),
}
ROWS: dict[str, Row] = {
    **{n: unary_row(n, x) for names, x in UNARY.items() for n in names.split()},
    **{n: binary_row(n, x, y) for names, (x, y) in BINARY.items() for n in names.split()},
    **OTHER,
}


def vars_of(numbers: Any) -> tuple[Any, ...]:
    """The axes of convolution layouts, as arrays."""
    return tuple(np.asarray(spec) for spec in (numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec))


def leaves(tree: Any) -> list[Any]:
    return list(jax.tree.leaves(tree)) if not hasattr(tree, "shape") else [tree]


@pytest.mark.one_in(3)
@pytest.mark.oracle
@pytest.mark.parametrize("name", ROWS)
def test_a_call_gives_what_jax_gives(name: str) -> None:
    results, wanted = ROWS[name](adze.lax), ROWS[name](jax.lax)
    for ours, theirs in zip(leaves(results), leaves(wanted), strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=2e-5, atol=2e-5)
        if name not in WIDER:
            assert ours.dtype == theirs.dtype


# JAX without its x64 flag has no 64-bit types: these make int64 or float64 where JAX cannot.
WIDER = {"conv_dimension_numbers"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ROWS)
def test_a_call_traces_to_the_types_it_evaluates_to(name: str) -> None:
    if name == "conv_dimension_numbers":
        pytest.skip("returns no arrays")
    traced = adze.trace(lambda: ROWS[name](adze.lax))
    eager = leaves(ROWS[name](adze.lax))
    assert [(t.shape, t.dtype) for t in traced.program.result_types] == [(e.shape, e.dtype) for e in eager]


class Recorder:
    """`adze.lax` that remembers which of its names were asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.asked.add(name)
        return getattr(adze.lax, name)


def test_every_name_is_called() -> None:
    recorder = Recorder()
    for row in ROWS.values():
        row(recorder)
    names = {
        n
        for n, v in ((name, getattr(adze.lax, name)) for name in adze.lax.__all__)
        if getattr(v, "__module__", "").startswith("adze.frontend.library.lax")
    }
    here = Path(__file__)
    others = (
        here.with_name("test_bit_generators.py"),
        here.with_name("test_lax_windows.py"),
        here.with_name("test_lax_names.py"),
        here.parents[2] / "transforms" / "test_collectives.py",
        here.parents[1] / "test_nn.py",
    )
    beside = "".join(path.read_text() for path in others)
    called = recorder.asked | {
        *("GatherScatterMode", "ConvDimensionNumbers", "Precision", "RandomAlgorithm"),
        *re.findall(r"\b(?:lax|p)\.(\w+)", beside),
        *PRIMITIVES,
    }
    assert names - called == {"random_bits"}, "whose tests are in tests/frontend/library/random"


def operands_of(name: str, function: Any) -> list[np.ndarray]:
    """Operands that an elementwise op takes."""
    parameters = inspect.signature(function).parameters.values()
    count = sum(p.default is p.empty for p in parameters)
    if name in ("real_p", "imag_p", "conj_p"):
        return [np.array([1 + 2j, -3j], np.complex64)]
    integers = ("and_p", "or_p", "xor_p", "not_p", "clz_p", "population_count_p")
    if name in integers or name.startswith("shift"):
        return [np.array([5, 3], np.int32), np.array([1, 2], np.int32)][:count]
    return [np.array([0.25, 0.5], np.float32)] * count


@pytest.mark.parametrize("name", sorted({*PRIMITIVES} - {f"{name}_p" for name in (*FUNCTIONS, *NAMED_AXES)}))
def test_a_primitive_binds_its_op(name: str) -> None:
    primitive = getattr(adze.lax, name)
    function = getattr(adze.lax, OTHER_NAMES.get(name, name[:-2]))
    operands = operands_of(name, function)
    assert repr(primitive) == primitive.name == name[:-2]
    np.testing.assert_array_equal(primitive.bind(*operands), function(*operands))


OTHER_NAMES = {"and_p": "bitwise_and", "or_p": "bitwise_or", "xor_p": "bitwise_xor", "not_p": "bitwise_not"}


def test_a_product_of_numbers_in_a_dtype_is_an_array_of_it() -> None:
    assert adze.lax.mul(2.0, 3.0).weak_type
    for dtype in (np.float32, np.float64):
        product = adze.lax.mul(2.0, 3.0, out_dtype=dtype)
        assert product.dtype == dtype and not product.weak_type


def test_booleans_have_extrema_and_products() -> None:
    x = np.array([[True, False, False], [True, True, False], [False, False, False]])
    along = (((1,), (0,)), ((), ()))
    for call, expected in (
        (lambda x: adze.lax.max(x, x.T), x | x.T),
        (lambda x: adze.lax.min(x, x.T), x & x.T),
        (lambda x: adze.lax.dot_general(x, x.T, along), x @ x.T),
        (
            lambda x: adze.lax.dot_general(x, x.T, along, preferred_element_type="int8"),
            x.astype("int8") @ x.T,
        ),
        (lambda x: adze.numpy.vdot(x, x.T), np.vdot(x, x.T)),
        (lambda x: adze.numpy.vecdot(x, x.T), (x & x.T).any(axis=-1)),
    ):
        for result in (call(x), adze.jit(call)(x)):
            np.testing.assert_array_equal(result, expected)
            assert result.dtype == expected.dtype


def test_reverse_running_sums_and_jnp_arrays() -> None:
    expected = jax.lax.cumsum(jnp.asarray(F), 1, reverse=True)
    np.testing.assert_allclose(adze.lax.cumsum(jnp.asarray(F), 1, reverse=True), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", quick_first([np.int8, np.uint8, np.int32, np.int64], 2))
def test_an_index_from_the_end_is_one_in_compiled_code_too(dtype: type) -> None:
    wide = np.arange(300, dtype=np.float32)
    last = adze.jit(lambda x, i: adze.lax.dynamic_slice(x, (i,), (2,)))
    for index in (0, 7, 120) if dtype is np.uint8 else (0, 7, -2, -100):
        start = index % 300
        np.testing.assert_array_equal(last(wide, dtype(index)), wide[start : start + 2])


def test_an_index_from_the_end_of_a_dynamic_axis() -> None:
    spec = adze.ShapeDtype(("n",), np.float32), adze.ShapeDtype((), np.int32)
    last = adze.trace(lambda x, i: adze.lax.dynamic_index_in_dim(x, i), *spec).lower().compile()
    assert float(np.asarray(last(np.arange(5, dtype=np.float32), np.int32(-1)))[0]) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda lax: lax.add(F, I), "add: operands must have equal dtypes, got f32"),
        (lambda lax: lax.add(1, 1.0), "primitives of adze.lax promote nothing, got 1, 1.0"),
        (lambda lax: lax.add(F, F[0]), "must have equal shapes"),
        (lambda lax: lax.add(F, F[:2]), "must have equal shapes"),
        (lambda lax: lax.select(B, F, F[:1]), "shapes"),
        (lambda lax: lax.dynamic_slice(F, (1,), (2, 2)), "expected 2 start indices, one an axis of f32"),
        (lambda lax: lax.dynamic_slice(F, (1, 1), (2, 2), allow_negative_indices=(True,)), "and 1 allow"),
        (lambda lax: lax.tile(F, (2,)), "tile: expected 2 repetitions, one an axis of f32"),
        (lambda lax: lax.stack([]), "stack needs at least one array"),
        (lambda lax: lax.broadcast_to_rank(F, 1), "has more than 1 axes"),
        (lambda lax: lax.index_take(F, (I,), (0, 1)), "index_take: expected an index array for each of"),
        (lambda lax: lax.fft(C, "DFT", (4,)), "fft_type is 'DFT', expected one of FFT, IFFT, RFFT, IRFFT"),
        (lambda lax: lax.fft(C, "FFT", (5,)), "must have the sizes"),
        (lambda lax: lax.transpose(F, (0, 0)), "permutation"),
        (lambda lax: lax.reshape(F, (5,)), "12 elements"),
        (lambda lax: lax.rev(F, (2,)), "axes 2 is out of range for an array of rank 2"),
        (lambda lax: lax.concatenate([F, G[:, :2]], 0), "concatenate"),
        (lambda lax: lax.dot(IMAGE, F), "dot"),
        (lambda lax: lax.conv_general_dilated(IMAGE, KERNEL, (1, 1), "SAME", dimension_numbers="NHWC"),
         "dimension_numbers 'NHWC' cannot be read"),
        (lambda lax: lax.conv_general_dilated(IMAGE, KERNEL, (1, 1), "FULL", dimension_numbers=NHWC), "FULL"),
        (lambda lax: lax.top_k(F, 9), "k is 9"),
        (lambda lax: lax.sin(I), "sin"),
        (lambda lax: lax.gather(F, I, None, (1, 1), mode="wrap"), "wrap"),
    ],
)  # fmt: skip
def test_primitives_promote_nothing_and_keep_the_rank(call: Row, message: str) -> None:
    with pytest.raises(adze.AdzeError, match=message) as caught:
        call(adze.lax)
    assert f"\n  at {__file__}:" in str(caught.value)


def test_a_convolution_promotes_float64() -> None:
    image, kernel = np.ones((1, 1, 4)), np.ones((1, 1, 2), np.float32)
    for pair in ((image, kernel), (kernel, image)):
        result = adze.lax.conv_general_dilated(*pair, (1,), [(3, 3)])
        assert result.dtype == np.float64
    with pytest.raises(TypeError, match="must have equal dtypes"):
        adze.lax.conv_general_dilated(image, kernel.astype(np.int32), (1,), "VALID")
