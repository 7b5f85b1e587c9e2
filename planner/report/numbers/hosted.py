"""A self-hosted outcome sized again, so that its working can be told."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from planner.catalog.rows import Accelerator, Instance, InstancePrice
from planner.catalog.shapes import load_shape, shape_rows
from planner.decision import Outcome, SelfHosted
from planner.declared.clusters import Cluster
from planner.hosting import Machine, machine_of
from planner.report.numbers.explained import Amount, Term
from planner.report.numbers.facts import Case, row
from planner.serving.engine import Resolved, VllmSettings, resolved
from planner.serving.performance import Working, working_at
from planner.serving.shape import ModelShape
from planner.serving.sizing import profile_of, replica_candidates
from planner.serving.sizing_types import Layout, Refusal, Replica
from planner.serving.speed import RequestProfile


@dataclass(frozen=True)
class Hosted:
    """The chosen machines of a workload, with what their size follows from."""

    case: Case
    outcome: Outcome

    @property
    def size(self) -> SelfHosted:
        """The size that the plan states."""
        assert self.outcome.self_hosted is not None  # noqa: S101 - asked of hosted outcomes
        return self.outcome.self_hosted

    @property
    def replica(self) -> Replica:
        """The replica that the plan states."""
        return self.size.replica

    @property
    def layout(self) -> Layout:
        """How the replica is spread over GPUs."""
        return self.replica.layout

    @cached_property
    def place(self) -> Machine:
        """The machine, the cluster that it stands in, and how vLLM is set on it."""
        facts = self.case.facts
        return machine_of(self.outcome.option, facts.stack.platform, facts.catalog)

    @property
    def cluster(self) -> Cluster:
        """The cluster that it runs on."""
        return self.place.cluster

    @property
    def machine(self) -> Instance:
        """The machine type."""
        return self.place.instance

    @property
    def accelerator(self) -> Accelerator:
        """The card of the machine."""
        return self.place.accelerator

    @cached_property
    def hourly(self) -> InstancePrice | None:
        """What an hour of the machine costs."""
        return self.case.facts.book.instance_hour(
            self.cluster.cloud, self.machine.name, self.cluster.region
        )

    @cached_property
    def shape(self) -> ModelShape:
        """The model."""
        return load_shape(self.outcome.option.model)

    @cached_property
    def profile(self) -> RequestProfile:
        """The requests, in the model's tokens."""
        return profile_of(self.case.workload.traffic, self.case.choice.token_multiplier)

    @cached_property
    def settings(self) -> VllmSettings:
        """What the cluster sets of the engine; the longest request is the workload's."""
        return self.place.settings.model_copy(update={"max_model_len": self.profile.longest})

    @cached_property
    def filled(self) -> Resolved:
        """The engine's settings at the planned batch, every default filled in."""
        planned = self.settings.model_copy(update={"max_num_seqs": self.replica.max_num_seqs})
        return resolved(planned, self.accelerator, self.shape.max_context_tokens)

    @cached_property
    def working(self) -> Working:
        """The working behind the replica."""
        objectives = self.case.workload.objectives
        found = working_at(
            self.shape,
            self.layout,
            self.accelerator,
            self.machine.interconnect,
            self.settings,
            profile=self.profile,
            ttft_p95_ms=objectives.ttft_p95_ms,
            itl_p95_ms=objectives.itl_p95_ms,
        )
        assert not isinstance(found, Refusal)  # noqa: S101 - the plan holds this replica
        return found[1]

    @cached_property
    def candidates(self) -> dict[int, Replica]:
        """The replicas at each tensor-parallel degree that serves."""
        replicas, _ = replica_candidates(
            self.shape,
            self.machine,
            self.accelerator,
            self.place.settings,
            self.case.workload.traffic,
            self.case.workload.objectives,
            token_multiplier=self.case.choice.token_multiplier,
        )
        return {replica.layout.tensor_parallel: replica for replica in replicas}

    @cached_property
    def shape_source(self) -> str:
        """Where the model's dimensions come from."""
        rows = {item.name: item for item in shape_rows()}
        found = rows.get(self.shape.name)
        return found.source if found else "the model's config.json"

    def of_model(self, symbol: str, value: Amount, unit: str, what: str = "") -> Term:
        """Return a dimension of the model as a term."""
        said = f"{what}, {self.shape_source}" if what else self.shape_source
        return Term(symbol, value, unit, "catalog", f"model shape {self.shape.name}", said)

    def of_card(self, symbol: str, field: str, unit: str) -> Term:
        """Return a figure of the card as a term."""
        return row(symbol, getattr(self.accelerator, field), unit, self.accelerator)

    def degree(self) -> Term:
        """Return the tensor-parallel degree as a term."""
        said = "the cheapest of the legal degrees, see the costs of each"
        return Term("tensor_parallel", self.layout.tensor_parallel, "GPUs", "worked_out", "", said)
