"""One run: read, gate, plan, keep the evidence."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.catalog.loader import Catalog, catalog_files, load_catalog
from planner.catalog.shapes import load_shape
from planner.declare import Stack, load_stack
from planner.diff import protection_of, scale_down_warnings
from planner.evidence.archive import Asked, Planned, files_of_waivers
from planner.evidence.attestation import record_signer
from planner.evidence.origin import origin_of
from planner.evidence.run import Judged, Run, keep_run
from planner.files import write_whole
from planner.plan import Plan
from planner.planning import make_plan
from planner.policy.approvals import read_reviews
from planner.policy.bundle import Bundle
from planner.policy.document import Operation
from planner.policy.engine import PolicyEngine
from planner.policy.project_owners import owners_of
from planner.policy.waiver_files import load_waivers
from planner.policy.waiver_owners import waivable_rules
from planner.policy.waivers import WaiverBook
from planner.project import own_policies
from planner.purchases import purchase_records
from planner.questions import Baseline
from planner.run_inputs import approved_of, moment_of, policy_files
from planner.secret_input import refuse_secrets_in_files

OUT_FOLDER = "out"


@dataclass(frozen=True)
class StackRun:
    """A plan, and what its readers need besides: what it rests on, waivers, the rules."""

    plan: Plan
    stack: Stack
    catalog: Catalog
    evaluated_at: dt.datetime
    waivers: WaiverBook
    manifest: bytes
    """The manifest of the rules, as the engine loaded it."""
    record: Mapping[str, Any] | None = None
    """The policy record of the run, None where none was written."""
    plan_json: str | None = None
    """The plan as written, None where it was not."""


def run_stack(
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
    step: Callable[[str], object] | None = None,
) -> StackRun:
    """Plan the stack in project folder ``root``; see :func:`planner.api.plan_stack`.

    ``step`` is told what begins, four times: a command shows it as progress.
    """
    begin = step or _untold
    begin("reading what is declared")
    root = root.resolve()
    evaluated_at = moment_of(at)
    signer = record_signer(os.environ) if write else None
    refuse_secrets_in_files(root / "policies" / "waivers")
    catalog = load_catalog()
    stack = load_stack(root, stack_name, catalog)
    held = None if baseline is None else approved_of(root, baseline, stack_name)
    begin("starting the policy engine")
    with policy_engine(root, stack, policy_url) as engine:
        begin("asking the policy, sizing and pricing")
        waivers = waivers_of(root, engine.bundle, evaluated_at, reviews)
        decided = make_plan(
            stack,
            catalog,
            engine,
            evaluated_at=evaluated_at,
            waivers=waivers,
            shape_of=load_shape,
            operation=operation,
            baseline=None
            if held is None
            else Baseline(held.capacity_digest, protection_of(held.plan)),
        )
        judged = Judged.by(engine)
        manifest = engine.bundle.manifest
    plan = decided.plan
    if held is not None:
        lost = tuple(scale_down_warnings(held.plan.resources, plan.resources))
        plan = plan.model_copy(update={"warnings": (*plan.warnings, *lost)})
    record = plan_json = None
    begin("writing plan and record")
    if write:
        plan_json = plan.to_json()
        run = Run(
            stack=stack.name,
            evaluated_at=evaluated_at,
            origin=origin_of(os.environ),
            verdict=plan.verdict,
            capacity_digest=plan.capacity_digest,
            declared_digest=stack.input_digest,
            trace=trace,
        )
        asked = Asked(
            decided.documents,
            decided.findings,
            waivers,
            files_of_waivers(root / "policies" / "waivers"),
        )
        planned = Planned(plan_json, plan.evidence_digest, catalog_files(), catalog.digest)
        folder = root / OUT_FOLDER / stack.name
        write_whole(folder / "plan.json", plan_json)
        _write_purchases(folder / "purchases", purchase_records(plan))
        record = keep_run(folder, run, judged, asked, planned, signer).record
    return StackRun(plan, stack, catalog, evaluated_at, waivers, manifest, record, plan_json)


def _untold(_: str) -> None:
    """Tell nobody what begins."""


def policy_engine(root: Path, stack: Stack, policy_url: str | None) -> PolicyEngine:
    """Return the engine that the stack's settings name, or the one at ``policy_url``."""
    settings = stack.platform.policy
    files = policy_files(root, settings)
    return PolicyEngine(
        policy_url or settings.url,
        timeout_seconds=settings.timeout_seconds,
        policies=own_policies(root),
        ca_bundle=files["ca_bundle"],
        bundle=files["bundle"],
        verification_key=files["verification_key"],
        verification_key_id=settings.verification_key_id,
    )


def waivers_of(root: Path, bundle: Bundle, at: dt.datetime, reviews: str | None) -> WaiverBook:
    """Return the project's waivers, judged by the owners that policies or project name.

    ``reviews`` is the path, from ``root``, of the Git host's reviews.
    """
    folder = root / "policies" / "waivers"
    return load_waivers(
        folder,
        rules=waivable_rules(bundle),
        owners=owners_of(folder, bundle),
        reviews=() if reviews is None else read_reviews(root / reviews),
        at=at,
    )


def _write_purchases(folder: Path, records: dict[str, str]) -> None:
    """Write the records of this plan; those of an earlier one are removed."""
    for old in folder.glob("*"):
        if old.name not in records and not old.is_dir():
            old.unlink()
    for name, text in records.items():
        write_whole(folder / name, text)
