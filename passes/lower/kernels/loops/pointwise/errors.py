"""The error of a loop whose elements are not computed each for itself: it gets another form."""

from ..errors import KernelError


class NotPointwise(KernelError):
    """Why elements of a loop depend on each other."""
