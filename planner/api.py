"""The library's entry points: plan a stack, leave the evidence, say the verdict."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

from planner import faults
from planner.declare import json_schemas, require_project
from planner.errors import Infeasible, PlannerError, PolicyDenied, PolicyUnavailable
from planner.files import write_whole
from planner.plan import Plan
from planner.plan_schema import plan_schema
from planner.policy.bundle import read_bundle
from planner.policy.document import Operation
from planner.policy.waivers import WaiverBook
from planner.project import own_policies
from planner.report.findings import blocking, findings_text
from planner.running import run_stack, waivers_of
from planner.secret_input import refuse_secrets_in_files


def plan_stack(
    root: Path,
    stack_name: str,
    *,
    policy_url: str | None = None,
    at: str | None = None,
    baseline: str | None = None,
    operation: Operation = "preview",
    reviews: str | None = None,
    trace: bool = False,
    write: bool = True,
) -> Plan:
    """Plan the stack in project folder ``root``.

    The plan and the policy record are written to ``out/<stack>/`` before any
    denial is raised by the caller (see :func:`verdict_error`). ``at`` (ISO 8601)
    is when waivers are judged, now by default. ``baseline`` is the path, from
    ``root``, of an approved plan: giving capacity back against it is warned of, and
    a looser classification or residency is denied. ``operation`` "update" is asked
    before a change: what only warns at a preview then denies. ``reviews`` is the path,
    from ``root``, of the Git host's reviews of waivers (docs/waivers.md). With ``trace``
    the record tells every finding. What is written besides is in docs/records.md.

    Raises InputError for anything wrong in the declared files and
    PolicyUnavailable when the engine gives no complete answer.
    """
    return run_stack(
        root,
        stack_name,
        policy_url=policy_url,
        at=at,
        baseline=baseline,
        operation=operation,
        reviews=reviews,
        trace=trace,
        write=write,
    ).plan


def verdict_error(plan: Plan) -> PlannerError | None:
    """Return the error a plan that may not proceed stands for, the gravest first."""
    where = f"stack {plan.stack}"
    blocked = [d for d in plan.decisions if d.status == "blocked"]
    denied = [d for d in plan.decisions if d.status == "denied"]
    infeasible = [d for d in plan.decisions if d.status == "infeasible"]
    stopped = [f for f in plan.findings if f.verdict in ("deny", "unavailable")]
    lines = [f"{d.workload}: {d.explanation}" for d in (*blocked, *denied)]
    for found in (stopped, *(list(blocking(decision)) for decision in (*blocked, *denied))):
        lines += findings_text(found)
    if plan.verdict == "unavailable":
        return PolicyUnavailable(faults.CANNOT_TELL.at(where, "the policy could not tell"), lines)
    if plan.verdict == "deny":
        return PolicyDenied(faults.DENIED.at(where, "denied by policy"), lines)
    if infeasible:
        told = [f"  {d.workload}: {d.explanation}" for d in infeasible]
        what = f"no option can serve {', '.join(d.workload for d in infeasible)}"
        return Infeasible(faults.NOTHING_SERVES.at(where, what), told)
    return None


def read_waivers(root: Path, *, at: dt.datetime, reviews: str | None = None) -> WaiverBook:
    """Return the waivers of project folder ``root`` as the policies in it judge them.

    ``reviews`` is the path, from ``root``, of the Git host's reviews. No engine is asked.
    Raises InputError and PolicyUnavailable as planning does.
    """
    require_project(root)
    refuse_secrets_in_files(root / "policies" / "waivers")
    bundle = read_bundle(own_policies(root))
    return waivers_of(root, bundle, at, reviews)


def write_schemas(folder: Path) -> list[Path]:
    """Write the JSON Schemas of workload and platform files and of plans; return their paths."""
    paths = []
    for name, schema in sorted({**json_schemas(), "plan": plan_schema()}.items()):
        path = folder / f"{name}.schema.json"
        write_whole(path, json.dumps(schema, sort_keys=True, indent=2) + "\n")
        paths.append(path)
    return paths
