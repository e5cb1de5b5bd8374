"""Collectives over the axes of a mesh in StableHLO, whose ranks are replicas.

Input: a writer, an application. Output: its results.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ....dialects.types import INT32, UINT32
from .rules import Application, Rule
from .writer import Ref, Writer, integer, tensor

_OPS: Final = {"sum": "add", "max": "maximum", "min": "minimum"}


def _ranks(app: Application) -> np.ndarray:
    """The numbers of the ranks, those of a group of the axis in a row."""
    mesh = tuple(app.attributes["mesh"])
    ranks = np.arange(math.prod(mesh), dtype=np.int64).reshape(mesh)
    return np.moveaxis(ranks, app.attributes["axis"], -1).reshape(-1, mesh[app.attributes["axis"]])


def _table(rows: np.ndarray) -> str:
    return f"dense<{rows.tolist()}> : tensor<{rows.shape[0]}x{rows.shape[1]}xi64>"


def _grouped(app: Application, **attributes: str) -> dict[str, str]:
    return {"replica_groups": _table(_ranks(app)), **attributes}


def _all_reduce(w: Writer, app: Application) -> list[Ref]:
    x = app.operands[0]
    region = w.combination(_OPS[app.attributes["kind"]], x.dtype)
    attributes = _grouped(app)
    return w.op("all_reduce", (x,), app.results, attributes, [region])


def _all_gather(w: Writer, app: Application) -> list[Ref]:
    dim = integer(app.attributes["dim"])
    attributes = _grouped(app, all_gather_dim=dim)
    return w.op("all_gather", app.operands[:1], app.results, attributes)


def _reduce_scatter(w: Writer, app: Application) -> list[Ref]:
    x, dim = app.operands[0], integer(app.attributes["dim"])
    attributes = _grouped(app, scatter_dimension=dim)
    return w.op("reduce_scatter", (x,), app.results, attributes, [w.combination("add", x.dtype)])


def _all_to_all(w: Writer, app: Application) -> list[Ref]:
    attributes = _grouped(
        app,
        split_dimension=integer(app.attributes["split"]),
        concat_dimension=integer(app.attributes["concat"]),
        split_count=integer(_ranks(app).shape[1]),
    )
    return w.op("all_to_all", app.operands[:1], app.results, attributes)


def _permute(w: Writer, app: Application) -> list[Ref]:
    pairs = [(row[s], row[t]) for row in _ranks(app) for s, t in app.attributes["perm"]]
    if not pairs:
        return [w.filled(0, app.results[0])]
    attributes = {"source_target_pairs": _table(np.array(pairs))}
    return w.op("collective_permute", app.operands[:1], app.results, attributes)


def _index(w: Writer, app: Application) -> list[Ref]:
    """The position along the axis, of the number of the replica."""
    mesh, axis = app.attributes["mesh"], app.attributes["axis"]
    number = w.convert(w.one("replica_id", (), tensor(UINT32)), INT32)
    whole = w.like("divide", number, w.constant(math.prod(mesh[axis + 1 :]), INT32))
    return [w.like("remainder", whole, w.constant(mesh[axis], INT32))]


def _vary(w: Writer, app: Application) -> list[Ref]:
    return [app.operands[0]]


RULES: Final[dict[str, Rule]] = {
    "all_gather": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "mesh_index": _index,
    "ppermute": _permute,
    "reduce_scatter": _reduce_scatter,
    "unvary": _vary,
    "vary": _vary,
}
