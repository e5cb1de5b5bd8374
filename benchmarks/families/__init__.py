"""The families of benchmark cases, in the order in which they run."""

from _case import Case

from . import (
    batches,
    elementwise,
    irregular,
    linear_algebra,
    loops,
    low_precision,
    matrices,
    named_sizes,
    nets,
    points,
    products,
    programs,
    sampling,
    small,
)

FAMILIES: dict[str, tuple[Case, ...]] = {
    "elementwise": elementwise.CASES,
    "products": products.CASES,
    "nets": nets.CASES,
    "linear_algebra": linear_algebra.CASES,
    "loops": loops.CASES,
    "irregular": irregular.CASES,
    "random": sampling.CASES,
    "small": small.CASES,
    "programs": programs.CASES,
    "batches": batches.CASES,
    "named_sizes": named_sizes.CASES,
    "low_precision": low_precision.CASES,
    "points": points.CASES,
    "matrices": matrices.CASES,
}
