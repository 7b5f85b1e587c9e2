"""What each regime adds, by hand."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from planner.declared.terms import Agreement
from planner.policy.bundle import policies_folder
from planner.policy.document import Terms
from planner.policy.engine import PolicyEngine
from planner.policy.gate import gate_options, gate_plan
from planner.policy.verdicts import OptionVerdict
from planner.workload import CLASSIFICATIONS
from tests.policy.regimes import FACTS, NAMES, PROFILES, paper


def asked(
    engine: PolicyEngine,
    make: SimpleNamespace,
    regimes: Iterable[str],
    papers: Sequence[Agreement],
    option: Any,
    workload: Any,
) -> OptionVerdict:
    terms = Terms(regimes=tuple(regimes), agreements=tuple(papers))
    document = make.question([option], workload, terms=terms)
    return gate_options(engine, document, [option])[option.id]


def case(
    name: str, regime: str, *added: str, at: dict[str, Any] | None = None, spill: Any = None,
    of: dict[str, Any] | None = None, papers: Sequence[Agreement] = (),
) -> Any:  # fmt: skip
    """Return one case: an option ``at`` a place, ``of`` a workload, and the rules that deny."""
    values = (regime, {"jurisdictions": ("AU",), **(at or {})}, spill, of or {}, papers, set(added))
    return pytest.param(*values, id=f"{regime}: {name}")


US = {"jurisdictions": ("US",)}
ANYWHERE = {"scope": "global", "jurisdictions": None}
OWN = {"operator_class": "own_metal", "kind": "self_hosted"}
HELD = {"key_custody": "customer_held"}
CRITICAL = {"critical": True}

CASES = [
    # Chapter V: the EEA and countries with an adequacy decision need nothing further.
    case("no decision on Australia", "EU_GDPR", "RES-005"),
    case("EEA and decisions", "EU_GDPR", at={"jurisdictions": ("CH", "DE", "GB", "JP", "NO")}),
    case("Canada and Korea", "EU_GDPR", at={"jurisdictions": ("CA", "KR", "UY")}),
    case("US for participants only", "EU_GDPR", "RES-005", at=US),
    case("US with a tool", "EU_GDPR", at=US, papers=[paper("transfer_tool")]),
    case("US with that tool", "EU_GDPR", at=US, papers=[paper("transfer_tool", None, "US")]),
    case("tool of another", "EU_GDPR", "RES-005", at=US, papers=[paper("transfer_tool", "aws")]),
    case("another paper", "EU_GDPR", "RES-005", at=US, papers=[paper("baa")]),
    case("tool for elsewhere", "EU_GDPR", "RES-005", at=US,
         papers=[paper("transfer_tool", "azure", "IN")]),
    case("tool of tomorrow", "EU_GDPR", "RES-005", at=US,
         papers=[paper("transfer_tool", date=dt.date(2026, 12, 2))]),
    case("tool of the workload", "EU_GDPR", at=US,
         papers=[paper("transfer_tool", workload="chat")]),
    case("tool of another workload", "EU_GDPR", "RES-005", at=US,
         papers=[paper("transfer_tool", workload="mail")]),
    case("anywhere", "EU_GDPR", "RES-005", at=ANYWHERE),
    case("anywhere with a tool", "EU_GDPR", at=ANYWHERE, papers=[paper("transfer_tool")]),
    case("anywhere with a tool for one country", "EU_GDPR", "RES-005", at=ANYWHERE,
         papers=[paper("transfer_tool", "azure", "US")]),
    case("nobody knows where", "EU_GDPR", "RES-005", papers=[paper("transfer_tool")],
         at={"scope": "zone", "jurisdictions": None}),
    case("public data", "EU_GDPR", at=US, of={"classification": "public"}),
    case("spill abroad", "EU_GDPR", "RES-005", at={"jurisdictions": ("DE",)}, spill=US),
    # Articles 28 to 30: the contract of a critical function names the locations.
    case("critical", "EU_DORA", "AGR-001", of=CRITICAL),
    case("not critical", "EU_DORA"),
    case("critical with the clause", "EU_DORA", of=CRITICAL, papers=[paper("location_clause")]),
    case("critical on own machines", "EU_DORA", at=OWN, of=CRITICAL),
    # CPS 230: before material offshoring, whatever the data.
    case("critical abroad", "AU_APRA_CPS_230", "RES-005", at=US, of=CRITICAL),
    case("critical and public abroad", "AU_APRA_CPS_230", "RES-005", at=US,
         of=CRITICAL | {"classification": "public"}),
    case("not critical abroad", "AU_APRA_CPS_230", at=US),
    case("critical at home", "AU_APRA_CPS_230", of=CRITICAL),
    case("critical abroad with notice", "AU_APRA_CPS_230", at=US, of=CRITICAL,
         papers=[paper("offshoring_notice", "azure", "US")]),
    # CPS 234: evidence of third parties' controls and keys, from confidential upwards.
    case("confidential", "AU_APRA_CPS_234", "AGR-001", "KEY-001"),
    case("internal", "AU_APRA_CPS_234", of={"classification": "internal"}),
    case("confidential with both", "AU_APRA_CPS_234", at=HELD, papers=[paper("control_evidence")]),
    case("restricted at a managed service", "AU_APRA_CPS_234", "OPR-001", at=HELD,
         of={"classification": "restricted"}, papers=[paper("control_evidence")]),
    case("restricted on rented machines", "AU_APRA_CPS_234", at=HELD | {"operator_class": "iaas"},
         of={"classification": "restricted"}, papers=[paper("control_evidence")]),
    case("own machines need keys only", "AU_APRA_CPS_234", "KEY-001", at=OWN),
    case("spill without keys", "AU_APRA_CPS_234", "KEY-001", at=HELD,
         spill={"key_custody": "provider_managed"}, papers=[paper("control_evidence")]),
    # Notices 658 and 1121: due diligence whatever the data.
    case("public data", "SG_MAS", "AGR-001", of={"classification": "public"}),
    case("diligent", "SG_MAS", papers=[paper("due_diligence", None)]),
    case("own machines", "SG_MAS", at=OWN),
    # Directions of 2023: cross-border conditions; payment data stays.
    case("confidential abroad", "IN_RBI", "RES-005"),
    case("confidential at home", "IN_RBI", at={"jurisdictions": ("IN",)}),
    case("confidential abroad, assessed", "IN_RBI", papers=[paper("cross_border_assessment")]),
    case("restricted abroad, assessed", "IN_RBI", "RES-005", of={"classification": "restricted"},
         papers=[paper("cross_border_assessment"), paper("deny")]),
    case("public abroad", "IN_RBI", of={"classification": "public"}),
    case("critical at home", "IN_RBI", "AGR-001", at={"jurisdictions": ("IN",)}, of=CRITICAL),
    case("critical at home with access", "IN_RBI", at={"jurisdictions": ("IN",)}, of=CRITICAL,
         papers=[paper("audit_access")]),
    # SS2/21 asks nothing of an option: its demands are on the plan.
    case("anywhere", "UK_PRA_SS2_21", at=ANYWHERE, of=CRITICAL),
    # General knowledge: a business associate agreement for health data.
    case("confidential", "US_HIPAA", "AGR-001"),
    case("restricted on rented machines", "US_HIPAA", "AGR-001", at={"operator_class": "iaas"},
         of={"classification": "restricted"}),
    case("agreed", "US_HIPAA", papers=[paper("baa")]),
    case("agreed with another", "US_HIPAA", "AGR-001", papers=[paper("baa", "gcp")]),
    case("internal", "US_HIPAA", of={"classification": "internal"}),
    case("own machines", "US_HIPAA", at=OWN),
    # General knowledge: government regions only.
    case("public partition", "US_FEDRAMP", "RES-006", at=US),
    case("government partition", "US_FEDRAMP", at=US | {"partition": "us_gov"}),
    case("another partition", "US_FEDRAMP", "RES-006", at={"partition": "eu_sovereign"}),
    case("spill to the public one", "US_FEDRAMP", "RES-006", at=US | {"partition": "us_gov"},
         spill=US),
]  # fmt: skip


@pytest.mark.parametrize(("regime", "at", "spill", "of", "papers", "added"), CASES)
def test_what_a_regime_adds_to_an_option(
    engine: PolicyEngine, make: SimpleNamespace, regime: str, at: dict[str, Any], spill: Any,
    of: dict[str, Any], papers: Sequence[Agreement], added: set[str],
) -> None:  # fmt: skip
    target = None
    if spill is not None:
        target = make.spill(**{key: at[key] for key in at if key in HELD | US} | spill)
    option, workload = make.option(spill=target, **at), make.workload(**of)
    before = asked(engine, make, (), papers, option, workload)
    after = asked(engine, make, (regime,), papers, option, workload)
    new = [found for found in after.findings if found not in before.findings]
    assert {found.rule_id for found in new} == added
    assert all(found.verdict == "deny" for found in new)
    for found in new:
        clause = PROFILES[regime]["clauses"][found.rule_id]
        assert found.citation.model_dump() == clause
        assert found.expected["regime"] == regime


PLANS = [
    ("EU_DORA", {"register_id": None}, {"REG-001"}),
    ("EU_DORA", {"register_id": None, "critical": False}, set()),
    ("EU_DORA", {}, set()),
    ("AU_APRA_CPS_230", {"register_id": None}, {"REG-001"}),
    ("SG_MAS", {"register_id": None, "critical": False}, {"REG-001"}),
    ("UK_PRA_SS2_21", {"register_id": None, "critical": False}, {"REG-001"}),
    ("UK_PRA_SS2_21", {}, {"EXI-001"}),
    ("IN_RBI", {"register_id": None}, set()),
    *(
        (name, {"exit_plan": {"tested_on": date, "alternative": "x", "stressed": True}}, new)
        for name in ("EU_DORA", "AU_APRA_CPS_230", "IN_RBI", "UK_PRA_SS2_21")
        for date, new in (("2025-12-01", set()), ("2025-11-30", {"EXI-001"}))
    ),
]  # fmt: skip


@pytest.mark.parametrize(("regime", "change", "added"), PLANS)
def test_what_a_regime_adds_to_a_plan(
    engine: PolicyEngine, make: SimpleNamespace, regime: str, change: dict[str, Any],
    added: set[str],
) -> None:  # fmt: skip
    decision = make.decision(**change)
    before = gate_plan(engine, make.plan(decision))
    after = gate_plan(engine, make.plan(decision, terms=Terms(regimes=(regime,))))
    new = [found for found in after if found not in before]
    assert {found.rule_id for found in new} == added
    for found in new:
        assert found.citation.model_dump() == PROFILES[regime]["clauses"][found.rule_id]


def test_a_regime_that_nobody_knows_leaves_nothing_admissible(
    engine: PolicyEngine, make: SimpleNamespace
) -> None:
    verdict = asked(engine, make, ("EU_GDRP",), (), make.option(), make.workload())
    assert verdict.verdict == "unavailable"
    assert "EU_GDRP" in verdict.findings[0].message


def test_the_rows_say_where_they_come_from() -> None:
    assert len(NAMES) == 9
    codes = json.loads((FACTS / "jurisdiction_groups/data.json").read_text())["groups"]
    for name, row in PROFILES.items():
        assert row["title"], name
        assert row["source"], name
        assert dt.date.fromisoformat(row["as_of"]), name
        assert row["looked_up"] is (name not in {"US_HIPAA", "US_FEDRAMP"})
        assert row["looked_up"] or "not looked up" in row["source"]
        if {"exit_plan", "concentration"} & set(row):
            assert "an organisation's own" in row["comment"]
        for code in row.get("abroad", {}).get("home", ()):
            assert code in codes or (len(code) == 2 and code.isupper())
        if "abroad" in row:
            assert set(row["abroad"]["by_classification"]) == set(CLASSIFICATIONS)
        used = {
            "RES-005": "abroad", "RES-006": "partitions", "AGR-001": "agreements",
            "KEY-001": "key_custody", "REG-001": "register_entry", "EXI-001": "exit_plan",
            "CON-001": "concentration", "OPR-001": "operator_classes",
        }  # fmt: skip
        assert {rule for rule, key in used.items() if key in row} == set(row["clauses"])


def test_the_page_tells_of_every_regime() -> None:
    page = (policies_folder().parent / "docs/policies/regimes.md").read_text()
    for name, row in PROFILES.items():
        assert f"| `{name}` |" in page
        for demand in row.get("agreements", ()):
            assert f"`{demand['kind']}`" in page
        for kind in set(row.get("abroad", {}).get("by_classification", {}).values()):
            assert f"`{kind}`" in page
