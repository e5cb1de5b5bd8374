"""Kernels of adze without their code until IREE has decided how they are called: the program is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects.mlir import ir, new_context
from adze.runtime.compile import executables, invocation
from adze.runtime.compile.invocation import Invocation
from adze.runtime.compile.kernel_bodies import KernelBodies, gains_of_bodies_apart


def loss(weights: Any, x: Any, y: Any) -> Any:
    for w in weights[:-1]:
        x = anp.tanh(x @ w)
    return -(adze.nn.log_softmax(x @ weights[-1]) * y).sum(axis=1).mean()


def running(x: Any, w: Any) -> Any:
    def step(h: Any, row: Any) -> tuple[Any, Any]:
        h = anp.tanh(h @ w + row)
        return h, h.sum()

    return adze.lax.scan(step, x[0], x)[1].sum()


KERNEL = """
stream.executable private @one {
  stream.executable.export public @one workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @one(%place: index, %array: !stream.binding) {
      %c0 = arith.constant 0 : index
      %memref = stream.binding.subspan %array[%c0] : !stream.binding -> memref<4xf32>
      %number = arith.constant 1.0 : f32
      memref.store %number, %memref[%place] : memref<4xf32>
      return
    }
  }
}
"""


def squared(x: Any, count: int = 3) -> Any:
    return adze.lax.fori_loop(0, count, lambda i, y: anp.tanh(y @ y) + x, x)


def filled(*shape: int) -> np.ndarray:
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "gradient of products": (
        adze.value_and_grad(loss),
        ([filled(200, 130), filled(130, 70), filled(70, 10)], filled(64, 200), filled(64, 10)),
    ),
    "gradient of a loop": (adze.value_and_grad(running, argnums=1), (filled(20, 8, 16), filled(16, 16))),
    "named sizes": (
        lambda x, w: adze.nn.softmax(anp.tanh(x @ w) @ w, axis=-1),
        (adze.ShapeDtype(("n", 64)), adze.ShapeDtype((64, 64))),
    ),
    "equal loops": (
        lambda x: squared(anp.sort(squared(x), axis=0), 3) + squared(x + 1, 5),
        (filled(30, 30),),
    ),
    "bools in a loop, and a sort": (
        lambda x: (adze.lax.scan(lambda up, v: (up ^ (v > 0), up), x[0] > 0, x), anp.argsort(x)),
        (filled(3000),),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", ["cpu", "cpu:x86-64-v3"])
def test_the_bytes_are_those_of_kernels_that_keep_their_code(
    name: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, arguments = PROGRAMS[name]
    lowered = adze.trace(function, *arguments).lower(target)
    taken = _taken(monkeypatch)
    apart = lowered.compile(cache=False).vmfb
    assert sum(taken) > 0
    _keep_code(monkeypatch)
    assert lowered.compile(cache=False).vmfb == apart


def test_a_kernel_that_is_called_otherwise_than_it_was_keeps_its_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function, arguments = PROGRAMS["gradient of a loop"]
    lowered = adze.trace(function, *arguments).lower("cpu")
    expected = lowered.compile(cache=False).vmfb
    refused = []

    def refuse(self: KernelBodies, program: bytes) -> None:
        refused.append(program)

    monkeypatch.setattr(KernelBodies, "put_back", refuse)
    assert lowered.compile(cache=False).vmfb == expected
    assert len(refused) == 2  # where it was divided into kernels, and where these were scheduled
    monkeypatch.setattr(invocation, "has_own_kernels", lambda program: False)
    assert lowered.compile(cache=False).vmfb == expected
    assert len(refused) == 3


def test_executables_beside_each_other_become_few_and_two_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    put_back = KernelBodies.put_back

    def counted(self: KernelBodies, program: bytes) -> bytes | None:
        whole = put_back(self, program)
        assert whole is not None
        if _executables(program):
            counts.append((_executables(program), _executables(whole)))
        return whole

    monkeypatch.setattr(KernelBodies, "put_back", counted)
    function, arguments = PROGRAMS["gradient of products"]
    result = adze.trace(function, *arguments).lower("cpu").compile(cache=False)(*arguments)
    monkeypatch.setattr(executables, "_MOST_TOGETHER", 3)
    again = adze.trace(function, *arguments).lower("cpu").compile(cache=False)(*arguments)
    for one, other in zip(result[1], again[1], strict=True):
        np.testing.assert_array_equal(one, other)
    (before, after), (_, of_three) = counts
    assert before > 6
    assert after == 2
    assert of_three == -(-before // 3)


def test_programs_with_few_kernels_of_iree_stay_as_they_are() -> None:
    assert gains_of_bodies_apart(b"stream\0binding.subspan\0")
    assert gains_of_bodies_apart(b"f_dispatch_0\0f_dispatch_0_sum\0" * 4)
    assert not gains_of_bodies_apart(b"f_dispatch_0\0f_dispatch_0_sum\0" * 3)


@pytest.mark.parametrize("last", ["abi", "global-optimization", "flow", "stream", "executable-sources"])
def test_whoever_looks_at_a_phase_sees_the_code(last: str) -> None:
    function, arguments = PROGRAMS["gradient of a loop"]
    lowered = adze.trace(function, *arguments).lower("cpu")
    options = lowered.options()
    with Invocation((*lowered.target.flags, *options.flags()), []) as begun:
        assert begun.begin(lowered.form((), options))
        assert begun.advance(last)
        assert "scf.for" in begun.text()
        assert "func.call" not in begun.text()


def test_equal_kernels_call_the_same_code_so_that_iree_makes_one_of_them() -> None:
    stores_two = KERNEL.replace("@one", "@two").replace("1.0", "2.0")
    bodies = KernelBodies((KERNEL + KERNEL.replace("@one", "@other") + stores_two).encode())
    program = _text(bodies.without())
    assert [program.count(f"call @{name}__code") for name in ("one", "other", "two")] == [2, 0, 1]
    assert "memref.store" not in program
    whole = bodies.put_back(program.encode())
    assert whole is not None
    text = _text(whole)
    assert "__code" not in text
    assert text.count("memref.store") == 3
    assert text.count("arith.constant 2.0") == 1


def _keep_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invocation, "gains_of_bodies_apart", lambda program: False)
    monkeypatch.setattr(invocation, "has_own_kernels", lambda program: False)


def _taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For each program that is compiled from now on, of how many kernels the code was taken out."""
    counts: list[int] = []
    without = KernelBodies.without

    def counted(self: KernelBodies) -> bytes:
        counts.append(len(self._functions))
        return without(self)

    monkeypatch.setattr(KernelBodies, "without", counted)
    return counts


def _executables(program: bytes) -> int:
    with new_context(foreign_ops=False, is_light=True) as context:
        module = ir.Module.parse(program, context)
        return sum(each.operation.name == "hal.executable" for each in module.body.operations)


def _text(program: bytes) -> str:
    with new_context(foreign_ops=False, is_light=True) as context:
        return str(ir.Module.parse(program, context))
