"""Names of a program's functions, arrays and dimensions as identifiers of C.

Input: names as users write them in Python (`params['w'][0]`, `état`, `int`). Output: distinct identifiers, in
order. Idea: what C has no sign for becomes `_`, or its code point; words of C and C++ get a `_` behind them,
and names that would be equal get numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORDS: Final = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept
    const constexpr continue decltype default delete do double else enum explicit export extern
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register requires restrict return short signed sizeof
    static struct switch template this throw true try typedef typeid typename typeof union unsigned
    using virtual void volatile wchar_t while xor xor_eq errno stdin stdout stderr
    """.split()  # noqa: SIM905 - a list of eighty lines otherwise
)


def identifier(name: str) -> str:
    """`name` as one identifier: `params['w'][0]` is `params_w_0`, `int` is `int_`, `été` is `u00e9tu00e9`."""
    plain = "".join(c if c.isascii() else f"u{ord(c):04x}" for c in name)
    words = re.sub(r"[^A-Za-z0-9_]+", "_", plain).strip("_") or "_"
    words = re.sub(r"__+", "_", words)  # two underscores in a row are C++'s own
    if words[0].isdigit():
        words = f"n{words}"
    return f"{words}_" if words in _WORDS else words


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """An identifier for each name, all different, also from `taken` and where letters lose their case."""
    seen = {name.lower() for name in taken}
    result = []
    for name in names:
        candidate = base = identifier(name)
        number = 2
        while candidate.lower() in seen:
            candidate, number = f"{base}_{number}", number + 1
        seen.add(candidate.lower())
        result.append(candidate)
    return result
