"""The strategy of a compile: the forms of a program that IREE is asked to take, in the order they are tried.

Input: what is known of a module (`Facts`), the options that its lowering asks for, and a function that makes
the bytes of a form: the runtime changes no IR itself. Output: the first form that IREE compiles, without a
known fault where that is checked. `FORMS` is the whole strategy; the last form is always tried.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from ...dialects.dataclass import dataclass
from ..targets import Target, TargetKind
from .compiler import CompiledModule, CompileOptions, TuneKernels, Variant, compile_with_fallback
from .temporary_files import check_temporary_files

FUSE_LESS: Final = "--iree-dispatch-creation-enable-aggressive-fusion=false"
ONE_USE: Final = "--iree-dispatch-creation-fuse-multi-use=false"
CONSTANTS_LATER: Final = "--iree-opt-const-eval=false"

SEPARATED: Final = ("separate-reductions",)
APART: Final = ("separate-operands", "constant-numbers")
FEWER: Final = ("separate-reductions", "limit-operands")
UNTUNED: Final = (*FEWER, "strip-tiles")


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides which forms of a module are tried, and which are checked for faults."""

    has_dependent_reductions: bool
    has_complex_numbers: bool
    is_static: bool
    may_have_equal_layers: bool = False
    is_on_gpu: bool = False

    @property
    def may_have_faults(self) -> bool:
        """Whether kernels of the module may come out wrong (`faults/`), so that they are looked at."""
        return self.has_dependent_reductions or not self.is_static


def always(facts: Facts) -> bool:
    """For every module."""
    return True


def with_complex_numbers(facts: Facts) -> bool:
    """For modules with complex numbers."""
    return facts.has_complex_numbers


def on_gpus(facts: Facts) -> bool:
    """For programs for GPUs."""
    return facts.is_on_gpu


def with_dependent_reductions(facts: Facts) -> bool:
    """For modules in which a reduction depends on another one."""
    return facts.has_dependent_reductions


def with_equal_layers(facts: Facts) -> bool:
    """For modules in which many ops repeat themselves."""
    return facts.may_have_equal_layers


def with_equal_layers_of_dependent_reductions(facts: Facts) -> bool:
    """For modules in which many ops repeat themselves, and a reduction depends on another one."""
    return facts.may_have_equal_layers and facts.has_dependent_reductions


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a program: passes that change the lowered module, and flags for IREE.

    `symptom` says what IREE did to the form before that this one avoids. `is_tried` says for which modules.
    `keeps_options`: the options that the lowering asks for hold, besides the flags. `is_checked`: a fault of
    its kernels counts as a refusal; the last form has no kernels that could have one. `is_inlined`:
    its functions are inlined when it is divided into kernels; what IREE refuses then, is refused as a whole.
    """

    name: str
    symptom: str
    passes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    is_tried: Callable[[Facts], bool] = always
    keeps_options: bool = True
    is_checked: bool = True
    is_inlined: bool = False

    def options(self, asked: CompileOptions) -> CompileOptions:
        """The options that this form is compiled with, where the lowering asks for `asked`."""
        if not self.keeps_options:
            return CompileOptions(extra_flags=self.flags, verifies_passes=asked.verifies_passes)
        return replace(asked, extra_flags=(*asked.extra_flags, *self.flags))


FORMS: Final[tuple[Form, ...]] = (
    Form(
        "equal layers once",
        symptom="none: IREE divides one of many equal layers into kernels, not all",
        passes=("outline-layers",),
        is_tried=with_equal_layers,
        is_inlined=True,
    ),
    Form(
        "equal layers once, separate reductions",
        symptom="a kernel of a layer computes one reduction again in each step of another",
        passes=(*SEPARATED, "outline-layers"),
        is_tried=with_equal_layers_of_dependent_reductions,
        is_inlined=True,
    ),
    Form("tuned", symptom="none: the module as it was lowered, with its tiles"),
    Form(
        "constants later",
        symptom="the real part of a complex constant is computed in advance, before the constant is",
        flags=(CONSTANTS_LATER,),
        is_tried=with_complex_numbers,
    ),
    Form(
        "operands apart",
        symptom="a kernel of GPUs that widens, negates or numbers what it reduces has no code",
        passes=APART,
        is_tried=on_gpus,
    ),
    Form(
        "separate reductions",
        symptom="a kernel computes one reduction again in each step of another",
        passes=SEPARATED,
        is_tried=with_dependent_reductions,
    ),
    Form(
        "separate reductions, operands apart",
        symptom="both of the former in one program",
        passes=(*SEPARATED, *APART),
        is_tried=on_gpus,
    ),
    Form(
        "fewer operands",
        symptom="a kernel is passed more arrays, or sizes and places, than the runtime takes",
        passes=FEWER,
    ),
    Form(
        "fused less",
        symptom="aggressive fusion moves ops before their operands, and keeps rows on the stack",
        passes=SEPARATED,
        flags=(FUSE_LESS,),
    ),
    Form(
        "fused least",
        symptom="a kernel with several results stores one with the sizes of another",
        passes=SEPARATED,
        flags=(FUSE_LESS, ONE_USE),
    ),
    Form(
        "untuned",
        symptom="tiles of several ops in one kernel contradict each other",
        passes=UNTUNED,
        flags=(FUSE_LESS, ONE_USE),
    ),
    Form(
        "plain",
        symptom="data tiling fails, as on dynamic axes that are moved and joined at once",
        passes=UNTUNED,
        flags=(FUSE_LESS, ONE_USE),
        keeps_options=False,
        is_checked=False,
    ),
)
"""All forms, in the order in which they are tried: what costs the least speed comes first."""


def compile_program(
    produce: Callable[[tuple[str, ...], CompileOptions], bytes],
    facts: Facts,
    target: Target,
    options: CompileOptions,
    *,
    reproducer_dir: Path | None = None,
    tune: TuneKernels | None = None,
    inline: TuneKernels | None = None,
) -> CompiledModule:
    """Compile the first form that IREE takes.

    `produce` writes the module changed by passes, for options; `tune` gives tiles to the kernels that IREE
    made of it, except in the forms at the end, which stand for a program without tiles. `inline` does the
    same and inlines functions, in the forms that have them; without it these are not tried.
    """
    check_temporary_files(is_linked=target.kind is TargetKind.CPU)
    variants = []
    for form in FORMS:
        if form.is_tried(facts) and not (form.is_inlined and inline is None):
            changed = form.options(options)
            make = functools.partial(produce, form.passes, changed)
            is_checked = form.is_checked and facts.may_have_faults
            tunes = inline if form.is_inlined else tune if "strip-tiles" not in form.passes else None
            variants.append(Variant(form.name, make, changed, is_checked, tunes, form.is_inlined))
    return compile_with_fallback(variants, target, options, reproducer_dir=reproducer_dir)
