"""The owner list and the manifest: who may waive, and who is who."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.errors import PolicyUnavailable
from planner.policy.bundle import Bundle, read_bundle
from planner.policy.waiver_owners import folded, waivable_rules, waiver_owners
from tests.policy.waiving import (
    APPROVERS,
    DAYS,
    RISK,
)


def test_spellings_of_a_name() -> None:
    assert folded("  @Head  of\tRISK ") == folded("head of risk") == folded("\uff28ead of risk")
    assert folded("head-of-risk") != folded("head of risk")


@pytest.mark.parametrize(
    "change",
    [
        {"b": {"roles": ["ai_risk"], "public_key": None, "git_login": "@RISK-owner"}},
        {"b": {"roles": ["ai_risk"], "public_key": RISK.public_pem + "\n", "git_login": None}},
        {"HEAD-of-ai-risk": {"roles": ["ai_risk"], "public_key": None, "git_login": None}},
        {"b": {"roles": [], "public_key": None, "git_login": None}},
        {"b": {"roles": ["ai_risk"], "public_key": None}},
        {"b": {"roles": ["ai_risk"], "public_key": None, "git_login": ""}},
    ],
    ids=str,
)
def test_an_owner_list_in_which_somebody_is_twice_or_half(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    with pytest.raises(PolicyUnavailable, match="the policies cannot be used"):
        waiver_owners(bundle_with(facts={"max_days": DAYS, "approvers": APPROVERS | change}))


def bundle_with(**changes: Any) -> Bundle:
    data = json.loads(json.dumps(read_bundle().data))
    for key, value in changes.items():
        if key == "facts":
            data["llm_capacity"]["facts"]["waiver_owners"] = value
        else:
            data["llm_capacity"]["manifest"]["rules"][0][key] = value
    return replace(read_bundle(), data=data)


@pytest.mark.parametrize(
    "days", [{}, {"high": 90}, DAYS | {"low": 367}, DAYS | {"high": 0}, DAYS | {"high": "90"}]
)
def test_an_owner_list_without_limits(days: dict[str, Any]) -> None:
    with pytest.raises(PolicyUnavailable, match="max_days"):
        waiver_owners(bundle_with(facts={"max_days": days, "approvers": {}}))


@pytest.mark.parametrize("change", [{"severity": "grave"}, {"waivable_by": "ai_risk"}])
def test_a_manifest_that_does_not_say_who_may_waive(change: dict[str, Any]) -> None:
    with pytest.raises(PolicyUnavailable, match="the rule manifest of the policies"):
        waivable_rules(bundle_with(**change))


def test_what_the_policies_ship_with() -> None:
    bundle = read_bundle()
    shipped = waiver_owners(bundle)
    assert shipped.approvers == {}
    assert shipped.max_days.model_dump() == DAYS
    rules = waivable_rules(bundle)
    assert set(rules) == set(bundle.stages)
    assert rules["MOD-001"].waivable_by == ("ai_risk",)
    assert rules["RES-001"].waivable_by == ()
