"""From a plan to real capacity: quota, the provider's confirmation, deployment, purchase.

They are four different things and have one order. Quota is permission; it does not
say that units are there. A reservation is a price; it does not hold capacity
either, so what is reserved is what already runs. No purchase is made by the program.
Bedrock's units and Google's orders are different: they are the capacity, so that what
creates or uses them follows the signature.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from planner.capacity import (
    CapacityConfirmation,
    Phase,
    ProviderAccount,
    ProviderDeployment,
    Purchase,
    QuotaNeed,
    Resources,
    Step,
)
from planner.units import format_usd

Said = tuple[Phase, Literal["person", "program"], str]

_HOW_TO_ASK = {
    "PTU": "by the quota form, about two business days",
    "MU": "by a support case: model units start at zero",
}
_FROM_THE_CONSOLE = "in the provider's quota page"
_BOUGHT_IS_DEPLOYED = ("aws", "gcp")
"""Providers whose order is the capacity: nothing can use it before it is signed for."""

PHASES: tuple[Phase, ...] = ("quota", "capacity", "deploy", "reserve")


def steps_of(
    resources: Resources,
    confirmed: Mapping[str, CapacityConfirmation],
    routing: Mapping[str, str],
) -> tuple[Step, ...]:
    """Return the steps in their order.

    ``confirmed`` is keyed by deployment; ``routing``, what callers' routers must do
    where a provider does not, by workload.
    """
    ordered = {
        item.workload for item in resources.purchases if item.provider in _BOUGHT_IS_DEPLOYED
    }
    said = [
        *(_quota(item) for item in resources.quotas),
        *(
            _capacity(item, confirmed.get(item.name))
            for item in resources.deployments
            if item.kind == "provisioned"
        ),
        *(_create(item) for item in resources.accounts if item.create),
        *(step for item in resources.deployments for step in _deploy(item, ordered)),
        *(step for name in sorted(routing) for step in _route(name, routing[name], resources)),
        *(_reserve(item) for item in resources.purchases),
        *(step for item in resources.deployments for step in _after(item, ordered)),
    ]
    in_order = sorted(dict.fromkeys(said), key=lambda item: PHASES.index(item[0]))
    return tuple(
        Step(number=number, phase=phase, by=by, text=text)
        for number, (phase, by, text) in enumerate(in_order, start=1)
    )


def _quota(item: QuotaNeed) -> Said:
    what = f"{item.deployment_type}" + ("" if item.model == "*" else f" of {item.model}")
    where = f"{item.provider} account {item.account}, {item.region}"
    kind = "enqueued tokens" if "enqueued" in item.unit else "tokens a minute"
    tokens = item.unit not in _HOW_TO_ASK
    need = f"{item.need * 1000:,} {kind}" if tokens else f"{item.need:,} {item.unit}"
    how = _HOW_TO_ASK.get(item.unit, _FROM_THE_CONSOLE)
    if item.have is None:
        rest = f"what is there is not declared: look, and ask for what is short {how}"
    elif item.missing:
        rest = f"{item.have:,} are there: ask for {item.missing:,} more {how}"
    else:
        rest = f"{item.have:,} are there, enough"
    return "quota", "person", f"Quota for {what} in {where}: {need} needed; {rest}."


def _capacity(item: ProviderDeployment, word: CapacityConfirmation | None) -> Said:
    where = f"{item.provider} account {item.account}, {item.region}"
    what = f"{item.capacity:,} units of {item.deployment_type} for {item.model} in {where}"
    if word is not None and word.units >= item.capacity:
        text = f"Capacity confirmed: {what} on {word.date} ({word.ref})."
    elif word is not None:
        text = (
            f"CAPACITY CONFIRMED FOR {word.units:,} UNITS ONLY ({word.date}, {word.ref}): "
            f"ask for {what}."
        )
    else:
        text = (
            f"CAPACITY NOT CONFIRMED: ask whether {what} can be deployed now, and declare the "
            "answer under confirmed_capacity. Quota is no answer to that."
        )
    return "capacity", "person", f"{text} (Workload {item.workload}.)"


def _create(item: ProviderAccount) -> Said:
    text = f"Create {item.provider} account {item.name} in {item.region}."
    return "deploy", "program", text


def _deploy(item: ProviderDeployment, ordered: Collection[str]) -> Iterator[Said]:
    waits = _waits(item, ordered)
    what = _what(item)
    if item.provider == "azure":
        yield "deploy", "program", f"Deploy {what}, {item.capacity:,} of capacity."
    elif item.provider == "gcp":
        yield "deploy", "program", f"Enable the API for {what}; the model needs no deployment."
    elif not waits:
        yield _bedrock(item, what)
    if not waits:
        yield from _headers(item, "deploy")


def _after(item: ProviderDeployment, ordered: Collection[str]) -> Iterator[Said]:
    """Yield what can only follow a purchase: the capacity is what was bought."""
    if not _waits(item, ordered):
        return
    if item.provider == "aws":
        _, who, text = _bedrock(item, _what(item))
        yield "reserve", who, text
    yield from _headers(item, "reserve")


def _waits(item: ProviderDeployment, ordered: Collection[str]) -> bool:
    return item.kind == "provisioned" and item.workload in ordered


def _what(item: ProviderDeployment) -> str:
    where = f"{item.provider} account {item.account}, {item.region}"
    return f"{item.name}: {item.model} ({item.deployment_type}) in {where}"


def _headers(item: ProviderDeployment, phase: Phase) -> Iterator[Said]:
    for name, value in sorted(item.request_headers.items()):
        yield phase, "person", f"Callers of {item.name} send the header {name}: {value}."


def _route(workload: str, required: str, resources: Resources) -> Iterator[Said]:
    """Yield what a gateway must do, with the target that it sends overflow to."""
    ours = [item for item in resources.deployments if item.workload == workload]
    primary = next((item for item in ours if item.kind == "provisioned"), None)
    if primary is not None and primary.spillover_to is not None:
        return  # the provider does it: the program names the target, or it goes there unasked
    target = next((item for item in ours if item is not primary), None)
    text = f"Gateway, for {workload}: {required}"
    if target is not None:
        named = target.model_id or target.model
        text += (
            f" The target is {target.name} ({target.deployment_type}, {named}, {target.provider} "
            f"account {target.account}, {target.region}) and nothing wider; its own quota holds "
            f"{target.capacity:,} thousand tokens a minute."
        )
    yield "deploy", "person", text


def _bedrock(item: ProviderDeployment, what: str) -> Said:
    if item.deployment_type == "reserved":
        text = f"Have the account manager set up {what}: no API creates the reserved tier."
        return "deploy", "person", text
    if item.kind == "provisioned":
        return "deploy", "program", f"Create {what}, {item.capacity:,} model units."
    if item.model_arn is None:
        text = (
            f"Enable {what}; pay-as-you-go needs no resource. Give the account's account_id, and "
            "the program makes an inference profile that carries the workload's cost tags."
        )
        return "deploy", "person", text
    return "deploy", "program", f"Create the inference profile of {what}, with its cost tags."


def _reserve(item: Purchase) -> Said:
    term = f"{item.term_months} month{'s' if item.term_months != 1 else ''}"
    text = (
        f"Sign for {item.units:,} {item.unit} of {item.deployment_type} for {item.model} at "
        f"{item.provider} {item.region}, {term}, {format_usd(item.usd_per_month)} a month "
        f"(workload {item.workload}); purchase record purchases/{item.workload}.md, order digest "
        f"{item.order_digest}"
    )
    if not item.signable:
        text += "; NOT SIGNABLE YET: CAPACITY IS NOT CONFIRMED"
    if is_bought_by_creation(item):
        text += (
            ". Creating these units is the purchase: the program refuses until the order's "
            "digest is in llm-capacity:signed-purchases"
        )
    return "reserve", "person", f"{text}."


def is_bought_by_creation(item: Purchase) -> bool:
    """Return whether creating the resource commits to the term, as with Bedrock's units."""
    return item.provider == "aws" and item.deployment_type == "provisioned"
