"""The engines of one module share their memos: no function is differentiated twice."""

from __future__ import annotations

from adze.passes.analysis.verify import verify
from adze.passes.engines import Engines
from adze.passes.ir.functions import functions

from .texts import module

LOOP = """
func.func private @positive(%x: f64[]) -> i1[] {
  %0 = "adze.is_finite"(%x) : (f64[]) -> i1[]
  return %0 : i1[]
}
func.func private @grow(%x: f64[]) -> f64[] {
  %0 = sin(%x) : (f64[]) -> f64[]
  return %0 : f64[]
}
func.func @f(%x: f64[]) -> f64[] {
  %0 = "adze.while"(%x) {condition = @positive, body = @grow, condition_constants = 0, body_constants = 0,
    saved_states = 0} : (f64[]) -> f64[]
  return %0 : f64[]
}
"""


def derivatives_of_the_body(engines: Engines) -> list[str]:
    return [symbol for symbol in functions(engines.module) if symbol.startswith("grow_jvp")]


def test_linearization_uses_the_derivatives_of_forward_mode() -> None:
    engines = Engines(module(LOOP))
    engines.forward.differentiate("f", (True,))
    assert derivatives_of_the_body(engines) == ["grow_jvp"]
    engines.linearizer.linearize("f", (True,))
    verify(engines.module)
    assert derivatives_of_the_body(engines) == ["grow_jvp"]


def test_each_engine_reaches_the_others() -> None:
    engines = Engines(module(LOOP))
    every = [
        engines.forward,
        engines.linearizer,
        engines.transposer,
        engines.predicator,
        engines.batcher(2),
        engines.batcher(None),
    ]
    assert {engine.forward for engine in every} == {engines.forward}
    assert {engine.linearizer for engine in every} == {engines.linearizer}
    assert {engine.transposer for engine in every} == {engines.transposer}
    assert engines.batcher(2) is engines.batcher(2)
    assert engines.batcher(2) is not engines.batcher(3)
