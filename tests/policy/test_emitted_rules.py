"""The rules about servers, pools, egress and purchases, before a preview and a change."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from planner.policy.document import Emitted
from planner.policy.engine import PolicyEngine
from tests.policy.planned import egress, own_regimes, pool, purchase, said, server, terms


@pytest.fixture(scope="module")
def ruled(opa: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolicyEngine]:
    with own_regimes(opa, tmp_path_factory.mktemp("ruled")) as running:
        yield running


@pytest.mark.parametrize(("operation", "verdict"), [("preview", "warn"), ("update", "deny")])
@pytest.mark.parametrize(
    ("emitted", "rule"),
    [
        (Emitted(servers=(server(image_digest=None),)), "PIN-001"),
        (Emitted(servers=(server(model_revision=None),)), "PIN-001"),
        (Emitted(servers=(server(image_digest=None, model_revision=None),)), "PIN-001"),
        (Emitted(servers=(server(image_digest="sha256:" + "0A" * 32),)), "PIN-001"),
        (Emitted(servers=(server(model_revision="main"),)), "PIN-001"),
        (Emitted(purchases=(purchase(signed=False),)), "COM-001"),
        (Emitted(purchases=(purchase(signed=False, term_months=1, usd_per_month=0),)), "COM-001"),
        (Emitted(purchases=(purchase(signed=False, bought_by="program"),)), "COM-001"),
    ],
)
def test_what_may_be_finished_after_a_preview(
    ruled: PolicyEngine,
    make: SimpleNamespace,
    emitted: Emitted,
    rule: str,
    operation: str,
    verdict: str,
) -> None:
    document = make.plan(terms=terms(operation=operation), emitted=emitted)
    assert said(ruled, document) == {(rule, "chat", verdict)}
    if operation == "update":
        document["operation"] = "destroy"
        assert said(ruled, document) == {(rule, "chat", "deny")}


@pytest.mark.parametrize("operation", ["preview", "update"])
@pytest.mark.parametrize(
    ("host", "purpose", "confidential", "internal"),
    [
        ("docker.io", "images", "allow", "allow"),
        ("westeurope.data.mcr.microsoft.com", "images", "allow", "allow"),
        ("huggingface.co", "weights", "allow", "allow"),
        ("notdocker.io", "images", "deny", "warn"),
        ("docker.io.example", "images", "deny", "warn"),
        ("registry.example", "images", "deny", "warn"),
        ("docker.io", "weights", "deny", "warn"),
        ("huggingface.co", "telemetry", "deny", "warn"),
        ("collector.example", "logs", "deny", "warn"),
        ("collector.example", "other", "deny", "warn"),
    ],
)
def test_egress(
    ruled: PolicyEngine,
    make: SimpleNamespace,
    host: str,
    purpose: str,
    confidential: str,
    internal: str,
    operation: str,
) -> None:
    for classification, verdict in (("confidential", confidential), ("internal", internal)):
        document = make.plan(
            make.decision(classification=classification),
            terms=terms(operation=operation),
            emitted=Emitted(egress=(egress(host, purpose),)),
        )
        expected = set() if verdict == "allow" else {("EGR-001", "chat", verdict)}
        assert said(ruled, document) == expected


@pytest.mark.parametrize(
    ("country", "verdict"),
    [("AU", "allow"), ("NZ", "deny"), ("DE", "deny"), ("au", "unavailable"), ("", "unavailable")],
)
def test_the_country_of_a_pool(
    ruled: PolicyEngine, make: SimpleNamespace, country: str, verdict: str
) -> None:
    document = make.plan(emitted=Emitted(pools=(pool(country=country),)))
    subject = "stack" if verdict == "unavailable" else "chat"
    expected = set() if verdict == "allow" else {("POL-001", subject, verdict)}
    assert said(ruled, document) == expected


def test_a_pool_of_two_tiers_and_one_of_nobody(ruled: PolicyEngine, make: SimpleNamespace) -> None:
    decisions = (
        make.decision(critical=False),
        make.decision(workload="nightly", tier="batch", critical=False, deployment_key="n"),
    )
    pools = (pool(workloads=["chat", "nightly"]), pool(name="b", workloads=["gone"]))
    document = make.plan(*decisions, emitted=Emitted(pools=pools))
    assert said(ruled, document) == {
        ("POL-001", "nightly", "deny"),
        ("POL-001", "stack", "deny"),
    }


@pytest.mark.parametrize("odd", [None, True, ["AU"], {"AU": 1}])
@pytest.mark.parametrize(
    ("rule", "where"),
    [
        ("REG-001", ("decisions", 0, "register_id")),
        ("CON-001", ("decisions", 0, "tokens_per_month")),
        ("CON-001", ("decisions", 0, "option", "provider")),
        ("CLS-001", ("decisions", 0, "signed_off_by")),
        ("CLS-001", ("decisions", 0, "data_asset")),
        ("CLS-002", ("decisions", 0, "residency")),
        ("PIN-001", ("servers", 0, "image_digest")),
        ("PIN-001", ("servers", 0)),
        ("POL-001", ("pools", 0, "country")),
        ("COM-001", ("purchases", 1, "term_months")),
        ("COM-001", ("purchases", 1)),
    ],
)
def test_a_value_of_another_type_is_answered_and_no_fault(
    ruled: PolicyEngine, make: SimpleNamespace, rule: str, where: tuple[str | int, ...], odd: Any
) -> None:
    """Built-in errors are strict: without a look at the type first, the whole run stops."""
    emitted = Emitted(
        servers=(server(),),
        pools=(pool(),),
        purchases=(purchase(), purchase(signed=False, term_months=0)),
    )
    document = make.plan(terms=terms("ALL", operation="update"), emitted=emitted)
    assert said(ruled, document) == set()
    held: Any = document
    for step in where[:-1]:
        held = held[step]
    held[where[-1]] = odd
    findings = ruled.ask(document).findings
    assert rule in {one.rule_id for one in findings if one.verdict != "warn"}
