"""The errors a user of adze can meet.

Every one is an `AdzeError`: a sentence that says what was wrong, what was seen and what was expected,
where in the user's own code, and what to write instead. Errors that only one folder raises are declared
in that folder; the ones shared by several are here. Each also derives from the built-in class that fits
(`ValueError`, `TypeError`, ...), so that code written for NumPy or JAX catches it.
"""

from __future__ import annotations


class AdzeError(Exception):
    """Base of all errors that a user's mistake can cause.

    `where` is the user's own `file:line`, `hint` the way out; both are optional and are printed on
    lines of their own after the message.
    """

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.message = message
        self.where = where
        self.hint = hint
        super().__init__(self._text())

    def locate(self, where: str) -> None:
        """Say where in the user's code it happened, unless that is known."""
        if self.where is None:
            self.where = where
            self.args = (self._text(),)

    def _text(self) -> str:
        lines = [self.message]
        if self.where:
            lines.append(f"  at {self.where}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class TypeCheckError(AdzeError, TypeError):
    """An op was given operands or attributes that its declaration does not allow."""


class SizeError(TypeCheckError, ValueError):
    """An array or a number is larger than any machine can hold."""


class MeaningLostError(AdzeError, TypeError):
    """An array's class says more than its elements do, such as a mask, and adze has the elements only."""


class OutOfMemoryError(AdzeError, MemoryError):
    """An array is possible, and this machine has not the memory for it now."""


class VerificationError(AdzeError, ValueError):
    """A module of adze IR is not well formed."""


class MissingRuleError(AdzeError, NotImplementedError, TypeError, ValueError):
    """A pass met an op whose rule for that pass is declared undefined.

    JAX raises a TypeError for forward mode through a `custom_vjp`, a ValueError for reverse mode through a
    `while_loop`, and NotImplementedError elsewhere.
    """


class UnknownSizeError(MissingRuleError):
    """A backward pass asked for the size of a linear argument, which no other argument has."""


class RunTimeCheckError(AdzeError, RuntimeError, ValueError):
    """A check that the program itself states failed while it ran."""
