"""Classes as nodes of trees: how a user's own class is taken apart and put together.

Input: a class and its functions, under the names of `jax.tree_util`. Output: the class, registered with
optree. Idea: every registration goes through `_register_node`, which keeps in `DATA_FIELDS` what files need
to know of dataclasses. Children of a class that has keys are reached by those; others by their position.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import optree

from ..errors import ArgumentError, ArgumentTypeError

NAMESPACE: Final = "adze"
Structure = optree.PyTreeSpec
Class = TypeVar("Class", bound=type)
DATA_FIELDS: Final[dict[type, tuple[str, ...]]] = {}
"""The fields of registered dataclasses that are children."""
STATIC_FIELDS: Final[dict[type, tuple[str, ...]]] = {}
"""Those that are static data."""
OWN_NODES: Final[set[type]] = set()
"""The classes that are nodes because they were registered here."""


ARRAY_NODES: Final[set[type]] = set()
"""Classes of nodes that are one array to programs, with the shape of that array."""


class Key(optree.PyTreeEntry):
    """How optree calls a child that has a key of the user's: the key writes itself."""

    def codify(self, node: str = "") -> str:
        return f"{node}{self.entry}"


def _register_node(
    cls: type, flat: Callable[[Any], Any], build: Callable[[Any, Any], Any], entry: Any
) -> None:
    try:
        with warnings.catch_warnings():  # a named tuple may be registered with other children
            warnings.simplefilter("ignore", UserWarning)
            optree.register_pytree_node(cls, flat, build, path_entry_type=entry, namespace=NAMESPACE)
    except TypeError:
        raise ArgumentTypeError(f"expected a class to register, got {cls!r}") from None
    except ValueError as error:
        raise ArgumentError(f"{cls.__name__} is a node of trees already: {error}") from None
    OWN_NODES.add(cls)


def register(
    nodetype: Class,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Iterable[Any]], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> Class:
    """Make instances of `nodetype` nodes: `flatten_func(x)` returns (children, static data) and the other
    function, called with (static data, children), puts them together again.

    `flatten_with_keys_func` returns ((key, child) pairs, static data). Raises `ArgumentError` for a class
    that is a node already.
    """
    if flatten_with_keys_func is not None:
        return register_pytree_with_keys(nodetype, flatten_with_keys_func, unflatten_func, flatten_func)

    def flat(x: Any) -> tuple[tuple[Any, ...], Any]:
        children, static = flatten_func(x)
        return tuple(children), static

    _register_node(nodetype, flat, unflatten_func, optree.FlattenedEntry)
    return nodetype


