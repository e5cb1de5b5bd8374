"""What the code objects of AMD's GPUs say of their kernels.

Input: the bytes of a code object. Output: for each kernel the instructions that decide its speed, counted as
in PTX, and registers and spills, which its notes state. Idea: an instruction begins with a word whose highest
bits say what it is, how long it is, and where its number stands ("CDNA3" and "RDNA3 Instruction Set
Architecture" of AMD, sections on microcode formats; RDNA4's likewise).
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ....dialects.dataclass import dataclass
from ...errors import ArtifactError
from .code_objects import AmdKernel, kernels_of
from .counts import KernelCounts

_LITERAL: Final = 255
"""The operand that stands for the word behind the instruction."""
_REGISTER_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class _Form:
    """A format of instructions: its name, the highest bits of its first word and how many these are, its
    length in words, and the lowest bit of the instruction's number and how many bits that has."""

    name: str
    prefix: int
    bits: int
    words: int
    number: tuple[int, int] = (0, 0)


_COMMON: Final = (
    _Form("SOPP", 0b101111111, 9, 1, (16, 7)),
    _Form("SOPC", 0b101111110, 9, 1, (16, 7)),
    _Form("SOP1", 0b101111101, 9, 1, (8, 8)),
    _Form("SOPK", 0b1011, 4, 1, (23, 5)),
    _Form("SOP2", 0b10, 2, 1, (23, 7)),
    _Form("VOPC", 0b0111110, 7, 1, (17, 8)),
    _Form("VOP1", 0b0111111, 7, 1, (9, 8)),
    _Form("VOP2", 0b0, 1, 1, (25, 6)),
    _Form("DS", 0b110110, 6, 2, (17, 8)),
)
"""Tried in this order."""
_FORMS: Final = {
    9: (
        _Form("VOP3P", 0b110100111, 9, 2, (16, 7)),
        _Form("VOP3", 0b110100, 6, 2, (16, 10)),
        _Form("VINTRP", 0b110101, 6, 1),
        _Form("SMEM", 0b110000, 6, 2),
        _Form("EXP", 0b110001, 6, 2),
        _Form("FLAT", 0b110111, 6, 2, (18, 7)),
        _Form("MUBUF", 0b111000, 6, 2, (18, 7)),
        _Form("MTBUF", 0b111010, 6, 2),
        _Form("MIMG", 0b111100, 6, 2),
        *_COMMON,
    ),
    11: (
        _Form("VOP3P", 0b11001100, 8, 2, (16, 7)),
        _Form("VINTERP", 0b11001101, 8, 2),
        _Form("LDSDIR", 0b11001110, 8, 1),
        _Form("VOPD", 0b110010, 6, 2),
        _Form("VOP3", 0b110101, 6, 2, (16, 10)),
        _Form("SMEM", 0b111101, 6, 2),
        _Form("EXP", 0b111110, 6, 2),
        _Form("FLAT", 0b110111, 6, 2, (18, 7)),
        _Form("MUBUF", 0b111000, 6, 2, (18, 8)),
        _Form("MTBUF", 0b111010, 6, 2),
        _Form("MIMG", 0b111100, 6, 2),
        *_COMMON,
    ),
    12: (
        _Form("VOP3P", 0b11001100, 8, 2, (16, 7)),
        _Form("VINTERP", 0b11001101, 8, 2),
        _Form("LDSDIR", 0b11001110, 8, 1),
        _Form("VOPD", 0b110010, 6, 2),
        _Form("VOP3", 0b110101, 6, 2, (16, 10)),
        _Form("SMEM", 0b111101, 6, 2),
        _Form("EXP", 0b111110, 6, 2),
        _Form("FLAT", 0b111011, 6, 3, (14, 7)),
        _Form("MUBUF", 0b110001, 6, 3, (14, 8)),
        _Form("VIMAGE", 0b110100, 6, 3),
        _Form("VSAMPLE", 0b111001, 6, 3),
        *_COMMON,
    ),
}
"""By the first digits of an architecture: CDNA is 9, RDNA3 11, RDNA4 12."""

