"""Provider components: accounts, Bedrock, Vertex, and purchases that nobody signed for."""

from __future__ import annotations

import re
import sys
from typing import Any

import pulumi
import pytest

from planner.emit import aws, azure, stack
from planner.emit.aws import BedrockCapacity, BedrockCapacityArgs
from planner.emit.azure import AzureDeployments, AzureDeploymentsArgs
from planner.emit.gcp import VertexProject, VertexProjectArgs
from planner.errors import PlannerError
from planner.plan import CapacityConfirmation, Plan, ProviderAccount, ProviderDeployment
from tests.emit.conftest import BEDROCK, PAYG, PTU, PURCHASE, with_resources
from tests.emit.recorder import Recorder

NOVA = "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0:24k"
UNITS = BEDROCK.model_copy(
    update={
        "name": "notes",
        "owner": "notes-team@example.com",
        "region": "us-east-1",
        "deployment_type": "provisioned",
        "kind": "provisioned",
        "capacity": 2,
        "term_months": 6,
        "model_id": "amazon.nova-pro-v1:0:24k",
        "model_arn": NOVA,
        "gateway_spill_to": "notes-payg",
    }
)
BOUGHT = PURCHASE.model_copy(
    update={
        "workload": "notes",
        "provider": "aws",
        "account": "aws-sydney",
        "deployment_type": "provisioned",
        "unit": "MU",
        "units": 2,
        "deployed_units": 2,
        "term_months": 6,
        "capacity_confirmed": CapacityConfirmation(units=2, date="2026-11-20", ref="case 7"),
    }
)
ORDER = PAYG.model_copy(
    update={
        "name": "tags",
        "workload": "tags",
        "provider": "gcp",
        "account": "vertex-eu",
        "resource_group": None,
        "region": "europe-west4",
        "model": "gemini-3.5-flash",
        "model_id": "gemini-3.5-flash",
        "deployment_type": "pt_eu_dedicated",
        "kind": "provisioned",
        "capacity": 4,
        "request_headers": {"X-Vertex-AI-LLM-Request-Type": "dedicated"},
    }
)


def bedrock(*deployments: ProviderDeployment, **more: Any) -> BedrockCapacity:
    return BedrockCapacity(
        "br", BedrockCapacityArgs("aws-sydney", "us-east-1", deployments, **more)
    )


def vertex(*deployments: ProviderDeployment) -> VertexProject:
    return VertexProject("vx", VertexProjectArgs("vertex-eu", "bank-vertex-eu", deployments))


def test_an_account_is_made_only_where_it_is_asked_for(recorder: Recorder) -> None:
    account = ProviderAccount(
        name="oai-sydney",
        provider="azure",
        region="australiaeast",
        resource_group="rg-ai",
        create=True,
    )
    args = AzureDeploymentsArgs("oai-sydney", (PTU, PAYG), account)
    recorder.run(lambda: AzureDeployments("oai", args))
    made = recorder.named("oai-account")
    assert made.type == "azure-native:cognitiveservices:Account"
    assert made.protect is True
    assert recorder.inputs("oai-account") == {
        "resourceGroupName": "rg-ai",
        "accountName": "oai-sydney",
        "location": "australiaeast",
        "kind": "AIServices",
        "sku": {"name": "S0"},
        "identity": {"type": "SystemAssigned"},
        "properties": {"customSubDomainName": "oai-sydney", "disableLocalAuth": True},
    }
    names = [r.name for r in recorder.requests if r.type.startswith("azure-native")]
    assert names == ["oai-account", "oai-assist-payg", "oai-assist-ptu"]
    first = recorder.named("oai-assist-payg")
    assert [urn.split("::")[-1] for urn in first.dependencies] == ["oai-account"]


@pytest.mark.parametrize(
    ("source", "target", "waiver", "refused"),
    [
        ("country", "country", None, False),
        ("country", "region", None, False),
        ("country", "global", None, True),
        ("zone", "global", None, True),
        ("country", "global", "W-1", False),
    ],
)
def test_spill_is_never_wider_than_its_source_without_a_waiver(
    recorder: Recorder, source: str, target: str, waiver: str | None, refused: bool
) -> None:
    pair = (
        PTU.model_copy(update={"scope": source, "spill_waiver": waiver}),
        PAYG.model_copy(update={"scope": target}),
    )

    def program() -> None:
        AzureDeployments("oai", AzureDeploymentsArgs("oai-sydney", pair))

    if refused:
        with pytest.raises(PlannerError, match="which is wider"):
            recorder.run(program)
    else:
        recorder.run(program)
        assert recorder.named("oai-assist-ptu")


