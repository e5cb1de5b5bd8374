"""The second stage of a program: `Lowered`, linalg on tensors for one target.

Input: what `lowering.py` made of a traced program. Output: its text, and the compiled program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...dialects import mlir
from ...dialects.interrupts import kept_interrupts
from ...passes.analysis.cost import Cost, cost
from ...passes.ir.functions import function
from ...passes.lower.iree.recomputed_reductions import has_chains
from ...passes.lower.kernels.loops.embed import has_loop_kernels
from ...passes.lower.outline_layers import OutlineLayers, has_layers, may_have_equal_layers
from ...passes.pipeline import PIPELINE, for_target, run_pipeline
from ...passes.registry import parse_pipeline
from ...runtime.artifact.manifest import Manifest, make_manifest, reflection_text
from ...runtime.compile.cache import CacheKey, CompileCache, cache_key
from ...runtime.compile.compiler import VECTORIZE_LOOPS, CompileOptions, names_missing_dtype
from ...runtime.compile.strategy import Facts, compile_program
from ...runtime.distributed.programs import EXTRA
from ...runtime.errors import CompileError
from ...runtime.settings import read_settings
from ...runtime.targets import TargetKind
from ..errors import ArgumentError
from ..tracing.locations import user_location_text
from ..tracing.operators import library_function
from .compiled import Compiled, CompileReport
from .described import Described
from .exports import exported_functions, kept_arrays, signature_text
from .features import explained
from .kernels import inline_layers, kernels_text, tuning_of
from .lowering import LoweredModule
from .modules import bytecode, clone_module, module_text

_stablehlo_text = library_function("stablehlo_text")


class Lowered(Described):
    """A program as linalg on tensors, for one target; `ir_sha256` is of its simplified adze IR."""

    def __init__(self, lowered: LoweredModule) -> None:
        self._lowered = lowered
        self.program = lowered.program
        self.module = lowered.module
        self.target = lowered.target
        self.sites, self.job = lowered.sites, lowered.job
        self.ir_sha256 = lowered.ir_sha256
        self.hints = lowered.hints()
        self.manifest = self._manifest(lowered.ir_sha256)

    def _manifest(self, ir_sha256: str) -> Manifest:
        return make_manifest(
            exported_functions(self.program),
            self.target,
            flags=(*self.target.flags, *self.options().flags()),
            ir_sha256=ir_sha256,
            work=float(self.hints.largest_work),
            extra=None if self.job is None else {EXTRA: self.job.to_json()},
            parameters=kept_arrays(self.program),
        )

    def cost(self) -> Cost:
        """The cost of the program as it was traced."""
        return cost(self.program.module)

    def mlir(self, *, locations: bool = False) -> str:
        """The IR as MLIR text."""
        return module_text(self.module, locations=locations)

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The program as StableHLO, as JAX prints it; with the dialect `linalg` as it was lowered.

        Raises `ModelUnsupportedError` for what StableHLO cannot express, and `ArgumentError` for others.
        """
        if dialect == "linalg":
            return self.mlir(locations=debug_info)
        if dialect not in (None, "stablehlo"):
            raise ArgumentError(
                f"as_text(dialect={dialect!r}): expected 'stablehlo' or 'linalg'", where=user_location_text()
            )
        return str(_stablehlo_text(self.program))

    def kernels(self, *, locations: bool = False) -> str:
        """The kernels that IREE divides the program into, with their tiles, as MLIR text."""
        return kernels_text(self.bytecode(), self.target, self.hints, self.options(), locations=locations)

    def bytecode(self) -> bytes:
        """The module as MLIR bytecode, with the user's lines for IREE's messages."""
        return bytecode(self.module)

    def canonical(self) -> bytes:
        """The module as text without locations: equal programs, equal bytes, wherever they were written."""
        return module_text(self.module).encode()

    def options(self) -> CompileOptions:
        """The compile options that the lowering asks for."""
        return self._lowered.options()

    def cache_key(self, options: CompileOptions | None = None) -> CacheKey:
        """What decides the bytes that a compile gives: equal keys, equal programs."""
        options = options or self.options()
        return self._identified(options)[0]

    def compile(
        self, *, device: str | None = None, options: CompileOptions | None = None, cache: bool = True
    ) -> Compiled:
        """Compile with IREE, through the persistent cache unless `cache` is false."""
        options = options or self.options()
        settings = read_settings()
        if settings.verify:
            options = replace(options, verifies_passes=True)
        key, text = self._identified(options)
        store = CompileCache(settings.cache_dir, settings.cache_max_bytes, settings.cache and cache)
        with kept_interrupts():
            entry, record = store.get_or_compile(key, lambda: self._build(text, options, settings.dump_dir))
        manifest = replace(self.manifest, flags=tuple(entry.metadata["flags"]))
        return Compiled(
            self.program,
            manifest,
            entry.payload,
            self.target,
            CompileReport(key, record, entry.metadata.get("seconds")),
            device,
            self.sites,
        )

    def _identified(self, options: CompileOptions) -> tuple[CacheKey, bytes]:
        """The key of a compile with `options`, and the text that it is made of."""
        self._attach_manifest(self.module, options)
        text = self.canonical()
        return cache_key(text, self.target, options), text

    def _attach_manifest(self, module: Any, options: CompileOptions) -> Any:
        """Let the exported function carry the manifest, for hosts that read reflection; returns `module`."""
        manifest = replace(self.manifest, flags=(*self.target.flags, *options.flags()))
        main = function(module, self.program.symbol)
        with module.context:
            main.attributes["iree.reflection"] = mlir.ir.Attribute.parse(reflection_text(manifest))
        return module

    def _build(self, text: bytes, options: CompileOptions, dump: Path | None) -> tuple[bytes, dict[str, Any]]:
        self.module.operation.verify()
        may_repeat = self.hints.is_static and may_have_equal_layers(self.module)
        is_on_gpu = self.target.kind is not TargetKind.CPU
        has_complex = b"complex<" in text
        facts = Facts(has_chains(self.module), has_complex, self.hints.is_static, may_repeat, is_on_gpu)
        tune = tuning_of(self.target, self.hints)
        try:
            built = compile_program(
                self.form,
                facts,
                self.target,
                options,
                reproducer_dir=dump,
                tune=tune,
                inline=tune or inline_layers,
            )
        except CompileError as error:
            if not has_loop_kernels(self.module) or names_missing_dtype(error, self.target):
                raise explained(error, self.program.module, self.target) from None
            return self._with_host_loops()._build_host_loops(options, dump)
        return built.vmfb, {
            "variant": built.variant,
            "rejected": [name for name, _ in built.rejected],
            "flags": [*self.target.flags, *built.options.flags()],
            "seconds": round(built.seconds, 3),
        }

    def _with_host_loops(self) -> Lowered:
        """The program lowered again, with every loop on the host."""
        module = clone_module(self.program.module)
        run_pipeline(module, for_target(PIPELINE, self.target, loop_kernels=False))
        return Lowered(replace(self._lowered, module=module))

    def _build_host_loops(self, options: CompileOptions, dump: Path | None) -> tuple[bytes, dict[str, Any]]:
        """As `_build`, of a program that IREE did not take with its loops as kernels."""
        flags = tuple(flag for flag in options.extra_flags if flag not in VECTORIZE_LOOPS)
        vmfb, metadata = self._build(self.canonical(), replace(options, extra_flags=flags), dump)
        return vmfb, {**metadata, "rejected": ["kernels of loops", *metadata["rejected"]]}

    def form(self, passes: Sequence[str], options: CompileOptions) -> bytes:
        """The module as bytecode, changed by `passes`, with the manifest of a compile with `options`."""
        module = clone_module(self.module)
        run_pipeline(module, [step for name in passes for step in parse_pipeline(name)])
        if OutlineLayers.name in passes and not has_layers(module):
            raise CompileError("the program has no equal layers")
        return bytecode(self._attach_manifest(module, options))

    def __str__(self) -> str:
        return self.mlir()

    def __repr__(self) -> str:
        return f"Lowered({signature_text(self.program)}, target={self.target})"
