"""The library's entry points: plan a stack, leave the evidence, say the verdict."""

from __future__ import annotations

import datetime as dt
import getpass
import json
import os
import tempfile
from pathlib import Path

from planner.catalog.loader import load_catalog
from planner.catalog.shapes import load_shape
from planner.declare import json_schemas, load_stack
from planner.diff import (
    baseline_digest,
    baseline_protection,
    baseline_resources,
    scale_down_warnings,
)
from planner.errors import (
    Infeasible,
    InputError,
    PlannerError,
    PolicyDenied,
    PolicyUnavailable,
    Problem,
)
from planner.plan import Plan
from planner.planning import make_plan
from planner.policy.document import Operation
from planner.policy.engine import PolicyEngine
from planner.policy.record import append_record, policy_record
from planner.policy.waivers import load_waivers
from planner.purchases import purchase_records
from planner.questions import Baseline
from planner.report.text import blocking, findings_text

OUT_FOLDER = "out"

FIRST_YEAR, LAST_YEAR = 2000, 2199
"""Years of ``--at``: those of every declared date."""


def plan_stack(
    root: Path,
    stack_name: str,
    *,
    policy_url: str | None = None,
    at: str | None = None,
    baseline: str | None = None,
    operation: Operation = "preview",
    write: bool = True,
) -> Plan:
    """Plan the stack in project folder ``root``.

    The plan and the policy record are written to ``out/<stack>/`` before any
    denial is raised by the caller (see :func:`verdict_error`). ``at`` (ISO 8601)
    is when waivers are judged, now by default. ``baseline`` is the path, from
    ``root``, of an approved plan: giving capacity back against it is warned of, and
    a looser classification or residency is denied. ``operation`` "update" is asked
    before a change: what only warns at a preview then denies.

    Raises InputError for anything wrong in the declared files and
    PolicyUnavailable when the engine gives no complete answer.
    """
    root = root.resolve()
    evaluated_at = _moment(at)
    catalog = load_catalog()
    stack = load_stack(root, stack_name, catalog)
    policies = root / "policies"
    waivers = load_waivers(policies / "waivers")
    settings = stack.platform.policy
    approved = None if baseline is None else _text(root, baseline)
    held = None if approved is None else baseline_resources(approved, baseline or "")
    with PolicyEngine(
        policy_url or settings.url,
        timeout_seconds=settings.timeout_seconds,
        policies=policies if policies.is_dir() else None,
    ) as engine:
        planned = make_plan(
            stack,
            catalog,
            engine,
            evaluated_at=evaluated_at,
            waivers=waivers,
            shape_of=load_shape,
            operation=operation,
            baseline=None
            if approved is None
            else Baseline(baseline_digest(approved), baseline_protection(approved)),
        )
        facts = engine.facts
    plan = planned.plan
    if held is not None:
        lost = tuple(scale_down_warnings(held, plan.resources))
        plan = plan.model_copy(update={"warnings": (*plan.warnings, *lost)})
    if write:
        record = policy_record(
            stack=stack.name,
            evaluated_at=evaluated_at,
            actor=_actor(),
            commit=os.environ.get("GIT_COMMIT") or os.environ.get("GITHUB_SHA"),
            plan_digest=plan.evidence_digest,
            documents=planned.documents,
            facts=facts,
            verdict=plan.verdict,
            findings=planned.findings,
            waivers=waivers,
        )
        folder = root / OUT_FOLDER / stack.name
        write_whole(folder / "plan.json", plan.to_json())
        _write_purchases(folder / "purchases", purchase_records(plan))
        append_record(folder / "policy-record.jsonl", record)
    return plan


def verdict_error(plan: Plan) -> PlannerError | None:
    """Return the error a plan that may not proceed stands for, the gravest first."""
    blocked = [d for d in plan.decisions if d.status == "blocked"]
    denied = [d for d in plan.decisions if d.status == "denied"]
    infeasible = [d for d in plan.decisions if d.status == "infeasible"]
    stopped = [f for f in plan.findings if f.verdict in ("deny", "unavailable")]
    lines = [f"{d.workload}: {d.explanation}" for d in (*blocked, *denied)]
    for found in (stopped, *(list(blocking(decision)) for decision in (*blocked, *denied))):
        lines += findings_text(found)
    if plan.verdict == "unavailable":
        return PolicyUnavailable("\n".join(["the policy could not tell:", *lines]))
    if plan.verdict == "deny":
        return PolicyDenied("\n".join(["denied by policy:", *lines]))
    if infeasible:
        told = [f"{d.workload}: {d.explanation}" for d in infeasible]
        return Infeasible("\n".join(["no option can serve:", *told]))
    return None


def write_schemas(folder: Path) -> list[Path]:
    """Write the JSON Schemas of workload and platform files; return their paths."""
    paths = []
    for name, schema in sorted(json_schemas().items()):
        path = folder / f"{name}.schema.json"
        write_whole(path, json.dumps(schema, sort_keys=True, indent=2) + "\n")
        paths.append(path)
    return paths


def write_whole(path: Path, text: str) -> None:
    """Write a file so that others see the old content or the new, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _write_purchases(folder: Path, records: dict[str, str]) -> None:
    """Write the records of this plan; those of an earlier one are removed."""
    for old in folder.glob("*"):
        if old.name not in records and not old.is_dir():
            old.unlink()
    for name, text in records.items():
        write_whole(folder / name, text)


def _text(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"cannot be read: {error}"
        raise InputError([Problem(path, what, "Give a plan.json of this stack.")]) from None


def _moment(at: str | None) -> dt.datetime:
    if at is None:
        return dt.datetime.now(dt.UTC)
    try:
        moment = dt.datetime.fromisoformat(at)
    except ValueError:
        problem = Problem("--at", f"{at!r} is not a time", "Write 2026-11-29 or 2026-11-29T12:00Z.")
        raise InputError([problem]) from None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        what = f"{at!r} is outside the years {FIRST_YEAR} to {LAST_YEAR}"
        raise InputError([Problem("--at", what, "Write 2026-11-29 or 2026-11-29T12:00Z.")])
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _actor() -> str:
    try:
        return os.environ.get("LLM_CAPACITY_ACTOR") or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
