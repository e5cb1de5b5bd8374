"""Faults of IREE that are fenced in: each test fails once IREE is right, and then its fence can go.

What only some programs show is watched over elsewhere. The files of `passes/lower/iree/` and of
`runtime/compile/faults/` say what their symptom is and which test says when they can go: this is checked.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.passes.lower.forms import bodies, host_calls, indexing, movement
from adze.passes.lower.iree import folded_offsets
from adze.passes.lower.kernels.loops.replace import LoopKernels
from adze.runtime.compile import compiler
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.errors import CallError, CompileError
from adze.runtime.execute.program import Executable

from ..forms.test_loops import X, copies, stacked

FOLDERS = ("passes/lower/iree", "runtime/compile/faults")
ENTRIES = ("Symptom", "Seen in", "Smallest", "Goes when")
CHECKOUT = Path(__file__).resolve().parents[4]
FENCES = sorted(
    path.relative_to(CHECKOUT).as_posix()
    for folder in FOLDERS
    for path in (CHECKOUT / folder).glob("*.py")
    if path.name != "__init__.py"
)


def entries(fence: str) -> dict[str, str]:
    """The entries of a fence's docstring: what follows `Symptom:` and its like, up to the next one."""
    text = ast.get_docstring(ast.parse((CHECKOUT / fence).read_text())) or ""
    names = "|".join(ENTRIES)
    results = re.findall(rf"^({names}): (.*?)(?=^(?:{names}): |\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: " ".join(entry.split()) for name, entry in results}


@pytest.mark.parametrize("fence", FENCES)
def test_a_fence_says_what_it_is_for(fence: str) -> None:
    assert tuple(entries(fence)) == ENTRIES
    assert re.fullmatch(r"IREE \d+\.\d+\.", entries(fence)["Seen in"])


@pytest.mark.parametrize("fence", FENCES)
def test_the_tests_that_say_when_a_fence_goes_exist(fence: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", entries(fence)["Goes when"])
    assert named
    for file, name in named:
        functions = ast.walk(ast.parse((CHECKOUT / file).read_text()))
        assert name in {node.name for node in functions if isinstance(node, ast.FunctionDef)}, (file, name)


def test_the_notes_list_the_fences() -> None:
    notes = (CHECKOUT / "docs" / "iree_notes.md").read_text()
    table = notes.split("| fence | symptom | seen in | goes when |\n|---|---|---|---|\n")[1].split("\n\n")[0]
    rows = [row(fence) for fence in FENCES]
    assert table.splitlines() == rows, "write this into docs/iree_notes.md:\n" + "\n".join(rows)


def row(fence: str) -> str:
    """The line of a fence in the table of the notes."""
    result = entries(fence)
    return f"| `{fence}` | {result['Symptom']} | {result['Seen in']} | {result['Goes when']} |"


# -- IREE, without the fence ---------------------------------------------------------------------------------


def aligned(shape: tuple[int, ...]) -> Any:
    """Ones that IREE takes as they are, without a copy."""
    memory = np.ones(int(np.prod(shape)) * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    array = memory[start : start + int(np.prod(shape)) * 4].view(np.float32).reshape(shape)
    array[...] = 1
    return array


def called(function: Callable[..., Any], *arguments: np.ndarray, specs: Any = None) -> list[np.ndarray]:
    """The results of a function whose program is compiled now, past the cache."""
    lowered = adze.trace(function, *(specs or arguments)).lower()
    vmfb = compile_bytecode(lowered.bytecode(), lowered.target, lowered.options()).vmfb
    results = Executable(vmfb, "local-sync").call(function.__name__, list(arguments))
    return [np.asarray(result.numpy()) for result in results]


@pytest.mark.thorough
def test_arguments_are_still_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    for form in (indexing, movement):
        monkeypatch.setattr(form, "owned", lambda ctx, x, dtype: x)

    def updated(x: Any, part: Any) -> Any:
        return lax.dynamic_update_slice(x, part, (1, 0)), x

    x, part = aligned((4, 4)), np.full((1, 4), 7, np.float32)
    _, old = called(updated, x, part)
    assert not (old == 1).all() or not (x == 1).all()


@pytest.mark.thorough
def test_exported_loop_state_is_still_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_calls, "awaited", lambda ctx, x, dtype: x)
    monkeypatch.setenv("ADZE_CACHE", "off")
    seen = []

    def f(x: np.ndarray) -> np.ndarray:
        seen.append(np.array(x))
        return np.array(x)

    def three(x: Any) -> Any:
        spec = adze.ShapeDtype((8, 8), np.float32)
        pair = (xp.cos(x), xp.full((8, 8), 3.0, np.float32))
        step = lambda c, _: (tuple(adze.pure_callback(f, spec, v) for v in c), None)  # noqa: E731
        return lax.scan(step, pair, None, length=2)[0]

    adze.jit(three)(np.ones((8, 8), np.float32))
    assert any(not (np.allclose(x, np.cos(1)) or np.allclose(x, 3)) for x in seen)


@pytest.fixture
def without_loop_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are left to IREE, as on other targets and where a kernel cannot do them."""
    monkeypatch.setattr(LoopKernels, "run", lambda self, module: False)


@pytest.mark.thorough
@pytest.mark.usefixtures("without_loop_kernels")
def test_carried_values_are_still_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    fenced = copies(stacked, X)
    monkeypatch.setattr(bodies, "resident", lambda value, sizes: value)
    assert sum(copies(stacked, X)) > sum(fenced)


def advanced(xs: Any) -> Any:
    """Two arrays of two dynamic sizes are carried in one buffer, the second one at an offset."""
    start = (np.int32(0), xs, xs[0])
    return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2, s[2] + 1), start)


@pytest.mark.thorough
@pytest.mark.usefixtures("without_loop_kernels")
def test_offsets_are_still_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folded_offsets, "bound_sizes", lambda module: None)
    xs = np.arange(6.0).reshape(2, 3)
    _, rows, row = called(advanced, xs, specs=[adze.ShapeDtype(("n", "m"), np.float64)])
    assert not (np.array_equal(rows, xs * 8) and np.array_equal(row, xs[0] + 3))


def stepped(k: Any, y: Any, v: Any) -> Any:
    """The value and the gradient of branches that save residuals of different shapes."""

    def rows(y: Any, v: Any) -> Any:
        last, saved = lax.scan(lambda c, _: (0.5 * c, c), v, None, length=3)
        return y, last + xp.sum(xp.sin(saved))

    def sines(y: Any, v: Any) -> Any:
        return lax.scan(lambda c, _: ((xp.sin(xp.sin(c[0])), 0.5 * c[1]), None), (y, v), None, length=2)[0]

    def loss(y: Any, v: Any) -> Any:
        y, v = lax.switch(k, [rows, sines, lambda y, v: (y, v)], y, v)
        return y + xp.sum(v)

    return adze.value_and_grad(loss, (0, 1))(y, v)


@pytest.mark.thorough
@pytest.mark.usefixtures("without_loop_kernels")
def test_references_are_still_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "deduplicated", lambda program: program)
    arguments = np.int32(1), np.float32(0.3), np.ones(3, np.float32)
    with pytest.raises(CallError, match="indirect buffer reference"):
        called(stepped, *arguments)


@pytest.mark.thorough
def test_extracted_sources_are_still_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(movement, "extractable", lambda b, x: x)
    with pytest.raises(CompileError, match="unrealized_conversion_cast"):
        called(lambda x: x[::2, ::3].T[::-1] + 1, np.ones((10, 12), np.float32))


COMPLEX_CONSTANT = """
import numpy as np
import adze
from adze import numpy as xp
from adze.dialects import mlir
from adze.passes.lower.builder import LinalgBuilder
def dense(self, array):
    kind = self.tensor_type(array.shape, array.dtype)
    attribute = mlir.ir.DenseElementsAttr.get(array, type=kind)
    return self.bind_shape(mlir.arith.constant(kind, attribute), array.shape)
LinalgBuilder._complex_constant = dense
adze.trace(lambda x: xp.asarray(np.array([1, 2j])), np.float32(1)).lower().compile()
"""
COMPLEX_PAD = """
import numpy as np
import adze
from adze import numpy as xp
from adze.passes.lower.forms import tensor_ops
tensor_ops.is_padded = lambda element: True
adze.trace(lambda x: xp.cumsum(x, 1), adze.ShapeDtype((4, 300), np.complex64)).lower().compile()
"""
UNUSED_STATE = """
import numpy as np
import adze
from adze import lax
from adze import numpy as xp
from adze.passes.lower.iree import dropped_loop_state
from adze.passes.lower.kernels.loops.replace import LoopKernels
LoopKernels.run = lambda self, module: False
dropped_loop_state.use_loop_state = lambda module: None
step = lambda s: (s[0] + 1, xp.zeros_like(s[1]))
f = lambda x: lax.while_loop(lambda s: s[0] < 3, step, (np.int32(0), x))
adze.trace(f, adze.ShapeDtype(("n",))).lower().compile()
"""
# A branch that IREE decides, in the body of a loop: the entries of the state that the other side used.
DECIDED_STATE = """
import numpy as np
import adze
from adze import lax
from adze import numpy as xp
from adze.passes.lower.iree import dropped_loop_state
from adze.passes.lower.kernels.loops.replace import LoopKernels
LoopKernels.run = lambda self, module: False
if {unfenced}:
    dropped_loop_state.use_loop_state = lambda module: None
def f(i0, x, y, rows):
    def body(s):
        i, x, y, k = s
        known = xp.logical_or(xp.ones((), bool), i0 > 3)
        a, z, b = lax.cond(i > 3, lambda: (x, y, k), lambda: (x + 1, y * 2, k * y))
        return lax.cond(known, lambda: (i + 1, rows[i], z, b), lambda: (i + 1, a, z * 2, b + 1))
    return lax.while_loop(lambda s: s[0] < 5, body, (0, x, y, y))
x = np.ones(8000, np.float32)
args = np.int32(0), x, np.float32(2), np.arange(8, dtype=np.float32)[:, None] * x
results = zip(adze.trace(f, *args).lower().compile()(*args), f(*args), strict=True)
assert all((np.asarray(actual) == np.asarray(expected)).all() for actual, expected in results)
"""


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[int, str]]:
    """Runs a program in a process of its own: its exit status and what it said."""
    monkeypatch.setenv("ADZE_CACHE", "0")

    def run(program: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=120)
        return done.returncode, done.stderr.decode()

    return run


@pytest.mark.thorough
def test_unused_loop_state_is_still_dropped(failed: Callable[[str], tuple[int, str]]) -> None:
    status, text = failed(UNUSED_STATE)
    assert status < 0 or "CompileError" in text, text  # the compiler crashes, or refuses the loop


@pytest.mark.thorough
def test_state_of_branches_that_iree_decides_is_still_dropped(
    failed: Callable[[str], tuple[int, str]],
) -> None:
    status, text = failed(DECIDED_STATE.format(unfenced=True))
    assert status < 0 or "CompileError" in text, text  # out of memory, at once


def test_state_of_branches_that_iree_decides_is_kept(failed: Callable[[str], tuple[int, str]]) -> None:
    status, text = failed(DECIDED_STATE.format(unfenced=False))
    assert status == 0, text


@pytest.mark.thorough
def test_complex_constants_still_crash(failed: Callable[[str], tuple[int, str]]) -> None:
    status, text = failed(COMPLEX_CONSTANT)
    assert status < 0, text


@pytest.mark.thorough
def test_complex_pads_still_crash(failed: Callable[[str], tuple[int, str]]) -> None:
    status, text = failed(COMPLEX_PAD)
    assert status < 0, text
