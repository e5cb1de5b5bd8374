"""Pipelines as text: parsing, options, the verifier between passes, transforms with bad options."""

from __future__ import annotations

from dataclasses import fields

import pytest

from adze.dialects import mlir
from adze.dialects.errors import AdzeError
from adze.passes.base import Pass
from adze.passes.lower.plan import PlanError, hints_of, target_of
from adze.passes.lower.tuning.hints import ModuleHints
from adze.passes.pipeline import LOWER, OPTIMIZE, PIPELINE, between, for_target, run_pipeline
from adze.passes.registry import GROUPS, PASSES, PipelineError, parse_pipeline
from adze.runtime.targets import parse_target

from .texts import module, symbols

F = """
func.func @f(%x: f64[], %y: f64[]) -> f64[] {
  %0 = mul(%x, %y) : (f64[], f64[]) -> f64[]
  return %0 : f64[]
}
"""


def test_names_and_options_are_read() -> None:
    steps = parse_pipeline("grad{function=f argnums=0,1}, simplify ,lower{target=cpu}")
    assert [s.name for s in steps] == ["grad", "simplify", *(step.name for step in LOWER)]
    assert steps[0].argnums == "0,1"  # type: ignore[attr-defined]


def test_groups_are_the_pipeline_and_take_the_options_of_their_passes() -> None:
    assert parse_pipeline("optimize,lower") == PIPELINE == (*OPTIMIZE, *LOWER)
    steps = parse_pipeline("lower{target=cpu:x86-64-v3}")
    assert steps == for_target(LOWER, parse_target("cpu:x86-64-v3")) != LOWER
    assert {known.name for known in GROUPS}.isdisjoint(known.name for known in PASSES)


def test_passes_leave_adze_ir_up_to_the_conversion() -> None:
    """But for the kernels of routines and the sweeps over matrices, which are dispatches among adze's ops."""
    kernels = ("routine-kernels", "matrix-sweeps")
    before = [step.name for step in between(None, "mark-barriers") if step.name not in kernels]
    assert [step.name for step in PIPELINE if step.leaves_adze] == before


def test_the_plan_of_a_module_is_read_as_it_was_made() -> None:
    parsed = module(F)
    run_pipeline(parsed, parse_pipeline("plan{target=cpu:x86-64-v3}"))
    again = mlir.ir.Module.parse(str(parsed), parsed.context)
    assert target_of(again) == parse_target("cpu:x86-64-v3")
    assert hints_of(again) == hints_of(parsed) == ModuleHints(False, 1, 24, True, 48)


def test_a_module_without_a_plan_or_with_a_wrong_one_says_so() -> None:
    parsed = module(F)
    with pytest.raises(PlanError, match=r"the module has no attribute adze\.target"):
        run_pipeline(parsed, parse_pipeline("convert"))
    run_pipeline(parsed, parse_pipeline("plan"))
    with parsed.context:
        parsed.operation.attributes["adze.hints"] = mlir.ir.Attribute.parse("{flops = 1 : i64}")
    with pytest.raises(
        PlanError, match=r"the module attribute adze\.hints is .*: expected data_tiling, flops"
    ):
        run_pipeline(parsed, parse_pipeline("convert"))


def test_more_operations_than_an_attribute_holds_are_the_most_that_it_holds() -> None:
    parsed = module("""
func.func @f(%x: f32[1048576,16777216], %y: f32[16777216,1048576]) -> f32[1048576,1048576] {
  %0 = dot_general(%x, %y) {batch = [array<i64>, array<i64>], contracting = [array<i64: 1>, array<i64: 0>], \
dtype = f32} : (f32[1048576,16777216], f32[16777216,1048576]) -> f32[1048576,1048576]
  return %0 : f32[1048576,1048576]
}
""")
    run_pipeline(parsed, parse_pipeline("plan"))
    assert hints_of(parsed).flops == hints_of(parsed).largest_work == 2**63 - 1


def test_every_pass_has_a_name_a_description_and_text_options() -> None:
    assert len({p.name for p in PASSES}) == len(PASSES)
    for known in PASSES:
        assert known.__doc__
        assert all(isinstance(field.default, str) for field in fields(known)), known


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the pass pipeline is empty"),
        ("gradient", "there is no pass 'gradient'"),
        ("grad{fun=f}", "pass 'grad' has no option 'fun=f'"),
        ("grad{function}", "pass 'grad' has no option 'function'"),
        ("grad}", "cannot read pass pipeline 'grad}' at 'grad}'"),
    ],
)
def test_malformed_pipelines_are_refused(text: str, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    assert caught.value.message == message
    assert caught.value.hint


def test_passes_run_in_order_and_are_observed() -> None:
    seen: list[str] = []
    parsed = module(F)
    steps = parse_pipeline("grad{function=f argnums=0,1},verify")
    run_pipeline(parsed, steps, observer=lambda step, _, seconds: seen.append(step.name))
    assert seen == ["grad", "verify"]
    assert symbols(parsed) == ["f", "f_grad"]


def test_pass_that_leaves_wrong_ir_is_caught_after_it() -> None:
    class Wrong(Pass):
        name = "wrong"

        def run(self, module: mlir.ir.Module) -> None:
            operation = module.body.operations[0].regions[0].blocks[0].operations[0]
            operation.attributes["fast"] = mlir.ir.UnitAttr.get(module.context)

    with pytest.raises(AdzeError, match=r"op 'adze\.mul' has no attribute 'fast'"):
        run_pipeline(module(F), [Wrong()])


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("jvp{function=g}", "there is no function @g; the module has @f"),
        ("jvp{function=f argnums=2}", "argnums names argument 2, the function has 2"),
        ("jvp{function=f argnums=x}", "argnums 'x' is not a list of argument numbers such as 0,2"),
        ("batch{function=f size=two}", "size 'two' is not a number of at most 19 digits"),
        ("transpose{function=f}", "'mul' cannot be transposed: it is not linear in these operands together"),
    ],
)
def test_transform_that_does_not_fit_the_function_says_why(pipeline: str, message: str) -> None:
    with pytest.raises(AdzeError) as caught:
        run_pipeline(module(F), parse_pipeline(pipeline))
    assert caught.value.message == message


def test_gradient_of_a_constant_function_is_zero() -> None:
    parsed = module("""
func.func @f(%x: f64[3]) -> f64[] {
  %c = "adze.constant"() {dtype = f64, value = dense<1.0> : f64[]} : () -> f64[]
  return %c : f64[]
}
""")
    run_pipeline(parsed, parse_pipeline("grad{function=f}"))
    assert symbols(parsed) == ["f", "f_grad"]
