"""What a manifest must look like, field by field, before anything is made of it.

A manifest may come from anywhere: its checksum guards against damage and not against another writer. Every
field is checked here for its type and its legal values, so that whoever reads a `Manifest` need not; what is
wrong is an `ArtifactError` that names the place, such as `functions[0].inputs[1].dtype`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, Final

from ...dialects.errors import AdzeError
from ...dialects.symbolic_sizes import is_size_text
from ...dialects.types import TensorType, dtype_from_name, require_possible
from ..errors import ArtifactError

Json = Any
Check = Callable[[Json, str], None]


def check_manifest(data: Json) -> Json:
    """The manifest in the newest format; raise the ArtifactError for what is none that this adze reads."""
    if data["format_version"] == 1:
        data = _upgraded(data)
    _MANIFEST(data, "")
    names = [function["name"] for function in data["functions"]]
    _require(bool(names), "functions", data["functions"], "at least one function")
    _require(len(set(names)) == len(names), "functions", names, "functions of different names")
    for index, function in enumerate(data["functions"]):
        for number, each in enumerate(function["specializations"]):
            where = f"functions[{index}].specializations[{number}].function"
            _require(each["function"] in names, where, each["function"], "the name of a function")
    variants = data["variants"]
    if variants:
        first = {name: variants[0][name] for name in _OF_A_VARIANT}
        stated = {name: data[name] for name in _OF_A_VARIANT}
        _require(first == stated, "variants[0]", first, "what the manifest states of the first module")
    return data


_OF_A_VARIANT: Final = ("target", "architecture", "required_features", "flags", "work")


def _upgraded(data: Json) -> Json:
    """A manifest of format 1 in format 2: where a field is wrong, the checks of format 2 say so."""
    extra = data.get("extra")
    names = extra.get("arguments") if isinstance(extra, dict) else None
    functions = data.get("functions")
    new: Json = {"dims": {}, "donated": [], "specializations": []}
    if isinstance(functions, list):
        functions = [
            {**function, "arguments": names if isinstance(names, list) else [], **new}
            if isinstance(function, dict)
            else function
            for function in functions
        ]
    if isinstance(extra, dict):
        extra = {name: value for name, value in extra.items() if name != "arguments"}
    added: Json = {"parameters": None, "variants": []}
    for name in added.keys() & data.keys():
        raise ArtifactError(f"its manifest is damaged: {name} is no field of the format")
    return {**data, "functions": functions, "extra": extra, **added}


def _problem(where: str, value: Json, expected: str) -> ArtifactError:
    place = f"{where} is " if where else ""
    return ArtifactError(f"its manifest is damaged: {place}{shortened(value)}, expected {expected}")


def shortened(value: Json) -> str:
    """A value for a message, cut where it is long."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _require(condition: bool, where: str, value: Json, expected: str) -> None:
    if not condition:
        raise _problem(where, value, expected)


def _text(value: Json, where: str) -> None:
    _require(isinstance(value, str), where, value, "a text")


def _name(value: Json, where: str) -> None:
    _require(isinstance(value, str) and bool(value), where, value, "a name")


def _target(value: Json, where: str) -> None:
    kinds = ("cpu", "vulkan", "cuda", "rocm", "metal")
    is_known = isinstance(value, str) and value.partition(":")[0] in kinds
    what = "a target: cpu, vulkan, cuda, rocm or metal, and its detail after a colon"
    _require(is_known, where, value, what)


def _hash(value: Json, where: str) -> None:
    is_hash = isinstance(value, str) and (not value or len(value) == 64)
    _require(is_hash and set(value) <= set("0123456789abcdef"), where, value, "a SHA-256 in hex digits")


def _work(value: Json, where: str) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_legal = value is None or (is_number and value >= 0 and value < math.inf)
    _require(is_legal, where, value, "a number of at least 0, or null")


def _mapping(value: Json, where: str) -> None:
    _require(isinstance(value, dict), where, value, "an object")


def _texts_by_name(value: Json, where: str) -> None:
    _mapping(value, where)
    for name, text in value.items():
        _text(text, f"{where}.{name}")


def _list_of(check: Check) -> Check:
    def checked(value: Json, where: str) -> None:
        _require(isinstance(value, list), where, value, "a list")
        for index, entry in enumerate(value):
            check(entry, f"{where}[{index}]")

    return checked


