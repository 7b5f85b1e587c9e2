"""The component that a program in any language of Pulumi declares.

Annotations and docstrings here become the schema: no postponed annotations in this module.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import pulumi

from planner.api import verdict_error
from planner.emit.approved import require_approved
from planner.emit.presence import require_pack
from planner.emit.stack import register_plan
from planner.plan import Plan
from planner.plugin.declared import camel, declared_project
from planner.report.text import summary
from planner.running import StackRun, run_stack

TYPE = "llm-capacity:index:Capacity"


class CapacityArgs(TypedDict):
    """What to plan: a stack of a project, or the workloads and the platform given here."""

    project: str
    """The project's folder, from the program's: its `policies/` judge, evidence goes to its
    `out/`."""
    stack: NotRequired[str]
    """The stack to plan, as in `stacks/STACK/` of the project; the Pulumi stack by default."""
    workloads: NotRequired[Any]
    """The workloads, in place of those in the project's files; with `platform`."""
    platform: NotRequired[Any]
    """Where capacity may come from and the terms of deciding; with `workloads`."""
    kubeconfigs: NotRequired[pulumi.Input[dict[str, pulumi.Input[str]]]]
    """The kubeconfig of each cluster, a secret. A cluster without one is previewed only."""
    signed_purchases: NotRequired[list[str]]
    """Digests of the orders that a person has signed for."""
    approved_digest: NotRequired[str]
    """The capacity digest that was approved: a real run of another plan is refused."""
    baseline: NotRequired[str]
    """An approved plan.json to compare with, from the folder of the planned stack's project."""
    reviews: NotRequired[str]
    """The Git host's reviews of waivers, a JSON file of the project."""


class Capacity(pulumi.ComponentResource):
    """Capacity for declared LLM workloads: gated by policy, then sized, priced and registered.

    A plan that the policy denies, or that no option can serve, fails before anything is
    registered, with its reasons.
    """

    verdict: pulumi.Output[str]
    """What the policy says of the plan: allow or warn, as others register nothing."""
    capacity_digest: pulumi.Output[str]
    """The digest of what will exist, which an approval names."""
    evidence_digest: pulumi.Output[str]
    """The digest of the whole plan: prices, catalog and policy included."""
    usd_per_month: pulumi.Output[float]
    """What the plan costs a month, USD, without tax."""
    decisions: pulumi.Output[dict[str, Any]]
    """What was chosen for each workload, and why."""
    endpoints: pulumi.Output[dict[str, dict[str, str]]]
    """The address of each self-hosted server inside its cluster, by cluster."""
    model_ids: pulumi.Output[dict[str, str]]
    """What callers name as the model, by provider deployment."""
    manual_steps: pulumi.Output[list[str]]
    """What a person has to do before the capacity is real, in this order."""

    def __init__(
        self, name: str, args: CapacityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        project = Path(args["project"]).resolve()
        done, root = planned(project, args)
        plan = done.plan
        require_pack(root)
        required = done.stack.platform.policy.approval == "required"
        require_approved(plan, args.get("approved_digest"), required=required)
        super().__init__(TYPE, name, None, opts)
        pulumi.log.info(summary(plan), self)
        found = register_plan(
            plan,
            kubeconfigs=kubeconfigs_of(plan, args.get("kubeconfigs")),
            signed_purchases=args.get("signed_purchases") or [],
            parent=self,
        )
        outputs: dict[str, Any] = {
            "verdict": plan.verdict,
            "capacity_digest": plan.capacity_digest,
            "evidence_digest": plan.evidence_digest,
            "usd_per_month": plan.totals.total_usd_per_month,
            "decisions": {
                workload: {camel(key): value for key, value in row.items()}
                for workload, row in found["decisions"].items()
            },
            "endpoints": found["endpoints"],
            "model_ids": found["model_ids"],
            "manual_steps": found["manual_steps"],
        }
        for key, value in outputs.items():
            setattr(self, key, pulumi.Output.from_input(value))
        self.register_outputs({camel(key): value for key, value in outputs.items()})


def planned(project: Path, args: CapacityArgs) -> tuple[StackRun, Path]:
    """Return the run that the arguments ask for, and the folder that it was planned in.

    Raises what planning raises, and the error of a plan that may not proceed.
    """
    stack = args.get("stack") or pulumi.get_stack()
    root, given = project, (args.get("workloads"), args.get("platform"))
    if given != (None, None):
        root = declared_project(project, stack, *given)
    done = run_stack(
        root,
        stack,
        baseline=args.get("baseline"),
        reviews=args.get("reviews"),
        operation="preview" if pulumi.runtime.is_dry_run() else "update",
    )
    if error := verdict_error(done.plan):
        raise error
    return done, root


def kubeconfigs_of(plan: Plan, given: Any) -> dict[str, pulumi.Input[str]]:
    """Return the kubeconfig of each cluster of the plan that has one.

    ``given`` is the input: a map whose values may be secret, or a map that is one secret,
    which then has to hold all clusters.
    """
    clusters = sorted({item.cluster for item in plan.resources.node_pools})
    if isinstance(given, dict):
        return {name: given[name] for name in clusters if name in given}
    if given is None:
        return {}
    texts: pulumi.Output[dict[str, str]] = pulumi.Output.from_input(given)
    return {name: texts.apply(_named(name)) for name in clusters}


def _named(cluster: str) -> Callable[[dict[str, str]], str]:
    return lambda texts: texts.get(cluster, "")
