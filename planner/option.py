"""One way to serve a workload: what, where, by whom and on which machines."""

from __future__ import annotations

from planner.base import Frozen
from planner.catalog.rows import Partition, Provider, Scope
from planner.declared.operators import KeyCustody, OperatorClass
from planner.workload import Kind


class SpillTarget(Frozen):
    """Where demand above the floor goes: a pay-as-you-go deployment of the same model.

    ``jurisdictions`` is None when the places of processing are not known.
    """

    provider: Provider
    account: str
    region: str
    deployment_type: str
    scope: Scope
    jurisdictions: tuple[str, ...] | None
    operator_class: OperatorClass
    partition: Partition = "public"
    key_custody: KeyCustody = "provider_managed"


class Hardware(Frozen):
    """The machines of a self-hosted option."""

    cluster: str
    instance: str
    accelerator: str
    gpus_per_node: int
    max_nodes: int


class Option(Frozen):
    """One way to serve a workload; identified by ``id``, unique within a stack.

    ``jurisdictions`` are the ISO countries in which prompts may be processed, or
    None when the catalog does not know them; ``account`` is None for
    self-hosting, ``hardware`` is None otherwise; ``term_months`` 0 has no term.
    """

    id: str
    workload: str
    kind: Kind
    model: str
    provider: Provider
    region: str
    deployment_type: str
    scope: Scope
    jurisdictions: tuple[str, ...] | None
    operator_class: OperatorClass
    account: str | None
    hardware: Hardware | None
    term_months: int
    spill: SpillTarget | None
    pinned: bool
    partition: Partition = "public"
    key_custody: KeyCustody = "provider_managed"
