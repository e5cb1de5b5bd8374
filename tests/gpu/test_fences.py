"""What IREE has no GPU code for: programs that compile with their fence, and only with it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.dialects.mlir import ir, new_context
from adze.passes.lower.iree import two_index_maps
from adze.passes.lower.iree.started_reductions import StartedReductions
from adze.passes.lower.tuning.gpu_facts import BUSY
from adze.runtime.artifact.device_code import spirv
from adze.runtime.artifact.device_code.kernels import ptx_of
from adze.runtime.compile import compiler, strategy, unshared_rows
from adze.runtime.compile.faults.crossed_wakeups import with_awaited_operations
from adze.runtime.compile.faults.private_results import kernel_with_private_results
from adze.runtime.compile.faults.replayed_copies import with_new_copies
from adze.runtime.compile.faults.squares_of_lanes import kernel_with_squares_of_lanes
from adze.runtime.compile.faults.unawaited_loops import with_awaited_loops
from adze.runtime.compile.faults.unawaited_threads import kernel_with_unawaited_threads
from adze.runtime.compile.separate import compile_in_subprocess
from adze.runtime.errors import CompileError
from adze.runtime.targets import parse_target

from .drivers import needs_vulkan
from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

WIDENED = (lambda x: xp.sum(x.astype("int64"), axis=1), ShapeDtype((BUSY, 64), np.int32))  # a thread a row
WIDENED_VECTOR = (lambda x: xp.sum(x), ShapeDtype((20_000,), np.int32))
NEGATED = (lambda x: xp.sum(-x, axis=1), ShapeDtype((8, 64)))
NUMBERED = (lambda x: xp.max(xp.where(xp.arange(64, dtype="int32") < 7, x, -x)), ShapeDtype((64,)))
REFUSALS = [
    (*WIDENED, "cuda:sm_80", "failed to distribute"),
    (*NEGATED, "cuda:sm_80", "failed to get neutral element"),
    (*NEGATED, "vulkan:lavapipe", "Failed to get an identity value"),
    (*NUMBERED, "vulkan:lavapipe", "failed to legalize operation 'memref.alloc'"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("function", "spec", "target", "message"), REFUSALS)
def test_reductions_of_computed_operands_compile(
    function: Any, spec: ShapeDtype, target: str, message: str
) -> None:
    compiled = adze.trace(function, spec).lower(target).compile()
    assert compiled.vmfb


def test_long_sums_of_widened_integers_compile() -> None:
    function, spec = WIDENED_VECTOR
    assert adze.trace(function, spec).lower("cuda:sm_80").compile().vmfb


@pytest.mark.thorough
@pytest.mark.parametrize(("function", "spec", "target", "message"), REFUSALS)
def test_unfenced_they_are_refused(
    function: Any, spec: ShapeDtype, target: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unfenced = tuple(form for form in strategy.FORMS if form.name == "tuned")
    monkeypatch.setattr(strategy, "FORMS", unfenced)
    monkeypatch.setenv("ADZE_CACHE", "0")
    with pytest.raises(CompileError, match=message):
        adze.trace(function, spec).lower(target).compile()


def test_complex_rows_of_unknown_length_are_sorted() -> None:
    """Element by element they end the process in IREE's compiler."""
    compiled = adze.trace(xp.sort, ShapeDtype(("n",), np.complex64)).lower("cuda:sm_80").compile()
    assert compiled.vmfb


MADE_COMPLEX = """
import numpy as np
import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.passes.lower.iree import two_index_maps

if not FENCED:
    two_index_maps.complex_products = lambda module, reader: set()
w = np.ones((8, 8), np.float32)
rows = ShapeDtype(("n", 8))
for function, spec in (
    (lambda x: lax.complex(x @ w, x @ (2 * w)), rows),
    (lambda x: (x @ w).astype("complex64") * 1j, rows),
    (xp.fft.fft, ShapeDtype(("n", 8), np.complex64)),
    (xp.fft.rfft, ShapeDtype((3, 64), np.float64)),
    (lambda x: lax.complex(x @ w, x @ (2 * w)), ShapeDtype((33, 4, 8), np.float32)),
    (lambda x: lax.complex((x * x).sum(1), (x - 1).sum(1)), ShapeDtype((3, 64), np.float32)),
)[FIRST:]:
    adze.trace(function, spec).lower("cuda:sm_80").compile(cache=False)
"""