_SEGMENT: Final = {9: 14, 11: 16, 12: 24}  # of FLAT: the lowest of two bits; 1 is scratch
_SET_REGISTER: Final = {9: 20, 11: 19, 12: 19}  # of SOPK: s_setreg_imm32_b32, which has a literal
_SCALAR_LITERALS: Final = {9: (), 11: (), 12: (69, 70)}  # of SOP2: s_fmaak_f32, s_fmamk_f32
_VECTOR_LITERALS: Final = {9: (23, 24, 36, 37), 11: (44, 45, 55, 56), 12: (44, 45, 55, 56)}  # of VOP2
_EXTENDED: Final = {9: (249, 250), 11: (233, 234, 250), 12: (233, 234, 250)}  # SDWA and DPP: one more word
_BARRIER: Final = {9: 10, 11: 61, 12: 20}  # of SOPP
_FMA: Final = {
    9: {
        "VOP2": (4, 23, 24, 59, 60),
        "VOP3": (0x104, 0x13B, 0x1C1, 0x1CB, 0x1CC, 0x206),
        "VOP3P": (14, 32, 33, 34, 48),
    },
    11: {
        "VOP2": (43, 44, 45, 54, 55, 56, 60),
        "VOP3": (0x12B, 0x136, 0x213, 0x214, 0x248),
        "VOP3P": (14, 32, 33, 34),
    },
}
_FMA[12] = _FMA[11]
_LOADS: Final = range(16, 24), range(21, 24)  # of FLAT and MUBUF: all, and those of several words
_STORES: Final = {9: (range(24, 32), range(29, 32))} | dict.fromkeys((11, 12), (range(24, 30), range(27, 30)))
_HALF_LOADS: Final = {9: range(32, 38)} | dict.fromkeys((11, 12), range(30, 36))
_HALF_STORES: Final = {9: range(0)} | dict.fromkeys((11, 12), range(36, 38))
_DUAL_FMA: Final = (0, 1, 2)  # of VOPD: fmac, fmaak, fmamk


def amd_counts(code_object: bytes) -> list[KernelCounts]:
    """The counts of each kernel of a code object. Raises `ArtifactError` where the bytes are none."""
    try:
        return [_kernel(kernel) for kernel in kernels_of(code_object)]
    except (ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"the code object is damaged: {error}") from error


def _kernel(kernel: AmdKernel) -> KernelCounts:
    counts = _counted(kernel.code, _generation(kernel.architecture))
    note = kernel.note
    spilled = int(note.get(".vgpr_spill_count", 0)) + int(note.get(".sgpr_spill_count", 0))
    threads = note.get(".reqd_workgroup_size") or ()
    return KernelCounts(
        name=kernel.name,
        code="amdgpu",
        target=kernel.architecture,
        threads=tuple(int(n) for n in threads),
        shared_bytes=int(note.get(".group_segment_fixed_size", 0)),
        stack_bytes=int(note.get(".private_segment_fixed_size", 0)),
        **{name: counts[name] for name in _COUNTED},
        matrix_loads=0,
        registers=int(note.get(".vgpr_count", 0)) + int(note.get(".agpr_count", 0)),
        spilled_bytes=spilled * _REGISTER_BYTES,
    )


_COUNTED: Final = (
    "matrix_products",
    "fused_multiply_adds",
    "loads",
    "wide_loads",
    "stores",
    "wide_stores",
    "async_copies",
    "barriers",
    "instructions",
)


def _generation(architecture: str) -> int:
    found = re.fullmatch(r"gfx(9|11|12)\w\w", architecture)
    if found is None:
        raise ValueError(f"code for {architecture or 'a GPU without a name'}: expected gfx9, gfx11 or gfx12")
    return int(found[1])


