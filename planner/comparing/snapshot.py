"""What of a plan is compared: small enough to be an output of a deployed stack.

A snapshot is taken of a whole plan. Its compact form, without the options that lost, is what a
stack exports; a comparison with it knows everything but why the deployed plan's losers lost.
"""

from __future__ import annotations

import json
from typing import Literal, TypeVar

from planner.base import Frozen
from planner.canonical import canonical, plain, rounded
from planner.capacity import Resources
from planner.comparing.size import Size, size_of
from planner.decision import Decision, LostBecause, Mix, Outcome, Status
from planner.grounds import deciding
from planner.option import Option
from planner.plan import NOTHING_SPENT, Inputs, Plan, Totals
from planner.policy.verdicts import Finding, Verdict
from planner.policy.waivers import STACK
from planner.workload import Classification

SCHEMA_VERSION = 1
"""Raised by the rule of planner.plan_reading."""

UNKNOWN_PLACE = "unknown"
"""Where the catalog does not say where a deployment processes prompts."""

Model = TypeVar("Model", bound=Frozen)


class Lost(Frozen):
    """An option that was not chosen, and why."""

    option: str
    lost: LostBecause | None
    why: str


class Spend(Frozen):
    """Cost of what was chosen for a workload, USD a month; engineering is the stack's.

    ``committed_usd`` is the part of ``fixed_usd`` that is bought for a term.
    """

    fixed_usd: float
    usage_usd: float
    committed_usd: float = 0.0

    @property
    def total_usd(self) -> float:
        """Return fixed and usage together."""
        return self.fixed_usd + self.usage_usd


class Place(Frozen):
    """Where a workload's prompts are processed, its spill target included.

    ``jurisdictions`` are ISO countries, or :data:`UNKNOWN_PLACE`.
    """

    regions: tuple[str, ...]
    jurisdictions: tuple[str, ...]


class State(Frozen):
    """One workload as a plan has it. Everything about what was chosen is None without a choice.

    ``unpriced`` counts the options that lost because a price is not known.
    """

    workload: str
    classification: Classification
    residency: tuple[str, ...]
    status: Status
    explanation: str
    mix: Mix
    option: str | None = None
    size: Size | None = None
    spend: Spend | None = None
    place: Place | None = None
    usd_per_mtok: float | None = None
    price_sources: tuple[str, ...] = ()
    latency_basis: str | None = None
    unpriced: int = 0
    lost: tuple[Lost, ...] = ()


