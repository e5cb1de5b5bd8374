"""`to_stablehlo`: a function of adze as the text of a StableHLO module.

Input: a function, arguments or specs. Output: text that JAX, XLA and `iree-compile` take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects import mlir
from ....passes.lower.choose_branches import choose_branches
from ....passes.pipeline import SIMPLIFIED, between, for_target, run_pipeline
from ....runtime.targets import parse_target
from ...staging.jit import trace
from ...staging.modules import clone_module
from ...staging.traced import Traced
from ...tracing.trace import TracedProgram
from .module import module_text


def to_stablehlo(function: Callable[..., Any] | Traced, *, drop_effects: bool = False) -> Callable[..., str]:
    """The StableHLO text of `function`, for given arguments: `to_stablehlo(f)(*args)`.

    Arguments are arrays or specs (`adze.ShapeDtype`), and trees of those, as `adze.trace` takes them; the
    module's function `main` has one argument for each leaf and returns the leaves of the result. `function`
    may be derived (`adze.grad(f)`, `adze.vmap(f)`), compiled or imported. What StableHLO lacks is written in
    CHLO, as JAX does (`chlo.erf`, `chlo.top_k`).

    Named sizes are dynamic in the text (`tensor<?x3xf32>`), and shapes follow from them as in exports of JAX.
    That two arguments have one size is checked by its call `shape_assertion`.

    StableHLO has no other assertions and no output: with `drop_effects` all checks and prints of the function
    are left out, a loop with `max_steps` then ends after so many steps without an error.

    Of what depends on the platform (`lax.platform_dependent`) the text has what a CPU computes.

    In a job of several ranks the text is the program of each of them, as replicas.

    Raises `adze.imports.ModelUnsupportedError` (a `ValueError`) for what StableHLO cannot express: checks and
    output at run time unless they are dropped, callbacks into Python, state of a program.
    """

    def text(*args: Any, **kwargs: Any) -> str:
        traced = function if isinstance(function, Traced) else trace(function, *args, **kwargs)
        return traced_text(traced, drop_effects=drop_effects)

    return text


def stablehlo_text(program: TracedProgram) -> str:
    """The StableHLO text of a program, for its later stages."""
    return traced_text(Traced(program))


def traced_text(traced: Traced, *, drop_effects: bool = False) -> str:
    """The StableHLO text of a traced program."""
    return text_of_module(traced.program.module, traced.program.symbol, drop_effects=drop_effects)


def text_of_module(module: mlir.ir.Module, symbol: str, *, drop_effects: bool = False) -> str:
    """The StableHLO text of adze IR, whose main function is `symbol`."""
    simplified = clone_module(module)
    target = parse_target("cpu")
    run_pipeline(simplified, for_target(between(None, SIMPLIFIED), target))
    choose_branches(simplified, target.kind, with_loops=False)
    return module_text(simplified, symbol, drop_effects=drop_effects)