def compiled_apart(script: str, seconds: float | None = None) -> int:
    """What a process returns that may die, or not end."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, check=False, timeout=seconds).returncode


def test_complex_numbers_are_made_of_products_of_unknown_sizes_and_few_rows() -> None:
    assert compiled_apart(f"FENCED, FIRST = True, 0{MADE_COMPLEX}") == 0


@pytest.mark.thorough
@pytest.mark.parametrize(("first", "returned"), [(0, -signal.SIGSEGV), (5, 1)])
def test_iree_still_dies_of_complex_numbers_behind_products(first: int, returned: int) -> None:
    """Of unknown sizes; of sums of few rows it refuses them."""
    assert compiled_apart(f"FENCED, FIRST = False, {first}{MADE_COMPLEX}") == returned


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x, y: lax.complex(x @ y, 1.0), [(2, 64), (64, 40)]),
        (lambda x, y: lax.complex(1.0, x @ y * 2), [(40, 64), (64,)]),
        (lambda x, y: lax.complex(x @ y, 1.0), [(9, 1, 64), (9, 64, 33)]),
        (lambda x, y: lax.complex((x * y).sum(axis=1), (x - y).sum(axis=1)), [(3, 64), (3, 64)]),
        (lambda x: lax.complex(x.max(axis=1), x.prod(axis=1)), [(3, 64)]),
    ],
)
def test_complex_numbers_of_products_of_few_rows_compile(function: Any, shapes: Any) -> None:
    """In float32 each thread would keep a result of its own."""
    specs = [ShapeDtype(shape) for shape in shapes]
    assert adze.trace(function, *specs).lower("cuda:sm_80").compile().vmfb


WEIGHTS = np.linspace(-1, 1, 64 * 40, dtype=np.float32).reshape(64, 40)
MADE_OF = {
    "a transform": (xp.fft.fft, ShapeDtype((8,), np.complex64)),
    "transforms": (xp.fft.fft, ShapeDtype((4, 8), np.complex64)),
    "transforms of any number": (xp.fft.rfft, ShapeDtype(("n", 8), np.float32)),
    "an inverse": (xp.fft.ifft, ShapeDtype((64,), np.complex64)),
    "products": (lambda x: lax.complex(x @ WEIGHTS, x @ (2 * WEIGHTS)), ShapeDtype((16, 64))),
    "sums": (lambda x: lax.complex(x.sum(axis=1), (x * x).sum(axis=1)), ShapeDtype(("n", 64))),
    "sums of few columns": (lambda x: lax.complex(x.sum(axis=0), 1.0), ShapeDtype((16, 8))),
    "extrema": (lambda x: lax.complex(x.max(axis=1), x.prod(axis=1)), ShapeDtype((3, 64))),
    "places": (lambda x: x.argmax(axis=1).astype(np.complex64), ShapeDtype((16, 64))),
}
"""What complex numbers are made of, and an array for it."""


@pytest.mark.parametrize("made_of", MADE_OF)
def test_complex_numbers_of_products_and_reductions_compile_for_spirv(made_of: str) -> None:
    """Without the fence all are refused: SPIR-V has no views of single complex numbers."""
    function, spec = MADE_OF[made_of]
    for target in ("vulkan:lavapipe", "metal"):
        assert adze.trace(function, spec).lower(target).compile().vmfb


@pytest.mark.thorough
@pytest.mark.parametrize(
    "made_of", ["a transform", "transforms of any number", "products", "extrema", "places"]
)
def test_iree_still_refuses_complex_numbers_behind_reductions(
    made_of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_index_maps, "complex_products", lambda module, reader: set())
    function, spec = MADE_OF[made_of]
    with pytest.raises(CompileError, match=r"memref\.subview|materialization|memref<"):
        adze.trace(function, spec).lower("vulkan:lavapipe").compile(cache=False)


@pytest.mark.vulkan
@needs_vulkan
def test_complex_numbers_of_products_and_reductions_are_right_on_vulkan() -> None:
    for made_of, (function, spec) in MADE_OF.items():
        shape = [5 if n == "n" else n for n in spec.shape]
        x = np.random.default_rng(0).standard_normal((2, *shape)).astype(np.float32)
        array = (x[0] + 1j * x[1] if spec.dtype.kind == "c" else x[0]).astype(spec.dtype)
        got, want = adze.jit(function, device="vulkan")(array), function(adze.numpy.asarray(array))
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-5, atol=2e-5, err_msg=made_of)


STORED = """
import numpy as np
import adze
import adze.numpy as xp
from adze.passes.lower.iree import two_index_maps