def _object_of(fields: dict[str, Check]) -> Check:
    def checked(value: Json, where: str) -> None:
        _require(isinstance(value, dict), where, value, f"an object with {', '.join(fields)}")
        if value.keys() != fields.keys():
            wrong = sorted(value.keys() ^ fields.keys())[0]
            state = "missing" if wrong in fields else "no field of the format"
            raise ArtifactError(f"its manifest is damaged: {_below(where, wrong)} is {state}")
        for name, check in fields.items():
            check(value[name], _below(where, name))

    return checked


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _dtype(value: Json, where: str) -> None:
    try:
        dtype_from_name(value)
    except (AdzeError, TypeError):
        raise _problem(where, value, "the name of a dtype") from None


def _dim(value: Json, where: str) -> None:
    is_size = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    is_name = isinstance(value, str) and value.isidentifier()
    _require(value is None or is_size or is_name, where, value, "a size, a name or null")


def _result_dim(value: Json, where: str) -> None:
    """As of an argument, or an expression of its names: `2*n + 1`."""
    if not (isinstance(value, str) and is_size_text(value)):
        _dim(value, where)


_SPEC_FIELDS: Final = _object_of({"name": _name, "dtype": _dtype, "shape": _list_of(_dim)})
_RESULT_FIELDS: Final = _object_of({"name": _name, "dtype": _dtype, "shape": _list_of(_result_dim)})


def _spec(value: Json, where: str) -> None:
    _SPEC_FIELDS(value, where)
    _check_possible(value, where)


def _result_spec(value: Json, where: str) -> None:
    _RESULT_FIELDS(value, where)
    _check_possible(value, where)


def _check_possible(value: Json, where: str) -> None:
    sizes = tuple(n if isinstance(n, int) else None for n in value["shape"])
    try:
        require_possible(where, [TensorType(sizes, dtype_from_name(value["dtype"]))])
    except AdzeError as error:
        raise ArtifactError(f"its manifest is damaged: {error.message}") from None


def _count(value: Json, where: str) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    _require(is_count, where, value, "a number of at least 0")


def _bool(value: Json, where: str) -> None:
    _require(isinstance(value, bool), where, value, "true or false")


def _name_or_null(value: Json, where: str) -> None:
    _require(value is None or (isinstance(value, str) and bool(value)), where, value, "a name, or null")


def _file_name(value: Json, where: str) -> None:
    """Null, or the name of a file beside the program: never a way out of its folder."""
    is_name = isinstance(value, str) and bool(value) and not set(value) & set("/\\\0")
    _require(
        value is None or (is_name and value not in (".", "..")), where, value, "the name of a file, or null"
    )


_BOUNDS_FIELDS: Final = _object_of(
    {
        "min": _count,
        "max": lambda value, where: None if value is None else _count(value, where),
        "multiple_of": _count,
    }
)


def _dims(value: Json, where: str) -> None:
    _mapping(value, where)
    for name, bounds in value.items():
        _BOUNDS_FIELDS(bounds, _below(where, name))
        _require(bounds["multiple_of"] > 0, f"{_below(where, name)}.multiple_of", 0, "a number of at least 1")
        is_empty = bounds["max"] is not None and bounds["max"] < bounds["min"]
        _require(not is_empty, _below(where, name), bounds, "a least size up to the largest")


def _sizes(value: Json, where: str) -> None:
    _mapping(value, where)
    for name, size in value.items():
        _count(size, _below(where, name))


_VARIANT: Final = _object_of(
    {
        "target": _target,
        "architecture": _text,
        "required_features": _list_of(_text),
        "flags": _list_of(_text),
        "work": _work,
        "bytes": _count,
        "kernels": _count,
    }
)
_PARAMETERS_FIELDS: Final = _object_of(
    {
        "scope": _name,
        "file": _file_name,
        "sha256": _hash,
        "held": _list_of(
            _object_of(
                {
                    "name": _name,
                    "dtype": _dtype,
                    "shape": _list_of(_count),
                    "mutable": _bool,
                    "parameter": _bool,
                }
            )
        ),
    }
)


def _parameters(value: Json, where: str) -> None:
    if value is None:
        return
    if isinstance(value, dict):
        value.setdefault("sha256", "")  # no field of the first files with parameters
    _PARAMETERS_FIELDS(value, where)
    names = [each["name"] for each in value["held"]]
    _require(len(set(names)) == len(names), f"{where}.held", names, "different names")
    for index, each in enumerate(value["held"]):
        _check_possible(each, f"{where}.held[{index}]")


