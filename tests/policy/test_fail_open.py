"""The known ways in which Rego and its callers fail open, each held shut."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.errors import PolicyUnavailable
from planner.policy.bundle import read_bundle
from planner.policy.document import DECISION_KEYS
from planner.policy.engine import PolicyEngine
from tests.policy.waiving import load, write

OPTION_KEYS = (
    "workload",
    "model",
    "scope",
    "jurisdictions",
    "operator_class",
    "spill",
    "deployment_key",
    "beyond_inference",
)
"""Keys that some rule rests on; the others describe the option to a reader."""


@pytest.mark.parametrize("key", OPTION_KEYS)
def test_leaving_a_field_out_never_allows(
    engine: PolicyEngine, make: SimpleNamespace, key: str
) -> None:
    document = make.question([make.option(pinned=True)])
    assert engine.ask(document).options == {"chat/payg": "allow"}
    del document["options"][0][key]
    assert engine.ask(document).options["chat/payg"] in ("deny", "unavailable")


@pytest.mark.parametrize("key", OPTION_KEYS)
def test_leaving_a_field_out_never_lifts_a_denial(
    engine: PolicyEngine, make: SimpleNamespace, key: str
) -> None:
    wrong = make.option(
        model="unlisted",
        scope="global",
        jurisdictions=None,
        spill=make.spill(scope="global", jurisdictions=None),
        pinned=True,
    )
    document = make.question([wrong], make.workload(classification="restricted"))
    before = {found.rule_id for found in engine.ask(document).findings}
    assert before == {"RES-001", "RES-003", "TPP-001", "MOD-001", "EVA-001"}
    del document["options"][0][key]
    assert before <= {found.rule_id for found in engine.ask(document).findings}


@pytest.mark.parametrize("key", ["scope", "jurisdictions", "operator_class"])
def test_a_spill_target_that_leaves_a_field_out(
    engine: PolicyEngine, make: SimpleNamespace, key: str
) -> None:
    document = make.question([make.option(spill=make.spill())])
    assert engine.ask(document).options == {"chat/payg": "allow"}
    del document["options"][0]["spill"][key]
    assert engine.ask(document).options["chat/payg"] in ("deny", "unavailable")


@pytest.mark.parametrize("key", ["tier", "classification", "residency"])
def test_a_workload_that_leaves_a_field_out(
    engine: PolicyEngine, make: SimpleNamespace, key: str
) -> None:
    document = make.question([make.option(pinned=True)])
    del document["workloads"]["chat"][key]
    assert engine.ask(document).options == {"chat/payg": "deny"}


def test_an_option_of_no_workload(engine: PolicyEngine, make: SimpleNamespace) -> None:
    document = make.question([make.option()])
    document["workloads"] = {}
    assert engine.ask(document).options == {"chat/payg": "deny"}


@pytest.mark.parametrize(
    "key",
    sorted(DECISION_KEYS - {"workload", "classification", "latency_objective"}),
)
def test_a_decision_that_leaves_a_field_out(
    engine: PolicyEngine, make: SimpleNamespace, key: str
) -> None:
    option = make.option(kind="provisioned")
    document = make.plan(make.decision(option=option, capacity_confirmed=False))
    assert {found.verdict for found in engine.ask(document).findings} == {"warn"}
    del document["decisions"][0][key]
    verdicts = {found.verdict for found in engine.ask(document).findings}
    if key == "option":  # who would serve it is then unknown, and the warning stays
        assert verdicts == {"warn", "unavailable"}
    else:
        assert "deny" in verdicts


@pytest.mark.parametrize("key", ["budget_usd_per_month", "total_usd_per_month"])
def test_a_plan_that_leaves_a_total_out(
    engine: PolicyEngine, make: SimpleNamespace, key: str
) -> None:
    document = make.plan()
    assert engine.ask(document).findings == ()
    del document[key]
    assert {found.rule_id for found in engine.ask(document).findings} == {"BUD-001"}


@pytest.mark.parametrize(
    ("key", "rules", "verdict"),
    [
        ("decisions", {"CLS-001"}, "deny"),
        ("baseline", {"CLS-002"}, "deny"),
        ("servers", {"PIN-001"}, "deny"),
        ("pools", {"POL-001"}, "deny"),
        ("egress", {"EGR-001"}, "deny"),
        ("purchases", {"COM-001"}, "deny"),
        ("operation", {"PIN-001", "COM-001"}, "deny"),
        ("regimes", {"RGM-001"}, "unavailable"),
    ],
)
def test_a_plan_that_leaves_out_what_it_would_do(
    engine: PolicyEngine, make: SimpleNamespace, key: str, rules: set[str], verdict: str
) -> None:
    document = make.plan()
    assert engine.ask(document).findings == ()
    del document[key]
    expected = {(rule, "stack", verdict) for rule in rules}
    found = engine.ask(document).findings
    assert {(one.rule_id, one.subject, one.verdict) for one in found} == expected


def test_a_waiver_whose_date_cannot_be_read_is_not_live(tmp_path: Path) -> None:
    write(tmp_path, expires="soon")
    book = load(tmp_path)
    assert book.waivers == ()
    assert "expires" in book.rejected[0].reason


def test_an_unknown_package_is_an_empty_200_and_no_pass(
    central_opa: Callable[..., str], make: SimpleNamespace
) -> None:
    with (
        PolicyEngine(central_opa()) as engine,
        pytest.raises(PolicyUnavailable, match="undefined"),
    ):
        engine.ask(make.question([make.option()]))


def served_without(policies: Path, folder: Path, *parts: str) -> str:
    read_bundle(policies).write_to(folder)
    for part in parts:
        (folder / "llm_capacity/rules" / part).unlink()
    return str(folder)


def test_a_central_server_that_lost_a_rule(
    central_opa: Callable[..., str], make: SimpleNamespace, policies: Path, tmp_path: Path
) -> None:
    folder = served_without(policies, tmp_path / "b", "residency/spill_target.rego")
    with (
        PolicyEngine(central_opa("--bundle", folder)) as engine,
        pytest.raises(PolicyUnavailable, match="not evaluated: RES-003"),
    ):
        engine.ask(make.question([make.option()]))


def test_a_central_server_without_any_rule(
    central_opa: Callable[..., str], make: SimpleNamespace, policies: Path, tmp_path: Path
) -> None:
    rules = policies / "llm_capacity/rules"
    every = [
        path.relative_to(rules).as_posix()
        for path in rules.rglob("*.rego")
        if not path.name.endswith("_test.rego")
    ]
    folder = served_without(policies, tmp_path / "b", *every)
    with (
        PolicyEngine(central_opa("--bundle", folder)) as engine,
        pytest.raises(PolicyUnavailable, match=r"rules_evaluated is 0|undefined"),
    ):
        engine.ask(make.question([make.option()]))


def test_a_rule_lost_from_the_clone(policies: Path) -> None:
    listed = len(read_bundle(policies).stages)
    (policies / "llm_capacity/rules/approval/model.rego").unlink()
    told = f"holds {listed - 1} rules but its manifest lists {listed}"
    with pytest.raises(PolicyUnavailable, match=told):
        read_bundle(policies)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"rules": 1}', '{"rules": [{}]}'])
def test_a_manifest_that_cannot_be_read(policies: Path, content: str) -> None:
    (policies / "llm_capacity/manifest/data.json").write_text(content)
    with pytest.raises(PolicyUnavailable, match="manifest"):
        read_bundle(policies)


def test_no_policies_at_all(tmp_path: Path) -> None:
    with pytest.raises(PolicyUnavailable, match="manifest"):
        read_bundle(tmp_path)


def edit(policies: Path, rule: str, old: str, new: str) -> None:
    path = policies / "llm_capacity/rules" / rule
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def ask_edited(opa: str, policies: Path, document: dict[str, Any]) -> Any:
    with PolicyEngine(policies=policies, opa=opa) as engine:
        return engine.ask(document)


def test_a_fault_in_a_built_in_blocks(opa: str, policies: Path, make: SimpleNamespace) -> None:
    """Without strict built-in errors the denial would quietly be undefined."""
    edit(policies, "approval/model.rego", "not nobody_names(option)", "to_number(option.model) > 0")
    with pytest.raises(PolicyUnavailable, match=r"HTTP 500.*to_number"):
        ask_edited(opa, policies, make.question([make.option(model="unlisted")]))


def test_two_rules_with_one_id_block(opa: str, policies: Path, make: SimpleNamespace) -> None:
    edit(policies, "approval/model.rego", "id: MOD-001", "id: RES-001")
    with pytest.raises(PolicyUnavailable, match="HTTP 500"):
        ask_edited(opa, policies, make.question([make.option()]))


def test_a_rule_without_metadata_blocks(opa: str, policies: Path, make: SimpleNamespace) -> None:
    path = policies / "llm_capacity/rules/approval/model.rego"
    path.write_text(path.read_text()[path.read_text().index("package ") :])
    with pytest.raises(PolicyUnavailable, match="not evaluated: MOD-001"):
        ask_edited(opa, policies, make.question([make.option()]))


def test_a_finding_without_remedy_blocks(opa: str, policies: Path, make: SimpleNamespace) -> None:
    edit(policies, "approval/model.rego", "#   severity: high\n", "")
    with pytest.raises(PolicyUnavailable, match=r"malformed \(severity"):
        ask_edited(opa, policies, make.question([make.option(model="unlisted")]))


def test_unknown_at_preview_is_not_compliant(engine: PolicyEngine, make: SimpleNamespace) -> None:
    document = make.question([make.option(scope="zone", jurisdictions=None)])
    assert engine.ask(document).options == {"chat/payg": "unavailable"}


def test_an_unknown_stage_is_answered_by_nobody(engine: PolicyEngine) -> None:
    with pytest.raises(PolicyUnavailable, match="rules_evaluated is 0"):
        engine.ask({"stage": "later", "options": []})


def test_a_date_that_no_calendar_has_blocks(engine: PolicyEngine, make: SimpleNamespace) -> None:
    with pytest.raises(PolicyUnavailable, match=r"parse_rfc3339_ns|out of range"):
        engine.ask(make.plan(make.decision(retires_on="2027-02-30")))


def test_a_naive_moment_is_refused(make: SimpleNamespace) -> None:
    from planner.policy.document import instant

    with pytest.raises(ValueError, match="time zone"):
        instant(dt.datetime(2026, 12, 1))