if not FENCED:
    two_index_maps.stored_products = lambda *_: set()
specs = adze.ShapeDtype((128, 256)), adze.ShapeDtype((256, 1024))

def rectified(x, w):
    product = x @ w
    return product, xp.maximum(product, 0)

adze.trace(rectified, *specs).lower(TARGET).compile(cache=False)
"""


@pytest.mark.parametrize("target", ["metal", "vulkan:adreno", "vulkan:lavapipe", "vulkan:lavapipe16"])
def test_products_that_are_stored_compile(target: str) -> None:
    assert compiled_apart(f"FENCED, TARGET = True, {target!r}{STORED}") == 0


@pytest.mark.thorough
def test_iree_still_takes_long_for_products_that_are_stored() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        compiled_apart(f"FENCED, TARGET = False, 'metal'{STORED}", seconds=60)


def least_of_rows() -> str:
    """The PTX of the least element of each of 64 rows of int32."""
    lowered = adze.trace(lambda x: xp.min(x, axis=1), ShapeDtype((64, 96), np.int32)).lower("cuda:sm_80")
    return "\n".join(ptx_of(lowered.compile().vmfb))


WRONG_START = re.compile(r"min\.s32\s+%r\d+, %r\d+, -1;")


def test_extrema_of_signed_integers_start_right() -> None:
    code = least_of_rows()
    assert "min.u32" in code and not WRONG_START.search(code)


@pytest.mark.thorough
def test_iree_still_compares_with_a_wrong_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StartedReductions, "run", lambda self, module: None)
    monkeypatch.setenv("ADZE_CACHE", "0")
    assert WRONG_START.search(least_of_rows())


def norms_of_gradients(target: str = "cuda:sm_80") -> bytes:
    """A program of the norms of the gradients of eight examples."""

    def loss(a: Any, b: Any, x: Any) -> Any:
        return xp.sum((xp.tanh(x @ a) @ b) ** 2)

    def norm(a: Any, b: Any, x: Any) -> Any:
        by_a, by_b = adze.grad(loss, argnums=(0, 1))(a, b, x)
        return xp.sqrt(xp.sum(by_a * by_a) + xp.sum(by_b * by_b))

    norms = adze.vmap(norm, in_axes=(None, None, 0))
    return adze.trace(norms, *[ShapeDtype((8, 8))] * 3).lower(target).compile().vmfb


def test_rows_that_threads_share_are_not_private() -> None:
    assert ".local" not in "\n".join(ptx_of(norms_of_gradients()))


def test_nor_are_they_on_rocm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its machine code was never run; the arrays show in LLVM's dialect. One compile in twelve refuses the
    kernel before it has code, with the same input."""
    said: list[str | None] = []

    def looked(chosen: bytes, lowered: bytes) -> str | None:
        said.append(kernel_with_private_results(chosen, lowered))
        return said[-1]

    monkeypatch.setattr(compiler, "kernel_with_private_results", looked)
    monkeypatch.setenv("ADZE_CACHE", "0")
    for _ in range(6):
        said.clear()
        assert norms_of_gradients("rocm:gfx1201")
        if len(said) > 1:
            break
    assert len(said) > 1 and any(said[:-1])
    assert said[-1] is None


