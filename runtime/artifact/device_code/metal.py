"""What the source of kernels for Apple's GPUs says of them.

Input: a text in Metal's shading language, as IREE has SPIRV-Cross write it. Output: for each kernel what
decides its speed, counted as in PTX. Apple's driver compiles it: its registers are not known.
"""

from __future__ import annotations

import re
from typing import Final

from .counts import KernelCounts

SOURCE: Final = re.compile(rb"#include <metal_stdlib>[^\0]*")
_KERNEL: Final = re.compile(r"^kernel void (\w+)\(.*?\)\n\{\n(.*?)^\}", re.M | re.S)
_STRUCT: Final = re.compile(r"^struct (\w+)\n\{\n\s+(\w+) \w+\[1\];\n\};", re.M)
_ARRAY: Final = re.compile(r"^\s+(?:const )?device (\w+)\* (\w+) \[\[", re.M)
_STORE: Final = re.compile(r"^\s*\(\*\w+\.(\w+)\)\.\w+\[.*?\](?:\.\w+)? = ", re.M)
_ACCESS: Final = re.compile(r"\(\*\w+\.(\w+)\)\.\w+\[")
_SHARED: Final = re.compile(r"threadgroup (?:spvUnsafeArray<)?(\w+?)(\d?)(?:, (\d+)>)? \w+(?:\[(\d+)\])?;")
_BYTES: Final = {"char": 1, "uchar": 1, "bool": 1, "half": 2, "short": 2, "ushort": 2, "long": 8, "ulong": 8}


def metal_counts(source: str) -> list[KernelCounts]:
    """The counts of each kernel of a source."""
    vectors = {name for name, element in _STRUCT.findall(source) if element[-1] in "234"}
    arrays = {name for struct, name in _ARRAY.findall(source) if struct in vectors}
    return [_kernel(name, body, arrays) for name, body in _KERNEL.findall(source)]


def _kernel(name: str, body: str, vectors: set[str]) -> KernelCounts:
    stores = _STORE.findall(body)
    loads = _ACCESS.findall(_STORE.sub("", body))
    return KernelCounts(
        name=name,
        code="metal",
        target="metal",
        threads=(),
        shared_bytes=sum(_shared_bytes(*found) for found in _SHARED.findall(body)),
        stack_bytes=0,
        matrix_products=body.count("simdgroup_multiply_accumulate("),
        fused_multiply_adds=len(re.findall(r"\bfma\(", body)),
        loads=len(loads),
        wide_loads=sum(array in vectors for array in loads),
        stores=len(stores),
        wide_stores=sum(array in vectors for array in stores),
        async_copies=0,
        matrix_loads=body.count("simdgroup_load("),
        barriers=body.count("threadgroup_barrier("),
        instructions=body.count(";\n"),
    )


def _shared_bytes(element: str, width: str, of_class: str, of_array: str) -> int:
    return _BYTES.get(element, 4) * int(width or 1) * int(of_class or of_array or 1)
