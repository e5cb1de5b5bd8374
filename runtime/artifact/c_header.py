"""A program as a header of C: what it takes and returns, and functions that call it through IREE's C API.

Input: a manifest; the program's bytes, or the path of its file. Output: the text of one header. It declares
the functions wherever it is included, and defines them in the one file that defines
`ADZE_<NAME>_IMPLEMENTATION` first, so that a program needs no library of adze. The code is C11 and C++11.

Idea: a result whose sizes follow from the arguments' is written to memory of the caller; any other one is
returned as IREE's buffer view, which knows its sizes.
"""

from __future__ import annotations

from typing import Final

from ...dialects.dataclass import dataclass
from ...dialects.types import dtype_name
from ..errors import ArtifactError
from .c_code import CLOSE, HELPERS, OPEN, cpu_checks, embedded_bytes, quoted
from .c_names import distinct, identifier
from .manifest import Manifest, Parameters
from .signature import ArraySpec, FunctionSignature

_TYPES: Final = {
    "i1": ("bool", "BOOL_8"),
    "i8": ("int8_t", "INT_8"),
    "i16": ("int16_t", "INT_16"),
    "i32": ("int32_t", "INT_32"),
    "i64": ("int64_t", "INT_64"),
    "ui8": ("uint8_t", "INT_8"),
    "ui16": ("uint16_t", "INT_16"),
    "ui32": ("uint32_t", "INT_32"),
    "ui64": ("uint64_t", "INT_64"),
    "f16": ("uint16_t", "FLOAT_16"),
    "bf16": ("uint16_t", "BFLOAT_16"),
    "f32": ("float", "FLOAT_32"),
    "f64": ("double", "FLOAT_64"),
    "complex<f32>": ("float", "COMPLEX_FLOAT_64"),
    "complex<f64>": ("double", "COMPLEX_FLOAT_128"),
}
"""For each dtype: the C type of its elements, and the name of IREE's type (programs know no signs)."""

_REMARKS: Final = {
    "f16": ", the bits of each number",
    "bf16": ", the bits of each number",
    "complex<f32>": ", pairs of a real and an imaginary part",
    "complex<f64>": ", pairs of a real and an imaginary part",
}


@dataclass(frozen=True)
class CArray:
    """An argument or result: its spec, its identifier, and whether its sizes are known before a call."""

    spec: ArraySpec
    name: str
    is_sized: bool

    @property
    def dtype(self) -> str:
        return dtype_name(self.spec.dtype)

    @property
    def c_type(self) -> str:
        return _TYPES[self.dtype][0]

    @property
    def element_type(self) -> str:
        return f"IREE_HAL_ELEMENT_TYPE_{_TYPES[self.dtype][1]}"


@dataclass(frozen=True)
class CFunction:
    """A function of a program, with the identifiers that it has in C."""

    signature: FunctionSignature
    name: str
    sizes: dict[str, str]
    inputs: list[CArray]
    outputs: list[CArray]

    def head(self, program: str) -> str:
        """How declaration and definition of the C function begin, with a line for each parameter."""
        return f"iree_status_t {self.name}({self._parameters(program)})"

    def _parameters(self, program: str) -> str:
        parts = [f"{program}_program_t* program"]
        parts += [f"int64_t {size}" for size in self.sizes.values()]
        parts += [f"const {array.c_type}* {array.name}" for array in self.inputs]
        parts += [
            f"{array.c_type}* {array.name}" if array.is_sized else f"iree_hal_buffer_view_t** {array.name}"
            for array in self.outputs
        ]
        return "".join(f"\n    {part}," for part in parts).removesuffix(",")


def c_header(manifest: Manifest, name: str, *, file: str, content: bytes | None = None) -> str:
    """The header of the program `name`, with its bytes `content`, or the path `file` of its `.vmfb`.

    Of a file for several targets IREE runs the first module. Raises `ArtifactError` for weights outside.
    """
    check_inside(manifest.parameters)
    return _c_header(manifest, name, file, content)


def check_inside(parameters: Parameters | None) -> None:
    """Raise the `ArtifactError` for a program with weights outside."""
    if parameters is not None and any(held.is_parameter for held in parameters.held):
        raise ArtifactError(
            "the program has weights outside its file, which headers for C cannot load",
            hint="keep the weights in the program: adze.Program(state, outside=False), or "
            "adze transform --weights-inside of a file that keeps its IR",
        )


