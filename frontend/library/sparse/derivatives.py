"""`grad` and its kin of functions of sparse arrays: derivatives by the data of sparse arguments.

Input: a function, and which arguments it is differentiated by. Output: as the plain transforms; the
derivative by a sparse argument is a sparse array with its coordinates. Idea: a sparse argument is replaced by
its data.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ... import tree
from ...transforms import differentiation, jacobians
from ...transforms.vmap import vmap
from .storage import JAXSparse

Argnums = int | Sequence[int]


def _is_sparse(x: Any) -> bool:
    return isinstance(x, JAXSparse)


def _data_of(arg: Any) -> Any:
    """`arg` with the data alone of its sparse arrays."""
    return tree.map(lambda x: x.data if _is_sparse(x) else x, arg, is_leaf=_is_sparse)


def _restored(arg: Any, data: Any) -> Any:
    """`arg` with other data in its sparse arrays, and other dense leaves."""
    flat, structure = tree.flatten(arg, is_leaf=_is_sparse)
    pairs = zip(flat, tree.leaves(data), strict=True)
    return tree.unflatten(structure, [_with_data(x, d) if _is_sparse(x) else d for x, d in pairs])


def _with_data(mat: Any, data: Any) -> Any:
    (_, *others), static = mat.tree_flatten()
    function: Callable[[Any], Any] = lambda d: type(mat).tree_unflatten(static, (d, *others))  # noqa: E731
    for _ in range(max(0, getattr(data, "ndim", 0) - getattr(mat.data, "ndim", 0))):
        function = vmap(function)
    return function(data)


def _sparse_aware(transform: Callable[..., Any], has_value: bool) -> Callable[..., Any]:
    def transformed(
        fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any
    ) -> Any:
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

        @functools.wraps(fun)
        def call(*args: Any, **keywords: Any) -> Any:
            where = {n % len(args): args[n] for n in numbers}

            def of_data(*data: Any, **inner: Any) -> Any:
                full = [_restored(where[i], d) if i in where else d for i, d in enumerate(data)]
                return fun(*full, **inner)

            data = [_data_of(a) if i in where else a for i, a in enumerate(args)]
            out = transform(of_data, argnums=argnums, has_aux=has_aux, **kwargs)(*data, **keywords)
            if has_value:
                return out[0], _derivatives(out[1], args, argnums)
            if has_aux:
                return _derivatives(out[0], args, argnums), out[1]
            return _derivatives(out, args, argnums)

        return call

    return transformed


def _derivatives(out: Any, args: tuple[Any, ...], argnums: Argnums) -> Any:
    if isinstance(argnums, int):
        return _restored(args[argnums], out)
    return tuple(_restored(args[n], o) for n, o in zip(argnums, out, strict=True))


_GRAD = _sparse_aware(differentiation.grad, False)
_VALUE_AND_GRAD = _sparse_aware(differentiation.value_and_grad, True)
_JACFWD = _sparse_aware(jacobians.jacfwd, False)
_JACREV = _sparse_aware(jacobians.jacrev, False)


def grad(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any) -> Any:
    """As `adze.grad`; by a sparse argument, the derivative by its data, with its coordinates."""
    return _GRAD(fun, argnums, has_aux, **kwargs)


def value_and_grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any
) -> Any:
    """As `adze.value_and_grad`; otherwise as `grad` here."""
    return _VALUE_AND_GRAD(fun, argnums, has_aux, **kwargs)


def jacfwd(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any) -> Any:
    """As `adze.jacfwd`, of dense results, whose dimensions are batch dimensions of a sparse derivative."""
    return _JACFWD(fun, argnums, has_aux, **kwargs)


def jacrev(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **kwargs: Any) -> Any:
    """As `adze.jacrev`; otherwise as `jacfwd` here."""
    return _JACREV(fun, argnums, has_aux, **kwargs)


jacobian = jacrev
