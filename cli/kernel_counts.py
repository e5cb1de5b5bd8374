"""`adze inspect --kernels`: what the code of each kernel of a .vmfb consists of.

Input: a file. Output: a row a kernel. Nothing is run: PTX, SPIR-V, AMD's machine code and Metal's source are
counted, and PTX is assembled for its own architecture where ptxas is installed. Of code for processors the
names are all there is.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from .reporting import print_json, print_rows, print_text

_SHOWN: Final = {
    "matrix_products": "matrix products",
    "fused_multiply_adds": "fma",
    "wide_loads": "wide loads",
    "loads": "loads",
    "wide_stores": "wide stores",
    "stores": "stores",
    "async_copies": "async copies",
    "matrix_loads": "matrix loads",
    "barriers": "barriers",
    "instructions": "instructions",
    "shared_bytes": "bytes shared",
    "stack_bytes": "bytes of stack",
    "registers": "registers",
    "spilled_bytes": "bytes spilled",
}
_ALWAYS: Final = (
    "matrix_products",
    "fused_multiply_adds",
    "loads",
    "instructions",
    "registers",
    "spilled_bytes",
)


def show_kernels(path: Path, as_json: bool) -> None:
    """Print the kernels of a file, for each of its variants."""
    rows = kernel_rows(path)
    if as_json:
        print_json(rows)
        return
    for target, kernels in rows.items():
        print_text(target)
        print_rows([(f"  {row['name']}", _facts(row)) for row in kernels])


def kernel_rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    """For each target of a file its kernels, with what is counted in their code."""
    from ..runtime.artifact.artifact import read

    contents = read(path)
    manifest = contents.manifest
    if not manifest.variants:
        return {manifest.target: _rows_of(contents.module)}
    return {variant.target: _rows_of(contents.module_of(variant)) for variant in manifest.variants}


def _rows_of(module: bytes) -> list[dict[str, Any]]:
    from ..runtime.artifact.device_code.kernels import gpu_kernels, ptx_of
    from ..runtime.artifact.variants import kernels_of
    from ..runtime.measure.ptxas import assemble, ptxas

    kernels = gpu_kernels(module)
    if not kernels:
        return [{"name": name} for name in kernels_of(module)]
    rows = [
        {name: value for name, value in asdict(kernel).items() if value is not None} for kernel in kernels
    ]
    texts = ptx_of(module) if ptxas() else []
    assembled = {found.name: found for text in texts for found in assemble(text, rows[0]["target"])}
    for row in rows:
        if row["name"] in assembled:
            found = assembled[row["name"]]
            row |= {"registers": found.registers, "spilled_bytes": found.spilled_bytes}
    return rows


def _facts(row: dict[str, Any]) -> str:
    if "code" not in row:
        return "code for a processor"
    counts = [
        f"{row[name]} {text}"
        for name, text in _SHOWN.items()
        if row.get(name) or (name in _ALWAYS and name in row)
    ]
    threads = "x".join(map(str, row["threads"])) or "?"
    return f"{row['target']}, {threads} threads: {', '.join(counts)}"
