"""From a decision to deployments, quotas, purchases and the steps between them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner import bedrock, vertex
from planner.api import plan_stack
from planner.capacity import CapacityConfirmation, ProviderDeployment, QuotaNeed, Resources
from planner.catalog.loader import load_catalog
from planner.catalog.routing import routing_requirement
from planner.catalog.rows import Partition
from planner.plan import Plan
from planner.purchases import NOT_SIGNABLE, purchase_records, unsigned
from planner.steps import PHASES, steps_of
from tests.clouds import AWS_ACCOUNT, CONFIRMED, PLATFORM, WORKLOADS
from tests.projects import changed

Project = Callable[..., Path]
AT = "2026-11-29"


def planned(root: Path) -> Plan:
    return plan_stack(root, "s", at=AT, write=False)


@pytest.fixture
def plan(project: Project) -> Plan:
    return planned(project(*WORKLOADS, platform=PLATFORM))


def deployment(plan: Plan, name: str) -> ProviderDeployment:
    (found,) = [item for item in plan.resources.deployments if item.name == name]
    return found


def test_the_spill_target_has_its_own_quota_for_what_the_floor_does_not_carry(plan: Plan) -> None:
    floor, spill = deployment(plan, "copilot"), deployment(plan, "copilot-spill")
    decision = next(d for d in plan.decisions if d.workload == "copilot")
    assert decision.chosen is not None
    above = decision.mix.tokens_per_minute_peak - decision.chosen.floor_tokens_per_minute
    assert floor.spillover_to == spill.name
    assert spill.account == floor.account
    assert (floor.scope, spill.scope) == ("zone", "zone")
    assert above > 0
    assert spill.capacity * 1000 == pytest.approx(above * 1.2, abs=1000)


def test_accounts_say_who_makes_them(plan: Plan) -> None:
    assert [(item.name, item.create, item.account_id) for item in plan.resources.accounts] == [
        ("br-us", False, AWS_ACCOUNT),
        ("oai-us", True, None),
        ("vx-us", False, "acme-vertex-us"),
    ]


def test_quota_is_summed_over_what_shares_it_and_held_against_what_is_declared(
    plan: Plan,
) -> None:
    found = {(q.account, q.deployment_type, q.model): q for q in plan.resources.quotas}
    assert {key[0] for key in found} == {"oai-us", "br-us"}, "Google approves each order"
    shared = found["oai-us", "DataZoneProvisionedManaged", "*"]
    assert (shared.need, shared.have, shared.unit) == (
        deployment(plan, "copilot").capacity,
        1_000,
        "PTU",
    )
    assert found["br-us", "provisioned", "nova-pro"].unit == "MU"
    assert found["br-us", "us", "nova-pro"].have is None


def test_steps_come_in_their_order_and_name_have_and_need(plan: Plan) -> None:
    steps = plan.resources.steps
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    phases = [step.phase for step in steps]
    assert phases == sorted(phases, key=PHASES.index)
    assert set(phases) == set(PHASES)
    text = "\n".join(step.text for step in steps)
    need = deployment(plan, "copilot").capacity
    assert f"{need} PTU needed; 1,000 are there, enough" in text
    assert "Capacity confirmed: 3 units of provisioned for nova-pro" in text
    assert "CAPACITY NOT CONFIRMED" in text
    reserved = [step for step in steps if step.phase == "reserve"]
    # Only model units are made after a signature: creating them is the purchase.
    made = [step.text for step in reserved if step.by == "program"]
    assert [text.split(":")[0] for text in made] == ["Create notes"]


def test_a_purchase_has_what_a_signature_needs(plan: Plan) -> None:
    by_name = {item.workload: item for item in plan.resources.purchases}
    assert set(by_name) == {"copilot", "notes", "vision"}
    notes = by_name["notes"]
    assert (notes.units, notes.unit, notes.term_months) == (3, "MU", 6)
    assert notes.usd_per_month == 27_000
    assert notes.exit_usd == 162_000
    assert notes.break_even is not None
    assert notes.break_even.output_fraction == 0.15
    assert notes.quota is not None
    assert notes.capacity_confirmed == CapacityConfirmation(
        units=50, date="2026-11-20", ref="case 7"
    )
    assert (notes.signable, by_name["vision"].signable) == (True, False)


def test_a_record_without_confirmed_capacity_says_so_and_has_no_place_to_sign(plan: Plan) -> None:
    records = purchase_records(plan)
    assert set(records) == {
        f"{name}.{kind}" for name in ("copilot", "notes", "vision") for kind in ("json", "md")
    }
    ready, waiting = json.loads(records["notes.json"]), json.loads(records["vision.json"])
    assert ready["capacity_confirmed"]["ref"] == "case 7"
    assert waiting["capacity_confirmed"] == "missing"
    assert (ready["signable"], waiting["signable"]) == (True, False)
    assert NOT_SIGNABLE.upper() == NOT_SIGNABLE
    assert NOT_SIGNABLE in records["vision.md"]
    assert "Signature:" not in records["vision.md"]
    assert "Signature:" in records["notes.md"]
    assert "X-Vertex-AI-LLM-Request-Type: dedicated" in records["vision.md"]
    assert set(ready["approver"].values()) == {""}
    for part in ("3 MU", "6 months", "$162,000 over the term", "Break-even", "Exit", "Mix"):
        assert part in records["notes.md"], part


def test_a_signature_is_of_one_order_and_of_confirmed_capacity(plan: Plan) -> None:
    digests = {item.workload: item.order_digest for item in plan.resources.purchases}
    left = [item.workload for item in unsigned(plan, frozenset(digests.values()))]
    assert left == ["copilot", "vision"], "their capacity is not confirmed"
    assert [item.workload for item in unsigned(plan, frozenset())] == ["copilot", "notes", "vision"]


def test_too_few_confirmed_units_confirm_nothing(project: Project) -> None:
    few = {**CONFIRMED, "units": 2}
    root = project(WORKLOADS[1], platform=changed(PLATFORM, confirmed_capacity=[few]))
    plan = planned(root)
    assert not plan.resources.purchases[0].signable
    assert "2 of 3 units are confirmed" in purchase_records(plan)["notes.md"]
    assert any("FOR 2 UNITS ONLY" in step.text for step in plan.resources.steps)


def test_prices_and_evidence_change_no_capacity_digest(project: Project) -> None:
    rates = [
        {**rate, "usd_per_unit_month": 9_100} if rate.get("term_months") == 6 else rate
        for rate in PLATFORM["rates"]
    ]
    first = planned(project(WORKLOADS[1], platform=PLATFORM))
    second = planned(
        project(WORKLOADS[1], platform=changed(PLATFORM, rates=rates, confirmed_capacity=[]))
    )
    assert first.capacity_digest == second.capacity_digest
    assert first.evidence_digest != second.evidence_digest
    orders = [item.resources.purchases[0].order_digest for item in (first, second)]
    assert orders[0] != orders[1], "another price is another order"


def test_what_is_owned_is_not_bought_again(project: Project) -> None:
    owned = {
        "id": "mu-1",
        "provider": "aws",
        "deployment_type": "provisioned",
        "region": "us-east-1",
        "model": "nova-pro",
        "units": 3,
        "term_end": "2027-11-29",
        "usd_per_month": 27_000,
    }
    plan = planned(project(WORKLOADS[1], platform=changed(PLATFORM, commitments=[owned])))
    assert plan.resources.purchases == ()
    assert deployment(plan, "notes").capacity == 3


@pytest.mark.parametrize(
    ("deployment_type", "variant", "wanted"),
    [
        ("in_region", None, "amazon.nova-pro-v1:0"),
        ("in_region", "24k", "amazon.nova-pro-v1:0"),
        ("us", None, "us.amazon.nova-pro-v1:0"),
        ("jp", "24k", "jp.amazon.nova-pro-v1:0"),
        ("global", None, "global.amazon.nova-pro-v1:0"),
        ("provisioned", None, "amazon.nova-pro-v1:0"),
        ("provisioned", "24k", "amazon.nova-pro-v1:0:24k"),
        ("reserved", None, "amazon.nova-pro-v1:0"),
    ],
)
def test_bedrock_names_a_model_by_its_deployment_type(
    deployment_type: str, variant: str | None, wanted: str
) -> None:
    row = load_catalog().model("nova-pro")
    assert bedrock.model_id(row, deployment_type, variant) == wanted
    assert bedrock.model_id(load_catalog().model("gpt-4.1"), deployment_type) is None


@pytest.mark.parametrize(
    ("deployment_type", "partition", "account", "wanted"),
    [
        ("in_region", "public", None, "arn:aws:bedrock:r::foundation-model/m"),
        ("provisioned", "us_gov", None, "arn:aws-us-gov:bedrock:r::foundation-model/m"),
        ("eu", "public", "1", "arn:aws:bedrock:r:1:inference-profile/m"),
        ("eu", "eu_sovereign", "1", "arn:aws-eusc:bedrock:r:1:inference-profile/m"),
        ("eu", "public", None, None),
        ("reserved", "public", "1", None),
    ],
)
def test_bedrock_arns(
    deployment_type: str, partition: Partition, account: str | None, wanted: str | None
) -> None:
    found = bedrock.model_arn(
        "m", deployment_type, region="r", partition=partition, account_id=account
    )
    assert found == wanted


def test_every_bedrock_profile_is_a_deployment_type_of_the_catalog() -> None:
    known = {row.name for row in load_catalog().deployment_types_of("aws")}
    assert set(bedrock.PROFILES) == known - {"in_region", "provisioned", "reserved"}


@pytest.mark.parametrize(
    ("kind", "spills", "beside", "wanted"),
    [
        ("provisioned", False, False, {vertex.REQUEST_TYPE: "dedicated"}),
        ("provisioned", True, False, {}),
        ("payg", False, False, {}),
        ("payg", False, True, {vertex.REQUEST_TYPE: "shared"}),
    ],
)
def test_vertex_headers(kind: Any, spills: bool, beside: bool, wanted: dict[str, str]) -> None:
    assert vertex.request_headers(kind, spills=spills, beside_an_order=beside) == wanted


def test_a_gateway_is_told_what_no_provider_does() -> None:
    units = ProviderDeployment(
        name="notes",
        workload="notes",
        tier="interactive",
        provider="aws",
        account="br",
        resource_group=None,
        region="us-east-1",
        model="nova-pro",
        model_version=None,
        model_id="amazon.nova-pro-v1:0",
        model_arn="arn",
        deployment_type="provisioned",
        kind="provisioned",
        capacity=2,
        spillover_to=None,
        gateway_spill_to="notes-spill",
    )
    spill = units.model_copy(
        update={
            "name": "notes-spill",
            "kind": "payg",
            "deployment_type": "in_region",
            "capacity": 300,
            "gateway_spill_to": None,
        }
    )
    quota = QuotaNeed(
        provider="aws",
        account="br",
        region="us-east-1",
        deployment_type="provisioned",
        model="nova-pro",
        unit="MU",
        need=2,
        have=0,
    )
    resources = Resources(
        node_pools=(), servers=(), deployments=(spill, units), purchases=(), quotas=(quota,)
    )
    asked = routing_requirement("aws", "provisioned", "nova-pro", "in_region")
    assert asked is not None
    found = steps_of(resources, {}, {"notes": asked})
    assert "2 MU needed; 0 are there: ask for 2 more by a support case" in found[0].text
    (gateway,) = [step for step in found if step.text.startswith("Gateway,")]
    assert (gateway.by, gateway.phase) == ("person", "deploy")
    for part in (asked, "notes-spill", "nothing wider", "300 thousand tokens"):
        assert part in gateway.text
    # Where the provider sends it on, no gateway is asked to.
    alone = units.model_copy(update={"gateway_spill_to": None, "spillover_to": "notes-spill"})
    itself = resources.model_copy(update={"deployments": (spill, alone)})
    steps = steps_of(itself, {}, {"notes": asked})
    assert not any(step.text.startswith("Gateway,") for step in steps)


@pytest.mark.parametrize(
    ("deployment_type", "spill_to", "header", "by_itself"),
    [
        ("pt_us_dedicated", None, "dedicated", False),
        ("pt_global", None, "dedicated", False),
        ("pt_global", "global", None, True),
    ],
)
def test_an_order_spills_where_google_sends_it_or_refuses(
    project: Project,
    deployment_type: str,
    spill_to: str | None,
    header: str | None,
    by_itself: bool,
) -> None:
    pin = {"kind": "provisioned", "deployment_type": deployment_type}
    anywhere = sorted({row.country for row in load_catalog().regions})
    vision = changed(
        WORKLOADS[3],
        pin=pin | ({"spill_to": spill_to} if spill_to else {}),
        residency={"jurisdictions": anywhere},
        objectives={} if spill_to else {"max_spill_share": 0.0},
    )
    plan = planned(project(vision, platform=PLATFORM))
    order = deployment(plan, "vision")
    assert order.request_headers.get(vertex.REQUEST_TYPE) == header
    assert (order.spillover_to == "vision-spill") is by_itself


def test_where_the_provider_cannot_spill_the_gateway_is_told_to(project: Project) -> None:
    # 400,000 tokens a minute at the peak against 3 model units: one unit and the rest spilled
    # by a gateway is cheaper, and Bedrock itself never routes it.
    free = changed(WORKLOADS[1], objectives={})
    plan = planned(project(free, platform=PLATFORM))
    floor = deployment(plan, "notes")
    assert floor.spillover_to is None
    assert floor.gateway_spill_to == "notes-spill"
    assert deployment(plan, "notes-spill").kind == "payg"
    assert any("gateway" in step.text for step in plan.resources.steps)
