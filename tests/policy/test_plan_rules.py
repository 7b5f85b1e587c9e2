"""The rules about what was decided, through the real OPA, against cases solved by hand.

Regimes are our own here, so that a case says what its regime asks for; the property about
further regimes is asked of the shipped ones as well.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.declared.terms import Agreement
from planner.policy.answer import ORDER, worst
from planner.policy.bundle import policies_folder
from planner.policy.document import Emitted
from planner.policy.engine import PolicyEngine
from planner.policy.verdicts import Finding
from tests.policy.planned import (
    DIGEST,
    REGIMES,
    egress,
    own_regimes,
    pool,
    purchase,
    said,
    server,
    shares,
    terms,
)

SHIPPED = sorted(
    json.loads((policies_folder() / "llm_capacity/facts/regimes/data.json").read_text())["regimes"]
)


@pytest.fixture(scope="module")
def ruled(opa: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyEngine]:
    with own_regimes(opa, tmp_path_factory.mktemp("ruled")) as running:
        yield running


@pytest.mark.parametrize("operation", ["preview", "update"])
def test_a_plan_that_is_in_order(
    ruled: PolicyEngine, make: SimpleNamespace, operation: str
) -> None:
    emitted = Emitted(
        servers=(server(),),
        pools=(pool(),),
        egress=(egress("docker.io", "images"), egress("huggingface.co", "weights")),
        purchases=(purchase(), purchase(term_months=0, signed=False)),
    )
    exit_plan = {"tested_on": "2026-09-01", "alternative": "own nodes", "stressed": True}
    baseline = {"classification": "confidential", "jurisdictions": ["AU"]}
    document = make.plan(
        make.decision(exit_plan=exit_plan, baseline=baseline),
        terms=terms(*REGIMES, operation=operation),
        emitted=emitted,
        baseline=DIGEST,
    )
    assert said(ruled, document) == set()


@pytest.mark.parametrize("critical", [True, False])
@pytest.mark.parametrize("operator_class", ["own_metal", "iaas", "managed_service"])
@pytest.mark.parametrize("regime", ["CRITICAL", "THIRD_PARTY", "ALL", "SILENT"])
def test_who_needs_an_entry_in_the_register(
    ruled: PolicyEngine,
    make: SimpleNamespace,
    regime: str,
    operator_class: str,
    critical: bool,
) -> None:
    asked = {
        "CRITICAL": critical,
        "THIRD_PARTY": operator_class != "own_metal",
        "ALL": True,
        "SILENT": False,
    }[regime]
    option = make.option(operator_class=operator_class)
    decision = make.decision(option=option, critical=critical, register_id=None)
    document = make.plan(decision, terms=terms(regime))
    findings = ruled.ask(document).findings
    assert [found.rule_id for found in findings] == (["REG-001"] if asked else [])
    assert {found.citation.document for found in findings} <= {f"Regime {regime}"}


@pytest.mark.parametrize(
    ("tokens", "plain", "under_regime"),
    [
        ({"azure": 50.0, "aws": 50.0}, set(), set()),
        ({"azure": 60.0, "aws": 40.0}, set(), set()),  # exactly the regime's limit
        ({"azure": 61.0, "aws": 39.0}, set(), {"deny"}),
        ({"azure": 80.0, "aws": 20.0}, set(), {"deny"}),  # exactly our own
        ({"azure": 81.0, "aws": 19.0}, {"warn"}, {"warn", "deny"}),
        ({"azure": 55.0, "metal": 45.0}, set(), set()),  # own machines are nobody's share
        ({"azure": 10.0, "metal": 90.0}, set(), set()),
        ({"azure": 90.0, "metal": 10.0}, {"warn"}, {"warn", "deny"}),
        ({"azure": 100.0}, set(), set()),  # one workload cannot be spread
    ],
)
def test_concentration(
    ruled: PolicyEngine,
    make: SimpleNamespace,
    tokens: dict[str, float],
    plain: set[str],
    under_regime: set[str],
) -> None:
    decisions = shares(make, **tokens)
    for regime, verdicts in (("SILENT", plain), ("EXIT", plain), ("SPREAD", under_regime)):
        for decision in decisions:
            decision["exit_plan"]["stressed"] = True
        document = make.plan(*decisions, terms=terms(regime))
        assert said(ruled, document) == {("CON-001", "stack", verdict) for verdict in verdicts}


@pytest.mark.parametrize(
    ("change", "answers"),
    [
        ({}, True),
        ({"provider": None}, True),
        ({"date": dt.date(2026, 12, 1)}, True),
        ({"date": dt.date(2026, 12, 2)}, False),
        ({"provider": "aws"}, False),
        ({"workload": "azure"}, False),
        ({"countries": ("AU",)}, False),
        ({"kind": "control_evidence"}, False),
    ],
)
def test_an_assessment_of_concentration(
    ruled: PolicyEngine, make: SimpleNamespace, change: dict[str, Any], answers: bool
) -> None:
    fields = {
        "kind": "concentration_assessment",
        "provider": "azure",
        "date": dt.date(2026, 10, 1),
        "ref": "RISK-1187",
    }
    paper = Agreement.model_validate(fields | change)
    document = make.plan(
        *shares(make, azure=90.0, aws=10.0), terms=terms("SPREAD", agreements=[paper])
    )
    expected = {("CON-001", "stack", verdict) for verdict in ("warn", "deny")}
    assert said(ruled, document) == (set() if answers else expected)


@pytest.mark.parametrize(
    ("tested_on", "stressed", "verdicts"),
    [
        ("2025-12-01", True, []),  # twelve months to the day
        ("2025-11-30", True, ["deny"]),
        ("2025-11-30", False, ["deny", "deny"]),
        ("2026-12-01", True, []),
        ("2026-12-02", True, ["unavailable"]),
        ("lately", True, ["unavailable"]),
        ("2026-12-02", False, ["deny", "unavailable"]),
    ],
)
def test_the_age_of_an_exit_test(
    ruled: PolicyEngine, make: SimpleNamespace, tested_on: str, stressed: bool, verdicts: list[str]
) -> None:
    plan = {"tested_on": tested_on, "alternative": "own nodes", "stressed": stressed}
    asked = ruled.ask(make.plan(make.decision(exit_plan=plan), terms=terms("EXIT"))).findings
    assert sorted(found.verdict for found in asked) == verdicts
    assert {(found.rule_id, found.citation.document) for found in asked} <= {
        ("EXI-001", "Regime EXIT")
    }
    for change in ({"critical": False}, {}):
        regimes = ("EXIT",) if change else ("SILENT",)
        decision = make.decision(exit_plan=plan, **change)
        assert said(ruled, make.plan(decision, terms=terms(*regimes))) == set()


REGISTERED = ("customer advice conversations", "wealth data owner", "confidential")


@pytest.mark.parametrize(
    ("change", "denials"),
    [
        ({}, 0),
        ({"signed_off_by": "Support  TEAM"}, 1),
        ({"signed_off_by": " "}, 1),
        ({"data_asset": ""}, 1),
        ({"data_asset": REGISTERED[0], "signed_off_by": REGISTERED[1]}, 0),
        ({"data_asset": " Customer Advice  Conversations", "signed_off_by": "x"}, 1),
        ({"data_asset": REGISTERED[0], "signed_off_by": "Wealth data owner"}, 0),
        (
            {
                "data_asset": REGISTERED[0],
                "signed_off_by": REGISTERED[1],
                "classification": "internal",
            },
            1,
        ),
        ({"data_asset": REGISTERED[0], "signed_off_by": "x", "classification": "public"}, 2),
        (
            {
                "data_asset": REGISTERED[0],
                "signed_off_by": REGISTERED[1],
                "classification": "restricted",
            },
            0,
        ),
    ],
)
def test_who_signs_the_classification_off(
    ruled: PolicyEngine, make: SimpleNamespace, change: dict[str, Any], denials: int
) -> None:
    findings = ruled.ask(make.plan(make.decision(**change))).findings
    assert [(found.rule_id, found.verdict) for found in findings] == [("CLS-001", "deny")] * denials


@pytest.mark.parametrize("operation", ["preview", "update"])
@pytest.mark.parametrize(
    ("baseline", "declared", "countries", "verdicts"),
    [
        (("confidential", ["AU"]), ["AU"], ["AU"], []),
        (("internal", ["AU", "NZ"]), ["AU"], ["AU"], []),
        (("restricted", ["AU"]), ["AU"], ["AU"], ["deny"]),
        (("confidential", ["AU"]), ["AU", "NZ"], ["AU", "NZ"], ["deny"]),
        (("restricted", ["AU"]), ["NZ"], ["NZ"], ["deny", "deny"]),
        (("confidential", ["EEA"]), ["EU"], ["DE", "FR"], []),
        (("confidential", ["EU"]), ["EEA"], ["DE", "NO"], ["deny"]),
        (("confidential", ["DE"]), ["EU"], ["DE"], []),  # no further country is admitted
        (("confidential", ["OCEANIA"]), ["AU"], ["AU"], ["unavailable"]),
        (("top", ["AU"]), ["AU"], ["AU"], ["unavailable"]),
    ],
)
def test_loosening_against_the_approved_plan(
    ruled: PolicyEngine,
    make: SimpleNamespace,
    baseline: tuple[str, list[str]],
    declared: list[str],
    countries: list[str],
    verdicts: list[str],
    operation: str,
) -> None:
    classification, jurisdictions = baseline
    decision = make.decision(
        baseline={"classification": classification, "jurisdictions": jurisdictions},
        residency={"jurisdictions": declared, "countries": countries},
    )
    document = make.plan(decision, terms=terms(operation=operation), baseline=DIGEST)
    findings = ruled.ask(document).findings
    assert [(found.rule_id, found.verdict) for found in findings] == [
        ("CLS-002", verdict) for verdict in verdicts
    ]


def test_a_regime_asks_for_an_approved_plan(ruled: PolicyEngine, make: SimpleNamespace) -> None:
    none = make.plan(terms=terms("COMPARED"))
    assert said(ruled, none) == {("CLS-002", "stack", "warn")}
    assert said(ruled, make.plan(terms=terms("COMPARED"), baseline=DIGEST)) == set()
    assert said(ruled, make.plan(terms=terms("SILENT"))) == set()


def test_regimes_that_nobody_describes(ruled: PolicyEngine, make: SimpleNamespace) -> None:
    document = make.plan(terms=terms("SILENT", "EU_DORRA", "silent"))
    findings = ruled.ask(document).findings
    assert {(found.rule_id, found.observed, found.verdict) for found in findings} == {
        ("RGM-001", "EU_DORRA", "unavailable"),
        ("RGM-001", "silent", "unavailable"),
    }


def test_who_may_waive_what(ruled: PolicyEngine, make: SimpleNamespace) -> None:
    """One plan that each rule has something to say about."""
    decisions = shares(make, azure=90.0, aws=10.0)
    decisions[0] |= {
        "register_id": None,
        "signed_off_by": "support team",
        "baseline": {"classification": "restricted", "jurisdictions": ["AU"]},
        "exit_plan": None,
    }
    emitted = Emitted(
        servers=(server(image_digest=None),),
        pools=(pool(),),
        egress=(egress("registry.example", "images"),),
        purchases=(purchase(signed=False),),
    )
    document = make.plan(*decisions, terms=terms("ALL", "NOBODYS"), emitted=emitted)
    roles = {found.rule_id: found.waivable_by for found in ruled.ask(document).findings}
    assert roles == {
        "RGM-001": (),
        "REG-001": ("compliance",),
        "CON-001": ("compliance",),
        "EXI-001": ("compliance",),
        "CLS-001": ("data_protection",),
        "CLS-002": ("data_protection",),
        "PIN-001": ("security",),
        "EGR-001": ("security",),
        "POL-001": (),
        "COM-001": ("procurement",),
    }


def ranks(findings: tuple[Finding, ...]) -> dict[tuple[str, str], int]:
    """The worst that each rule says of each subject."""
    found: dict[tuple[str, str], int] = {}
    for finding in findings:
        key = (finding.rule_id, finding.subject)
        found[key] = max(found.get(key, 0), ORDER.index(finding.verdict))
    return found


tested = st.sampled_from(["2024-01-01", "2026-03-01", "2026-11-30", "2027-01-01"])
workloads = st.fixed_dictionaries(
    {
        "critical": st.booleans(),
        "classification": st.sampled_from(["public", "internal", "confidential", "restricted"]),
        "register_id": st.sampled_from([None, "VR-0142"]),
        "tokens_per_month": st.sampled_from([0.0, 1.0, 10.0, 100.0]),
        "exit_plan": st.none()
        | st.fixed_dictionaries(
            {
                "tested_on": tested,
                "alternative": st.just("own nodes"),
                "stressed": st.booleans(),
            }
        ),
    }
)
sites = st.fixed_dictionaries(
    {
        "provider": st.sampled_from(["azure", "aws", "gcp"]),
        "operator_class": st.sampled_from(["own_metal", "iaas", "managed_service"]),
    }
)


@pytest.mark.parametrize("shipped", [False, True], ids=["ours", "shipped"])
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=st.lists(st.tuples(workloads, sites), min_size=1, max_size=4), data=st.data())
def test_a_further_regime_never_improves_a_plan(
    engine: PolicyEngine,
    ruled: PolicyEngine,
    make: SimpleNamespace,
    shipped: bool,
    rows: list[tuple[dict[str, Any], dict[str, Any]]],
    data: st.DataObject,
) -> None:
    asked, names = (engine, SHIPPED) if shipped else (ruled, sorted(REGIMES))
    more = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    fewer = more[: data.draw(st.integers(0, len(more) - 1))]
    operation = data.draw(st.sampled_from(["preview", "update"]))
    decisions = [
        make.decision(workload=f"w{i}", deployment_key=f"k{i}", option=make.option(**site), **row)
        for i, (row, site) in enumerate(rows)
    ]
    before, after = (
        asked.ask(make.plan(*decisions, terms=terms(*regimes, operation=operation))).findings
        for regimes in (fewer, more)
    )
    for key, rank in ranks(before).items():
        assert ranks(after).get(key, 0) >= rank, key
    verdicts = [worst([found.verdict for found in findings]) for findings in (before, after)]
    assert ORDER.index(verdicts[1]) >= ORDER.index(verdicts[0])
