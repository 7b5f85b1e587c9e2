"""For each rule a question that breaks it, made from a compliant one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from planner.option import Option
from planner.policy.document import Emitted, Terms
from planner.policy.resources import PlannedRow, Row, Text, resources_document
from planner.workload import Workload
from tests.policy.conftest import nothing_kept

Question = dict[str, Any]
Make = SimpleNamespace

AS_OF = dt.date(2026, 12, 1)
EVALUATED_AT = dt.datetime(2026, 12, 1, 12, 0, tzinfo=dt.UTC)


def under(*regimes: str) -> Terms:
    return Terms(regimes=regimes)


def option(make: Make, *regimes: str, workload: Workload | None = None, **changes: Any) -> Question:
    """The question about one option, under regimes."""
    asked = make.question(
        [make.option(**changes)], workload or make.workload(), terms=under(*regimes)
    )
    return dict(asked)


def decision(make: Make, *regimes: str, **changes: Any) -> Question:
    """The question about a plan of one decision, under regimes."""
    return dict(make.plan(make.decision(**changes), terms=under(*regimes)))


def emitted(make: Make, **rows: dict[str, Any]) -> Question:
    """The question about a plan with one row of what would exist."""
    return dict(make.plan(emitted=Emitted(**{name: (row,) for name, row in rows.items()})))


def telemetry_abroad(make: Make) -> Question:
    asked: Option = make.option()
    place = {"role": "option", "place": "region", "countries": ["US"], "as_of": "2026-11-29"}
    facts = {**nothing_kept(asked), "telemetry": [place]}
    return dict(make.question([asked], beyond_inference={asked.id: facts}))


def shared_deployment(make: Make) -> Question:
    return dict(
        make.plan(
            make.decision(deployment_key="azure/main/shared"),
            make.decision(
                workload="night", tier="batch", deployment_key="azure/main/shared", critical=False
            ),
        )
    )


def one_provider_for_all(make: Make) -> Question:
    return dict(make.plan(make.decision(), make.decision(workload="search")))


def poor_model(make: Make) -> Question:
    evaluation = {
        "suite": "support-answers", "score": 0.5, "threshold": 0.85,
        "date": dt.date(2026, 10, 1), "ref": "eval/2026-10/support",
    }  # fmt: skip
    models = ({"name": "gpt-4.1-mini", "evaluation": evaluation},)
    return option(make, workload=make.workload(models=models))


def resource(**changes: Any) -> Question:
    """The question about one resource beside an empty plan."""
    fields: dict[str, Any] = {
        "type": "kubernetes:apps:Deployment",
        "identity": "llm/chat",
        "subject": "kubernetes:apps/v1:Deployment::chat",
        "workload": "chat",
        "fields": {},
        "urn": "urn:pulumi:prod::llm-capacity::kubernetes:apps/v1:Deployment::chat",
        "unknown": (),
        "asks": (),
        "runs": (),
        "opaque": False,
        "texts": (),
    }
    planned: tuple[PlannedRow, ...] = ()
    return resources_document(
        planned,
        [Row.model_validate(fields | changes)],
        stack="prod",
        as_of=AS_OF,
        evaluated_at=EVALUATED_AT,
        complete=False,
    )


def text(place: str, name: str | None, value: str) -> tuple[Text, ...]:
    path = f"spec.template.spec.containers.vllm.{place}"
    return (Text(path=path, place=place, name=name, text=value, state="plain"),)


SERVER = {
    "name": "chat",
    "workload": "chat",
    "cluster": "gpu",
    "image": "vllm/vllm-openai:v0.33.0",
    "image_digest": None,
    "model": "Qwen/Qwen3-32B",
    "model_source": "hub",
    "model_revision": None,
}
POOL = {
    "name": "gpu-pool",
    "cluster": "gpu",
    "region": "newzealandnorth",
    "country": "NZ",
    "tier": "interactive",
    "workloads": ["chat"],
}
EGRESS = {"cluster": "gpu", "workload": "chat", "host": "logs.example", "purpose": "telemetry"}
PURCHASE = {
    "workload": "chat",
    "order_digest": "sha256:1",
    "units": 50,
    "term_months": 12,
    "usd_per_month": 10000,
    "bought_by": "person",
    "signed": False,
}

VIOLATIONS: dict[str, Callable[[Make], Question]] = {
    "AGR-001": lambda make: option(make, "AU_APRA_CPS_234"),
    "BUD-001": lambda make: dict(make.plan(budget_usd_per_month=1.0)),
    "CAP-001": lambda make: decision(
        make,
        option=make.option(kind="provisioned", deployment_type="ProvisionedManaged"),
        capacity_confirmed=False,
    ),
    "CLS-001": lambda make: decision(make, signed_off_by="support team"),
    "CLS-002": lambda make: decision(
        make, baseline={"classification": "restricted", "jurisdictions": ["AU"]}
    ),
    "COM-001": lambda make: emitted(make, purchases=PURCHASE),
    "CON-001": one_provider_for_all,
    "EGR-001": lambda make: emitted(make, egress=EGRESS),
    "EVA-001": poor_model,
    "EXI-001": lambda make: decision(make, exit_plan=None),
    "KEY-001": lambda make: option(make, "AU_APRA_CPS_234", key_custody="provider_managed"),
    "LAT-001": lambda make: decision(make, latency_basis="unverified"),
    "LIF-001": lambda make: decision(make, retires_on=dt.date(2027, 1, 15), exit_plan=None),
    "MOD-001": lambda make: option(make, model="no-such-model"),
    "OPR-001": lambda make: option(
        make, "AU_APRA_CPS_234", workload=make.workload(classification="restricted")
    ),
    "PIN-001": lambda make: emitted(make, servers=SERVER),
    "POL-001": lambda make: emitted(make, pools=POOL),
    "REG-001": lambda make: decision(make, "EU_DORA", register_id=None),
    "RES-001": lambda make: option(make, scope="zone", jurisdictions=("AU", "JP")),
    "RES-002": lambda make: option(make, scope="zone", jurisdictions=None),
    "RES-003": lambda make: option(
        make, spill=make.spill(scope="global", deployment_type="GlobalStandard", jurisdictions=None)
    ),
    "RES-004": telemetry_abroad,
    "RES-005": lambda make: option(make, "EU_GDPR", workload=make.workload(jurisdictions=("AU",))),
    "RES-006": lambda make: option(make, "US_FEDRAMP"),
    "RGM-001": lambda make: decision(make, "NO_SUCH_REGIME"),
    "RSC-001": lambda make: resource(asks=("nvidia.com/gpu",)),
    "SEC-001": lambda make: resource(texts=text("env", "HF_TOKEN", "hf_" + "a" * 34)),
    "TIER-001": shared_deployment,
    "TPP-001": lambda make: option(make, workload=make.workload(classification="restricted")),
    "TRC-001": lambda make: resource(texts=text("args", None, "--trust-remote-code")),
}
"""By rule id. A new rule needs a row here: see test_reader.py."""