def register_pytree_with_keys(
    nodetype: Class,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]],
    unflatten_func: Callable[[Any, Iterable[Any]], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> Class:
    """As `register`, from a function that returns ((key, child) pairs, static data)."""
    del flatten_func  # the same children, without their keys

    def flat(x: Any) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
        pairs, static = flatten_with_keys(x)
        entries = tuple(pairs)
        return tuple(child for _, child in entries), static, tuple(key for key, _ in entries)

    _register_node(nodetype, flat, unflatten_func, Key)
    return nodetype


def is_registered(cls: type) -> bool:
    """Whether instances of a class are nodes."""
    return optree.register_pytree_node.get(cls, namespace=NAMESPACE) is not None


def functions_of_node(cls: type) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """How a registered class is taken apart, to (children, static data, ...), and put together, of (static
    data, children)."""
    entry = optree.register_pytree_node.get(cls, namespace=NAMESPACE)
    assert entry is not None, cls
    return entry.flatten_func, entry.unflatten_func


def build_node(cls: type, static: Any, children: Iterable[Any]) -> Any:
    """A node of a registered class, of its static data and its children."""
    entry = optree.register_pytree_node.get(cls, namespace=NAMESPACE)
    assert entry is not None, cls
    return entry.unflatten_func(static, tuple(children))


def register_pytree_node_class(cls: Class) -> Class:
    """Make a class with the methods `tree_flatten` and `tree_unflatten` (a class method) a node."""
    return register(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)  # type: ignore[attr-defined]


def register_pytree_with_keys_class(cls: Class) -> Class:
    """Make a class with the methods `tree_flatten_with_keys` and `tree_unflatten` a node."""
    flatten_with_keys = lambda x: x.tree_flatten_with_keys()  # noqa: E731
    return register_pytree_with_keys(cls, flatten_with_keys, cls.tree_unflatten)  # type: ignore[attr-defined]


def register_static(cls: Class) -> Class:
    """Make instances of a class nodes without children: they are static, and compared by `==`."""
    return register(cls, lambda x: ((), x), lambda x, _: x)


def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Make a dataclass a node: the `data_fields` are its children, the `meta_fields` static data.

    Without the two, fields are children unless they are made with `static` (or have `metadata={"static":
    True}`). Raises `ArgumentTypeError` when one of the two is missing, `ArgumentError` when they are not all
    fields.
    """
    if (data_fields is None) != (meta_fields is None):
        raise ArgumentTypeError(
            "register_dataclass: data_fields and meta_fields belong together, "
            f"got {data_fields} and {meta_fields}"
        )
    if data_fields is None or meta_fields is None:
        if not dataclasses.is_dataclass(nodetype):
            raise ArgumentTypeError(
                f"register_dataclass: {nodetype!r} is no dataclass: pass data_fields and meta_fields"
            )
        fields = [f for f in dataclasses.fields(nodetype) if f.init and f.name not in drop_fields]
        data = tuple(f.name for f in fields if not f.metadata.get("static", False))
        meta = tuple(f.name for f in fields if f.metadata.get("static", False))
    else:
        data, meta = tuple(data_fields), tuple(meta_fields)
        _check_fields(nodetype, data, meta, drop_fields)

    def flat(x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[str, ...]]:
        return tuple(getattr(x, n) for n in data), tuple(getattr(x, n) for n in meta), data

    def build(static: tuple[Any, ...], children: Iterable[Any]) -> Any:
        return nodetype(**dict(zip(meta, static, strict=True)), **dict(zip(data, children, strict=True)))

    _register_node(nodetype, flat, build, optree.GetAttrEntry)
    DATA_FIELDS[nodetype], STATIC_FIELDS[nodetype] = data, meta
    return nodetype


def _check_fields(
    nodetype: type, data: tuple[str, ...], meta: tuple[str, ...], dropped: Sequence[str]
) -> None:
    if not dataclasses.is_dataclass(nodetype):
        return
    wanted = {f.name for f in dataclasses.fields(nodetype) if f.init} - set(dropped)
    if wanted != {*data, *meta}:
        raise ArgumentError(
            f"register_dataclass: data_fields {list(data)} and meta_fields {list(meta)} must be all fields "
            f"of {nodetype.__name__}, which are {sorted(wanted)}"
        )


def static(**keywords: Any) -> Any:
    """`dataclasses.field` of static data, for `register_dataclass`."""
    metadata = {**(keywords.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(**keywords, metadata=metadata)


class _Callee:
    """A `functools.partial` as the function of another one, which Python would merge."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self.function(*args, **keywords)

    def __eq__(self, other: object) -> bool:
        return self.function == (other.function if isinstance(other, _Callee) else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


class Partial(functools.partial):  # type: ignore[type-arg]
    """A `functools.partial` that is a node: the arguments are its children, the function is static."""

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **keywords: Any) -> Partial:
        is_partial = isinstance(func, functools.partial)
        return super().__new__(cls, _Callee(func) if is_partial else func, *args, **keywords)


register(
    Partial,
    lambda x: ((x.args, x.keywords), x.func),
    lambda func, children: _partial(func, *children),
)


def _partial(func: Callable[..., Any], args: Any, keywords: Any) -> Partial:
    return Partial(func, *args, **keywords)
