"""What a page shows: source, stages, kernels and times, and a few facts.

Input: what the passes left. Output: nothing but this data; `page.py` and `sections.py` write it as HTML.
"""

from __future__ import annotations

from ...dialects.dataclass import dataclass
from .kernels import KernelRow
from .stages import Stages


@dataclass(frozen=True)
class Source:
    """A file of the user's: its path in locations, its name for the page, and its lines."""

    path: str
    shown: str
    lines: list[str]


@dataclass(frozen=True)
class Report:
    """Everything that a page shows; `timing` says what was measured, or why nothing was."""

    title: str
    signature: str
    about: list[tuple[str, str]]
    sources: list[Source]
    stages: Stages
    kernels: list[KernelRow]
    timing: str