@pytest.mark.parametrize(("months", "wanted"), [(0, None), (1, "OneMonth"), (6, "SixMonths")])
def test_model_units_carry_their_commitment_and_are_protected(
    recorder: Recorder, months: int, wanted: str | None
) -> None:
    recorder.run(lambda: bedrock(UNITS.model_copy(update={"term_months": months})))
    made = recorder.named("br-notes")
    assert made.type == "aws:bedrock/provisionedModelThroughput:ProvisionedModelThroughput"
    assert made.protect is True
    assert "br-provider" in made.provider
    found = recorder.inputs("br-notes")
    assert found.pop("commitmentDuration", None) == wanted
    assert found == {
        "provisionedModelName": "notes",
        "modelArn": NOVA,
        "modelUnits": 2,
        "tags": {"workload": "notes", "tier": "interactive", "owner": "notes-team@example.com"},
    }


def test_payg_gets_a_profile_that_carries_the_cost_tags(recorder: Recorder) -> None:
    component: list[BedrockCapacity] = []
    recorder.run(lambda: component.append(bedrock(BEDROCK, account_id="123456789012")))
    found = recorder.inputs("br-notes-payg")
    assert found["modelSource"] == {"copyFrom": BEDROCK.model_arn}
    assert found["tags"] == {"workload": "notes", "tier": "interactive"}
    provider = recorder.inputs("br-provider")
    assert provider["region"] == "us-east-1"
    assert provider["allowedAccountIds"] == '["123456789012"]'
    assert set(component[0].profiles) == set(component[0].model_ids) == {"notes-payg"}


def test_a_profile_has_what_bedrock_takes_as_text(recorder: Recorder) -> None:
    """InferenceProfileDescription and -Name, TagValue: patterns of the Bedrock API model."""
    item = UNITS.model_copy(
        update={"kind": "payg", "deployment_type": "in_region", "term_months": 0}
    )
    recorder.run(lambda: bedrock(item))
    made = recorder.inputs("br-notes")
    assert re.fullmatch(r"([0-9a-zA-Z:.][ _-]?)+", made["description"])
    assert re.fullmatch(r"([0-9a-zA-Z][ _-]?)+", made["name"])
    for value in made["tags"].values():
        assert re.fullmatch(r"[a-zA-Z0-9\s._:/=+@-]*", value)


@pytest.mark.parametrize(
    ("check", "item", "change", "told"),
    [
        (aws.check, UNITS, {"owner": "R&D"}, "owner 'R&D' cannot be a tag"),
        (aws.check, UNITS, {"name": "n" * 64}, "at most 63"),
        (aws.check, UNITS, {"name": "a--b"}, "no two hyphens"),
        (azure.in_order, PAYG, {"name": "a"}, "2 to 64 characters"),
        (azure.in_order, PAYG, {"account": "a"}, "2 to 64 letters"),
        (azure.in_order, PAYG, {"owner": "o" * 257}, "cannot be a tag"),
    ],
)
def test_what_a_cloud_would_refuse_as_a_name_or_tag_is_said_before(
    check: Any, item: ProviderDeployment, change: dict[str, Any], told: str
) -> None:
    wrong = item.model_copy(update=change)
    with pytest.raises(PlannerError, match=re.escape(told)):
        check(wrong.account, (wrong,))
    check(item.account, (item,))