_FUNCTION_FIELDS: Final = _object_of(
    {
        "name": _name,
        "inputs": _list_of(_spec),
        "outputs": _list_of(_result_spec),
        "input_tree": lambda value, where: None,
        "output_tree": lambda value, where: None,
        "arguments": _list_of(_name_or_null),
        "dims": _dims,
        "donated": _list_of(_count),
        "specializations": _list_of(_object_of({"sizes": _sizes, "function": _name})),
    }
)


def _function(value: Json, where: str) -> None:
    """Null stands for a tree that is not known, besides for the tree of None."""
    _FUNCTION_FIELDS(value, where)
    for specs in ("inputs", "outputs"):
        names = [spec["name"] for spec in value[specs]]
        _require(len(set(names)) == len(names), f"{where}.{specs}", names, "different names")
    dims = {name for spec in value["inputs"] for name in spec["shape"] if isinstance(name, str)}
    _require(value["dims"].keys() <= dims, f"{where}.dims", list(value["dims"]), "names of dims of inputs")
    for number in value["donated"]:
        _require(number < len(value["inputs"]), f"{where}.donated", number, "the position of an input")
    for tree, specs in (("input_tree", "inputs"), ("output_tree", "outputs")):
        if value[tree] is None:
            continue
        count = _leaves(value[tree], f"{where}.{tree}")
        if '{"node":' in json.dumps(value[tree]):
            continue  # a user's own kind of node, whose children are not written down
        expected = f"{len(value[specs])} leaves, as there are {specs}"
        _require(count == len(value[specs]), f"the number of leaves of {where}.{tree}", count, expected)
    arguments = value["input_tree"]
    if arguments is not None:
        kinds = [next(iter(node), None) if isinstance(node, dict) else None for node in _entries(arguments)]
        is_call = kinds == ["tuple", "dict"] and "tuple" in arguments
        _require(is_call, f"{where}.input_tree", arguments, "a tuple of positional and keyword arguments")


def _entries(node: Json) -> list[Json]:
    return node.get("tuple", []) if isinstance(node, dict) else []


def _leaves(node: Json, where: str) -> int:
    """The number of leaves of a tree as `tree.to_json` of the front end writes it, which is checked."""
    if node is None or node == "*":
        return int(node == "*")
    _require(isinstance(node, dict), where, node, "a node of a tree")
    match sorted(node):
        case ["dict"]:
            _mapping(node["dict"], where)
            children = list(node["dict"].items())
        case ["list"] | ["tuple"]:
            (entries,) = node.values()
            _require(isinstance(entries, list), where, node, "a list of nodes")
            children = [(f"[{index}]", entry) for index, entry in enumerate(entries)]
        case ["fields", "namedtuple"] | ["dataclass", "fields"]:
            children = _fields(node, where)
        case ["node"]:
            _name(node["node"], where)
            children = []
        case _:
            raise _problem(where, node, "a node of a tree")
    return sum(_leaves(child, _below(where, name)) for name, child in children)


def _fields(node: Json, where: str) -> list[tuple[str, Json]]:
    kind = "namedtuple" if "namedtuple" in node else "dataclass"
    name, fields = node[kind], node["fields"]
    _require(isinstance(name, str) and name.isidentifier(), where, node, "the name of a class")
    _require(isinstance(fields, list), where, node, "a list of fields")
    for field in fields:
        is_pair = isinstance(field, list) and len(field) == 2 and isinstance(field[0], str)
        _require(is_pair and field[0].isidentifier(), where, field, "a field: its name and its node")
    names = [field[0] for field in fields]
    _require(len(set(names)) == len(names), where, names, "fields of different names")
    return [(field[0], field[1]) for field in fields]


_MANIFEST: Final = _object_of(
    {
        "format_version": lambda value, where: None,  # looked at before anything else
        "functions": _list_of(_function),
        "target": _target,
        "architecture": _text,
        "required_features": _list_of(_text),
        "versions": _texts_by_name,
        "flags": _list_of(_text),
        "ir_sha256": _hash,
        "parameters": _parameters,
        "variants": _list_of(_VARIANT),
        "work": _work,
        "extra": _mapping,
    }
)
