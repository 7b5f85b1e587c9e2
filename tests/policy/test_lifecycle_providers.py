"""A commitment that outlives its model, for each provider, with the catalog's own dates."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.catalog.loader import load_catalog
from planner.policy.engine import PolicyEngine

PLAN = {"tested_on": "2026-09-01", "alternative": "Qwen/Qwen3-32B on own nodes"}
COMMITMENTS = {
    "azure": ("gpt-4.1", "GlobalProvisionedManaged", 12, "2027-04-14"),
    "aws": ("meta-llama/Llama-3.1-70B-Instruct", "provisioned", 6, "2027-03-30"),
    "gcp": ("gemini-3.5-flash", "pt_global", 12, "2027-05-19"),
}
"""Model, type, term in months, and when the provider retires the model.

Azure: deployments retire with the model, the commitment goes on. Bedrock: terms cannot be
ended early. Vertex: orders are bound to a model version and cannot be cancelled.
"""


def findings_of(
    engine: PolicyEngine, make: SimpleNamespace, provider: str, **changes: Any
) -> dict[str, str]:
    model, kind, term, _ = COMMITMENTS[provider]
    option = make.option(
        kind="provisioned", provider=provider, model=model, deployment_type=kind, term_months=term
    )
    row = load_catalog().model(model)
    decision = make.decision(
        option=option,
        term_months=term,
        horizon_months=term,
        retires_on=row.provider_retires[provider],
        **{"successor": None, "exit_plan": None, **changes},
    )
    found = engine.ask(make.plan(decision)).findings
    return {item.rule_id: item.verdict for item in found}


@pytest.mark.parametrize("provider", COMMITMENTS)
def test_the_catalog_knows_when_the_model_retires(provider: str) -> None:
    model, _, _, date = COMMITMENTS[provider]
    assert load_catalog().model(model).provider_retires[provider] == date


@pytest.mark.parametrize("provider", COMMITMENTS)
def test_critical_without_an_exit_plan_is_denied(
    engine: PolicyEngine, make: SimpleNamespace, provider: str
) -> None:
    found = findings_of(engine, make, provider, critical=True)
    assert found["LIF-001"] == "deny"
    assert found["EXI-001"] == "deny"
    named = findings_of(engine, make, provider, critical=True, successor="the next one")
    assert named["LIF-001"] == "deny", "a successor is no exit plan"


@pytest.mark.parametrize("provider", COMMITMENTS)
def test_not_critical_without_an_exit_plan_is_denied_for_the_term(
    engine: PolicyEngine, make: SimpleNamespace, provider: str
) -> None:
    assert findings_of(engine, make, provider, critical=False) == {"LIF-001": "deny"}


@pytest.mark.parametrize("provider", COMMITMENTS)
@pytest.mark.parametrize("critical", [True, False])
def test_planned_leaving_is_flagged_all_the_same(
    engine: PolicyEngine, make: SimpleNamespace, provider: str, critical: bool
) -> None:
    planned = {"critical": critical, "exit_plan": PLAN, "successor": "the next one"}
    assert findings_of(engine, make, provider, **planned) == {"LIF-001": "warn"}


@pytest.mark.parametrize("provider", COMMITMENTS)
def test_a_term_that_ends_before_the_model_is_no_matter(
    engine: PolicyEngine, make: SimpleNamespace, provider: str
) -> None:
    model, kind, _, date = COMMITMENTS[provider]
    option = make.option(
        kind="provisioned", provider=provider, model=model, deployment_type=kind, term_months=1
    )
    decision = make.decision(option=option, term_months=1, horizon_months=1, retires_on=date)
    assert engine.ask(make.plan(decision)).findings == ()
