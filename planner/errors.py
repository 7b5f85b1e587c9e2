"""Errors, arranged by what the caller can do about them.

Every class carries the exit code of the CLI. ``str(error)`` says what is wrong,
where (a path in the user's file) and how to fix it; it is meant to be read
without a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planner.secrets import redact_text

EXIT_ALLOWED = 0
EXIT_FAULT = 1
EXIT_BAD_INPUT = 2
EXIT_DENIED = 5
EXIT_DIFFERS = 7
EXIT_POLICY_UNAVAILABLE = 10
EXIT_INFEASIBLE = 11


class Problem(NamedTuple):
    """One thing wrong with an input: where it is, what it is, how to fix it."""

    where: str
    what: str
    fix: str

    def __str__(self) -> str:
        """Return the problem as one line."""
        return (
            f"{self.where}: {self.what}. {self.fix}" if self.fix else f"{self.where}: {self.what}"
        )


class PlannerError(Exception):
    """Anything that stops a plan; ``exit_code`` is what the CLI returns."""

    exit_code = EXIT_FAULT


class InputError(PlannerError):
    """The user's input cannot be used; lists every problem found, not the first."""

    exit_code = EXIT_BAD_INPUT

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Keep ``problems`` in the order found; what they quote must not show a secret."""
        self.problems = tuple(Problem(*map(redact_text, problem)) for problem in problems)
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''} in the input:"
        super().__init__("\n".join([head, *(f"  {problem}" for problem in self.problems)]))


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
