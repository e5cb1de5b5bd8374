"""The table of what the code of each program is at least and at most.

Input: a program. Output: its row: counts of its PTX, and what ptxas says of it for each architecture. The
table, `ptx.json`, is a ratchet: `python -m tests.gpu.refresh` writes it again, and its diff is looked at.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import adze
from adze.runtime.artifact.device_code.kernels import gpu_kernels, ptx_of
from adze.runtime.measure.ptxas import assemble

from .programs import Program

TABLE: Final = Path(__file__).with_name("ptx.json")
ARCHITECTURES: Final = ("sm_80", "sm_90", "sm_100")
COMPILED_FOR: Final = "cuda:sm_80"
AT_LEAST: Final = ("matrix_products", "fused_multiply_adds", "wide_loads")
OF_A_KERNEL: Final = ("shared_bytes", "stack_bytes")
AT_MOST: Final = ("kernels", "global_loads", *OF_A_KERNEL)
REGISTERS: Final = 8
"""An assembler of another release may take so many registers more."""


def module_of(program: Program) -> bytes:
    """The program compiled for CUDA."""
    return adze.trace(program.function, *program.specs).lower(COMPILED_FOR).compile().vmfb


def counts_of(module: bytes) -> dict[str, int]:
    """The counts of all kernels of a module: sums, and of memory the most that one has."""
    kernels = gpu_kernels(module)
    return {
        "kernels": len(kernels),
        "global_loads": sum(text.count("ld.global") for text in ptx_of(module)),
        **{name: sum(getattr(kernel, name) for kernel in kernels) for name in AT_LEAST},
        **{name: max((getattr(kernel, name) for kernel in kernels), default=0) for name in OF_A_KERNEL},
    }


def assembled_row(module: bytes) -> dict[str, dict[str, int]]:
    """For each architecture the most registers of a kernel, and all bytes that are spilled."""
    rows = {}
    for architecture in ARCHITECTURES:
        kernels = [kernel for text in ptx_of(module) for kernel in assemble(text, architecture)]
        rows[architecture] = {
            "registers": max((kernel.registers for kernel in kernels), default=0),
            "spilled_bytes": sum(kernel.spilled_bytes for kernel in kernels),
        }
    return rows


def read_table() -> dict[str, Any]:
    """The rows as they are checked in, by the name of the program."""
    return dict(json.loads(TABLE.read_text())["programs"])


def worse_counts(row: dict[str, Any], counts: dict[str, int]) -> list[str]:
    """What of the code is less than the table promises, or more than it allows."""
    less = [f"{name}: {counts[name]}, at least {row[name]}" for name in AT_LEAST if counts[name] < row[name]]
    more = [f"{name}: {counts[name]}, at most {row[name]}" for name in AT_MOST if counts[name] > row[name]]
    return less + more


def worse_code(row: dict[str, Any], assembled: dict[str, dict[str, int]]) -> list[str]:
    """As `worse_counts`, of what the assembler says."""
    return [
        f"{architecture}: {found}, at most {row[architecture]}"
        for architecture, found in assembled.items()
        if found["registers"] > row[architecture]["registers"] + REGISTERS
        or found["spilled_bytes"] > row[architecture]["spilled_bytes"]
    ]
