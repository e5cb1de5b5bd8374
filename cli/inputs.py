"""The arrays that `adze run --in` names: `.npy` files, and numbers written on the command line.

No value is changed on its way into the program. A file states its dtype, which must be the input's; numbers
state none and become the input's dtype, where that holds them. Everything else is bad usage (exit code 2)
that names the input, the place in the nested lists, the value, the dtype and the way out.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import readable_file
from .reporting import BadUsage, counted

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.artifact.signature import ArraySpec, FunctionSignature

_NAMED = re.compile(r"([A-Za-z_][\w.\[\]'\"]*)=(.+)", re.DOTALL)
_NOT_FINITE = ("nan", "inf", "-inf")  # how `adze run --json` writes them


def read_inputs(texts: list[tuple[str, ArraySpec]], signature: FunctionSignature) -> list[np.ndarray]:
    """The arrays that `texts`, one an input in the function's order, name or write."""
    from ..runtime.artifact.signature import check_arguments
    from ..runtime.errors import CallError

    arrays = [read_array(text, spec) for text, spec in texts]
    try:
        check_arguments(signature, [(array.shape, array.dtype) for array in arrays])
    except CallError as error:
        raise BadUsage(f"--in: {error.message}", hint=error.hint) from None
    return arrays


def pair_inputs(texts: list[str], signature: FunctionSignature) -> list[tuple[str, ArraySpec]]:
    """Each input of the function with the text that gives it, in the function's order."""
    given: dict[str, str] = {}
    in_order: list[str] = []
    names = [spec.name for spec in signature.inputs]
    by_path = {dotted(name): name for name in names}
    for text in texts:
        match = _NAMED.fullmatch(text)
        if match is None:
            in_order.append(text)
            continue
        name = by_path.get(dotted(match[1]))
        if name is None:
            raise BadUsage(f"--in: there is no input {match[1]!r}", hint=f"the function is {signature}")
        if name in given:
            raise BadUsage(f"--in: {match[1]!r} is given twice")
        given[name] = match[2]
    unnamed = [name for name in names if name not in given]
    if len(in_order) != len(unnamed):
        raise BadUsage(
            f"--in: {signature.name} takes {counted(len(names), 'input')}, and {len(texts)} "
            f"{'was' if len(texts) == 1 else 'were'} given",
            hint=f"the function is {signature}",
        )
    given.update(zip(unnamed, in_order, strict=True))
    return [(given[spec.name], spec) for spec in signature.inputs]


def dotted(name: str) -> str:
    """`params['w'][0]` as `params.w.0`, the way `adze build` takes the leaves of an argument."""
    return re.sub(r"\[['\"]?(.*?)['\"]?\]", r".\1", name)


def read_array(text: str, spec: ArraySpec) -> np.ndarray:
    """The array in the file that `text` names, or the numbers that it writes, in the dtype of `spec`."""
    try:
        if text and Path(text).exists():
            return read_file(Path(text), spec)
    except (OSError, ValueError):
        pass  # numbers make names that no file can have: too long, or with a zero byte
    try:
        parsed = json.loads(text, parse_float=_Decimal, parse_constant=_Decimal)
    except (ValueError, RecursionError):
        raise BadUsage(
            f"--in: {shortened(text)} for {spec} is neither a file nor numbers",
            hint="name a .npy file, or write numbers such as 3.5 or [[1, 2], [3, 4]]",
        ) from None
    return _Numbers(spec).array(parsed)


def read_file(path: Path, spec: ArraySpec) -> np.ndarray:
    """The array in a .npy file of the dtype of `spec`; a file of another byte order is the same to us."""
    import numpy as np

    readable_file(path, "--in")
    try:
        with path.open("rb") as file:
            array = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile, MemoryError, SyntaxError) as error:
        raise BadUsage(f"--in: {path} is not a .npy file: {error}") from None
    if not isinstance(array, np.ndarray):
        raise BadUsage(f"--in: {path} holds several arrays: expected one .npy file an input")
    if spec.dtype.name == "bfloat16" and array.dtype == np.dtype("V2"):
        array = array.view(spec.dtype)  # NumPy's format has no word for it: its two bytes come back as such
    if array.dtype.newbyteorder("=") != spec.dtype:
        raise BadUsage(
            f"--in: {path} holds {array.dtype.name}{list(array.shape)} for {spec}: a file is never converted",
            hint=f"write one of that dtype: np.save(file, array.astype({spec.dtype.name!r}))",
        )
    return array.astype(spec.dtype, copy=False)


class _Decimal(float):
    """A number written with a point, an exponent or as a word, which remembers its text."""

    text: str

    def __new__(cls, text: str) -> _Decimal:
        number = super().__new__(cls, text)
        number.text = text
        return number