def test_what_has_no_arn_has_no_resource(recorder: Recorder) -> None:
    recorder.run(lambda: bedrock(BEDROCK.model_copy(update={"model_arn": None})))
    assert recorder.types() == ["llm-capacity:aws:BedrockCapacity", "pulumi:providers:aws"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"term_months": 12}, "not for 12"),
        ({"model_id": None}, "no Bedrock id of nova-pro"),
        ({"name": "a--b"}, "no two hyphens in a row"),
        ({"capacity": 0}, "has a capacity of 0"),
        ({"spillover_to": "notes-payg"}, "a gateway has to"),
        ({"account": "another"}, "belongs to another"),
    ],
)
def test_bedrock_says_what_it_would_not_take(
    recorder: Recorder, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(PlannerError, match=words):
        recorder.run(lambda: bedrock(UNITS.model_copy(update=change)))
    assert "pulumi:providers:aws" not in recorder.types()


def test_a_vertex_project_gets_its_api_and_an_alert_on_overflow(recorder: Recorder) -> None:
    recorder.run(lambda: vertex(ORDER))
    assert recorder.inputs("vx-api") == {
        "project": "bank-vertex-eu",
        "service": "aiplatform.googleapis.com",
        "disableOnDestroy": False,
    }
    alert = recorder.inputs("vx-tags-overflow")
    threshold = alert["conditions"][0]["conditionThreshold"]
    assert 'request_type = "spillover"' in threshold["filter"]
    assert 'model_user_id = "gemini-3.5-flash"' in threshold["filter"]
    assert (threshold["comparison"], threshold["thresholdValue"]) == ("COMPARISON_GT", 0)
    assert "`X-Vertex-AI-LLM-Request-Type: dedicated`" in alert["documentation"]["content"]
    waits = [urn.split("::")[-1] for urn in recorder.named("vx-tags-overflow").dependencies]
    assert waits == ["vx-api"]


@pytest.mark.parametrize("change", [{"kind": "payg"}, {"spillover_to": "tags-spill"}])
def test_what_may_spill_raises_no_alarm(recorder: Recorder, change: dict[str, Any]) -> None:
    recorder.run(lambda: vertex(ORDER.model_copy(update=change)))
    assert recorder.types() == ["llm-capacity:gcp:VertexProject", "gcp:projects/service:Service"]


def test_only_azure_accounts_are_created(plan: Plan, recorder: Recorder) -> None:
    accounts = tuple(item.model_copy(update={"create": True}) for item in plan.resources.accounts)
    with pytest.raises(pulumi.RunError, match="aws-sydney: only Azure accounts can be created"):
        recorder.run(lambda: stack.emit(with_resources(plan, accounts=accounts), kubeconfigs={}))
    assert recorder.requests == []


def test_bedrock_without_anything_to_make_needs_no_sdk(
    plan: Plan, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pulumi_aws", None)
    bare = BEDROCK.model_copy(update={"model_arn": None})
    only = with_resources(plan, node_pools=(), servers=(), deployments=(bare,), purchases=())
    recorder.run(lambda: stack.emit(only, kubeconfigs={}))
    assert recorder.types() == []
    assert any("Give the account's account_id" in step.text for step in only.resources.steps)


@pytest.mark.parametrize(
    ("cloud", "module"), [("aws", "pulumi_aws"), ("gcp", "pulumi_gcp.projects")]
)
def test_without_an_sdk_the_error_says_what_to_install(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, cloud: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(pulumi.RunError, match=rf"pip install 'llm-capacity\[{cloud}\]'"):
        recorder.run(lambda: bedrock(UNITS) if cloud == "aws" else vertex(ORDER))


class TestNothingIsBoughtUnsigned:
    @pytest.fixture
    def buying(self, plan: Plan) -> Plan:
        return with_resources(
            plan, node_pools=(), servers=(), deployments=(UNITS, BEDROCK), purchases=(BOUGHT,)
        )

    def test_a_preview_shows_it_and_warns(
        self, buying: Plan, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: list[str] = []
        monkeypatch.setattr(pulumi.log, "warn", lambda text, *_: told.append(text))
        recorder.run(lambda: stack.emit(buying, kubeconfigs={}))
        assert recorder.named("aws-sydney-notes")
        assert "nobody signed for" in told[0]
        assert BOUGHT.order_digest in told[0]

    def test_a_real_run_changes_nothing(self, buying: Plan, recorder: Recorder) -> None:
        with pytest.raises(pulumi.RunError, match="signed-purchases"):
            recorder.run(lambda: stack.emit(buying, kubeconfigs={}), preview=False)
        assert recorder.requests == []

    def test_the_signature_of_this_very_order_lets_it_through(
        self, buying: Plan, recorder: Recorder
    ) -> None:
        signed = (BOUGHT.order_digest,)
        recorder.run(
            lambda: stack.emit(buying, kubeconfigs={}, signed_purchases=signed), preview=False
        )
        assert recorder.named("aws-sydney-notes")

    @pytest.mark.parametrize(
        "change",
        [{"units": 3}, {"term_months": 1}, {"usd_per_month": 1.0}, {"capacity_confirmed": None}],
    )
    def test_another_order_or_an_unconfirmed_one_is_not_signed(
        self, buying: Plan, recorder: Recorder, change: dict[str, Any]
    ) -> None:
        other = BOUGHT.model_copy(update=change)
        plan = with_resources(buying, purchases=(other,))
        signed = (BOUGHT.order_digest,)
        with pytest.raises(pulumi.RunError, match="nobody signed for"):
            recorder.run(
                lambda: stack.emit(plan, kubeconfigs={}, signed_purchases=signed), preview=False
            )
        assert recorder.requests == []

    def test_an_azure_reservation_stops_nothing(self, plan: Plan, recorder: Recorder) -> None:
        azure = with_resources(plan, node_pools=(), servers=())
        recorder.run(lambda: stack.emit(azure, kubeconfigs={}), preview=False)
        kinds = {kind for kind in recorder.types() if "eservation" in kind or "Order" in kind}
        assert kinds == set()