@pytest.mark.thorough
def test_iree_still_shares_private_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """One compile in twelve refuses the kernel ("failed to distribute"), with the same input."""
    monkeypatch.setattr(compiler, "kernel_with_private_results", lambda chosen, lowered: None)
    monkeypatch.setenv("ADZE_CACHE", "0")
    assert any(".local" in "\n".join(ptx_of(norms_of_gradients())) for _ in range(6))


def test_iree_still_begins_iterations_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = []

    def mended(program: bytes) -> bytes:
        programs.extend((program, with_awaited_loops(program)))
        return programs[-1]

    monkeypatch.setattr(compiler, "with_awaited_loops", mended)
    monkeypatch.setenv("ADZE_CACHE", "0")
    rows = ShapeDtype((20, 1 << 18))  # too large a loop for one kernel
    steps = adze.trace(lambda x: lax.scan(lambda c, row: (c * row - c.sum(), c), x[0], x), rows)
    steps.lower("cuda:sm_80").compile()
    before, after = (awaits(program) for program in programs)
    # Two loops, of eight steps an iteration and of one; each waits before it begins and in each iteration.
    assert (before, after) == (1, 5)


def awaits(program: bytes) -> int:
    """How often the host waits for its device."""
    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        return str(ir.Module.parse(program, context)).count("hal.fence.await")


def test_programs_for_vulkan_wait_before_they_allocate(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = []

    def mended(program: bytes) -> bytes:
        programs.extend((program, with_awaited_operations(program)))
        return programs[-1]

    monkeypatch.setattr(compiler, "with_awaited_operations", mended)
    monkeypatch.setenv("ADZE_CACHE", "0")
    adze.trace(xp.linalg.cholesky, ShapeDtype((64, 64))).lower("vulkan:lavapipe").compile()
    adze.trace(lambda x: x + 1, ShapeDtype((64, 64))).lower("vulkan:lavapipe").compile()
    before, after, alone, unchanged = (awaits(program) for program in programs)
    assert (before, after) == (2, 6)  # a loop: before it, for its memory, and for each of two parts of it
    assert alone == unchanged == 1  # one kernel, whose memory is there first


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("size", [32, 64])
def test_equations_whose_columns_are_shared_by_lanes_are_solved(size: int) -> None:
    drawn = np.random.default_rng(size).standard_normal((size, size)).astype(np.float32)
    square, right = drawn + 4 * np.eye(size, dtype=np.float32), drawn[:, :3]
    solved = adze.jit(xp.linalg.solve, device="vulkan")(square, right)
    np.testing.assert_allclose(square @ np.asarray(solved), right, atol=1e-3)


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("size", [32, 64])
def test_rows_of_whole_lanes_have_greatest_elements(size: int) -> None:
    drawn = np.random.default_rng(size).standard_normal((16, size)).astype(np.float32)
    values, places = adze.jit(lambda x: lax.top_k(x, 3), device="vulkan")(drawn)
    np.testing.assert_array_equal(values, -np.sort(-drawn)[:, :3])
    np.testing.assert_array_equal(places, np.argsort(-drawn)[:, :3])


FACTORS = """
import sys, threading
import numpy as np
import adze
import adze.numpy as xp
from adze.runtime.compile import compiler
from adze.runtime.execute import program

fenced, size, threads = sys.argv[1] == "fenced", int(sys.argv[2]), int(sys.argv[3])
if not fenced:
    compiler.with_awaited_operations = lambda program: program
    program.locked = lambda invoke, lock: invoke
drawn = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32)
square = drawn @ drawn.T / size + 2 * np.eye(size, dtype=np.float32)
slopes = adze.grad(lambda x: xp.log(xp.diagonal(xp.linalg.cholesky(x))).sum())
want, on_device = np.asarray(adze.jit(slopes)(square)), adze.jit(slopes, device="vulkan")

def call():
    try:
        for _ in range(3):
            np.testing.assert_allclose(on_device(square), want, atol=1e-5)
    except adze.AdzeError as error:
        print(error)
    else:
        print("right")

callers = [threading.Thread(target=call) for _ in range(threads)]
for caller in callers:
    caller.start()
for caller in callers:
    caller.join()
"""


def said_of_factors(fenced: bool, size: int, threads: int) -> str:
    """What `FACTORS` says, in a process that a lost device does not take anything from."""
    command = [sys.executable, "-c", FACTORS, "fenced" if fenced else "", str(size), str(threads)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=500).stdout


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.thorough
def test_iree_still_keeps_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_CACHE", "off")
    assert any("was lost" in said_of_factors(fenced=False, size=60, threads=4) for _ in range(6))


@pytest.mark.vulkan
@needs_vulkan
def test_threads_share_a_device() -> None:
    assert said_of_factors(fenced=True, size=40, threads=3).split() == ["right"] * 3


@pytest.mark.vulkan
@needs_vulkan
def test_copies_are_recorded_for_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = []

    def mended(program: bytes) -> bytes:
        programs.extend((program, with_new_copies(program)))
        return programs[-1]

    monkeypatch.setattr(compiler, "with_new_copies", mended)
    monkeypatch.setenv("ADZE_CACHE", "off")
    place = adze.jit(lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)) * 2, device="vulkan")
    x = np.arange(60, dtype=np.float32).reshape(6, 10)
    for i, j in ((0, 1), (2, 3), (1, 0), (4, 5)):
        np.testing.assert_array_equal(place(x, np.int32(i), np.int32(j)), 2 * x[i : i + 2, j : j + 3])
    before, after = (kept_commands(program) for program in programs)
    assert before and not after


