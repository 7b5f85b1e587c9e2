"""Errors, arranged by what the caller can do about them.

Everything raised carries a :class:`Code` of the registry (planner.faults) and says what is
wrong, where (a place in the user's file, an option, a file) and how to fix it; ``str(error)``
is meant to be read without a traceback. There is one way to write one::

    from planner import faults

    raise InputError([faults.UNKNOWN_KEY.at(where, what, fix)])
    raise PolicyUnavailable(faults.OPA_MISSING.at(where, what, fix))

``fix`` may be left out: the general way out of the code stands in for it. A new kind of error
is a row in planner/faults; `make docs` writes docs/errors.md from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.secrets import redact_text

EXIT_ALLOWED = 0
EXIT_FAULT = 1
EXIT_BAD_INPUT = 2
EXIT_DENIED = 5
EXIT_DIFFERS = 7
EXIT_POLICY_UNAVAILABLE = 10
EXIT_INFEASIBLE = 11


def reason_of(error: Exception) -> str:
    """Return why something failed: the system's own words, without number and path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@dataclass(frozen=True)
class Code:
    """A kind of error: a row of the registry.

    ``id`` is never given to another kind. ``title`` says what is wrong, ``where`` what kind of
    place the message names, ``fix`` the general way out, ``why`` what lies behind it;
    ``exit_code`` is what the CLI returns.
    """

    id: str
    title: str
    where: str
    fix: str
    why: str
    exit_code: int = EXIT_BAD_INPUT

    def at(self, where: str, what: str, fix: str = "") -> Problem:
        """Return a problem of this kind; the general way out stands in for an empty ``fix``."""
        return Problem(where, what, fix or self.fix, self)


class Problem(NamedTuple):
    """One thing wrong: where it is, what it is, how to fix it, and its kind."""

    where: str
    what: str
    fix: str
    code: Code

    def __str__(self) -> str:
        """Return the problem as one line, its code last."""
        return f"{self.where}: {self.what}. {self.fix} [{self.code.id}]"

    def redacted(self) -> Problem:
        """Return the problem without what it quotes that looks like a secret."""
        where, what, fix = map(redact_text, self[:3])
        return Problem(where, what, fix, self.code)

    def placed(self, where: str, what: str = "") -> Problem:
        """Return the same problem at another place, ``what`` in place of its words if given."""
        return Problem(where, what or self.what, self.fix, self.code)


class PlannerError(Exception):
    """Anything that stops a plan; ``exit_code`` is what the CLI returns.

    ``details`` are lines below the problem: findings, differences; what stands in the result
    already is indented.
    """

    exit_code = EXIT_FAULT
    problems: tuple[Problem, ...]

    def __init__(self, problem: Problem, details: Sequence[str] = ()) -> None:
        """Keep the problem; what it quotes must not show a secret."""
        self.problems = (problem.redacted(),)
        super().__init__("\n".join([str(self.problems[0]), *details]))


class InputError(PlannerError):
    """The user's input cannot be used; lists every problem found, not the first."""

    exit_code = EXIT_BAD_INPUT

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Keep ``problems`` in the order found; what they quote must not show a secret."""
        self.problems = tuple(problem.redacted() for problem in problems)
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''} in the input:"
        # PlannerError's own initialiser takes one problem.
        Exception.__init__(self, "\n".join([head, *(f"  {problem}" for problem in self.problems)]))


class PolicyDenied(PlannerError):
    """A policy denies something pinned, or leaves a workload no admissible option."""

    exit_code = EXIT_DENIED


class PolicyUnavailable(PlannerError):
    """The policy engine gave no usable answer; nothing may proceed without one."""

    exit_code = EXIT_POLICY_UNAVAILABLE


class Infeasible(PlannerError):
    """No admissible option meets the demand and objectives; names the nearest ones."""

    exit_code = EXIT_INFEASIBLE


class PlanDiffers(PlannerError):
    """The plan is not the one that was approved."""

    exit_code = EXIT_DIFFERS