class Found(Frozen):
    """A finding that a plan rests on, with the workload it is about, or "stack"."""

    workload: str
    finding: Finding

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what makes it news: another option of the workload is none."""
        waiver = self.finding.waiver.id if self.finding.waiver else ""
        return (self.finding.rule_id, self.workload, self.finding.verdict, waiver)


class Snapshot(Frozen):
    """A plan as the comparison sees it."""

    schema_version: int = SCHEMA_VERSION
    stack: str
    as_of: str
    verdict: Verdict
    infeasible: tuple[str, ...] = ()
    capacity_digest: str
    evidence_digest: str
    inputs: Inputs
    totals: Totals
    states: tuple[State, ...]
    findings: tuple[Found, ...]
    resources: Resources
    overrides: tuple[str, ...] = ()
    kind: Literal["plan", "deployed", "nothing"] = "plan"

    def deployed(self) -> Snapshot:
        """Return the compact form: what a stack exports."""
        states = tuple(state.model_copy(update={"lost": ()}) for state in self.states)
        resources = self.resources.model_copy(update={"steps": (), "quotas": ()})
        return self.model_copy(
            update={"states": states, "resources": resources, "kind": "deployed"}
        )

    def to_json(self) -> str:
        """Return the snapshot as one canonical line."""
        return canonical(rounded(json.loads(self.model_dump_json(exclude_defaults=True))))


def snapshot_of(plan: Plan) -> Snapshot:
    """Return what the comparison needs of a plan, the same of one in memory and of its file."""
    found = [
        Found(workload=decision.workload, finding=_as_written(finding))
        for decision in plan.decisions
        for finding in deciding(decision)
    ]
    names = {decision.workload for decision in plan.decisions}
    for finding in plan.findings:
        about = finding.subject if finding.subject in names else STACK
        found.append(Found(workload=about, finding=_as_written(finding)))
    return Snapshot(
        stack=plan.stack,
        as_of=plan.as_of,
        verdict=plan.verdict,
        infeasible=tuple(sorted(d.workload for d in plan.decisions if d.status == "infeasible")),
        capacity_digest=plan.capacity_digest,
        evidence_digest=plan.evidence_digest,
        inputs=plan.inputs,
        totals=_as_written(plan.totals),
        states=tuple(
            sorted((_state(item) for item in plan.decisions), key=lambda state: state.workload)
        ),
        findings=tuple(
            sorted(
                (item for item in found if item.finding.verdict != "allow"),
                key=lambda item: (*item.key, item.finding.subject, item.finding.message),
            )
        ),
        resources=_as_written(plan.resources),
        overrides=tuple(sorted(plan.overrides)),
    )


def nothing(stack: str) -> Snapshot:
    """Return the snapshot of a stack that does not exist yet: nothing there, nothing spent."""
    return Snapshot(
        stack=stack,
        as_of="",
        verdict="allow",
        capacity_digest="",
        evidence_digest="",
        inputs=Inputs(input_digest="", catalog_digest="", policy_digest=""),
        totals=NOTHING_SPENT,
        states=(),
        findings=(),
        resources=Resources(node_pools=(), servers=(), deployments=(), purchases=()),
        kind="nothing",
    )


def _as_written(model: Model) -> Model:
    """Return a value as a plan's file has it: numbers cut to the digits that matter."""
    return type(model).model_validate_json(canonical(plain(model)))


def _state(decision: Decision) -> State:
    mix = _as_written(decision.mix)
    state = State(
        workload=decision.workload,
        classification=decision.classification,
        residency=tuple(sorted(decision.residency)),
        status=decision.status,
        explanation=decision.explanation,
        mix=mix,
        unpriced=sum(outcome.lost == "unknown_price" for outcome in decision.others),
        lost=tuple(
            Lost(option=outcome.option.id, lost=outcome.lost, why=outcome.why)
            for outcome in decision.others
        ),
    )
    if decision.chosen is None:
        return state
    chosen = _as_written(decision.chosen)
    cost = chosen.cost
    return state.model_copy(
        update={
            "option": chosen.option.id,
            "size": _as_written(size_of(chosen, mix)),
            "spend": _spend(chosen),
            "place": _place(chosen.option),
            "usd_per_mtok": cost.usd_per_mtok if cost else None,
            "price_sources": tuple(sorted(cost.price_sources)) if cost else (),
            "latency_basis": chosen.latency.basis if chosen.latency else None,
        }
    )


def _spend(chosen: Outcome) -> Spend | None:
    """Return the cost of the chosen option; None where any part of it is not known."""
    cost = chosen.cost
    if cost is None or cost.total_usd_per_month is None:
        return None
    fixed = cost.fixed_usd_per_month
    usage = cost.variable_usd_per_month
    if fixed is None or usage is None:
        return None
    return Spend(
        fixed_usd=fixed,
        usage_usd=usage,
        committed_usd=fixed if chosen.option.term_months else 0.0,
    )


def _place(option: Option) -> Place:
    known = [option.jurisdictions]
    regions = {f"{option.provider} {option.region}"}
    if option.spill is not None:
        known.append(option.spill.jurisdictions)
        regions.add(f"{option.spill.provider} {option.spill.region}")
    countries = {
        country for group in known for country in ((UNKNOWN_PLACE,) if group is None else group)
    }
    return Place(regions=tuple(sorted(regions)), jurisdictions=tuple(sorted(countries)))
