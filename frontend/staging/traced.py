"""The first stage of a program: `Traced`, a function as adze IR.

Input: what `trace_program` returned. Output: its IR at any stage, its cost, and the next stage, `Lowered`.
Idea: a program that was compiled before needs no pass, so passes are imported where they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import mlir
from ...dialects.dialect import BY_NAME
from ...dialects.interrupts import kept_interrupts
from ...dialects.ops.constants import SizeCheck
from ...passes.analysis.verify import verify
from ..tracing.jax_rules import follows_jax
from ..tracing.trace import Parameter, TracedProgram
from .described import Described

if TYPE_CHECKING:
    from ...passes.analysis.cost import Cost
    from ...passes.pipeline import Observer
    from ...runtime.targets import Target
    from .lowered import Lowered


class Traced(Described):
    """A function as adze IR. `print` shows it as MLIR; `.pretty()` in the compact readable form."""

    def __init__(self, traced: TracedProgram) -> None:
        self.program = traced
        verify(traced.module)

    @property
    def parameters(self) -> list[Parameter]:
        """The array arguments, in order."""
        return self.program.parameters

    @property
    def jaxpr(self) -> Any:
        """Itself, under JAX's name for what a trace prints; in programs written for JAX a closed jaxpr."""
        if not follows_jax():
            return self
        from .equations import ClosedJaxpr

        return ClosedJaxpr(self.program.program, self.program.symbol)

    def does_anything(self) -> bool:
        """Whether the program has a result or an effect, such as `print`, that a user asked for."""
        has_effect = False

        def look(operation: Any) -> Any:
            nonlocal has_effect
            op = BY_NAME.get(operation.name.removeprefix("adze."))
            has_effect = has_effect or (op is not None and op.has_effect and op is not SizeCheck)
            return mlir.ir.WalkResult.INTERRUPT if has_effect else mlir.ir.WalkResult.ADVANCE

        with kept_interrupts():
            self.program.module.operation.walk(look)
        return has_effect or bool(self.program.result_types)

    @property
    def defined_at(self) -> str | None:
        """File and line of the traced function."""
        return self.program.defined_at

    def mlir(self, stage: str = "traced", *, locations: bool = False) -> str:
        """The IR as MLIR text at a stage: `traced`, `simplified`, `linalg`, or after the pass of that name.

        `partitioned` is the program of one rank, where the program states shardings over a mesh, and the
        bytes that its collectives send.

        `kernels` shows the kernels that IREE makes, with their tiles. What is lowered is lowered for the
        host's processor.
        """
        return self.at_stage(stage, "cpu", locations=locations)

    def at_stage(self, stage: str, target: str | Target, *, locations: bool = False) -> str:
        """As `mlir`, lowered for `target`."""
        from .stage_texts import text_at

        return text_at(self.program, stage, target, locations=locations)

    def remarks(self, target: str | Target = "cpu") -> list[str]:
        """A line for each loop that the host sees: where it is, whether it becomes a kernel, and why."""
        from .stage_texts import remarks_on_loops

        return remarks_on_loops(self.program, target)

    def pretty(self) -> str:
        """One line an op: `%3: f32[4,2] = mul(%1, %2)`."""
        from ...passes.autodiff.deferred import complete
        from ...passes.ir.pretty import pretty

        complete(self.program.module)
        return pretty(self.program.module)

    def cost(self) -> Cost:
        """Arithmetic, memory traffic and the most bytes alive at once, counted on the IR as traced."""
        from ...passes.analysis.cost import cost

        return cost(self.program.module)

    def lower(
        self,
        target: str | Target = "cpu",
        observer: Observer | None = None,
        *,
        lowering_platforms: Sequence[str] | None = None,
    ) -> Lowered:
        """Run the pipeline for `target`: simplify and rewrite to linalg.

        `lowering_platforms` is JAX's way to name the target: a sequence of one.
        """
        if lowering_platforms is not None:
            (target,) = lowering_platforms
        from .lowered import Lowered
        from .lowering import lowered_module

        return Lowered(lowered_module(self.program, target, observer))

    def __str__(self) -> str:
        return self.mlir()

    def __repr__(self) -> str:
        from .exports import signature_text

        return f"Traced({signature_text(self.program)})"