def kept_commands(program: bytes) -> list[str]:
    """The loads of recorded commands outside the functions that record them."""
    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        text = str(ir.Module.parse(program, context))
    return re.findall(r"util.global.load.*hal.command_buffer", text)


STRIDED = """
from adze import lax
from adze.passes.lower.iree import strided_kernels

rng = np.random.default_rng(1)
x, w = rng.integers(-2, 3, (3, 64, 32)), rng.integers(-2, 3, (3, 3, 32, 16))

def convolution(x, w):
    return lax.conv_general_dilated(x, w[::2, 1], (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))

def image_gradient(y, w):
    return lax.conv_general_dilated(
        y, w, (1, 1), ((1, 2), (1, 2)), lhs_dilation=(2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC"))

if not FENCED:
    strided_kernels._has_steps = lambda x: False
    os.environ["ADZE_CACHE"] = "0"
for name, function, image in (("slice", convolution, x), ("phases", image_gradient, x.reshape(3, 8, 8, 32))):
    got = adze.jit(function, device="cuda:0")(image.astype(np.float32), w.astype(np.float32))
    said[name] = bool(np.array_equal(np.asarray(got), function(image.astype(float), w.astype(float))))
"""


@needs_compiler
def test_steps_of_kernels_are_kept() -> None:
    """Gradients of strided convolutions take every second row of their kernel."""
    assert on_ptx_machine(f"FENCED = True{STRIDED}") == {"slice": True, "phases": True}


@pytest.mark.thorough
@needs_compiler
def test_iree_still_loses_steps() -> None:
    assert on_ptx_machine(f"FENCED = False{STRIDED}") == {"slice": False, "phases": False}


OUTER = (
    lambda p, w: p[:, :, None] * (p @ w)[:, None, :],
    np.arange(64, dtype=np.float32).reshape(4, 16) % 7 - 3,
    np.arange(128, dtype=np.float32).reshape(16, 8) % 5 - 2,
)


@pytest.mark.vulkan
@needs_vulkan
def test_outer_products_of_sums_take_their_own_elements() -> None:
    """Gradients of each example are such products."""
    function, *arrays = OUTER
    np.testing.assert_array_equal(adze.jit(function, device="vulkan")(*arrays), function(*arrays))


