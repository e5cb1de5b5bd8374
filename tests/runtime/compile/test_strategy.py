"""The strategy of a compile: which forms are tried for which module, with which options, in which order."""

from __future__ import annotations

import pytest

from adze.passes.registry import parse_pipeline
from adze.runtime.compile.compiler import CompileOptions
from adze.runtime.compile.strategy import (
    CONSTANTS_LATER,
    FORMS,
    FUSE_LESS,
    ONE_USE,
    Facts,
    compile_program,
)
from adze.runtime.errors import CompileError
from adze.runtime.targets import parse_target

PLAIN = Facts(has_dependent_reductions=False, has_complex_numbers=False, is_static=True)
ALL = Facts(
    has_dependent_reductions=True,
    has_complex_numbers=True,
    is_static=False,
    may_have_equal_layers=True,
    is_on_gpu=True,
)
EMPTY = b"func.func @f() { return }"
REFUSED = b'func.func @f() { "stablehlo.custom_call"() : () -> () return }'
ASKED = CompileOptions(data_tiling=True, extra_flags=("--asked",))


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        (PLAIN, ["tuned", "fewer operands", "fused less", "fused least", "untuned", "plain"]),
        (ALL, [form.name for form in FORMS]),
        (
            Facts(False, False, True, True),
            ["equal layers once", "tuned", "fewer operands", "fused less", "fused least", "untuned", "plain"],
        ),
        (
            Facts(False, False, True, is_on_gpu=True),
            [
                *("tuned", "operands apart", "separate reductions, operands apart"),
                *("fewer operands", "fused less", "fused least", "untuned", "plain"),
            ],
        ),
        (
            Facts(True, False, True),
            [
                "tuned",
                "separate reductions",
                "fewer operands",
                "fused less",
                "fused least",
                "untuned",
                "plain",
            ],
        ),
        (
            Facts(False, True, True),
            ["tuned", "constants later", "fewer operands", "fused less", "fused least", "untuned", "plain"],
        ),
    ],
)
def test_forms_are_tried_for_what_a_module_has(facts: Facts, names: list[str]) -> None:
    assert [form.name for form in FORMS if form.is_tried(facts)] == names


def test_modules_are_checked_where_their_kernels_may_have_faults() -> None:
    assert not PLAIN.may_have_faults and ALL.may_have_faults
    assert Facts(True, False, True).may_have_faults and Facts(False, False, False).may_have_faults
    assert [form.name for form in FORMS if not form.is_checked] == ["plain"]


def test_forms_add_flags_to_the_options_that_were_asked_for() -> None:
    flags = {form.name: form.options(ASKED).extra_flags for form in FORMS}
    assert flags == {
        "equal layers once": ("--asked",),
        "equal layers once, separate reductions": ("--asked",),
        "tuned": ("--asked",),
        "constants later": ("--asked", CONSTANTS_LATER),
        "operands apart": ("--asked",),
        "separate reductions": ("--asked",),
        "separate reductions, operands apart": ("--asked",),
        "fewer operands": ("--asked",),
        "fused less": ("--asked", FUSE_LESS),
        "fused least": ("--asked", FUSE_LESS, ONE_USE),
        "untuned": ("--asked", FUSE_LESS, ONE_USE),
        "plain": (FUSE_LESS, ONE_USE),
    }
    assert [form.name for form in FORMS if not form.options(ASKED).data_tiling] == ["plain"]


def test_every_form_says_its_symptom_and_names_passes_that_exist() -> None:
    assert len({form.name for form in FORMS}) == len(FORMS)
    for form in FORMS:
        assert form.symptom
        for name in form.passes:
            (step,) = parse_pipeline(name)
            assert not step.leaves_adze


def test_forms_are_made_in_order_until_one_is_taken() -> None:
    made: list[tuple[tuple[str, ...], CompileOptions]] = []

    def produce(passes: tuple[str, ...], options: CompileOptions) -> bytes:
        made.append((passes, options))
        return EMPTY if len(made) == 4 else REFUSED

    options = CompileOptions()
    compiled = compile_program(produce, PLAIN, parse_target("cpu"), options)
    assert compiled.variant == "fused least"
    assert [name for name, _ in compiled.rejected] == ["tuned", "fused less"]
    assert made == [(form.passes, form.options(options)) for form in FORMS if form.is_tried(PLAIN)][:4]
    assert compiled.options == made[-1][1]


def test_forms_of_functions_are_tried_where_these_are_inlined_and_refused_with_what_is_inlined() -> None:
    layered = Facts(False, False, True, may_have_equal_layers=True)
    made: list[tuple[str, ...]] = []

    def produce(passes: tuple[str, ...], options: CompileOptions) -> bytes:
        made.append(passes)
        return EMPTY

    target = parse_target("cpu")
    assert compile_program(produce, layered, target, CompileOptions()).rejected == ()
    compiled = compile_program(produce, layered, target, CompileOptions(), inline=lambda _: REFUSED)
    assert [name for name, _ in compiled.rejected] == ["equal layers once"]
    compiled = compile_program(produce, layered, target, CompileOptions(), inline=lambda _: None)
    assert [name for name, _ in compiled.rejected] == ["equal layers once"]
    assert made == [(), ("outline-layers",), (), ("outline-layers",), ()]


def test_the_refusal_of_the_last_form_is_raised() -> None:
    with pytest.raises(CompileError, match="custom_call"):
        compile_program(lambda *_: REFUSED, ALL, parse_target("cpu"), CompileOptions())


def test_what_is_the_same_as_before_is_not_tried_again() -> None:
    made: list[tuple[str, ...]] = []

    def produce(passes: tuple[str, ...], options: CompileOptions) -> bytes:
        made.append(passes)
        return REFUSED if len(made) < 4 else EMPTY

    facts = Facts(True, False, is_static=False)
    compiled = compile_program(produce, facts, parse_target("cpu"), CompileOptions())
    assert compiled.variant == "fused less"
    assert [name for name, _ in compiled.rejected] == ["tuned"]
    assert made == [form.passes for form in FORMS if form.is_tried(facts)][:4]
