"""The three stacks of the project, planned once with the real engine."""

from __future__ import annotations

import pytest

from planner.running import StackRun, run_stack
from tests.policy.conftest import opa
from tools.shell_env import PROJECT

__all__ = ["opa"]

STACKS = ("dev", "bank-au", "saas-global")
AT = "2026-12-01T00:00:00Z"


class Runs(dict[str, StackRun]):
    """A run of each stack, planned when it is first asked for."""

    def __missing__(self, name: str) -> StackRun:
        self[name] = run_stack(PROJECT, name, at=AT, write=False)
        return self[name]


@pytest.fixture(scope="session")
def runs(opa: str) -> Runs:
    return Runs()