def _c_header(manifest: Manifest, name: str, file: str, content: bytes | None) -> str:
    program = identifier(name)
    functions = c_functions(manifest, program)
    guard = f"ADZE_{program.upper()}_H"
    implementation = f"ADZE_{program.upper()}_IMPLEMENTATION"
    parts = [
        _opening(manifest, program, implementation, file, content),
        f"#ifndef {guard}\n#define {guard}\n",
        '#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n#include "iree/runtime/api.h"\n',
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        *([] if content is not None else [f"#define {program.upper()}_FILE {quoted(file)}\n"]),
        _declarations(program, content is not None),
        *(_function_declaration(function, program) for function in functions),
        f"#ifdef __cplusplus\n}}\n#endif\n\n#endif  // {guard}\n",
        f"#ifdef {implementation}\n#undef {implementation}\n\n#include <string.h>\n",
        *([] if content is None else [embedded_bytes(program, content)]),
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        _text(HELPERS, program),
        _open(manifest, program, content is not None),
        _text(CLOSE, program),
        *(_definition(function, program) for function in functions),
        f"#ifdef __cplusplus\n}}\n#endif\n\n#endif  // {implementation}\n",
    ]
    return "\n".join(parts)


def c_functions(manifest: Manifest, program: str) -> list[CFunction]:
    """The functions of a program with their identifiers: `<program>_call` where there is but one."""
    names = [signature.name for signature in manifest.signatures]
    calls = [f"{program}_call"] if len(names) == 1 else [f"{program}_call_{n}" for n in distinct(names)]
    return [_c_function(s, call) for s, call in zip(manifest.signatures, calls, strict=True)]


def _c_function(signature: FunctionSignature, name: str) -> CFunction:
    dims = [n for spec in signature.inputs for n in spec.shape if isinstance(n, str)]
    dims = list(dict.fromkeys(dims))
    arrays = [spec.name for spec in (*signature.inputs, *signature.outputs)]
    known = set(dims)
    anonymous = [
        f"{spec.name}_size_{axis}"
        for spec in signature.inputs
        for axis, n in enumerate(spec.shape)
        if n is None
    ]
    names = distinct([*dims, *anonymous, *arrays], taken=_OWN_NAMES)
    sizes = dict(zip([*dims, *anonymous], names, strict=False))
    named = iter(names[len(sizes) :])
    inputs = [CArray(_with_sizes(spec), next(named), True) for spec in signature.inputs]
    outputs = [
        CArray(spec, next(named), all(isinstance(n, int) or n in known for n in spec.shape))
        for spec in signature.outputs
    ]
    return CFunction(signature, name, sizes, inputs, outputs)


_OWN_NAMES: Final = ("program", "call", "status", "view", "shape", "count")


def _with_sizes(spec: ArraySpec) -> ArraySpec:
    """`spec` with a name for each size that has none, so that the caller states it."""
    shape = tuple(f"{spec.name}_size_{axis}" if n is None else n for axis, n in enumerate(spec.shape))
    return ArraySpec(spec.name, spec.dtype, shape)


def _opening(manifest: Manifest, program: str, macro: str, file: str, content: bytes | None) -> str:
    origin = "holds the program" if content is not None else f"opens {_comment(file)}"
    lines = [
        f"Written by `adze build --c-stub`; {origin}, for {manifest.target}.",
        "",
        *(_comment(str(signature)) for signature in manifest.signatures),
        "",
        "Define this macro in one C or C++ file before you include the header there:",
        f"#define {macro}",
    ]
    return "\n".join(f"// {line}".rstrip() for line in lines) + "\n"


def _declarations(program: str, embeds: bool) -> str:
    path = (
        "`path` may be NULL: the program is in the header"
        if embeds
        else (f"`path` may be NULL for {program.upper()}_FILE")
    )
    return f"""\
// The program, loaded on a device. Calls of one are made by one thread at a time.
typedef struct {program}_program_t {{
  iree_runtime_instance_t* instance;
  iree_runtime_session_t* session;
}} {program}_program_t;

// Loads the program; {path}. `device` is a driver of IREE's
// (local-sync, local-task, vulkan, cuda), or NULL for one that the program was built for. Close the program
// also when this fails.
iree_status_t {program}_open(const char* path, const char* device, {program}_program_t* program);
void {program}_close({program}_program_t* program);
"""


def _function_declaration(function: CFunction, program: str) -> str:
    prefix = function.name.removesuffix("_call").replace("_call_", "_").upper()
    macros = [
        f"#define {prefix}_{array.name.upper()}_COUNT"
        f"{_macro_arguments(array, function)} {_count(array, function)}"
        for array in (*function.inputs, *function.outputs)
        if array.is_sized
    ]
    lines = [f"// {_comment(str(function.signature))}"]
    for kind, arrays in (("in", function.inputs), ("out", function.outputs)):
        for array in arrays:
            known = "" if array.is_sized else "; release it with iree_hal_buffer_view_release"
            remark = _REMARKS.get(array.dtype, "") + known
            lines.append(f"//   {kind:3} {array.name}: {_comment(array.spec.type_text)}{remark}")
    return "\n".join([*lines, *macros, f"{function.head(program)};"]) + "\n"


