"""The registry of errors: every kind that can be raised, by its constant and by its code.

``faults.UNKNOWN_KEY.at(where, what, fix)`` is a problem of that kind (planner.errors). Rows lie
in one module for each hundred: E1xx declared files, E2xx options, E3xx catalog, E4xx serving,
E5xx policy, E6xx evidence, E7xx emission.
"""

from planner.errors import Code
from planner.faults import catalog, declared, emitting, evidence, options, policy, serving
from planner.faults.catalog import *  # noqa: F403
from planner.faults.declared import *  # noqa: F403
from planner.faults.emitting import *  # noqa: F403
from planner.faults.evidence import *  # noqa: F403
from planner.faults.options import *  # noqa: F403
from planner.faults.policy import *  # noqa: F403
from planner.faults.serving import *  # noqa: F403

MODULES = (declared, options, catalog, serving, policy, evidence, emitting)
"""The families, in the order of their codes."""

REGISTRY: dict[str, Code] = {
    code.id: code for module in MODULES for code in vars(module).values() if isinstance(code, Code)
}
"""Every kind of error by its code, in the order of the modules."""
