"""LLVM is told of arrays that are not parts of one another: of bindings, and where it gains by it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects.mlir import ir, new_context
from adze.runtime.compile.invocation import Invocation
from adze.runtime.compile.separate_bindings import say_what_is_separate

SPAN = (
    "hal.interface.binding.subspan layout(<bindings = ["
    + ", ".join(['#hal.pipeline.binding<storage_buffer, "ReadOnly">'] * 3)
    + "]>) "
)
KERNEL = f"""
func.func @kernel() {{
  %c0 = arith.constant 0 : index
  %far = arith.constant 4096 : index
  %places = {SPAN} binding(0) alignment(64) offset(%c0) : memref<8xi32>
  %table = {SPAN} binding(1) alignment(64) offset(%c0) : memref<8xf32>
  %beside = {SPAN} binding(1) alignment(64) offset(%far) : memref<8xf32>
  %to = {SPAN} binding(2) alignment(64) offset(%c0) : memref<8xf32>
  %loaded = memref.load %places[%c0] : memref<8xi32>
  %less = arith.subi %loaded, %loaded : i32
  %place = arith.index_cast %less : i32 to index
  %taken = memref.load %table[PLACE] : memref<8xf32>
  %other = memref.load %beside[%c0] : memref<8xf32>
  %sum = arith.addf %taken, %other : f32
  memref.store %sum, %to[%c0] : memref<8xf32>
  return
}}
"""


def hinted(kernel: str) -> str:
    with new_context(foreign_ops=False, is_light=True), ir.Location.unknown():
        module = ir.Module.parse(kernel)
        say_what_is_separate(ir, [each.operation for each in module.body.operations])
        assert module.operation.verify()
        return str(module)


def test_one_array_of_each_binding_is_said_to_be_separate() -> None:
    text = hinted(KERNEL.replace("PLACE", "%place"))
    spans = re.findall(r"(%\w+) = hal\.interface\.binding\.subspan .*binding\((\d)\)", text)
    assert [binding for _, binding in spans] == ["0", "1", "1", "2"]
    first = [spans[0][0], spans[1][0], spans[3][0]]
    assert f"memref.distinct_objects {', '.join(first)} :" in text
    (results,) = re.findall(r"(%\w+):3 = memref\.distinct_objects", text)
    used = re.findall(r"memref\.(?:load|store) (?:%\w+, )?(%[\w#]+)\[", text)
    assert used == [f"{results}#0", f"{results}#1", spans[2][0], f"{results}#2"]


def test_kernels_that_gain_nothing_stay_as_they_are() -> None:
    assert "distinct" not in hinted(KERNEL.replace("PLACE", "%c0"))
    alone = (
        KERNEL.replace("PLACE", "%place")
        .replace("binding(1)", "binding(0)")
        .replace("binding(2)", "binding(0)")
    )
    assert "distinct" not in hinted(alone)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], bool]] = {
    "searched": (
        lambda table, x: anp.searchsorted(anp.sort(table), x),
        (np.linspace(3, -3, 999, dtype=np.float32), np.linspace(-4, 4, 3001, dtype=np.float32)),
        True,
    ),
    "added up": (
        lambda x, y: adze.lax.fori_loop(0, 3, lambda i, z: z.at[i].add(x[i] * y[i]), x),
        (np.arange(8, dtype=np.float32), np.ones(8, np.float32)),
        False,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    function, arguments, gains = PROGRAMS[name]
    lowered = adze.trace(function, *arguments).lower("cpu")
    options = lowered.options()
    with Invocation((*lowered.target.flags, *options.flags()), []) as begun:
        assert begun.begin(lowered.form((), options))
        assert begun.advance("executable-sources")
        assert ("memref.distinct_objects" in begun.text()) is gains


def test_a_search_in_a_table_that_is_sorted_on_the_way() -> None:
    function, (table, x), _ = PROGRAMS["searched"]
    np.testing.assert_array_equal(adze.jit(function)(table, x), np.searchsorted(np.sort(table), x))


def test_arrays_that_are_made_together_and_overwritten_in_turns() -> None:
    """Arrays of one allocation, of which a loop writes one at places that it takes from another."""

    def shuffled(places: Any, x: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            there, values, counts = state
            at = there[i]
            return there.at[at].set(there[i]), values.at[at].add(values[there[at]]), counts.at[at].add(1)

        return adze.lax.fori_loop(0, 40, step, (places * 1, x * 2, places * 0))

    places = np.random.default_rng(0).integers(0, 40, 40).astype(np.int32)
    x = np.arange(40, dtype=np.float32)
    there, values, counts = places.copy(), 2 * x, np.zeros(40, np.int32)
    for i in range(40):
        at = there[i]
        new = values[at] + values[there[at]]
        there[at] = there[i]
        values[at] = new
        counts[at] += 1
    for one, other in zip(adze.jit(shuffled)(places, x), (there, values, counts), strict=True):
        np.testing.assert_array_equal(one, other)