def _macro_arguments(array: CArray, function: CFunction) -> str:
    names = list(dict.fromkeys(function.sizes[n] for n in array.spec.shape if isinstance(n, str)))
    return f"({', '.join(names)})" if names else ""


def _count(array: CArray, function: CFunction) -> str:
    """How many elements of its type of C an array has, as an expression."""
    dims = [
        f"(size_t)({function.sizes[n]})" if isinstance(n, str) else f"(size_t){n}" for n in array.spec.shape
    ]
    if array.dtype.startswith("complex"):
        dims.append("(size_t)2")
    return f"({' * '.join(dims) or '(size_t)1'})"


def _open(manifest: Manifest, program: str, embeds: bool) -> str:
    kind = manifest.target.partition(":")[0]
    device = {"cpu": "local-sync"}.get(kind, kind)
    load = "_load_embedded" if embeds else "_load_file"
    text = OPEN.replace("@LOAD@", f"{program}{load}").replace("@DEVICE@", device)
    text = text.replace("@FILE@", f"{program.upper()}_FILE" if not embeds else "NULL")
    return _text(text.replace("@CHECKS@", cpu_checks(manifest)), program)


def _definition(function: CFunction, program: str) -> str:
    lines = [f"{function.head(program)} {{"]
    lines += [f"  *{array.name} = NULL;" for array in function.outputs if not array.is_sized]
    exported = quoted(f"module.{function.signature.name}")
    lines += _checks_of_sizes(function)
    lines += [
        "  iree_runtime_call_t call;",
        f"  iree_status_t status = {program}_begin(program, {exported}, &call);",
        "  if (!iree_status_is_ok(status)) return status;",
    ]
    for array in function.inputs:
        arguments = f"&call, {_shape(array, function)}, {array.element_type}, {_element_bytes(array)}"
        push = f"status = {program}_push({arguments}, {array.name});"
        lines += [f"  {_shape_declaration(array, function)}", f"  if (iree_status_is_ok(status)) {push}"]
    lines.append("  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, 0);")
    for array in function.outputs:
        if array.is_sized:
            arguments = f"&call, {_shape(array, function)}, {_element_bytes(array)}"
            pop = f"status = {program}_pop({arguments}, {array.name});"
            lines += [f"  {_shape_declaration(array, function)}"]
        else:
            pop = f"status = iree_runtime_call_outputs_pop_front_buffer_view(&call, {array.name});"
        lines.append(f"  if (iree_status_is_ok(status)) {pop}")
    lines += _released(function)
    return "\n".join([*lines, "  iree_runtime_call_deinitialize(&call);", "  return status;", "}\n"])


def _checks_of_sizes(function: CFunction) -> list[str]:
    """Statements that return an error for a size outside the bounds that its name has."""
    lines = []
    for name, bounds in function.signature.bounds.items():
        size = function.sizes.get(name)
        if size is None:
            continue
        most = "" if bounds.most is None else f" || {size} > {bounds.most}"
        wrong = f"{size} < {bounds.least}{most} || {size} % {bounds.multiple_of} != 0"
        told = quoted(f"size {name} is not one of {bounds}".replace("%", "%%"))
        lines.append(f"  if ({wrong}) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, {told});")
    return lines


def _released(function: CFunction) -> list[str]:
    """After an error the caller gets no view."""
    lines = []
    for array in function.outputs:
        if not array.is_sized:
            lines += [
                f"  if (!iree_status_is_ok(status)) {{ iree_hal_buffer_view_release(*{array.name}); "
                f"*{array.name} = NULL; }}"
            ]
    return lines


def _shape_declaration(array: CArray, function: CFunction) -> str:
    sizes = [function.sizes[n] if isinstance(n, str) else str(n) for n in array.spec.shape]
    return f"const int64_t {array.name}_shape[] = {{{', '.join(sizes) or '0'}}};"


def _shape(array: CArray, function: CFunction) -> str:
    return f"{len(array.spec.shape)}, {array.name}_shape"


def _element_bytes(array: CArray) -> int:
    return array.spec.dtype.itemsize


def _comment(text: str) -> str:
    """`text` where a comment of one line may hold it."""
    return " ".join(text.split()).rstrip("\\")


def _text(template: str, program: str) -> str:
    return template.replace("@NAME@", program)