@pytest.mark.vulkan
@needs_vulkan
def test_rows_of_sums_go_to_their_own_columns() -> None:
    x = np.arange(1600, dtype=np.float32).reshape(40, 40) % 7 - 3
    got = adze.jit(lambda x: x + x[:, :1].T @ x, device="vulkan")(x)
    np.testing.assert_array_equal(got, x + x[:, :1].T @ x)


@pytest.mark.parametrize("target", ["vulkan:lavapipe", "vulkan:ampere", "metal"])
def test_sums_that_are_broadcast_along_inner_axes_compile(target: str) -> None:
    specs = ShapeDtype((4, 8, 64)), ShapeDtype((4, 16, 8))
    assert adze.trace(lambda x, y: y * x.sum(2)[:, None, :], *specs).lower(target).compile().vmfb


@pytest.mark.thorough
@pytest.mark.vulkan
@needs_vulkan
def test_iree_still_has_wrong_outer_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_index_maps, "inner_broadcasts", lambda module, reader: set())
    monkeypatch.setenv("ADZE_CACHE", "0")
    function, *arrays = OUTER
    assert (np.asarray(adze.jit(function, device="vulkan")(*arrays)) != function(*arrays)).any()


def norms_of_examples(a: Any, b: Any, x: Any) -> Any:
    """Of each example."""

    def norm(x: Any) -> Any:
        def loss(a: Any, b: Any) -> Any:
            return xp.sum(xp.tanh(xp.tanh(x @ a) @ b) ** 2)

        return xp.sqrt(sum(xp.sum(g * g) for g in adze.grad(loss, (0, 1))(a, b)))

    return adze.vmap(norm)(x)


def norms_on(device: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((8, 8), (8, 8), (4, 8))]
    return np.asarray(adze.jit(norms_of_examples, device=device)(*arrays))


@pytest.mark.vulkan
@needs_vulkan
def test_lanes_that_share_a_sum_have_all_of_its_operand() -> None:
    np.testing.assert_allclose(norms_on("vulkan"), norms_on("cpu"), rtol=1e-5)


@pytest.mark.thorough
@pytest.mark.vulkan
@needs_vulkan
def test_iree_still_sums_parts_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "with_unshared_rows", lambda chosen, only_cheap: chosen)
    monkeypatch.setattr(compiler, "kernel_with_repeated_rows", lambda chosen: None)
    monkeypatch.setattr(compiler, "kernel_with_squares_of_lanes", lambda chosen: None)  # refuses this one too
    monkeypatch.setattr(two_index_maps, "stored_products", lambda module, reader: set())
    monkeypatch.setenv("ADZE_CACHE", "0")
    assert not np.allclose(norms_on("vulkan"), norms_on("cpu"), rtol=1e-2)


def doubled_and_summed(x: Any) -> Any:
    """Its columns."""
    return x * 2, xp.sum(x * 2, axis=0)


COLUMNS = np.arange(192, dtype=np.float32).reshape(64, 3)


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("shape", [(64, 3), (128, 10), (16, 8, 5)])
def test_columns_that_lanes_share_are_stored_right(shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    for got, want in zip(
        adze.jit(doubled_and_summed, device="vulkan")(x), doubled_and_summed(x), strict=True
    ):
        np.testing.assert_array_equal(got, want)


@pytest.mark.thorough
@pytest.mark.vulkan
@needs_vulkan
def test_iree_still_stores_parts_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "with_unshared_rows", lambda chosen, only_cheap: chosen)
    monkeypatch.setattr(compiler, "kernel_with_repeated_rows", lambda chosen: None)
    monkeypatch.setenv("ADZE_CACHE", "0")
    doubled, _ = adze.jit(doubled_and_summed, device="vulkan")(COLUMNS)
    assert (np.asarray(doubled) != COLUMNS * 2).any()


def of_a_square(mask: Any, x: Any) -> Any:
    """A transposed triangle or the like, and its greatest element."""
    kept = xp.where(mask >= 0, x, 0).T
    return kept, xp.max(abs(kept))


def squares(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 5, (size, size), dtype=np.int32), rng.standard_normal((size, size), np.float32)