def _counted(code: bytes, generation: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for form, number, word in _instructions(code, generation):
        counts["instructions"] += (form, number) != (
            "SOPP",
            0,
        )  # s_nop, which also fills the room before a loop
        counts["barriers"] += form == "SOPP" and number == _BARRIER[generation]
        counts["fused_multiply_adds"] += number in _FMA[generation].get(form, ())
        if form == "VOP3P":
            counts["matrix_products"] += _is_of_matrices(number, generation)
        elif form == "VOPD":
            halves = word >> 22 & 15, word >> 17 & 31
            counts["fused_multiply_adds"] += sum(half in _DUAL_FMA for half in halves)
        elif form == "MUBUF" or (form == "FLAT" and word >> _SEGMENT[generation] & 3 != 1):
            _count_memory(counts, number, generation)
            # CDNA's loads of words to the memory of the workgroup
            counts["async_copies"] += generation == 9 and form == "MUBUF" and bool(word >> 16 & 1)
    return counts


def _is_of_matrices(number: int, generation: int) -> bool:
    """Whether an instruction of packed operands is one of the matrix units: v_mfma and v_smfmac, v_wmma and
    v_swmmac. 88 and 89 move a register of the matrix units."""
    return (number >= 64 and number not in (88, 89)) if generation == 9 else 64 <= number < 96


def _count_memory(counts: Counter[str], number: int, generation: int) -> None:
    stores, wide_stores = _STORES[generation]
    counts["loads"] += number in _LOADS[0] or number in _HALF_LOADS[generation]
    counts["wide_loads"] += number in _LOADS[1]
    counts["stores"] += number in stores or number in _HALF_STORES[generation]
    counts["wide_stores"] += number in wide_stores


def _instructions(code: bytes, generation: int) -> Iterator[tuple[str, int, int]]:
    """Form, number and first word of each instruction.

    Raises ValueError where a word begins no instruction that is known, or the last one is cut off.
    """
    words = struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4])
    at = 0
    while at < len(words):
        word, second = words[at], words[at + 1] if at + 1 < len(words) else 0
        form = next((f for f in _FORMS[generation] if word >> (32 - f.bits) == f.prefix), None)
        if form is None:
            raise ValueError(f"the word {word:#010x} at {4 * at} begins no instruction")
        low, bits = form.number
        number = word >> low & ((1 << bits) - 1)
        at += form.words + _further_words(form.name, number, word, second, generation)
        if at > len(words):
            raise ValueError(f"the last instruction, {word:#010x}, is cut off")
        yield form.name, number, word


def _further_words(form: str, number: int, word: int, second: int, generation: int) -> int:
    """How many words a literal or an extension adds to an instruction."""
    low, source = word & 255, word & 511
    if form == "SOP2":
        has_literal = _LITERAL in (low, word >> 8 & 255) or number in _SCALAR_LITERALS[generation]
    elif form == "SOPC":
        has_literal = _LITERAL in (low, word >> 8 & 255)
    elif form == "SOP1":
        has_literal = low == _LITERAL
    elif form == "SOPK":
        has_literal = number == _SET_REGISTER[generation]
    elif form in ("VOP1", "VOPC", "VOP2"):
        has_literal = source == _LITERAL or source in _EXTENDED[generation]
        has_literal |= form == "VOP2" and number in _VECTOR_LITERALS[generation]
    elif form in ("VOP3", "VOP3P") and generation > 9:
        sources = second & 511, second >> 9 & 511, second >> 18 & 511
        has_literal = _LITERAL in sources or (form == "VOP3" and sources[0] in _EXTENDED[generation])
    elif form == "VOPD":
        halves = word >> 22 & 15, word >> 17 & 31
        has_literal = _LITERAL in (source, second & 511) or any(half in (1, 2) for half in halves)
    else:
        has_literal = False
    return int(has_literal)
