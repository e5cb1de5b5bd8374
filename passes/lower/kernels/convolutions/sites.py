"""Which convolutions become kernels, what these apply to their sums, and how their results lie in between.

Input: the ops of a function. Output: a `Site` for each convolution that becomes a kernel, in the order in
which they are replaced.
Idea: each convolution is planned for itself first, as if all arrays lay with their axes in order. A result
that only other kernels use may lie otherwise: with the zeros around it that the next convolution sees, or
with its features last. Then no copy is between the two. It does where the kernels together cost less so.
Where it shows at the call how many images there are, a plan is that of one; each has workgroups of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from math import prod
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.builder.emitter import Emitter, Reader
from .....dialects.codec import Codec
from .....dialects.dataclass import dataclass
from .....dialects.op import DIALECT
from .....dialects.ops.contraction.convolution import ConvGeneral
from .....dialects.ops.contraction.convolution_window import Convolution
from .....dialects.types import TensorType
from .....runtime.targets import Target
from ....ir.aliases import Operation, Value
from ....ir.marks import BARRIER
from ...tuning.array_layouts import Layout, plain
from ...tuning.convolution_plans import Plan, cheapest_plan
from .chains import Chain, chain_behind
from .problems import Shape, find_problem

PASS_OVER: Final = 2.0  # what it costs to load, compute and store an element in a kernel of its own


@dataclass(eq=False, slots=True)
class Site:
    """A convolution with what its kernel applies, its plan, and how its result lies (None: axes in order).

    `sizes`: those of the image, the weights and the result; of one image where `is_batched`, since it shows
    at the call how many there are.
    `possible`: ops behind it that cost more to apply than to leave alone, as long as its axes are in order.
    """

    operation: Operation
    attributes: Convolution
    sizes: tuple[Shape, Shape, Shape]
    is_batched: bool
    plan: Plan
    chain: Chain | None = None
    possible: Chain | None = None
    written: Layout | None = None

    @property
    def last(self) -> Operation:
        """The op whose result the kernel has."""
        return self.operation if self.chain is None else self.chain.operations[-1]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """All ops that the kernel replaces."""
        return self.operation, *(() if self.chain is None else self.chain.operations)


@dataclass(slots=True)
class Sites:
    """The sites of one function."""

    target: Target
    codec: Codec
    reader: Reader
    sites: list[Site] = field(default_factory=list)
    results: dict[Value, Site] = field(default_factory=dict)

    def find(self, operations: Sequence[Operation]) -> list[Site]:
        """The sites among `operations`, ordered by the last op of each."""
        for operation in operations:
            if operation.name == f"{DIALECT}.{ConvGeneral.name}":
                self._add(operation)
        places = {operation: place for place, operation in enumerate(operations)}
        self.sites.sort(key=lambda site: places[site.last])
        self.results = {site.last.results[0]: site for site in self.sites}
        for site in self.sites:
            self._arrange(site)
        return sorted(self.sites, key=lambda site: places[site.last])

    def _add(self, operation: Operation) -> None:
        """The site of a convolution, if a kernel can compute it."""
        application = self.reader.read(operation)
        if application is None:
            return
        attributes = Convolution(**application.attributes)
        found = self._sizes(operation, attributes)
        if found is None:
            return
        sizes, is_batched = found
        plan = self._plan(operation, attributes, sizes, is_batched=is_batched)
        if plan is None:
            return
        site = Site(operation, attributes, sizes, is_batched, plan)
        self.sites.append(site)
        taken = [o for other in self.sites for o in other.operations]
        chain = None if BARRIER in operation.attributes else chain_behind(operation, self.reader, taken)
        if chain is None:
            return
        applied = self._plan(operation, attributes, sizes, chain, is_batched=is_batched)
        if applied is None or applied.cost > plan.cost + PASS_OVER * prod(sizes[2]):
            site.possible = chain
        else:
            site.plan, site.chain = applied, chain

    def _sizes(
        self, operation: Operation, attributes: Convolution
    ) -> tuple[tuple[Shape, Shape, Shape], bool] | None:
        """The shapes of the image, the weights and the result, and whether they are those of one image of a
        batch whose size shows at the call; None where others are not known."""
        image, weights, out = (self._shape(value) for value in (*operation.operands, *operation.results))
        is_batched = image[0] is None
        if is_batched:
            if not attributes.lhs_spec[0] == attributes.out_spec[0] == 0 or attributes.batch_group_count > 1:
                return None
            image, out = (1, *image[1:]), (1, *out[1:])
        known = [tuple(n for n in shape if n is not None) for shape in (image, weights, out)]
        if [len(shape) for shape in known] != [len(image), len(weights), len(out)]:
            return None
        return (known[0], known[1], known[2]), is_batched

    def _shape(self, value: Value) -> tuple[int | None, ...]:
        """The sizes of an array, None for those that show at the call."""
        type_ = self.codec.read_type(value.type)
        assert isinstance(type_, TensorType)
        return type_.static_shape

    def _plan(
        self,
        operation: Operation,
        attributes: Convolution,
        sizes: tuple[Shape, Shape, Shape],
        chain: Chain | None = None,
        written: Layout | None = None,
        has_edges: bool | None = None,
        *,
        is_batched: bool,
    ) -> Plan | None:
        """The plan of a convolution, with its operands as they lie now.

        `has_edges`: whether the edges of the image are parts of their own; None to choose.
        """
        emitter = Emitter(self.codec, mlir.ir.InsertionPoint(operation), operation.location)
        image, weights = operation.operands
        known = emitter.constant_of(weights)
        stored = self._layout(image)
        strides: list[Shape] = []
        starts: list[int] = []
        for value, own in () if chain is None else zip(chain.operands, chain.strides, strict=True):
            layout = self._layout(value)
            strides.append(own if layout is None else _steps(layout))
            starts.append(0 if layout is None else layout.start)

        def problem(edges: Sequence[int] = ()):  # type: ignore[no-untyped-def]
            return find_problem(
                attributes,
                *sizes,
                strides,
                edges=edges,
                beside_starts=starts,
                stored=stored,
                written=written,
                is_of_each=is_batched,
            )

        whole = problem()
        if whole is None:
            return None
        problems = [whole]
        if known is not None and np.isfinite(known).all():  # zeros of padding add nothing
            axes = tuple(range(len(attributes.window_strides)))
            apart = [p for p in map(problem, dict.fromkeys([(0,), axes])) if p is not None]
            problems = [whole, *apart] if has_edges is None else apart if has_edges else [whole]
        dtype = emitter.tensor_type(image).dtype
        return cheapest_plan(self.target, problems, dtype, has_constant_weights=known is not None)

    def _layout(self, value: Value) -> Layout | None:
        site = self.results.get(value)
        return None if site is None else site.written

    # -- results that lie otherwise ----------------------------------------------------------------

    def _arrange(self, site: Site) -> None:
        """Let the result of a site lie as another one wants to see it, if that costs less."""
        before = site.chain, site.plan, site.last.results[0]
        chains = [site.chain]
        taken = {o for other in self.sites for o in other.operations}
        if site.possible is not None and not taken.intersection(site.possible.operations):
            chains.append(site.possible)
        best: tuple[float, Chain | None, Layout, dict[Site, Plan]] | None = None
        for chain in chains:
            site.chain = chain
            users = self._users(site)
            if not users:
                continue
            now = before[1].cost + sum(user.plan.cost for user in users)
            if chain is not before[0]:
                now += PASS_OVER * prod(site.sizes[2])
            for layout in self._wanted(site, users):
                plans = self._plans(site, users, layout)
                cost = sum(plan.cost for plan in plans.values())
                if plans and cost < min(now, best[0] if best else now):
                    best = cost, chain, layout, plans
        site.chain = before[0]
        if best is None:
            return
        del self.results[before[2]]
        _, site.chain, site.written, plans = best
        self.results[site.last.results[0]] = site
        for other, plan in plans.items():
            other.plan = plan

    def _wanted(self, site: Site, users: Sequence[Site]) -> list[Layout]:
        """How users see the result, and the same with its axes in order."""
        result, rank = site.last.results[0], len(site.sizes[2])
        seen = [user.plan.seen for user in users if user.operation.operands[0] == result]
        wanted = [layout.with_all() for layout in seen if len(layout.shape) == rank]
        wanted += [replace(layout, order=plain(layout.shape).order) for layout in wanted]
        return [layout for layout in dict.fromkeys(wanted) if not layout.is_plain]

    def _users(self, site: Site) -> list[Site]:
        """The sites that use a result, if they are all that do, and as an image or beside their sums."""
        users: list[Site] = []
        for use in site.last.results[0].uses:
            owner = use.owner.operation
            user = next((s for s in self.sites if s is not site and owner in s.operations), None)
            if user is None or (owner == user.operation and use.operand_number != 0):
                return []
            if user not in users:
                users.append(user)
        return users

    def _plans(self, site: Site, users: Sequence[Site], layout: Layout) -> dict[Site, Plan]:
        """The plans of a site and its users with the result in a layout; empty if one has none."""
        result = site.last.results[0]
        kept = self.results.get(result), site.written
        self.results[result], site.written = site, layout
        plans: dict[Site, Plan] = {}
        for each in (site, *users):
            has_edges = each.plan.has_edges
            plan = self._plan(
                each.operation,
                each.attributes,
                each.sizes,
                each.chain,
                each.written,
                has_edges,
                is_batched=each.is_batched,
            )
            if plan is None:
                plans = {}
                break
            plans[each] = plan
        site.written = kept[1]
        if kept[0] is None:
            del self.results[result]
        return plans


def _steps(layout: Layout) -> tuple[int, ...]:
    """How far apart the elements of an array are along each axis; 0 along axes of size 1."""
    return tuple(s if n > 1 else 0 for s, n in zip(layout.strides, layout.shape, strict=True))