@pytest.mark.parametrize("target", ["vulkan:lavapipe", "vulkan:ampere", "metal"])
def test_kernels_with_squares_of_lanes_are_refused(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str | None] = []

    def noted(chosen: bytes) -> str | None:
        found.append(kernel_with_squares_of_lanes(chosen))
        return found[-1]

    monkeypatch.setattr(compiler, "kernel_with_squares_of_lanes", noted)
    adze.trace(of_a_square, *squares(8, 0)).lower(target).compile(cache=False)
    assert found[0] is not None
    assert found[-1] is None


def test_in_a_process_of_its_own_they_have_a_thread_a_row() -> None:
    module, target = (
        adze.trace(of_a_square, *squares(8, 0)).lower("vulkan:lavapipe").mlir(),
        "vulkan:lavapipe",
    )
    usual = compiler.compile_bytecode(module.encode(), parse_target(target))
    assert compile_in_subprocess(module.encode(), parse_target(target)).vmfb == usual.vmfb


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("size", [4, 8, 12, 16])
def test_lanes_that_share_a_square_have_its_elements(size: int) -> None:
    for seed in range(3):
        mask, x = squares(size, seed)
        kept, greatest = adze.jit(of_a_square, device="vulkan")(mask, x)
        expected = np.where(mask >= 0, x, 0).T
        np.testing.assert_array_equal(kept, expected)
        assert float(greatest) == abs(expected).max()


@pytest.mark.thorough
@pytest.mark.vulkan
@needs_vulkan
def test_iree_still_spreads_squares_over_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "with_unshared_rows", lambda chosen, only_cheap: chosen)
    monkeypatch.setattr(compiler, "kernel_with_squares_of_lanes", lambda chosen: None)
    monkeypatch.setenv("ADZE_CACHE", "0")
    greatest = [float(adze.jit(of_a_square, device="vulkan")(*squares(8, k))[1]) for k in range(3)]
    assert greatest != [float(of_a_square(*squares(8, k))[1]) for k in range(3)]


def diagonal(x: Any) -> Any:
    """Sums of columns, in each of which one element counts."""
    numbers = lax.iota(np.int32, len(x))
    return xp.where(numbers[:, None] == numbers, x, 0).sum(0)


def program_for_threads(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """With a thread a column, whatever the kernel computes first."""
    monkeypatch.setattr(unshared_rows, "_takes_elements", lambda *arguments: True)
    monkeypatch.setattr(strategy, "FORMS", tuple(form for form in strategy.FORMS if form.name == "tuned"))
    return adze.trace(diagonal, ShapeDtype((32, 32))).lower("vulkan:lavapipe").compile(cache=False).vmfb


def test_iree_still_lets_threads_run_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "kernel_with_unawaited_threads", lambda program: None)
    assert kernel_with_unawaited_threads(program_for_threads(monkeypatch)) is not None


def test_kernels_whose_threads_run_ahead_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CompileError, match="threads would load what others store, and not wait for them"):
        program_for_threads(monkeypatch)


def test_equal_places_have_one_number_however_often_they_use_a_value() -> None:
    add, phi = 128, 245
    chain = {n: (add, (n - 1, n - 1)) for n in range(2, 200)}  # twice as many ways to a value with each
    loops = {
        300: (phi, (0, 9, 301, 9)),
        301: (add, (300, 1)),
        400: (phi, (0, 9, 401, 9)),
        401: (add, (400, 1)),
    }
    numbers = spirv._Numbers({**chain, **loops, 500: (add, (198, 198)), 501: (add, (300, 198))})
    assert numbers.of(199) == numbers.of(500) != numbers.of(198)
    assert numbers.of(300) == numbers.of(400) != numbers.of(501)


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("size", [8, 32, 64])
def test_threads_have_what_others_compute_first(size: int) -> None:
    x = np.random.default_rng(size).standard_normal((size, size)).astype(np.float32)
    function = adze.jit(diagonal, device="vulkan")
    for _ in range(20):
        np.testing.assert_array_equal(function(x), np.diagonal(x))