class _Numbers:
    """Nested lists of numbers as an array of `spec`; every error names the place in the lists."""

    def __init__(self, spec: ArraySpec) -> None:
        import numpy as np

        self.spec = spec
        self.kind = "f" if spec.dtype.name == "bfloat16" else spec.dtype.kind
        self.part = np.empty(0, spec.dtype).real.dtype if self.kind == "c" else spec.dtype

    def array(self, parsed: Any) -> np.ndarray:
        import numpy as np

        if self.kind == "c":
            return self._complex(parsed)
        shape = self._shape(parsed)
        flat = [self._number(value, place) for place, value in _leaves(parsed)]
        return np.array(flat, dtype=self.spec.dtype).reshape(self._completed(shape))

    def _complex(self, parsed: Any) -> np.ndarray:
        """Complex numbers are pairs [real, imaginary], as `adze run --json` writes them."""
        import numpy as np

        shape = self._shape(parsed)
        if 0 not in shape and (len(shape) != len(self.spec.shape) + 1 or shape[-1] != 2):
            place, value = next(iter(_leaves(parsed)))
            raise self.problem(
                place[: len(self.spec.shape)],
                f"{_text(value)} is no complex number",
                "write each as a pair [real, imaginary], such as [1.5, -2]",
            )
        flat = [self._number(value, place) for place, value in _leaves(parsed)]
        parts = np.array(flat, dtype=self.part).reshape(-1, 2)
        return parts.view(self.spec.dtype).reshape(self._completed(shape[: len(self.spec.shape)]))

    def _shape(self, parsed: Any) -> tuple[int, ...]:
        """The shape of the nested lists, which must be a full box."""
        shape: list[int] = []
        inner = parsed
        while isinstance(inner, list):
            shape.append(len(inner))
            if not inner:
                break
            inner = inner[0]
        self._check_box(parsed, tuple(shape), ())
        return tuple(shape)

    def _check_box(self, value: Any, shape: tuple[int, ...], place: tuple[int, ...]) -> None:
        if not shape:
            if isinstance(value, list):
                raise self.problem(place, "is a list where others are numbers", "write lists of one shape")
            return
        if not isinstance(value, list):
            raise self.problem(
                place, f"{_text(value)} stands where others are lists", "write lists of one shape"
            )
        if len(value) != shape[0]:
            raise self.problem(
                place, f"has {len(value)} entries where others have {shape[0]}", "write lists of one shape"
            )
        for index, entry in enumerate(value):
            self._check_box(entry, shape[1:], (*place, index))

    def _completed(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """`[]` says nothing of the axes behind its own: they are the input's, where those are known."""
        behind = self.spec.shape[len(shape) :]
        if 0 not in shape or not all(isinstance(n, int) for n in behind):
            return shape
        return (*shape, *(n for n in behind if isinstance(n, int)))

    def _number(self, value: Any, place: tuple[int, ...]) -> Any:
        """One number in the dtype of the input, or the error for one that it does not hold."""
        if self.kind == "b":
            if not isinstance(value, bool):
                raise self.problem(place, f"{_text(value)} is no bool", "write true or false")
            return value
        if isinstance(value, str) and value in _NOT_FINITE and self.kind not in "iu":
            return float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.problem(place, f"{_text(value)} is no number", "write numbers such as 3 or 3.5")
        return self._integer(value, place) if self.kind in "iu" else self._float(value, place)

    def _integer(self, value: int | float, place: tuple[int, ...]) -> int:
        import numpy as np

        if isinstance(value, float):
            hint = "write an integer, or build the program for a float input"
            raise self.problem(place, f"{_text(value)} is no integer", hint)
        info = np.iinfo(self.part)
        if not info.min <= value <= info.max:
            raise self.problem(
                place,
                f"{_text(value)} is out of range for {self.part.name} ({info.min} to {info.max})",
                "give a value in that range, or build the program for a wider dtype",
            )
        return value

    def _float(self, value: int | float, place: tuple[int, ...]) -> Any:
        import numpy as np

        try:
            wide = float(value)
        except OverflowError:
            wide = math.inf
        with np.errstate(over="ignore", under="ignore"):
            number = np.array(wide).astype(self.part)
        rounded = float(number)
        named = isinstance(value, _Decimal) and value.text.strip("-") in ("NaN", "Infinity")
        wider = "give a value in its range, or build the program for a wider dtype"
        if math.isinf(rounded) and not named:
            raise self.problem(place, f"{_text(value)} is out of range for {self.part.name}", wider)
        if rounded == 0 and _is_nonzero(value):
            raise self.problem(place, f"{_text(value)} is too near 0 for {self.part.name}", wider)
        if isinstance(value, int) and int(rounded) != value:
            raise self.problem(
                place,
                f"{_text(value)} is no {self.part.name}: the nearest is {int(rounded)}",
                f"write {value}.0 to have it rounded",
            )
        return number

    def problem(self, place: tuple[int, ...], what: str, hint: str) -> BadUsage:
        """The bad usage of `--in` at `place`: input, position, what is wrong there, dtype, way out."""
        position = "".join(f"[{index}]" for index in place)
        return BadUsage(f"--in: {self.spec}: {position + ' ' if position else ''}{what}", hint=hint)


def _leaves(parsed: Any, place: tuple[int, ...] = ()) -> Any:
    """The numbers in nested lists, each with its position."""
    if not isinstance(parsed, list):
        yield place, parsed
        return
    for index, entry in enumerate(parsed):
        yield from _leaves(entry, (*place, index))


def _is_nonzero(value: int | float) -> bool:
    """Whether the number as written is not 0: Python itself reads 1e-400 as 0."""
    if not isinstance(value, _Decimal):
        return value != 0
    return any(digit in "123456789" for digit in re.split("[eE]", value.text)[0])


def _text(value: Any) -> str:
    """A parsed value as it was written."""
    return shortened(value.text if isinstance(value, _Decimal) else json.dumps(value), quoted=False)


def shortened(text: str, *, quoted: bool = True) -> str:
    """`text` for a message: in one line, and cut where it is long."""
    cut = text if len(text) <= 60 else f"{text[:57]}..."
    return repr(cut) if quoted else cut
