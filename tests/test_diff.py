"""What cannot be undone is said before it is done."""

from __future__ import annotations

from typing import Any

import pytest

from planner.capacity import ProviderDeployment, Resources
from planner.diff import protection_of, scale_down_warnings
from tests.report.builders import decision, make_plan, outcome

FLOOR = ProviderDeployment(
    name="assist",
    workload="assist",
    tier="interactive",
    provider="azure",
    account="oai",
    resource_group="rg",
    region="eastus2",
    model="gpt-4.1-mini",
    model_version="2025-04-14",
    deployment_type="GlobalProvisionedManaged",
    kind="provisioned",
    capacity=50,
    spillover_to="assist-spill",
)
SPILL = FLOOR.model_copy(update={"name": "assist-spill", "kind": "payg", "spillover_to": None})
UNITS = FLOOR.model_copy(
    update={
        "provider": "aws",
        "account": "br",
        "deployment_type": "provisioned",
        "model_arn": "arn:one",
        "term_months": 6,
    }
)


def resources(*deployments: ProviderDeployment) -> Resources:
    return Resources(node_pools=(), servers=(), deployments=deployments, purchases=())


def warned(old: ProviderDeployment, **changes: Any) -> list[str]:
    new = old.model_copy(update=changes)
    return scale_down_warnings(resources(old), resources(new))


def test_the_same_or_more_warns_of_nothing() -> None:
    assert warned(FLOOR) == []
    assert warned(FLOOR, capacity=60) == []
    assert scale_down_warnings(resources(), resources(FLOOR)) == []


def test_fewer_units_are_given_back_for_good() -> None:
    (text,) = warned(FLOOR, capacity=30)
    assert "shrinks from 50 to 30 units: 20 are given back for good" in text


def test_payg_has_nothing_to_give_back() -> None:
    assert warned(SPILL, capacity=1) == []
    assert scale_down_warnings(resources(SPILL), resources()) == []


def test_a_removed_floor_is_named_and_so_is_its_term() -> None:
    (text,) = scale_down_warnings(resources(FLOOR), resources())
    assert "is removed: 50 units are given back for good" in text
    first, second = scale_down_warnings(resources(UNITS), resources())
    assert "is removed before its 6-month term ends" in first
    assert "paid to the end" in second


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "gpt-5-mini"}, "model gpt-4.1-mini to gpt-5-mini"),
        ({"deployment_type": "ProvisionedManaged"}, "deployment type"),
        ({"region": "westus"}, "region eastus2 to westus"),
    ],
)
def test_a_replaced_floor_is_given_back_first(change: dict[str, Any], words: str) -> None:
    (text,) = warned(FLOOR, **change)
    assert "is replaced" in text
    assert words in text


@pytest.mark.parametrize(
    "change", [{"capacity": 60}, {"capacity": 40}, {"model_arn": "arn:two"}, {"term_months": 1}]
)
def test_model_units_are_billed_twice_when_replaced_inside_a_term(change: dict[str, Any]) -> None:
    assert any(text.endswith("twice") for text in warned(UNITS, **change))
    without_term = warned(UNITS.model_copy(update={"term_months": 0}), capacity=60)
    assert without_term == []


def test_how_an_approved_plan_protects_its_workloads() -> None:
    plan = make_plan([decision("chat", chosen=outcome()), decision("batch")])
    protected = {"classification": "confidential", "jurisdictions": ["AU"]}
    assert protection_of(plan) == {"chat": protected, "batch": protected}
