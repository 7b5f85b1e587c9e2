"""Plans from findings, without planning: what the formats of ``check`` are given."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from planner.decision import Decision, Mix, Outcome
from planner.option import Option
from planner.plan import NOTHING_SPENT, Inputs, Plan, Resources
from planner.policy.answer import worst
from planner.policy.verdicts import Finding
from planner.policy.waivers import WaiverBook
from planner.report.findings import Checked, RuleRow
from tests.policy.conftest import make_option

AT = dt.datetime(2026, 12, 1, 12, 0, tzinfo=dt.UTC)
FILES = {"chat": "stacks/prod/chat.yaml", "batch": "stacks/prod/night work.yaml"}

RULES = (
    RuleRow("BUD-001", "The plan stays within the budget", "high", ("plan",), ("budget_owner",)),
    RuleRow("MOD-001", "The model is approved", "high", ("options",), ("ai_risk",)),
    RuleRow("RES-001", "Prompts stay inside", "critical", ("options",), ()),
    RuleRow("RSC-001", "As planned", "critical", ("resources",), ()),
    RuleRow("TIER-001", "Work is apart", "medium", ("options", "plan"), ("platform_owner",)),
)

WAIVER = {
    "id": "WVR-2026-014",
    "approver": "head-of-ai-risk",
    "approver_role": "ai_risk",
    "verified_by": "signature",
    "digest": f"sha256:{'0' * 64}",
    "ticket": "RISK-1203",
    "reason": "The committee approves the model on 2026-12-15.",
    "granted": "2026-11-20T00:00:00+00:00",
    "expires": "2026-12-31T00:00:00+00:00",
    "scope": {"stack": "prod", "model": "gpt-4.1-mini"},
}


def make_finding(**changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "rule_id": "RES-001",
        "title": "Prompts are processed only inside the declared residency",
        "severity": "critical",
        "verdict": "deny",
        "message": "chat/payg may be processed in JP, not inside the residency AU",
        "remedy": "Choose a region inside the residency.",
        "citation": {"document": "Regulation (EU) 2016/679 (GDPR)", "clause": "Article 44"},
        "waivable_by": [],
        "subject": "chat/payg",
        "observed": {"jurisdictions": ["AU", "JP"], "spill": None},
        "expected": {"countries": ["AU"], "known": True},
        "evidence": "/options/0/jurisdictions",
    }
    fields |= changes
    return Finding.model_validate({"raw_verdict": fields["verdict"], **fields})


def model_finding(**changes: Any) -> Finding:
    return make_finding(
        **{
            "rule_id": "MOD-001",
            "title": "The model is approved",
            "severity": "high",
            "waivable_by": ["ai_risk", "compliance"],
            "message": "gpt-4.1-mini is approved for internal data at most",
            "evidence": "/options/0/model",
            **changes,
        }
    )


def waived_finding(**changes: Any) -> Finding:
    return model_finding(verdict="warn", raw_verdict="deny", waiver=WAIVER, **changes)


def budget_finding(**changes: Any) -> Finding:
    return make_finding(
        **{
            "rule_id": "BUD-001",
            "title": "The plan stays within the budget",
            "severity": "high",
            "subject": "stack",
            "message": "The plan costs USD 1000 a month; the budget is USD 1",
            "observed": {"total_usd_per_month": 12000.5},
            "expected": {"at_most_usd_per_month": 1},
            "waivable_by": ["budget_owner"],
            "evidence": "/total_usd_per_month",
            **changes,
        }
    )


def outcome(findings: Sequence[Finding] = (), *, lost: str | None = None, **option: Any) -> Outcome:
    made: Option = make_option(**option)
    return Outcome(
        option=made,
        verdict=worst([finding.verdict for finding in findings]),
        findings=tuple(findings),
        self_hosted=None,
        cost=None,
        compared_usd_per_month=None,
        floor_tokens_per_minute=0.0,
        latency=None,
        availability=None,
        misses=(),
        notes=(),
        lost=lost,  # type: ignore[arg-type]
        why="",
        extra_usd_per_month=None,
    )


def decision(
    workload: str = "chat",
    *,
    chosen: Outcome | None = None,
    others: Sequence[Outcome] = (),
    status: str | None = None,
    explanation: str = "as it is",
) -> Decision:
    return Decision(
        workload=workload,
        owner="team",
        tier="interactive",
        critical=False,
        classification="confidential",
        residency=("AU",),
        status=status or ("decided" if chosen else "denied"),  # type: ignore[arg-type]
        mix=Mix(
            output_fraction=0.2,
            cached_fraction=0.0,
            tokens_per_minute_p50=1.0,
            tokens_per_minute_p90=1.0,
            tokens_per_minute_peak=1.0,
            requests_per_minute_p50=1.0,
            tokens_per_month=1.0,
            active_hours_per_month=1.0,
            growth_factor=1.0,
            source="declared",
        ),
        chosen=chosen,
        runner_up=None,
        others=tuple(others),
        flip=None,
        tightest_objective="",
        engineering_usd_per_month=0.0,
        ladder=(),
        explanation=explanation,
    )


def make_plan(
    decisions: Sequence[Decision] = (), findings: Sequence[Finding] = (), verdict: str | None = None
) -> Plan:
    verdicts = [finding.verdict for finding in findings]
    verdicts += [item.chosen.verdict for item in decisions if item.chosen]
    verdicts += ["deny" for item in decisions if item.status == "denied"]
    verdicts += ["unavailable" for item in decisions if item.status == "blocked"]
    return Plan(
        stack="prod",
        as_of="2026-12-01",
        verdict=verdict or worst(verdicts),  # type: ignore[arg-type]
        decisions=tuple(decisions),
        findings=tuple(findings),
        resources=Resources(node_pools=(), servers=(), deployments=(), purchases=()),
        totals=NOTHING_SPENT,
        inputs=Inputs(input_digest="a" * 64, catalog_digest="b" * 64, policy_digest="c" * 64),
        warnings=(),
    )


def checked(
    decisions: Sequence[Decision] = (),
    findings: Sequence[Finding] = (),
    *,
    waivers: WaiverBook | None = None,
    verdict: str | None = None,
    at: dt.datetime = AT,
) -> Checked:
    return Checked(
        plan=make_plan(decisions, findings, verdict),
        at=at,
        files=FILES,
        waivers=waivers or WaiverBook(),
        rules=RULES,
    )
