"""llm-capacity: declared LLM workloads in, gated and priced capacity out.

The public surface: ``plan_stack`` plans a stack of a project folder,
``verdict_error`` says whether it may proceed, ``Plan`` is the result and
``PlannerError`` the root of everything raised. Names load on first use, so that
importing one module does not import all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.api import plan_stack, verdict_error
    from planner.errors import PlannerError
    from planner.plan import Plan

__all__ = ["Plan", "PlannerError", "plan_stack", "verdict_error"]

_HOMES = {
    "Plan": "planner.plan",
    "PlannerError": "planner.errors",
    "plan_stack": "planner.api",
    "verdict_error": "planner.api",
}


def __getattr__(name: str) -> Any:
    """Return a public name from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module 'planner' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
